/*
 * Reads what steps wait for: targets are looked up by name, steps are put in topological order, and
 * each gets its layer.
 *
 * The targets of all steps are looked up together (name_index_get_parts), which for 100,000 steps
 * hides most trips to memory.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/encoding/jsonscan.h"
#include "base/mem.h"
#include "view/internal.h"

/* The edges of a view while they are collected. */
struct edges {
    struct flow_view *view;
    struct dag_edge *items;
    size_t count, cap;
    uint32_t *seen; /* for each target 1 + the step that it was last a target of */
};

static void add_edge(struct edges *edges, uint32_t from, uint32_t to)
{
    if (edges->seen[from] == to + 1)
        return;
    edges->seen[from] = to + 1;
    mem_grow(edges->items, edges->count, edges->cap);
    edges->items[edges->count++] = (struct dag_edge){from, to};
}

/* All targets as they are written, step after step. */
struct written {
    struct name_part *items; /* names of targets, [count] */
    uint32_t *steps;         /* for each name the step that lists it, [count] */
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

/* Reads the targets of a step from the text of their list. */
static void read_targets(const struct flow_view_step *step, uint32_t i, struct written *written)
{
    const char *at = step->targets, *element;

    while (at && (element = jsonscan_next_element(&at))) {
        size_t len = 0;
        const char *name = jsonscan_string(element, &len);

        add_written(written, i, name ? name : "", len);
    }
}

/* Reads the targets of a step from the document of its entry. */
static void take_targets(const struct flow_view_step *step, uint32_t i, struct written *written)
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
    return error_set(err, ERR_INVALID, field, "no step %.*s", (int)name->len, name->text);
}

static bool add_targets(struct edges *edges, struct error *err)
{
    const struct flow_view *view = edges->view;
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

/* Adds edges from a switch to the steps that its cases list, because they wait for the switch. */
static void add_choices(struct edges *edges, uint32_t i, const json_t *names)
{
    size_t k;
    json_t *name;

    json_array_foreach(names, k, name)
    {
        uint32_t to = flow_view_find(edges->view, json_string_value(name));

        if (to != NAME_NONE)
            add_edge(edges, i, to);
    }
}

static void add_switch(struct edges *edges, uint32_t i)
{
    const struct flow_view_step *step = &edges->view->steps[i];
    const json_t *choice;
    size_t k;
    json_t *one;

    if (step->template)
        return;
    choice = json_object_get(flow_view_step_spec(step), "switch");
    json_array_foreach(json_object_get(choice, "cases"), k, one)
        add_choices(edges, i, json_object_get(one, "flows"));
    add_choices(edges, i, json_object_get(choice, "default"));
}

static bool cycle_error(const struct flow_view *view, struct error *err)
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

/* Marks the steps behind a final step as final, because they run at the end too. Admission refuses
 * such a step unless it is marked itself, but files are drawn before admission. */
static void spread_final(struct flow_view *view)
{
    for (uint32_t k = 0; k < view->n_steps; k++) {
        uint32_t from = view->order[k];

        for (uint32_t e = view->dag.first[from]; e < view->dag.first[from + 1]; e++)
            view->steps[view->dag.next[e]].final |= view->steps[from].final;
    }
}

/* Sets the layers. The layer of a step is the length of the longest way to it. The layers of final
 * steps come behind those of all others. No edge leads back, because spread_final has marked all
 * steps behind final ones. */
static void set_layers(struct flow_view *view)
{
    uint32_t ordinary = 0;

    for (int final = 0; final < 2; final++) {
        for (uint32_t k = 0; k < view->n_steps; k++) {
            uint32_t i = view->order[k];
            struct flow_view_step *step = &view->steps[i];

            if (step->final != (final == 1))
                continue;
            step->layer = ordinary;
            for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++) {
                const struct flow_view_step *target = &view->steps[view->targets.next[t]];

                if (step->layer <= target->layer)
                    step->layer = target->layer + 1;
            }
            if (step->layer >= view->n_layers)
                view->n_layers = step->layer + 1;
        }
        ordinary = view->n_layers;
    }
}

static bool order(struct edges *edges, struct error *err)
{
    struct flow_view *view = edges->view;

    dag_init(&view->dag, view->n_steps, edges->items, edges->count);
    if (dag_sort(&view->dag, view->order) < view->n_steps)
        return cycle_error(view, err);
    for (size_t i = 0; i < edges->count; i++)
        edges->items[i] = (struct dag_edge){edges->items[i].to, edges->items[i].from};
    dag_init(&view->targets, view->n_steps, edges->items, edges->count);
    spread_final(view);
    set_layers(view);
    return true;
}

static void unlink_all(struct flow_view *view)
{
    dag_release(&view->dag);
    dag_init(&view->dag, view->n_steps, NULL, 0);
    dag_init(&view->targets, view->n_steps, NULL, 0);
    for (uint32_t i = 0; i < view->n_steps; i++)
        view->order[i] = i;
}

bool flow_view_link(struct flow_view *view, struct error *err)
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
