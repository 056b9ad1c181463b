/*
 * Teams and their jobs. Jobs are watched from the first team on: flows without gangs pay nothing.
 */
#include "node/scheduler/job_gang.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"
#include "node/scheduler/internal.h"

/* A job of the gang that is unfinished, has a PodGroup here, or both. */
struct team_job {
    UT_hash_handle hh; /* by uid */
    bool unfinished;
    const struct group *group; /* its mate, or NULL */
    char uid[];
};

static struct team *team_named(struct scheduler *s, const struct object *object)
{
    const char *name = meta_annotation(object->meta, ANNOTATION_FLOW_GANG);
    scoped_str key = mem_printf("%s/%s", object_namespace(object), name);
    struct team *team;

    HASH_FIND(hh, s->teams, key, strlen(key), team);
    if (!team) {
        team = mem_alloc(sizeof *team + strlen(key) + 1);
        team->scheduler = s;
        memcpy(team->key, key, strlen(key) + 1);
        HASH_ADD_KEYPTR(hh, s->teams, team->key, strlen(team->key), team);
    }
    return team;
}

static void drop_unless_used(struct team *team)
{
    if (team->jobs || !LIST_EMPTY(&team->mates))
        return;
    HASH_DELETE(hh, team->scheduler->teams, team);
    mem_free(team);
}

/* Whole or not. */

/* How many more must be admitted for the gang to have formed; 0: it has. */
static size_t still_needed(const struct team *team)
{
    size_t least = team->least < team->unfinished ? team->least : team->unfinished;

    return team->formed || team->mates_by[MATE_ADMITTED] >= least
               ? 0
               : least - team->mates_by[MATE_ADMITTED];
}

static bool is_whole(const struct team *team)
{
    if (team->least)
        return team->mates_by[MATE_WAITS] >= still_needed(team);
    return team->missing == 0 && team->mates_by[MATE_HELD] == 0;
}

/* Its mates are touched when the answer has changed. */
static void review(struct team *team)
{
    bool whole = is_whole(team);
    struct group *group;

    if (whole == team->whole)
        return;
    team->whole = whole;
    LIST_FOREACH(group, &team->mates, mate)
    group_touch(group);
}

/* Jobs. */

static struct team_job *job_of_uid(struct team *team, const char *uid)
{
    struct team_job *job;

    HASH_FIND(hh, team->jobs, uid, strlen(uid), job);
    if (!job) {
        job = mem_alloc(sizeof *job + strlen(uid) + 1);
        memcpy(job->uid, uid, strlen(uid) + 1);
        HASH_ADD_KEYPTR(hh, team->jobs, job->uid, strlen(job->uid), job);
    }
    return job;
}

/* What is known of a job has changed; afterwards it may be gone. */
static void job_is(struct team *team, struct team_job *job, bool unfinished,
                   const struct group *group)
{
    team->unfinished -= job->unfinished;
    team->missing -= job->unfinished && !job->group;
    job->unfinished = unfinished;
    job->group = group;
    team->unfinished += job->unfinished;
    team->missing += job->unfinished && !job->group;
    team->chosen = false;
    if (unfinished || group)
        return;
    HASH_DELETE(hh, team->jobs, job);
    mem_free(job);
}

static void set_job(struct scheduler *s, const struct object *object, bool unfinished)
{
    struct team *team = team_named(s, object);
    struct team_job *job = job_of_uid(team, object_uid(object));
    bool before = job->unfinished;

    job_is(team, job, unfinished, job->group);
    if (before != unfinished)
        review(team);
    drop_unless_used(team);
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

static void see_job(void *arg, const struct object *job)
{
    job_changed(&((struct scheduler *)arg)->job_watcher, CHANGE_ADDED, NULL, job);
}

static void watch_jobs(struct scheduler *s)
{
    if (s->job_watcher.changed)
        return;
    s->job_watcher.kind = &kind_job;
    s->job_watcher.changed = job_changed;
    cluster_each(s->cluster, &kind_job, NULL, see_job, s);
    cluster_watch(s->cluster, &s->job_watcher);
}

/* Mates. */

static enum mate_standing standing_of(const struct group *group)
{
    if (group->stage == GROUP_ADMITTED)
        return MATE_ADMITTED;
    if (group->stage != GROUP_WAITING)
        return MATE_ABSENT;
    return group->queue && group->queue->open ? MATE_WAITS : MATE_HELD;
}

void team_see(struct group *group)
{
    struct team *team = group->team;

    if (!team)
        return;
    team->mates_by[group->standing]--;
    group->standing = standing_of(group);
    team->mates_by[group->standing]++;
    team->chosen = false;
    review(team);
}

void team_leave(struct group *group)
{
    struct team *team = group->team;
    struct team_job *job = take(group->team_job);

    if (!team)
        return;
    group->team = NULL;
    LIST_REMOVE(group, mate);
    team->mates_by[group->standing]--;
    team->chosen = false;
    if (job)
        job_is(team, job, job->unfinished, NULL);
    review(team);
    drop_unless_used(team);
}

static void enter_job(struct group *group)
{
    const struct owner_ref *owner = meta_controller(group->object->meta);
    struct team_job *job = owner ? job_of_uid(group->team, owner->uid) : NULL;

    if (!job || job->group)
        return; /* a job has one PodGroup; another that says so is nobody's */
    group->team_job = job;
    job_is(group->team, job, job->unfinished, group);
}

static size_t least_of(const struct group *group)
{
    const char *text = meta_annotation(group->object->meta, ANNOTATION_FLOW_GANG_LEAST);

    return text ? strtoul(text, NULL, 10) : 0;
}

void team_enter(struct group *group)
{
    struct scheduler *s = group->scheduler;

    if (!meta_annotation(group->object->meta, ANNOTATION_FLOW_GANG)) {
        team_leave(group);
        return;
    }
    if (group->team)
        return;
    watch_jobs(s);
    group->team = team_named(s, group->object);
    group->team->least = least_of(group);
    LIST_INSERT_HEAD(&group->team->mates, group, mate);
    group->standing = MATE_ABSENT;
    group->team->mates_by[MATE_ABSENT]++;
    enter_job(group);
    team_see(group);
}

/* Who goes together. */

bool team_holds(const struct group *group)
{
    const struct team *team = group->team;

    return team && group->stage == GROUP_WAITING && (!team->least || still_needed(team));
}

/* The largest of the shares of the nodes that it takes. */
static double share_of(const struct group *group)
{
    struct amount need = group_reserve(group), all = group->scheduler->places.capacity;
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

static int smaller_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    return (x->group->sequence > y->group->sequence) - (x->group->sequence < y->group->sequence);
}

static void mark_smallest(const struct team *team, size_t n)
{
    struct candidate *candidates = mem_array(team->mates_by[MATE_WAITS] + 1, sizeof *candidates);
    struct group *group;
    size_t found = 0;

    LIST_FOREACH(group, &team->mates, mate)
    if (group->standing == MATE_WAITS)
        candidates[found++] = (struct candidate){group, share_of(group)};
    qsort(candidates, found, sizeof *candidates, smaller_first);
    for (size_t i = 0; i < n && i < found; i++)
        candidates[i].group->goes = true;
    mem_free(candidates);
}

/* Mark those that go: all that wait, or the smallest of them that are enough. Remembered until
 * something changes, for a team that finds no room is asked again and again. */
static void choose(struct team *team)
{
    struct group *group;

    if (team->chosen)
        return;
    LIST_FOREACH(group, &team->mates, mate)
    group->goes = !team->least && group->stage == GROUP_WAITING;
    if (team->least)
        mark_smallest(team, still_needed(team));
    team->need = (struct amount){0};
    team->queue = NULL;
    team->one_queue = true;
    LIST_FOREACH(group, &team->mates, mate)
    {
        if (!group->goes)
            continue;
        team->need = amount_add(team->need, group_reserve(group));
        team->one_queue = team->one_queue && (!team->queue || team->queue == group->queue);
        team->queue = group->queue;
    }
    team->chosen = true;
}

struct amount team_need(struct team *team)
{
    choose(team);
    return team->need;
}

static struct amount need_in(const struct team *team, const struct queue *queue)
{
    struct amount sum = {0};
    struct group *group;

    LIST_FOREACH(group, &team->mates, mate)
    if (group->goes && group->queue == queue)
        sum = amount_add(sum, group_reserve(group));
    return sum;
}

static struct queue *limiter_of(struct queue *queue, struct amount need, bool ever)
{
    return ever ? queue_never(queue, need) : queue_full(queue, need);
}

struct queue *team_limiter(struct team *team, bool ever)
{
    const struct queue *seen = NULL;
    struct queue *limiter = NULL;
    const struct group *group;

    choose(team);
    if (team->one_queue) /* as nearly always */
        return team->queue ? limiter_of(team->queue, team->need, ever) : NULL;
    LIST_FOREACH(group, &team->mates, mate)
    {
        if (!group->goes || group->queue == seen)
            continue;
        seen = group->queue;
        limiter = limiter_of(group->queue, need_in(team, group->queue), ever);
        if (limiter)
            break;
    }
    return limiter;
}

void team_admit(struct team *team, void (*admit)(struct group *group))
{
    struct group *group;

    choose(team);
    team->formed = true;
    LIST_FOREACH(group, &team->mates, mate)
    if (group->goes)
        admit(group);
}

void teams_release(struct scheduler *s)
{
    struct team *team, *next;
    struct team_job *job, *next_job;

    HASH_ITER(hh, s->teams, team, next)
    {
        HASH_ITER(hh, team->jobs, job, next_job)
        {
            HASH_DELETE(hh, team->jobs, job);
            mem_free(job);
        }
        HASH_DELETE(hh, s->teams, team);
        mem_free(team);
    }
}
