#pragma once
/*
 * The dependency graph of one JobFlow, as the engine walks it.
 *
 * Built once per spec and then only read. Vertices are step indexes in spec order; an edge a → b
 * says that b names a as a target. The successors of a step are its dependents, ascending, so that
 * steps that become ready together start in list order. A target named twice gives two edges.
 *
 * Expanded, each iteration of a loop is a vertex of its own, right behind the loop's, without
 * edges: the loop starts it. What a switch chooses among are edges of a second graph, `choices`.
 * Ref: Volcano pkg/controllers/jobflow, deployJob, which looks the targets of every step up by name
 * at every event.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/arena.h"
#include "base/dag.h"
#include "base/error.h"
#include "base/name_index.h"
#include "flow/model/step_set.h"

struct flow_graph {
    const struct jobflow_spec *spec; /* borrowed: its strings must outlive the graph */
    uint32_t steps;                  /* vertices */
    struct dag dag;
    struct dag choices; /* switch → steps it lists; no vertices when there is no switch */
    struct dag all;     /* both; like choices */
    struct name_index names;
    struct flow_vertex *vertices; /* [steps], or NULL: vertex i is step i of the spec */
    struct arena *texts;          /* names of iterations */
    uint32_t *extra;              /* [spec->steps.count] iterations beyond the spec's; or NULL */
    bool bare;                    /* targets only: nothing of section 13 counts */
};

#define ITERATION_NONE UINT32_MAX

struct flow_vertex {
    uint32_t step;      /* of the spec */
    uint32_t iteration; /* ITERATION_NONE = the step itself */
    const char *name;
};

/**
 * Build the graph of `spec` (borrowed for the life of the graph). Returns an owned graph, or NULL
 * with `err`: INVALID at `spec.flows[i].name` for a name used twice, at
 * `spec.flows[i].dependsOn.targets[j]` for an unknown target, at `spec.flows` for a cycle, naming
 * a step on it. Admission refuses all of these earlier and says more; this is the engine's own
 * guard (INV-F7). O(steps + edges).
 */
struct flow_graph *flow_graph_new(const struct jobflow_spec *spec, struct error *err);
/** The same with the iterations of loops as vertices; `extra`: see there, copied, may be NULL. */
struct flow_graph *flow_graph_new_expanded(const struct jobflow_spec *spec, const uint32_t *extra,
                                           struct error *err);
/** The same with targets alone, as upstream reads a flow. */
struct flow_graph *flow_graph_new_bare(const struct jobflow_spec *spec, struct error *err);
void flow_graph_free(struct flow_graph *graph); /* NULL is fine */
SCOPED_DEFINE_PTR(flow_graph, struct flow_graph *, flow_graph_free)

/** The step of that name, or STEP_NONE. */
uint32_t flow_graph_find(const struct flow_graph *graph, const char *name);

/** The entry of the spec behind a vertex; of an iteration, its loop's. */
static inline const struct flow_step *flow_graph_step(const struct flow_graph *graph, uint32_t step)
{
    return &graph->spec->steps.items[graph->vertices ? graph->vertices[step].step : step];
}

/** What the job's name has behind the flow's: the step's name, `<step>-<i>` of an iteration. */
static inline const char *flow_graph_name(const struct flow_graph *graph, uint32_t step)
{
    return graph->vertices ? graph->vertices[step].name : graph->spec->steps.items[step].name;
}

/** The number of an iteration, ITERATION_NONE of anything else. */
static inline uint32_t flow_graph_iteration(const struct flow_graph *graph, uint32_t step)
{
    return graph->vertices ? graph->vertices[step].iteration : ITERATION_NONE;
}

/** The loop an iteration belongs to; only of iterations. */
static inline uint32_t flow_graph_loop(const struct flow_graph *graph, uint32_t step)
{
    return step - graph->vertices[step].iteration - 1;
}

/** How many iterations follow the vertex of a loop; 0 of anything else. */
static inline uint32_t flow_graph_iterations(const struct flow_graph *graph, uint32_t step)
{
    const struct flow_loop *loop = flow_graph_step(graph, step)->loop;

    if (!loop || !graph->vertices || graph->vertices[step].iteration != ITERATION_NONE)
        return 0;
    return flow_loop_iterations(loop) +
           (graph->extra ? graph->extra[graph->vertices[step].step] : 0);
}

/** The step makes no job of its own: a switch, or a loop. */
static inline bool flow_graph_jobless(const struct flow_graph *graph, uint32_t step)
{
    const struct flow_step *spec = flow_graph_step(graph, step);

    return (spec->choice && !graph->bare) ||
           (spec->loop && graph->vertices && graph->vertices[step].iteration == ITERATION_NONE);
}

static inline size_t flow_graph_targets(const struct flow_graph *graph, uint32_t step)
{
    const struct flow_depends *depends = flow_graph_step(graph, step)->depends;

    return depends && flow_graph_iteration(graph, step) == ITERATION_NONE ? depends->targets.count
                                                                          : 0;
}

/** for (uint32_t dependent = …): every step that names `step`. */
#define flow_graph_each_dependent(graph, step, dependent)                                          \
    for (uint32_t at_ = (graph)->dag.first[step], dependent;                                       \
         at_ < (graph)->dag.first[(step) + 1] && (dependent = (graph)->dag.next[at_], true);       \
         at_++)

/** Targets and choices together. */
static inline const struct dag *flow_graph_order(const struct flow_graph *graph)
{
    return graph->choices.vertices ? &graph->all : &graph->dag;
}

/** for (uint32_t listed = …): every step that a switch chooses among. */
#define flow_graph_each_choice(graph, step, listed)                                                \
    for (uint32_t at_ = (graph)->choices.first[step], listed;                                      \
         at_ < (graph)->choices.first[(step) + 1] && (listed = (graph)->choices.next[at_], true);  \
         at_++)
