/*
 * What a question and its answer change in the model.
 */
#include "flow/model/approval.h"

#include <string.h>

#include "base/buf.h"
#include "base/timefmt.h"
#include "flow/model/control.h"

static struct step_history *history_of(struct step *step)
{
    if (!step->history)
        step->history = step_history_new();
    return step->history;
}

bool flow_model_has_asked(const struct flow_model *m, uint32_t i)
{
    return m->steps[i].history && m->steps[i].history->asked_ms;
}

void flow_model_ask(struct flow_model *m, uint32_t i, const char *message, int64_t now_ms)
{
    struct step_history *history = history_of(&m->steps[i]);

    step_history_set_failure(history, REASON_ASKING, message);
    history->asked_ms = now_ms;
    m->changes++;
}

static void add_output(struct job_results *results, const char *key, const char *value)
{
    job_results_add_output(results, key, strlen(key), value, strlen(value), 0);
}

void flow_model_approve(struct flow_model *m, uint32_t i, const struct approval_answer *answer)
{
    struct step_history *history = history_of(&m->steps[i]);
    struct job_results *results = job_results_new();
    char at[TIME_TEXT_MAX];

    time_format(answer->at_ms, at);
    add_output(results, "approvedBy", answer->by);
    add_output(results, "approvedAt", at);
    add_output(results, "text", answer->text);
    step_history_set_results(history, results);
    step_history_set_failure(history, NULL, NULL);
    flow_model_move_step(m, i, STEP_STARTED, JOB_COMPLETED);
    m->steps[i].result_change = m->changes;
    flow_model_notify_dependents(m, i);
}

void flow_model_reject(struct flow_model *m, uint32_t i, const struct approval_answer *answer)
{
    scoped(buf) struct buf message = {0};

    buf_printf(&message, "by %s%s%s", answer->by, *answer->text ? ": " : "", answer->text);
    flow_model_fail_step(m, i, REASON_REJECTED, message.data);
}

void flow_model_approval_timed_out(struct flow_model *m, uint32_t i)
{
    const struct flow_approval *approval = flow_graph_step(m->graph, i)->approval;
    scoped(buf) struct buf message = {0};

    buf_printf(&message, "no answer came within %d s", approval->timeout_s.value);
    if (approval->on_timeout == APPROVAL_TIMEOUT_FAIL) {
        flow_model_fail_step(m, i, REASON_TIMED_OUT, message.data);
        return;
    }
    step_history_set_failure(history_of(&m->steps[i]), REASON_TIMED_OUT, message.data);
    flow_control_skip(m, i);
}

void flow_model_withdraw(struct flow_model *m, uint32_t i)
{
    flow_model_forget_answer(m, i);
    flow_model_move_step(m, i, STEP_WAITING, JOB_NONE);
}

void flow_model_forget_answer(struct flow_model *m, uint32_t i)
{
    struct step_history *history = m->steps[i].history;

    if (!history)
        return;
    step_history_set_failure(history, NULL, NULL);
    job_results_free(take(history->results));
    history->asked_ms = 0;
}
