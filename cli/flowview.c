/*
 * From the document of a JobFlow to steps, edges and states.
 */
#include "cli/flowview.h"
#include "api/types/jobflow.h"
#include "api/types/nameindex.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/describe.h"
#include "flow/step_bits.h"
#include <stdio.h>
#include <string.h>

struct edges {
    struct dag_edge *items;
    size_t count, cap;
};

struct load {
    struct flowview *view;
    struct name_index names;
    struct edges edges;
    uint32_t *seen; /* [n_steps] target → the step it was last a target of, plus 1 */
    struct error *err;
};

uint32_t flowview_find(const struct flowview *view, const char *name)
{
    for (uint32_t i = 0; name && i < view->n_steps; i++)
        if (strcmp(view->steps[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

/* ---- steps ---- */

static bool load_step(struct load *load, uint32_t i, const json_t *spec)
{
    struct flowview_step *step = &load->view->steps[i];
    const char *template_ = describe_text(spec, "jobTemplateName");
    char field[64];

    snprintf(field, sizeof field, "spec.flows[%u].name", i);
    step->spec = spec;
    step->name = describe_text(spec, "name");
    if (!step->name || !*step->name)
        return error_set(load->err, ERR_INVALID, field, "Required value");
    if (!json_object_get(spec, "switch"))
        step->template_ = template_ ? template_ : step->name;
    step->expected_start_ms = step->expected_end_ms = -1;
    return name_index_put(&load->names, step->name, i) == NAME_NONE ||
           error_set(load->err, ERR_INVALID, field, "duplicated template name %s", step->name);
}

static void add_edge(struct load *load, uint32_t from, uint32_t to)
{
    if (load->seen[from] == to + 1)
        return;
    load->seen[from] = to + 1;
    mem_grow(load->edges.items, load->edges.count, load->edges.cap);
    load->edges.items[load->edges.count++] = (struct dag_edge){from, to};
}

static bool load_targets(struct load *load, uint32_t i)
{
    const json_t *targets = describe_at(load->view->steps[i].spec, "dependsOn.targets");
    size_t t;
    json_t *target;

    json_array_foreach(targets, t, target)
    {
        const char *name = json_string_value(target);
        uint32_t from = name ? name_index_get(&load->names, name) : NAME_NONE;
        char field[96];

        if (from != NAME_NONE) {
            add_edge(load, from, i);
            continue;
        }
        snprintf(field, sizeof field, "spec.flows[%u].dependsOn.targets[%zu]", i, t);
        return error_set(load->err, ERR_INVALID, field,
                         "jobflow Flow is not DAG: vertex is not defined: %s", name ? name : "");
    }
    return true;
}

/* A switch decides over the steps its cases list: they wait for it. */
static void load_choices(struct load *load, uint32_t i, const json_t *names)
{
    size_t k;
    json_t *name;

    json_array_foreach(names, k, name)
    {
        uint32_t to = json_is_string(name) ? name_index_get(&load->names, json_string_value(name))
                                           : NAME_NONE;

        if (to != NAME_NONE)
            add_edge(load, i, to);
    }
}

static void load_switch(struct load *load, uint32_t i)
{
    const json_t *choice = json_object_get(load->view->steps[i].spec, "switch");
    size_t k;
    json_t *one;

    json_array_foreach(json_object_get(choice, "cases"), k, one)
        load_choices(load, i, json_object_get(one, "flows"));
    load_choices(load, i, json_object_get(choice, "default"));
}

/* ---- order ---- */

static bool say_cycle(struct load *load)
{
    struct flowview *view = load->view;
    uint32_t *cycle = mem_array(view->n_steps, sizeof *cycle);
    size_t n = dag_cycle(&view->dag, cycle);
    scoped(buf) struct buf text = {0};
    enum { SHOWN = 12 };

    for (size_t i = 0; i < n && i < SHOWN; i++)
        buf_printf(&text, "%s -> ", view->steps[cycle[i]].name);
    if (n > SHOWN)
        buf_str(&text, "... -> ");
    buf_str(&text, view->steps[cycle[0]].name);
    mem_free(cycle);
    return error_set(load->err, ERR_INVALID, "spec.flows", "jobflow Flow is not DAG: %s",
                     text.data);
}

static bool order(struct load *load)
{
    struct flowview *view = load->view;
    struct edges *edges = &load->edges;

    dag_init(&view->dag, view->n_steps, edges->items, edges->count);
    for (size_t i = 0; i < edges->count; i++)
        edges->items[i] = (struct dag_edge){edges->items[i].to, edges->items[i].from};
    dag_init(&view->targets, view->n_steps, edges->items, edges->count);
    view->order = mem_array((size_t)view->n_steps + 1, sizeof *view->order);
    if (dag_sort(&view->dag, view->order) < view->n_steps)
        return say_cycle(load);
    for (uint32_t i = 0; i < view->n_steps; i++) {
        const struct flowview_step *step = &view->steps[view->order[i]];

        if (step->layer >= view->n_layers)
            view->n_layers = step->layer + 1;
        for (uint32_t e = view->dag.first[view->order[i]]; e < view->dag.first[view->order[i] + 1];
             e++) {
            struct flowview_step *next = &view->steps[view->dag.next[e]];

            if (next->layer <= step->layer)
                next->layer = step->layer + 1;
        }
    }
    return true;
}

/* ---- states ---- */

static void take_node(struct flowview_step *step, const json_t *node)
{
    const json_t *attempts = json_object_get(node, "attempts");
    size_t n = json_array_size(attempts);
    const json_t *newest = n ? json_array_get(attempts, n - 1) : NULL;
    const char *phase = describe_text(node, "phase");

    step->node = node;
    step->phase = phase ? phase : step->phase;
    step->reason = describe_text(node, "reason");
    step->message = describe_text(node, "message");
    step->attempt = json_integer_value(json_object_get(node, "attempt"));
    step->began_ms = describe_time_ms(newest, "startTime");
    step->ended_ms = describe_time_ms(newest, "endTime");
}

/* Beyond a certain size the results stand in bitmaps and only unusual steps among the nodes. */
static void take_results(struct flowview *view, const json_t *results)
{
    static const char *const rows[][2] = {{"completed", "Completed"}, {"failed", "Failed"}};

    for (size_t i = 0; i < countof(rows); i++) {
        const char *bits = describe_text(results, rows[i][0]);
        struct step_set set;

        if (!bits)
            continue;
        step_set_init(&set, view->n_steps);
        if (step_bits_read(bits, &set))
            step_set_each(&set, step) view->steps[step].phase = rows[i][1];
        step_set_release(&set);
    }
}

static void load_states(struct load *load)
{
    struct flowview *view = load->view;
    const json_t *status = json_object_get(view->doc, "status");
    const char *phase = describe_text(status, "state.phase");
    size_t i;
    json_t *node;

    if (!phase || !*phase)
        return;
    view->phase = phase;
    for (uint32_t s = 0; s < view->n_steps; s++)
        view->steps[s].phase = "Waiting";
    take_results(view, json_object_get(status, "results"));
    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        const char *name = describe_text(node, "name");
        uint32_t step = name ? name_index_get(&load->names, name) : NAME_NONE;

        if (step != NAME_NONE)
            take_node(&view->steps[step], node);
    }
}

/* ---- the whole ---- */

static bool load_all(struct load *load)
{
    struct flowview *view = load->view;
    const json_t *flows = describe_at(view->doc, "spec.flows");

    view->n_steps = (uint32_t)json_array_size(flows);
    view->steps = mem_array((size_t)view->n_steps + 1, sizeof *view->steps);
    load->seen = mem_array((size_t)view->n_steps + 1, sizeof *load->seen);
    name_index_init(&load->names, view->n_steps);
    for (uint32_t i = 0; i < view->n_steps; i++)
        if (!load_step(load, i, json_array_get(flows, i)))
            return false;
    for (uint32_t i = 0; i < view->n_steps; i++)
        if (!load_targets(load, i))
            return false;
    for (uint32_t i = 0; i < view->n_steps; i++)
        load_switch(load, i);
    if (!order(load))
        return false;
    load_states(load);
    return true;
}

struct flowview *flowview_new(json_t *doc, struct error *err)
{
    scoped(flowview) struct flowview *view = mem_alloc(sizeof *view);
    struct load load = {.view = view, .err = err};
    const char *name = describe_text(doc, "metadata.name");
    const char *ns = describe_text(doc, "metadata.namespace");
    bool ok;

    view->doc = json_incref(doc);
    view->name = name ? name : "";
    view->ns = ns ? ns : "default";
    ok = load_all(&load);
    name_index_release(&load.names);
    mem_free(load.edges.items);
    mem_free(load.seen);
    return ok ? take(view) : NULL;
}

void flowview_free(struct flowview *view)
{
    if (!view)
        return;
    json_decref(view->doc);
    mem_free(view->steps);
    mem_free(view->order);
    mem_free(view->path);
    dag_release(&view->dag);
    dag_release(&view->targets);
    mem_free(view);
}

/* ---- words ---- */

static bool phase_is(const struct flowview_step *step, const char *const *phases)
{
    while (step->phase && *phases && strcmp(*phases, step->phase) != 0)
        phases++;
    return step->phase && *phases;
}

bool flowview_step_settled(const struct flowview_step *step)
{
    static const char *const phases[] = {"Completed", "Failed", "Terminated", "Skipped", NULL};

    return phase_is(step, phases);
}

bool flowview_step_failed(const struct flowview_step *step)
{
    static const char *const phases[] = {"Failed", "Terminated", NULL};

    return phase_is(step, phases);
}

bool flowview_step_running(const struct flowview_step *step)
{
    static const char *const phases[] = {"Waiting",    "Blocked",   "Retrying",
                                         "Skipped",    "Completed", "Failed",
                                         "Terminated", "Aborted",   NULL};

    return step->phase && !phase_is(step, phases);
}

int64_t flowview_step_ms(const struct flowview_step *step, int64_t now_ms)
{
    if (!step->began_ms)
        return -1;
    return (step->ended_ms ? step->ended_ms : now_ms) - step->began_ms;
}

bool flowview_step_any(const struct flowview_step *step)
{
    const char *strategy = describe_text(step->spec, "dependsOn.strategy");

    return strategy && strcmp(strategy, "any") == 0;
}

static void write_for(const json_t *loop, struct buf *out)
{
    const json_t *items = json_object_get(loop, "items"), *range = json_object_get(loop, "range");

    if (items) {
        buf_printf(out, "for %zu", json_array_size(items));
    } else if (range) {
        const json_t *step = json_object_get(range, "step");
        struct flow_range as_read = {
            .start = json_integer_value(json_object_get(range, "start")),
            .end = json_integer_value(json_object_get(range, "end")),
            .step = {.set = step != NULL, .value = json_integer_value(step)},
        };

        buf_printf(out, "for %u", flow_loop_iterations(&(struct flow_loop){.range = &as_read}));
    } else {
        buf_str(out, "until");
    }
}

void flowview_step_marks(const struct flowview_step *step, struct buf *out)
{
    const json_t *loop = json_object_get(step->spec, "for");
    size_t before = out->len;

    if (flowview_step_any(step))
        buf_str(out, "any of");
    if (describe_text(step->spec, "when"))
        buf_printf(out, "%salways", out->len > before ? ", " : "");
    if (describe_at(step->spec, "dependsOn.probe"))
        buf_printf(out, "%sprobe", out->len > before ? ", " : "");
    if (json_object_get(step->spec, "if"))
        buf_printf(out, "%sif", out->len > before ? ", " : "");
    if (json_object_get(step->spec, "switch"))
        buf_printf(out, "%sswitch", out->len > before ? ", " : "");
    if (loop) {
        buf_str(out, out->len > before ? ", " : "");
        write_for(loop, out);
    }
}
