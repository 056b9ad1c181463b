/*
 * Decides which logs are kept, from the pods, jobs and PodLogs that go.
 *
 * Only the job of a pod names the flow, so what happens depends on which goes first:
 *
 *   the pod   its PodLog is created at once
 *   the job   pods that exist get their PodLogs now, and these are completed when the pods go
 *   both      in one turn: events come after the state, so the pod waits for the event of its job
 */
#include "node/logs/keeper.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "node/logs/facts.h"
#include "node/logs/records.h"

/* A job of an existing flow that was deleted in this turn. */
struct removed_job {
    UT_hash_handle hh; /* links the removed jobs in a hash table by uid */
    struct object *job;
};

struct log_keeper {
    struct log_records *records;
    struct cluster *cluster;
    struct runtime *runtime;
    bool keeps_none;
    struct cluster_watcher pods, jobs, logs;
    struct removed_job *removed;
    struct object **waiting; /* [n_waiting] pods deleted in this turn whose job is gone, too */
    size_t n_waiting, cap_waiting;
    struct task turn_over; /* runs when every event of the jobs that are gone has come */
};

bool log_keeper_keeps(const struct log_keeper *keeper, const char *uid)
{
    const struct log_record *record = log_records_find(keeper->records, uid);

    return record && (record->state == LOG_CREATING || record->state == LOG_KEPT);
}

static int64_t log_bytes(const struct log_keeper *keeper, const struct object *pod)
{
    return keeper->runtime->ops->log_bytes(keeper->runtime, object_uid(pod));
}

static void keep(struct log_keeper *keeper, const struct object *pod, const struct object *job,
                 const struct log_owners *owners, bool complete)
{
    if (keeper->keeps_none || (complete && !log_pod_has_run(pod)))
        return;
    log_records_create(keeper->records, log_facts_draft(pod, job, owners, complete,
                                                        complete ? log_bytes(keeper, pod) : 0,
                                                        loop_wall_ms(keeper->cluster->loop)));
}

/* Completes the PodLog of a pod that is gone now, if its log was kept when its job went. */
static void complete(struct log_keeper *keeper, struct log_record *record, const struct object *pod)
{
    const struct pod_log *facts = log_record_facts(record);
    int64_t bytes = log_bytes(keeper, pod);

    if (record->complete || !facts)
        return;
    if (log_pod_has_run(pod))
        log_record_complete(
            record, bytes,
            log_facts_complete(facts, pod, bytes, loop_wall_ms(keeper->cluster->loop)));
    else
        log_record_drop(record);
}

static void wait_for_job(struct log_keeper *keeper, const struct object *pod)
{
    mem_grow(keeper->waiting, keeper->n_waiting, keeper->cap_waiting);
    keeper->waiting[keeper->n_waiting++] = object_ref(pod);
    loop_post(keeper->cluster->loop, &keeper->turn_over);
}

static void pod_gone(struct log_keeper *keeper, const struct object *pod)
{
    struct log_record *record = log_records_find(keeper->records, object_uid(pod));
    struct log_owners owners;

    if (record)
        complete(keeper, record, pod);
    else if (log_owners_of_pod(keeper->cluster, pod, &owners))
        keep(keeper, pod, owners.job, &owners, true);
    else if (!owners.job && meta_controller(pod->meta))
        wait_for_job(keeper, pod);
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    if (change == CHANGE_DELETED)
        pod_gone(container_of(watcher, struct log_keeper, pods), pod);
}

struct job_visit {
    struct log_keeper *keeper;
    const struct object *job;
    struct log_owners owners;
};

/* Keeps the log of a pod that exists when its job goes. Its program may run by now if it has a
 * start intent. */
static void outlive(void *arg, const struct object *pod)
{
    const struct job_visit *visit = arg;

    if (!log_records_find(visit->keeper->records, object_uid(pod)) && pod_status_of(pod)->start_ms)
        keep(visit->keeper, pod, visit->job, &visit->owners,
             pod_phase_ended(pod_status_phase(pod)));
}

static void job_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *job)
{
    struct log_keeper *keeper = container_of(watcher, struct log_keeper, jobs);
    struct job_visit visit = {keeper, job, {0}};
    struct removed_job *removed;

    if (change != CHANGE_DELETED || !log_owners_of_removed(keeper->cluster, job, &visit.owners))
        return;
    cluster_each_owned(keeper->cluster, &kind_pod, object_uid(job), outlive, &visit);
    removed = mem_alloc(sizeof *removed);
    removed->job = object_ref(job);
    HASH_ADD_KEYPTR(hh, keeper->removed, object_uid(job), strlen(object_uid(job)), removed);
    loop_post(keeper->cluster->loop, &keeper->turn_over);
}

static void keep_waiting(struct log_keeper *keeper, const struct object *pod)
{
    const char *job = meta_controller(pod->meta)->uid;
    struct removed_job *removed;
    struct log_owners owners;

    HASH_FIND(hh, keeper->removed, job, strlen(job), removed);
    if (removed && log_owners_of_removed(keeper->cluster, removed->job, &owners))
        keep(keeper, pod, removed->job, &owners, true);
}

static void forget_turn(struct log_keeper *keeper)
{
    struct removed_job *removed, *next;

    HASH_ITER(hh, keeper->removed, removed, next)
    {
        HASH_DEL(keeper->removed, removed);
        object_unref(removed->job);
        mem_free(removed);
    }
    while (keeper->n_waiting)
        object_unref(keeper->waiting[--keeper->n_waiting]);
    mem_free(take(keeper->waiting));
    keeper->cap_waiting = 0;
}

static void turn_over(struct task *task)
{
    struct log_keeper *keeper = container_of(task, struct log_keeper, turn_over);

    for (size_t i = 0; i < keeper->n_waiting; i++)
        keep_waiting(keeper, keeper->waiting[i]);
    forget_turn(keeper);
}

static void log_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *log)
{
    struct log_keeper *keeper = container_of(watcher, struct log_keeper, logs);
    const char *uid = pod_log_of(log)->uid;
    struct log_record *record = uid ? log_records_find(keeper->records, uid) : NULL;

    if (change == CHANGE_DELETED && record && strcmp(record->name, object_name(log)) == 0)
        log_record_deleted(record);
    else if (change == CHANGE_ADDED && uid && !record) /* a PodLog made by an administrator */
        log_records_add(keeper->records, log);
}

struct stored_logs {
    const struct object **items;
    size_t count, cap;
};

static void collect(void *arg, const struct object *log)
{
    struct stored_logs *stored = arg;

    if (!pod_log_of(log)->uid)
        return;
    mem_grow(stored->items, stored->count, stored->cap);
    stored->items[stored->count++] = log;
}

/* Compares two pods by the time at which they were deleted. */
static int by_age(const void *a, const void *b)
{
    const struct object *x = *(const struct object *const *)a;
    const struct object *y = *(const struct object *const *)b;
    int64_t x_ms = meta_created_ms(x->meta), y_ms = meta_created_ms(y->meta);

    if (x_ms != y_ms)
        return x_ms < y_ms ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void load(struct log_keeper *keeper)
{
    struct stored_logs stored = {0};

    cluster_each(keeper->cluster, &kind_pod_log, NULL, collect, &stored);
    if (stored.count)
        qsort(stored.items, stored.count, sizeof *stored.items, by_age);
    for (size_t i = 0; i < stored.count; i++)
        if (!log_records_find(keeper->records, pod_log_of(stored.items[i])->uid))
            log_records_add(keeper->records, stored.items[i]);
    mem_free(stored.items);
}

static void add_uid(const char *uid, struct buf *out)
{
    buf_add(out, uid, strlen(uid) + 1);
}

static void add_pod_uid(void *out, const struct object *pod)
{
    add_uid(object_uid(pod), out);
}

static void add_log_uid(void *out, const struct object *log)
{
    const char *uid = pod_log_of(log)->uid;

    if (uid)
        add_uid(uid, out);
}

/* Removes the files of pods that were deleted while no node ran. */
static void sweep(struct log_keeper *keeper)
{
    scoped(buf) struct buf uids = {0};

    cluster_each(keeper->cluster, &kind_pod, NULL, add_pod_uid, &uids);
    cluster_each(keeper->cluster, &kind_pod_log, NULL, add_log_uid, &uids);
    keeper->runtime->ops->sweep_logs(keeper->runtime, uids.data ? uids.data : "", uids.len);
}

static void watch(struct log_keeper *keeper, struct cluster_watcher *watcher,
                  const struct kind *kind,
                  void (*changed)(struct cluster_watcher *, enum cluster_change,
                                  const struct object *, const struct object *))
{
    watcher->kind = kind;
    watcher->changed = changed;
    cluster_watch(keeper->cluster, watcher);
}

struct log_keeper *log_keeper_start(struct cluster *cluster, struct runtime *runtime,
                                    const struct log_limits *limits)
{
    struct log_keeper *keeper = mem_alloc(sizeof *keeper);

    keeper->cluster = cluster;
    keeper->runtime = runtime;
    keeper->keeps_none = !limits->flow_bytes || !limits->total_bytes;
    keeper->records = log_records_new(cluster, runtime, limits);
    keeper->turn_over.run = turn_over;
    load(keeper);
    sweep(keeper);
    watch(keeper, &keeper->pods, &kind_pod, pod_changed);
    watch(keeper, &keeper->jobs, &kind_job, job_changed);
    watch(keeper, &keeper->logs, &kind_pod_log, log_changed);
    return keeper;
}

void log_keeper_stop(struct log_keeper *keeper)
{
    if (!keeper)
        return;
    cluster_unwatch(keeper->cluster, &keeper->pods);
    cluster_unwatch(keeper->cluster, &keeper->jobs);
    cluster_unwatch(keeper->cluster, &keeper->logs);
    loop_cancel(keeper->cluster->loop, &keeper->turn_over);
    forget_turn(keeper);
    log_records_stop(keeper->records);
    mem_free(keeper);
}
