/*
 * Tracks job gangs and the jobs that belong to them. Jobs are watched only once a gang exists, so
 * flows without gangs pay nothing.
 */
#include "node/scheduler/job_gang.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"
#include "node/scheduler/internal.h"

/* A job of the gang that is unfinished, or has a PodGroup here, or both. */
struct gang_job {
    UT_hash_handle hh; /* links the jobs in a hash table by uid */
    bool unfinished;
    const struct group *group; /* PodGroup of the job, or NULL */
    char uid[];
};

static struct job_gang *gang_named(struct scheduler *s, const struct object *object)
{
    const char *name = meta_annotation(object->meta, ANNOTATION_FLOW_GANG);
    scoped_str key = mem_printf("%s/%s", object_namespace(object), name);
    struct job_gang *gang;

    HASH_FIND(hh, s->job_gangs, key, strlen(key), gang);
    if (!gang) {
        gang = mem_alloc(sizeof *gang + strlen(key) + 1);
        gang->scheduler = s;
        memcpy(gang->key, key, strlen(key) + 1);
        HASH_ADD_KEYPTR(hh, s->job_gangs, gang->key, strlen(gang->key), gang);
    }
    return gang;
}

static void drop_unless_used(struct job_gang *gang)
{
    if (gang->jobs || !LIST_EMPTY(&gang->groups))
        return;
    HASH_DELETE(hh, gang->scheduler->job_gangs, gang);
    mem_free(gang);
}

/* Returns how many more jobs must be admitted until the gang has formed; 0 if it has. */
static size_t still_needed(const struct job_gang *gang)
{
    size_t min_available =
        gang->min_available < gang->unfinished ? gang->min_available : gang->unfinished;

    return gang->formed || gang->groups_by[STANDING_ADMITTED] >= min_available
               ? 0
               : min_available - gang->groups_by[STANDING_ADMITTED];
}

static bool is_whole(const struct job_gang *gang)
{
    if (gang->min_available)
        return gang->groups_by[STANDING_WAITS] >= still_needed(gang);
    return gang->missing == 0 && gang->groups_by[STANDING_HELD] == 0;
}

/* Recomputes whether the gang is whole. On a change, schedules its groups again. */
static void review(struct job_gang *gang)
{
    bool whole = is_whole(gang);
    struct group *group;

    if (whole == gang->whole)
        return;
    gang->whole = whole;
    LIST_FOREACH(group, &gang->groups, gang_entry)
    group_touch(group);
}

static struct gang_job *job_of_uid(struct job_gang *gang, const char *uid)
{
    struct gang_job *job;

    HASH_FIND(hh, gang->jobs, uid, strlen(uid), job);
    if (!job) {
        job = mem_alloc(sizeof *job + strlen(uid) + 1);
        memcpy(job->uid, uid, strlen(uid) + 1);
        HASH_ADD_KEYPTR(hh, gang->jobs, job->uid, strlen(job->uid), job);
    }
    return job;
}

/* Updates the state of a job. A finished job without a PodGroup is freed. */
static void set_gang_job(struct job_gang *gang, struct gang_job *job, bool unfinished,
                         const struct group *group)
{
    gang->unfinished -= job->unfinished;
    gang->missing -= job->unfinished && !job->group;
    job->unfinished = unfinished;
    job->group = group;
    gang->unfinished += job->unfinished;
    gang->missing += job->unfinished && !job->group;
    gang->selection_valid = false;
    if (unfinished || group)
        return;
    HASH_DELETE(hh, gang->jobs, job);
    mem_free(job);
}

static void set_job(struct scheduler *s, const struct object *object, bool unfinished)
{
    struct job_gang *gang = gang_named(s, object);
    struct gang_job *job = job_of_uid(gang, object_uid(object));
    bool before = job->unfinished;

    set_gang_job(gang, job, unfinished, job->group);
    if (before != unfinished)
        review(gang);
    drop_unless_used(gang);
}

static bool is_unfinished(const struct object *job)
{
    enum job_phase phase = job_status_of(job)->phase;

    return !object_deleting(job) && phase != JOB_ABORTED && !job_phase_finished(phase);
}

static void job_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *job)
{
    struct scheduler *s = container_of(watcher, struct scheduler, job_watcher);

    if (meta_annotation(job->meta, ANNOTATION_FLOW_GANG))
        set_job(s, job, change != CHANGE_DELETED && is_unfinished(job));
}

static void load_job(void *arg, const struct object *job)
{
    job_changed(&((struct scheduler *)arg)->job_watcher, CHANGE_ADDED, NULL, job);
}

static void watch_jobs(struct scheduler *s)
{
    if (s->job_watcher.changed)
        return;
    s->job_watcher.kind = &kind_job;
    s->job_watcher.changed = job_changed;
    cluster_each(s->cluster, &kind_job, NULL, load_job, s);
    cluster_watch(s->cluster, &s->job_watcher);
}

static enum gang_standing standing_of(const struct group *group)
{
    if (group->stage == GROUP_ADMITTED)
        return STANDING_ADMITTED;
    if (group->stage != GROUP_WAITING)
        return STANDING_ABSENT;
    return group->queue && group->queue->open ? STANDING_WAITS : STANDING_HELD;
}

void job_gang_update(struct group *group)
{
    struct job_gang *gang = group->job_gang;

    if (!gang)
        return;
    gang->groups_by[group->standing]--;
    group->standing = standing_of(group);
    gang->groups_by[group->standing]++;
    gang->selection_valid = false;
    review(gang);
}

void job_gang_leave(struct group *group)
{
    struct job_gang *gang = group->job_gang;
    struct gang_job *job = take(group->gang_job);

    if (!gang)
        return;
    group->job_gang = NULL;
    LIST_REMOVE(group, gang_entry);
    gang->groups_by[group->standing]--;
    gang->selection_valid = false;
    if (job)
        set_gang_job(gang, job, job->unfinished, NULL);
    review(gang);
    drop_unless_used(gang);
}

static void enter_job(struct group *group)
{
    const struct owner_ref *owner = meta_controller(group->object->meta);
    struct gang_job *job = owner ? job_of_uid(group->job_gang, owner->uid) : NULL;

    if (!job || job->group)
        return; /* a job has one PodGroup; a second one is ignored */
    group->gang_job = job;
    set_gang_job(group->job_gang, job, job->unfinished, group);
}

static size_t least_of(const struct group *group)
{
    const char *text = meta_annotation(group->object->meta, ANNOTATION_FLOW_GANG_LEAST);

    return text ? strtoul(text, NULL, 10) : 0;
}

void job_gang_enter(struct group *group)
{
    struct scheduler *s = group->scheduler;

    if (!meta_annotation(group->object->meta, ANNOTATION_FLOW_GANG)) {
        job_gang_leave(group);
        return;
    }
    if (group->job_gang)
        return;
    watch_jobs(s);
    group->job_gang = gang_named(s, group->object);
    group->job_gang->min_available = least_of(group);
    LIST_INSERT_HEAD(&group->job_gang->groups, group, gang_entry);
    group->standing = STANDING_ABSENT;
    group->job_gang->groups_by[STANDING_ABSENT]++;
    enter_job(group);
    job_gang_update(group);
}

bool job_gang_admits_together(const struct group *group)
{
    const struct job_gang *gang = group->job_gang;

    return gang && group->stage == GROUP_WAITING && (!gang->min_available || still_needed(gang));
}

/* Returns the largest share of the nodes' capacity that the group takes of any resource. */
static double share_of(const struct group *group)
{
    struct amount need = group_reserve(group), all = group->scheduler->node_set.capacity;
    double most = 0;

    for (size_t i = 0; i < AMOUNT_KINDS; i++) {
        int64_t whole = *amount_at(&all, i);
        double share = whole > 0 ? (double)*amount_at(&need, i) / (double)whole : 0;

        most = share > most ? share : most;
    }
    return most;
}

struct candidate {
    struct group *group;
    double share;
};

static int compare_shares(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    return (x->group->sequence > y->group->sequence) - (x->group->sequence < y->group->sequence);
}

static void mark_smallest(const struct job_gang *gang, size_t n)
{
    struct candidate *candidates =
        mem_array(gang->groups_by[STANDING_WAITS] + 1, sizeof *candidates);
    struct group *group;
    size_t found = 0;

    LIST_FOREACH(group, &gang->groups, gang_entry)
    if (group->standing == STANDING_WAITS)
        candidates[found++] = (struct candidate){group, share_of(group)};
    qsort(candidates, found, sizeof *candidates, compare_shares);
    for (size_t i = 0; i < n && i < found; i++)
        candidates[i].group->selected = true;
    mem_free(candidates);
}

/* Selects the groups to admit together: all that wait or, with minAvailable, just enough of the
 * smallest. The selection is cached until something changes, because a gang that does not fit is
 * tried again and again. */
static void select_groups(struct job_gang *gang)
{
    struct group *group;

    if (gang->selection_valid)
        return;
    LIST_FOREACH(group, &gang->groups, gang_entry)
    group->selected = !gang->min_available && group->stage == GROUP_WAITING;
    if (gang->min_available)
        mark_smallest(gang, still_needed(gang));
    gang->need = (struct amount){0};
    gang->queue = NULL;
    gang->one_queue = true;
    LIST_FOREACH(group, &gang->groups, gang_entry)
    {
        if (!group->selected)
            continue;
        gang->need = amount_add(gang->need, group_reserve(group));
        gang->one_queue = gang->one_queue && (!gang->queue || gang->queue == group->queue);
        gang->queue = group->queue;
    }
    gang->selection_valid = true;
}

struct amount job_gang_need(struct job_gang *gang)
{
    select_groups(gang);
    return gang->need;
}

static struct amount need_in(const struct job_gang *gang, const struct queue *queue)
{
    struct amount sum = {0};
    struct group *group;

    LIST_FOREACH(group, &gang->groups, gang_entry)
    if (group->selected && group->queue == queue)
        sum = amount_add(sum, group_reserve(group));
    return sum;
}

static struct queue *limiter_of(struct queue *queue, struct amount need, bool ever)
{
    return ever ? queue_never(queue, need) : queue_full(queue, need, (struct amount){0});
}

struct queue *job_gang_limiter(struct job_gang *gang, bool ever)
{
    const struct queue *seen = NULL;
    struct queue *limiter = NULL;
    const struct group *group;

    select_groups(gang);
    if (gang->one_queue) /* the groups usually share one queue */
        return gang->queue ? limiter_of(gang->queue, gang->need, ever) : NULL;
    LIST_FOREACH(group, &gang->groups, gang_entry)
    {
        if (!group->selected || group->queue == seen)
            continue;
        seen = group->queue;
        limiter = limiter_of(group->queue, need_in(gang, group->queue), ever);
        if (limiter)
            break;
    }
    return limiter;
}

void job_gang_admit(struct job_gang *gang, void (*admit)(struct group *group))
{
    struct group *group;

    select_groups(gang);
    gang->formed = true;
    LIST_FOREACH(group, &gang->groups, gang_entry)
    if (group->selected)
        admit(group);
}

void job_gangs_release(struct scheduler *s)
{
    struct job_gang *gang, *next;
    struct gang_job *job, *next_job;

    HASH_ITER(hh, s->job_gangs, gang, next)
    {
        HASH_ITER(hh, gang->jobs, job, next_job)
        {
            HASH_DELETE(hh, gang->jobs, job);
            mem_free(job);
        }
        HASH_DELETE(hh, s->job_gangs, gang);
        mem_free(gang);
    }
}
