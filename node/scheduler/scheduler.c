/*
 * The scheduler's life, and what administrators change: nodes, queues, priority classes.
 */
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "node/scheduler/internal.h"

/* Nodes: an administrator's event, it may look at every pod. */

static void node_changed(struct cluster_watcher *watcher, enum cluster_change change,
                         const struct object *old, const struct object *object)
{
    struct scheduler *s = container_of(watcher, struct scheduler, node_watcher);
    struct member *member, *next;

    if (!places_see(&s->places, object_name(object), change == CHANGE_DELETED ? NULL : object))
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

/* Queues and priority classes. */

static bool in_class(const struct group *group, const char *class_name)
{
    const char *own = group->object ? podgroup_spec_of(group->object)->priority_class : NULL;

    return own && strcmp(own, class_name) == 0;
}

/* Administrators' events: they may look at every group. Either of the two reasons is NULL. */
static void reload_groups(struct scheduler *s, const struct queue *queue, const char *class_name)
{
    struct group *group, *next;

    HASH_ITER(hh, s->groups, group, next)
    {
        if (!(queue && (group->queue == queue || group->hopeless)) &&
            !(class_name && in_class(group, class_name)))
            continue;
        group->hopeless = false;
        if (group->object && group->stage == GROUP_WAITING)
            group_see(group, group->object);
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

/* Start and stop. */

/* Requests may be promised three times over, named resources only once. */
static struct amount ahead_of(struct amount capacity)
{
    struct amount ahead = capacity;

    ahead.cpu_milli =
        capacity.cpu_milli >= AMOUNT_UNLIMITED / 3 ? AMOUNT_UNLIMITED : 3 * capacity.cpu_milli;
    ahead.memory_bytes = capacity.memory_bytes >= AMOUNT_UNLIMITED / 3 ? AMOUNT_UNLIMITED
                                                                       : 3 * capacity.memory_bytes;
    ahead.pods += scheduler_ahead(capacity.pods);
    return ahead;
}

/* The present must be known before the first decision: a watch tells it piece by piece. */
static void see_queue(void *arg, const struct object *object)
{
    queue_changed(&((struct scheduler *)arg)->queue_watcher, CHANGE_ADDED, NULL, object);
}

static void see_node(void *arg, const struct object *object)
{
    places_see(&((struct scheduler *)arg)->places, object_name(object), object);
}

static void see_pod(void *arg, const struct object *object)
{
    scheduler_pod_changed(&((struct scheduler *)arg)->pod_watcher, CHANGE_ADDED, NULL, object);
}

static void see_group(void *arg, const struct object *object)
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
    scheduler_figures_init(&s->figures, loop_metrics(cluster->loop));
    places_init(&s->places, options->places, options->n_places, &options->extras);
    s->ahead_capacity = ahead_of(s->places.capacity);
    LIST_INIT(&s->victims);
    s->pass.run = scheduler_pass;
    s->tell.fire = scheduler_tell;
    s->refusal.fire = scheduler_refusal_due;
    s->retry.fire = scheduler_retry;
    s->cooled.fire = scheduler_cooled;
    s->touched_tail = &s->touched;
    TAILQ_INIT(&s->dirty);
    queues_init(&s->queues, s->places.capacity, &s->places.extras, group_before);

    cluster_each(cluster, &kind_node, NULL, see_node, s);
    cluster_each(cluster, &kind_queue, NULL, see_queue, s);
    cluster_each(cluster, &kind_pod_group, NULL, see_group, s);
    cluster_each(cluster, &kind_pod, NULL, see_pod, s);
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
    teams_release(s);
    queues_release(&s->queues);
    places_release(&s->places);
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
    return &s->places.extras;
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
    timer_stop(s->cluster->loop, &s->tell);
    timer_stop(s->cluster->loop, &s->refusal);
    timer_stop(s->cluster->loop, &s->retry);
    timer_stop(s->cluster->loop, &s->cooled);
    s->stopped = true;
    if (!s->calls)
        release(s);
}
