/*
 * Writes to pod objects, and the steps that wait until a write is durable.
 *
 *   to_write ─► call in flight ─► accepted ─► batch, durable ─► release, start, purge
 *      ▲ replaced by later reports of the same turn
 *
 * The order of writes is mark, status, deletion.
 *
 * A pod has at most one call in flight (enum pod_write). Everything that is accepted in one turn
 * shares one batch (enum pod_commit), so a turn costs one commit however many pods it touched.
 */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/kubelet/internal.h"

enum {
    RETRY_DELAY_MS = 1000,
    AHEAD_MAX = 512, /* bound of simulated pods whose writes are not durable yet */
};

/* Returns the pod's object as it is stored now; NULL when it is deleted. */
static const struct object *current(const struct kubelet_pod *pod)
{
    const struct object *object =
        cluster_get(pod->kubelet->cluster, &kind_pod, pod->meta->namespace, pod->meta->name);

    return object && strcmp(object_uid(object), pod->meta->uid) == 0 ? object : NULL;
}

static void push(struct kubelet_pod *pod);

static void mark_dirty(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (pod->write != WRITE_IDLE && pod->write != WRITE_RETRY)
        return; /* queued already, or the call in flight looks again when it is done */
    pod_write_set(&pod->write, WRITE_QUEUED);
    pod->next_dirty = NULL;
    *k->dirty_tail = pod;
    k->dirty_tail = &pod->next_dirty;
    loop_post(k->cluster->loop, &k->flush);
}

static void try_later(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    pod_write_set(&pod->write, WRITE_RETRY);
    if (!timer_armed(&k->retry))
        timer_start(k->cluster->loop, &k->retry, RETRY_DELAY_MS);
}

/* Writes the status again, unless a newer one is to be written or the object is gone. */
static void write_refused(struct kubelet_pod *pod, struct blob *written, const struct error *err)
{
    if (err->code == ERR_NOT_FOUND || kubelet_pod_gone(pod)) {
        blob_unref(written);
        push(pod); /* drops what was asked for meanwhile */
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
    if (err->code != ERR_STORAGE) /* the store has logged a failure of the disk, once */
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

    pod_write_set(&pod->write, WRITE_IDLE);
    if (k->stopped) {
        blob_unref(written);
    } else if (err) {
        write_refused(pod, written, err);
    } else {
        blob_unref(written);
        if (pod->step == STEP_INTENT || pod->step == STEP_DEVICES || pod->step == STEP_ENDED)
            kubelet_await_durable(pod);
        push(pod);
    }
    if (!k->stopped)
        kubelet_free_if_done(pod);
    kubelet_call_done(k);
}

static void deletion_done(struct cluster_call *call, const struct object *result,
                          const struct error *err)
{
    struct kubelet_pod *pod = container_of(call, struct kubelet_pod, call);
    struct kubelet *k = pod->kubelet;

    pod_write_set(&pod->write, WRITE_IDLE);
    if (!k->stopped) {
        if (err && err->code != ERR_NOT_FOUND) {
            pod->to_delete = true;
            try_later(pod);
        } else if (pod->to_write) {
            mark_dirty(pod); /* a status may have come meanwhile; finalizers may keep the object */
        }
        kubelet_free_if_done(pod);
    }
    kubelet_call_done(k);
}

/* Returns a copy of the stored pod with the mark of the job controller for pods that it replaces.
 * Owned by the caller. */
static struct object *marked(const struct object *pod)
{
    struct meta draft = *pod->meta;
    struct kv *annotations = mem_array(draft.n_annotations + 1, sizeof *annotations);
    struct meta *meta;
    uint32_t n = 0;

    for (uint32_t i = 0; i < draft.n_annotations; i++)
        if (strcmp(draft.annotations[i].key, ANNOTATION_OUT_OF_SYNC) != 0)
            annotations[n++] = draft.annotations[i];
    annotations[n++] = (struct kv){ANNOTATION_OUT_OF_SYNC, "true"};
    draft.annotations = annotations;
    draft.n_annotations = n;
    meta = meta_new(&draft);
    mem_free(annotations);
    return object_with_meta(pod, meta);
}

static void mark_done(struct cluster_call *call, const struct object *result,
                      const struct error *err)
{
    struct kubelet_pod *pod = container_of(call, struct kubelet_pod, call);
    struct kubelet *k = pod->kubelet;

    pod_write_set(&pod->write, WRITE_IDLE);
    if (!k->stopped) {
        pod->to_mark = err && err->code != ERR_NOT_FOUND;
        if (pod->to_mark)
            try_later(pod);
        else
            push(pod);
        kubelet_free_if_done(pod);
    }
    kubelet_call_done(k);
}

static void push_mark(struct kubelet_pod *pod, const struct object *object)
{
    pod_write_set(&pod->write, WRITE_MARK);
    pod->call.done = mark_done;
    pod->kubelet->calls++;
    cluster_update(pod->kubelet->cluster, &pod->call, marked(object));
}

static void push_status(struct kubelet_pod *pod, const struct object *object)
{
    pod_write_set(&pod->write, WRITE_STATUS);
    pod->written = take(pod->to_write);
    pod->call.done = status_done;
    pod->kubelet->calls++;
    cluster_update_status(pod->kubelet->cluster, &pod->call, object, blob_ref(pod->written));
}

static void push_deletion(struct kubelet_pod *pod)
{
    const struct cluster_removal how = {.uid = pod->meta->uid, .propagation = PROPAGATE_BACKGROUND};

    pod_write_set(&pod->write, WRITE_DELETE);
    pod->to_delete = false;
    pod->call.done = deletion_done;
    pod->kubelet->calls++;
    cluster_remove(pod->kubelet->cluster, &pod->call, &kind_pod, pod->meta->namespace,
                   pod->meta->name, &how);
}

static void push(struct kubelet_pod *pod)
{
    const struct object *object;

    if (!pod->to_write && !pod->to_delete)
        return;
    object = kubelet_pod_gone(pod) ? NULL : current(pod);
    if (!object) {
        blob_unref(take(pod->to_write));
        pod->to_delete = false;
        return;
    }
    if (pod->to_mark)
        push_mark(pod, object);
    else if (pod->to_write)
        push_status(pod, object);
    else
        push_deletion(pod);
}

void kubelet_flush_run(struct task *task)
{
    struct kubelet *k = container_of(task, struct kubelet, flush);
    struct kubelet_pod *pod = k->dirty;

    k->dirty = NULL;
    k->dirty_tail = &k->dirty;
    while (pod) {
        struct kubelet_pod *next = pod->next_dirty;

        pod_write_set(&pod->write, WRITE_IDLE);
        push(pod);
        kubelet_free_if_done(pod);
        pod = next;
    }
}

void kubelet_retry(struct timer *timer)
{
    struct kubelet *k = container_of(timer, struct kubelet, retry);
    struct kubelet_pod *pod, *next;

    HASH_ITER(hh, k->pods, pod, next)
    {
        if (pod->write == WRITE_RETRY)
            mark_dirty(pod);
    }
}

void kubelet_write(struct kubelet_pod *pod, struct blob *status)
{
    blob_unref(pod->to_write);
    pod->to_write = status;
    mark_dirty(pod);
}

void kubelet_delete_object(struct kubelet_pod *pod)
{
    pod->to_delete = true;
    mark_dirty(pod);
}

void kubelet_await_durable(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (pod->commit == COMMIT_BATCHED)
        pod_commit_set(&pod->commit, COMMIT_BATCHED_AGAIN);
    if (pod->commit != COMMIT_IDLE)
        return;
    pod_commit_set(&pod->commit, COMMIT_ACCEPTED);
    pod->next_accepted = NULL;
    *k->accepted_tail = pod;
    k->accepted_tail = &pod->next_accepted;
    loop_post(k->cluster->loop, &k->collect);
}

static void now_durable(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    bool written = !pod->written && !pod->to_write;

    if (pod->existence == OBJECT_DELETED) {
        pod_object_set(&pod->existence, OBJECT_DELETED_DURABLY);
    } else if (kubelet_pod_gone(pod)) {
        return;
    } else if (pod->step == STEP_INTENT && written) {
        pod_step_set(&pod->step, STEP_READY);
    } else if (pod->step == STEP_DEVICES && written) {
        kubelet_start_pod(pod);
    } else if (pod->step == STEP_ENDED && written && !pod->run_again) {
        pod_step_set(&pod->step, STEP_RELEASED);
        if (pod->in_runtime)
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
        bool again = pod->commit == COMMIT_BATCHED_AGAIN;

        pod_commit_set(&pod->commit, COMMIT_IDLE);
        if (again)
            kubelet_await_durable(pod);
        else
            now_durable(pod);
        kubelet_free_if_done(pod);
        pod = next;
    }
    kubelet_run_starts(&k->starts);
}

/* A simulated pod leaves no trace outside the store, so it may start before its intent is durable:
 * a crash loses both. The number of such pods is bounded, because changes that are not durable yet
 * are kept in memory. */
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
    bool starts = false; /* a pod of the batch starts as soon as it is durable */
    size_t pods = 0;

    if (!k->accepted)
        return;
    batch = mem_alloc(sizeof *batch);
    batch->kubelet = k;
    batch->task.run = batch_durable;
    batch->first = k->accepted;
    LIST_INSERT_HEAD(&k->batches, batch, all);
    for (struct kubelet_pod *pod = batch->first; pod; pod = pod->next_accepted) {
        pod_commit_set(&pod->commit, COMMIT_BATCHED);
        starts = starts || pod->step == STEP_DEVICES;
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
    if (starts || kubelet_slot_waits_for_intent(k))
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
