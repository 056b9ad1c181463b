/*
 * Rebuilds a model: for a changed spec, and its sets and counters from nothing but the steps.
 */
#include <string.h>

#include "flow/model/control.h"
#include "flow/model/flow_model.h"
#include "flow/model/step_probe.h"

void flow_model_take_over(struct flow_model *m, struct flow_model *old)
{
    for (uint32_t i = 0; i < m->graph->steps; i++) {
        uint32_t from = flow_graph_find(old->graph, flow_graph_name(m->graph, i));
        struct step *step = &m->steps[i];
        const struct step made = *step;

        if (from == STEP_NONE)
            continue;
        *step = old->steps[from];
        step->probe = made.probe;
        step->is_iteration = made.is_iteration;
        step->jobless = made.jobless;
        step->approval = made.approval;
        step->serves = made.serves;
        step->final = made.final;
        step->ignored = made.ignored;
        step->results_wanted = made.results_wanted;
        step->reusable = made.reusable;
        step->look_up = made.look_up;
        step->judged_again = false; /* a retry that is requested is prepared anew */
        if (step->probe && old->steps[from].probe)
            step_probe_take_over(step->probe, old->steps[from].probe);
        flow_model_take_over_reuse(m, i, old, from);
        old->steps[from].history = NULL;
        old->steps[from].backoff = NULL;
        old->steps[from].timeout = NULL;
        old->steps[from].server = NULL;
    }
    if (m->control && old->control)
        flow_control_take_over(m, old);
    m->retries_ended = old->retries_ended;
    m->partial = old->partial;
    m->changes = old->changes + 1;
}

void flow_model_clear_handled(struct flow_model *m)
{
    for (uint32_t i = 0; i < m->graph->steps; i++)
        m->steps[i].handled = false;
}

/* Returns how many targets the step waits for at first. */
static uint32_t waits_at_first(const struct flow_model *m, uint32_t i)
{
    uint32_t targets = (uint32_t)flow_graph_targets(m->graph, i);

    if (m->steps[i].probe)
        return step_probe_open(m->steps[i].probe);
    return !m->control && flow_model_waits_for_any(m, i) && targets ? 1 : targets;
}

/* Counts a step as if no target had been met; the notifications that follow do the rest. */
static void recount_step(struct flow_model *m, uint32_t i)
{
    struct step *step = &m->steps[i];

    if (step->state == STEP_READY || step->state == STEP_BLOCKED || step->state == STEP_CHECKING ||
        step->state == STEP_ASKING)
        step->state = STEP_WAITING; /* the new spec may have other dependencies */
    step->waiting = waits_at_first(m, i);
    step->completion_notified = false;
    step->failure_undecided = false;
    if (m->control)
        flow_control_reset(m, i);
    flow_model_count(m, i);
    if (step->probe)
        step_set_add(&m->probing, i);
    if (step->serves)
        step_set_add(&m->servers, i);
    if (step->attempt > 1 || step->retry || step->state == STEP_BACKOFF)
        step_set_add(&m->retried, i);
    if (step->attempt && step->state >= STEP_STARTED)
        ready_queue_gang_formed(&m->ready_queue, i);
    if (!m->control && !step->waiting && step->state == STEP_WAITING && !step->kept)
        flow_model_set_state(m, i, STEP_READY);
}

/* Marks the iterations whose failures their loop has tolerated. */
static void mark_tolerated(struct flow_model *m)
{
    for (uint32_t i = 0; i < m->graph->steps; i++) {
        const struct step *loop =
            m->steps[i].is_iteration ? &m->steps[flow_graph_loop(m->graph, i)] : NULL;

        m->steps[i].tolerated = loop && loop->state == STEP_STARTED && loop->phase == JOB_COMPLETED;
    }
}

void flow_model_recount(struct flow_model *m)
{
    flow_model_release_sets(m);
    flow_model_init_sets(m);
    ready_queue_clear(&m->ready_queue);
    memset(m->by_phase, 0, sizeof m->by_phase);
    memset(m->outcomes, 0, sizeof m->outcomes);
    m->checking = m->cached = 0;
    m->started = m->creating = m->failed_jobs = m->backing_off = m->unlisted = 0;
    m->finals_unfinished = m->handled_failures = m->kept_failures = m->serving = m->serving_ready =
        0;
    m->counted = true;
    if (m->control)
        mark_tolerated(m);
    for (uint32_t i = 0; i < m->graph->steps; i++)
        recount_step(m, i);
    if (m->control) {
        flow_control_recount(m);
        return;
    }
    for (uint32_t i = 0; i < m->graph->steps; i++)
        if (m->steps[i].state == STEP_STARTED && m->steps[i].phase == JOB_COMPLETED)
            flow_model_notify_dependents(m, i);
}
