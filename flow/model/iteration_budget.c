/*
 * Computes how many iterations each loop of a flow may have beyond its maxIterations. A loop has at
 * most LOOP_ITERATIONS_MAX in all.
 */
#include "flow/model/iteration_budget.h"

#include <string.h>

#include "base/mem.h"

/* Returns `extra`, cut so that the loop has at most LOOP_ITERATIONS_MAX iterations in all. */
static uint32_t at_most(const struct flow_loop *loop, uint64_t extra)
{
    uint32_t own = flow_loop_iterations(loop);
    uint32_t room = own < LOOP_ITERATIONS_MAX ? LOOP_ITERATIONS_MAX - own : 0;

    return extra < room ? (uint32_t)extra : room;
}

static bool may_grow(const struct flow_step *step)
{
    return step->loop && step->loop->until;
}

static void set(uint32_t **budgets, const struct jobflow_spec *spec, size_t step, uint64_t extra)
{
    if (!*budgets)
        *budgets = mem_array(spec->steps.count + 1, sizeof **budgets);
    (*budgets)[step] = at_most(spec->steps.items[step].loop, extra);
}

uint32_t *iteration_budget_stored(const struct jobflow_spec *spec, const json_t *status)
{
    const json_t *node;
    uint32_t *budgets = NULL;
    size_t i;

    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        json_int_t iterations = json_integer_value(json_object_get(node, "iterations"));
        const char *name = json_string_value(json_object_get(node, "name"));

        for (size_t s = 0; iterations > 0 && name && s < spec->steps.count; s++) {
            const struct flow_step *step = &spec->steps.items[s];

            if (may_grow(step) && strcmp(step->name, name) == 0 &&
                iterations > flow_loop_iterations(step->loop))
                set(&budgets, spec, s, (uint64_t)iterations - flow_loop_iterations(step->loop));
        }
    }
    return budgets;
}

uint32_t *iteration_budget_kept(const struct jobflow_spec *spec, const struct flow_graph *graph)
{
    uint32_t *budgets = NULL;

    for (size_t s = 0; graph && graph->extra && s < spec->steps.count; s++) {
        uint32_t old = flow_graph_find(graph, spec->steps.items[s].name);

        if (old != STEP_NONE && may_grow(&spec->steps.items[s]) &&
            flow_graph_iteration(graph, old) == ITERATION_NONE)
            set(&budgets, spec, s, graph->extra[graph->vertices[old].step]);
    }
    return budgets;
}

/* Whether the loop failed although all of its iterations completed, and a manual retry continues it. A
 * loop that is judged again begins with its first iteration instead. */
static bool is_used_up(const struct flow_model *m, uint32_t loop)
{
    uint32_t count = flow_graph_iterations(m->graph, loop);

    if (!count || !may_grow(flow_graph_step(m->graph, loop)) || m->steps[loop].final ||
        m->steps[loop].judged_again ||
        !flow_model_step_fails_flow(m, loop)) /* final steps start over, with all iterations */
        return false;
    for (uint32_t k = 1; k <= count; k++)
        if (m->steps[loop + k].state != STEP_STARTED || m->steps[loop + k].phase != JOB_COMPLETED)
            return false;
    return true;
}

uint32_t *iteration_budget_renewed(const struct flow_model *m)
{
    const struct jobflow_spec *spec = m->graph->spec;
    uint32_t *budgets = NULL;

    for (uint32_t i = 0; m->control && i < m->graph->steps; i++) {
        uint32_t step;

        if (!is_used_up(m, i))
            continue;
        if (!budgets)
            budgets = iteration_budget_kept(spec, m->graph);
        step = m->graph->vertices[i].step;
        set(&budgets, spec, step,
            (uint64_t)(budgets ? budgets[step] : 0) +
                flow_loop_iterations(spec->steps.items[step].loop));
    }
    return budgets;
}
