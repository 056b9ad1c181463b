/*
 * The scheduler's records: groups, members and queues as their objects come, change and go.
 *
 * An event costs a look-up and a few counters; everything else happens in the pass, once per turn.
 */
#include "node/scheduler_impl.h"

#include <string.h>

#include "api/types/pod.h"
#include "base/mem.h"
#include "node/plain_groups.h"

enum { NAME_BYTES_MAX = 256 }; /* of a namespace, an object, a uid with its mark: admission */

#define ANNOTATION_QUEUE_NAME "scheduling.volcano.sh/queue-name" /* of pods without a group */

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *object);

/* Groups. */

void group_touch(struct group *group)
{
    struct scheduler *s = group->scheduler;

    if (group->touched)
        return;
    group->touched = true;
    group->next_touched = NULL;
    *s->touched_tail = group;
    s->touched_tail = &group->next_touched;
    loop_post(s->cluster->loop, &s->pass);
}

static struct group *group_named(struct scheduler *s, const char *ns, const char *name)
{
    size_t ns_len = strlen(ns), name_len = strlen(name), len = ns_len + 1 + name_len;
    char key[2 * NAME_BYTES_MAX];
    struct group *group;

    memcpy(key, ns, ns_len);
    key[ns_len] = '/';
    memcpy(key + ns_len + 1, name, name_len + 1);
    HASH_FIND(hh, s->groups, key, len, group);
    if (!group) {
        group = group_new(s, key);
        HASH_ADD_KEYPTR(hh, s->groups, group->key, len, group);
        group->queue = queues_named(&s->queues, NULL);
    }
    return group;
}

static void forget_group(struct scheduler *s, struct group *group)
{
    if (order_has(&group->place))
        queue_leave(&s->queues, group->queue, &group->place);
    HASH_DELETE(hh, s->groups, group);
    group_free(group);
}

static void drop_finished(struct group *group)
{
    struct member *member = LIST_FIRST(&group->all);

    while (member) {
        struct member *next = LIST_NEXT(member, sibling);

        if (member->state >= MEMBER_SUCCEEDED && !member->writing)
            member_drop(member);
        member = next;
    }
}

void group_drop(struct group *group)
{
    if (group->count[MEMBER_SUCCEEDED] || group->count[MEMBER_FAILED])
        drop_finished(group);
    if (!group->object && !group->members && !group->touched && !group->dirty && !group->writing)
        forget_group(group->scheduler, group);
}

static const struct object *class_named(struct scheduler *s, const char *name)
{
    return name && *name ? cluster_get(s->cluster, &kind_priority_class, "", name) : NULL;
}

static int32_t priority_of(struct scheduler *s, const char *class_name)
{
    const struct object *class = class_named(s, class_name);

    return class ? priority_class_value_of(class) : 0;
}

static void set_class(struct scheduler *s, struct group *group, const char *name)
{
    const struct object *class = class_named(s, name);

    group->priority = class ? priority_class_value_of(class) : 0;
    group->preempts = !class || priority_class_preempts(class);
}

static const struct object *owner_job(struct scheduler *s, const struct object *group)
{
    const struct owner_ref *owner = meta_controller(group->meta);
    const struct object *job;

    if (!owner || strcmp(owner->kind, kind_job.name) != 0)
        return NULL;
    job = cluster_get(s->cluster, &kind_job, object_namespace(group), owner->name);
    return job && !strcmp(object_uid(job), owner->uid) ? job : NULL;
}

/* A charge stays where it is made: it moves with the group to its new queue. */
static void set_queue(struct scheduler *s, struct group *group, const char *name)
{
    struct queue *queue = queues_named(&s->queues, name);

    if (queue == group->queue)
        return;
    if (order_has(&group->place))
        queue_leave(&s->queues, group->queue, &group->place);
    queue_charge(&s->queues, group->queue, group->charged, (struct amount){0});
    group->queue = queue;
    queue_charge(&s->queues, queue, (struct amount){0}, group->charged);
}

static void see_pod(void *arg, const struct object *object)
{
    pod_changed(&((struct scheduler *)arg)->pod_watcher, CHANGE_ADDED, NULL, object);
}

/* Pods that had ended when the group was made (anew) were not remembered. */
static void see_pods_of_owner(struct scheduler *s, const struct object *group)
{
    const struct owner_ref *owner = meta_controller(group->meta);

    if (owner)
        cluster_each_owned(s->cluster, &kind_pod, owner->uid, see_pod, s);
}

static void load_group(struct scheduler *s, struct group *group, const struct object *object)
{
    const struct podgroup_spec *spec = podgroup_spec_of(object);

    /* Its place in the line may change. */
    if (order_has(&group->place))
        queue_leave(&s->queues, group->queue, &group->place);
    if (!group->object)
        see_pods_of_owner(s, object);
    group_load(group, object, owner_job(s, object), &s->places.extras);
    group_clear_refusal(group);
    set_class(s, group, spec->priority_class);
    set_queue(s, group, spec->queue);
    team_enter(group);
    group_touch(group);
}

static bool same_object(const struct group *group, const struct object *object)
{
    return group->object && !strcmp(object_uid(group->object), object_uid(object));
}

static void unload_group(struct group *group)
{
    team_leave(group);
    group_unload(group);
    group_touch(group);
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *object)
{
    struct scheduler *s = container_of(watcher, struct scheduler, group_watcher);
    struct group *group = group_named(s, object_namespace(object), object_name(object));

    if (change == CHANGE_DELETED || object_deleting(object)) {
        if (same_object(group, object))
            unload_group(group);
        group_touch(group);
        return;
    }
    if (group->object && !same_object(group, object))
        unload_group(group); /* made anew under the same name */
    if (group->object && group->object->body == object->body) {
        object_unref((struct object *)group->object);
        group->object = object_ref(object);
        return;
    }
    load_group(s, group, object);
}

/* Members. */

void member_move(struct member *member, enum member_state state, bool deleting)
{
    if (state == member->state && deleting == member->deleting)
        return;
    group_count(member->group, member, -1);
    member->state = state;
    member->deleting = deleting;
    group_count(member->group, member, 1);
    group_touch(member->group);
}

void member_mark_evicted(struct member *member)
{
    member->evicted = true;
    member->scheduler->evicting++;
    member_move(member, member->state, true);
}

void member_unevict(struct member *member)
{
    if (!member->evicted)
        return;
    member->evicted = false;
    member->scheduler->evicting--;
    member_move(member, member->state, false);
}

void member_drop(struct member *member)
{
    struct scheduler *s = member->scheduler;
    struct group *group = member->group;

    if (!member->gone) {
        member->gone = true;
        HASH_DELETE(hh, s->members, member);
        LIST_REMOVE(member, sibling);
        group_count(group, member, -1);
        s->evicting -= member->evicted;
        group_touch(group);
    }
    if (member->writing)
        return;
    meta_unref(member->meta);
    mem_free(member->unschedulable);
    mem_free(member);
}

static enum member_state state_of(const struct object *pod)
{
    static const enum member_state by_phase[POD_PHASE_N] = {
        [POD_PENDING] = MEMBER_BOUND,       [POD_RUNNING] = MEMBER_RUNNING,
        [POD_SUCCEEDED] = MEMBER_SUCCEEDED, [POD_FAILED] = MEMBER_FAILED,
        [POD_UNKNOWN] = MEMBER_BOUND,
    };
    const struct pod_spec *spec = pod_spec_of(pod);
    enum pod_phase phase = pod_status_of(pod)->phase;

    if (phase == POD_PENDING && (!spec->node_name || !*spec->node_name))
        return MEMBER_PENDING;
    return by_phase[phase];
}

static struct group *group_of_pod(struct scheduler *s, const struct object *pod)
{
    const char *name = meta_annotation(pod->meta, ANNOTATION_GROUP_NAME);
    struct group *group;

    if (name && *name && strlen(name) < NAME_BYTES_MAX)
        return group_named(s, object_namespace(pod), name);

    /* A pod on its own is a group of one that needs no admission. No object is named "#…". */
    scoped_str own = mem_printf("#%s", object_uid(pod));

    group = group_named(s, object_namespace(pod), own);
    group->implicit = true;
    group->stage = GROUP_ADMITTED;
    group->sequence = pod->row ? pod->row : pod->meta->created_at_ms;
    set_class(s, group, pod_spec_of(pod)->priority_class);
    set_queue(s, group, meta_annotation(pod->meta, ANNOTATION_QUEUE_NAME));
    return group;
}

static void set_task(struct member *member, const struct object *pod)
{
    const char *task = meta_label(pod->meta, LABEL_TASK_SPEC);

    if (task && !member->group->implicit)
        member->task = group_task_named(member->group, task);
}

static bool is_preemptable(const struct object *pod)
{
    const char *text = meta_annotation(pod->meta, "volcano.sh/preemptable");

    if (!text)
        text = meta_label(pod->meta, "volcano.sh/preemptable");
    return text && !strcmp(text, "true");
}

/* It can go nowhere, or can again. */
static void set_fit(struct member *member, const struct pod_spec *spec)
{
    scoped_str why = NULL;

    member->fits = places_fit(&member->scheduler->places, spec, member->need, &why);
    if (!why) {
        member_move(member, MEMBER_PENDING, member->deleting);
        return;
    }
    member_move(member, MEMBER_UNFIT, member->deleting);
    member_tell_unschedulable(member, why);
    group_refuse(member->group, mem_printf("pod %s %s", member->meta->name, why));
    group_touch(member->group);
}

static void member_new(struct scheduler *s, const struct object *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod);
    struct member *member = mem_alloc(sizeof *member);

    member->scheduler = s;
    member->meta = meta_ref(pod->meta);
    member->need = places_need(&s->places, spec);
    member->place = places_find(&s->places, spec->node_name);
    member->preemptable = is_preemptable(pod);
    member->priority = priority_of(s, spec->priority_class);
    member->sequence = pod->row ? pod->row : pod->meta->created_at_ms;
    member->state = state_of(pod);
    member->deleting = object_deleting(pod);
    HASH_ADD_KEYPTR(hh, s->members, member->meta->uid, strlen(member->meta->uid), member);
    member->group = group_of_pod(s, pod);
    LIST_INSERT_HEAD(&member->group->all, member, sibling);
    set_task(member, pod);
    group_count(member->group, member, 1);
    if (member->state == MEMBER_PENDING)
        set_fit(member, spec);
    group_touch(member->group);
}

/* Only a group whose object exists asks for pods that have ended. */
static bool counts_finished(struct scheduler *s, const struct object *pod)
{
    const char *name = meta_annotation(pod->meta, ANNOTATION_GROUP_NAME);

    return name && cluster_get(s->cluster, &kind_pod_group, object_namespace(pod), name);
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *object)
{
    struct scheduler *s = container_of(watcher, struct scheduler, pod_watcher);
    struct member *member;

    HASH_FIND(hh, s->members, object_uid(object), strlen(object_uid(object)), member);
    if (change == CHANGE_DELETED) {
        if (member)
            member_drop(member);
        return;
    }

    enum member_state state = state_of(object);

    if (!member) {
        if (pod_wants_group(object))
            return; /* it comes again when it has one */
        if (state < MEMBER_SUCCEEDED || counts_finished(s, object))
            member_new(s, object);
        return;
    }

    bool deleting = object_deleting(object) || member->deleting;

    if (state < member->state || state == MEMBER_PENDING)
        state = member->state;
    member_move(member, state, deleting);
}

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
        pod = cluster_get(s->cluster, &kind_pod, member->meta->namespace_, member->meta->name);
        if (pod && !strcmp(object_uid(pod), member->meta->uid))
            set_fit(member, pod_spec_of(pod));
    }
}

/* Queues and priority classes. */

static bool in_class(const struct group *group, const char *class_name)
{
    const char *own = group->object ? podgroup_spec_of(group->object)->priority_class : NULL;

    return own && !strcmp(own, class_name);
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
            load_group(s, group, group->object);
        group_touch(group);
    }
}

static bool only_status_differs(const struct object *old, const struct object *object)
{
    return old && old->body == object->body && !strcmp(queue_state_of(old), queue_state_of(object));
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

static void see_group(void *arg, const struct object *object)
{
    group_changed(&((struct scheduler *)arg)->group_watcher, CHANGE_ADDED, NULL, object);
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
    places_init(&s->places, options->places, options->n_places, &options->extras);
    s->ahead_capacity = ahead_of(s->places.capacity);
    LIST_INIT(&s->victims);
    s->pass.run = scheduler_pass;
    s->tell.fire = scheduler_tell;
    s->refusal.fire = scheduler_refusal_due;
    s->retry.fire = scheduler_retry;
    s->touched_tail = &s->touched;
    s->dirty_tail = &s->dirty;
    queues_init(&s->queues, s->places.capacity, &s->places.extras, group_before);

    cluster_each(cluster, &kind_node, NULL, see_node, s);
    cluster_each(cluster, &kind_queue, NULL, see_queue, s);
    cluster_each(cluster, &kind_pod_group, NULL, see_group, s);
    cluster_each(cluster, &kind_pod, NULL, see_pod, s);
    watch(s, &s->queue_watcher, &kind_queue, queue_changed);
    watch(s, &s->class_watcher, &kind_priority_class, class_changed);
    watch(s, &s->group_watcher, &kind_pod_group, group_changed);
    watch(s, &s->pod_watcher, &kind_pod, pod_changed);
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
    s->stopped = true;
    if (!s->calls)
        release(s);
}
