/*
 * From the document of a JobFlow to steps, and from what steps write to edges between them.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/jsonscan.h"
#include "base/mem.h"
#include "view/internal.h"

/* ---- names ---- */

static bool name_missing(uint32_t i, struct error *err)
{
    char field[64];

    snprintf(field, sizeof field, "spec.flows[%u].name", i);
    return error_set(err, ERR_INVALID, field, "Required value");
}

static bool name_twice(const struct flowview *view, uint32_t i, struct error *err)
{
    char field[64];

    snprintf(field, sizeof field, "spec.flows[%u].name", i);
    return error_set(err, ERR_INVALID, field, "duplicated template name %s", view->steps[i].name);
}

static bool load_names(struct flowview *view, struct error *err)
{
    const char *names[NAMES_TOGETHER];
    uint32_t before[NAMES_TOGETHER];

    name_index_init(&view->names, view->n_steps);
    for (uint32_t from = 0, n; from < view->n_steps; from += n) {
        n = view->n_steps - from < NAMES_TOGETHER ? view->n_steps - from : NAMES_TOGETHER;
        for (uint32_t i = 0; i < n; i++) {
            names[i] = view->steps[from + i].name;
            if (!names[i] || !*names[i])
                return name_missing(from + i, err);
        }
        name_index_put_all(&view->names, names, n, from, before);
        for (uint32_t i = 0; i < n; i++)
            if (before[i] != NAME_NONE)
                return name_twice(view, from + i, err);
    }
    return true;
}

/* ---- edges ---- */

struct edges {
    struct flowview *view;
    struct dag_edge *items;
    size_t count, cap;
    uint32_t *seen; /* [n_steps] target → the step it was last a target of, plus 1 */
};

static void add_edge(struct edges *edges, uint32_t from, uint32_t to)
{
    if (edges->seen[from] == to + 1)
        return;
    edges->seen[from] = to + 1;
    mem_grow(edges->items, edges->count, edges->cap);
    edges->items[edges->count++] = (struct dag_edge){from, to};
}

/* Targets as they are written, those of one step behind those of the other. */
struct written {
    struct name_part *items;
    uint32_t *steps; /* whose they are */
    size_t count, cap, cap_steps;
};

static void add_written(struct written *written, uint32_t step, const char *name, size_t len)
{
    size_t at = written->count;

    mem_grow(written->items, written->count, written->cap);
    mem_grow(written->steps, written->count, written->cap_steps);
    written->items[at] = (struct name_part){name, len};
    written->steps[at] = step;
    written->count++;
}

static void read_targets(const struct flowview_step *step, uint32_t i, struct written *written)
{
    const char *at = step->targets, *element;

    while (at && (element = jsonscan_next_element(&at))) {
        size_t len = 0;
        const char *name = jsonscan_string(element, &len);

        add_written(written, i, name ? name : "", len);
    }
}

static void take_targets(const struct flowview_step *step, uint32_t i, struct written *written)
{
    size_t t;
    json_t *target;

    json_array_foreach(doc_at(step->spec, "dependsOn.targets"), t, target)
    {
        const char *name = json_is_string(target) ? json_string_value(target) : "";

        add_written(written, i, name, strlen(name));
    }
}

static bool unknown_target(const struct written *written, size_t w, struct error *err)
{
    const struct name_part *name = &written->items[w];
    size_t first = w;
    char field[96];

    while (first && written->steps[first - 1] == written->steps[w])
        first--;
    snprintf(field, sizeof field, "spec.flows[%u].dependsOn.targets[%zu]", written->steps[w],
             w - first);
    return error_set(err, ERR_INVALID, field,
                     "jobflow Flow is not DAG: vertex is not defined: %.*s", (int)name->len,
                     name->text);
}

static bool add_targets(struct edges *edges, struct error *err)
{
    const struct flowview *view = edges->view;
    struct written written = {0};
    uint32_t *positions;
    bool ok = true;

    for (uint32_t i = 0; i < view->n_steps; i++)
        (view->steps[i].text ? read_targets : take_targets)(&view->steps[i], i, &written);
    positions = mem_array(written.count + 1, sizeof *positions);
    name_index_get_parts(&view->names, written.items, written.count, positions);
    for (size_t w = 0; ok && w < written.count; w++)
        if (positions[w] != NAME_NONE)
            add_edge(edges, positions[w], written.steps[w]);
        else
            ok = unknown_target(&written, w, err);
    mem_free(positions);
    mem_free(written.items);
    mem_free(written.steps);
    return ok;
}

/* A switch decides over the steps its cases list: they wait for it. */
static void add_choices(struct edges *edges, uint32_t i, const json_t *names)
{
    size_t k;
    json_t *name;

    json_array_foreach(names, k, name)
    {
        uint32_t to = flowview_find(edges->view, json_string_value(name));

        if (to != NAME_NONE)
            add_edge(edges, i, to);
    }
}

static void add_switch(struct edges *edges, uint32_t i)
{
    const struct flowview_step *step = &edges->view->steps[i];
    const json_t *choice;
    size_t k;
    json_t *one;

    if (step->template_)
        return;
    choice = json_object_get(flowview_step_spec(step), "switch");
    json_array_foreach(json_object_get(choice, "cases"), k, one)
        add_choices(edges, i, json_object_get(one, "flows"));
    add_choices(edges, i, json_object_get(choice, "default"));
}

/* ---- order ---- */

static bool say_cycle(const struct flowview *view, struct error *err)
{
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
    return error_set(err, ERR_INVALID, "spec.flows", "jobflow Flow is not DAG: %s", text.data);
}

/* The longest way to each step, in the order of the steps. Those that run at the end wait for each
 * other only, and come behind all others. */
static void lay_out(struct flowview *view)
{
    uint32_t *layer = mem_array((size_t)view->n_steps + 1, sizeof *layer);
    uint32_t ordinary = 0;

    for (uint32_t k = 0; k < view->n_steps; k++) {
        uint32_t from = view->order[k], below = layer[from] + 1;

        if (!view->steps[from].final && below > ordinary)
            ordinary = below;
        for (uint32_t e = view->dag.first[from]; e < view->dag.first[from + 1]; e++)
            if (layer[view->dag.next[e]] < below)
                layer[view->dag.next[e]] = below;
    }
    for (uint32_t i = 0; i < view->n_steps; i++) {
        struct flowview_step *step = &view->steps[i];

        step->layer = layer[i] + (step->final ? ordinary : 0);
        if (step->layer >= view->n_layers)
            view->n_layers = step->layer + 1;
    }
    mem_free(layer);
}

static bool order(struct edges *edges, struct error *err)
{
    struct flowview *view = edges->view;

    dag_init(&view->dag, view->n_steps, edges->items, edges->count);
    if (dag_sort(&view->dag, view->order) < view->n_steps)
        return say_cycle(view, err);
    for (size_t i = 0; i < edges->count; i++)
        edges->items[i] = (struct dag_edge){edges->items[i].to, edges->items[i].from};
    dag_init(&view->targets, view->n_steps, edges->items, edges->count);
    lay_out(view);
    return true;
}

static void unlink_all(struct flowview *view)
{
    dag_release(&view->dag);
    dag_init(&view->dag, view->n_steps, NULL, 0);
    dag_init(&view->targets, view->n_steps, NULL, 0);
    for (uint32_t i = 0; i < view->n_steps; i++)
        view->order[i] = i;
}

bool flowview_link(struct flowview *view, struct error *err)
{
    struct edges edges = {.view = view};
    bool ok;

    if (view->order)
        return true;
    view->order = mem_array((size_t)view->n_steps + 1, sizeof *view->order);
    edges.seen = mem_array((size_t)view->n_steps + 1, sizeof *edges.seen);
    ok = add_targets(&edges, err);
    for (uint32_t i = 0; ok && i < view->n_steps; i++)
        add_switch(&edges, i);
    ok = ok && order(&edges, err);
    if (!ok)
        unlink_all(view);
    mem_free(edges.items);
    mem_free(edges.seen);
    return ok;
}

/* ---- the whole ---- */

struct flowview *flowview_make(json_t *doc, struct flowview_step *steps, uint32_t n_steps,
                               struct error *err)
{
    struct flowview *view = mem_alloc(sizeof *view);
    const char *name = doc_text(doc, "metadata.name");
    const char *ns = doc_text(doc, "metadata.namespace");

    view->doc = json_incref(doc);
    view->name = name ? name : "";
    view->ns = ns ? ns : "default";
    view->n_steps = n_steps;
    view->steps = steps;
    if (!load_names(view, err)) {
        flowview_free(view);
        return NULL;
    }
    flowview_load_states(view);
    return view;
}

static void load_step(struct flowview_step *step, json_t *spec)
{
    const char *template_ = doc_text(spec, "jobTemplateName");
    const char *strategy = doc_text(spec, "dependsOn.strategy");

    step->spec = json_incref(spec);
    step->name = doc_text(spec, "name");
    step->any = strategy && strcmp(strategy, "any") == 0;
    step->loops = json_object_get(spec, "for") != NULL;
    step->final = json_object_get(spec, "when") != NULL;
    step->estimate = json_object_get(spec, "patch") != NULL;
    step->expected_start_ms = step->expected_end_ms = -1;
    if (!json_object_get(spec, "switch"))
        step->template_ = template_ ? template_ : step->name;
}

struct flowview *flowview_new(json_t *doc, struct error *err)
{
    const json_t *flows = doc_at(doc, "spec.flows");
    uint32_t n = (uint32_t)json_array_size(flows);
    struct flowview_step *steps = mem_array((size_t)n + 1, sizeof *steps);
    struct flowview *view;

    for (uint32_t i = 0; i < n; i++)
        load_step(&steps[i], json_array_get(flows, i));
    view = flowview_make(doc, steps, n, err);
    if (view && flowview_link(view, err))
        return view;
    flowview_free(view);
    return NULL;
}
