/*
 * The time between two attempts of a step.
 *
 * The next attempt begins retry_policy_delay_ms after the end of the job, taken from the job's own
 * status, so a restart changes nothing. When the time is over the old job is removed. The next job
 * has the same name, so it is created once the old one is gone. Ref: spec/jobflow.md 13.4.
 */
#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/model/retry_policy.h"

enum { AGAIN_MS = 1000 }; /* delay until a failed removal is tried again */

struct step_backoff {
    struct flow *flow;
    uint32_t step;
    struct timer timer;
    int64_t until_ms;
    bool over;     /* the time has passed */
    bool removing; /* the removal of the old job is in flight */
};

struct backoff_call {
    struct cluster_call call;
    struct flow *flow;
    uint32_t step, build;
};

static void on_removed(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct backoff_call *removal = container_of(call, struct backoff_call, call);
    struct flow *flow = removal->flow;
    uint32_t step = removal->step;
    bool current = flow->opening == FLOW_OPEN && removal->build == flow->build;

    mem_free(removal);
    if (!flow_call_ended(flow) || !current || !flow->model.steps[step].backoff)
        return;
    flow->model.steps[step].backoff->removing = false;
    if (err && flow->model.steps[step].job) {
        log_warn("job of a failed attempt not removed",
                 kv_str("namespace", object_namespace(flow->object)),
                 kv_str("flow", object_name(flow->object)), kv_str("reason", err->message));
        timer_start(flow->controller->loop, &flow->model.steps[step].backoff->timer, AGAIN_MS);
    }
}

static void remove_job(struct step_backoff *backoff)
{
    struct flow *flow = backoff->flow;
    const struct object *job = flow_job_of(flow, backoff->step);
    const struct cluster_removal how = {
        .uid = job ? object_uid(job) : NULL, .grace_s = -1, .propagation = PROPAGATE_FOREGROUND};
    struct backoff_call *removal;

    if (backoff->removing || !job || object_deleting(job))
        return; /* the event of its removal follows */
    removal = mem_alloc(sizeof *removal);
    removal->call.done = on_removed;
    removal->flow = flow;
    removal->step = backoff->step;
    removal->build = flow->build;
    backoff->removing = true;
    flow_call_begun(flow);
    cluster_remove(flow->controller->cluster, &removal->call, &kind_job, object_namespace(job),
                   object_name(job), &how);
}

/* Returns whether the stored status has the result of the failed attempt. Once the job is removed
 * the result is nowhere else, so the status is written first. */
static bool result_is_stored(struct flow *flow, uint32_t step)
{
    if (flow->model.steps[step].result_change <= flow->writer.written_changes)
        return true;
    flow->backoffs_held = true;
    flow_write_status_now(flow);
    return false;
}

/* The time has passed: removes the old job, or, when it is gone, makes the step ready. */
static void continue_after_delay(struct step_backoff *backoff)
{
    struct flow *flow = backoff->flow;
    uint32_t step = backoff->step;

    if (flow->model.steps[step].job) {
        if (result_is_stored(flow, step))
            remove_job(backoff);
        return;
    }
    flow_backoff_stop(flow, step);
    flow_model_end_backoff(&flow->model, step);
    flow_make_runnable(flow);
}

static void on_time(struct timer *timer)
{
    struct step_backoff *backoff = container_of(timer, struct step_backoff, timer);

    backoff->over = true;
    flow_backoff_update(backoff->flow, backoff->step);
}

/* Returns when the job ended; the present time if its status does not say. */
static int64_t ended_ms(const struct flow *flow, uint32_t step)
{
    const struct object *job = flow_job_of(flow, step);
    int64_t at_ms = job ? job_status_of(job)->transition_ms : 0;

    return at_ms ? at_ms : flow_now_ms(flow);
}

static void begin(struct flow *flow, uint32_t step)
{
    const struct step *s = &flow->model.steps[step];
    const struct flow_step *spec = flow_graph_step(flow->model.graph, step);
    struct step_backoff *backoff = mem_alloc(sizeof *backoff);
    bool restored = s->history && s->history->next_retry_ms; /* set by an earlier process */
    int64_t whole_ms = retry_policy_delay_ms(spec, s->retries), wait_ms;

    backoff->flow = flow;
    backoff->step = step;
    backoff->timer.fire = on_time;
    backoff->until_ms = ended_ms(flow, step) + whole_ms;
    if (restored)
        backoff->until_ms = s->history->next_retry_ms;
    flow->model.steps[step].backoff = backoff;
    if (s->history)
        s->history->next_retry_ms = backoff->until_ms;
    wait_ms = loop_left_ms(flow->controller->loop, backoff->until_ms, whole_ms);
    timer_start(flow->controller->loop, &backoff->timer, wait_ms);
    if (restored)
        return;
    cluster_event(flow->controller->cluster, flow->object, EVENT_NORMAL, "Retrying", FLOW_COMPONENT,
                  "step %s failed (%s), attempt %u follows in %llds",
                  flow_graph_name(flow->model.graph, step),
                  job_phase_text((enum job_phase)s->phase), s->attempt + 1u,
                  (long long)(wait_ms + 999) / 1000);
}

void flow_backoff_update(struct flow *flow, uint32_t step)
{
    const struct step *s = &flow->model.steps[step];

    if (s->state != STEP_BACKOFF)
        flow_backoff_stop(flow, step);
    else if (!s->backoff)
        begin(flow, step);
    else if (s->backoff->over)
        continue_after_delay(s->backoff);
}

void flow_backoff_update_all(struct flow *flow)
{
    const struct flow_model *m = &flow->model;

    flow->backoffs_held = false;
    step_set_each(&m->retried, step)
    {
        if (m->steps[step].state == STEP_BACKOFF)
            flow_backoff_update(flow, step);
    }
}

void flow_backoff_stop(struct flow *flow, uint32_t step)
{
    struct step *s = &flow->model.steps[step];

    if (!s->backoff)
        return;
    timer_stop(flow->controller->loop, &s->backoff->timer);
    mem_free(take(s->backoff));
    if (s->history)
        s->history->next_retry_ms = 0;
}
