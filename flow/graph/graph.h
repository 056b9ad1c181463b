#pragma once
/*
 * The dependency graph of one JobFlow.
 *
 * It is built once for a spec and then only read. Vertices are steps in the order of the spec; an
 * edge a → b means that b names a as a target. The dependents of a step are in ascending order, so
 * steps that become ready together start in the order of the spec. A target that is named twice
 * gives two edges.
 *
 * In the expanded form each iteration of a loop is a vertex of its own, right behind its loop's. It
 * has no edges, because the loop starts it. The steps that a switch lists are edges of a second
 * graph, `choices`. Ref: Volcano pkg/controllers/jobflow, deployJob, which finds the targets of
 * every step by name at every event.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/collections/arena.h"
#include "base/collections/dag.h"
#include "base/collections/name_index.h"
#include "base/error.h"
#include "flow/graph/step_set.h"

struct flow_graph {
    const struct jobflow_spec *spec; /* spec of the flow, borrowed: its strings must outlive the
                                      * graph */
    uint32_t steps;                  /* number of vertices */
    struct dag dag;
    struct dag choices; /* switch → steps it lists; no vertices when there is no switch */
    struct dag all;     /* edges of both graphs; empty when there is no switch */
    struct name_index names;
    struct flow_vertex *vertices; /* the vertices, [steps]; NULL: vertex i is step i of the spec */
    struct arena *texts;          /* memory of the names of iterations */
    uint32_t *extra; /* for each step of the spec the iterations beyond those of the spec; or
                      * NULL */
    bool bare;       /* targets only, without spec/jobflow.md 13 */
};

#define ITERATION_NONE UINT32_MAX

struct flow_vertex {
    uint32_t step;      /* step of the spec */
    uint32_t iteration; /* ITERATION_NONE = the step itself */
    const char *name;
};

/**
 * Builds the graph of `spec` (borrowed for the life of the graph). Returns an owned graph, or NULL
 * with `err`: INVALID at `spec.flows[i].name` for a name used twice, at
 * `spec.flows[i].dependsOn.targets[j]` for an unknown target, at `spec.flows` for a cycle, naming
 * a step on it. Admission refuses all of these earlier, with better messages; this check guards
 * against objects that bypassed admission (INV-F7). O(steps + edges).
 */
struct flow_graph *flow_graph_new(const struct jobflow_spec *spec, struct error *err);
/** Returns the expanded form. `extra` is the member of that name; it is copied and may be NULL. */
struct flow_graph *flow_graph_new_expanded(const struct jobflow_spec *spec, const uint32_t *extra,
                                           struct error *err);
/** Returns the graph of targets alone, as upstream reads a flow. */
struct flow_graph *flow_graph_new_bare(const struct jobflow_spec *spec, struct error *err);
void flow_graph_free(struct flow_graph *graph); /* NULL is ignored */
SCOPED_DEFINE_PTR(flow_graph, struct flow_graph *, flow_graph_free)

/** Returns the step of that name, or STEP_NONE. */
uint32_t flow_graph_find(const struct flow_graph *graph, const char *name);

/** Returns the entry of the spec that a vertex comes from; for an iteration, that of its loop. */
static inline const struct flow_step *flow_graph_step(const struct flow_graph *graph, uint32_t step)
{
    return &graph->spec->steps.items[graph->vertices ? graph->vertices[step].step : step];
}

/** Returns the name of a vertex: that of the step, or `<step>-<i>` for an iteration. The job is
 * named `<flow>-` and this name. */
static inline const char *flow_graph_name(const struct flow_graph *graph, uint32_t step)
{
    return graph->vertices ? graph->vertices[step].name : graph->spec->steps.items[step].name;
}

/** Returns the number of an iteration, from 0; ITERATION_NONE for any other vertex. */
static inline uint32_t flow_graph_iteration(const struct flow_graph *graph, uint32_t step)
{
    return graph->vertices ? graph->vertices[step].iteration : ITERATION_NONE;
}

/** Returns the loop that an iteration belongs to; only for iterations. */
static inline uint32_t flow_graph_loop(const struct flow_graph *graph, uint32_t step)
{
    return step - graph->vertices[step].iteration - 1;
}

/** Returns how many iterations follow the vertex of a loop; 0 for any other vertex. */
static inline uint32_t flow_graph_iterations(const struct flow_graph *graph, uint32_t step)
{
    const struct flow_loop *loop = flow_graph_step(graph, step)->loop;

    if (!loop || !graph->vertices || graph->vertices[step].iteration != ITERATION_NONE)
        return 0;
    return flow_loop_iterations(loop) +
           (graph->extra ? graph->extra[graph->vertices[step].step] : 0);
}

/** Returns whether the vertex has no job of its own: a switch, an approval, or a loop. */
static inline bool flow_graph_jobless(const struct flow_graph *graph, uint32_t step)
{
    const struct flow_step *spec = flow_graph_step(graph, step);

    return ((spec->choice || spec->approval) && !graph->bare) ||
           (spec->loop && graph->vertices && graph->vertices[step].iteration == ITERATION_NONE);
}

/** Returns how many targets a vertex has; an iteration has none. */
static inline size_t flow_graph_targets(const struct flow_graph *graph, uint32_t step)
{
    const struct flow_depends *depends = flow_graph_step(graph, step)->depends;

    return depends && flow_graph_iteration(graph, step) == ITERATION_NONE ? depends->targets.count
                                                                          : 0;
}

/** A loop header over the steps that name `step` as a target; declares `dependent`. */
#define flow_graph_each_dependent(graph, step, dependent)                                          \
    for (uint32_t at_ = (graph)->dag.first[step], dependent;                                       \
         at_ < (graph)->dag.first[(step) + 1] && (dependent = (graph)->dag.next[at_], true);       \
         at_++)

/** Returns the graph of targets and choices together. */
static inline const struct dag *flow_graph_order(const struct flow_graph *graph)
{
    return graph->choices.vertices ? &graph->all : &graph->dag;
}

/** A loop header over the steps that a switch lists; declares `listed`. */
#define flow_graph_each_choice(graph, step, listed)                                                \
    for (uint32_t at_ = (graph)->choices.first[step], listed;                                      \
         at_ < (graph)->choices.first[(step) + 1] && (listed = (graph)->choices.next[at_], true);  \
         at_++)
