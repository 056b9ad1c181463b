/*
 * Loops. A loop has no job; its jobs are iterations, vertices of their own right behind its vertex.
 *
 *   items, itemsFrom, range   Iterations start in order, at most `parallelism` at once. The loop
 *                             ends with the last of them.
 *   until                     Iterations run one after the other, until the condition holds after
 *                             one. The loop fails when maxIterations are used up.
 *
 * A loop in which more than maxFailures iterations have failed fails: at once, and those that have
 * not started are skipped; or, when the loop or the flow continues after failures or the step ignores
 * them, when all others have ended. With fewer failures it completes.
 *
 * Everything is computed from the states of the iterations, so a loop continues after a restart.
 */
#include "flow/model/condition.h"
#include "flow/model/control.h"
#include "flow/model/loop_items.h"

static const struct flow_loop *loop_of(const struct flow_model *m, uint32_t loop)
{
    return flow_graph_step(m->graph, loop)->loop;
}

/* Returns whether the iteration has not begun, or begins again. */
static bool is_to_start(const struct step *iteration)
{
    return iteration->state == STEP_WAITING || iteration->state == STEP_DORMANT;
}

/* Returns whether the iteration has no job and none is being created. */
static bool has_no_job(const struct step *iteration)
{
    return is_to_start(iteration) || iteration->state == STEP_READY ||
           iteration->state == STEP_CHECKING || iteration->state == STEP_BLOCKED;
}

/* Returns how many iterations the status shows as steps. Those of an `until`, and those beyond the
 * items of an output, appear only when they run. */
static uint32_t listed_iterations(const struct flow_model *m, uint32_t loop)
{
    const struct flow_loop *spec = loop_of(m, loop);
    const struct loop_items *items = spec->items_from ? loop_items_of(m, loop) : NULL;

    if (flow_loop_is_open(spec))
        return items && !items->reason ? items->count : 0;
    return flow_graph_iterations(m->graph, loop);
}

/* Ends the iterations that have not run: none of them starts, and none is retried. */
static void skip_rest(struct flow_model *m, uint32_t loop)
{
    uint32_t count = flow_graph_iterations(m->graph, loop), listed = listed_iterations(m, loop);

    for (uint32_t k = 0; k < count; k++) {
        const struct step *iteration = &m->steps[loop + 1 + k];

        if (has_no_job(iteration) && (k < listed || iteration->attempt))
            flow_model_move_step(m, loop + 1 + k, STEP_SKIPPED, JOB_NONE);
        else if (iteration->state == STEP_BACKOFF)
            flow_model_move_step(m, loop + 1 + k, STEP_STARTED,
                                 flow_attempt_end((enum job_phase)iteration->phase));
    }
    m->control->steps[loop].next = count;
}

/* The failures of a loop that completes are none of the flow. */
static void tolerate_failures(struct flow_model *m, uint32_t loop)
{
    for (uint32_t i = loop + 1; i <= loop + flow_graph_iterations(m->graph, loop); i++) {
        flow_model_uncount(m, i);
        m->steps[i].tolerated = true;
        flow_model_count(m, i);
    }
}

static void finish(struct flow_model *m, uint32_t loop, enum job_phase phase)
{
    skip_rest(m, loop);
    if (phase == JOB_COMPLETED && m->control->steps[loop].failed)
        tolerate_failures(m, loop);
    flow_model_move_step(m, loop, STEP_STARTED, phase);
    flow_control_step_ended(m, loop);
}

/* Returns how many iterations run at most. */
static uint32_t count_of(const struct flow_model *m, uint32_t loop)
{
    return loop_of(m, loop)->items_from ? listed_iterations(m, loop)
                                        : flow_graph_iterations(m->graph, loop);
}

/* Returns whether further iterations start after one has failed. In a flow that ends none does. */
static bool goes_on_after_failures(const struct flow_model *m, uint32_t loop)
{
    bool over = m->retries_ended && !m->steps[loop].final;

    return !over && (m->continues || m->steps[loop].ignored ||
                     loop_of(m, loop)->failure_policy == LOOP_FAILURE_CONTINUE);
}

/* Returns whether more iterations have failed than the loop tolerates. */
static bool has_failed(const struct flow_model *m, uint32_t loop)
{
    const struct step_control *ctl = &m->control->steps[loop];

    return ctl->missing || ctl->failed > (uint32_t)loop_of(m, loop)->max_failures;
}

/* Ends the loop if its iterations say so. */
static bool end_if_over(struct flow_model *m, uint32_t loop)
{
    const struct step_control *ctl = &m->control->steps[loop];
    const struct flow_loop *spec = loop_of(m, loop);
    const struct loop_items *items = spec->items_from ? loop_items_of(m, loop) : NULL;
    uint32_t count = count_of(m, loop), ended = ctl->done + ctl->failed;

    if ((has_failed(m, loop) && ctl->failed > ctl->kept && !goes_on_after_failures(m, loop)) ||
        (items && items->reason)) {
        finish(m, loop, JOB_FAILED);
        return true;
    }
    if (spec->until && !ctl->active && ended && flow_condition_holds(m, spec->until)) {
        finish(m, loop, has_failed(m, loop) ? JOB_FAILED : JOB_COMPLETED);
        return true;
    }
    if (ended < count)
        return false;
    finish(m, loop, spec->until || has_failed(m, loop) ? JOB_FAILED : JOB_COMPLETED);
    return true;
}

/* Starts as many further iterations as may run at once. */
static void advance(struct flow_model *m, uint32_t loop)
{
    struct step_control *ctl = &m->control->steps[loop];
    const struct flow_loop *spec = loop_of(m, loop);
    uint32_t count = count_of(m, loop);
    uint32_t at_once = spec->until ? 1 : (uint32_t)spec->parallelism;

    if (m->steps[loop].phase != JOB_RUNNING || end_if_over(m, loop))
        return;
    for (; ctl->next < count && (!at_once || ctl->active < at_once); ctl->next++) {
        if (!is_to_start(&m->steps[loop + 1 + ctl->next]))
            continue;
        flow_model_move_step(m, loop + 1 + ctl->next, STEP_READY, JOB_NONE);
        ctl->active++;
    }
}

/* The iteration has ended. A failure that its loop ignores is handled at once. */
static void count_ended(struct flow_model *m, uint32_t loop, uint32_t iteration)
{
    struct step_control *ctl = &m->control->steps[loop];

    m->control->steps[iteration].notified = NOTIFIED_ALL;
    if (m->steps[iteration].phase == JOB_COMPLETED) {
        ctl->done++;
        return;
    }
    ctl->failed++;
    ctl->kept += m->steps[iteration].kept;
    if (m->steps[loop].ignored)
        flow_model_mark_handled(m, iteration);
}

/* Counts an iteration as it is when the loop begins or continues. */
static void count_iteration(struct flow_model *m, uint32_t loop, uint32_t iteration)
{
    struct step_control *ctl = &m->control->steps[loop];
    const struct step *step = &m->steps[iteration];

    if (step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase)) {
        count_ended(m, loop, iteration);
    } else if (step->kept && step->state == STEP_SKIPPED) {
        ctl->failed++; /* the loop is not complete without it */
        ctl->missing++;
        ctl->kept++;
    } else if (!is_to_start(step) && step->state != STEP_SKIPPED) {
        ctl->active++;
    }
}

/* The items of an output are known now, so their iterations wait like those of `items`. */
static void wake_iterations(struct flow_model *m, uint32_t loop)
{
    uint32_t count = loop_of(m, loop)->items_from ? listed_iterations(m, loop) : 0;

    for (uint32_t k = 0; k < count; k++)
        if (m->steps[loop + 1 + k].state == STEP_DORMANT)
            flow_model_move_step(m, loop + 1 + k, STEP_WAITING, JOB_NONE);
}

void flow_loop_start(struct flow_model *m, uint32_t loop)
{
    struct step_control *ctl = &m->control->steps[loop];
    uint32_t count = flow_graph_iterations(m->graph, loop);

    ctl->next = ctl->active = ctl->done = ctl->failed = ctl->kept = ctl->missing = 0;
    loop_items_free(take(ctl->items));
    flow_model_move_step(m, loop, STEP_STARTED, JOB_RUNNING);
    for (uint32_t k = 0; k < count; k++)
        count_iteration(m, loop, loop + 1 + k);
    wake_iterations(m, loop);
    advance(m, loop);
}

void flow_loop_flow_ends(struct flow_model *m, uint32_t loop)
{
    if (m->control->steps[loop].failed)
        advance(m, loop);
}

bool flow_loop_was_cut_short(const struct flow_model *m, uint32_t loop)
{
    const struct flow_loop *spec = loop_of(m, loop);
    const struct step *step = &m->steps[loop];
    bool more = spec && spec->until && !flow_condition_holds(m, spec->until);

    if (!spec || step->is_iteration || step->state != STEP_STARTED || !phase_failed(step->phase) ||
        !m->steps[loop].ignored)
        return false;
    for (uint32_t i = loop + 1; i <= loop + flow_graph_iterations(m->graph, loop); i++)
        if (m->steps[i].state == STEP_SKIPPED || (more && m->steps[i].state == STEP_DORMANT))
            return true;
    return false;
}

void flow_loop_iteration_ended(struct flow_model *m, uint32_t iteration)
{
    uint32_t loop = flow_graph_loop(m->graph, iteration);
    struct step_control *ctl = &m->control->steps[loop];

    if (m->control->steps[iteration].notified != NOTIFIED_NONE)
        return;
    if (ctl->active)
        ctl->active--;
    count_ended(m, loop, iteration);
    advance(m, loop);
}

/* The iterations of a loop that has failed, by what became of them. */
struct iteration_counts {
    uint32_t ran, failed, never_ran; /* iterations that ran (some may still run), failed, never
                                      * ran */
    uint32_t cached;                 /* those that were reused */
    uint32_t first_failed;           /* the first iteration that failed; STEP_NONE: none failed */
};

static struct iteration_counts count_iterations(const struct flow_model *m, uint32_t loop)
{
    struct iteration_counts counts = {.first_failed = STEP_NONE};
    uint32_t count = flow_graph_iterations(m->graph, loop);

    for (uint32_t i = loop + 1; i <= loop + count; i++) {
        const struct step *step = &m->steps[i];

        counts.never_ran += step->state == STEP_SKIPPED;
        counts.ran += step->state == STEP_STARTED;
        counts.cached += step->state == STEP_STARTED && step->cached;
        if (step->state != STEP_STARTED || !phase_failed(step->phase))
            continue;
        if (!counts.failed++)
            counts.first_failed = i;
    }
    return counts;
}

static void describe_iterations(const struct flow_model *m, const struct iteration_counts *counts,
                                struct buf *out)
{
    uint32_t total = counts->ran + counts->never_ran;

    buf_printf(out, "iteration %s is %s; %u of %u iteration%s failed",
               flow_graph_name(m->graph, counts->first_failed),
               job_phase_text((enum job_phase)m->steps[counts->first_failed].phase), counts->failed,
               total, total == 1 ? "" : "s");
    if (counts->never_ran)
        buf_printf(out, ", %u never ran", counts->never_ran);
}

/* Tells how far a running loop has come. */
static void describe_progress(const struct flow_model *m, uint32_t loop, struct buf *out)
{
    const struct step_control *ctl = &m->control->steps[loop];
    const uint32_t ended = ctl->done + ctl->failed, count = count_of(m, loop);

    if (loop_of(m, loop)->until)
        buf_printf(out, "%u iteration%s ended, at most %u run", ended,
                   ended == 1 ? " has" : "s have", count);
    else
        buf_printf(out, "%u of %u iteration%s ended", ended, count, count == 1 ? " has" : "s have");
    if (ctl->failed)
        buf_printf(out, ", %u of them failed", ctl->failed);
    if (ctl->active)
        buf_printf(out, "; %u at work", ctl->active);
}

const char *flow_loop_state(const struct flow_model *m, uint32_t loop, struct buf *out)
{
    const struct step *step = &m->steps[loop];
    struct iteration_counts counts;

    if (!loop_of(m, loop) || step->state != STEP_STARTED)
        return NULL;
    if (step->phase == JOB_RUNNING) {
        describe_progress(m, loop, out);
        return "Iterating";
    }
    if (step->phase != JOB_COMPLETED)
        return flow_loop_failure(m, loop, out);
    counts = count_iterations(m, loop);
    if (counts.ran && counts.cached == counts.ran) {
        buf_printf(out, "all %u iterations were reused", counts.ran);
        return STEP_CACHED_TEXT;
    }
    if (!counts.failed || !loop_of(m, loop)->max_failures)
        return NULL;
    describe_iterations(m, &counts, out);
    buf_printf(out, ", maxFailures is %d", loop_of(m, loop)->max_failures);
    return "FailuresTolerated";
}

const char *flow_loop_failure(const struct flow_model *m, uint32_t loop, struct buf *out)
{
    const struct step *step = &m->steps[loop];
    const struct flow_loop *spec = loop_of(m, loop);
    const struct loop_items *items = spec && spec->items_from ? loop_items_of(m, loop) : NULL;
    struct iteration_counts counts;

    if (!spec || step->state != STEP_STARTED || !phase_failed(step->phase))
        return NULL;
    if (items && items->reason) {
        buf_str(out, items->message);
        return items->reason;
    }
    counts = count_iterations(m, loop);
    if (counts.failed) {
        describe_iterations(m, &counts, out);
        return "IterationFailed";
    }
    buf_printf(out, "the condition of step %s did not hold after %u iterations",
               flow_graph_name(m->graph, loop), counts.ran);
    return "LoopExhausted";
}

void flow_loop_skip(struct flow_model *m, uint32_t loop)
{
    skip_rest(m, loop);
}
