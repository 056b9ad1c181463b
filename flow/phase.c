/*
 * The phase of a flow: the only place that sets it.
 *
 * flow_next_phase gathers the facts for the tables of flow/decide. flow_enter_phase sets the phase
 * and does what belongs to the change: log line, times, reason, and for a finished flow the end of
 * retries, probes and blocked steps.
 *
 * A flow with final steps (`when: always`) ends in two stages:
 *
 *   the end is decided   `flow->state.ending` is Succeed or Failed; no ordinary step starts any
 *                        more, and state.reason and state.message tell of the end already
 *   final steps run      once no ordinary job is unfinished; until they have ended the phase stays
 *                        Running, or Pending if no job ever ran
 *   the phase is set     to the decided end, or to Failed if a final step failed
 *
 * Ref: spec/jobflow.md 8.3, 13.11.
 */
#include "base/log.h"
#include "flow/internal.h"
#include "flow/model/control.h"

static unsigned model_facts(const struct flow *flow)
{
    const struct flow_model *m = &flow->model;
    bool ran = flow_model_jobs_past_pending(m);
    unsigned facts = 0;

    if (flow_model_has_failed(m))
        facts |= FACT_STEP_FAILED;
    if (m->handled_failures && !m->handled_succeed)
        facts |= FACT_HANDLED_FAILURE;
    if (flow_model_active(m) && flow_failure_policy(flow) == FAILURE_CONTINUE)
        facts |= FACT_CONTINUES;
    if (flow_model_all_done(m) && (m->graph->steps || !m->upstream))
        facts |= FACT_ALL_DONE;
    if (flow->state.phase == FLOW_RUNNING || ran)
        facts |= FACT_STARTED;
    if (flow->writer.written_phase != FLOW_RUNNING && ran)
        facts |= FACT_RUNNING_UNWRITTEN;
    return facts;
}

static unsigned facts_of(const struct flow *flow)
{
    unsigned facts = 0;

    if (object_deleting(flow->object))
        facts |= FACT_DELETING;
    if (flow_phase_finished(flow->state.phase))
        facts |= FACT_FINISHED;
    if (jobflow_aborted(flow->object) && !flow->controller->options.upstream_compat)
        facts |= FACT_ABORTED;
    if (flow->opening == FLOW_UNUSABLE)
        return facts | FACT_UNUSABLE;
    if (flow_retry_may_begin(flow))
        facts |= FACT_RETRY;
    if (flow->deadline_passed)
        facts |= FACT_DEADLINE;
    return facts | model_facts(flow);
}

static bool has_final_steps(const struct flow *flow)
{
    return flow->model.control && flow->model.control->finals;
}

/* No ordinary step is retried any more. A retry that cannot be created waits no longer. */
static void end_retries(struct flow *flow)
{
    struct flow_model *m = &flow->model;

    step_set_each(&m->blocked, step)
    {
        if (m->steps[step].final || !flow_model_retry_pending(m, step))
            continue;
        flow_unblock_step(flow, step);
        flow_model_set_state(m, step, STEP_WAITING);
    }
    flow_approvals_withdraw(flow, false);
    flow_model_end_retries(m);
}

/* A Failed end replaces a decided Succeed: an abort may still come. */
static void decide_ending(struct flow *flow, enum flow_phase end)
{
    if (flow_ending(flow) && !(end == FLOW_FAILED && flow->state.ending == FLOW_SUCCEED))
        return;
    flow->state.ending = end;
    end_retries(flow);
    if (end == FLOW_FAILED)
        flow_set_failure_reason(flow);
    else
        flow_set_reason(flow, NULL, NULL);
    flow_write_status_soon(flow);
}

static unsigned run_final_steps(struct flow *flow)
{
    struct flow_model *m = &flow->model;

    if (!m->control->ended && !flow_model_ordinary_unfinished(m) && !m->creating)
        flow_control_run_finals(m);
    if (!m->control->ended || flow_control_finals_open(m))
        return FACT_FINALS_OPEN;
    return flow_control_finals_failed(m) ? FACT_FINALS_FAILED : 0;
}

enum flow_phase flow_next_phase(struct flow *flow)
{
    unsigned facts = facts_of(flow);
    enum flow_phase next = flow_decide_phase(flow->state.phase, facts);

    if (flow->opening != FLOW_OPEN || flow_phase_finished(flow->state.phase) ||
        next == FLOW_TERMINATING)
        return next;
    if (has_final_steps(flow)) {
        if (flow_phase_finished(next))
            decide_ending(flow, next);
        if (flow_ending(flow)) {
            next = flow->state.ending;
            facts |= run_final_steps(flow);
        }
    }
    return flow_phase_finished(next) ? flow_decide_end(next, facts) : next;
}

bool flow_restore_ending(struct flow *flow)
{
    if (flow_phase_finished(flow->state.phase) || !has_final_steps(flow))
        flow->state.ending = FLOW_NONE;
    else if (!flow_ending(flow) && flow_deadline_hit(flow))
        flow->state.ending = FLOW_FAILED; /* even if every other step has completed since */
    return flow_ending(flow);
}

bool flow_reopen_ending(struct flow *flow)
{
    struct flow_model *m = &flow->model;

    if (!flow_ending(flow) || flow_phase_finished(flow->state.phase) || flow_deadline_hit(flow) ||
        (m->control && m->control->ended))
        return false;
    flow->state.ending = FLOW_NONE;
    m->retries_ended = false;
    return true;
}

void flow_decide_ending(struct flow *flow)
{
    enum flow_phase next = flow_decide_phase(flow->state.phase, facts_of(flow));

    if (has_final_steps(flow) && flow_phase_finished(next))
        decide_ending(flow, next);
}

/* No further job is created, so no step stays blocked. */
static void unblock_steps(struct flow *flow)
{
    struct flow_model *m = &flow->model;

    step_set_each(&m->blocked, step)
    {
        flow_unblock_step(flow, step);
        flow_model_set_state(m, step, STEP_WAITING);
    }
}

static void finish(struct flow *flow)
{
    flow->state.completion_ms = flow->state.since_ms < flow->state.start_ms
                                    ? flow->state.start_ms /* the wall clock was set back */
                                    : flow->state.since_ms;
    flow->state.duration_ms = flow->state.start_ms /* else no job was ever created */
                                  ? flow->state.completion_ms - flow_began_ms(flow)
                                  : 0;
    end_retries(flow);
    flow_approvals_withdraw(flow, true);
    unblock_steps(flow);
}

void flow_enter_phase(struct flow *flow, enum flow_phase next)
{
    if (flow->state.phase == next)
        return;
    log_info("flow phase changed", kv_str("namespace", object_namespace(flow->object)),
             kv_str("flow", object_name(flow->object)),
             kv_str("from", flow_phase_text(flow->state.phase)),
             kv_str("to", flow_phase_text(next)));
    flow->state.phase = next;
    flow->state.since_ms = flow_now_ms(flow);
    if (flow->opening == FLOW_OPEN && (flow_phase_finished(next) || !flow_ending(flow)))
        flow_set_reason(flow, NULL, NULL); /* an ending flow keeps the reason of its end */
    if (next == FLOW_FAILED)
        flow_set_failure_reason(flow);
    if (flow_phase_finished(next))
        finish(flow);
    if (flow_phase_finished(next) || next == FLOW_TERMINATING)
        flow_probing_stop(flow);
    flow_write_status_now(flow);
}
