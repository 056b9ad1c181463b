/*
 * Updates the scheduler's records of groups and members from watch events.
 *
 * An event costs a look-up and some counter updates; all decisions are made in the pass, once per
 * turn.
 */
#include <string.h>

#include "api/types/kinds/job/lifecycle.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/kinds/scheduling/priority_class.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "node/scheduler/internal.h"
#include "node/scheduler/podgroup_controller.h"

/* Bound on the length of namespaces and names, and of uids with a prefix. Admission enforces it. */
enum { NAME_BYTES_MAX = 256 };

/* Names the queue of a pod without a PodGroup. */
#define ANNOTATION_QUEUE_NAME "scheduling.volcano.sh/queue-name"

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
    if (fit_queue_has(&group->queue_item))
        queue_leave(&s->queues, group->queue, &group->queue_item);
    group_end_backfills(group);
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
    if (!group->object && !group->members && !group->touched && !group->writing)
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
    return job && strcmp(object_uid(job), owner->uid) == 0 ? job : NULL;
}

/* Moves the group and its charge to another queue. */
static void set_queue(struct scheduler *s, struct group *group, const char *name)
{
    struct queue *queue = queues_named(&s->queues, name);

    if (queue == group->queue)
        return;
    if (group->charged.pods)
        scheduler_end_backfills(s); /* reservations count what is charged to their queues */
    if (fit_queue_has(&group->queue_item))
        queue_leave(&s->queues, group->queue, &group->queue_item);
    queue_charge(&s->queues, group->queue, group->charged, (struct amount){0});
    group->queue = queue;
    queue_charge(&s->queues, queue, (struct amount){0}, group->charged);
}

static void load_pod(void *arg, const struct object *object)
{
    scheduler_pod_changed(&((struct scheduler *)arg)->pod_watcher, CHANGE_ADDED, NULL, object);
}

/* Loads pods that finished before the group existed; they have no record yet. */
static void load_pods_of_owner(struct scheduler *s, const struct object *group)
{
    const struct owner_ref *owner = meta_controller(group->meta);

    if (owner)
        cluster_each_owned(s->cluster, &kind_pod, owner->uid, load_pod, s);
}

/* Creation times have a resolution of one second, so an object created within the current second
 * counts as created now. */
static int64_t creation_ms(struct scheduler *s, const struct object *object)
{
    int64_t now_ms = loop_wall_ms(s->cluster->loop), created_ms = object->meta->created_at_ms;

    return created_ms && created_ms + 1000 <= now_ms ? created_ms : now_ms;
}

void group_update(struct group *group, const struct object *object)
{
    struct scheduler *s = group->scheduler;
    const struct podgroup_spec *spec = podgroup_spec_of(object);

    /* Leaves the queue, because its position may change; the pass puts it back. */
    if (fit_queue_has(&group->queue_item))
        queue_leave(&s->queues, group->queue, &group->queue_item);
    if (!group->object) {
        group->created_ms = creation_ms(s, object);
        load_pods_of_owner(s, object);
    }
    group_load(group, object, owner_job(s, object), &s->node_set.extras);
    group_clear_refusal(group);
    set_class(s, group, spec->priority_class);
    set_queue(s, group, spec->queue);
    job_gang_enter(group);
    group_touch(group);
}

static bool same_object(const struct group *group, const struct object *object)
{
    return group->object && strcmp(object_uid(group->object), object_uid(object)) == 0;
}

static void unload_group(struct group *group)
{
    job_gang_leave(group);
    group_cancel_report(group);
    group_unload(group);
    group_touch(group);
}

void scheduler_group_changed(struct cluster_watcher *watcher, enum cluster_change change,
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
        unload_group(group); /* the PodGroup was deleted and created again under the same name */
    if (group->object && group->object->body == object->body &&
        group->order == job_queue_priority(object->meta)) {
        object_unref((struct object *)group->object);
        group->object = object_ref(object);
        return;
    }
    group_update(group, object);
}

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
    enum pod_phase phase = pod_status_phase(pod);

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

    /* A pod without a group becomes a group of its own that needs no admission. Its key cannot
     * collide: no object name starts with "#". */
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

static const char *note_of(const struct object *pod, const char *key)
{
    const char *text = meta_annotation(pod->meta, key);

    return text ? text : meta_label(pod->meta, key);
}

static bool is_preemptable(const struct object *pod)
{
    const char *text = note_of(pod, "volcano.sh/preemptable");

    return text && strcmp(text, "true") == 0;
}

static int64_t cooldown_of(const struct object *pod)
{
    const char *text = note_of(pod, "volcano.sh/cooldown-time");
    int64_t ns;

    return text && duration_parse(text, &ns, NULL) && ns > 0 ? ns / 1000000 : 0;
}

/* Computes when the eviction cooldown of a running pod ends.
 * Ref: Volcano pkg/scheduler/plugins/cdp */
static void set_cooled(struct member *member, const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);
    int64_t since_ms = status->scheduled_ms ? status->scheduled_ms : status->start_ms;

    if (!since_ms)
        since_ms = loop_wall_ms(member->scheduler->cluster->loop);
    member->cooled_ms = since_ms + member->cooldown_ms;
}

void member_fit(struct member *member, const struct pod_spec *spec)
{
    scoped_str why = NULL;
    const bool was_gated = member->gated;

    member->gated = json_array_size(spec->scheduling_gates) > 0;
    if (member->gated)
        why = mem_strdup("Scheduling is blocked due to non-empty scheduling gates");
    else
        member->feasible =
            node_set_feasible(&member->scheduler->node_set, spec, member->need, &why);
    if (!why) {
        if (was_gated)
            member_report_unschedulable(member, NULL);
        member_move(member, MEMBER_PENDING, member->deleting);
        return;
    }
    member_move(member, MEMBER_UNFIT, member->deleting);
    member_report_unschedulable(member, why);
    if (member->gated)
        group_refuse(member->group,
                     mem_printf("pod %s has scheduling gates: it waits until they are removed",
                                member->meta->name));
    else
        group_refuse(member->group, mem_printf("pod %s %s", member->meta->name, why));
    group_touch(member->group);
}

static void member_new(struct scheduler *s, const struct object *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod);
    struct member *member = mem_alloc(sizeof *member);

    member->scheduler = s;
    member->meta = meta_ref(pod->meta);
    member->need = node_set_pod_need(&s->node_set, spec);
    member->node_index = node_set_find(&s->node_set, spec->node_name);
    member->preemptable = is_preemptable(pod);
    member->cooldown_ms = member->preemptable ? cooldown_of(pod) : 0;
    member->priority = priority_of(s, spec->priority_class);
    member->sequence = pod->row ? pod->row : pod->meta->created_at_ms;
    member->since = s->stamp;
    member->state = state_of(pod);
    member->deleting = object_deleting(pod);
    if (member->cooldown_ms && member->state == MEMBER_RUNNING)
        set_cooled(member, pod);
    HASH_ADD_KEYPTR(hh, s->members, member->meta->uid, strlen(member->meta->uid), member);
    member->group = group_of_pod(s, pod);
    LIST_INSERT_HEAD(&member->group->all, member, sibling);
    set_task(member, pod);
    group_count(member->group, member, 1);
    if (member->state == MEMBER_PENDING)
        member_fit(member, spec);
    group_touch(member->group);
}

/* Finished pods count only for groups whose object exists. */
static bool counts_finished(struct scheduler *s, const struct object *pod)
{
    const char *name = meta_annotation(pod->meta, ANNOTATION_GROUP_NAME);

    return name && cluster_get(s->cluster, &kind_pod_group, object_namespace(pod), name);
}

void scheduler_pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
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
            return; /* another event follows once the pod has a group */
        if (state < MEMBER_SUCCEEDED || counts_finished(s, object))
            member_new(s, object);
        return;
    }

    bool deleting = object_deleting(object) || member->deleting;

    if (state < member->state || state == MEMBER_PENDING)
        state = member->state;
    if (member->cooldown_ms && state == MEMBER_RUNNING && !member->cooled_ms)
        set_cooled(member, object);
    member_move(member, state, deleting);
    if (member->gated && member->state == MEMBER_UNFIT && old && old->body != object->body)
        member_fit(member, pod_spec_of(object)); /* a scheduling gate may have been removed */
}
