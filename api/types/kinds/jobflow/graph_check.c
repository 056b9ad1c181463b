/*
 * Checks that the steps of a flow form a graph that can run: unique names, targets that exist, and
 * no cycle.
 *
 * Everything is linear in steps and targets. Most flows list every step after those it waits for;
 * one pass accepts these. Two messages have the texts of upstream, because scripts look for them.
 * Ref: spec/jobflow.md 10.1, 10.2; Volcano pkg/webhooks/admission/jobflows/validate/util.go.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "base/collections/dag.h"
#include "base/mem.h"

enum {
    NAMED_IN_CYCLE = 12, /* number of steps of a cycle that a message names */
};

struct graph_check {
    const struct admission *adm;
    const struct jobflow_spec *spec;
    struct error_list *errors;
    struct name_index names;
    uint32_t *targets; /* positions of the targets of all steps, one step after another */
    bool repeated;     /* several steps have the same name */
    struct dag_edge *edges;
    size_t n_edges;
};

static const struct str_list *targets_of(const struct flow_step *step)
{
    static const struct str_list none;

    return step->depends ? &step->depends->targets : &none;
}

/* With upstream compatibility, the last of several steps of one name counts. */
static void report_repeated(void *ctx, size_t step)
{
    struct graph_check *c = ctx;

    c->repeated = true;
    if (!c->adm->upstream_compat)
        FINDING(c->errors, ("spec.flows[%zu].name", step),
                "duplicated template name %s: every step needs a name of its own; to use a "
                "template twice, give the "
                "steps different names and set jobTemplateName",
                c->spec->steps.items[step].name);
}

/* The words in parentheses are those of Volcano; its clients look for them. */
static void report_undefined(struct graph_check *c, size_t step, size_t target, const char *name)
{
    scoped_str near = jobflow_near_step(c->spec, name, c->errors);

    FINDING(c->errors, ("spec.flows[%zu].dependsOn.targets[%zu]", step, target),
            "no step %s%s (jobflow Flow is not DAG: vertex is not defined: %s)", name, near, name);
}

/* Only the last of several steps of one name has edges. */
static bool has_edges(const struct graph_check *c, size_t step)
{
    return !c->repeated || name_index_get(&c->names, c->spec->steps.items[step].name) == step;
}

/* Reports undefined targets, except, with upstream compatibility, those of steps without edges. */
static void check_targets(struct graph_check *c)
{
    const uint32_t *from = c->targets;

    for (size_t i = 0; i < c->spec->steps.count; i++) {
        const struct str_list *targets = targets_of(&c->spec->steps.items[i]);
        bool counts = has_edges(c, i);

        for (size_t t = 0; t < targets->count; t++, from++) {
            if (*from == NAME_NONE && (counts || !c->adm->upstream_compat))
                report_undefined(c, i, t, targets->items[t]);
        }
    }
}

static void collect_edges(struct graph_check *c)
{
    const uint32_t *from = c->targets;

    for (size_t i = 0; i < c->spec->steps.count; i++) {
        size_t count = targets_of(&c->spec->steps.items[i])->count;

        for (size_t t = 0; t < count && has_edges(c, i); t++)
            if (from[t] != NAME_NONE)
                c->edges[c->n_edges++] = (struct dag_edge){from[t], (uint32_t)i};
        from += count;
    }
}

/* `cycle` holds the steps in the order of the edges: each waits for the one before it. */
static void report_cycle(struct graph_check *c, const uint32_t *cycle, size_t length)
{
    const struct flow_step *first = &c->spec->steps.items[cycle[0]];
    const char *last = c->spec->steps.items[cycle[length - 1]].name;
    const struct str_list *targets = targets_of(first);
    scoped(buf) struct buf text = {0};
    size_t closing = 0;

    while (closing + 1 < targets->count && strcmp(targets->items[closing], last) != 0)
        closing++;
    for (size_t i = 0; i < length && i < NAMED_IN_CYCLE; i++)
        buf_printf(&text, "%.64s -> ", c->spec->steps.items[cycle[i]].name);
    if (length > NAMED_IN_CYCLE)
        buf_printf(&text, "… -> ");
    buf_printf(&text, "%.64s", first->name);
    FINDING(c->errors, ("spec.flows[%u].dependsOn.targets[%zu]", cycle[0], closing),
            "jobflow Flow is not DAG: %s (a cycle of %zu: each step waits for the one before it)",
            text.data, length);
}

/* A step that a switch lists waits for the switch. */
static void collect_choices(struct graph_check *c, size_t step, const struct str_list *listed)
{
    for (size_t i = 0; i < listed->count; i++) {
        uint32_t to = name_index_get(&c->names, listed->items[i]);

        if (to != NAME_NONE)
            c->edges[c->n_edges++] = (struct dag_edge){(uint32_t)step, to};
    }
}

static size_t count_choices(const struct flow_switch *choice)
{
    size_t count = choice->default_steps.count;

    for (size_t i = 0; i < choice->cases.count; i++)
        count += choice->cases.items[i].steps.count;
    return count;
}

static void collect_switches(struct graph_check *c)
{
    for (size_t i = 0; i < c->spec->steps.count; i++) {
        const struct flow_switch *choice = c->spec->steps.items[i].choice;

        if (!choice)
            continue;
        for (size_t k = 0; k < choice->cases.count; k++)
            collect_choices(c, i, &choice->cases.items[k].steps);
        collect_choices(c, i, &choice->default_steps);
    }
}

static void check_order(struct graph_check *c)
{
    uint32_t vertices = (uint32_t)c->spec->steps.count;
    uint32_t *cycle = mem_array((size_t)vertices + 1, sizeof *cycle);
    scoped(dag) struct dag dag = {0};
    size_t length;

    collect_edges(c);
    if (!c->adm->upstream_compat)
        collect_switches(c);
    dag_init(&dag, vertices, c->edges, c->n_edges);
    length = dag_cycle(&dag, cycle);
    if (length)
        report_cycle(c, cycle, length);
    mem_free(cycle);
}

/* L-17: a flow with more steps is not checked any further. */
static bool check_steps(struct graph_check *c)
{
    const struct limits *limits = limits_of(c->adm);

    if ((int64_t)c->spec->steps.count <= limits->flow_steps)
        return true;
    FINDING(c->errors, ("spec.flows"), "Too many: %zu: a flow has at most %lld steps%s",
            c->spec->steps.count, (long long)limits->flow_steps,
            limits->flow_steps < limits_hard.flow_steps
                ? "; --max-flow-steps of run and serve allows more"
                : "");
    return false;
}

static bool check_edges(struct graph_check *c, size_t edges)
{
    const struct limits *limits = limits_of(c->adm);

    if ((int64_t)edges <= limits->flow_edges)
        return true;
    FINDING(c->errors, ("spec.flows"),
            "Too many: %zu targets in all steps: at most %lld are allowed", edges,
            (long long)limits->flow_edges);
    return false;
}

/* The full check, for flows that jobflow_is_in_order does not accept. */
static void check_closely(struct graph_check *c)
{
    size_t targets = jobflow_count_targets(c->spec), choices = 0;

    for (size_t i = 0; i < c->spec->steps.count && !c->adm->upstream_compat; i++)
        if (c->spec->steps.items[i].choice)
            choices += count_choices(c->spec->steps.items[i].choice);
    if (!check_edges(c, targets + choices))
        return;
    jobflow_index_names(c->spec, &c->names, report_repeated, c);
    c->targets = jobflow_resolve_targets(c->spec, &c->names);
    check_targets(c);
    c->edges = mem_array(targets + choices + 1, sizeof *c->edges);
    check_order(c);
    mem_free(c->edges);
    mem_free(c->targets);
    name_index_release(&c->names);
}

void jobflow_check_graph(const struct admission *adm, const struct jobflow_spec *spec,
                         struct error_list *errors)
{
    struct graph_check check = {.adm = adm, .spec = spec, .errors = errors};

    if (check_steps(&check) && !jobflow_is_in_order(spec, (size_t)limits_of(adm)->flow_edges))
        check_closely(&check);
}
