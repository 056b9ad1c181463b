/*
 * Sets and counters of the model. Every change of a step's state, phase, job or marks is counted
 * here, so that sets and counters always agree with the steps.
 */
#include "flow/model/flow_model.h"

/* The list that a phase belongs to. Completing and Terminating are in the lists of their ends, as
 * upstream's design document says. Ref: spec/jobflow.md 8.1. */
/* clang-format off */
static const enum flow_list list_of_phase[JOB_PHASE_N] = {
    [JOB_NONE]        = FLOW_LIST_UNKNOWN,
    [JOB_PENDING]     = FLOW_LIST_PENDING,
    [JOB_ABORTING]    = FLOW_LIST_UNKNOWN,
    [JOB_ABORTED]     = FLOW_LIST_UNKNOWN,
    [JOB_RUNNING]     = FLOW_LIST_RUNNING,
    [JOB_RESTARTING]  = FLOW_LIST_UNKNOWN,
    [JOB_COMPLETING]  = FLOW_LIST_COMPLETED,
    [JOB_COMPLETED]   = FLOW_LIST_COMPLETED,
    [JOB_TERMINATING] = FLOW_LIST_TERMINATED,
    [JOB_TERMINATED]  = FLOW_LIST_TERMINATED,
    [JOB_FAILED]      = FLOW_LIST_FAILED,
};
/* clang-format on */

static enum flow_list list_of(const struct flow_model *m, const struct step *step)
{
    if (step->jobless || step->state == STEP_DORMANT)
        return FLOW_LIST_NONE;
    if (step->state == STEP_SKIPPED)
        return FLOW_LIST_SKIPPED;
    if (step->state != STEP_STARTED)
        return FLOW_LIST_WAITING;
    if (m->upstream && (step->phase == JOB_COMPLETING || step->phase == JOB_TERMINATING))
        return FLOW_LIST_NONE;
    return list_of_phase[step->phase];
}

static void put_in_list(struct flow_model *m, uint32_t i, bool in)
{
    enum flow_list list = list_of(m, &m->steps[i]);

    if (list == FLOW_LIST_NONE)
        return;
    if (in)
        step_set_add(&m->lists[list], i);
    else
        step_set_remove(&m->lists[list], i);
}

static enum step_outcome outcome_of(const struct step *step)
{
    if (step->state == STEP_SKIPPED || step->state == STEP_DORMANT)
        return OUTCOME_DONE;
    if (step->state != STEP_STARTED)
        return OUTCOME_OPEN;
    if (phase_failed(step->phase) && !step->handled && !step->is_iteration)
        return step->failure_undecided ? OUTCOME_OPEN : OUTCOME_FAILED;
    return step->phase == JOB_COMPLETED || phase_failed(step->phase) ? OUTCOME_DONE : OUTCOME_OPEN;
}

/* Adds the step to the counters and sets, or takes it out. */
static void count_step(struct flow_model *m, uint32_t i, bool in)
{
    const struct step *step = &m->steps[i];
    uint32_t one = in ? 1 : UINT32_MAX; /* adding UINT32_MAX subtracts one */

    put_in_list(m, i, in);
    m->outcomes[step->final][outcome_of(step)] += one;
    if (step->kept && !step->final && outcome_of(step) == OUTCOME_FAILED)
        m->kept_failures += one;
    if (step->state == STEP_STARTED && phase_failed(step->phase) && step->handled &&
        !step->ignored && !step->final && !step->is_iteration)
        m->handled_failures += one;
    if (step->state == STEP_CREATING)
        m->creating += one;
    if (step->state == STEP_CHECKING)
        m->checking += one;
    if (step->state == STEP_STARTED && step->cached)
        m->cached += one;
    if (step->state == STEP_BACKOFF)
        m->backing_off += one;
    if (step->jobless || step->state == STEP_DORMANT)
        m->unlisted += one;
    if (step->state != STEP_STARTED || step->jobless)
        return;
    if (step->phase == JOB_COMPLETED && in)
        step_set_add(&m->completed, i);
    else
        step_set_remove(&m->completed, i);
    m->started += one;
    m->by_phase[step->phase] += one;
    if (step->final && !job_phase_finished((enum job_phase)step->phase))
        m->finals_unfinished += one;
    if (step->serves && !job_phase_finished((enum job_phase)step->phase)) {
        m->serving += one;
        m->serving_ready += step->ready ? one : 0;
    }
    if (step->job &&
        (step->final ? job_phase_finished((enum job_phase)step->phase)
                     : step->judged_again || (!m->selective && phase_failed(step->phase) &&
                                              !step->tolerated && !flow_model_forgives(m, step))))
        m->failed_jobs += one;
}

void flow_model_count(struct flow_model *m, uint32_t i)
{
    count_step(m, i, true);
}

void flow_model_uncount(struct flow_model *m, uint32_t i)
{
    count_step(m, i, false);
}

void flow_model_move_step(struct flow_model *m, uint32_t i, enum step_state state,
                          enum job_phase phase)
{
    struct step *step = &m->steps[i];
    bool was_ready = step->state == STEP_READY;

    flow_model_uncount(m, i);
    step->state = (uint8_t)state;
    step->phase = (uint8_t)phase;
    flow_model_count(m, i);
    if (state == STEP_READY && !was_ready && !step->block)
        step->ready_tick = m->tick;
    if (state == STEP_READY && step->look_up) {
        step_set_add(&m->to_check, i);
    } else if (state == STEP_READY) {
        ready_queue_put(&m->ready_queue, i);
    } else if (was_ready) {
        step_set_remove(&m->to_check, i);
        ready_queue_remove(&m->ready_queue, i);
    }
    if (state == STEP_ASKING) {
        step_set_add(&m->asking, i);
        step_set_add(&m->to_ask, i);
    } else {
        step_set_remove(&m->asking, i);
        step_set_remove(&m->to_ask, i);
    }
    if (state == STEP_BLOCKED)
        step_set_add(&m->blocked, i);
    else if (state != STEP_READY &&
             state != STEP_CREATING) /* a new try stays in the set until it succeeds */
        step_set_remove(&m->blocked, i);
    m->changes++;
}

/* Every set of the model, lists first. */
enum { SETS = FLOW_LIST_N + 9 };

static struct step_set *set_at(struct flow_model *m, int at)
{
    struct step_set *others[] = {&m->blocked,   &m->probing,    &m->retried,
                                 &m->completed, &m->to_command, &m->to_check,
                                 &m->to_ask,    &m->asking,     &m->servers};

    return at < FLOW_LIST_N ? &m->lists[at] : others[at - FLOW_LIST_N];
}

void flow_model_init_sets(struct flow_model *m)
{
    for (int i = 0; i < SETS; i++)
        step_set_init(set_at(m, i), m->graph->steps);
}

void flow_model_release_sets(struct flow_model *m)
{
    for (int i = 0; i < SETS; i++)
        step_set_release(set_at(m, i));
}

bool flow_model_active(const struct flow_model *m)
{
    return m->serving_ready || flow_model_active_beside_servers(m);
}

bool flow_model_active_beside_servers(const struct flow_model *m)
{
    return flow_model_ordinary_unfinished(m) > m->serving_ready || m->creating ||
           ready_queue_count(&m->ready_queue) || m->blocked.count || m->backing_off ||
           m->to_check.count || m->checking || m->asking.count;
}

uint32_t flow_model_unfinished(const struct flow_model *m)
{
    return m->started - m->by_phase[JOB_COMPLETED] - m->by_phase[JOB_FAILED] -
           m->by_phase[JOB_TERMINATED];
}

uint32_t flow_model_ordinary_unfinished(const struct flow_model *m)
{
    return flow_model_unfinished(m) - m->finals_unfinished;
}

uint32_t flow_model_failed_steps(const struct flow_model *m)
{
    return m->outcomes[0][OUTCOME_FAILED];
}

bool flow_model_has_failed(const struct flow_model *m)
{
    return flow_model_failed_steps(m) > m->kept_failures ||
           (m->partial && !flow_model_active(m) && !flow_model_all_done(m));
}

bool flow_model_all_done(const struct flow_model *m)
{
    return !m->outcomes[0][OUTCOME_OPEN] && !m->outcomes[0][OUTCOME_FAILED];
}

uint32_t flow_model_jobs_past_pending(const struct flow_model *m)
{
    return m->started - m->by_phase[JOB_NONE] - m->by_phase[JOB_PENDING];
}
