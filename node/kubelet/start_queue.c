/*
 * The start queue.
 *
 *   READY READY INTENT INTENT │ QUEUED QUEUED …
 *   └ served from here        └ first_queued: the next to get an intent
 *
 * Pods that come back from a hold already have their intent and go to the front, so those with an
 * intent always come first. An entry that has to wait for its commit, or for room, keeps those
 * behind it waiting: order is what makes a gang start as a whole.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "node/kubelet/internal.h"

/* Room. */

void kubelet_room_take(struct kubelet_pod *pod)
{
    if (pod->has_room)
        return;
    pod->has_room = true;
    pod->kubelet->used = amount_add(pod->kubelet->used, pod->need);
}

void kubelet_room_give(struct kubelet_pod *pod)
{
    if (!pod->has_room)
        return;
    pod->has_room = false;
    pod->kubelet->used = amount_minus(pod->kubelet->used, pod->need);
    kubelet_pump(pod->kubelet);
}

/* A pod larger than the node would wait for ever; alone, it runs. */
static bool has_room_for(const struct kubelet *k, const struct kubelet_pod *pod)
{
    return !k->used.pods || amount_within(amount_add(k->used, pod->need), k->options.capacity);
}

/* The queue. */

void kubelet_pump(struct kubelet *k)
{
    loop_post(k->cluster->loop, &k->pump);
}

void kubelet_enqueue(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    pod->step = STEP_QUEUED;
    pod->queued = true;
    TAILQ_INSERT_TAIL(&k->queue, pod, queue);
    if (!k->first_queued)
        k->first_queued = pod;
    kubelet_pump(k);
}

void kubelet_enqueue_ready(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    pod->step = STEP_READY;
    pod->queued = true;
    k->intents++;
    if (k->first_queued)
        TAILQ_INSERT_BEFORE(k->first_queued, pod, queue);
    else
        TAILQ_INSERT_TAIL(&k->queue, pod, queue);
    kubelet_pump(k);
}

static void leave_hold(struct kubelet_pod *pod)
{
    struct held *held = pod->held;

    STAILQ_REMOVE(&held->pods, pod, kubelet_pod, next_held);
    pod->held = NULL;
    if (STAILQ_EMPTY(&held->pods))
        kubelet_free_held(pod->kubelet, held);
}

void kubelet_dequeue(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (pod->held)
        leave_hold(pod);
    if (!pod->queued)
        return;
    pod->queued = false;
    if (k->first_queued == pod)
        k->first_queued = TAILQ_NEXT(pod, queue);
    if (pod->step != STEP_QUEUED)
        k->intents--;
    TAILQ_REMOVE(&k->queue, pod, queue);
    kubelet_pump(k);
}

bool kubelet_slot_waits(const struct kubelet *k)
{
    const struct kubelet_pod *pod = TAILQ_FIRST(&k->queue);

    return pod && pod->step == STEP_INTENT && has_room_for(k, pod);
}

/* As many intents ahead as may be; they are on disk when their turn comes. */
static void write_intents(struct kubelet *k)
{
    while (k->first_queued && k->intents < k->options.intents_ahead) {
        struct kubelet_pod *pod = k->first_queued;

        k->first_queued = TAILQ_NEXT(pod, queue);
        k->intents++;
        pod->step = STEP_INTENT;
        kubelet_write_intent(pod);
    }
}

static void start_ready(struct kubelet *k)
{
    struct kubelet_pod *pod;

    while ((pod = TAILQ_FIRST(&k->queue)) && pod->step == STEP_READY && has_room_for(k, pod)) {
        k->intents--;
        pod->queued = false;
        TAILQ_REMOVE(&k->queue, pod, queue);
        kubelet_start_pod(pod);
    }
}

void kubelet_pump_run(struct task *task)
{
    struct kubelet *k = container_of(task, struct kubelet, pump);

    if (!k->adopted)
        return;
    start_ready(k);
    write_intents(k);
}

/* Holds. */

enum { KEY_MAX = 600 };

static void held_key(char key[KEY_MAX], const struct kind *kind, const char *ns, const char *name)
{
    snprintf(key, KEY_MAX, "%s/%s/%s", kind->plural, ns, name);
}

void kubelet_hold_for(struct kubelet_pod *pod, const char *key)
{
    struct kubelet *k = pod->kubelet;
    struct held *held;

    HASH_FIND(hh, k->held, key, strlen(key), held);
    if (!held) {
        held = mem_alloc(sizeof *held + strlen(key) + 1);
        memcpy(held->key, key, strlen(key) + 1);
        STAILQ_INIT(&held->pods);
        HASH_ADD_KEYPTR(hh, k->held, held->key, strlen(key), held);
    }
    pod->step = STEP_HELD;
    pod->held = held;
    STAILQ_INSERT_TAIL(&held->pods, pod, next_held);
}

void kubelet_hold(struct kubelet_pod *pod, const struct resolve_problem *problem)
{
    char key[KEY_MAX];

    held_key(key, problem->kind, pod->meta->namespace_, problem->name);
    kubelet_hold_for(pod, key);
}

void kubelet_free_held(struct kubelet *k, struct held *held)
{
    HASH_DELETE(hh, k->held, held);
    mem_free(held);
}

void kubelet_unhold_for(struct kubelet *k, const char *key)
{
    struct held *held;
    struct kubelet_pod *pod, *after = NULL;

    HASH_FIND(hh, k->held, key, strlen(key), held);
    if (!held)
        return;
    while ((pod = STAILQ_FIRST(&held->pods))) {
        STAILQ_REMOVE_HEAD(&held->pods, next_held);
        pod->held = NULL;
        pod->step = STEP_READY;
        pod->queued = true;
        k->intents++;
        if (after)
            TAILQ_INSERT_AFTER(&k->queue, after, pod, queue);
        else
            TAILQ_INSERT_HEAD(&k->queue, pod, queue);
        after = pod;
    }
    kubelet_free_held(k, held);
    kubelet_pump(k);
}

void kubelet_unhold(struct kubelet *k, const struct object *object)
{
    char key[KEY_MAX];

    if (!k->held)
        return;
    held_key(key, object->kind, object_namespace(object), object_name(object));
    kubelet_unhold_for(k, key);
}
