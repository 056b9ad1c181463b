/*
 * A manual retry of a flow that has ended: which steps begin again, and their state when they do.
 *
 * A retry of a failed flow:
 *
 *   a step that was selected                        begins again, also if it completed
 *   a step that failed                              begins again
 *   one that was skipped or has never started       waits again, as at the start of the flow
 *   a final step                                    begins again, also if it completed
 *   one with a condition about any of the above     is judged again, also if it completed
 *   one that depends on a step that is judged again is judged again
 *   any other                                       keeps its result
 *
 * The fifth row follows the edges from the failed steps only, so a step that an unrelated switch
 * has skipped changes nothing.
 *
 * A selective retry (a rerun):
 *
 *   a step that was selected                        begins again
 *   a final step                                    begins again
 *   a loop of which an iteration was selected       goes on with this iteration
 *   one that has never started                      may start; is kept if `only` is requested
 *   any other                                       is kept, its failure as well
 *
 * What is kept is marked, in the status as well, so that a restart knows it. A kept failure fails
 * the flow when nothing is left that can start. The jobs of steps that begin again are removed first;
 * the model counts them as failed_jobs. Ref: spec/jobflow.md 13.4, spec/everyday.md 7.1.
 */
#include <assert.h>

#include "base/mem.h"
#include "flow/model/approval.h"
#include "flow/model/control.h"
#include "flow/model/serving.h"
#include "flow/model/step_probe.h"

/* Edges from steps to the steps whose conditions are about them. */
struct condition_edges {
    struct dag_edge *edges; /* edges to fill; NULL: they are only counted */
    size_t count;
};

static void collect_terms(const struct flow_model *m, const struct flow_condition *condition,
                          uint32_t step, struct condition_edges *out)
{
    for (size_t t = 0; condition && t < condition->terms.count; t++) {
        const char *name = condition->terms.items[t].target;
        uint32_t target = name ? flow_graph_find(m->graph, name) : STEP_NONE;

        if (target == STEP_NONE)
            continue;
        if (out->edges)
            out->edges[out->count] = (struct dag_edge){target, step};
        out->count++;
    }
}

static void collect_conditions(const struct flow_model *m, struct condition_edges *out)
{
    for (uint32_t i = 0; i < m->control->count; i++) {
        const struct flow_step *step = flow_graph_step(m->graph, i);

        if (m->steps[i].is_iteration || m->steps[i].final)
            continue;
        collect_terms(m, step->condition, i, out);
        for (size_t k = 0; step->choice && k < step->choice->cases.count; k++)
            collect_terms(m, step->choice->cases.items[k].condition, i, out);
    }
}

static void link_conditions(struct flow_model *m)
{
    struct condition_edges found = {0};

    collect_conditions(m, &found);
    found.edges = mem_array(found.count + 1, sizeof *found.edges);
    found.count = 0;
    collect_conditions(m, &found);
    dag_release(&m->control->conditions);
    dag_init(&m->control->conditions, m->control->count, found.edges, found.count);
    mem_free(found.edges);
}

/* Returns whether the step has a job, a result or, as a switch, a choice. */
static bool has_begun(const struct step *step)
{
    return step->state == STEP_STARTED || step->state == STEP_CREATING;
}

static void set_judged_again(struct flow_model *m, uint32_t i)
{
    flow_model_uncount(m, i);
    m->steps[i].judged_again = true;
    flow_model_count(m, i);
}

/* The step begins again, or its result may become another one: what depends on it is looked at.
 * Returns whether it is judged again now and was not before. */
static bool affect(struct flow_model *m, uint32_t i, bool judged_again, struct step_set *pending)
{
    struct step_control *ctl = &m->control->steps[i];
    struct step *step = &m->steps[i];

    if (step->final || step->judged_again || (ctl->affected && !judged_again))
        return false;
    ctl->affected = true;
    for (uint32_t k = 0; judged_again && k <= flow_graph_iterations(m->graph, i); k++)
        set_judged_again(m, i + k);
    step_set_add(pending, i);
    return judged_again;
}

static bool affect_dependents(struct flow_model *m, uint32_t i, struct step_set *pending)
{
    const struct dag *conditions = &m->control->conditions;
    const struct dag *targets = flow_graph_order(m->graph);
    bool more = false;

    for (uint32_t at = conditions->first[i]; at < conditions->first[i + 1]; at++)
        more |=
            affect(m, conditions->next[at], has_begun(&m->steps[conditions->next[at]]), pending);
    for (uint32_t at = targets->first[i]; at < targets->first[i + 1]; at++) {
        uint32_t dependent = targets->next[at];
        bool begun = has_begun(&m->steps[dependent]);

        if (!begun || m->steps[i].judged_again)
            more |= affect(m, dependent, begun, pending);
    }
    return more;
}

/* Returns whether more steps are judged again than before. */
static bool affect_all(struct flow_model *m, struct step_set *pending)
{
    bool more = false;

    while (pending->count) {
        uint32_t step = step_set_next(pending, 0);

        step_set_remove(pending, step);
        more |= affect_dependents(m, step, pending);
    }
    return more;
}

static void prepare_failed_steps(struct flow_model *m)
{
    struct step_set pending = {0};

    link_conditions(m);
    step_set_init(&pending, m->control->count);
    for (uint32_t i = 0; i < m->control->count; i++)
        if (!m->steps[i].is_iteration && flow_model_step_fails_flow(m, i))
            affect(m, i, false, &pending);
    affect_all(m, &pending);
    step_set_release(&pending);
}

/* A selective retry does not remove the jobs of failures that it keeps. */
static void set_selective(struct flow_model *m, bool selective)
{
    if (m->selective == selective)
        return;
    for (uint32_t i = 0; i < m->graph->steps; i++)
        flow_model_uncount(m, i);
    m->selective = selective;
    for (uint32_t i = 0; i < m->graph->steps; i++)
        flow_model_count(m, i);
}

void flow_model_prepare_retry(struct flow_model *m, const struct retry_request *request)
{
    if (m->retry_prepared)
        return;
    m->retry_prepared = true;
    m->only = request->only;
    set_selective(m, request->selective);
    step_set_each(request->selected, i)
    {
        if (!m->steps[i].final && !m->steps[i].judged_again)
            set_judged_again(m, i);
    }
    if (m->control && !m->selective)
        prepare_failed_steps(m);
    flow_model_prepare_servers(m);
}

void flow_model_forget_retry(struct flow_model *m)
{
    m->retry_prepared = false;
    set_selective(m, false);
    for (uint32_t i = 0; i < m->graph->steps; i++) {
        if (m->control)
            m->control->steps[i].affected = false;
        if (!m->steps[i].judged_again)
            continue;
        flow_model_uncount(m, i);
        m->steps[i].judged_again = false;
        flow_model_count(m, i);
    }
}

bool flow_model_prepare_failed(struct flow_model *m, uint32_t i)
{
    uint32_t at = m->steps[i].is_iteration ? flow_graph_loop(m->graph, i) : i;
    struct step_set pending = {0};
    bool more;

    if (!m->retry_prepared || !m->control || m->selective || m->control->steps[at].affected ||
        !flow_model_step_fails_flow(m, at))
        return false;
    step_set_init(&pending, m->control->count);
    affect(m, at, false, &pending);
    more = affect_all(m, &pending);
    step_set_release(&pending);
    return flow_model_prepare_servers(m) || more;
}

/* Steps that probe this one must probe its new attempt from the start. */
static void forget_met(struct flow_model *m, uint32_t i)
{
    flow_graph_each_dependent(m->graph, i, dependent)
    {
        if (m->steps[dependent].probe)
            step_probe_forget(m->steps[dependent].probe, flow_graph_name(m->graph, i));
    }
}

/* Makes the step wait as at the start of the flow. If it gets a job, that is another attempt. */
static void wait_again(struct flow_model *m, uint32_t i)
{
    struct step *step = &m->steps[i];

    step->state = STEP_WAITING;
    step->retry = !step->jobless && step->attempt;
    step->recreate = step->ran = step->judged_again = step->kept = step->cached = false;
    step->look_up = step->reusable;
    step->failed_as = JOB_NONE;
    step->ready = false;
    if (step->approval)
        flow_model_forget_answer(m, i);
    if (m->probed)
        forget_met(m, i);
}

static void start_again(struct flow_model *m, uint32_t i, int64_t now_ms)
{
    struct step *step = &m->steps[i];

    if (step->history)
        step_history_end_attempt(step->history, step->attempt, now_ms);
    wait_again(m, i);
    step->phase = JOB_NONE;
    step->handled = false;
    step->retries = 0;
}

/* Returns whether the step is an iteration of a loop that has ended and does not begin again. The
 * loop comes before its iterations, so its new state is known. */
static bool stays_skipped(const struct flow_model *m, uint32_t i)
{
    return m->steps[i].is_iteration && m->steps[flow_graph_loop(m->graph, i)].state == STEP_STARTED;
}

/* Returns whether the step is a loop that has begun, and none of its iterations runs: the flow
 * ended before the next one. */
static bool is_stalled_loop(const struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];
    uint32_t iterations = flow_graph_iterations(m->graph, i);

    if (!iterations || step->state != STEP_STARTED ||
        job_phase_finished((enum job_phase)step->phase))
        return false;
    for (uint32_t k = 1; k <= iterations; k++)
        if (step[k].state == STEP_STARTED && !job_phase_finished((enum job_phase)step[k].phase))
            return false;
    return true;
}

static bool begins_again(const struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];

    if (step->state != STEP_STARTED)
        return false;
    return step->final || step->judged_again || flow_model_step_fails_flow(m, i) ||
           (m->control && flow_loop_was_cut_short(m, i));
}

/* Returns whether the step has no job and no result. */
static bool has_never_run(const struct flow_model *m, uint32_t i)
{
    const enum step_state state = (enum step_state)m->steps[i].state;

    return state == STEP_WAITING || state == STEP_READY || state == STEP_CHECKING ||
           state == STEP_BLOCKED || state == STEP_ASKING || is_stalled_loop(m, i);
}

/* Restarts one step of a retry. Returns whether it had failed. */
static bool restart_failed(struct flow_model *m, uint32_t i, int64_t now_ms)
{
    struct step *step = &m->steps[i];
    bool failed =
        flow_model_step_fails_flow(m, i) && (!step->jobless || step->approval) && !step->final;

    step->kept = false;
    if (begins_again(m, i))
        start_again(m, i, now_ms);
    else if (has_never_run(m, i) || (step->state == STEP_SKIPPED && !stays_skipped(m, i)))
        wait_again(m, i);
    return failed;
}

/* Returns whether the step is a loop that does not begin again, and one of its iterations does. */
static bool is_reopened(const struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];

    for (uint32_t k = 1; !step->judged_again && k <= flow_graph_iterations(m->graph, i); k++)
        if (step[k].judged_again)
            return true;
    return false;
}

/* Keeps the other iterations of a loop of which some begin again, or lets those start that have
 * never run. The loop itself is not judged again. */
static void reopen(struct flow_model *m, uint32_t loop, int64_t now_ms)
{
    start_again(m, loop, now_ms);
    m->steps[loop].ran = true;
    for (uint32_t i = loop + 1; i <= loop + flow_graph_iterations(m->graph, loop); i++) {
        struct step *step = &m->steps[i];

        if (step->judged_again || step->state == STEP_STARTED || step->state == STEP_DORMANT)
            continue;
        wait_again(m, i);
        if (m->only)
            step->state = STEP_SKIPPED;
    }
}

/* Restarts one step of a selective retry. Returns whether it has a result and begins again. */
static bool restart_selected(struct flow_model *m, uint32_t i, int64_t now_ms)
{
    struct step *step = &m->steps[i];
    bool counts =
        step->judged_again && step->state == STEP_STARTED && (!step->jobless || step->approval);

    step->kept = false;
    if (is_reopened(m, i)) {
        reopen(m, i, now_ms);
    } else if (step->final || step->judged_again) {
        if (step->state == STEP_STARTED)
            start_again(m, i, now_ms);
        else if (step->state != STEP_DORMANT && !(step->final && stays_skipped(m, i)))
            wait_again(m, i);
    } else if (has_never_run(m, i)) {
        wait_again(m, i);
        step->phase = JOB_NONE;
        step->kept = m->only;
    } else if (step->state == STEP_SKIPPED ||
               (step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase))) {
        step->kept = true;
        step->handled = false; /* the steps that handle its failure may decide anew */
    }
    return counts;
}

uint32_t flow_model_restart(struct flow_model *m, int64_t now_ms)
{
    uint32_t count = 0;

    assert(!m->failed_jobs);
    m->partial = m->selective;
    for (uint32_t i = 0; i < m->graph->steps; i++) {
        struct step *step = &m->steps[i];

        if (step->state != STEP_STARTED || !job_phase_finished((enum job_phase)step->phase))
            step->retries = 0; /* reset also for a job that still runs */
        count += m->partial ? restart_selected(m, i, now_ms) : restart_failed(m, i, now_ms);
        step->judged_again = false;
    }
    m->retries_ended = m->retry_prepared = m->selective = m->only = false;
    if (m->control)
        m->control->ended = false;
    m->changes++;
    flow_model_recount(m);
    return count;
}
