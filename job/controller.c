/*
 * Watches jobs, pods, PodGroups, queues, claims, Commands and plugin objects, and passes each
 * change on to the record of the job it concerns.
 */
#include "job/controller.h"

#include <string.h>

#include "base/mem.h"
#include "job/model/names.h"
#include "job/objects/gang.h"
#include "job/removals.h"
#include "job/run.h"

/* Returns the uid of the Volcano Job that controls the object, or NULL (O-18, O-19). */
static const char *owner_job(const struct object *object)
{
    const struct owner_ref *owner = meta_controller(object->meta);

    return owner && strcmp(owner->kind, "Job") == 0 &&
                   strcmp(owner->api_version, JOB_API_VERSION) == 0
               ? owner->uid
               : NULL;
}

static struct job_run *run_of_owner(struct job_controller *ctl, const struct object *object)
{
    const char *uid = owner_job(object);

    return uid ? job_run_find(ctl, uid) : NULL;
}

/* A finished or aborted job without live pods needs no record, unless its PodGroup or objects of
 * its plugins still exist. */
static bool needs_record(struct job_controller *ctl, const struct object *job, bool look_around)
{
    const struct job_status *status = job_status_of(job);
    const struct object *group;
    scoped_str name = NULL;

    if (!job_phase_at_rest(status->phase) ||
        status->pending + status->running + status->terminating + status->unknown > 0)
        return true;
    for (size_t i = 0; i < status->controlled.count; i++)
        if (strncmp(status->controlled.items[i].key, "plugin-", 7) == 0)
            return true;
    if (!look_around || !ctl->gang->kind)
        return false;
    name = ctl->gang->name(job);
    group = cluster_get(ctl->cluster, ctl->gang->kind, object_namespace(job), name);
    return group && !object_deleting(group);
}

static bool has_just_ended(const struct object *old, const struct object *job)
{
    return old->status != job->status && job_phase_finished(job_status_of(job)->phase) &&
           !job_phase_finished(job_status_of(old)->phase);
}

static void job_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *job)
{
    struct job_controller *ctl = container_of(watcher, struct job_controller, jobs);
    struct job_run *run = job_run_find(ctl, object_uid(job));

    if (change == CHANGE_DELETED) {
        job_ttl_forget(&ctl->ttl, job);
        job_metrics_forget(&ctl->metrics, job);
        if (!job_phase_finished(job_status_of(job)->phase))
            job_dependents_end(ctl, job);
        if (run)
            job_run_drop(run); /* timers, requests and retries go with it (O-64) */
        return;
    }
    job_ttl_update(&ctl->ttl, job);
    if (ctl->dependents && old && has_just_ended(old, job))
        job_dependents_end(ctl, job);
    else if (ctl->dependents && change == CHANGE_ADDED)
        job_dependents_seen(ctl, job);
    if (run) {
        job_run_job(run, job);
    } else if (!object_deleting(job) && needs_record(ctl, job, change == CHANGE_ADDED)) {
        job_run_get(ctl, job);
    }
    if (change == CHANGE_ADDED && !LIST_EMPTY(&ctl->parked))
        job_commands_unpark(ctl, job);
}

static void command_changed(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *command)
{
    if (change == CHANGE_ADDED)
        job_command_arrived(container_of(watcher, struct job_controller, commands), command);
}

/* An object of a finished job, created by a write that came late: a record is made, and its sync
 * removes the object. */
static struct job_run *run_of_stray(struct job_controller *ctl, const struct object *stray)
{
    const struct object *job = cluster_get(ctl->cluster, &kind_job, object_namespace(stray),
                                           meta_controller(stray->meta)->name);

    return job && strcmp(object_uid(job), owner_job(stray)) == 0 && !object_deleting(job) &&
                   !object_deleting(stray)
               ? job_run_get(ctl, job)
               : NULL;
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct job_controller *ctl = container_of(watcher, struct job_controller, pods);
    struct job_run *run = run_of_owner(ctl, pod);
    const struct job_slot *slot;
    struct pod_facts facts;
    struct slot_id at;

    if (change == CHANGE_DELETED)
        job_waiters_wake(&ctl->waiters, &kind_pod, object_namespace(pod), object_name(pod));
    if (!owner_job(pod))
        return;
    if (!run && (change == CHANGE_DELETED || pod_phase_ended(pod_status_phase(pod))))
        return; /* a PodGroup of a finished job; many exist at the start, so this test comes
                 * first */
    if (!job_pod_facts(pod, &facts))
        return;
    if (!run)
        run = run_of_stray(ctl, pod);
    if (!run || !job_model_locate(&run->model, pod, &at))
        return;
    if (change != CHANGE_DELETED) {
        job_run_pod(run, at, pod, &facts);
        return;
    }
    slot = job_model_slot(&run->model, at);
    if (slot && slot->pod && strcmp(object_uid(slot->pod), object_uid(pod)) == 0)
        job_run_pod(run, at, NULL, NULL);
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *group)
{
    struct job_controller *ctl = container_of(watcher, struct job_controller, groups);
    struct job_run *run = run_of_owner(ctl, group);

    if (!run && change != CHANGE_DELETED && owner_job(group))
        run = run_of_stray(ctl, group);
    if (!run)
        return;
    if (change != CHANGE_DELETED)
        job_run_group(run, group);
    else if (!run->model.group || strcmp(object_uid(run->model.group), object_uid(group)) == 0)
        job_run_group(run, NULL);
}

/* An object of a plugin was changed or deleted: preparation checks all of them again (O-P12). */
static void plugin_object_changed(struct cluster_watcher *watcher, enum cluster_change change,
                                  const struct object *old, const struct object *object)
{
    struct job_controller *ctl = container_of(watcher, struct plugin_watcher, watcher)->ctl;
    struct job_run *run = change != CHANGE_ADDED ? run_of_owner(ctl, object) : NULL;

    job_dependents_changed(ctl, change, old, object);
    if (!run || !run->prepared)
        return;
    run->prepared = false;
    job_run_sync(run);
}

static void queue_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *queue)
{
    struct job_controller *ctl = container_of(watcher, struct job_controller, queues);

    if (change != CHANGE_DELETED)
        job_waiters_wake(&ctl->waiters, &kind_queue, "", object_name(queue));
}

static void claim_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *claim)
{
    struct job_controller *ctl = container_of(watcher, struct job_controller, claims);

    job_dependents_changed(ctl, change, old, claim);
    if (change == CHANGE_ADDED)
        job_waiters_wake(&ctl->waiters, &kind_pvc, object_namespace(claim), object_name(claim));
}

const struct kind *job_gang_kind(enum job_gang gang)
{
    return job_gang_form(gang)->kind;
}

static const struct kind *const plugin_kinds[JOB_PLUGIN_KINDS_N] = {
    &kind_config_map, &kind_secret, &kind_service, &kind_network_policy};

struct job_controller *job_controller_start(struct cluster *cluster,
                                            const struct job_options *options)
{
    const struct job_schedulers schedulers = {options->scheduler_name, options->absent_scheduler};
    struct job_controller *ctl = mem_alloc(sizeof *ctl);

    *ctl = (struct job_controller){
        .cluster = cluster,
        .loop = cluster->loop,
        .options = *options,
        .gang = job_gang_form(options->gang),
        .cache = job_spec_cache_new(&schedulers),
        .flush = {.fire = job_status_flush},
        .jobs = {job_changed, &kind_job},
        .pods = {pod_changed, &kind_pod},
        .groups = {group_changed, job_gang_kind(options->gang)},
        .queues = {queue_changed, &kind_queue},
        .claims = {claim_changed, &kind_pvc},
        .commands = {command_changed, &kind_command},
        .ttl = {.cluster = cluster, .off = options->without_gc, .aborted = options->gc_aborted},
    };
    job_metrics_init(&ctl->metrics, loop_metrics(ctl->loop));
    for (size_t i = 0; i < JOB_PLUGIN_KINDS_N; i++) {
        ctl->plugin_objects[i] =
            (struct plugin_watcher){{plugin_object_changed, plugin_kinds[i]}, ctl};
        cluster_watch(cluster, &ctl->plugin_objects[i].watcher);
    }
    cluster_watch(cluster, &ctl->queues);
    cluster_watch(cluster, &ctl->claims);
    cluster_watch(cluster, &ctl->jobs);
    cluster_watch(cluster, &ctl->pods);
    if (ctl->groups.kind)
        cluster_watch(cluster, &ctl->groups);
    cluster_watch(cluster, &ctl->commands);
    return ctl;
}

void job_controller_stop(struct job_controller *ctl)
{
    struct job_run *run, *next;

    if (!ctl)
        return;
    cluster_unwatch(ctl->cluster, &ctl->commands);
    if (ctl->groups.kind)
        cluster_unwatch(ctl->cluster, &ctl->groups);
    cluster_unwatch(ctl->cluster, &ctl->pods);
    cluster_unwatch(ctl->cluster, &ctl->jobs);
    cluster_unwatch(ctl->cluster, &ctl->claims);
    cluster_unwatch(ctl->cluster, &ctl->queues);
    for (size_t i = 0; i < JOB_PLUGIN_KINDS_N; i++)
        cluster_unwatch(ctl->cluster, &ctl->plugin_objects[i].watcher);
    timer_stop(ctl->loop, &ctl->flush);
    ctl->stopping = true;
    ctl->records++; /* keeps the controller until the end of this function */
    job_commands_release(ctl);
    job_removals_release(ctl);
    job_ttl_release(&ctl->ttl);
    job_dependents_release(ctl);
    HASH_ITER(hh, ctl->runs, run, next)
    job_run_drop(run);
    if (--ctl->records == 0) /* otherwise the last answer frees it */
        job_controller_release(ctl);
}

void job_controller_release(struct job_controller *ctl)
{
    job_spec_cache_free(ctl->cache);
    mem_free(ctl);
}
