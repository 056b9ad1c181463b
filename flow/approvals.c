/*
 * The questions of approvals: asked when the step's dependencies are met, ended by an answer or when
 * their time is up.
 */
#include "flow/approvals.h"

#include "api/types/schema/flow_reference.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/model/approval.h"
#include "flow/model/condition.h"
#include "flow/results_wait.h"

/* Bytes of a question with the values of its references. */
enum { QUESTION_BYTES_MAX = 4096 };

struct step_timeout {
    struct flow *flow;
    uint32_t step;
    bool answers; /* an answer is given when the time is over */
    struct flow_answer answer;
    struct timer timer;
};

static void give(struct flow *flow, uint32_t step, const struct flow_answer *given)
{
    const struct approval_answer answer = {
        .by = flow->controller->options.answers->by, .text = "", .at_ms = flow_now_ms(flow)};

    if (given->rejects)
        flow_model_reject(&flow->model, step, &answer);
    else
        flow_model_approve(&flow->model, step, &answer);
}

static void on_time(struct timer *timer)
{
    struct step_timeout *timeout = container_of(timer, struct step_timeout, timer);
    const struct step_timeout over = *timeout;
    struct flow *flow = over.flow;

    flow_approval_stop(flow, over.step);
    flow->model.tick = flow_tick(flow);
    if (over.answers)
        give(flow, over.step, &over.answer);
    else
        flow_model_approval_timed_out(&flow->model, over.step);
    flow_write_status_now(flow);
    flow_make_runnable(flow);
}

void flow_approval_stop(struct flow *flow, uint32_t step)
{
    struct step_timeout *timeout = take(flow->model.steps[step].timeout);

    if (!timeout)
        return;
    timer_stop(flow->controller->loop, &timeout->timer);
    mem_free(timeout);
}

static void start_timer(struct flow *flow, uint32_t step, const struct step_timeout *timeout,
                        int64_t after_ms)
{
    struct step_timeout *made = mem_alloc(sizeof *made);

    *made = *timeout;
    made->flow = flow;
    made->step = step;
    made->timer.fire = on_time;
    flow->model.steps[step].timeout = made;
    timer_start(flow->controller->loop, &made->timer, after_ms);
}

/* Waits for the answer that this process gives, or for the end of the time to answer. That time counts
 * from the stored time of the question, so a restart does not change it. */
static void start_timeout(struct flow *flow, uint32_t step)
{
    const struct step *s = &flow->model.steps[step];
    const struct flow_step *spec = flow_graph_step(flow->model.graph, step);
    const struct opt_i32 *limit = &spec->approval->timeout_s;
    const struct flow_answers *answers = flow->controller->options.answers;
    const int64_t whole_ms = (int64_t)limit->value * 1000;
    const int64_t left_ms =
        loop_left_ms(flow->controller->loop, s->history->asked_ms + whole_ms, whole_ms);
    struct step_timeout timeout = {0};

    if (s->timeout)
        return;
    timeout.answers = answers &&
                      answers->of(answers->ctx, flow->object, spec->name, &timeout.answer) &&
                      (!limit->set || timeout.answer.after_ms < left_ms);
    if (timeout.answers && !timeout.answer.after_ms)
        give(flow, step, &timeout.answer);
    else if (timeout.answers || limit->set)
        start_timer(flow, step, &timeout, timeout.answers ? timeout.answer.after_ms : left_ms);
}

/* Appends the question of the step. False with the error of a reference without value. */
static bool write_question(struct flow *flow, uint32_t step, struct buf *out, struct error *err)
{
    const char *message = flow_graph_step(flow->model.graph, step)->approval->message;
    struct flow_values values = {&flow->model, step, flow_phase_text(flow->state.ending), false};
    const struct flow_ref_values refs = flow_values_of(&values);

    if (message && !flow_refs_replace_text(message, &refs, out, err))
        return false;
    if (out->len > QUESTION_BYTES_MAX) {
        size_t keep = QUESTION_BYTES_MAX;

        while (keep && ((unsigned char)out->data[keep] & 0xc0) == 0x80)
            keep--; /* a character is not cut */
        out->len = keep;
        buf_str(out, "…");
    }
    return true;
}

static void ask(struct flow *flow, uint32_t step)
{
    struct flow_model *m = &flow->model;
    const char *name = flow_graph_name(m->graph, step);
    scoped(buf) struct buf question = {0};
    struct error err = {0};

    if (!write_question(flow, step, &question, &err)) {
        flow_model_fail_step(
            m, step, err.code == ERR_NOT_FOUND ? REASON_MISSING_OUTPUT : REASON_INVALID_OUTPUT,
            err.message);
        return;
    }
    flow_model_ask(m, step, question.len ? question.data : NULL, flow_now_ms(flow));
    cluster_event(flow->controller->cluster, flow->object, EVENT_NORMAL, REASON_ASKING,
                  FLOW_COMPONENT, "step %s waits for approval%s%s", name, question.len ? ": " : "",
                  question.len ? question.data : "");
}

void flow_approvals_ask(struct flow *flow)
{
    struct flow_model *m = &flow->model;
    bool changed = false;

    if (!m->to_ask.count || flow_results_reading(flow))
        return; /* the end of the reading makes the flow runnable */
    step_set_each(&m->to_ask, step)
    {
        if (flow_ending(flow) && !m->steps[step].final)
            continue;
        step_set_remove(&m->to_ask, step);
        if (!flow_model_has_asked(m, step)) {
            changed = true;
            ask(flow, step);
        }
        if (m->steps[step].state == STEP_ASKING)
            start_timeout(flow, step);
    }
    if (!changed)
        return;
    flow_write_status_now(flow);
    flow_make_runnable(flow);
}

void flow_approvals_withdraw(struct flow *flow, bool finals)
{
    struct flow_model *m = &flow->model;

    step_set_each(&m->asking, step)
    {
        if (m->steps[step].final && !finals)
            continue;
        flow_approval_stop(flow, step);
        flow_model_withdraw(m, step);
    }
}
