/*
 * Loops: a step whose jobs are iterations, vertices of their own right behind it.
 *
 *   items, range   iterations start in order, at most `parallelism` at once; the loop completes
 * with the last, and fails with the first that fails: those not started are skipped until one after
 * the other, until the condition holds after one; fails when maxIterations is used up
 *
 * Everything is worked out from the iterations' own states, so a loop goes on after a restart.
 */
#include "flow/condition.h"
#include "flow/control.h"

static const struct flow_loop *loop_of(const struct flow_record *r, uint32_t loop)
{
    return flow_graph_step(r->graph, loop)->loop;
}

static bool has_begun(const struct step *child)
{
    return child->attempt || child->retry || child->state == STEP_CREATING ||
           child->state == STEP_STARTED || child->state == STEP_BACKOFF;
}

static void finish(struct flow_record *r, uint32_t loop, enum job_phase phase)
{
    flow_record_move_step(r, loop, STEP_STARTED, phase);
    flow_control_settle(r, loop);
}

static void skip_rest(struct flow_record *r, uint32_t loop)
{
    struct step_control *ctl = &r->control->steps[loop];
    uint32_t count = flow_graph_iterations(r->graph, loop);

    if (!loop_of(r, loop)->until)
        for (uint32_t k = ctl->next; k < count; k++)
            flow_record_move_step(r, loop + 1 + k, STEP_SKIPPED, JOB_NONE);
    ctl->next = count;
}

static bool is_over(struct flow_record *r, uint32_t loop)
{
    const struct step_control *ctl = &r->control->steps[loop];
    const struct flow_loop *spec = loop_of(r, loop);
    uint32_t count = flow_graph_iterations(r->graph, loop);

    if (ctl->lost_one) {
        skip_rest(r, loop);
        finish(r, loop, JOB_FAILED);
        return true;
    }
    if (spec->until && !ctl->active && ctl->done && flow_condition_holds(r, spec->until)) {
        finish(r, loop, JOB_COMPLETED);
        return true;
    }
    if (ctl->done < count)
        return false;
    finish(r, loop, spec->until ? JOB_FAILED : JOB_COMPLETED);
    return true;
}

static void advance(struct flow_record *r, uint32_t loop)
{
    struct step_control *ctl = &r->control->steps[loop];
    const struct flow_loop *spec = loop_of(r, loop);
    uint32_t count = flow_graph_iterations(r->graph, loop);
    uint32_t at_once = spec->until ? 1 : (uint32_t)spec->parallelism;

    if (r->steps[loop].phase != JOB_RUNNING || is_over(r, loop))
        return;
    while (ctl->next < count && (!at_once || ctl->active < at_once)) {
        flow_record_move_step(r, loop + 1 + ctl->next, STEP_READY, JOB_NONE);
        ctl->next++;
        ctl->active++;
    }
}

/* An iteration that began before: before a restart, or before a manual retry. */
static void take_up(struct flow_record *r, uint32_t loop, uint32_t child)
{
    struct step_control *ctl = &r->control->steps[loop];
    const struct step *step = &r->steps[child];

    ctl->next++;
    if (step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase)) {
        r->control->steps[child].told = TOLD_ALL;
        ctl->done += step->phase == JOB_COMPLETED;
        ctl->lost_one |= step->phase != JOB_COMPLETED;
        return;
    }
    ctl->active++;
    if (step->state == STEP_WAITING || step->state == STEP_DORMANT)
        flow_record_move_step(r, child, STEP_READY, JOB_NONE);
}

void flow_loop_start(struct flow_record *r, uint32_t loop)
{
    struct step_control *ctl = &r->control->steps[loop];
    uint32_t count = flow_graph_iterations(r->graph, loop);

    ctl->next = ctl->active = ctl->done = 0;
    ctl->lost_one = false;
    flow_record_move_step(r, loop, STEP_STARTED, JOB_RUNNING);
    for (uint32_t k = 0; k < count && has_begun(&r->steps[loop + 1 + k]); k++)
        take_up(r, loop, loop + 1 + k);
    advance(r, loop);
}

void flow_loop_child_ended(struct flow_record *r, uint32_t child)
{
    uint32_t loop = flow_graph_loop(r->graph, child);
    struct step_control *ctl = &r->control->steps[loop];

    if (r->control->steps[child].told != TOLD_NOBODY)
        return;
    r->control->steps[child].told = TOLD_ALL;
    if (ctl->active)
        ctl->active--;
    if (r->steps[child].phase == JOB_COMPLETED)
        ctl->done++;
    else
        ctl->lost_one = true;
    advance(r, loop);
}

void flow_loop_skip(struct flow_record *r, uint32_t loop)
{
    r->control->steps[loop].next = 0;
    skip_rest(r, loop);
}
