#pragma once
/*
 * The dependency graph of one JobFlow, as the engine walks it.
 *
 * Built once per spec and then only read. Vertices are step indexes in spec order; an edge a → b
 * says that b names a as a target. The successors of a step are its dependents, ascending, so that
 * steps that become ready together start in list order. A target named twice gives two edges.
 * Ref: Volcano pkg/controllers/jobflow, deployJob, which looks the targets of every step up by name
 * at every event.
 */
#include "api/types/dag.h"
#include "api/types/jobflow.h"
#include "api/types/nameindex.h"
#include "base/error.h"
#include "flow/step_set.h"

struct flow_graph {
    const struct jobflow_spec *spec; /* borrowed: its strings must outlive the graph */
    uint32_t steps;
    struct dag dag;
    struct name_index names;
};

/**
 * Build the graph of `spec` (borrowed for the life of the graph). Returns an owned graph, or NULL
 * with `err`: INVALID at `spec.flows[i].name` for a name used twice, at
 * `spec.flows[i].dependsOn.targets[j]` for an unknown target, at `spec.flows` for a cycle, naming
 * a step on it. Admission refuses all of these earlier and says more; this is the engine's own
 * guard (INV-F7). O(steps + edges).
 */
struct flow_graph *flow_graph_new(const struct jobflow_spec *spec, struct error *err);
void flow_graph_free(struct flow_graph *graph); /* NULL is fine */
SCOPED_DEFINE_PTR(flow_graph, struct flow_graph *, flow_graph_free)

/** The step of that name, or STEP_NONE. */
uint32_t flow_graph_find(const struct flow_graph *graph, const char *name);

static inline const struct flow_step *flow_graph_step(const struct flow_graph *graph, uint32_t step)
{
    return &graph->spec->steps.items[step];
}

static inline size_t flow_graph_targets(const struct flow_graph *graph, uint32_t step)
{
    const struct flow_depends *depends = flow_graph_step(graph, step)->depends;

    return depends ? depends->targets.count : 0;
}

/** for (uint32_t dependent = …): every step that names `step`. */
#define flow_graph_each_dependent(graph, step, dependent)                                          \
    for (uint32_t at_ = (graph)->dag.first[step], dependent;                                       \
         at_ < (graph)->dag.first[(step) + 1] && (dependent = (graph)->dag.next[at_], true);       \
         at_++)
