/*
 * The graph in a terminal.
 *
 * Rows of boxes with channels between them. In a channel, targets that wait for the same boxes
 * share a *bus*: a horizontal line that all their sources join from above and all of them leave
 * below, so every way along lines is an edge. A source has a port of its own in its lower border
 * for each bus, a target has one in its upper border, and no two buses use the same column.
 *
 *    ┌───────┐   ┌───────┐
 *    │   a   │   │   b   │
 *    └──┬─┬──┘   └───┬───┘
 *       │ └────┬─────┘        bus of {a, b}: c
 *       └───┐  └──────┐       bus of {a}: d (a channel has as many rows as buses overlap)
 *       ┌───▼───┐ ┌───▼───┐
 */
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/canvas.h"
#include "cli/graph_forms.h"
#include "cli/layout.h"
#include "cli/tableprint.h"
#include <string.h>

enum { NAME_MAX_COLUMNS = 40, GAP = 2, WAYPOINT = 3, CELLS_MAX = 4 << 20, TEXTS = 3 };

struct label {
    char *texts[TEXTS]; /* name, state, marks; NULL-terminated when fewer */
    int n;
};

struct bus {
    uint32_t *sources, *targets; /* boxes; point into the channel's arrays */
    size_t n_sources, n_targets;
    int left, right; /* columns */
    int track;       /* row in the channel; -1: straight down */
    uint32_t owner;
};

struct channel {
    uint32_t *sources;  /* by target: from[k] … from[k + 1] */
    uint32_t *from;     /* [n_targets + 1] */
    uint32_t *targets;  /* boxes of the lower row that have sources, grouped by bus */
    uint32_t first_box; /* of the lower row */
    size_t n_targets, n_buses;
    struct bus *buses;
    int *in_ports, *bus_of_column; /* [n_targets] columns; [columns] bus + 1 with a port above */
    int tracks;
};

struct picture {
    const struct graph_form *form;
    struct layout *layout;
    struct label *labels;     /* [n_steps] */
    int *top, *height;        /* [n_layers] */
    struct channel *channels; /* [n_layers - 1] */
    struct canvas canvas;
    uint32_t owners;
    bool crowded; /* a port had no room */
};

/* ---- labels ---- */

static void make_label(const struct picture *picture, uint32_t i)
{
    const struct graph_form *form = picture->form;
    const struct flowview_step *step = &form->view->steps[i];
    struct label *label = &picture->labels[i];
    scoped(buf) struct buf name = {0}, state = {0}, marks = {0};
    int width = term_text_width(step->name);

    buf_str(&name, step->critical && form->view->path_len > 1 ? "* " : "");
    term_write_cell(form->term, step->name, width < NAME_MAX_COLUMNS ? width : NAME_MAX_COLUMNS,
                    &name);
    label->texts[label->n++] = buf_take(&name);
    graph_state(step, form->now_ms, &state);
    if (state.len)
        label->texts[label->n++] = buf_take(&state);
    flowview_step_marks(step, &marks);
    if (marks.len)
        label->texts[label->n++] = buf_take(&marks);
}

/* Targets in the next row that wait for the same steps share a port; one more leads to all that
 * wait for this step alone, or stand further down. */
static int ports_needed(const struct flowview *view, uint32_t step)
{
    const struct dag *targets = &view->targets;
    int own = 0, ports = 0;

    for (uint32_t e = view->dag.first[step]; e < view->dag.first[step + 1]; e++) {
        uint32_t next = view->dag.next[e];
        bool far = view->steps[next].layer > view->steps[step].layer + 1;

        if (far || targets->first[next + 1] - targets->first[next] == 1)
            own = 1;
        else
            ports++;
    }
    return ports + own;
}

static int *measure(struct picture *picture)
{
    const struct flowview *view = picture->form->view;
    int *widths = mem_array((size_t)view->n_steps + 1, sizeof *widths);

    for (uint32_t i = 0; i < view->n_steps; i++) {
        int ports = ports_needed(view, i);

        make_label(picture, i);
        for (int t = 0; t < picture->labels[i].n; t++) {
            int width = term_text_width(picture->labels[i].texts[t]) + 4;

            if (width > widths[i])
                widths[i] = width;
        }
        if (ports < NAME_MAX_COLUMNS && 2 * ports + 1 > widths[i])
            widths[i] = 2 * ports + 1;
    }
    return widths;
}

/* ---- channels ---- */

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

/* Sources by target, in ascending order, because lines are sorted by source. */
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

static void group(struct picture *picture, struct channel *channel)
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
            .owner = ++picture->owners,
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
    double toward; /* the middle of the bus's targets */
};

static int compare_ports(const void *a, const void *b)
{
    const struct port *p = a, *q = b;

    if (p->toward != q->toward)
        return p->toward < q->toward ? -1 : 1;
    return (p->bus > q->bus) - (p->bus < q->bus);
}

static double middle_of_targets(const struct picture *picture, const struct channel *channel,
                                const struct bus *bus)
{
    double sum = 0;

    for (size_t t = 0; t < bus->n_targets; t++)
        sum += picture->layout->boxes[channel->first_box + bus->targets[t]].center;
    return sum / (double)bus->n_targets;
}

/* The buses of one source, from left to right along its lower border. */
static void place_out_ports(struct picture *picture, struct channel *channel, uint32_t box)
{
    const struct layout_box *source = &picture->layout->boxes[box];
    struct port *ports = mem_array(channel->n_buses + 1, sizeof *ports);
    int n = 0;

    for (size_t b = 0; b < channel->n_buses; b++) {
        const struct bus *bus = &channel->buses[b];

        for (size_t s = 0; s < bus->n_sources; s++)
            if (bus->sources[s] == box)
                ports[n++] = (struct port){(uint32_t)b, middle_of_targets(picture, channel, bus)};
    }
    qsort(ports, (size_t)n, sizeof *ports, compare_ports);
    if (n > source->width / 2 && n > 1)
        picture->crowded = true;
    for (int i = 0; i < n && !picture->crowded; i++) {
        int column = source->center + 2 * i - (n - 1);

        channel->bus_of_column[column] = (int)ports[i].bus + 1;
        reach(&channel->buses[ports[i].bus], column);
    }
    mem_free(ports);
}

/* The column in which a bus enters a target: its middle, or beside it when another bus comes down
 * there. A waypoint moves with it. */
static void place_in_port(struct picture *picture, struct channel *channel, uint32_t b,
                          uint32_t target)
{
    struct layout_box *box = &picture->layout->boxes[channel->first_box + target];
    int reachable = box->vertex == UINT32_MAX ? 1 : box->width / 2 - 1;

    for (int step = 0; step <= 2 * reachable; step++) {
        int column = box->center + (step % 2 ? (step + 1) / 2 : -(step / 2));
        bool inside = column >= 0 && column < picture->layout->columns;
        int other = inside ? channel->bus_of_column[column] : -1;

        if (other != 0 && other != (int)b + 1)
            continue;
        channel->in_ports[target] = column;
        reach(&channel->buses[b], column);
        if (box->vertex == UINT32_MAX)
            box->center = column;
        return;
    }
    picture->crowded = true;
}

static int compare_left(const void *a, const void *b)
{
    const struct bus *p = *(const struct bus *const *)a, *q = *(const struct bus *const *)b;

    if (p->left != q->left)
        return p->left < q->left ? -1 : 1;
    return (p->owner > q->owner) - (p->owner < q->owner);
}

/* The first row in which a bus touches no other. */
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

static void route(struct picture *picture, uint32_t layer)
{
    const struct layout *layout = picture->layout;
    struct channel *channel = &picture->channels[layer];

    gather(layout, layer, channel);
    group(picture, channel);
    channel->bus_of_column = mem_array((size_t)layout->columns + 1, sizeof(int));
    for (uint32_t box = layout->first[layer]; box < layout->first[layer + 1]; box++)
        if (!picture->crowded)
            place_out_ports(picture, channel, box);
    for (uint32_t b = 0; b < channel->n_buses && !picture->crowded; b++)
        for (size_t t = 0; t < channel->buses[b].n_targets && !picture->crowded; t++)
            place_in_port(picture, channel, b, channel->buses[b].targets[t]);
    if (!picture->crowded)
        choose_tracks(channel);
}

/* ---- drawing ---- */

static void draw_box(struct picture *picture, const struct layout_box *box, int row, int height)
{
    const struct flowview_step *step = &picture->form->view->steps[box->vertex];
    const struct label *label = &picture->labels[box->vertex];
    enum color color = step->phase ? tableprint_word_color(step->phase) : COLOR_NONE;
    int left = box->center - box->width / 2;
    bool bold = step->critical && picture->form->view->path_len > 1;

    canvas_box(&picture->canvas, row, left, box->width, height, ++picture->owners, COLOR_NONE,
               bold);
    for (int t = 0; t < label->n; t++) {
        int room = box->width - 2 - term_text_width(label->texts[t]);

        canvas_text(&picture->canvas, row + 1 + t, left + 1 + room / 2, label->texts[t],
                    t == 0                  ? COLOR_NONE
                    : step->phase && t == 1 ? color
                                            : COLOR_DIM,
                    bold && t == 0);
    }
}

static void draw_row(struct picture *picture, uint32_t layer)
{
    const struct layout *layout = picture->layout;
    int top = picture->top[layer], height = picture->height[layer];

    for (uint32_t i = layout->first[layer]; i < layout->first[layer + 1]; i++) {
        const struct layout_box *box = &layout->boxes[i];

        if (box->vertex != UINT32_MAX) {
            draw_box(picture, box, top, height);
            continue;
        }
        ++picture->owners;
        for (int row = top; row < top + height; row++)
            canvas_join(&picture->canvas, row, box->center, WAY_UP | WAY_DOWN, picture->owners);
    }
}

static void draw_channel(struct picture *picture, uint32_t layer)
{
    const struct layout *layout = picture->layout;
    const struct channel *channel = &picture->channels[layer];
    int top = picture->top[layer] + picture->height[layer];
    int bottom = picture->top[layer + 1] - 1;
    struct canvas *canvas = &picture->canvas;

    for (size_t b = 0; b < channel->n_buses; b++)
        if (channel->buses[b].track >= 0)
            canvas_across(canvas, top + channel->buses[b].track, channel->buses[b].left,
                          channel->buses[b].right, channel->buses[b].owner);
    for (int column = 0; column < layout->columns; column++) {
        const struct bus *bus = channel->bus_of_column[column]
                                    ? &channel->buses[channel->bus_of_column[column] - 1]
                                    : NULL;

        if (!bus)
            continue;
        canvas_down(canvas, column, top, bus->track < 0 ? bottom : top + bus->track, bus->owner);
        canvas_join(canvas, top, column, WAY_UP, bus->owner);
        canvas_join(
            canvas, top - 1, column, WAY_DOWN,
            canvas->cells[(size_t)(top - 1) * (size_t)canvas->columns + (size_t)column].owner);
    }
    for (size_t b = 0; b < channel->n_buses; b++) {
        const struct bus *bus = &channel->buses[b];

        for (size_t t = 0; t < bus->n_targets; t++) {
            int column = channel->in_ports[bus->targets[t]];
            const struct layout_box *box = &layout->boxes[channel->first_box + bus->targets[t]];

            canvas_down(canvas, column, bus->track < 0 ? top : top + bus->track, bottom,
                        bus->owner);
            canvas_join(canvas, bottom, column, WAY_DOWN, bus->owner);
            if (box->vertex != UINT32_MAX)
                canvas_letter(canvas, bottom + 1, column, picture->form->term->utf8 ? 0x25bc : 'v');
        }
    }
}

static int row_height(const struct picture *picture, uint32_t layer)
{
    const struct layout *layout = picture->layout;
    int lines = 1;

    for (uint32_t i = layout->first[layer]; i < layout->first[layer + 1]; i++) {
        uint32_t step = layout->boxes[i].vertex;

        if (step != UINT32_MAX && picture->labels[step].n > lines)
            lines = picture->labels[step].n;
    }
    return lines + 2;
}

static bool draw(struct picture *picture)
{
    const struct layout *layout = picture->layout;
    int row = 0;

    for (uint32_t layer = 0; layer < layout->n_layers; layer++) {
        picture->top[layer] = row;
        picture->height[layer] = row_height(picture, layer);
        row += picture->height[layer];
        if (layer + 1 < layout->n_layers)
            row += picture->channels[layer].tracks ? picture->channels[layer].tracks : 1;
    }
    if ((int64_t)row * layout->columns > CELLS_MAX)
        return false;
    canvas_init(&picture->canvas, row, layout->columns);
    for (uint32_t layer = 0; layer < layout->n_layers; layer++)
        draw_row(picture, layer);
    for (uint32_t layer = 0; layer + 1 < layout->n_layers; layer++)
        draw_channel(picture, layer);
    canvas_print(&picture->canvas, picture->form->term, picture->form->out);
    return true;
}

static void picture_release(struct picture *picture)
{
    for (uint32_t i = 0; i < picture->form->view->n_steps; i++)
        for (int t = 0; t < picture->labels[i].n; t++)
            mem_free(picture->labels[i].texts[t]);
    for (uint32_t k = 0; picture->channels && k + 1 < picture->layout->n_layers; k++) {
        mem_free(picture->channels[k].sources);
        mem_free(picture->channels[k].from);
        mem_free(picture->channels[k].targets);
        mem_free(picture->channels[k].in_ports);
        mem_free(picture->channels[k].bus_of_column);
        mem_free(picture->channels[k].buses);
    }
    canvas_release(&picture->canvas);
    layout_free(picture->layout);
    mem_free(picture->channels);
    mem_free(picture->labels);
    mem_free(picture->top);
    mem_free(picture->height);
}

static bool draw_boxes(const struct graph_form *form)
{
    const struct flowview *view = form->view;
    struct picture picture = {.form = form};
    uint32_t *layers = mem_array((size_t)view->n_steps + 1, sizeof *layers);
    int *widths;
    bool drawn = false;

    picture.labels = mem_array((size_t)view->n_steps + 1, sizeof *picture.labels);
    widths = measure(&picture);
    for (uint32_t i = 0; i < view->n_steps; i++)
        layers[i] = view->steps[i].layer;
    picture.layout = layout_new(&view->dag, layers, widths, WAYPOINT, GAP, NULL);
    mem_free(widths);
    mem_free(layers);
    if (picture.layout && (!form->columns || picture.layout->columns <= form->columns)) {
        size_t n = picture.layout->n_layers;

        picture.top = mem_array(n + 1, sizeof *picture.top);
        picture.height = mem_array(n + 1, sizeof *picture.height);
        picture.channels = mem_array(n + 1, sizeof *picture.channels);
        for (uint32_t layer = 0; layer + 1 < n; layer++)
            route(&picture, layer);
        drawn = !picture.crowded && draw(&picture);
    }
    picture_release(&picture);
    return drawn;
}

void graph_text(const struct graph_form *form)
{
    if (!draw_boxes(form))
        graph_table(form);
}
