/*
 * Routes the lines between two rows of boxes.
 *
 * The targets of a channel are sorted by their sources, so targets with the same sources are
 * neighbours; each such run of targets is a bus. Ports are assigned from left to right, those of
 * the sources first. The track of a bus is the first row in which it touches no other bus.
 */
#include "view/graph/graph_channel.h"

#include <stdlib.h>

#include "base/mem.h"

static int compare_sources(const struct channel *channel, uint32_t a, uint32_t b)
{
    uint32_t n_a = channel->from[a + 1] - channel->from[a];
    uint32_t n_b = channel->from[b + 1] - channel->from[b];

    if (n_a != n_b)
        return n_a < n_b ? -1 : 1;
    for (uint32_t i = 0; i < n_a; i++) {
        uint32_t x = channel->sources[channel->from[a] + i];
        uint32_t y = channel->sources[channel->from[b] + i];

        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int compare_targets(const void *a, const void *b, void *arg)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int by_sources = compare_sources(arg, x, y);

    return by_sources ? by_sources : (x > y) - (x < y);
}

/* Collects the sources of each target. They are in ascending order because lines are sorted by
 * source. */
static void gather(const struct layout *layout, uint32_t layer, struct channel *channel)
{
    uint32_t begin = layout->first_line[layer], end = layout->first_line[layer + 1];
    uint32_t first = layout->first[layer + 1], n = layout->first[layer + 2] - first;
    uint32_t *next = mem_array((size_t)n + 1, sizeof *next);

    channel->first_box = first;
    channel->sources = mem_array((size_t)(end - begin) + 1, sizeof *channel->sources);
    channel->from = mem_array((size_t)n + 1, sizeof *channel->from);
    channel->targets = mem_array((size_t)n + 1, sizeof *channel->targets);
    channel->in_ports = mem_array((size_t)n + 1, sizeof *channel->in_ports);
    for (uint32_t l = begin; l < end; l++)
        channel->from[layout->lines[l].to - first + 1]++;
    for (uint32_t k = 0; k < n; k++) {
        channel->from[k + 1] += channel->from[k];
        next[k] = channel->from[k];
        if (channel->from[k + 1] > channel->from[k])
            channel->targets[channel->n_targets++] = k;
    }
    for (uint32_t l = begin; l < end; l++)
        channel->sources[next[layout->lines[l].to - first]++] = layout->lines[l].from;
    mem_free(next);
}

static void group(struct channel *channel, uint32_t *owners)
{
    struct bus *buses = mem_array(channel->n_targets + 1, sizeof *buses), *last = NULL;

    qsort_r(channel->targets, channel->n_targets, sizeof *channel->targets, compare_targets,
            channel);
    channel->buses = buses;
    for (size_t i = 0; i < channel->n_targets; i++) {
        uint32_t target = channel->targets[i];

        if (last && compare_sources(channel, last->targets[0], target) == 0) {
            last->n_targets++;
            continue;
        }
        last = &buses[channel->n_buses++];
        *last = (struct bus){
            .sources = channel->sources + channel->from[target],
            .n_sources = channel->from[target + 1] - channel->from[target],
            .targets = channel->targets + i,
            .n_targets = 1,
            .left = INT32_MAX,
            .right = -1,
            .owner = ++*owners,
        };
    }
}

static void reach(struct bus *bus, int column)
{
    bus->left = column < bus->left ? column : bus->left;
    bus->right = column > bus->right ? column : bus->right;
}

struct port {
    uint32_t bus;
    double toward; /* column of the middle of the bus's targets */
};

static int compare_ports(const void *a, const void *b)
{
    const struct port *p = a, *q = b;

    if (p->toward != q->toward)
        return p->toward < q->toward ? -1 : 1;
    return (p->bus > q->bus) - (p->bus < q->bus);
}

static double middle_of_targets(const struct layout *layout, const struct channel *channel,
                                const struct bus *bus)
{
    double sum = 0;

    for (size_t t = 0; t < bus->n_targets; t++)
        sum += layout->boxes[channel->first_box + bus->targets[t]].center;
    return sum / (double)bus->n_targets;
}

/* Assigns ports to the buses of one source, from left to right along its lower border; false when
 * there is no room. */
static bool place_out_ports(const struct layout *layout, struct channel *channel, uint32_t box)
{
    const struct layout_box *source = &layout->boxes[box];
    struct port *ports = mem_array(channel->n_buses + 1, sizeof *ports);
    int n = 0;
    bool room;

    for (size_t b = 0; b < channel->n_buses; b++) {
        const struct bus *bus = &channel->buses[b];

        for (size_t s = 0; s < bus->n_sources; s++)
            if (bus->sources[s] == box)
                ports[n++] = (struct port){(uint32_t)b, middle_of_targets(layout, channel, bus)};
    }
    qsort(ports, (size_t)n, sizeof *ports, compare_ports);
    room = n <= 1 || n <= source->width / 2;
    for (int i = 0; room && i < n; i++) {
        int column = source->center + 2 * i - (n - 1);

        channel->bus_of_column[column] = (int)ports[i].bus + 1;
        reach(&channel->buses[ports[i].bus], column);
    }
    mem_free(ports);
    return room;
}

/* Assigns the column in which a bus enters a target: the middle of the target, or the nearest
 * column that no other bus uses; false when there is no room. A waypoint moves to that column. */
static bool place_in_port(const struct layout *layout, struct channel *channel, uint32_t b,
                          uint32_t target)
{
    struct layout_box *box = &layout->boxes[channel->first_box + target];
    int reachable = box->vertex == UINT32_MAX ? 1 : box->width / 2 - 1;

    for (int step = 0; step <= 2 * reachable; step++) {
        int column = box->center + (step % 2 ? (step + 1) / 2 : -(step / 2));
        bool inside = column >= 0 && column < layout->columns;
        int other = inside ? channel->bus_of_column[column] : -1;

        if (other != 0 && other != (int)b + 1)
            continue;
        channel->in_ports[target] = column;
        reach(&channel->buses[b], column);
        if (box->vertex == UINT32_MAX)
            box->center = column;
        return true;
    }
    return false;
}

static bool place_ports(const struct layout *layout, struct channel *channel, uint32_t layer)
{
    for (uint32_t box = layout->first[layer]; box < layout->first[layer + 1]; box++)
        if (!place_out_ports(layout, channel, box))
            return false;
    for (uint32_t b = 0; b < channel->n_buses; b++)
        for (size_t t = 0; t < channel->buses[b].n_targets; t++)
            if (!place_in_port(layout, channel, b, channel->buses[b].targets[t]))
                return false;
    return true;
}

static int compare_left(const void *a, const void *b)
{
    const struct bus *p = *(const struct bus *const *)a, *q = *(const struct bus *const *)b;

    if (p->left != q->left)
        return p->left < q->left ? -1 : 1;
    return (p->owner > q->owner) - (p->owner < q->owner);
}

/* Puts each bus into the first row in which it touches no other bus. */
static void choose_tracks(struct channel *channel)
{
    struct bus **sorted = mem_array(channel->n_buses + 1, sizeof *sorted);
    int *ends = mem_array(channel->n_buses + 1, sizeof *ends);

    for (size_t b = 0; b < channel->n_buses; b++)
        sorted[b] = &channel->buses[b];
    qsort(sorted, channel->n_buses, sizeof(struct bus *), compare_left);
    for (size_t b = 0; b < channel->n_buses; b++) {
        struct bus *bus = sorted[b];

        bus->track = -1;
        if (bus->left == bus->right)
            continue;
        for (bus->track = 0; bus->track < channel->tracks; bus->track++)
            if (bus->left > ends[bus->track] + 1)
                break;
        if (bus->track == channel->tracks)
            channel->tracks++;
        ends[bus->track] = bus->right;
    }
    mem_free(ends);
    mem_free(sorted);
}

bool channel_route(struct channel *channel, const struct layout *layout, uint32_t layer,
                   uint32_t *owners)
{
    gather(layout, layer, channel);
    group(channel, owners);
    channel->bus_of_column = mem_array((size_t)layout->columns + 1, sizeof(int));
    if (!place_ports(layout, channel, layer))
        return false;
    choose_tracks(channel);
    return true;
}

void channel_release(struct channel *channel)
{
    mem_free(channel->sources);
    mem_free(channel->from);
    mem_free(channel->targets);
    mem_free(channel->in_ports);
    mem_free(channel->bus_of_column);
    mem_free(channel->buses);
}
