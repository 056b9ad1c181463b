/*
 * Loops: a step whose jobs are iterations, vertices of their own right behind it.
 *
 *   items, itemsFrom, range   iterations start in order, at most `parallelism` at once; the loop
 *                             completes with the last, and fails with the first that fails: those
 *                             not started are skipped
 *   until                     one after the other, until the condition holds after one; fails when
 *                             maxIterations is used up
 *
 * Everything is worked out from the iterations' own states, so a loop goes on after a restart.
 */
#include "flow/model/condition.h"
#include "flow/model/control.h"
#include "flow/model/loop_items.h"

static const struct flow_loop *loop_of(const struct flow_model *m, uint32_t loop)
{
    return flow_graph_step(m->graph, loop)->loop;
}

/* It has not begun, or begins again. */
static bool is_to_start(const struct step *child)
{
    return child->state == STEP_WAITING || child->state == STEP_DORMANT;
}

/* It has no job, and none is being made. */
static bool has_no_job(const struct step *child)
{
    return is_to_start(child) || child->state == STEP_READY || child->state == STEP_BLOCKED;
}

/* Those of an until that never ran were never promised, nor those beyond the items. */
static uint32_t promised_of(const struct flow_model *m, uint32_t loop)
{
    const struct flow_loop *spec = loop_of(m, loop);
    const struct loop_items *items = spec->items_from ? loop_items_of(m, loop) : NULL;

    if (flow_loop_is_open(spec))
        return items && !items->reason ? items->count : 0;
    return flow_graph_iterations(m->graph, loop);
}

/* Iterations that do not run any more, nor again. */
static void skip_rest(struct flow_model *m, uint32_t loop)
{
    uint32_t count = flow_graph_iterations(m->graph, loop), promised = promised_of(m, loop);

    for (uint32_t k = 0; k < count; k++) {
        const struct step *child = &m->steps[loop + 1 + k];

        if (has_no_job(child) && (k < promised || child->attempt))
            flow_model_move_step(m, loop + 1 + k, STEP_SKIPPED, JOB_NONE);
        else if (child->state == STEP_BACKOFF)
            flow_model_move_step(m, loop + 1 + k, STEP_STARTED, (enum job_phase)child->phase);
    }
    m->control->steps[loop].next = count;
}

static void finish(struct flow_model *m, uint32_t loop, enum job_phase phase)
{
    skip_rest(m, loop);
    flow_model_move_step(m, loop, STEP_STARTED, phase);
    flow_control_step_ended(m, loop);
}

/* How many run at most: of items that were put out, as many as there are. */
static uint32_t count_of(const struct flow_model *m, uint32_t loop)
{
    return loop_of(m, loop)->items_from ? promised_of(m, loop)
                                        : flow_graph_iterations(m->graph, loop);
}

static bool is_over(struct flow_model *m, uint32_t loop)
{
    const struct step_control *ctl = &m->control->steps[loop];
    const struct flow_loop *spec = loop_of(m, loop);
    const struct loop_items *items = spec->items_from ? loop_items_of(m, loop) : NULL;
    uint32_t count = count_of(m, loop);

    if (ctl->lost_one || (items && items->reason)) {
        finish(m, loop, JOB_FAILED);
        return true;
    }
    if (spec->until && !ctl->active && ctl->done && flow_condition_holds(m, spec->until)) {
        finish(m, loop, JOB_COMPLETED);
        return true;
    }
    if (ctl->done < count)
        return false;
    finish(m, loop, spec->until ? JOB_FAILED : JOB_COMPLETED);
    return true;
}

static void advance(struct flow_model *m, uint32_t loop)
{
    struct step_control *ctl = &m->control->steps[loop];
    const struct flow_loop *spec = loop_of(m, loop);
    uint32_t count = count_of(m, loop);
    uint32_t at_once = spec->until ? 1 : (uint32_t)spec->parallelism;

    if (m->steps[loop].phase != JOB_RUNNING || is_over(m, loop))
        return;
    for (; ctl->next < count && (!at_once || ctl->active < at_once); ctl->next++) {
        if (!is_to_start(&m->steps[loop + 1 + ctl->next]))
            continue;
        flow_model_move_step(m, loop + 1 + ctl->next, STEP_READY, JOB_NONE);
        ctl->active++;
    }
}

/* An iteration as it is when the loop begins, perhaps again: after a restart, or a manual retry. */
static void take_up(struct flow_model *m, uint32_t loop, uint32_t child)
{
    struct step_control *ctl = &m->control->steps[loop];
    const struct step *step = &m->steps[child];

    if (step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase)) {
        m->control->steps[child].notified = NOTIFIED_ALL;
        ctl->done += step->phase == JOB_COMPLETED;
        ctl->lost_one |= step->phase != JOB_COMPLETED;
    } else if (!is_to_start(step) && step->state != STEP_SKIPPED) {
        ctl->active++;
    }
}

/* Items that were put out are waited for like those of the manifest from then on. */
static void come_about(struct flow_model *m, uint32_t loop)
{
    uint32_t count = loop_of(m, loop)->items_from ? promised_of(m, loop) : 0;

    for (uint32_t k = 0; k < count; k++)
        if (m->steps[loop + 1 + k].state == STEP_DORMANT)
            flow_model_move_step(m, loop + 1 + k, STEP_WAITING, JOB_NONE);
}

void flow_loop_start(struct flow_model *m, uint32_t loop)
{
    struct step_control *ctl = &m->control->steps[loop];
    uint32_t count = flow_graph_iterations(m->graph, loop);

    ctl->next = ctl->active = ctl->done = 0;
    ctl->lost_one = false;
    loop_items_free(take(ctl->items));
    flow_model_move_step(m, loop, STEP_STARTED, JOB_RUNNING);
    for (uint32_t k = 0; k < count; k++)
        take_up(m, loop, loop + 1 + k);
    come_about(m, loop);
    advance(m, loop);
}

void flow_loop_iteration_ended(struct flow_model *m, uint32_t child)
{
    uint32_t loop = flow_graph_loop(m->graph, child);
    struct step_control *ctl = &m->control->steps[loop];

    if (m->control->steps[child].notified != NOTIFIED_NONE)
        return;
    m->control->steps[child].notified = NOTIFIED_ALL;
    if (ctl->active)
        ctl->active--;
    if (m->steps[child].phase == JOB_COMPLETED)
        ctl->done++;
    else
        ctl->lost_one = true;
    advance(m, loop);
}

const char *flow_loop_failure(const struct flow_model *m, uint32_t loop, struct buf *out)
{
    const struct flow_loop *spec = loop_of(m, loop);
    const struct loop_items *items = spec && spec->items_from ? loop_items_of(m, loop) : NULL;
    uint32_t count = flow_graph_iterations(m->graph, loop);

    if (!spec || !flow_model_step_failed(m, loop))
        return NULL;
    if (items && items->reason) {
        buf_str(out, items->message);
        return items->reason;
    }
    for (uint32_t i = loop + 1; i <= loop + count; i++) {
        if (!flow_model_step_failed(m, i))
            continue;
        buf_printf(out, "iteration %s is %s", flow_graph_name(m->graph, i),
                   job_phase_text((enum job_phase)m->steps[i].phase));
        return "IterationFailed";
    }
    buf_printf(out, "the condition of step %s did not hold after %u iterations",
               flow_graph_name(m->graph, loop), count);
    return "LoopExhausted";
}

void flow_loop_skip(struct flow_model *m, uint32_t loop)
{
    skip_rest(m, loop);
}
