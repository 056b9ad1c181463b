/*
 * The set of all targets: registers them by the uid of their job, and passes the changes of pods on
 * to the targets of their job.
 */
#include <string.h>

#include "probes/internal.h"

static void evaluate(struct probe_target *target)
{
    probe_target_evaluate(target);
    probes_start_waiting(target->probes);
}

static void visit_pod(void *arg, const struct object *pod)
{
    probe_target_update_pod(arg, pod);
}

static void on_pod(struct cluster_watcher *watcher, enum cluster_change change,
                   const struct object *old, const struct object *object)
{
    struct probes *probes = container_of(watcher, struct probes, pods);
    const struct owner_ref *owner = meta_controller(object->meta);
    struct watched_job *job = NULL;
    struct probe_target *t;

    if (owner)
        HASH_FIND_STR(probes->jobs, owner->uid, job);
    for (t = job ? LIST_FIRST(&job->targets) : NULL; t; t = LIST_NEXT(t, of_job)) {
        struct probe_pod *pod = probe_target_pod(t, object_uid(object));

        if (change != CHANGE_DELETED)
            probe_target_update_pod(t, object);
        else if (pod)
            probe_pod_free(pod);
        evaluate(t);
    }
}

static void watch_job(struct probe_target *target)
{
    struct probes *probes = target->probes;
    const char *uid = object_uid(target->job);
    struct watched_job *job;

    HASH_FIND_STR(probes->jobs, uid, job);
    if (!job) {
        size_t len = strlen(uid);

        job = mem_alloc(sizeof *job + len + 1);
        memcpy(job->uid, uid, len + 1);
        HASH_ADD_KEYPTR(hh, probes->jobs, job->uid, len, job);
    }
    target->watched = job;
    LIST_INSERT_HEAD(&job->targets, target, of_job);
}

static void unwatch_job(struct probe_target *target)
{
    struct watched_job *job = target->watched;

    LIST_REMOVE(target, of_job);
    if (LIST_EMPTY(&job->targets)) {
        HASH_DELETE(hh, target->probes->jobs, job);
        mem_free(job);
    }
}

struct probe_target *probe_target_new(struct probes *probes, struct probe_group *group,
                                      const struct flow_probe *spec, const struct object *job,
                                      void (*passed)(void *ctx), void *ctx)
{
    struct probe_target *target = mem_alloc(sizeof *target);

    target->probes = probes;
    target->group = group;
    target->spec = spec;
    target->job = object_ref(job);
    target->passed = passed;
    target->ctx = ctx;
    target->notify.run = probe_target_notify;
    probe_requirements_of(spec, job_spec_of(job), &target->requirements);
    if (!target->requirements.count)
        return target; /* no entry applies to the job, so its pods are not watched */
    watch_job(target);
    probes->targets++;
    if (!probes->watching) {
        probes->watching = true;
        cluster_watch(probes->cluster, &probes->pods);
    }
    cluster_each_owned(probes->cluster, &kind_pod, object_uid(job), visit_pod, target);
    evaluate(target);
    return target;
}

void probe_target_free(struct probe_target *target)
{
    struct probe_pod *pod, *next;
    struct probes *probes;

    if (!target)
        return;
    probes = target->probes;
    HASH_ITER(hh, target->pods, pod, next) probe_pod_free(pod);
    loop_cancel(probes->cluster->loop, &target->notify);
    if (target->watched) {
        unwatch_job(target);
        if (--probes->targets == 0) {
            probes->watching = false;
            cluster_unwatch(probes->cluster, &probes->pods);
        }
    }
    probe_requirements_release(&target->requirements);
    object_unref(target->job);
    mem_free(target);
}

void probe_target_job_changed(struct probe_target *target, const struct object *job)
{
    bool new_epoch = job_status_of(job)->version != job_status_of(target->job)->version;
    bool new_body = job->body != target->job->body;
    struct object *before = target->job;
    struct probe_pod *pod, *next;

    target->job = object_ref(job);
    if (target->watched && !target->verdict_passed && (new_epoch || new_body)) {
        HASH_ITER(hh, target->pods, pod, next) probe_pod_free(pod);
        probe_requirements_release(&target->requirements);
        probe_requirements_of(target->spec, job_spec_of(job), &target->requirements);
        cluster_each_owned(target->probes->cluster, &kind_pod, object_uid(job), visit_pod, target);
        evaluate(target);
    }
    object_unref(before); /* freed only now, because the requirements have borrowed from it */
}

enum probe_verdict probe_target_verdict(const struct probe_target *target)
{
    if (!target->requirements.count)
        return PROBE_NOT_APPLICABLE;
    return target->verdict_passed ? PROBE_PASSED : PROBE_OPEN;
}

bool probe_target_met_by_completion(const struct probe_target *target)
{
    return target->verdict_passed || probe_requirements_met_by_completion(&target->requirements);
}

struct probes *probes_new(struct cluster *cluster, const struct probe_limits *limits)
{
    struct probes *probes = mem_alloc(sizeof *probes);

    probes->cluster = cluster;
    probes->io.loop = cluster->loop;
    probes->queue.at_once = limits && limits->at_once ? limits->at_once : 256;
    probes->queue.per_group = limits && limits->per_group ? limits->per_group : 8;
    probes->refused = limits ? limits->refused : NULL;
    probes->host_address = limits ? limits->host_address : NULL;
    probes->sockets = limits ? limits->sockets : NULL;
    probes->pods = (struct cluster_watcher){.changed = on_pod, .kind = &kind_pod};
    return probes;
}

void probes_free(struct probes *probes)
{
    if (!probes)
        return;
    probe_http_client_free(probes->io.http);
    mem_free(probes);
}

const struct probe_counts *probes_counts(const struct probes *probes)
{
    return &probes->counts;
}
