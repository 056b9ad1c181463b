/*
 * Starts and stops the scheduler; handles changes of nodes, queues and priority classes.
 */
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "node/scheduler/internal.h"

/* Recomputes which nodes unbound pods fit. Node changes are rare, so it may scan every pod. */

static void node_changed(struct cluster_watcher *watcher, enum cluster_change change,
                         const struct object *old, const struct object *object)
{
    struct scheduler *s = container_of(watcher, struct scheduler, node_watcher);
    struct member *member, *next;

    if (!node_set_update(&s->node_set, object_name(object),
                         change == CHANGE_DELETED ? NULL : object))
        return;
    HASH_ITER(hh, s->members, member, next)
    {
        const struct object *pod;

        if (member->state > MEMBER_PENDING)
            continue;
        pod = cluster_get(s->cluster, &kind_pod, member->meta->namespace, member->meta->name);
        if (pod && strcmp(object_uid(pod), member->meta->uid) == 0)
            member_fit(member, pod_spec_of(pod));
    }
}

static bool in_class(const struct group *group, const char *class_name)
{
    const char *own = group->object ? podgroup_spec_of(group->object)->priority_class : NULL;

    return own && strcmp(own, class_name) == 0;
}

/* Reloads the groups of a changed queue or priority class; the other argument is NULL. Such changes
 * are rare, so it may scan every group. */
static void reload_groups(struct scheduler *s, const struct queue *queue, const char *class_name)
{
    struct group *group, *next;

    HASH_ITER(hh, s->groups, group, next)
    {
        if (!(queue && (group->queue == queue || group->unsatisfiable)) &&
            !(class_name && in_class(group, class_name)))
            continue;
        group->unsatisfiable = false;
        if (group->object && group->stage == GROUP_WAITING)
            group_update(group, group->object);
        group_touch(group);
    }
}

static bool only_status_differs(const struct object *old, const struct object *object)
{
    return old && old->body == object->body &&
           strcmp(queue_state_of(old), queue_state_of(object)) == 0;
}

static void queue_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *object)
{
    struct scheduler *s = container_of(watcher, struct scheduler, queue_watcher);

    if (change == CHANGE_MODIFIED && only_status_differs(old, object))
        return;
    scheduler_end_backfills(s);
    if (change == CHANGE_DELETED)
        queues_unset(&s->queues, object_name(object));
    else
        queues_set(&s->queues, object);
    reload_groups(s, queues_named(&s->queues, object_name(object)), NULL);
    loop_post(s->cluster->loop, &s->pass);
}

static void class_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *object)
{
    struct scheduler *s = container_of(watcher, struct scheduler, class_watcher);

    reload_groups(s, NULL, object_name(object));
}

/* Returns the limit up to which pods are bound before there is room. A pod that is bound ahead has
 * its CPU and memory already and waits only for the end of another pod. So while it waits no other pod could start
 * either, and it is never in the way of a smaller one. */
static struct amount ahead_of(struct amount capacity)
{
    struct amount ahead = capacity;

    ahead.pods += scheduler_ahead(capacity.pods);
    return ahead;
}

/* Loads an existing object at start. All must be loaded before the first decision, because watches
 * deliver them one at a time. */
static void load_queue(void *arg, const struct object *object)
{
    queue_changed(&((struct scheduler *)arg)->queue_watcher, CHANGE_ADDED, NULL, object);
}

static void load_node(void *arg, const struct object *object)
{
    node_set_update(&((struct scheduler *)arg)->node_set, object_name(object), object);
}

static void load_pod(void *arg, const struct object *object)
{
    scheduler_pod_changed(&((struct scheduler *)arg)->pod_watcher, CHANGE_ADDED, NULL, object);
}

static void load_group(void *arg, const struct object *object)
{
    scheduler_group_changed(&((struct scheduler *)arg)->group_watcher, CHANGE_ADDED, NULL, object);
}

static void watch(struct scheduler *s, struct cluster_watcher *watcher, const struct kind *kind,
                  void (*changed)(struct cluster_watcher *, enum cluster_change,
                                  const struct object *, const struct object *))
{
    watcher->kind = kind;
    watcher->changed = changed;
    cluster_watch(s->cluster, watcher);
}

struct scheduler *scheduler_start(struct cluster *cluster, const struct scheduler_options *options)
{
    struct scheduler *s = mem_alloc(sizeof *s);

    s->cluster = cluster;
    scheduler_metrics_init(&s->metrics, loop_metrics(cluster->loop));
    node_set_init(&s->node_set, options->nodes, options->n_nodes, &options->extras);
    s->ahead_capacity = ahead_of(s->node_set.capacity);
    LIST_INIT(&s->victims);
    s->pass.run = scheduler_pass;
    s->report.fire = scheduler_report;
    s->refusal.fire = scheduler_refusal_due;
    s->retry.fire = scheduler_retry;
    s->cooled.fire = scheduler_cooled;
    s->touched_tail = &s->touched;
    TAILQ_INIT(&s->dirty);
    queues_init(&s->queues, s->node_set.capacity, &s->node_set.extras, group_before);

    cluster_each(cluster, &kind_node, NULL, load_node, s);
    cluster_each(cluster, &kind_queue, NULL, load_queue, s);
    cluster_each(cluster, &kind_pod_group, NULL, load_group, s);
    cluster_each(cluster, &kind_pod, NULL, load_pod, s);
    watch(s, &s->queue_watcher, &kind_queue, queue_changed);
    watch(s, &s->class_watcher, &kind_priority_class, class_changed);
    watch(s, &s->group_watcher, &kind_pod_group, scheduler_group_changed);
    watch(s, &s->pod_watcher, &kind_pod, scheduler_pod_changed);
    watch(s, &s->node_watcher, &kind_node, node_changed);
    return s;
}

static void release(struct scheduler *s)
{
    struct member *member, *next_member;
    struct group *group, *next_group;

    HASH_ITER(hh, s->members, member, next_member)
    {
        HASH_DELETE(hh, s->members, member);
        meta_unref(member->meta);
        mem_free(member->unschedulable);
        mem_free(member);
    }
    HASH_ITER(hh, s->groups, group, next_group)
    {
        HASH_DELETE(hh, s->groups, group);
        group_free(group);
    }
    job_gangs_release(s);
    queues_release(&s->queues);
    node_set_release(&s->node_set);
    blob_unref(s->inqueue);
    mem_free(s);
}

void scheduler_call_done(struct scheduler *s)
{
    s->calls--;
    if (s->stopped && !s->calls)
        release(s);
}

struct amount scheduler_queue_used(struct scheduler *s, const char *queue)
{
    return queues_named(&s->queues, queue)->used;
}

const struct resource_names *scheduler_resources(const struct scheduler *s)
{
    return &s->node_set.extras;
}

void scheduler_stop(struct scheduler *s)
{
    if (!s)
        return;
    cluster_unwatch(s->cluster, &s->queue_watcher);
    cluster_unwatch(s->cluster, &s->class_watcher);
    cluster_unwatch(s->cluster, &s->group_watcher);
    cluster_unwatch(s->cluster, &s->pod_watcher);
    cluster_unwatch(s->cluster, &s->node_watcher);
    if (s->job_watcher.changed)
        cluster_unwatch(s->cluster, &s->job_watcher);
    loop_cancel(s->cluster->loop, &s->pass);
    timer_stop(s->cluster->loop, &s->report);
    timer_stop(s->cluster->loop, &s->refusal);
    timer_stop(s->cluster->loop, &s->retry);
    timer_stop(s->cluster->loop, &s->cooled);
    s->stopped = true;
    if (!s->calls)
        release(s);
}
