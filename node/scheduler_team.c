/*
 * Teams and their jobs. Jobs are watched from the first team on: flows without gangs pay nothing.
 */
#include "node/scheduler_team.h"

#include <string.h>

#include "api/types/job.h"
#include "api/types/jobflow.h"
#include "base/mem.h"
#include "node/scheduler_impl.h"

struct team_job {
    UT_hash_handle hh; /* by uid */
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

/* Jobs. */

static void set_job(struct scheduler *s, const struct object *job, bool unfinished)
{
    struct team *team = team_named(s, job);
    const char *uid = object_uid(job);
    struct team_job *known;

    HASH_FIND(hh, team->jobs, uid, strlen(uid), known);
    if (unfinished && !known) {
        known = mem_alloc(sizeof *known + strlen(uid) + 1);
        memcpy(known->uid, uid, strlen(uid) + 1);
        HASH_ADD_KEYPTR(hh, team->jobs, known->uid, strlen(known->uid), known);
        team_review(team);
    } else if (!unfinished && known) {
        HASH_DELETE(hh, team->jobs, known);
        mem_free(known);
        team_review(team);
    }
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

void team_leave(struct group *group)
{
    struct team *team = group->team;

    if (!team)
        return;
    group->team = NULL;
    LIST_REMOVE(group, mate);
    team_review(team);
    drop_unless_used(team);
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
    LIST_INSERT_HEAD(&group->team->mates, group, mate);
    team_review(group->team);
}

static const struct group *mate_of(const struct team *team, const char *job_uid)
{
    const struct group *group;

    LIST_FOREACH(group, &team->mates, mate)
    {
        const struct owner_ref *owner = group->object ? meta_controller(group->object->meta) : NULL;

        if (owner && !strcmp(owner->uid, job_uid))
            return group;
    }
    return NULL;
}

static bool is_whole(const struct team *team)
{
    struct team_job *job, *next;
    const struct group *group;

    HASH_ITER(hh, team->jobs, job, next)
    if (!mate_of(team, job->uid))
        return false;
    LIST_FOREACH(group, &team->mates, mate)
    if (group->stage == GROUP_WAITING && (!group->queue || !group->queue->open))
        return false;
    return true;
}

void team_review(struct team *team)
{
    bool whole = is_whole(team);
    struct group *group;

    if (whole == team->whole)
        return;
    team->whole = whole;
    LIST_FOREACH(group, &team->mates, mate)
    group_touch(group);
}

struct amount team_need(const struct team *team)
{
    struct amount sum = {0};
    const struct group *group;

    LIST_FOREACH(group, &team->mates, mate)
    if (group->stage == GROUP_WAITING)
        sum = amount_add(sum, group_reserve(group));
    return sum;
}

/* What those that wait in one queue need. */
static struct amount need_in(const struct team *team, const struct queue *queue)
{
    struct amount sum = {0};
    const struct group *group;

    LIST_FOREACH(group, &team->mates, mate)
    if (group->stage == GROUP_WAITING && group->queue == queue)
        sum = amount_add(sum, group_reserve(group));
    return sum;
}

struct queue *team_limiter(const struct team *team, bool ever)
{
    const struct group *group;

    LIST_FOREACH(group, &team->mates, mate)
    {
        struct amount need = need_in(team, group->queue);
        struct queue *limiter =
            ever ? queue_never(group->queue, need) : queue_full(group->queue, need);

        if (group->stage == GROUP_WAITING && limiter)
            return limiter;
    }
    return NULL;
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
