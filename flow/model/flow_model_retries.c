/*
 * Attempts that a retry policy has asked for: when one may begin, and what becomes of those that
 * have not begun when the flow ends.
 */
#include <assert.h>

#include "flow/model/control.h"
#include "flow/model/flow_model.h"

void flow_model_end_backoff(struct flow_model *m, uint32_t i)
{
    struct step *step = &m->steps[i];

    assert(step->state == STEP_BACKOFF && !step->job);
    step->retry = true;
    step->failed_as = step->phase;
    if (m->control)
        flow_control_new_attempt(m, i);
    flow_model_move_step(m, i, STEP_READY, JOB_NONE);
}

bool flow_model_retry_pending(const struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];

    return step->state == STEP_BACKOFF ||
           (step->retry && step->failed_as != JOB_NONE && step->state < STEP_STARTED);
}

/* The attempt that was to be retried was the last one. */
static void end_retry(struct flow_model *m, uint32_t i)
{
    struct step *step = &m->steps[i];
    enum job_phase phase =
        (enum job_phase)(step->state == STEP_BACKOFF ? step->phase : step->failed_as);

    step->retry = false;
    flow_model_move_step(m, i, STEP_STARTED, flow_attempt_end(phase));
    flow_model_notify_dependents(m, i);
}

void flow_model_end_retries(struct flow_model *m)
{
    m->retries_ended = true;
    step_set_each(&m->retried, i)
    {
        if (flow_model_retry_pending(m, i) && m->steps[i].state != STEP_CREATING &&
            m->steps[i].state != STEP_BLOCKED && !m->steps[i].final)
            end_retry(m, i);
    }
    if (m->control)
        flow_control_flow_ends(m);
}
