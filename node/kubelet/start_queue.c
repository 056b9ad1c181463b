/*
 * The start queue, and the pods that are blocked.
 *
 *   READY READY INTENT INTENT │ QUEUED QUEUED …
 *                             └ unlooked: the next to get an intent
 *
 * Pods start in the order in which they joined the queue. A blocked pod keeps its place for the
 * time when it is unblocked. A pod that finds no room lets later ones pass that do. After
 * PASSING_MS room is kept for it (node/machine/backfill.h). The scheduler binds no more than there
 * is room for, so this happens only if pods are bound past it, or if the node has become smaller. A
 * pod whose intent is on the way to the disk makes those behind it wait: the order makes a gang
 * start as a whole.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "node/kubelet/internal.h"

enum { PASSING_MS = 10000 };

bool kubelet_starts_before(const struct fit_item *a, const struct fit_item *b)
{
    return container_of(a, struct kubelet_pod, start_item)->start_order <
           container_of(b, struct kubelet_pod, start_item)->start_order;
}

static struct kubelet_pod *pod_of(const struct fit_item *item)
{
    return item ? container_of(item, struct kubelet_pod, start_item) : NULL;
}

void kubelet_take_capacity(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (pod->uses_capacity)
        return;
    pod->uses_capacity = true;
    pod->uses_since = k->stamp;
    k->used = amount_add(k->used, pod->need);
    backfill_count(&k->backfill, pod->need, pod->uses_since);
}

void kubelet_give_capacity(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;
    struct amount none = {0};

    if (!pod->uses_capacity)
        return;
    pod->uses_capacity = false;
    k->used = amount_minus(k->used, pod->need);
    kubelet_give_back_devices(pod);
    backfill_count(&k->backfill, amount_minus(none, pod->need), pod->uses_since);
    kubelet_post_starts(k);
}

void kubelet_post_starts(struct kubelet *k)
{
    loop_post(k->cluster->loop, &k->starts);
}

/* Returns whether there is room for the pod now. A pod larger than the node would wait forever, so
 * it runs when no other does. */
static bool fits(const struct kubelet *k, const struct kubelet_pod *pod)
{
    return !k->used.pods || amount_fits(pod->need, k->used, k->options.capacity);
}

/* Handles the first pod of the queue that waits for room. Keeps room for it once it has waited long
 * enough. */
static void keep_room(struct kubelet *k, const struct kubelet_pod *first)
{
    int64_t now_ms = loop_wall_ms(k->cluster->loop);
    bool can_fit = amount_within(first->need, k->options.capacity);

    if (k->waits != first)
        k->waits_since_ms = now_ms;
    k->waits = first;
    if (k->backfill.head != first && now_ms - k->waits_since_ms >= PASSING_MS)
        backfill_begin(&k->backfill, first, can_fit ? first->need : amount_unlimited(), ++k->stamp);
}

/* Returns the pod to start next, the first one that has room, or NULL. */
static struct kubelet_pod *next_pod(struct kubelet *k)
{
    struct kubelet_pod *first = pod_of(fit_queue_first(&k->queue));
    struct amount room = amount_minus(k->options.capacity, k->used);

    if (!first || fits(k, first))
        return first;
    if (room.pods <= 0)
        return NULL;
    keep_room(k, first);
    if (k->backfill.head == first)
        room = amount_min(room, backfill_room(&k->backfill, k->options.capacity));
    return pod_of(fit_queue_find(&k->queue, &first->start_item, room));
}

static void join_queue(struct kubelet_pod *pod, enum pod_step step)
{
    struct kubelet *k = pod->kubelet;

    pod_step_set(&pod->step, step);
    if (!pod->start_order)
        pod->start_order = ++k->last_order;
    fit_queue_add(&k->queue, &pod->start_item, pod->need);
    if (step == STEP_READY)
        k->intents++;
    else if (!k->unlooked)
        k->unlooked = &pod->start_item;
    kubelet_post_starts(k);
}

void kubelet_enqueue(struct kubelet_pod *pod)
{
    join_queue(pod, STEP_QUEUED);
}

void kubelet_enqueue_ready(struct kubelet_pod *pod)
{
    join_queue(pod, STEP_READY);
}

static void leave_blocker(struct kubelet_pod *pod)
{
    struct blocker *blocker = pod->blocker;

    STAILQ_REMOVE(&blocker->pods, pod, kubelet_pod, next_blocked);
    pod->blocker = NULL;
    if (STAILQ_EMPTY(&blocker->pods))
        kubelet_free_blocker(pod->kubelet, blocker);
}

static void leave_queue(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (k->unlooked == &pod->start_item)
        k->unlooked = fit_queue_next(&pod->start_item);
    if (k->waits == pod)
        k->waits = NULL;
    if (k->backfill.head == pod)
        backfill_end(&k->backfill);
    if (pod->step != STEP_QUEUED)
        k->intents--;
    fit_queue_remove(&k->queue, &pod->start_item);
}

void kubelet_dequeue(struct kubelet_pod *pod)
{
    if (pod->step == STEP_BLOCKED) {
        leave_blocker(pod);
    } else if (pod->step == STEP_QUEUED || pod->step == STEP_INTENT || pod->step == STEP_READY) {
        leave_queue(pod);
        kubelet_post_starts(pod->kubelet);
    } else if (pod->step == STEP_DEVICES) {
        kubelet_give_capacity(pod);
    } else {
        return;
    }
    pod_step_set(&pod->step, STEP_DELETING);
}

bool kubelet_slot_waits_for_intent(struct kubelet *k)
{
    const struct kubelet_pod *pod = next_pod(k);

    return pod && pod->step == STEP_INTENT;
}

static void write_intent(struct kubelet_pod *pod)
{
    pod->kubelet->intents++;
    pod_step_set(&pod->step, STEP_INTENT);
    kubelet_write_intent(pod);
}

/* Writes as many intents in advance as options.intents_ahead allows, so that they are durable when
 * there is room for the pods. */
static void write_intents(struct kubelet *k)
{
    while (k->unlooked && k->intents < k->options.intents_ahead) {
        struct kubelet_pod *pod = pod_of(k->unlooked);

        k->unlooked = fit_queue_next(k->unlooked);
        if (pod->step == STEP_QUEUED)
            write_intent(pod);
    }
}

static void start_ready(struct kubelet *k)
{
    struct kubelet_pod *pod;

    while ((pod = next_pod(k)) && pod->step == STEP_READY) {
        leave_queue(pod);
        if (!kubelet_take_devices(pod))
            kubelet_start_pod(pod);
    }
    if (pod && pod->step == STEP_QUEUED)
        write_intent(pod); /* the pod passes those that have an intent already */
}

void kubelet_run_starts(struct task *task)
{
    struct kubelet *k = container_of(task, struct kubelet, starts);

    if (!k->adopted)
        return;
    start_ready(k);
    write_intents(k);
}

enum { KEY_MAX = 600 };

static void object_key(char key[KEY_MAX], const struct kind *kind, const char *ns, const char *name)
{
    snprintf(key, KEY_MAX, "%s/%s/%s", kind->plural, ns, name);
}

void kubelet_block(struct kubelet_pod *pod, const char *key)
{
    struct kubelet *k = pod->kubelet;
    struct blocker *blocker;

    HASH_FIND(hh, k->blockers, key, strlen(key), blocker);
    if (!blocker) {
        blocker = mem_alloc(sizeof *blocker + strlen(key) + 1);
        memcpy(blocker->key, key, strlen(key) + 1);
        STAILQ_INIT(&blocker->pods);
        HASH_ADD_KEYPTR(hh, k->blockers, blocker->key, strlen(key), blocker);
    }
    pod_step_set(&pod->step, STEP_BLOCKED);
    pod->blocker = blocker;
    STAILQ_INSERT_TAIL(&blocker->pods, pod, next_blocked);
}

void kubelet_block_on_object(struct kubelet_pod *pod, const struct resolve_problem *problem)
{
    char key[KEY_MAX];

    object_key(key, problem->kind, pod->meta->namespace, problem->name);
    kubelet_block(pod, key);
}

void kubelet_free_blocker(struct kubelet *k, struct blocker *blocker)
{
    HASH_DELETE(hh, k->blockers, blocker);
    mem_free(blocker);
}

void kubelet_unblock(struct kubelet *k, const char *key)
{
    struct blocker *blocker;
    struct kubelet_pod *pod;

    HASH_FIND(hh, k->blockers, key, strlen(key), blocker);
    if (!blocker)
        return;
    while ((pod = STAILQ_FIRST(&blocker->pods))) {
        STAILQ_REMOVE_HEAD(&blocker->pods, next_blocked);
        pod->blocker = NULL;
        kubelet_enqueue_ready(pod);
    }
    kubelet_free_blocker(k, blocker);
}

void kubelet_unblock_object(struct kubelet *k, const struct object *object)
{
    char key[KEY_MAX];

    if (!k->blockers)
        return;
    object_key(key, object->kind, object_namespace(object), object_name(object));
    kubelet_unblock(k, key);
}
