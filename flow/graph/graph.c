/*
 * Builds the dependency graph: an index of names, edges from targets to dependents and from
 * switches to the steps they list, and a vertex for each iteration of a loop.
 */
#include "flow/graph/graph.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/step_names.h"
#include "base/mem.h"

_Static_assert(NAME_NONE == STEP_NONE, "an unknown name is no step");

uint32_t flow_graph_find(const struct flow_graph *graph, const char *name)
{
    return name_index_get(&graph->names, name);
}

/* Refuses a name that is used twice. An iteration is reported at its loop. */
static bool refuse_name(const struct flow_graph *graph, uint32_t i, struct error *err)
{
    char field[64];

    snprintf(field, sizeof field, "spec.flows[%u].name",
             graph->vertices ? graph->vertices[i].step : i);
    return error_set(err, ERR_INVALID, field, "duplicated template name %s",
                     flow_graph_name(graph, i));
}

static bool index_names(struct flow_graph *graph, struct error *err)
{
    const char *run[NAMES_TOGETHER];
    uint32_t before[NAMES_TOGETHER], len;

    name_index_init(&graph->names, graph->steps);
    for (uint32_t first = 0; first < graph->steps; first += len) {
        for (len = 0; len < NAMES_TOGETHER && first + len < graph->steps; len++)
            run[len] = flow_graph_name(graph, first + len);
        name_index_put_all(&graph->names, run, len, first, before);
        for (uint32_t i = 0; i < len; i++)
            if (before[i] != NAME_NONE)
                return refuse_name(graph, first + i, err);
    }
    return true;
}

static bool refuse_target(const struct flow_graph *graph, uint32_t i, size_t target,
                          struct error *err)
{
    char field[96];

    snprintf(field, sizeof field, "spec.flows[%u].dependsOn.targets[%zu]",
             graph->vertices ? graph->vertices[i].step : i, target);
    return error_set(err, ERR_INVALID, field, "no step %s",
                     flow_graph_step(graph, i)->depends->targets.items[target]);
}

/* Lists the edges from targets to steps. `from` has the vertices that the targets of all steps
 * name, in order. */
static bool list_edges(const struct flow_graph *graph, const uint32_t *from, struct dag_edge *edges,
                       struct error *err)
{
    for (uint32_t i = 0; i < graph->steps; i++) {
        size_t count = flow_graph_targets(graph, i);

        for (size_t j = 0; j < count; j++, from++) {
            if (*from == NAME_NONE)
                return refuse_target(graph, i, j, err);
            *edges++ = (struct dag_edge){*from, i};
        }
    }
    return true;
}

struct choices {
    const struct flow_graph *graph;
    struct dag_edge *edges; /* edges to fill; NULL: they are only counted */
    size_t count;
};

static void list_choice(struct choices *c, uint32_t step, const struct str_list *listed)
{
    for (size_t i = 0; i < listed->count; i++) {
        uint32_t to = flow_graph_find(c->graph, listed->items[i]);

        if (to == STEP_NONE)
            continue; /* admission refuses unknown names; here they are ignored */
        if (c->edges)
            c->edges[c->count] = (struct dag_edge){step, to};
        c->count++;
    }
}

static void list_choices(struct choices *c)
{
    c->count = 0;
    for (uint32_t i = 0; i < c->graph->steps && !c->graph->bare; i++) {
        const struct flow_switch *choice = flow_graph_step(c->graph, i)->choice;

        if (!choice)
            continue;
        for (size_t k = 0; k < choice->cases.count; k++)
            list_choice(c, i, &choice->cases.items[k].steps);
        list_choice(c, i, &choice->default_steps);
    }
}

static bool check_acyclic(const struct flow_graph *graph, const struct dag *dag, struct error *err)
{
    uint32_t *cycle = mem_array((size_t)graph->steps + 1, sizeof *cycle);
    size_t length = dag_cycle(dag, cycle);
    uint32_t first = cycle[0];

    mem_free(cycle);
    if (!length)
        return true;
    return error_set(err, ERR_INVALID, "spec.flows",
                     "jobflow Flow is not DAG: step %s waits for itself through %zu targets",
                     flow_graph_name(graph, first), length);
}

/* Targets and choices together must be acyclic. */
static bool add_choices(struct flow_graph *graph, struct dag_edge *edges, size_t count,
                        const struct choices *c, struct error *err)
{
    if (!c->count)
        return check_acyclic(graph, &graph->dag, err);
    dag_init(&graph->choices, graph->steps, c->edges, c->count);
    for (size_t i = 0; i < c->count; i++)
        edges[count + i] = c->edges[i];
    dag_init(&graph->all, graph->steps, edges, count + c->count);
    return check_acyclic(graph, &graph->all, err);
}

static bool connect(struct flow_graph *graph, struct error *err)
{
    struct choices choices = {.graph = graph};
    size_t count = jobflow_count_targets(graph->spec);
    uint32_t *targets = jobflow_resolve_targets(graph->spec, &graph->names);
    struct dag_edge *edges;
    bool good;

    list_choices(&choices);
    edges = mem_array(count + 2 * choices.count + 1, sizeof *edges);
    choices.edges = edges + count + choices.count;
    if (choices.count)
        list_choices(&choices);
    good = list_edges(graph, targets, edges, err);
    if (good) {
        dag_init(&graph->dag, graph->steps, edges, count);
        good = add_choices(graph, edges, count, &choices, err);
    }
    mem_free(edges);
    mem_free(targets);
    return good;
}

static uint32_t iterations_of(const struct flow_graph *graph, size_t step)
{
    const struct flow_loop *loop = graph->spec->steps.items[step].loop;

    return loop ? flow_loop_iterations(loop) + (graph->extra ? graph->extra[step] : 0) : 0;
}

static void expand(struct flow_graph *graph)
{
    const struct jobflow_spec *spec = graph->spec;
    struct flow_vertex *vertex;
    size_t total = spec->steps.count;

    for (size_t i = 0; i < spec->steps.count; i++)
        total += iterations_of(graph, i);
    if (total == spec->steps.count)
        return;
    graph->texts = arena_new(0);
    graph->vertices = vertex = mem_array(total, sizeof *vertex);
    for (uint32_t i = 0; i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];
        uint32_t iterations = iterations_of(graph, i);

        *vertex++ = (struct flow_vertex){i, ITERATION_NONE, step->name};
        for (uint32_t k = 0; k < iterations; k++)
            *vertex++ =
                (struct flow_vertex){i, k, arena_printf(graph->texts, "%s-%u", step->name, k)};
    }
    graph->steps = (uint32_t)total;
}

enum form { AS_WRITTEN, EXPANDED, BARE };

static struct flow_graph *make(const struct jobflow_spec *spec, enum form form,
                               const uint32_t *extra, struct error *err)
{
    scoped(flow_graph) struct flow_graph *graph = mem_alloc(sizeof *graph);

    graph->spec = spec;
    graph->steps = (uint32_t)spec->steps.count;
    graph->bare = form == BARE;
    if (extra) {
        graph->extra = mem_array(spec->steps.count + 1, sizeof *extra);
        memcpy(graph->extra, extra, spec->steps.count * sizeof *extra);
    }
    if (form == EXPANDED)
        expand(graph);
    if (!index_names(graph, err) || !connect(graph, err))
        return NULL;
    return take(graph);
}

struct flow_graph *flow_graph_new(const struct jobflow_spec *spec, struct error *err)
{
    return make(spec, AS_WRITTEN, NULL, err);
}

struct flow_graph *flow_graph_new_expanded(const struct jobflow_spec *spec, const uint32_t *extra,
                                           struct error *err)
{
    return make(spec, EXPANDED, extra, err);
}

struct flow_graph *flow_graph_new_bare(const struct jobflow_spec *spec, struct error *err)
{
    return make(spec, BARE, NULL, err);
}

void flow_graph_free(struct flow_graph *graph)
{
    if (!graph)
        return;
    dag_release(&graph->dag);
    dag_release(&graph->choices);
    dag_release(&graph->all);
    name_index_release(&graph->names);
    mem_free(graph->vertices);
    mem_free(graph->extra);
    arena_free(graph->texts);
    mem_free(graph);
}
