/*
 * The model of a flow: what a change of a job means for its step and for the steps that depend on
 * it. Sets and counters are in flow_model_counts.c, rebuilding is in flow_model_rebuild.c.
 */
#include "flow/model/flow_model.h"

#include <string.h>

#include "base/collections/hash.h"
#include "flow/model/control.h"
#include "flow/model/required_fields.h"
#include "flow/model/retry_policy.h"
#include "flow/model/spec_hash.h"
#include "flow/model/step_probe.h"

static void set_job(struct flow_model *m, uint32_t i, uint64_t job)
{
    if (m->steps[i].job == job)
        return;
    flow_model_uncount(m, i);
    m->steps[i].job = job;
    flow_model_count(m, i);
}

bool flow_model_waits_for_any(const struct flow_model *m, uint32_t i)
{
    const struct flow_depends *depends = flow_graph_step(m->graph, i)->depends;

    return !m->upstream && depends && depends->strategy == STRATEGY_ANY;
}

static bool has_probe(const struct flow_model *m, uint32_t i)
{
    const struct flow_depends *depends = flow_graph_step(m->graph, i)->depends;

    return !m->upstream && depends && depends->probe && depends->targets.count;
}

/* Sets up conditions, switches, loops, retries and references (spec/jobflow.md 13) if the flow uses
 * them. A flow that uses none of them pays nothing. */
static void init_control(struct flow_model *m)
{
    const struct jobflow_spec *spec = m->graph->spec;
    bool controlled = m->probed > 0;

    m->retrying = spec->max_retry > 0;
    m->handled_succeed = spec->handled_failures == HANDLED_FAILURES_SUCCEED;
    m->has_references = strstr(m->body->text, "$(") != NULL;
    for (uint32_t i = 0; i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];

        m->retrying |= step->retry != NULL;
        controlled |= step->condition || !flow_step_makes_jobs(step) || step->loop ||
                      flow_step_is_final(step) || flow_step_serves(step) ||
                      step->failure_policy == STEP_FAILURE_IGNORE;
    }
    if (controlled)
        flow_control_init(m);
    flow_control_mark_wanted_results(m);
}

bool flow_model_init(struct flow_model *m, const struct object *flow,
                     const struct flow_model_options *options, struct error *err)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    struct flow_graph *graph = NULL;

    if (flow_check_required_fields(spec, err))
        graph = options->upstream ? flow_graph_new_bare(spec, err)
                                  : flow_graph_new_expanded(spec, options->extra, err);
    if (!graph)
        return false;
    memset(m, 0, sizeof *m);
    m->graph = graph;
    m->body = blob_ref(flow->body);
    m->name = mem_strdup(object_name(flow));
    m->name_len = (uint32_t)strlen(m->name);
    m->upstream = options->upstream;
    flow_model_read_policy(m, flow);
    m->compact = graph->steps > FLOW_FULL_STEPS;
    m->steps = mem_array(graph->steps ? graph->steps : 1, sizeof *m->steps);
    for (uint32_t i = 0; i < graph->steps; i++)
        if (has_probe(m, i)) {
            m->steps[i].probe = step_probe_new(flow_graph_step(graph, i)->depends);
            m->probed++;
        }
    flow_model_init_sets(m);
    ready_queue_init(&m->ready_queue, graph);
    if (!m->upstream)
        init_control(m);
    if (!m->upstream)
        flow_model_init_reuse(m, options->reuse);
    return true;
}

void flow_model_read_policy(struct flow_model *m, const struct object *flow)
{
    m->continues = !m->upstream && jobflow_failure_policy(flow) == FAILURE_CONTINUE;
}

void flow_model_release(struct flow_model *m)
{
    for (uint32_t i = 0; m->graph && i < m->graph->steps; i++) {
        step_history_free(m->steps[i].history);
        step_probe_free(m->steps[i].probe);
    }
    flow_model_release_reuse(m);
    flow_control_free(m->control);
    ready_queue_release(&m->ready_queue);
    flow_model_release_sets(m);
    mem_free(m->spec_hashes);
    mem_free(m->steps);
    mem_free(m->name);
    flow_graph_free(m->graph);
    blob_unref(m->body);
    memset(m, 0, sizeof *m);
}

void flow_model_job_name(const struct flow_model *m, uint32_t i, struct buf *out)
{
    buf_add(out, m->name, m->name_len);
    buf_char(out, '-');
    buf_str(out, flow_graph_name(m->graph, i));
}

uint32_t flow_model_step_of_job_name(const struct flow_model *m, const char *job_name)
{
    uint32_t step;

    if (strncmp(job_name, m->name, m->name_len) != 0 || job_name[m->name_len] != '-')
        return STEP_NONE;
    step = flow_graph_find(m->graph, job_name + m->name_len + 1);
    return step != STEP_NONE && m->steps[step].jobless ? STEP_NONE : step;
}

uint32_t flow_model_step_of_job(const struct flow_model *m, const struct object *job)
{
    return flow_model_step_of_job_name(m, object_name(job));
}

void flow_model_set_state(struct flow_model *m, uint32_t i, enum step_state state)
{
    flow_model_move_step(m, i, state, (enum job_phase)m->steps[i].phase);
}

void flow_model_target_met(struct flow_model *m, uint32_t i)
{
    struct step *step = &m->steps[i];

    if (m->control)
        flow_control_target_met(m, i);
    else if (step->waiting && --step->waiting == 0 && step->state == STEP_WAITING && !step->kept)
        flow_model_set_state(m, i, STEP_READY);
}

void flow_model_notify_dependents(struct flow_model *m, uint32_t i)
{
    struct step *step = &m->steps[i];

    if (m->control) {
        flow_control_step_changed(m, i);
        return;
    }
    if (step->phase != JOB_COMPLETED || step->completion_notified)
        return;
    step->completion_notified = true;
    flow_graph_each_dependent(m->graph, i, dependent) flow_model_target_met(m, dependent);
}

static uint64_t job_key(const struct object *job)
{
    /* 0 means that there is no job. */
    return hash_bytes(object_uid(job), strlen(object_uid(job))) | 1;
}

static void set_attempt(struct flow_model *m, uint32_t i, unsigned attempt)
{
    m->steps[i].attempt = (uint16_t)attempt;
    if (attempt > 1)
        step_set_add(&m->retried, i);
}

/* Sets the attempt of the step from its job. Attempts that this process did not see count as
 * retries. */
static void see_attempt(struct flow_model *m, uint32_t i, unsigned attempt, int64_t now_ms)
{
    struct step *step = &m->steps[i];
    unsigned expected = step->attempt + (!step->attempt || step->retry || step->recreate);

    if (attempt <= step->attempt)
        return;
    if (step->history) { /* the history is still that of an earlier attempt */
        step_history_end_attempt(step->history, step->attempt, now_ms);
        step->history->next_retry_ms = 0;
    }
    if (step->is_iteration)
        m->steps[flow_graph_loop(m->graph, i)].ran = true;
    if (attempt > expected)
        step->retries = (uint16_t)(step->retries + attempt - expected);
    step->restored = false;
    set_attempt(m, i, attempt);
}

static void keep_results(struct step *step, struct job_results *results)
{
    if (!results)
        return;
    if (!step->history)
        step->history = step_history_new();
    if (step->history->results && !results->n_pods && !results->n_kept)
        job_results_free(results); /* the pods are gone: the known results stay */
    else
        step_history_set_results(step->history, results);
}

/* Returns whether the step is an iteration of a loop that has ended, so that no step waits for
 * it. */
static bool loop_is_over(const struct flow_model *m, uint32_t i)
{
    const struct step *loop =
        m->steps[i].is_iteration ? &m->steps[flow_graph_loop(m->graph, i)] : NULL;

    return loop && loop->state == STEP_STARTED && job_phase_finished((enum job_phase)loop->phase);
}

/* Returns the state of a step whose job has this phase: STARTED, or BACKOFF if it is to be retried.
 */
static enum step_state state_of(struct flow_model *m, uint32_t i, enum job_phase phase)
{
    struct step *step = &m->steps[i];
    const struct job_results *results = step->history ? step->history->results : NULL;

    if (!m->retrying || (m->retries_ended && !step->final) || step->handled || loop_is_over(m, i))
        return STEP_STARTED;
    if (step->state == STEP_BACKOFF && step->phase == phase)
        return STEP_BACKOFF;
    if (step->state == STEP_STARTED && step->phase == phase && job_phase_finished(phase))
        return STEP_STARTED; /* an earlier version decided against a retry */
    if (!retry_policy_allows(m->graph->spec, flow_graph_step(m->graph, i), phase, results,
                             step->retries - step->restored))
        return STEP_STARTED;
    if (!step->restored)
        step->retries++;
    step->restored = false;
    return STEP_BACKOFF;
}

/* Takes back a counted retry: an aborted job was resumed before its next attempt began. */
static void take_back_retry(struct step *step, enum job_phase phase)
{
    if ((step->state != STEP_BACKOFF && !step->restored) || phase == JOB_ABORTED ||
        phase_failed(phase))
        return;
    step->retries -= step->retries > 0;
    step->restored = false;
}

/* Returns the phase of a job as its flow sees it. A job whose result is being recorded still runs.
 * If the flow ended before the retry of an aborted job, that job counts as Terminated
 * (flow_model_end_retries) until it is resumed. */
static enum job_phase phase_of(const struct step *step, const struct object *job)
{
    enum job_phase phase = job_status_of(job)->phase;
    bool ended = step->state == STEP_STARTED && step->phase == JOB_TERMINATED;

    if (phase == JOB_COMPLETED && step->held)
        return JOB_RUNNING;
    return phase == JOB_ABORTED && ended && jobflow_attempt_of(job) == step->attempt
               ? JOB_TERMINATED
               : phase;
}

bool flow_model_job_changed(struct flow_model *m, uint32_t i, const struct object *job,
                            struct job_results *results, int64_t now_ms)
{
    struct step *step = &m->steps[i];
    const unsigned attempts = step->attempt;
    const enum job_phase phase = phase_of(step, job);
    enum step_state next;

    if (job->revision <= step->revision) {
        job_results_free(results);
        return false; /* an old event: the cache had a newer version before */
    }
    step->revision = job->revision;
    set_job(m, i, job_key(job));
    see_attempt(m, i, jobflow_attempt_of(job), now_ms);
    keep_results(step, results);
    step->recreate = step->retry = false;
    step->ran = true;
    if (!m->compact && !step->history)
        step->history = step_history_new();
    if (step->history) {
        if (!m->compact && (step->attempt > attempts || !step->history->spec_hash))
            step->history->spec_hash = flow_spec_hash(m, i);
        step_history_job_changed(step->history, job, now_ms);
    }
    take_back_retry(step, phase);
    next = state_of(m, i, phase);
    if (step->state != next || step->phase != phase)
        flow_model_move_step(m, i, next, phase);
    else
        m->changes++;
    if (next == STEP_BACKOFF)
        step_set_add(&m->retried, i);
    if (job_phase_finished(phase) || next == STEP_BACKOFF)
        step->result_change = m->changes;
    flow_model_notify_dependents(m, i);
    return true;
}

void flow_model_release_hold(struct flow_model *m, uint32_t i)
{
    m->steps[i].held = false;
    m->steps[i].revision = 0;
}

static void lose_unfinished(struct flow_model *m, uint32_t i, bool open, int64_t now_ms)
{
    struct step *step = &m->steps[i];
    bool over = loop_is_over(m, i);

    step_history_end_attempt(step->history, step->attempt, now_ms);
    step->recreate = open && !over;
    step->held = false;
    flow_model_move_step(m, i, over ? STEP_SKIPPED : open ? STEP_READY : STEP_WAITING, JOB_NONE);
}

bool flow_model_job_removed(struct flow_model *m, uint32_t i, const struct object *job,
                            struct job_results *results, bool open, int64_t now_ms)
{
    struct step *step = &m->steps[i];

    if (step->job != job_key(job)) {
        job_results_free(results);
        return false;
    }
    set_job(m, i, 0);
    keep_results(step, results);
    if (!step->history && (step->phase != JOB_COMPLETED || step->judged_again))
        step->history = step_history_new(); /* keeps the attempt after its job */
    if (step->history && !step->history->job)
        step_history_job_changed(step->history, job, now_ms);
    if (step->state == STEP_BACKOFF || job_phase_finished((enum job_phase)step->phase)) {
        if (step->history)
            step_history_freeze(step->history, step->attempt);
        m->changes++;
    } else {
        lose_unfinished(m, i, open, now_ms);
    }
    flow_model_notify_dependents(m, i);
    return true;
}

bool flow_model_depends_on_results(const struct flow_model *m, uint32_t i, enum job_phase phase)
{
    return m->steps[i].results_wanted ||
           ((phase_failed(phase) || phase == JOB_ABORTED) && m->retrying);
}

bool flow_model_wants_results(const struct flow_model *m, uint32_t i, enum job_phase phase)
{
    const struct step *step = &m->steps[i];

    if (step->history && step->history->results && !step->history->results->restored &&
        step->phase == phase)
        return false; /* the results are known already */
    return (job_phase_finished(phase) || phase == JOB_ABORTED) &&
           (!m->compact || flow_model_depends_on_results(m, i, phase));
}

bool flow_model_wants_outputs(struct flow_model *m, uint32_t i)
{
    struct step *step = &m->steps[i];

    step->results_wanted = true;
    return step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase) &&
           !(step->history && step->history->results);
}

void flow_model_take_outputs(struct flow_model *m, uint32_t i, struct job_results *results)
{
    keep_results(&m->steps[i], results);
    m->changes++;
}

void flow_model_fail_step(struct flow_model *m, uint32_t i, const char *reason, const char *message)
{
    struct step *step = &m->steps[i];

    if (!step->history)
        step->history = step_history_new();
    step_history_set_failure(step->history, reason, message);
    flow_model_move_step(m, i, STEP_STARTED, JOB_FAILED);
    step->result_change = m->changes;
    flow_model_notify_dependents(m, i);
}

void flow_model_mark_handled(struct flow_model *m, uint32_t i)
{
    if (m->steps[i].handled)
        return;
    flow_model_uncount(m, i);
    m->steps[i].handled = true;
    flow_model_count(m, i);
    m->changes++;
    if (m->control)
        flow_control_failure_handled(m, i);
}

static bool has_failed(const struct step *step)
{
    return step->state == STEP_STARTED && phase_failed(step->phase);
}

bool flow_model_step_failed(const struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];

    return has_failed(step) && !step->handled && !step->tolerated &&
           !(step->is_iteration && m->steps[flow_graph_loop(m->graph, i)].handled);
}

bool flow_model_step_fails_flow(const struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];

    return has_failed(step) && !step->tolerated && !flow_model_forgives(m, step) &&
           !(step->is_iteration && flow_model_forgives(m, &m->steps[flow_graph_loop(m->graph, i)]));
}
