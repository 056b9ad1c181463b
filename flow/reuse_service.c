/*
 * The entries of reusable work: watched, indexed, bounded. A pending entry lives as long as its job.
 */
#include <string.h>

#include "api/types/kinds/jobflow/cache_entry.h"
#include "base/digest/file_memory.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/reuse/index.h"
#include "flow/reuse_service.h"

static const char *entry_of(const struct meta *job)
{
    return meta_annotation(job, ANNOTATION_CACHE_ENTRY);
}

/* Returns the job that a pending entry belongs to, borrowed, or NULL. */
static const struct object *job_of(struct reuse_service *service, const char *ns, const char *entry,
                                   const char *job)
{
    const struct object *found = cluster_get(service->controller->cluster, &kind_job, ns, job);
    const char *named = found ? entry_of(found->meta) : NULL;

    return named && strcmp(named, entry) == 0 ? found : NULL;
}

static void on_entry(struct cluster_watcher *watcher, enum cluster_change change,
                     const struct object *old, const struct object *entry)
{
    struct reuse_service *service = container_of(watcher, struct reuse_service, entries);
    const char *ns = object_namespace(entry), *name = object_name(entry);
    const struct cache_entry *facts = cache_entry_of(entry);

    if (change == CHANGE_DELETED) {
        reuse_index_remove(service->index, ns, name);
        return;
    }
    reuse_index_put(service->index, entry);
    if (change == CHANGE_ADDED && !cache_entry_is_recorded(facts) &&
        !(facts->job && job_of(service, ns, name, facts->job)))
        reuse_service_remove(service, ns, name);
}

static void add(void *arg, const struct object *entry)
{
    struct reuse_service *service = arg;

    reuse_index_put(service->index, entry);
}

void reuse_service_start(struct flow_controller *controller)
{
    const struct flow_reuse_options *options = controller->options.reuse;
    struct reuse_service *service;

    if (!options || controller->options.upstream_compat)
        return;
    service = mem_alloc(sizeof *service);
    service->controller = controller;
    service->options = options;
    service->memory = file_memory_new();
    service->index =
        reuse_index_new(options->entries_max ? options->entries_max : REUSE_ENTRIES_MAX);
    service->entries = (struct cluster_watcher){on_entry, &kind_cache_entry};
    controller->reuse = service;
    cluster_each(controller->cluster, &kind_cache_entry, NULL, add, service);
    cluster_watch(controller->cluster, &service->entries);
}

void reuse_service_stop(struct flow_controller *controller)
{
    if (controller->reuse)
        cluster_unwatch(controller->cluster, &controller->reuse->entries);
}

void reuse_service_free(struct reuse_service *service)
{
    if (!service)
        return;
    reuse_index_free(service->index);
    file_memory_free(service->memory);
    mem_free(service);
}

void reuse_service_remove(struct reuse_service *service, const char *ns, const char *name)
{
    const struct cluster_removal how = {.grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    scoped_str own_ns = mem_strdup(ns);
    scoped_str own_name = mem_strdup(name);

    reuse_index_remove(service->index, own_ns, own_name);
    if (cluster_get(service->controller->cluster, &kind_cache_entry, own_ns, own_name))
        cluster_remove(service->controller->cluster, NULL, &kind_cache_entry, own_ns, own_name,
                       &how);
}

void reuse_service_trim(struct reuse_service *service, const char *ns, const char *key)
{
    struct reuse_row row;

    while (reuse_index_surplus(service->index, ns, key, &row))
        reuse_service_remove(service, row.ns, row.name);
}

/* Returns whether the result of a job is being recorded. */
static bool is_held(struct flow_controller *controller, const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);
    struct flow *flow = owner ? flow_by_uid(controller, owner->uid) : NULL;
    uint32_t step =
        flow && flow->opening == FLOW_OPEN ? flow_model_step_of_job(&flow->model, job) : STEP_NONE;

    return step != STEP_NONE && flow->model.steps[step].held;
}

struct same_work {
    struct reuse_service *service;
    const char *job;
};

static bool is_running(void *arg, const struct reuse_row *row)
{
    struct same_work *same = arg;
    const struct object *job =
        row->apart ? NULL : job_of(same->service, row->ns, row->name, row->job);

    if (!job ||
        (job_phase_finished(job_status_of(job)->phase) && !is_held(same->service->controller, job)))
        return false;
    same->job = row->job;
    return true;
}

const char *reuse_service_same_work(struct reuse_service *service, const char *ns, const char *key)
{
    struct same_work same = {service, NULL};

    reuse_index_pending(service->index, ns, key, is_running, &same);
    return same.job;
}

void reuse_service_job_gone(struct flow_controller *controller, const char *ns,
                            const struct meta *job)
{
    const char *entry = entry_of(job);

    if (controller->reuse && entry && reuse_index_is_pending(controller->reuse->index, ns, entry))
        reuse_service_remove(controller->reuse, ns, entry);
}

void reuse_service_job_ended(struct flow_controller *controller, const struct object *job)
{
    if (controller->reuse && entry_of(job->meta) && job_phase_finished(job_status_of(job)->phase) &&
        !is_held(controller, job))
        flow_wake_waiters(controller, WAIT_FOR_JOB, object_namespace(job), object_name(job));
}
