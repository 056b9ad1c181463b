/*
 * Adds objects to the scratch store of a preflight that are not in the files: existing objects that
 * the files may refer to, and the templates that their flows have pinned.
 */
#include <string.h>

#include "api/types/kinds/jobflow/pin.h"
#include "base/mem.h"
#include "cli/engine/engine.h"
#include "cli/preflight/internal.h"
#include "template/job_meta.h"

struct copies {
    struct preflight_run *run;
    const struct object *flow;
    const struct object **items; /* the objects, [count] */
    size_t count, cap;
};

static bool is_copy_for(const struct object *template, const struct object *flow)
{
    return jobflow_pin_origin(template) &&
           strcmp(meta_controller(template->meta)->name, object_name(flow)) == 0;
}

static void collect_copy(void *arg, const struct object *template)
{
    struct copies *copies = arg;

    if (!is_copy_for(template, copies->flow))
        return;
    mem_grow(copies->items, copies->count, copies->cap);
    copies->items[copies->count++] = template;
}

/* A flow of the files has a new uid in the scratch store, so the pinned copies of the stored flow
 * are given that uid as owner. */
void preflight_load_pinned(struct preflight_run *run, const struct object *flow)
{
    struct copies copies = {.run = run, .flow = flow};

    if (flow->kind != &kind_job_flow || !jobflow_pins(flow))
        return;
    store_each(engine_store(run->scratch), &kind_job_template, object_namespace(flow), collect_copy,
               &copies);
    for (size_t i = 0; i < copies.count; i++) {
        const struct object *copy = copies.items[i];
        struct error_list errors = {0};

        registry_create_object(
            engine_registry(run->scratch),
            template_pinned(flow, jobflow_pin_origin(copy), copy->body, copy->revision), NULL,
            &errors);
        error_list_release(&errors); /* a refused copy is reported as a missing template */
    }
    mem_free(copies.items);
}

void preflight_forget_version(json_t *doc)
{
    json_t *metadata = json_object_get(doc, "metadata");

    json_object_del(metadata, "uid");
    json_object_del(metadata, "resourceVersion");
}

/* Returns whether the object is a pinned copy of a flow that starts again. Such a flow pins its
 * templates anew. */
static bool is_stale_pin(const struct preflight_run *run, const struct object *object)
{
    const struct owner_ref *owner = object->kind == &kind_job_template && jobflow_pin_origin(object)
                                        ? meta_controller(object->meta)
                                        : NULL;
    const struct object *flow =
        owner ? store_get(run->options->live, &kind_job_flow, object_namespace(object), owner->name)
              : NULL;

    return owner && (!flow || run->options->fresh ||
                     (!run->options->retry_failed && flow_phase_finished(jobflow_phase_of(flow)) &&
                      !jobflow_wants_retry(flow)));
}

static void copy_object(void *arg, const struct object *object)
{
    struct preflight_run *run = arg;
    struct store *store = engine_store(run->scratch);

    if (!is_stale_pin(run, object) &&
        !store_get(store, object->kind, object_namespace(object), object_name(object)))
        store_put(store, object_with_meta(object, meta_ref(object->meta)));
}

void preflight_load_live(struct preflight_run *run)
{
    static const struct kind *const kinds[] = {&kind_namespace, &kind_priority_class, &kind_queue,
                                               &kind_job_template};

    for (size_t i = 0; run->options->live && i < countof(kinds); i++)
        store_each(run->options->live, kinds[i], NULL, copy_object, run);
}

void preflight_load_known(struct preflight_run *run)
{
    const struct registry_write how = {.unknown = UNKNOWN_PRUNE};
    size_t i;
    json_t *doc;

    json_array_foreach(run->options->known, i, doc)
    {
        scoped(json) json_t *copy = json_deep_copy(doc);
        struct error_list errors = {0};
        const struct object *object;

        preflight_forget_version(copy);
        registry_create(engine_registry(run->scratch), copy, &how, &object, &errors);
        error_list_release(&errors); /* an object that cannot be created counts as unknown */
    }
}
