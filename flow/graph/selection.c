/*
 * Finds vertices by name and follows the edges of the graph from them.
 */
#include "flow/graph/selection.h"

#include <string.h>

/* Returns the vertex of that name, or STEP_NONE. The name is not terminated. */
static uint32_t find(const struct flow_graph *graph, const char *name, size_t len)
{
    char text[64];

    if (len >= sizeof text)
        return STEP_NONE;
    memcpy(text, name, len);
    text[len] = '\0';
    return flow_graph_find(graph, text);
}

static void add_named(const struct flow_graph *graph, const char *names, struct step_set *out)
{
    const char *at = names, *name;
    size_t len;

    while (names && flow_rerun_next_name(&at, &name, &len)) {
        uint32_t step = find(graph, name, len);

        if (step != STEP_NONE)
            step_set_add(out, step);
    }
}

static void add_whole(const struct flow_graph *graph, uint32_t step, struct step_set *out)
{
    for (uint32_t k = 0; k <= flow_graph_iterations(graph, step); k++)
        step_set_add(out, step + k);
}

/* Returns the vertex whose dependents depend on this one: for an iteration, its loop. */
static uint32_t seen_as(const struct flow_graph *graph, uint32_t step)
{
    return flow_graph_iteration(graph, step) == ITERATION_NONE ? step
                                                               : flow_graph_loop(graph, step);
}

void step_selection_add_from(const struct flow_graph *graph, const struct step_set *roots,
                             struct step_set *out)
{
    const struct dag *order = flow_graph_order(graph);
    struct step_set seen = {0}, pending = {0};

    step_set_init(&seen, graph->steps);
    step_set_init(&pending, graph->steps);
    step_set_each(roots, root)
    {
        add_whole(graph, root, out);
        if (step_set_add(&seen, seen_as(graph, root)))
            step_set_add(&pending, seen_as(graph, root));
    }
    while (pending.count) {
        uint32_t step = step_set_next(&pending, 0);

        step_set_remove(&pending, step);
        for (uint32_t at = order->first[step]; at < order->first[step + 1]; at++) {
            add_whole(graph, order->next[at], out);
            if (step_set_add(&seen, order->next[at]))
                step_set_add(&pending, order->next[at]);
        }
    }
    step_set_release(&seen);
    step_set_release(&pending);
}

void step_selection_add(const struct flow_graph *graph, const struct flow_rerun *rerun,
                        struct step_set *out)
{
    struct step_set roots = {0}, only = {0};

    step_set_init(&roots, graph->steps);
    step_set_init(&only, graph->steps);
    add_named(graph, rerun->from, &roots);
    add_named(graph, rerun->edited, &roots);
    add_named(graph, rerun->only, &only);
    step_selection_add_from(graph, &roots, out);
    step_set_each(&only, step) add_whole(graph, step, out);
    step_set_release(&roots);
    step_set_release(&only);
}
