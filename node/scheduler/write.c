/*
 * What the scheduler writes: a pod's node, a group's phase, why a pod has no place.
 *
 * Each record has one call under way at most. A phase that nobody waits for is written a little
 * later, if it still differs then: a step of one short pod costs its group a single write, for its
 * job removes the group as soon as it is over.
 */
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/scheduler/internal.h"

/* Bindings. */

static const struct object *current(struct cluster *cluster, const struct kind *kind,
                                    const struct meta *meta)
{
    const struct object *object = cluster_get(cluster, kind, meta->namespace, meta->name);

    return object && strcmp(object_uid(object), meta->uid) == 0 ? object : NULL;
}

/* The answer can be lost where the write was not: what counts is the object. */
static bool is_bound(struct member *member)
{
    const struct object *pod = current(member->scheduler->cluster, &kind_pod, member->meta);
    const char *node = pod ? pod_spec_of(pod)->node_name : NULL;

    return node && *node;
}

static void bound(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct member *member = container_of(call, struct member, call);
    struct scheduler *s = member->scheduler;

    member->writing = false;
    if (member->gone) {
        member_drop(member);
    } else if (s->stopped || !err || err->code == ERR_NOT_FOUND || is_bound(member)) {
        ; /* its next change comes as an event */
    } else if (err->code == ERR_CONFLICT) {
        member_move(member, MEMBER_PENDING, member->deleting); /* the pass sees what it is now */
    } else {
        log_warn("pod could not be bound", kv_str("pod", member->meta->name),
                 kv_str("error", err->message));
        member->bind_failed = true;
        if (!timer_armed(&s->retry))
            timer_start(s->cluster->loop, &s->retry, RETRY_DELAY_MS);
    }
    scheduler_call_done(s);
}

void scheduler_retry(struct timer *timer)
{
    struct scheduler *s = container_of(timer, struct scheduler, retry);
    struct member *member, *next;

    HASH_ITER(hh, s->members, member, next)
    {
        if (member->bind_failed && !is_bound(member))
            member_move(member, MEMBER_PENDING, member->deleting);
        member->bind_failed = false;
    }
}

void member_bind(struct member *member)
{
    struct scheduler *s = member->scheduler;
    const struct object *pod = current(s->cluster, &kind_pod, member->meta);

    member_move(member, MEMBER_BOUND, member->deleting);
    if (!pod || member->writing)
        return; /* its removal is on the way */
    member->writing = true;
    member->call.done = bound;
    s->calls++;
    cluster_update(s->cluster, &member->call,
                   object_with_body(pod, binder_body(&s->places.items[member->place].binder, pod)));
}

/* Evictions. */

static void evicted(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct member *member = container_of(call, struct member, call);
    struct scheduler *s = member->scheduler;

    member->writing = false;
    if (member->gone) {
        member_drop(member);
    } else if (!s->stopped && err && err->code != ERR_NOT_FOUND) {
        log_warn("pod could not be pushed out", kv_str("pod", member->meta->name),
                 kv_str("error", err->message));
        member_unevict(member);
    }
    scheduler_call_done(s);
}

void member_evict(struct member *member, const char *reason, const char *why)
{
    struct scheduler *s = member->scheduler;
    const struct object *pod = current(s->cluster, &kind_pod, member->meta);

    member_mark_evicted(member);
    scheduler_figures_evicted(member->group, reason);
    if (!pod)
        return; /* its removal is on the way */
    cluster_event(s->cluster, pod, EVENT_WARNING, reason, SCHEDULER_COMPONENT, "%s", why);
    member->writing = true;
    member->call.done = evicted;
    s->calls++;
    cluster_remove(s->cluster, &member->call, &kind_pod, member->meta->namespace,
                   member->meta->name,
                   &(struct cluster_removal){.uid = member->meta->uid, .grace_s = -1});
}

void member_tell_unschedulable(struct member *member, const char *message)
{
    struct scheduler *s = member->scheduler;
    const struct object *pod = current(s->cluster, &kind_pod, member->meta);
    struct pod_status status = {
        .phase = POD_PENDING, .unschedulable = message, .gated = member->gated};

    if (!pod || member->unschedulable == message ||
        (member->unschedulable && message && strcmp(member->unschedulable, message) == 0))
        return;
    mem_free(member->unschedulable);
    member->unschedulable = mem_strdup(message);
    cluster_update_status(s->cluster, NULL, pod, pod_status_blob(&status));
}

/* Phases. */

static void told(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct group *group = container_of(call, struct group, call);
    struct scheduler *s = group->scheduler;

    group->writing = false;
    if (!s->stopped) {
        if (err && err->code != ERR_NOT_FOUND)
            group->told.phase = PODGROUP_PHASE_N; /* not told: differs from whatever is so */
        group_touch(group);
    }
    scheduler_call_done(s);
}

static bool is_unschedulable(const struct group_told *told)
{
    return told->condition && strcmp(told->condition, "Unschedulable") == 0;
}

static void write_status(struct group *group, const struct group_told *now, struct blob *blob)
{
    struct scheduler *s = group->scheduler;
    const struct object *object = current(s->cluster, &kind_pod_group, group->object->meta);

    /* Once for each time it has to wait; the figures in the condition may change meanwhile. */
    if (object && is_unschedulable(now) && !is_unschedulable(&group->told))
        cluster_event(s->cluster, object, EVENT_WARNING, "Unschedulable", SCHEDULER_COMPONENT, "%s",
                      now->message);
    mem_free(group->told_message);
    group->told_message = mem_strdup(now->message);
    group->told = *now;
    group->told.message = group->told_message;
    if (!object || object_deleting(object)) {
        blob_unref(blob);
        return;
    }
    group->writing = true;
    group->call.done = told;
    s->calls++;
    cluster_update_status(s->cluster, &group->call, object, blob);
}

static struct group_told told_now(const struct group *group)
{
    struct group_view view = group_view(group);
    struct group_told now = podgroup_told(&view, group->message);

    if (now.condition && group->told.condition && strcmp(now.condition, group->told.condition) == 0)
        now.at_ms = group->told.at_ms;
    if (!now.at_ms)
        now.at_ms = loop_wall_ms(group->scheduler->cluster->loop);
    return now;
}

void group_tell_admitted(struct group *group)
{
    struct scheduler *s = group->scheduler;
    struct group_told now = told_now(group);
    struct group_told plain = {.phase = PODGROUP_INQUEUE};

    if (group->writing)
        return; /* compared again when it is done */
    if (!podgroup_told_equal(&now, &plain)) {
        write_status(group, &now, podgroup_told_blob(&now));
        return;
    }
    if (!s->inqueue)
        s->inqueue = podgroup_told_blob(&plain);
    write_status(group, &plain, blob_ref(s->inqueue));
}

void group_tell_later(struct group *group)
{
    struct scheduler *s = group->scheduler;
    struct group_told now;

    if (!group->object || group->dirty || group->writing)
        return;
    now = told_now(group);
    if (podgroup_told_equal(&now, &group->told))
        return;
    group->dirty = true;
    TAILQ_INSERT_TAIL(&s->dirty, group, telling);
    if (!timer_armed(&s->tell))
        timer_start(s->cluster->loop, &s->tell, TELL_DELAY_MS);
}

void group_tell_no_more(struct group *group)
{
    if (group->dirty)
        TAILQ_REMOVE(&group->scheduler->dirty, group, telling);
    group->dirty = false;
}

void scheduler_tell(struct timer *timer)
{
    struct scheduler *s = container_of(timer, struct scheduler, tell);
    struct group *group;

    while ((group = TAILQ_FIRST(&s->dirty))) {
        struct group_told now;

        group_tell_no_more(group);
        if (group->writing)
            continue;
        now = told_now(group);
        if (!podgroup_told_equal(&now, &group->told))
            write_status(group, &now, podgroup_told_blob(&now));
    }
}
