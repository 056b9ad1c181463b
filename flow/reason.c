/*
 * Why a flow is in its phase: state.reason and state.message, and the events of skipped steps.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/internal.h"
#include "flow/model/approval.h"
#include "flow/model/control.h"
#include "flow/model/step_probe.h"
#include "probes/requirements.h"

enum {
    SEARCH_MAX = 100, /* jobs that are searched for an aborted one */
    NAMED_MAX = 10    /* steps that a message names */
};

static void replace(char **text, const char *with)
{
    if (*text && with && strcmp(*text, with) == 0)
        return;
    mem_free(*text);
    *text = mem_strdup(with);
}

static uint32_t first_aborted(const struct flow_model *m)
{
    uint32_t searched = 0;

    if (!m->by_phase[JOB_ABORTED])
        return STEP_NONE;
    step_set_each(&m->lists[FLOW_LIST_UNKNOWN], step)
    {
        if (m->steps[step].phase == JOB_ABORTED)
            return step;
        if (++searched == SEARCH_MAX)
            break;
    }
    return STEP_NONE;
}

/* Returns the first step that failed without being handled, or STEP_NONE. `kept`: one whose failure
 * a rerun has kept. */
static uint32_t first_failed_of(const struct flow_model *m, bool kept)
{
    static const enum flow_list lists[] = {FLOW_LIST_FAILED, FLOW_LIST_TERMINATED};
    uint32_t first = STEP_NONE;

    for (size_t i = 0; m->failed_jobs + flow_model_failed_steps(m) && i < countof(lists); i++) {
        uint32_t step = step_set_next(&m->lists[lists[i]], 0);

        while (step != STEP_NONE &&
               (!flow_model_step_failed(m, step) || m->steps[step].kept != kept))
            step = step_set_next(&m->lists[lists[i]], step + 1);
        first = step < first ? step : first;
    }
    return first;
}

static uint32_t first_failed(const struct flow_model *m)
{
    uint32_t step = first_failed_of(m, false);

    return step == STEP_NONE && m->partial ? first_failed_of(m, true) : step;
}

static void name_steps(const struct flow_model *m, const struct step_set *steps, struct buf *out)
{
    uint32_t named = 0;

    step_set_each(steps, step)
    {
        if (named == NAMED_MAX) {
            buf_printf(out, " and %u more", steps->count - named);
            return;
        }
        buf_printf(out, "%s%s", named++ ? ", " : "", flow_graph_name(m->graph, step));
    }
}

/* Appends what the approvals of the flow wait for: the question of one, the names of several. */
static void describe_questions(const struct flow_model *m, struct buf *out)
{
    const uint32_t first = step_set_next(&m->asking, 0);
    const struct step_history *history = m->steps[first].history;

    if (m->asking.count > 1) {
        buf_str(out, "steps ");
        name_steps(m, &m->asking, out);
        buf_str(out, " wait for approval");
        return;
    }
    buf_printf(out, "step %s waits for approval", flow_graph_name(m->graph, first));
    if (history && history->message)
        buf_printf(out, ": %s", history->message);
}

/* Returns whether the flow can go on only when a step is approved. */
static bool only_asks(const struct flow_model *m)
{
    return m->asking.count && !m->to_ask.count && flow_model_unfinished(m) == m->serving &&
           !m->creating && !m->backing_off && !m->checking && !ready_queue_count(&m->ready_queue);
}

static const char *failure_reason(const struct flow_model *m, uint32_t step)
{
    const struct step_history *history = m->steps[step].history;

    return history && history->reason ? history->reason : "JobFailed";
}

static void describe_failure(const struct flow_model *m, uint32_t step, struct buf *out)
{
    const struct step_history *history = m->steps[step].history;
    uint32_t failed = flow_model_failed_steps(m), others = failed ? failed - 1 : 0;

    if (history && history->reason) {
        buf_printf(out, "step %s has no job", flow_graph_name(m->graph, step));
    } else {
        buf_str(out, "job ");
        flow_model_job_name(m, step, out);
        buf_printf(out, " is %s", job_phase_text((enum job_phase)m->steps[step].phase));
    }
    if (history && step_history_message(history))
        buf_printf(out, ": %s", step_history_message(history));
    if (m->steps[step].kept)
        buf_str(out, "; the step is not among those that run again");
    if (others)
        buf_printf(out, "; %u more failed", others);
}

/* Returns whether a probe of the dependent has waited for the failure of the step, and has seen
 * it. */
static bool has_awaited(const struct flow *flow, uint32_t step, uint32_t dependent)
{
    const struct flow_model *m = &flow->model;
    const struct step_probe *probe = m->steps[dependent].probe;
    const struct object *job = flow_job_of(flow, step);

    if (!probe || !probe_wants_failure(probe->depends->probe, job ? job_spec_of(job) : NULL))
        return false;
    for (size_t t = 0; t < probe->depends->targets.count; t++)
        if (probe->met[t] &&
            strcmp(probe->depends->targets.items[t], flow_graph_name(m->graph, step)) == 0)
            return true;
    return false;
}

/* Adds the steps that have handled the failure of the step: they ran because of it. */
static void add_handlers(const struct flow *flow, uint32_t step, struct step_set *out)
{
    const struct flow_model *m = &flow->model;
    const struct dag *handlers = &m->control->failure_handlers;

    for (uint32_t at = handlers->first[step]; at < handlers->first[step + 1]; at++)
        if (m->steps[handlers->next[at]].state == STEP_STARTED)
            step_set_add(out, handlers->next[at]);
    flow_graph_each_dependent(m->graph, step, dependent)
    {
        if (has_awaited(flow, step, dependent))
            step_set_add(out, dependent);
    }
}

/* Sets the reason of a flow that fails only because of failures that other steps have handled. */
static void set_reason_of_handled(struct flow *flow)
{
    const struct flow_model *m = &flow->model;
    scoped(buf) struct buf message = {0};
    struct step_set failed = {0}, handlers = {0};

    step_set_init(&failed, m->graph->steps);
    step_set_init(&handlers, m->graph->steps);
    for (uint32_t i = 0; i < m->graph->steps; i++)
        if (!m->steps[i].is_iteration && !m->steps[i].final && !flow_model_step_failed(m, i) &&
            flow_model_step_fails_flow(m, i)) {
            step_set_add(&failed, i);
            add_handlers(flow, i, &handlers);
        }
    buf_str(&message, "failed: ");
    name_steps(m, &failed, &message);
    buf_str(&message, "; handled by: ");
    name_steps(m, &handlers, &message);
    flow_set_reason(flow, "HandledFailure", message.data);
    step_set_release(&failed);
    step_set_release(&handlers);
}

/* Returns the first step that failed and never has a job, or STEP_NONE: a loop whose condition never
 * came true or whose items could not be read, or an approval that was not given. */
static uint32_t failed_jobless(const struct flow_model *m)
{
    for (uint32_t i = 0; m->control && i < m->graph->steps; i++)
        if (m->steps[i].jobless && flow_model_step_failed(m, i))
            return i;
    return STEP_NONE;
}

/* Returns the reason of such a failure and appends the message. */
static const char *jobless_failure(const struct flow_model *m, uint32_t step, struct buf *out)
{
    const struct step_history *history = m->steps[step].history;

    if (!m->steps[step].approval)
        return flow_loop_failure(m, step, out);
    buf_printf(out, "step %s: %s", flow_graph_name(m->graph, step),
               history && history->message ? history->message : "it was not approved");
    return history && history->reason ? history->reason : REASON_REJECTED;
}

/* Sets the reason of a flow that no failed job explains: it was aborted, hit its deadline, or a
 * step without a job failed. False otherwise. */
static bool set_reason_without_job(struct flow *flow)
{
    uint32_t step = failed_jobless(&flow->model);

    if (jobflow_aborted(flow->object)) {
        flow_set_reason(flow, "Aborted", "it was aborted");
    } else if (flow_deadline_hit(flow)) {
        scoped(buf) struct buf text = {0};

        flow_write_deadline(flow, &text);
        flow_set_reason(flow, REASON_DEADLINE, text.data);
    } else if (step != STEP_NONE && first_failed(&flow->model) == STEP_NONE) {
        scoped(buf) struct buf text = {0};
        const char *reason = jobless_failure(&flow->model, step, &text);

        flow_set_reason(flow, reason, text.data);
    } else {
        return false;
    }
    return true;
}

/* Sets the reason of a flow of which a rerun has left out steps that have never run. */
static void set_reason_of_steps_left_out(struct flow *flow)
{
    const struct flow_model *m = &flow->model;
    scoped(buf) struct buf message = {0};
    struct step_set left_out = {0};

    step_set_init(&left_out, m->graph->steps);
    for (uint32_t i = 0; i < m->graph->steps; i++)
        if (m->steps[i].state == STEP_WAITING && !m->steps[i].final && !m->steps[i].is_iteration)
            step_set_add(&left_out, i);
    buf_str(&message, "never run: ");
    name_steps(m, &left_out, &message);
    flow_set_reason(flow, "StepsNotRun", message.data);
    step_set_release(&left_out);
}

void flow_set_failure_reason(struct flow *flow)
{
    scoped(buf) struct buf message = {0};
    uint32_t step = first_failed(&flow->model);

    if (set_reason_without_job(flow))
        return;
    if (step == STEP_NONE) {
        if (flow->model.partial && !flow_model_all_done(&flow->model))
            set_reason_of_steps_left_out(flow);
        else if (flow->model.handled_failures && !flow->model.handled_succeed)
            set_reason_of_handled(flow);
        return;
    }
    describe_failure(&flow->model, step, &message);
    replace(&flow->state.reason, failure_reason(&flow->model, step));
    replace(&flow->state.message, message.data);
}

void flow_update_reason(struct flow *flow)
{
    const struct flow_model *m = &flow->model;
    scoped(buf) struct buf message = {0};
    const char *reason = NULL;
    uint32_t step;

    if (flow->opening != FLOW_OPEN || flow_phase_finished(flow->state.phase) || flow_ending(flow))
        return; /* the reason was set when the end was decided */
    step = first_aborted(m);
    if (!m->upstream && jobflow_spec_of(flow->object)->suspend) {
        reason = "Suspended";
        buf_str(&message, "no step starts while spec.suspend is true");
    } else if (m->blocked.count) {
        const struct step_block *block = m->steps[step_set_next(&m->blocked, 0)].block;

        reason = block ? block_reasons[block->reason].text : NULL;
        buf_str(&message, block ? block->message : "");
    } else if (step != STEP_NONE) {
        reason = "JobAborted";
        buf_str(&message, "job ");
        flow_model_job_name(m, step, &message);
        buf_str(&message, " is aborted; resume it to go on");
    } else if (first_failed(m) != STEP_NONE) {
        reason = failure_reason(m, first_failed(m));
        describe_failure(m, first_failed(m), &message);
        buf_str(&message, "; what does not depend on it goes on");
    } else if (only_asks(m)) {
        reason = REASON_ASKING;
        describe_questions(m, &message);
    }
    replace(&flow->state.reason, reason);
    replace(&flow->state.message, message.len ? message.data : NULL);
}

/* Why a step was skipped, for its event. */
static const char *skip_reason(const struct flow_model *m, uint32_t step)
{
    const struct step_control *ctl = &m->control->steps[step];

    if (ctl->gate == GATE_NOT_CHOSEN)
        return "the switch chose another";
    if (m->steps[step].approval && m->steps[step].history && m->steps[step].history->message)
        return m->steps[step].history->message;
    if (ctl->decided && flow_graph_step(m->graph, step)->condition)
        return "its condition is false";
    return ctl->lost ? "what it waits for has failed" : "everything it waits for was skipped";
}

void flow_announce_skipped(struct flow *flow)
{
    struct flow_control *control = flow->opening == FLOW_OPEN ? flow->model.control : NULL;

    if (!control || !control->unannounced.count)
        return;
    step_set_each(&control->unannounced, step)
    {
        if (flow->model.steps[step].state == STEP_SKIPPED)
            cluster_event(flow->controller->cluster, flow->object, EVENT_NORMAL, "Skipped",
                          FLOW_COMPONENT, "step %s is skipped: %s",
                          flow_graph_name(flow->model.graph, step),
                          skip_reason(&flow->model, step));
        step_set_remove(&control->unannounced, step);
    }
}
