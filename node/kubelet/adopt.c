/*
 * Reconciles the pods of a previous run with what the runtime still has, once the runtime has
 * named every pod it found:
 *
 *   final status in its object          released, as soon as the runtime has reported its end
 *   found by the runtime                goes on; its reports follow
 *   intent, not found, never seen       same boot: it was never started, so it is started now;
 *     running                           earlier boot: it is lost
 *   seen running, not found             lost: Failed, never exit code 0 (P-09)
 *   no intent                           queued like a new pod
 *
 * A process may stop a pod before the decision to do so is durable: the disk is full, or the process
 * is killed. The pod then ends although no stored state says that it should. It has not failed: it
 * is deleted with a mark by which its job makes another one, and no policy applies.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/kubelet/internal.h"

void kubelet_pod_found(void *ctx, const char *uid)
{
    struct kubelet *k = ctx;
    struct kubelet_pod *pod = kubelet_find_pod(k, uid);

    if (!pod) {
        /* The pod's object was deleted while no kubelet ran. */
        scoped(meta) struct meta *meta =
            meta_new(&(struct meta){.namespace = "", .name = uid, .uid = uid});

        pod = kubelet_pod_new(k, meta);
        pod_object_set(&pod->existence, OBJECT_DELETED_DURABLY);
    }
    pod->in_runtime = true;
    kubelet_restore_devices(pod);
    kubelet_take_capacity(pod);
}

void kubelet_release_ended(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    pod_step_set(&pod->step, STEP_RELEASED);
    if (pod->in_runtime)
        k->runtime->ops->release(k->runtime, pod->meta->uid);
    if (object_deleting(pod->object))
        kubelet_delete_object(pod);
    kubelet_free_if_done(pod);
}

/* Adopts a pod that runs. Its sources, and what it may look up, may have changed while no kubelet
 * ran. */
static void adopt_running(struct kubelet_pod *pod)
{
    const struct pod_spec *spec = pod->object ? pod_spec_of(pod->object) : NULL;

    pod_step_set(&pod->step, STEP_STARTED);
    kubelet_adopt_ports(pod);
    if (!kubelet_pod_gone(pod)) {
        kubelet_track_sources(pod);
        if (spec->active_deadline_s.set)
            kubelet_send_deadline(pod);
        kubelet_refresh_later(pod);
        if (kubelet_may_look_up(pod, spec))
            kubelet_join_hosts(pod, spec);
    }
    hosts_run(pod->kubelet->hosts, &pod->hosts, true);
    if (kubelet_pod_gone(pod))
        kubelet_stop_started(pod, 0);
    else if (object_deleting(pod->object))
        kubelet_terminate(pod);
}

static void fail_lost(struct kubelet_pod *pod, bool machine_restarted)
{
    pod->in_runtime = true;
    if (machine_restarted)
        kubelet_write_failed(pod, "NodeRestarted",
                             "the machine was restarted while the pod had been started");
    else
        kubelet_write_failed(pod, "SupervisorLost",
                             "the pod was running, and nothing is left of it or its end");
    if (object_deleting(pod->object))
        kubelet_delete_object(pod);
}

static void reconcile(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;
    bool machine_restarted = k->options.machine_restarted || k->runtime->machine_restarted;

    if (pod->step == STEP_ADOPTING_ENDED && kubelet_pod_gone(pod)) {
        pod_step_set(&pod->step, STEP_ENDED);
        kubelet_free_if_done(pod);
    } else if (pod->step == STEP_ADOPTING_ENDED) {
        kubelet_release_ended(pod);
    } else if (pod->step != STEP_ADOPTING) {
        return; /* the pod's last report has come already */
    } else if (kubelet_pod_gone(pod) && !pod->in_runtime) {
        pod_step_set(&pod->step, STEP_RELEASED);
        kubelet_free_if_done(pod);
    } else if (!kubelet_pod_gone(pod) && kubelet_pod_ended(pod)) {
        kubelet_give_capacity(pod);
        if (pod->in_runtime)
            pod_step_set(&pod->step, STEP_STARTED); /* the runtime will report its end again */
        else
            kubelet_release_ended(pod);
    } else if (pod->in_runtime) {
        adopt_running(pod);
    } else if (!pod->start_ms) {
        kubelet_admit(pod);
    } else if (machine_restarted || pod->phase == POD_RUNNING) {
        fail_lost(pod, machine_restarted);
    } else if (object_deleting(pod->object)) {
        pod_step_set(&pod->step, STEP_DELETING);
        kubelet_delete_object(pod);
    } else {
        kubelet_enqueue_ready(pod);
    }
}

/* Compares two pods: those with a start intent come first, then the older ones. */
static int by_age(const void *left, const void *right)
{
    const struct kubelet_pod *a = *(struct kubelet_pod *const *)left;
    const struct kubelet_pod *b = *(struct kubelet_pod *const *)right;
    int64_t row_a = a->object ? a->object->row : 0, row_b = b->object ? b->object->row : 0;

    if (!a->start_ms != !b->start_ms)
        return a->start_ms ? -1 : 1;
    return row_a < row_b ? -1 : row_a > row_b;
}

void kubelet_adoption_done(struct task *task)
{
    struct kubelet *k = container_of(task, struct kubelet, adoption_done);
    size_t n = 0;
    struct kubelet_pod **pods = mem_array(HASH_COUNT(k->pods) + 1, sizeof(struct kubelet_pod *));
    struct kubelet_pod *pod, *next;

    HASH_ITER(hh, k->pods, pod, next)
    pods[n++] = pod;
    qsort(pods, n, sizeof(struct kubelet_pod *), by_age);
    k->adopted = true;
    for (size_t i = 0; i < n; i++)
        reconcile(pods[i]);
    mem_free(pods);
    log_info("pods of a previous run adopted", kv_int("pods", (int64_t)n));
    if (k->options.adopted)
        k->options.adopted(k->options.ctx);
    kubelet_post_starts(k);
}

bool kubelet_stop_was_lost(const struct kubelet_pod *pod, const struct runtime_report *report)
{
    return report->final && report->stopped && !kubelet_pod_gone(pod) &&
           !object_deleting(pod->object) && !kubelet_pod_ended(pod);
}

void kubelet_run_again(struct kubelet_pod *pod, const struct pod_status *status)
{
    struct pod_status stopped = *status;

    log_info("pod was stopped, and the decision was lost: it runs again",
             kv_str("pod", pod->meta->name));
    stopped.phase = POD_RUNNING; /* an ended phase would count as a failure in the pod's job */
    pod->run_again = true;
    pod->to_mark = meta_annotation(pod->meta, ANNOTATION_JOB_VERSION) != NULL;
    kubelet_write_report(pod, &stopped);
    kubelet_delete_object(pod);
}
