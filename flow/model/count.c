/*
 * Sets and counters of the record. Every change of a step goes through here, so that they always
 * agree with the steps.
 */
#include "flow/model/flow_model.h"

/* Ref: spec/jobflow.md 8.1; Completing and Terminating are in the lists of their ends, as the
 * design document says. */
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

static enum flow_list list_of(const struct flow_record *r, const struct step *step)
{
    if (step->jobless || step->state == STEP_DORMANT)
        return FLOW_LIST_NONE;
    if (step->state == STEP_SKIPPED)
        return FLOW_LIST_SKIPPED;
    if (step->state != STEP_STARTED)
        return FLOW_LIST_WAITING;
    if (r->upstream && (step->phase == JOB_COMPLETING || step->phase == JOB_TERMINATING))
        return FLOW_LIST_NONE;
    return list_of_phase[step->phase];
}

static void put_in_list(struct flow_record *r, uint32_t i, bool in)
{
    enum flow_list list = list_of(r, &r->steps[i]);

    if (list == FLOW_LIST_NONE)
        return;
    if (in)
        step_set_add(&r->lists[list], i);
    else
        step_set_remove(&r->lists[list], i);
}

static enum step_fate fate_of(const struct step *step)
{
    if (step->state == STEP_SKIPPED || step->state == STEP_DORMANT)
        return FATE_DONE;
    if (step->state != STEP_STARTED)
        return FATE_OPEN;
    if (phase_failed(step->phase) && !step->handled && !step->inner)
        return step->judging ? FATE_OPEN : FATE_FAILED;
    return step->phase == JOB_COMPLETED || phase_failed(step->phase) ? FATE_DONE : FATE_OPEN;
}

/* Count or discount a step where state and phase put it. */
void flow_record_count(struct flow_record *r, uint32_t i, bool in)
{
    const struct step *step = &r->steps[i];
    uint32_t one = in ? 1 : UINT32_MAX; /* adding UINT32_MAX subtracts one */

    put_in_list(r, i, in);
    r->fates[step->final][fate_of(step)] += one;
    if (step->state == STEP_CREATING)
        r->creating += one;
    if (step->state == STEP_BACKOFF)
        r->backing_off += one;
    if (step->jobless || step->state == STEP_DORMANT)
        r->hidden += one;
    if (step->state != STEP_STARTED || step->jobless)
        return;
    if (step->phase == JOB_COMPLETED && in)
        step_set_add(&r->completed, i);
    else
        step_set_remove(&r->completed, i);
    r->started += one;
    r->by_phase[step->phase] += one;
    if (step->final && !job_phase_finished((enum job_phase)step->phase))
        r->finals_unfinished += one;
    if (step->job && (step->final ? job_phase_finished((enum job_phase)step->phase)
                                  : phase_failed(step->phase) && !step->handled))
        r->failed_jobs += one;
}

void flow_record_move_step(struct flow_record *r, uint32_t i, enum step_state state,
                           enum job_phase phase)
{
    struct step *step = &r->steps[i];
    bool was_ready = step->state == STEP_READY;

    flow_record_count(r, i, false);
    step->state = (uint8_t)state;
    step->phase = (uint8_t)phase;
    flow_record_count(r, i, true);
    if (state == STEP_READY && !was_ready && !step->block)
        step->finished_at = r->tick;
    if (state == STEP_READY)
        flow_queue_put(&r->queue, i);
    else if (was_ready)
        flow_queue_drop(&r->queue, i);
    if (state == STEP_BLOCKED)
        step_set_add(&r->blocked, i);
    else if (state != STEP_READY && state != STEP_CREATING) /* a new try is still blocked */
        step_set_remove(&r->blocked, i);
    r->changes++;
}

/* Every set of the record, lists first. */
enum { SETS = FLOW_LIST_N + 5 };

static struct step_set *set_at(struct flow_record *r, int at)
{
    struct step_set *others[] = {&r->blocked, &r->probing, &r->retried, &r->completed, &r->ordered};

    return at < FLOW_LIST_N ? &r->lists[at] : others[at - FLOW_LIST_N];
}

void flow_record_init_sets(struct flow_record *r)
{
    for (int i = 0; i < SETS; i++)
        step_set_init(set_at(r, i), r->graph->steps);
}

void flow_record_release_sets(struct flow_record *r)
{
    for (int i = 0; i < SETS; i++)
        step_set_release(set_at(r, i));
}

bool flow_record_active(const struct flow_record *r)
{
    return flow_record_ordinary_unfinished(r) || r->creating || flow_queue_count(&r->queue) ||
           r->blocked.count || r->backing_off;
}

uint32_t flow_record_unfinished(const struct flow_record *r)
{
    return r->started - r->by_phase[JOB_COMPLETED] - r->by_phase[JOB_FAILED] -
           r->by_phase[JOB_TERMINATED];
}

uint32_t flow_record_ordinary_unfinished(const struct flow_record *r)
{
    return flow_record_unfinished(r) - r->finals_unfinished;
}

uint32_t flow_record_failed(const struct flow_record *r)
{
    return r->fates[0][FATE_FAILED];
}

bool flow_record_all_done(const struct flow_record *r)
{
    return !r->fates[0][FATE_OPEN] && !r->fates[0][FATE_FAILED];
}

uint32_t flow_record_ran(const struct flow_record *r)
{
    return r->started - r->by_phase[JOB_NONE] - r->by_phase[JOB_PENDING];
}
