/*
 * Writes the scheduler's decisions: bindings, evictions, PodGroup statuses and PodScheduled
 * conditions.
 *
 * Each record has at most one call in flight. Status writes are delayed and dropped if the state
 * has changed back. A Job step with one short pod thus costs its group a single write, because the
 * Job deletes the group as soon as the step is over.
 */
#include <string.h>

#include "api/types/kinds/job/lifecycle.h"
#include "api/types/kinds/pod/pod.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/scheduler/internal.h"

static const struct object *current(struct cluster *cluster, const struct kind *kind,
                                    const struct meta *meta)
{
    const struct object *object = cluster_get(cluster, kind, meta->namespace, meta->name);

    return object && strcmp(object_uid(object), meta->uid) == 0 ? object : NULL;
}

/* Returns whether the pod is bound. A failed call may still have stored the binding, so the object
 * decides. */
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
        ; /* the next change of the pod arrives as an event */
    } else if (err->code == ERR_CONFLICT) {
        /* The next pass reads the pod's current state. */
        member_move(member, MEMBER_PENDING, member->deleting);
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
        return; /* the DELETED event of the pod follows */
    member->writing = true;
    member->call.done = bound;
    s->calls++;
    cluster_update(
        s->cluster, &member->call,
        object_with_body(pod, binder_body(&s->node_set.items[member->node_index].binder, pod)));
}

static void evicted(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct member *member = container_of(call, struct member, call);
    struct scheduler *s = member->scheduler;

    member->writing = false;
    if (member->gone) {
        member_drop(member);
    } else if (!s->stopped && err && err->code != ERR_NOT_FOUND) {
        log_warn("pod could not be evicted", kv_str("pod", member->meta->name),
                 kv_str("error", err->message));
        member_unevict(member);
    }
    scheduler_call_done(s);
}

/* Returns the pod with an annotation that tells its job why it is evicted; owned. */
static struct object *with_eviction_reason(const struct object *pod, const char *why)
{
    struct meta meta = *pod->meta;
    struct kv *annotations = mem_array(meta.n_annotations + 1, sizeof *annotations);
    struct meta *next;

    if (meta.n_annotations > 0)
        memcpy(annotations, meta.annotations, meta.n_annotations * sizeof *annotations);
    annotations[meta.n_annotations++] = (struct kv){ANNOTATION_EVICTED, why};
    meta.annotations = annotations;
    next = meta_new(&meta);
    mem_free(annotations);
    return object_with_meta(pod, next);
}

void member_evict(struct member *member, const char *reason, const char *why)
{
    struct scheduler *s = member->scheduler;
    const struct object *pod = current(s->cluster, &kind_pod, member->meta);

    member_mark_evicted(member);
    scheduler_metrics_evicted(member->group, reason);
    if (!pod)
        return; /* the DELETED event of the pod follows */
    cluster_event(s->cluster, pod, EVENT_WARNING, reason, SCHEDULER_COMPONENT, "%s", why);
    if (member->group->object && job_asks_for_eviction_reason(member->group->object->meta))
        cluster_update(s->cluster, NULL, with_eviction_reason(pod, why));
    member->writing = true;
    member->call.done = evicted;
    s->calls++;
    cluster_remove(s->cluster, &member->call, &kind_pod, member->meta->namespace,
                   member->meta->name,
                   &(struct cluster_removal){.uid = member->meta->uid, .grace_s = -1});
}

void member_report_unschedulable(struct member *member, const char *message)
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

static void reported(struct cluster_call *call, const struct object *result,
                     const struct error *err)
{
    struct group *group = container_of(call, struct group, call);
    struct scheduler *s = group->scheduler;

    group->writing = false;
    if (!s->stopped) {
        /* The stored status is unknown; this phase differs from all, so it is written again. */
        if (err && err->code != ERR_NOT_FOUND)
            group->reported.phase = PODGROUP_PHASE_N;
        group_touch(group);
    }
    scheduler_call_done(s);
}

static bool is_unschedulable(const struct group_report *reported)
{
    return reported->condition && strcmp(reported->condition, "Unschedulable") == 0;
}

static void write_status(struct group *group, const struct group_report *now, struct blob *blob)
{
    struct scheduler *s = group->scheduler;
    const struct object *object = current(s->cluster, &kind_pod_group, group->object->meta);

    /* Reports one event per wait, even if amounts in the condition change meanwhile. */
    if (object && is_unschedulable(now) && !is_unschedulable(&group->reported))
        cluster_event(s->cluster, object, EVENT_WARNING, "Unschedulable", SCHEDULER_COMPONENT, "%s",
                      now->message);
    mem_free(group->reported_message);
    group->reported_message = mem_strdup(now->message);
    group->reported = *now;
    group->reported.message = group->reported_message;
    if (!object || object_deleting(object)) {
        blob_unref(blob);
        return;
    }
    group->writing = true;
    group->call.done = reported;
    s->calls++;
    cluster_update_status(s->cluster, &group->call, object, blob);
}

static struct group_report report_now(const struct group *group)
{
    struct group_view view = group_view(group);
    struct group_report now = podgroup_report(&view, group->message);

    if (now.condition && group->reported.condition &&
        strcmp(now.condition, group->reported.condition) == 0)
        now.at_ms = group->reported.at_ms;
    if (!now.at_ms)
        now.at_ms = loop_wall_ms(group->scheduler->cluster->loop);
    return now;
}

void group_report_admitted(struct group *group)
{
    struct scheduler *s = group->scheduler;
    struct group_report now = report_now(group);
    struct group_report plain = {.phase = PODGROUP_INQUEUE};

    if (group->writing)
        return; /* the status is compared again when the call ends */
    if (!podgroup_report_equal(&now, &plain)) {
        write_status(group, &now, podgroup_report_blob(&now));
        return;
    }
    if (!s->inqueue)
        s->inqueue = podgroup_report_blob(&plain);
    write_status(group, &plain, blob_ref(s->inqueue));
}

void group_report_later(struct group *group)
{
    struct scheduler *s = group->scheduler;
    struct group_report now;

    if (!group->object || group->dirty || group->writing)
        return;
    now = report_now(group);
    if (podgroup_report_equal(&now, &group->reported))
        return;
    group->dirty = true;
    TAILQ_INSERT_TAIL(&s->dirty, group, report_entry);
    if (!timer_armed(&s->report))
        timer_start(s->cluster->loop, &s->report, REPORT_DELAY_MS);
}

void group_cancel_report(struct group *group)
{
    if (group->dirty)
        TAILQ_REMOVE(&group->scheduler->dirty, group, report_entry);
    group->dirty = false;
}

void scheduler_report(struct timer *timer)
{
    struct scheduler *s = container_of(timer, struct scheduler, report);
    struct group *group;

    while ((group = TAILQ_FIRST(&s->dirty))) {
        struct group_report now;

        group_cancel_report(group);
        if (group->writing)
            continue;
        now = report_now(group);
        if (!podgroup_report_equal(&now, &group->reported))
            write_status(group, &now, podgroup_report_blob(&now));
    }
}
