/*
 * jobRetainPolicy: delete. Once Succeed is stored, the flow's jobs are removed, in batches and by
 * uid; what is already gone is fine. The status stays as the record of what was.
 */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"

enum { REMOVE_BATCH = 256, RETRY_FIRST_MS = 100, RETRY_MAX_MS = 30000 };

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
    flow_make_runnable(container_of(timer, struct flow, retain_retry));
}

static void retry_later(struct flow *flow)
{
    int64_t delay_ms = RETRY_FIRST_MS;

    for (unsigned i = 0; i < flow->retain_failures && delay_ms < RETRY_MAX_MS; i++)
        delay_ms *= 2;
    flow->retain_failures++;
    flow->retain_retry.fire = on_retry;
    timer_start(flow->controller->loop, &flow->retain_retry, delay_ms);
}

static void on_removed(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct removal *removal = container_of(call, struct removal, call);
    struct flow *flow = removal->flow;

    mem_free(removal);
    flow->removals--;
    if (!flow_call_ended(flow))
        return;
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT) {
        log_warn("job of a finished flow not removed",
                 kv_str("namespace", object_namespace(flow->object)),
                 kv_str("flow", object_name(flow->object)), kv_str("reason", err->message));
        retry_later(flow);
    }
    if (!flow->removals && !timer_armed(&flow->retain_retry))
        flow_make_runnable(flow);
}

/* References to the jobs of one pass: removing changes the index that is being walked. */
struct batch {
    const struct flow *flow;
    struct object *jobs[REMOVE_BATCH];
    size_t count;
};

static void visit_job(void *arg, const struct object *job)
{
    struct batch *batch = arg;
    const struct owner_ref *owner = meta_controller(job->meta);

    if (batch->count < REMOVE_BATCH && !object_deleting(job) && owner &&
        strcmp(owner->uid, batch->flow->uid) == 0)
        batch->jobs[batch->count++] = object_ref(job);
}

static void remove_job(struct flow *flow, const struct object *job)
{
    const struct cluster_removal how = {
        .uid = object_uid(job), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    struct removal *removal = mem_alloc(sizeof *removal);

    removal->call.done = on_removed;
    removal->flow = flow;
    flow->removals++;
    flow_call_begun(flow);
    cluster_remove(flow->controller->cluster, &removal->call, &kind_job, object_namespace(job),
                   object_name(job), &how);
}

void flow_apply_retain_policy(struct flow *flow)
{
    struct batch batch = {.flow = flow};

    if (flow->retained_done || flow->removals || timer_armed(&flow->retain_retry) ||
        !flow_phase_finished(flow->writer.written_phase) ||
        flow->state.phase != flow->writer.written_phase)
        return;
    if (!wants_removal(flow)) {
        flow->retained_done = true;
        return;
    }
    cluster_each_owned(flow->controller->cluster, &kind_job, flow->uid, visit_job, &batch);
    for (size_t i = 0; i < batch.count; i++) {
        remove_job(flow, batch.jobs[i]);
        object_unref(batch.jobs[i]);
    }
    if (!batch.count)
        flow->retained_done = true;
}
