/*
 * The judgement of earlier lives. What one left behind, once the runtime has told what it found:
 *
 *   final status                    release what the runtime still keeps of it, once it has told it
 *   found by the runtime            goes on; its reports follow
 *   intent, never seen running      this boot: never started, start it; an earlier boot: lost
 *   seen running, but not found     lost: Failed, never 0 (P-09)
 *   no intent                       queued like a new one
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/kubelet/internal.h"

void kubelet_pod_found(void *ctx, const char *uid)
{
    struct kubelet *k = ctx;
    struct kubelet_pod *pod = kubelet_pod_of(k, uid);

    if (!pod) {
        /* Its object was deleted while nobody looked. */
        scoped(meta) struct meta *meta =
            meta_new(&(struct meta){.namespace_ = "", .name = uid, .uid = uid});

        pod = kubelet_pod_new(k, meta);
        pod->gone = pod->gone_durable = true;
    }
    pod->found = pod->to_runtime = true;
    kubelet_room_take(pod);
}

void kubelet_let_go(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    pod->step = STEP_RELEASED;
    if (pod->found)
        k->runtime->ops->release(k->runtime, pod->meta->uid);
    if (object_deleting(pod->object))
        kubelet_remove(pod);
    kubelet_pod_settle(pod);
}

static void judge(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;
    bool lost = k->options.machine_restarted || k->runtime->machine_restarted;

    if (pod->step != STEP_ADOPTING)
        return; /* its last report came already */
    if (pod->gone && !pod->found) {
        pod->step = STEP_RELEASED;
        kubelet_pod_settle(pod);
    } else if (!pod->gone && kubelet_pod_ended(pod)) {
        kubelet_room_give(pod);
        if (pod->found && !pod->final)
            pod->step = STEP_STARTED; /* its last report is to come */
        else
            kubelet_let_go(pod);
    } else if (pod->found) {
        pod->step = STEP_STARTED;
        kubelet_ports_take_over(pod);
        if (!pod->gone)
            kubelet_follow(pod);
        if (!pod->gone && pod_spec_of(pod->object)->active_deadline_s.set)
            kubelet_tell_deadline(pod);
        kubelet_stale(pod); /* what it follows may have changed while nobody looked */
        if (!pod->gone && kubelet_may_look_up(pod, pod_spec_of(pod->object)))
            kubelet_join_hosts(pod, pod_spec_of(pod->object));
        hosts_run(pod->kubelet->hosts, &pod->hosts, true);
        if (pod->gone)
            kubelet_stop_started(pod, 0);
        else if (object_deleting(pod->object))
            kubelet_doom(pod);
    } else if (!pod->start_ms) {
        kubelet_arrive(pod);
    } else if (lost || pod->phase == POD_RUNNING) {
        pod->to_runtime = true;
        kubelet_write_failed(pod, lost ? "NodeRestarted" : "SupervisorLost",
                             lost ? "the machine was restarted while the pod had been started"
                                  : "the pod was running, and nothing is left of it or its end");
    } else if (object_deleting(pod->object)) {
        pod->step = STEP_READY;
        kubelet_remove(pod);
    } else {
        kubelet_enqueue_ready(pod);
    }
}

/* Those with an intent first, then in the order of their creation. */
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
        judge(pods[i]);
    mem_free(pods);
    log_info("pods of an earlier life adopted", kv_int("pods", (int64_t)n));
    if (k->options.adopted)
        k->options.adopted(k->options.ctx);
    kubelet_pump(k);
}
