/*
 * Whether the steps of a flow form a graph that can be run: names and targets, then order.
 *
 * The two texts of upstream appear as they are, so that scripts that look for them go on working.
 * Everything is linear in steps and targets. Ref: spec/jobflow.md 10.1, 10.2; Volcano
 * pkg/webhooks/admission/jobflows/validate/util.go.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/dag.h"
#include "api/types/jobflow_admission.h"
#include "api/types/nameindex.h"
#include "api/types/nearest.h"
#include "base/mem.h"

enum {
    NAMED_IN_CYCLE = 12,  /* steps a message names of a longer cycle */
    SUGGEST_STEPS = 2000, /* flows up to this size get "did you mean" */
};

struct graph_check {
    const struct jobflow_spec *spec;
    struct error_list *errors;
    struct name_index names;
    bool repeated; /* several steps have one name */
    struct dag_edge *edges;
    size_t n_edges;
};

static const struct str_list *targets_of(const struct flow_step *step)
{
    static const struct str_list none;

    return step->depends ? &step->depends->targets : &none;
}

/* Upstream lets the last of several steps of one name count; so do we when asked to be like it. */
static void index_names(struct graph_check *c, const struct admission *adm)
{
    for (size_t i = 0; i < c->spec->steps.count; i++) {
        const char *name = c->spec->steps.items[i].name;

        if (name_index_put(&c->names, name, (uint32_t)i) == NAME_NONE)
            continue;
        c->repeated = true;
        if (!adm->upstream_compat)
            FINDING(c->errors, ("spec.flows[%zu].name", i),
                    "duplicated template name %s: every step needs a name of its own; to use a "
                    "template twice, give the "
                    "steps different names and set jobTemplateName",
                    name);
    }
}

static void report_undefined(struct graph_check *c, size_t step, size_t target, const char *name)
{
    struct nearest best = {0};

    if (c->spec->steps.count <= SUGGEST_STEPS)
        for (size_t i = 0; i < c->spec->steps.count; i++)
            nearest_offer(&best, name, c->spec->steps.items[i].name);
    FINDING(c->errors, ("spec.flows[%zu].dependsOn.targets[%zu]", step, target),
            "jobflow Flow is not DAG: vertex is not defined: %s%s%s%s", name,
            best.word ? "; did you mean \"" : "", best.word ? best.word : "",
            best.word ? "\"?" : "");
}

/* A duplicate's targets are looked at, too, but only one step of a name has edges. */
static void collect_edges(struct graph_check *c, const struct admission *adm)
{
    for (size_t i = 0; i < c->spec->steps.count; i++) {
        const struct flow_step *step = &c->spec->steps.items[i];
        const struct str_list *targets = targets_of(step);
        bool counts = !c->repeated || name_index_get(&c->names, step->name) == i;

        if (!counts && adm->upstream_compat)
            continue;
        for (size_t t = 0; t < targets->count; t++) {
            uint32_t from = name_index_get(&c->names, targets->items[t]);

            if (from == NAME_NONE)
                report_undefined(c, i, t, targets->items[t]);
            else if (counts)
                c->edges[c->n_edges++] = (struct dag_edge){from, (uint32_t)i};
        }
    }
}

/* The cycle's steps in the order of the edges: each waits for the one before it. */
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

    dag_init(&dag, vertices, c->edges, c->n_edges);
    length = dag_cycle(&dag, cycle);
    if (length)
        report_cycle(c, cycle, length);
    mem_free(cycle);
}

/* L-17. A flow beyond them is not looked at any further. */
static bool check_size(const struct admission *adm, const struct jobflow_spec *spec, size_t edges,
                       struct error_list *errors)
{
    const struct limits *limits = limits_of(adm);

    if ((int64_t)spec->steps.count > limits->flow_steps) {
        FINDING(errors, ("spec.flows"), "Too many: %zu: a flow has at most %lld steps%s",
                spec->steps.count, (long long)limits->flow_steps,
                limits->flow_steps < limits_hard.flow_steps
                    ? "; --max-flow-steps of run and serve allows more"
                    : "");
        return false;
    }
    if ((int64_t)edges > limits->flow_edges) {
        FINDING(errors, ("spec.flows"),
                "Too many: %zu targets in all steps: at most %lld are allowed", edges,
                (long long)limits->flow_edges);
        return false;
    }
    return true;
}

void jobflow_check_graph(const struct admission *adm, const struct jobflow_spec *spec,
                         struct error_list *errors)
{
    struct graph_check check = {.spec = spec, .errors = errors};
    size_t edges = 0;

    for (size_t i = 0; i < spec->steps.count; i++)
        edges += targets_of(&spec->steps.items[i])->count +
                 (spec->steps.items[i].choice && !adm->upstream_compat
                      ? count_choices(spec->steps.items[i].choice)
                      : 0);
    if (!check_size(adm, spec, edges, errors))
        return;
    name_index_init(&check.names, spec->steps.count);
    check.edges = mem_array(edges + 1, sizeof *check.edges);
    index_names(&check, adm);
    collect_edges(&check, adm);
    if (!adm->upstream_compat)
        collect_switches(&check);
    check_order(&check);
    mem_free(check.edges);
    name_index_release(&check.names);
}
