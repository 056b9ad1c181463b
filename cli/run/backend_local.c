/*
 * The backend with an engine in this process. Every object in its store belongs to the run, so
 * stopping the run ends all jobs and pods.
 */
#include "api/types/kinds/job/job.h"
#include "base/mem.h"
#include "cli/engine/engine.h"
#include "cli/manifest/apply.h"
#include "cli/run/backend.h"

struct local {
    struct backend base;
    struct engine *engine;
};

static struct engine *engine_of(struct backend *backend)
{
    return container_of(backend, struct local, base)->engine;
}

static void namespaces(struct backend *backend, const struct manifests *set)
{
    apply_namespaces(engine_registry(engine_of(backend)), set);
}

static bool possible(struct backend *backend, const struct manifest *manifest,
                     struct error_list *errors)
{
    return apply_possible(engine_registry(engine_of(backend)), manifest, errors);
}

static const struct object *apply(struct backend *backend, const struct manifest *manifest,
                                  struct error_list *errors)
{
    const struct object *out = NULL;

    apply_manifest(engine_registry(engine_of(backend)), manifest, NULL, &out, errors);
    return out;
}

static void delete_object(struct backend *backend, const struct object *object, int64_t grace_s,
                          bool keep_record)
{
    const struct registry_delete how = {.uid = object_uid(object),
                                        .grace_s = grace_s,
                                        .internal = true,
                                        .keep_record = keep_record};
    struct error_list errors = {0};
    const struct object *out;

    registry_delete(engine_registry(engine_of(backend)), registry_target_of(object), &how, &out,
                    &errors);
    error_list_release(&errors); /* an object that is gone is deleted */
}

static void forget(struct backend *backend, const struct object *object, bool keep_record)
{
    delete_object(backend, object, -1, keep_record);
}

struct object_list {
    const struct object **items; /* objects to delete, [count] references */
    size_t count, cap;
};

static void collect_unfinished_job(void *arg, const struct object *job)
{
    struct object_list *list = arg;

    if (job_phase_finished(job_status_of(job)->phase))
        return;
    mem_grow(list->items, list->count, list->cap);
    list->items[list->count++] = object_ref(job);
}

static void collect_pod(void *arg, const struct object *pod)
{
    struct object_list *list = arg;

    if (backend_pod_over(pod))
        return;
    mem_grow(list->items, list->count, list->cap);
    list->items[list->count++] = object_ref(pod);
}

static void delete_all(struct backend *backend, struct object_list *list, int64_t grace_s)
{
    for (size_t i = 0; i < list->count; i++) {
        delete_object(backend, list->items[i], grace_s, false);
        object_unref((struct object *)(size_t)list->items[i]);
    }
    mem_free(list->items);
}

static void count_pod(void *arg, const struct object *pod)
{
    *(size_t *)arg += !backend_pod_over(pod);
}

static size_t alive(struct backend *backend, const struct flow_tracker *tracker)
{
    size_t count = 0;

    store_each(backend->store, &kind_pod, NULL, count_pod, &count);
    return count;
}

static void stop(struct backend *backend, const struct flow_tracker *tracker,
                 struct error_list *refusals)
{
    struct object_list jobs = {0};

    engine_stop_controllers(engine_of(backend)); /* the controllers would create the jobs again */
    store_each(backend->store, &kind_job, NULL, collect_unfinished_job, &jobs);
    delete_all(backend, &jobs, -1);
}

static void kill_all(struct backend *backend, const struct flow_tracker *tracker)
{
    struct object_list pods = {0};

    store_each(backend->store, &kind_pod, NULL, collect_pod, &pods);
    delete_all(backend, &pods, 0);
}

static const struct backend_ops ops = {namespaces, possible, apply, forget, alive, stop, kill_all};

struct backend *backend_local_new(struct engine *engine)
{
    struct local *local = mem_alloc(sizeof *local);

    local->engine = engine;
    local->base = (struct backend){
        .ops = &ops,
        .loop = engine_loop(engine),
        .store = engine_store(engine),
        .runtime = engine_runtime(engine),
    };
    return &local->base;
}

void backend_local_free(struct backend *backend)
{
    mem_free(backend ? container_of(backend, struct local, base) : NULL);
}
