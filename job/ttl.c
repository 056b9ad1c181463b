/*
 * A hash of timers by the uid of the job. Ref: Volcano
 * pkg/controllers/garbagecollector/garbagecollector.go.
 */
#include "job/ttl.h"

#include <string.h>

#include "api/types/kinds/job/job.h"
#include "base/log.h"
#include "base/mem.h"

/* A deletion without effect is repeated after the first of these, then after doubled times up to
 * the second. A finished job without a time of transition is checked again after the second. */
enum { RETRY_FIRST_MS = 20, RETRY_MS = 10000 };

struct job_ttl_entry {
    struct job_ttl *ttl;
    struct timer timer;
    struct object *job;  /* the Job, for its names and uid */
    int64_t finished_ms; /* the end and the time to live that the timer was started for */
    int32_t ttl_s;
    int32_t retry_ms;
    UT_hash_handle hh;
    char uid[];
};

static bool is_candidate(const struct job_ttl *ttl, const struct object *job)
{
    enum job_phase phase = job_status_of(job)->phase;

    return (job_phase_finished(phase) || (ttl->aborted && phase == JOB_ABORTED)) &&
           job_spec_of(job)->ttl_s.set && !object_deleting(job);
}

/* Starts the timer that ends when the job may be deleted. */
static void start_timer(struct job_ttl_entry *entry, const struct object *job)
{
    struct loop *loop = entry->ttl->cluster->loop;
    int64_t whole_ms, left_ms = RETRY_MS;

    entry->finished_ms = job_status_of(job)->transition_ms;
    entry->ttl_s = job_spec_of(job)->ttl_s.value;
    whole_ms = (int64_t)entry->ttl_s * 1000;
    if (entry->finished_ms)
        left_ms = loop_left_ms(loop, entry->finished_ms + whole_ms, whole_ms);
    else
        log_warn("finished job has no time of transition", kv_str("job", object_name(job)));
    timer_start(loop, &entry->timer, left_ms);
}

/* Did the timer run for the end and ttl that the job still has? The wall clock may have been set
 * meanwhile and is not asked. */
static bool is_over(const struct job_ttl_entry *entry, const struct object *job)
{
    return entry->finished_ms && entry->finished_ms == job_status_of(job)->transition_ms &&
           entry->ttl_s == job_spec_of(job)->ttl_s.value;
}

static void drop(struct job_ttl_entry *entry)
{
    timer_stop(entry->ttl->cluster->loop, &entry->timer);
    HASH_DEL(entry->ttl->entries, entry);
    object_unref(entry->job);
    mem_free(entry);
}

/* Reads the job again, checks it again, and deletes it by uid. The entry stays until the job is
 * gone. */
static void on_time(struct timer *timer)
{
    struct job_ttl_entry *entry = container_of(timer, struct job_ttl_entry, timer);
    struct job_ttl *ttl = entry->ttl;
    const struct object *job =
        cluster_get(ttl->cluster, &kind_job, object_namespace(entry->job), object_name(entry->job));
    const struct cluster_removal how = {
        .uid = entry->uid, .grace_s = -1, .propagation = PROPAGATE_FOREGROUND};

    if (!job || strcmp(object_uid(job), entry->uid) != 0 || !is_candidate(ttl, job)) {
        drop(entry);
        return;
    }
    if (!is_over(entry, job)) {
        start_timer(entry, job);
        return;
    }
    cluster_remove(ttl->cluster, NULL, &kind_job, object_namespace(job), object_name(job), &how);
    timer_start(ttl->cluster->loop, &entry->timer, entry->retry_ms);
    entry->retry_ms = entry->retry_ms < RETRY_MS / 2 ? entry->retry_ms * 2 : RETRY_MS;
}

static struct job_ttl_entry *find(const struct job_ttl *ttl, const struct object *job)
{
    struct job_ttl_entry *entry;

    HASH_FIND_STR(ttl->entries, object_uid(job), entry);
    return entry;
}

void job_ttl_update(struct job_ttl *ttl, const struct object *job)
{
    struct job_ttl_entry *entry = ttl->entries ? find(ttl, job) : NULL;
    size_t uid_len;

    if (ttl->off || !is_candidate(ttl, job)) {
        if (entry)
            drop(entry);
        return;
    }
    if (entry)
        return;
    uid_len = strlen(object_uid(job));
    entry = mem_alloc(sizeof *entry + uid_len + 1);
    entry->ttl = ttl;
    entry->retry_ms = RETRY_FIRST_MS;
    entry->timer.fire = on_time;
    entry->job = object_ref(job);
    memcpy(entry->uid, object_uid(job), uid_len + 1);
    HASH_ADD_KEYPTR(hh, ttl->entries, entry->uid, uid_len, entry);
    start_timer(entry, job);
}

void job_ttl_forget(struct job_ttl *ttl, const struct object *job)
{
    struct job_ttl_entry *entry = ttl->entries ? find(ttl, job) : NULL;

    if (entry)
        drop(entry);
}

void job_ttl_release(struct job_ttl *ttl)
{
    struct job_ttl_entry *entry, *next;

    HASH_ITER(hh, ttl->entries, entry, next)
    drop(entry);
}
