/*
 * Finds unreachable steps in one pass in topological order. For each step the pass knows the final
 * phases it can have; so a term of a condition is true sometimes, never or always, which determines
 * the steps that never run.
 */
#include "cli/preflight/reach.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/inline_template.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"
#include "cli/preflight/steps.h"
#include "flow/graph/graph.h"

enum { TERM_SOMETIMES, TERM_NEVER, TERM_ALWAYS };

struct reach {
    const struct object *flow;
    const struct store *store;
    struct flow_graph *graph;
    bool *may_skip, *never; /* for each step whether it may be skipped, and whether it never runs */
    bool *unchosen; /* for each step whether only switch cases that can never match list it */
    void (*found)(void *ctx, const struct error *err);
    void *ctx;
};

static const struct flow_step *step_at(const struct reach *reach, uint32_t i)
{
    return &reach->graph->spec->steps.items[i];
}

static bool can_end_as(const struct reach *reach, uint32_t step, const char *phase)
{
    if (strcmp(phase, "Skipped") == 0)
        return reach->may_skip[step];
    if (reach->never[step])
        return false;
    return strcmp(phase, "Completed") == 0 || !flow_step_is_switch(step_at(reach, step));
}

static bool names_phase(const struct flow_term *term, const char *phase)
{
    for (size_t i = 0; i < term->phases.count; i++)
        if (strcmp(term->phases.items[i], phase) == 0)
            return true;
    return false;
}

static int analyze_phases(const struct reach *reach, const struct flow_term *term, uint32_t target)
{
    static const char *const phases[] = {"Completed", "Failed", "Terminated", "Skipped"};
    bool some = false, all = true;

    for (size_t i = 0; i < countof(phases); i++) {
        if (!can_end_as(reach, target, phases[i]))
            continue;
        some = some || names_phase(term, phases[i]);
        all = all && names_phase(term, phases[i]);
    }
    return !some ? TERM_NEVER : all ? TERM_ALWAYS : TERM_SOMETIMES;
}

/* Returns whether the target's job can have a task of that name; true when the job is unknown. */
static bool has_task(const struct reach *reach, uint32_t target, const char *task)
{
    const struct flow_step *step = step_at(reach, target);
    scoped(object) struct object *template =
        flow_step_is_inline(step) ? jobflow_inline_template(reach->flow, step)
                                  : object_ref(preflight_template(reach->store, reach->flow, step));
    const struct job_spec *spec = template ? job_spec_of(template) : NULL;

    if (!task || !spec || step->patch_job_spec || step->patch_spec)
        return true;
    for (size_t i = 0; i < spec->tasks.count; i++)
        if (spec->tasks.items[i].name && strcmp(spec->tasks.items[i].name, task) == 0)
            return true;
    return false;
}

static int analyze_term(const struct reach *reach, const struct flow_term *term)
{
    uint32_t target = term->target ? flow_graph_find(reach->graph, term->target) : STEP_NONE;
    const char *task = term->task_status ? term->task_status->task
                       : term->exit_code ? term->exit_code->task
                                         : NULL;
    int verdict = TERM_SOMETIMES;

    if (target == STEP_NONE)
        return TERM_SOMETIMES;
    if (term->phases.count)
        verdict = analyze_phases(reach, term, target);
    else if (reach->never[target] || flow_step_is_switch(step_at(reach, target)) ||
             !has_task(reach, target, task))
        verdict = TERM_NEVER;
    if (term->negate && verdict != TERM_SOMETIMES)
        verdict = verdict == TERM_NEVER ? TERM_ALWAYS : TERM_NEVER;
    return verdict;
}

/* Returns the index of the term that makes a condition always false, or -1 when it may be true. */
static int term_against(const struct reach *reach, const struct flow_condition *condition)
{
    bool any = condition->strategy == STRATEGY_ANY;
    int against = -1;

    for (size_t i = 0; i < condition->terms.count; i++) {
        bool never = analyze_term(reach, &condition->terms.items[i]) == TERM_NEVER;

        if (never && against < 0)
            against = (int)i;
        if (any && !never)
            return -1;
    }
    return against;
}

static void tell(const struct reach *reach, const char *field, const char *why)
{
    struct error err = {0};

    error_set(&err, ERR_INVALID, field, "%s", why);
    reach->found(reach->ctx, &err);
}

static void analyze_condition(struct reach *reach, uint32_t i)
{
    const struct flow_condition *condition = step_at(reach, i)->condition;
    int against = condition ? term_against(reach, condition) : -1;
    const struct flow_term *term;
    scoped_str why = NULL;
    char field[96];

    if (against < 0)
        return;
    term = &condition->terms.items[against];
    reach->never[i] = true;
    snprintf(field, sizeof field, "spec.flows[%u].if.terms[%d]", i, against);
    why = mem_printf("the step can never run: %s%s never ends so that this holds",
                     term->target ? "step " : "it", term->target ? term->target : "");
    tell(reach, field, why);
}

static void analyze_cases(struct reach *reach, uint32_t i)
{
    const struct flow_switch *choice = step_at(reach, i)->choice;

    for (size_t c = 0; choice && c < choice->cases.count; c++) {
        const struct flow_case *one = &choice->cases.items[c];
        char field[96];

        if (!one->condition || term_against(reach, one->condition) < 0)
            continue;
        snprintf(field, sizeof field, "spec.flows[%u].switch.cases[%zu].if", i, c);
        tell(reach, field, "can never hold: the case is never chosen and its steps never run");
        for (size_t s = 0; s < one->steps.count; s++) {
            uint32_t step = flow_graph_find(reach->graph, one->steps.items[s]);

            if (step != STEP_NONE)
                reach->unchosen[step] = true;
        }
    }
}

static void analyze_step(struct reach *reach, uint32_t i)
{
    const struct flow_depends *depends = step_at(reach, i)->depends;
    size_t n = depends ? depends->targets.count : 0, skip = 0, never = 0;

    for (size_t t = 0; t < n; t++) {
        uint32_t target = flow_graph_find(reach->graph, depends->targets.items[t]);

        skip += reach->may_skip[target];
        never += reach->never[target];
    }
    reach->may_skip[i] = reach->may_skip[i] || step_at(reach, i)->condition || (n && skip == n);
    analyze_condition(reach, i);
    analyze_cases(reach, i);
    if (reach->unchosen[i]) {
        reach->never[i] = true;
    } else if (n && never == n && !reach->never[i]) {
        char field[64];

        reach->never[i] = true;
        snprintf(field, sizeof field, "spec.flows[%u].dependsOn", i);
        tell(reach, field, "the step can never run: none of its targets ever does");
    }
}

/* Marks the steps that a switch lists: the switch may skip them. */
static void mark_listed(struct reach *reach, const struct str_list *names)
{
    for (size_t i = 0; i < names->count; i++) {
        uint32_t step = flow_graph_find(reach->graph, names->items[i]);

        if (step != STEP_NONE)
            reach->may_skip[step] = true;
    }
}

static bool decides(const struct jobflow_spec *spec)
{
    for (size_t i = 0; i < spec->steps.count; i++)
        if (spec->steps.items[i].condition || spec->steps.items[i].choice)
            return true;
    return false;
}

void reach_check(const struct object *flow, const struct store *store,
                 void (*found)(void *ctx, const struct error *err), void *ctx)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    struct reach reach = {.flow = flow, .store = store, .found = found, .ctx = ctx};
    size_t n = spec->steps.count;
    uint32_t *order;

    if (!decides(spec))
        return;
    reach.graph = flow_graph_new(spec, NULL);
    if (!reach.graph)
        return; /* admission has reported the reason */
    reach.may_skip = mem_array(n + 1, sizeof(bool));
    reach.never = mem_array(n + 1, sizeof(bool));
    reach.unchosen = mem_array(n + 1, sizeof(bool));
    order = mem_array(n + 1, sizeof *order);
    for (uint32_t i = 0; i < n; i++) {
        const struct flow_switch *choice = step_at(&reach, i)->choice;

        for (size_t c = 0; choice && c < choice->cases.count; c++)
            mark_listed(&reach, &choice->cases.items[c].steps);
        if (choice)
            mark_listed(&reach, &choice->default_steps);
    }
    for (size_t k = 0, sorted = dag_sort(&reach.graph->dag, order); k < sorted; k++)
        analyze_step(&reach, order[k]);
    flow_graph_free(reach.graph);
    mem_free(reach.may_skip);
    mem_free(reach.never);
    mem_free(reach.unchosen);
    mem_free(order);
}
