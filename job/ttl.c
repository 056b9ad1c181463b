/*
 * Ref: Volcano pkg/controllers/garbagecollector/garbagecollector.go.
 */
#include "job/ttl.h"

#include <string.h>

#include "api/types/job.h"
#include "base/log.h"
#include "base/mem.h"

/* A finished job without a time of transition, or a deletion that failed: look again after this. */
enum { RETRY_MS = 10000 };

struct job_ttl_entry {
    struct job_ttl *ttl;
    struct timer timer;
    struct object *job; /* names and uid */
    UT_hash_handle hh;
    char uid[];
};

static bool is_candidate(const struct job_ttl *ttl, const struct object *job)
{
    enum job_phase phase = job_status_of(job)->phase;

    return (job_phase_finished(phase) || (ttl->aborted && phase == JOB_ABORTED)) &&
           job_spec_of(job)->ttl_s.set && !object_deleting(job);
}

/* Milliseconds until the job may go; at most 0 when its time has come. */
static int64_t remaining_ms(const struct job_ttl *ttl, const struct object *job)
{
    int64_t finished_ms = job_status_of(job)->transition_ms;
    int64_t ttl_ms = (int64_t)job_spec_of(job)->ttl_s.value * 1000;

    if (finished_ms == 0) {
        log_warn("finished job has no time of transition", kv_str("job", object_name(job)));
        return RETRY_MS;
    }
    return finished_ms + ttl_ms - loop_wall_ms(ttl->cluster->loop);
}

static void drop(struct job_ttl_entry *entry)
{
    timer_stop(entry->ttl->cluster->loop, &entry->timer);
    HASH_DEL(entry->ttl->entries, entry);
    object_unref(entry->job);
    mem_free(entry);
}

/* Read afresh, test again, delete what has this uid and nothing else. The entry stays until the job
 * is gone. */
static void on_time(struct timer *timer)
{
    struct job_ttl_entry *entry = container_of(timer, struct job_ttl_entry, timer);
    struct job_ttl *ttl = entry->ttl;
    const struct object *job =
        cluster_get(ttl->cluster, &kind_job, object_namespace(entry->job), object_name(entry->job));
    const struct cluster_removal how = {
        .uid = entry->uid, .grace_s = -1, .propagation = PROPAGATE_FOREGROUND};
    int64_t left_ms;

    if (!job || strcmp(object_uid(job), entry->uid) != 0 || !is_candidate(ttl, job)) {
        drop(entry);
        return;
    }
    left_ms = remaining_ms(ttl, job);
    if (left_ms <= 0)
        cluster_remove(ttl->cluster, NULL, &kind_job, object_namespace(job), object_name(job),
                       &how);
    timer_start(ttl->cluster->loop, &entry->timer, left_ms > 0 ? left_ms : RETRY_MS);
}

static struct job_ttl_entry *find(const struct job_ttl *ttl, const struct object *job)
{
    struct job_ttl_entry *entry;

    HASH_FIND_STR(ttl->entries, object_uid(job), entry);
    return entry;
}

void job_ttl_look(struct job_ttl *ttl, const struct object *job)
{
    struct job_ttl_entry *entry = ttl->entries ? find(ttl, job) : NULL;
    size_t uid_len;

    if (!is_candidate(ttl, job)) {
        if (entry)
            drop(entry);
        return;
    }
    if (entry)
        return;
    uid_len = strlen(object_uid(job));
    entry = mem_alloc(sizeof *entry + uid_len + 1);
    entry->ttl = ttl;
    entry->timer.fire = on_time;
    entry->job = object_ref(job);
    memcpy(entry->uid, object_uid(job), uid_len + 1);
    HASH_ADD_KEYPTR(hh, ttl->entries, entry->uid, uid_len, entry);
    timer_start(ttl->cluster->loop, &entry->timer, remaining_ms(ttl, job));
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
