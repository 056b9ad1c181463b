/*
 * Builds a view from the document of a JobFlow. The part that flow_view_from_text shares checks and
 * indexes the names of the steps, and reads the status if there is one.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "view/internal.h"

static bool name_missing(uint32_t i, struct error *err)
{
    char field[64];

    snprintf(field, sizeof field, "spec.flows[%u].name", i);
    return error_set(err, ERR_INVALID, field, "Required value");
}

static bool name_twice(const struct flow_view *view, uint32_t i, struct error *err)
{
    char field[64];

    snprintf(field, sizeof field, "spec.flows[%u].name", i);
    return error_set(err, ERR_INVALID, field, "duplicated template name %s", view->steps[i].name);
}

static bool load_names(struct flow_view *view, struct error *err)
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

struct flow_view *flow_view_make(json_t *doc, struct flow_view_step *steps, uint32_t n_steps,
                                 struct error *err)
{
    struct flow_view *view = mem_alloc(sizeof *view);
    const char *name = doc_text(doc, "metadata.name");
    const char *ns = doc_text(doc, "metadata.namespace");
    json_t *status = json_object_get(doc, "status");

    view->doc = json_incref(doc);
    view->name = name ? name : "";
    view->ns = ns ? ns : "default";
    view->uid = "";
    view->took_ms = -1;
    view->n_steps = n_steps;
    view->steps = steps;
    view->n_in[VIEW_NONE] = n_steps;
    for (uint32_t i = 0; i < n_steps; i++)
        steps[i].flow = view;
    if (!load_names(view, err)) {
        flow_view_free(view);
        return NULL;
    }
    if (status)
        flow_view_take_status(view, status);
    return view;
}

static void load_step(struct flow_view_step *step, json_t *spec)
{
    const char *template = doc_text(spec, "jobTemplateName");
    const char *strategy = doc_text(spec, "dependsOn.strategy");

    step_init(step);
    step->spec = json_incref(spec);
    step->name = doc_text(spec, "name");
    step->any = strategy && strcmp(strategy, "any") == 0;
    step->loops = json_object_get(spec, "for") != NULL;
    step->inlined = json_object_get(spec, "run") || json_object_get(spec, "jobTemplate");
    step->final = json_object_get(spec, "when") != NULL;
    step->estimate = json_object_get(spec, "patch") != NULL;
    if (!json_object_get(spec, "switch") && !json_object_get(spec, "approve"))
        step->template = template ? template : step->name;
}

struct flow_view *flow_view_from_document(json_t *doc, struct error *err)
{
    const json_t *flows = doc_at(doc, "spec.flows");
    uint32_t n = (uint32_t)json_array_size(flows);
    struct flow_view_step *steps = mem_array((size_t)n + 1, sizeof *steps);
    struct flow_view *view;

    for (uint32_t i = 0; i < n; i++)
        load_step(&steps[i], json_array_get(flows, i));
    view = flow_view_make(doc, steps, n, err);
    if (view && flow_view_link(view, err))
        return view;
    flow_view_free(view);
    return NULL;
}
