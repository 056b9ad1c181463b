/*
 * The two times that a spec may set: activeDeadlineSeconds, after which an unfinished flow fails,
 * and ttlSecondsAfterFinished, after which a finished flow is deleted.
 *
 * Both are counted from times in the stored status, so a restart changes neither. Ref:
 * spec/jobflow.md 13.11.
 */
#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "flow/internal.h"

enum { TTL_AGAIN_MS = 1000 };

static void on_deadline(struct timer *timer)
{
    struct flow *flow = container_of(timer, struct flow, deadline);

    flow->deadline_passed = true;
    flow_make_runnable(flow);
}

int64_t flow_began_ms(const struct flow *flow)
{
    const int64_t start_ms = flow->state.start_ms;

    return flow->began_ms / 1000 == start_ms / 1000 ? flow->began_ms : start_ms;
}

/* The deadline counts from the creation of the first job, or from the manual retry of a flow that
 * was retried. The status stores whole seconds; if this process saw the first job itself, the exact
 * millisecond is used. */
static int64_t counted_from(const struct flow *flow)
{
    const struct flow_state *state = &flow->state;

    if (state->retry && state->phase == FLOW_RUNNING && state->since_ms > state->start_ms)
        return state->since_ms;
    return flow_began_ms(flow);
}

void flow_write_deadline(const struct flow *flow, struct buf *out)
{
    buf_printf(out, "the flow's deadline (%lld s) passed",
               (long long)jobflow_spec_of(flow->object)->deadline_s.value);
}

bool flow_deadline_hit(const struct flow *flow)
{
    return flow->deadline_passed ||
           (flow->state.reason && strcmp(flow->state.reason, REASON_DEADLINE) == 0);
}

void flow_update_deadline(struct flow *flow)
{
    const struct opt_i64 *deadline = &jobflow_spec_of(flow->object)->deadline_s;
    struct loop *loop = flow->controller->loop;
    int64_t left_ms;

    if (!deadline->set || flow->controller->options.upstream_compat ||
        flow_phase_finished(flow->state.phase) || flow_ending(flow) || !flow->state.start_ms ||
        flow->deadline_passed) {
        timer_stop(loop, &flow->deadline);
        return;
    }
    if (timer_armed(&flow->deadline))
        return; /* a change of the wall clock does not move a running timer */
    left_ms =
        loop_left_ms(loop, counted_from(flow) + deadline->value * 1000, deadline->value * 1000);
    flow->deadline.fire = on_deadline;
    if (left_ms == 0)
        flow->deadline_passed = flow_deadline_hit(flow) || !flow_model_failed_steps(&flow->model) ||
                                flow_failure_policy(flow) == FAILURE_CONTINUE;
    else
        timer_start(loop, &flow->deadline, left_ms);
}

struct ttl_call {
    struct cluster_call call;
    struct flow *flow;
};

static void on_ttl(struct timer *timer);

static void on_removed(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct ttl_call *removal = container_of(call, struct ttl_call, call);
    struct flow *flow = removal->flow;

    mem_free(removal);
    if (!flow_call_ended(flow) || !err || err->code == ERR_NOT_FOUND)
        return;
    if (err->code != ERR_CONFLICT) /* the flow changed meanwhile: it may have been retried */
        log_warn("finished flow not deleted", kv_str("namespace", object_namespace(flow->object)),
                 kv_str("flow", object_name(flow->object)), kv_str("reason", err->message));
    timer_start(flow->controller->loop, &flow->ttl, TTL_AGAIN_MS);
}

static void on_ttl(struct timer *timer)
{
    struct flow *flow = container_of(timer, struct flow, ttl);
    const struct cluster_removal how = {.uid = flow->uid,
                                        .revision = flow->object->revision,
                                        .grace_s = -1,
                                        .propagation = PROPAGATE_BACKGROUND};
    struct ttl_call *removal;

    if (object_deleting(flow->object) || !flow_phase_finished(flow->writer.written_phase) ||
        flow_retry_wanted(flow))
        return;
    removal = mem_alloc(sizeof *removal);
    removal->call.done = on_removed;
    removal->flow = flow;
    flow->ttl_fired = true;
    flow_call_begun(flow);
    cluster_remove(flow->controller->cluster, &removal->call, &kind_job_flow,
                   object_namespace(flow->object), object_name(flow->object), &how);
}

/* Returns when the flow finished; of a closed flow, whose state is not restored, from its stored
 * status. */
static int64_t completion_of(const struct flow *flow)
{
    scoped(json) json_t *status = NULL;
    const char *text;
    int64_t at_ms = 0;

    if (flow->state.completion_ms || !flow->object->status)
        return flow->state.completion_ms;
    status = object_status_json(flow->object);
    text = json_string_value(json_object_get(status, "completionTime"));
    return text && time_parse(text, &at_ms, NULL) ? at_ms : 0;
}

void flow_update_ttl(struct flow *flow)
{
    const struct opt_i32 *ttl = &jobflow_spec_of(flow->object)->ttl_s;
    int64_t ended_ms, whole_ms;

    if (!ttl->set || flow->controller->options.upstream_compat || object_deleting(flow->object) ||
        !flow_phase_finished(flow->writer.written_phase) ||
        flow->state.phase != flow->writer.written_phase) {
        timer_stop(flow->controller->loop, &flow->ttl);
        return;
    }
    ended_ms = completion_of(flow);
    whole_ms = (int64_t)ttl->value * 1000;
    if (timer_armed(&flow->ttl) || flow->ttl_fired || !ended_ms)
        return;
    flow->ttl.fire = on_ttl;
    timer_start(flow->controller->loop, &flow->ttl,
                loop_left_ms(flow->controller->loop, ended_ms + whole_ms, whole_ms));
}

void flow_stop_time_limits(struct flow *flow)
{
    timer_stop(flow->controller->loop, &flow->deadline);
    timer_stop(flow->controller->loop, &flow->ttl);
    flow->ttl_fired = false;
}
