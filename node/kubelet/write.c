/*
 * What the kubelet writes, and what it does once it is on disk.
 *
 *   to_write ─► call under way ─► accepted ─► batch, durable ─► release, start, purge
 *      ▲ replaced by later reports of the same turn
 *
 * A pod has one call under way at most. Everything that was accepted in a turn shares one batch.
 */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/kubelet/internal.h"

enum {
    RETRY_DELAY_MS = 1000,
    AHEAD_MAX = 512, /* pods whose writes are not durable yet */
};

/* Calls. */

static const struct object *current(const struct kubelet_pod *pod)
{
    const struct object *object =
        cluster_get(pod->kubelet->cluster, &kind_pod, pod->meta->namespace_, pod->meta->name);

    return object && strcmp(object_uid(object), pod->meta->uid) == 0 ? object : NULL;
}

static void push(struct kubelet_pod *pod);

static void mark_dirty(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (pod->dirty)
        return;
    pod->dirty = true;
    pod->next_dirty = NULL;
    *k->dirty_tail = pod;
    k->dirty_tail = &pod->next_dirty;
    loop_post(k->cluster->loop, &k->flush);
}

static void try_later(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    pod->retry = true;
    if (!timer_armed(&k->retry))
        timer_start(k->cluster->loop, &k->retry, RETRY_DELAY_MS);
}

/* The write is to be done again, unless there is a newer one or nobody left to write about. */
static void write_refused(struct kubelet_pod *pod, struct blob *written, const struct error *err)
{
    if (err->code == ERR_NOT_FOUND || pod->gone) {
        blob_unref(written);
        return;
    }
    if (pod->to_write)
        blob_unref(written);
    else
        pod->to_write = written;
    if (err->code == ERR_CONFLICT) {
        mark_dirty(pod);
        return;
    }
    if (err->code != ERR_STORAGE) /* the store has told of it, once */
        log_warn("pod status could not be written", kv_str("pod", pod->meta->name),
                 kv_str("error", err->message));
    try_later(pod);
}

static void status_done(struct cluster_call *call, const struct object *result,
                        const struct error *err)
{
    struct kubelet_pod *pod = container_of(call, struct kubelet_pod, call);
    struct kubelet *k = pod->kubelet;
    struct blob *written = take(pod->written);

    if (k->stopped) {
        blob_unref(written);
    } else if (err) {
        write_refused(pod, written, err);
    } else {
        blob_unref(written);
        if (pod->step == STEP_INTENT || pod->step == STEP_ENDED)
            kubelet_accepted(pod);
        push(pod);
    }
    if (!k->stopped)
        kubelet_pod_settle(pod);
    kubelet_call_done(k);
}

static void removal_done(struct cluster_call *call, const struct object *result,
                         const struct error *err)
{
    struct kubelet_pod *pod = container_of(call, struct kubelet_pod, call);
    struct kubelet *k = pod->kubelet;

    pod->removing = false;
    if (!k->stopped) {
        if (err && err->code != ERR_NOT_FOUND) {
            pod->to_remove = true;
            try_later(pod);
        }
        kubelet_pod_settle(pod);
    }
    kubelet_call_done(k);
}

static void push_status(struct kubelet_pod *pod, const struct object *object)
{
    pod->written = take(pod->to_write);
    pod->call.done = status_done;
    pod->kubelet->calls++;
    cluster_update_status(pod->kubelet->cluster, &pod->call, object, blob_ref(pod->written));
}

static void push_removal(struct kubelet_pod *pod)
{
    const struct cluster_removal how = {.uid = pod->meta->uid, .propagation = PROPAGATE_BACKGROUND};

    pod->to_remove = false;
    pod->removing = true;
    pod->call.done = removal_done;
    pod->kubelet->calls++;
    cluster_remove(pod->kubelet->cluster, &pod->call, &kind_pod, pod->meta->namespace_,
                   pod->meta->name, &how);
}

static void push(struct kubelet_pod *pod)
{
    const struct object *object;

    if (pod->written || pod->removing || (!pod->to_write && !pod->to_remove))
        return;
    object = pod->gone ? NULL : current(pod);
    if (!object) {
        blob_unref(take(pod->to_write));
        pod->to_remove = false;
        return;
    }
    if (pod->to_write)
        push_status(pod, object);
    else
        push_removal(pod);
}

void kubelet_flush_run(struct task *task)
{
    struct kubelet *k = container_of(task, struct kubelet, flush);
    struct kubelet_pod *pod = k->dirty;

    k->dirty = NULL;
    k->dirty_tail = &k->dirty;
    while (pod) {
        struct kubelet_pod *next = pod->next_dirty;

        pod->dirty = false;
        push(pod);
        kubelet_pod_settle(pod);
        pod = next;
    }
}

void kubelet_retry(struct timer *timer)
{
    struct kubelet *k = container_of(timer, struct kubelet, retry);
    struct kubelet_pod *pod, *next;

    HASH_ITER(hh, k->pods, pod, next)
    {
        if (pod->retry)
            mark_dirty(pod);
        pod->retry = false;
    }
}

void kubelet_write(struct kubelet_pod *pod, struct blob *status)
{
    blob_unref(pod->to_write);
    pod->to_write = status;
    mark_dirty(pod);
}

void kubelet_remove(struct kubelet_pod *pod)
{
    pod->to_remove = true;
    mark_dirty(pod);
}

/* Durability. */

void kubelet_accepted(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (pod->batched) {
        pod->accepted_again = true;
        return;
    }
    if (pod->accepted)
        return;
    pod->accepted = true;
    pod->next_accepted = NULL;
    *k->accepted_tail = pod;
    k->accepted_tail = &pod->next_accepted;
    loop_post(k->cluster->loop, &k->collect);
}

static void now_durable(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (pod->gone) {
        pod->gone_durable = true;
    } else if (pod->step == STEP_INTENT && !pod->written && !pod->to_write) {
        pod->step = STEP_READY;
    } else if (pod->step == STEP_ENDED && !pod->written && !pod->to_write) {
        pod->step = STEP_RELEASED;
        if (pod->to_runtime)
            k->runtime->ops->release(k->runtime, pod->meta->uid);
    }
}

static void batch_durable(struct task *task)
{
    struct kubelet_batch *batch = container_of(task, struct kubelet_batch, task);
    struct kubelet *k = batch->kubelet;
    struct kubelet_pod *pod = batch->first;

    LIST_REMOVE(batch, all);
    if (batch->durable)
        k->ahead = 0;
    mem_free(batch);
    while (pod) {
        struct kubelet_pod *next = pod->next_accepted;

        pod->batched = false;
        if (pod->accepted_again) {
            pod->accepted_again = false;
            kubelet_accepted(pod);
        } else {
            now_durable(pod);
        }
        kubelet_pod_settle(pod);
        pod = next;
    }
    kubelet_pump_run(&k->pump);
}

/* A simulated pod leaves no trace outside: its start need not be durable first, a crash forgets it
 * together with its intent. How far it runs ahead of the disk is bounded, for what is not durable
 * yet is kept in memory. */
static bool may_run_ahead(struct kubelet *k, size_t pods)
{
    if (!k->options.volumes.sim)
        return false;
    k->ahead += pods;
    return k->ahead < AHEAD_MAX;
}

void kubelet_collect_run(struct task *task)
{
    struct kubelet *k = container_of(task, struct kubelet, collect);
    struct kubelet_batch *batch;
    size_t pods = 0;

    if (!k->accepted)
        return;
    batch = mem_alloc(sizeof *batch);
    batch->kubelet = k;
    batch->task.run = batch_durable;
    batch->first = k->accepted;
    LIST_INSERT_HEAD(&k->batches, batch, all);
    for (struct kubelet_pod *pod = batch->first; pod; pod = pod->next_accepted) {
        pod->accepted = false;
        pod->batched = true;
        pods++;
    }
    k->accepted = NULL;
    k->accepted_tail = &k->accepted;
    if (may_run_ahead(k, pods)) {
        loop_post(k->cluster->loop, &batch->task);
        return;
    }
    batch->durable = true;
    cluster_when_durable(k->cluster, &batch->task);
    if (kubelet_slot_waits(k))
        cluster_hurry(k->cluster);
}

void kubelet_forget_batches(struct kubelet *k)
{
    struct kubelet_batch *batch;

    while ((batch = LIST_FIRST(&k->batches))) {
        LIST_REMOVE(batch, all);
        cluster_forget(k->cluster, &batch->task);
        mem_free(batch);
    }
}
