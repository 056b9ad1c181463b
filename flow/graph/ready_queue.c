/*
 * The queue is a set of ranks, so the next step is its first member. Without an order or gangs the
 * rank of a step is its position in the spec.
 */
#include "flow/graph/ready_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Returns whether a member waits for a probe of another member, so that it becomes ready only once
 * that one runs. */
static bool comes_later(const struct ready_queue *queue, uint32_t step)
{
    const struct flow_depends *depends = flow_graph_step(queue->graph, step)->depends;
    bool any = depends && depends->strategy == STRATEGY_ANY;

    for (size_t t = 0; depends && depends->probe && !any && t < depends->targets.count; t++) {
        uint32_t target = flow_graph_find(queue->graph, depends->targets.items[t]);

        if (target != STEP_NONE && queue->gang_of[target] == queue->gang_of[step])
            return true;
    }
    return false;
}

/* Returns how many members must be ready at once for the gang to start; not more than can be. */
static uint32_t min_ready_of(const struct ready_queue *queue, const struct flow_gang *gang)
{
    uint32_t members = (uint32_t)gang->steps.count, at_once = 0;
    uint32_t least = gang->min_available.set ? (uint32_t)gang->min_available.value : members;

    for (size_t m = 0; m < gang->steps.count; m++) {
        uint32_t step = flow_graph_find(queue->graph, gang->steps.items[m]);

        at_once += step == STEP_NONE || !comes_later(queue, step);
    }
    return least < at_once ? least : at_once;
}

static void init_gangs(struct ready_queue *queue)
{
    const struct jobflow_spec *spec = queue->graph->spec;

    if (!spec->gangs.count || queue->graph->bare)
        return;
    queue->gang_of = mem_array(queue->graph->steps + 1, sizeof *queue->gang_of);
    queue->gangs = mem_array(spec->gangs.count, sizeof *queue->gangs);
    step_set_init(&queue->held, queue->graph->steps);
    for (uint32_t g = 0; g < spec->gangs.count; g++) {
        const struct flow_gang *gang = &spec->gangs.items[g];

        for (size_t m = 0; m < gang->steps.count; m++) {
            uint32_t step = flow_graph_find(queue->graph, gang->steps.items[m]);

            if (step != STEP_NONE)
                queue->gang_of[step] = g + 1;
        }
        queue->gangs[g].members = (uint32_t)gang->steps.count;
        queue->gangs[g].min_ready = min_ready_of(queue, gang);
    }
}

void ready_queue_init(struct ready_queue *queue, const struct flow_graph *graph)
{
    memset(queue, 0, sizeof *queue);
    queue->graph = graph;
    step_set_init(&queue->ready, graph->steps);
    init_gangs(queue);
}

void ready_queue_release(struct ready_queue *queue)
{
    step_set_release(&queue->ready);
    step_set_release(&queue->held);
    mem_free(queue->rank_of);
    mem_free(queue->at_rank);
    mem_free(queue->gang_of);
    mem_free(queue->gangs);
    memset(queue, 0, sizeof *queue);
}

void ready_queue_clear(struct ready_queue *queue)
{
    step_set_release(&queue->ready);
    step_set_init(&queue->ready, queue->graph->steps);
    if (!queue->gangs)
        return;
    step_set_release(&queue->held);
    step_set_init(&queue->held, queue->graph->steps);
    for (size_t g = 0; g < queue->graph->spec->gangs.count; g++) {
        queue->gangs[g].ready = queue->gangs[g].skipped = 0;
        queue->gangs[g].open = false; /* ready_queue_gang_formed opens it if a member has run */
    }
}

struct remaining {
    double length;
    uint32_t step;
};

static int longer_first(const void *a, const void *b)
{
    const struct remaining *left = a, *right = b;

    if (left->length != right->length)
        return left->length < right->length ? 1 : -1;
    return left->step < right->step ? -1 : 1;
}

static double longest_after(const struct dag *dag, const struct remaining *paths, uint32_t step)
{
    double longest = 0;

    for (uint32_t at = dag->first[step]; at < dag->first[step + 1]; at++)
        if (paths[dag->next[at]].length > longest)
            longest = paths[dag->next[at]].length;
    return longest;
}

/* Ranks the steps by path length, the longest first. An iteration has the length of its loop. */
static void rank_paths(struct ready_queue *queue, struct remaining *paths)
{
    const struct flow_graph *graph = queue->graph;

    for (uint32_t i = 0; i < graph->steps; i++)
        if (flow_graph_iteration(graph, i) != ITERATION_NONE)
            paths[i].length = paths[flow_graph_loop(graph, i)].length;
    qsort(paths, graph->steps, sizeof *paths, longer_first);
    for (uint32_t rank = 0; rank < graph->steps; rank++) {
        queue->at_rank[rank] = paths[rank].step;
        queue->rank_of[paths[rank].step] = rank;
    }
}

void ready_queue_rank(struct ready_queue *queue, const double *weights)
{
    const struct flow_graph *graph = queue->graph;
    const struct dag *dag = flow_graph_order(graph);
    uint32_t *order = mem_array(graph->steps + 1, sizeof *order);
    struct remaining *paths = mem_array(graph->steps + 1, sizeof *paths);

    if (!queue->rank_of) {
        queue->rank_of = mem_array(graph->steps + 1, sizeof *queue->rank_of);
        queue->at_rank = mem_array(graph->steps + 1, sizeof *queue->at_rank);
    }
    dag_sort(dag, order);
    for (uint32_t at = graph->steps; at > 0; at--) {
        uint32_t step = order[at - 1];

        paths[step].step = step;
        paths[step].length = weights[step] + longest_after(dag, paths, step);
    }
    rank_paths(queue, paths);
    mem_free(order);
    mem_free(paths);
}

static uint32_t rank(const struct ready_queue *queue, uint32_t step)
{
    return queue->rank_of ? queue->rank_of[step] : step;
}

static struct ready_gang *gang_of(const struct ready_queue *queue, uint32_t step)
{
    uint32_t gang = queue->gang_of ? queue->gang_of[step] : 0;

    return gang ? &queue->gangs[gang - 1] : NULL;
}

/* Opens the gang: its held members become ready. */
static void open_gang(struct ready_queue *queue, struct ready_gang *gang)
{
    const struct str_list *members = &queue->graph->spec->gangs.items[gang - queue->gangs].steps;

    if (gang->open)
        return;
    gang->open = true;
    for (size_t m = 0; m < members->count; m++) {
        uint32_t step = flow_graph_find(queue->graph, members->items[m]);

        if (step != STEP_NONE && gang_of(queue, step) == gang &&
            step_set_remove(&queue->held, step))
            step_set_add(&queue->ready, rank(queue, step));
    }
}

/* Opens the gang if enough members are ready. */
static void open_if_enough(struct ready_queue *queue, struct ready_gang *gang)
{
    uint32_t coming = gang->members - gang->skipped;
    uint32_t least = gang->min_ready < coming ? gang->min_ready : coming;

    if (!gang->open && gang->ready && gang->ready >= least)
        open_gang(queue, gang);
}

void ready_queue_put(struct ready_queue *queue, uint32_t step)
{
    struct ready_gang *gang = gang_of(queue, step);

    if (!gang) {
        step_set_add(&queue->ready, rank(queue, step));
    } else if (gang->open) {
        if (step_set_add(&queue->ready, rank(queue, step)))
            gang->ready++;
    } else if (step_set_add(&queue->held, step)) {
        gang->ready++;
        open_if_enough(queue, gang);
    }
}

void ready_queue_remove(struct ready_queue *queue, uint32_t step)
{
    struct ready_gang *gang = gang_of(queue, step);
    bool was = step_set_remove(&queue->ready, rank(queue, step));

    if (gang && (step_set_remove(&queue->held, step) || was))
        gang->ready--;
}

void ready_queue_skip(struct ready_queue *queue, uint32_t step)
{
    struct ready_gang *gang = gang_of(queue, step);

    if (!gang)
        return;
    gang->skipped++;
    open_if_enough(queue, gang);
}

void ready_queue_gang_formed(struct ready_queue *queue, uint32_t step)
{
    struct ready_gang *gang = gang_of(queue, step);

    if (gang)
        open_gang(queue, gang);
}

uint32_t ready_queue_next(const struct ready_queue *queue)
{
    uint32_t next = step_set_next(&queue->ready, 0);

    return next == STEP_NONE || !queue->at_rank ? next : queue->at_rank[next];
}

uint32_t ready_queue_batch(const struct ready_queue *queue, uint32_t step)
{
    const struct ready_gang *gang = gang_of(queue, step);

    if (!gang)
        return 1;
    return gang->ready < gang->min_ready ? gang->ready : gang->min_ready;
}

const struct flow_gang *ready_queue_gang(const struct ready_queue *queue, uint32_t step)
{
    uint32_t gang = queue->gang_of ? queue->gang_of[step] : 0;

    return gang ? &queue->graph->spec->gangs.items[gang - 1] : NULL;
}

uint32_t ready_queue_gang_min(const struct ready_queue *queue, uint32_t step)
{
    return queue->gangs[queue->gang_of[step] - 1].min_ready;
}
