/*
 * Carries out jobRetainPolicy: delete. Once Succeed is stored, the jobs of the flow are deleted by
 * uid, in batches; a job that is gone already is no error. The status keeps what the jobs showed.
 */
#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"

enum { REMOVE_BATCH = 256, RETRY_FIRST_MS = 100 };

struct removal {
    struct cluster_call call;
    struct flow *flow;
};

static bool wants_removal(const struct flow *flow)
{
    return jobflow_spec_of(flow->object)->retain_policy == RETAIN_POLICY_DELETE &&
           !object_deleting(flow->object) && flow->writer.written_phase == FLOW_SUCCEED;
}

static void on_retry(struct timer *timer)
{
    flow_make_runnable(container_of(timer, struct flow, retention.retry));
}

static void retry_later(struct flow *flow)
{
    flow->retention.retry.fire = on_retry;
    timer_start(flow->controller->loop, &flow->retention.retry,
                flow_retry_delay_ms(flow->retention.failures++, RETRY_FIRST_MS));
}

static void on_removed(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct removal *removal = container_of(call, struct removal, call);
    struct flow *flow = removal->flow;

    mem_free(removal);
    flow->retention.in_flight--;
    if (!flow_call_ended(flow))
        return;
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT) {
        log_warn("job of a finished flow not removed",
                 kv_str("namespace", object_namespace(flow->object)),
                 kv_str("flow", object_name(flow->object)), kv_str("reason", err->message));
        retry_later(flow);
    }
    if (!flow->retention.in_flight && !timer_armed(&flow->retention.retry))
        flow_make_runnable(flow);
}

/* References to the jobs of one batch. They are collected first because a removal changes the index
 * that is being walked. */
struct batch {
    const struct flow *flow;
    struct object *jobs[REMOVE_BATCH];
    size_t count;
};

static void visit_job(void *arg, const struct object *job)
{
    struct batch *batch = arg;

    if (batch->count < REMOVE_BATCH && !object_deleting(job) && flow_owns(batch->flow, job))
        batch->jobs[batch->count++] = object_ref(job);
}

static void remove_job(struct flow *flow, const struct object *job)
{
    const struct cluster_removal how = {
        .uid = object_uid(job), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    struct removal *removal = mem_alloc(sizeof *removal);

    removal->call.done = on_removed;
    removal->flow = flow;
    flow->retention.in_flight++;
    flow_call_begun(flow);
    cluster_remove(flow->controller->cluster, &removal->call, &kind_job, object_namespace(job),
                   object_name(job), &how);
}

void flow_apply_retain_policy(struct flow *flow)
{
    struct batch batch = {.flow = flow};

    if (flow->retention.done || flow->retention.in_flight || timer_armed(&flow->retention.retry) ||
        !flow_phase_finished(flow->writer.written_phase) ||
        flow->state.phase != flow->writer.written_phase)
        return;
    if (!wants_removal(flow)) {
        flow->retention.done = true;
        return;
    }
    cluster_each_owned(flow->controller->cluster, &kind_job, flow->uid, visit_job, &batch);
    for (size_t i = 0; i < batch.count; i++) {
        remove_job(flow, batch.jobs[i]);
        object_unref(batch.jobs[i]);
    }
    if (!batch.count)
        flow->retention.done = true;
}
