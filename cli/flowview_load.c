/*
 * From the document of a JobFlow to steps and edges.
 */
#include "base/mem.h"
#include "cli/describe.h"
#include "cli/flowview_impl.h"
#include <stdio.h>
#include <string.h>

/* ---- steps ---- */

bool flowview_load_name(struct flowview_load *load, uint32_t i)
{
    const struct flowview_step *step = &load->view->steps[i];
    char field[64];

    snprintf(field, sizeof field, "spec.flows[%u].name", i);
    if (!step->name || !*step->name)
        return error_set(load->err, ERR_INVALID, field, "Required value");
    return name_index_put(&load->names, step->name, i) == NAME_NONE ||
           error_set(load->err, ERR_INVALID, field, "duplicated template name %s", step->name);
}

static bool load_step(struct flowview_load *load, uint32_t i, json_t *spec)
{
    struct flowview_step *step = &load->view->steps[i];
    const char *template_ = describe_text(spec, "jobTemplateName");
    const char *strategy = describe_text(spec, "dependsOn.strategy");

    step->spec = json_incref(spec);
    step->name = describe_text(spec, "name");
    step->any = strategy && strcmp(strategy, "any") == 0;
    step->loops = json_object_get(spec, "for") != NULL;
    step->estimate = json_object_get(spec, "patch") != NULL;
    if (!json_object_get(spec, "switch"))
        step->template_ = template_ ? template_ : step->name;
    return flowview_load_name(load, i);
}

/* ---- edges ---- */

static void add_edge(struct flowview_load *load, uint32_t from, uint32_t to)
{
    if (load->seen[from] == to + 1)
        return;
    load->seen[from] = to + 1;
    mem_grow(load->edges.items, load->edges.count, load->edges.cap);
    load->edges.items[load->edges.count++] = (struct dag_edge){from, to};
}

bool flowview_load_target(struct flowview_load *load, uint32_t i, size_t at, const char *name,
                          size_t len)
{
    uint32_t from = name_index_get_part(&load->names, name, len);
    char field[96];

    if (from != NAME_NONE) {
        add_edge(load, from, i);
        return true;
    }
    snprintf(field, sizeof field, "spec.flows[%u].dependsOn.targets[%zu]", i, at);
    return error_set(load->err, ERR_INVALID, field,
                     "jobflow Flow is not DAG: vertex is not defined: %.*s", (int)len, name);
}

static bool load_targets(struct flowview_load *load, uint32_t i)
{
    const json_t *targets = describe_at(load->view->steps[i].spec, "dependsOn.targets");
    size_t t;
    json_t *target;

    json_array_foreach(targets, t, target)
    {
        const char *name = json_is_string(target) ? json_string_value(target) : "";

        if (!flowview_load_target(load, i, t, name, strlen(name)))
            return false;
    }
    return true;
}

/* A switch decides over the steps its cases list: they wait for it. */
static void load_choices(struct flowview_load *load, uint32_t i, const json_t *names)
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

static void load_switch(struct flowview_load *load, uint32_t i)
{
    const struct flowview_step *step = &load->view->steps[i];
    const json_t *choice;
    size_t k;
    json_t *one;

    if (step->template_)
        return;
    choice = json_object_get(flowview_step_spec(step), "switch");
    json_array_foreach(json_object_get(choice, "cases"), k, one)
        load_choices(load, i, json_object_get(one, "flows"));
    load_choices(load, i, json_object_get(choice, "default"));
}

/* ---- order ---- */

static bool say_cycle(struct flowview_load *load)
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

static void place_behind(struct flowview *view, uint32_t from)
{
    const struct flowview_step *step = &view->steps[from];

    if (step->layer >= view->n_layers)
        view->n_layers = step->layer + 1;
    for (uint32_t e = view->dag.first[from]; e < view->dag.first[from + 1]; e++) {
        struct flowview_step *next = &view->steps[view->dag.next[e]];

        if (next->layer <= step->layer)
            next->layer = step->layer + 1;
    }
}

static bool order(struct flowview_load *load)
{
    struct flowview *view = load->view;
    struct flowview_edges *edges = &load->edges;

    dag_init(&view->dag, view->n_steps, edges->items, edges->count);
    for (size_t i = 0; i < edges->count; i++)
        edges->items[i] = (struct dag_edge){edges->items[i].to, edges->items[i].from};
    dag_init(&view->targets, view->n_steps, edges->items, edges->count);
    view->order = mem_array((size_t)view->n_steps + 1, sizeof *view->order);
    if (dag_sort(&view->dag, view->order) < view->n_steps)
        return say_cycle(load);
    for (uint32_t i = 0; i < view->n_steps; i++)
        place_behind(view, view->order[i]);
    return true;
}

/* ---- the whole ---- */

struct flowview *flowview_begin(struct flowview_load *load, json_t *doc,
                                struct flowview_step *steps, uint32_t n_steps, struct error *err)
{
    struct flowview *view = mem_alloc(sizeof *view);
    const char *name = describe_text(doc, "metadata.name");
    const char *ns = describe_text(doc, "metadata.namespace");

    view->doc = json_incref(doc);
    view->name = name ? name : "";
    view->ns = ns ? ns : "default";
    view->n_steps = n_steps;
    view->steps = steps;
    for (uint32_t i = 0; i < n_steps; i++)
        view->steps[i].expected_start_ms = view->steps[i].expected_end_ms = -1;
    *load = (struct flowview_load){.view = view, .err = err};
    load->seen = mem_array((size_t)n_steps + 1, sizeof *load->seen);
    name_index_init(&load->names, n_steps);
    return view;
}

struct flowview *flowview_finish(struct flowview_load *load, bool ok)
{
    struct flowview *view = load->view;

    for (uint32_t i = 0; ok && i < view->n_steps; i++)
        load_switch(load, i);
    ok = ok && order(load);
    if (ok)
        flowview_load_states(load);
    name_index_release(&load->names);
    mem_free(load->edges.items);
    mem_free(load->seen);
    if (ok)
        return view;
    flowview_free(view);
    return NULL;
}

struct flowview *flowview_new(json_t *doc, struct error *err)
{
    const json_t *flows = describe_at(doc, "spec.flows");
    uint32_t n = (uint32_t)json_array_size(flows);
    struct flowview_load load;
    struct flowview_step *steps = mem_array((size_t)n + 1, sizeof *steps);
    bool ok = true;

    flowview_begin(&load, doc, steps, n, err);
    for (uint32_t i = 0; ok && i < n; i++)
        ok = load_step(&load, i, json_array_get(flows, i));
    for (uint32_t i = 0; ok && i < n; i++)
        ok = load_targets(&load, i);
    return flowview_finish(&load, ok);
}
