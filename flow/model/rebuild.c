/*
 * The record taken up anew: from the one of an earlier spec, after a manual retry, and its sets and
 * counters from nothing but its steps.
 */
#include <assert.h>
#include <string.h>

#include "flow/model/control.h"
#include "flow/model/flow_model.h"
#include "flow/model/step_probe.h"

void flow_record_move(struct flow_record *r, struct flow_record *old)
{
    for (uint32_t i = 0; i < r->graph->steps; i++) {
        uint32_t from = flow_graph_find(old->graph, flow_graph_name(r->graph, i));
        struct step *step = &r->steps[i];
        const struct step made = *step;

        if (from == STEP_NONE)
            continue;
        *step = old->steps[from];
        step->probe = made.probe;
        step->inner = made.inner;
        step->jobless = made.jobless;
        step->final = made.final;
        step->wanted = made.wanted;
        if (step->probe && old->steps[from].probe)
            step_probe_move(step->probe, old->steps[from].probe);
        old->steps[from].detail = NULL;
        old->steps[from].backoff = NULL;
    }
    if (r->control && old->control)
        flow_control_move(r, old);
    r->closed = old->closed;
    r->changes = old->changes + 1;
}

void flow_record_forget_handled(struct flow_record *r)
{
    for (uint32_t i = 0; i < r->graph->steps; i++)
        r->steps[i].handled = false;
}

/* How many targets the step waits for when nothing has happened yet. */
static uint32_t waits_at_first(const struct flow_record *r, uint32_t i)
{
    uint32_t targets = (uint32_t)flow_graph_targets(r->graph, i);

    if (r->steps[i].probe)
        return step_probe_open(r->steps[i].probe);
    return !r->control && flow_record_waits_for_any(r, i) && targets ? 1 : targets;
}

/* A step as it is before its dependencies are looked at. */
static void recount_step(struct flow_record *r, uint32_t i)
{
    struct step *step = &r->steps[i];

    if (step->state == STEP_READY || step->state == STEP_BLOCKED)
        step->state = STEP_WAITING; /* the new spec may say otherwise */
    step->waiting = waits_at_first(r, i);
    step->completed_told = false;
    step->judging = false;
    if (r->control)
        flow_control_reset(r, i);
    flow_record_count(r, i, true);
    if (step->probe)
        step_set_add(&r->probing, i);
    if (step->attempt > 1 || step->retry || step->state == STEP_BACKOFF)
        step_set_add(&r->retried, i);
    if (step->attempt && step->state >= STEP_STARTED)
        flow_queue_opened(&r->queue, i);
    if (!r->control && !step->waiting && step->state == STEP_WAITING)
        flow_record_set_state(r, i, STEP_READY);
}

void flow_record_recount(struct flow_record *r)
{
    flow_record_release_sets(r);
    flow_record_init_sets(r);
    flow_queue_clear(&r->queue);
    memset(r->by_phase, 0, sizeof r->by_phase);
    memset(r->fates, 0, sizeof r->fates);
    r->started = r->creating = r->failed_jobs = r->backing_off = r->hidden = 0;
    r->finals_unfinished = 0;
    r->settled = true;
    for (uint32_t i = 0; i < r->graph->steps; i++)
        recount_step(r, i);
    if (r->control) {
        flow_control_recount(r);
        return;
    }
    for (uint32_t i = 0; i < r->graph->steps; i++)
        if (r->steps[i].state == STEP_STARTED && r->steps[i].phase == JOB_COMPLETED)
            flow_record_tell_dependents(r, i);
}

/* A new attempt of the step is a new thing to look at for those who probe it. */
static void forget_met(struct flow_record *r, uint32_t i)
{
    flow_graph_each_dependent(r->graph, i, dependent)
    {
        if (r->steps[dependent].probe)
            step_probe_forget(r->steps[dependent].probe, flow_graph_name(r->graph, i));
    }
}

static void start_again(struct flow_record *r, uint32_t i, int64_t now_ms)
{
    struct step *step = &r->steps[i];

    if (step->detail)
        step_detail_end_attempt(step->detail, step->attempt, now_ms);
    step->state = STEP_WAITING;
    step->phase = JOB_NONE;
    step->retry = !step->jobless && step->attempt;
    step->retries = 0;
    if (r->probed)
        forget_met(r, i);
}

/* An iteration of a loop that has ended and does not begin again; a loop comes before its own. */
static bool stays_skipped(const struct flow_record *r, uint32_t i)
{
    return r->steps[i].inner && r->steps[flow_graph_loop(r->graph, i)].state == STEP_STARTED;
}

static void decide_anew(struct flow_record *r, uint32_t i)
{
    r->steps[i].state = STEP_WAITING;
    if (r->probed)
        forget_met(r, i);
}

uint32_t flow_record_start_again(struct flow_record *r, int64_t now_ms)
{
    uint32_t count = 0;

    assert(!r->failed_jobs);
    r->closed = false;
    for (uint32_t i = 0; i < r->graph->steps; i++) {
        if (r->steps[i].state == STEP_SKIPPED && !stays_skipped(r, i))
            decide_anew(r, i);
        if (r->steps[i].state != STEP_STARTED ||
            !job_phase_finished((enum job_phase)r->steps[i].phase))
            r->steps[i].retries = 0; /* also of an attempt that goes on */
        if (r->steps[i].final ? r->steps[i].state != STEP_STARTED : !flow_record_step_failed(r, i))
            continue;
        start_again(r, i, now_ms);
        count += !r->steps[i].jobless && !r->steps[i].final;
    }
    if (r->control)
        r->control->ended = false;
    r->changes++;
    flow_record_recount(r);
    return count;
}
