/*
 * The start queue, and the pods that are blocked.
 *
 *   READY READY INTENT INTENT │ QUEUED QUEUED …
 *   └ served from here        └ first_queued: the next to get an intent
 *
 * A blocked pod has its intent already and goes to the front once it is unblocked, so pods with an
 * intent always come first. A pod that waits for its commit or for capacity makes those behind it
 * wait too: the order makes a gang start as a whole.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "node/kubelet/internal.h"

void kubelet_take_capacity(struct kubelet_pod *pod)
{
    if (pod->uses_capacity)
        return;
    pod->uses_capacity = true;
    pod->kubelet->used = amount_add(pod->kubelet->used, pod->need);
}

void kubelet_give_capacity(struct kubelet_pod *pod)
{
    if (!pod->uses_capacity)
        return;
    pod->uses_capacity = false;
    pod->kubelet->used = amount_minus(pod->kubelet->used, pod->need);
    kubelet_post_starts(pod->kubelet);
}

/* A pod larger than the node would wait forever, so it runs when no other does. */
static bool fits(const struct kubelet *k, const struct kubelet_pod *pod)
{
    return !k->used.pods || amount_within(amount_add(k->used, pod->need), k->options.capacity);
}

void kubelet_post_starts(struct kubelet *k)
{
    loop_post(k->cluster->loop, &k->starts);
}

void kubelet_enqueue(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    pod_step_set(&pod->step, STEP_QUEUED);
    TAILQ_INSERT_TAIL(&k->queue, pod, queue);
    if (!k->first_queued)
        k->first_queued = pod;
    kubelet_post_starts(k);
}

void kubelet_enqueue_ready(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    pod_step_set(&pod->step, STEP_READY);
    k->intents++;
    if (k->first_queued)
        TAILQ_INSERT_BEFORE(k->first_queued, pod, queue);
    else
        TAILQ_INSERT_TAIL(&k->queue, pod, queue);
    kubelet_post_starts(k);
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

    if (k->first_queued == pod)
        k->first_queued = TAILQ_NEXT(pod, queue);
    if (pod->step != STEP_QUEUED)
        k->intents--;
    TAILQ_REMOVE(&k->queue, pod, queue);
}

void kubelet_dequeue(struct kubelet_pod *pod)
{
    if (pod->step == STEP_BLOCKED) {
        leave_blocker(pod);
    } else if (pod->step == STEP_QUEUED || pod->step == STEP_INTENT || pod->step == STEP_READY) {
        leave_queue(pod);
        kubelet_post_starts(pod->kubelet);
    } else {
        return;
    }
    pod_step_set(&pod->step, STEP_DELETING);
}

bool kubelet_slot_waits_for_intent(const struct kubelet *k)
{
    const struct kubelet_pod *pod = TAILQ_FIRST(&k->queue);

    return pod && pod->step == STEP_INTENT && fits(k, pod);
}

/* Writes as many intents in advance as options.intents_ahead allows, so that they are durable when
 * a slot is free. */
static void write_intents(struct kubelet *k)
{
    while (k->first_queued && k->intents < k->options.intents_ahead) {
        struct kubelet_pod *pod = k->first_queued;

        k->first_queued = TAILQ_NEXT(pod, queue);
        k->intents++;
        pod_step_set(&pod->step, STEP_INTENT);
        kubelet_write_intent(pod);
    }
}

static void start_ready(struct kubelet *k)
{
    struct kubelet_pod *pod;

    while ((pod = TAILQ_FIRST(&k->queue)) && pod->step == STEP_READY && fits(k, pod)) {
        leave_queue(pod);
        kubelet_start_pod(pod);
    }
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
    struct kubelet_pod *pod, *after = NULL;

    HASH_FIND(hh, k->blockers, key, strlen(key), blocker);
    if (!blocker)
        return;
    while ((pod = STAILQ_FIRST(&blocker->pods))) {
        STAILQ_REMOVE_HEAD(&blocker->pods, next_blocked);
        pod->blocker = NULL;
        pod_step_set(&pod->step, STEP_READY);
        k->intents++;
        if (after)
            TAILQ_INSERT_AFTER(&k->queue, after, pod, queue);
        else
            TAILQ_INSERT_HEAD(&k->queue, pod, queue);
        after = pod;
    }
    kubelet_free_blocker(k, blocker);
    kubelet_post_starts(k);
}

void kubelet_unblock_object(struct kubelet *k, const struct object *object)
{
    char key[KEY_MAX];

    if (!k->blockers)
        return;
    object_key(key, object->kind, object_namespace(object), object_name(object));
    kubelet_unblock(k, key);
}
