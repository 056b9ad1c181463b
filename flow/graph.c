/*
 * The dependency graph: names to positions, targets to edges.
 */
#include "flow/graph.h"
#include "base/mem.h"
#include <stdint.h>
#include <stdio.h>

_Static_assert(NAME_NONE == STEP_NONE, "an unknown name is no step");

uint32_t flow_graph_find(const struct flow_graph *graph, const char *name)
{
    return name_index_get(&graph->names, name);
}

static bool index_names(struct flow_graph *graph, struct error *err)
{
    name_index_init(&graph->names, graph->steps);
    for (uint32_t i = 0; i < graph->steps; i++) {
        const char *name = flow_graph_step(graph, i)->name;
        char field[64];

        if (name_index_put(&graph->names, name, i) == NAME_NONE)
            continue;
        snprintf(field, sizeof field, "spec.flows[%u].name", i);
        return error_set(err, ERR_INVALID, field, "duplicated template name %s", name);
    }
    return true;
}

static size_t count_edges(const struct flow_graph *graph)
{
    size_t edges = 0;

    for (uint32_t i = 0; i < graph->steps; i++)
        edges += flow_graph_targets(graph, i);
    return edges;
}

static bool list_edges(const struct flow_graph *graph, struct dag_edge *edges, struct error *err)
{
    for (uint32_t i = 0; i < graph->steps; i++) {
        for (size_t j = 0; j < flow_graph_targets(graph, i); j++) {
            const char *name = flow_graph_step(graph, i)->depends->targets.items[j];
            uint32_t target = flow_graph_find(graph, name);
            char field[96];

            if (target != STEP_NONE) {
                *edges++ = (struct dag_edge){target, i};
                continue;
            }
            snprintf(field, sizeof field, "spec.flows[%u].dependsOn.targets[%zu]", i, j);
            return error_set(err, ERR_INVALID, field,
                             "jobflow Flow is not DAG: vertex is not defined: %s", name);
        }
    }
    return true;
}

static bool check_acyclic(const struct flow_graph *graph, struct error *err)
{
    uint32_t *cycle = mem_array((size_t)graph->steps + 1, sizeof *cycle);
    size_t length = dag_cycle(&graph->dag, cycle);
    uint32_t first = cycle[0];

    mem_free(cycle);
    if (!length)
        return true;
    return error_set(err, ERR_INVALID, "spec.flows",
                     "jobflow Flow is not DAG: step %s waits for itself through %zu targets",
                     flow_graph_step(graph, first)->name, length);
}

struct flow_graph *flow_graph_new(const struct jobflow_spec *spec, struct error *err)
{
    scoped(flow_graph) struct flow_graph *graph = mem_alloc(sizeof *graph);
    struct dag_edge *edges;
    size_t count;
    bool known;

    graph->spec = spec;
    graph->steps = (uint32_t)spec->steps.count;
    if (!index_names(graph, err))
        return NULL;
    count = count_edges(graph);
    edges = mem_array(count + 1, sizeof *edges);
    known = list_edges(graph, edges, err);
    if (known)
        dag_init(&graph->dag, graph->steps, edges, count);
    mem_free(edges);
    if (!known || !check_acyclic(graph, err))
        return NULL;
    return take(graph);
}

void flow_graph_free(struct flow_graph *graph)
{
    if (!graph)
        return;
    dag_release(&graph->dag);
    name_index_release(&graph->names);
    mem_free(graph);
}
