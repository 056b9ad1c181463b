/*
 * The record of a live flow: what its jobs' changes mean for their steps.
 */
#include "flow/model/flow_model.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "flow/model/complete.h"
#include "flow/model/control.h"
#include "flow/model/retry_policy.h"
#include "flow/model/spec_hash.h"
#include "flow/model/step_probe.h"

static void set_job(struct flow_record *r, uint32_t i, uint64_t job)
{
    if (r->steps[i].job == job)
        return;
    flow_record_count(r, i, false);
    r->steps[i].job = job;
    flow_record_count(r, i, true);
}

bool flow_record_waits_for_any(const struct flow_record *r, uint32_t i)
{
    const struct flow_depends *depends = flow_graph_step(r->graph, i)->depends;

    return !r->upstream && depends && depends->strategy && strcmp(depends->strategy, "any") == 0;
}

static bool has_probe(const struct flow_record *r, uint32_t i)
{
    const struct flow_depends *depends = flow_graph_step(r->graph, i)->depends;

    return !r->upstream && depends && depends->probe && depends->targets.count;
}

/* What of section 13 the flow uses; nothing of it costs a flow that does not. */
static void init_control(struct flow_record *r)
{
    const struct jobflow_spec *spec = r->graph->spec;
    bool controlled = r->probed > 0;

    r->retrying = spec->max_retry > 0;
    r->refers = strstr(r->body->text, "$(") != NULL;
    for (uint32_t i = 0; i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];

        r->retrying |= step->retry != NULL;
        controlled |= step->condition || step->choice || step->loop || step->when ||
                      (step->failure_policy && strcmp(step->failure_policy, "ignore") == 0);
    }
    if (controlled)
        flow_control_init(r);
    flow_control_want(r);
}

bool flow_record_init(struct flow_record *r, const struct object *flow, bool upstream,
                      const uint32_t *extra, struct error *err)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    struct flow_graph *graph = NULL;

    if (flow_complete_check(spec, err))
        graph =
            upstream ? flow_graph_new_bare(spec, err) : flow_graph_new_expanded(spec, extra, err);
    if (!graph)
        return false;
    memset(r, 0, sizeof *r);
    r->graph = graph;
    r->body = blob_ref(flow->body);
    r->name = mem_strdup(object_name(flow));
    r->name_len = (uint32_t)strlen(r->name);
    r->upstream = upstream;
    r->compact = graph->steps > FLOW_FULL_STEPS;
    r->steps = mem_array(graph->steps ? graph->steps : 1, sizeof *r->steps);
    for (uint32_t i = 0; i < graph->steps; i++)
        if (has_probe(r, i)) {
            r->steps[i].probe = step_probe_new(flow_graph_step(graph, i)->depends);
            r->probed++;
        }
    flow_record_init_sets(r);
    flow_queue_init(&r->queue, graph);
    if (!upstream)
        init_control(r);
    return true;
}

void flow_record_release(struct flow_record *r)
{
    for (uint32_t i = 0; r->graph && i < r->graph->steps; i++) {
        step_detail_free(r->steps[i].detail);
        step_probe_free(r->steps[i].probe);
    }
    flow_control_free(r->control);
    flow_queue_release(&r->queue);
    flow_record_release_sets(r);
    mem_free(r->spec_hashes);
    mem_free(r->steps);
    mem_free(r->name);
    flow_graph_free(r->graph);
    blob_unref(r->body);
    memset(r, 0, sizeof *r);
}

void flow_record_job_name(const struct flow_record *r, uint32_t i, struct buf *out)
{
    buf_add(out, r->name, r->name_len);
    buf_char(out, '-');
    buf_str(out, flow_graph_name(r->graph, i));
}

uint32_t flow_record_step_named(const struct flow_record *r, const char *job_name)
{
    uint32_t step;

    if (strncmp(job_name, r->name, r->name_len) != 0 || job_name[r->name_len] != '-')
        return STEP_NONE;
    step = flow_graph_find(r->graph, job_name + r->name_len + 1);
    return step != STEP_NONE && r->steps[step].jobless ? STEP_NONE : step;
}

uint32_t flow_record_step_of(const struct flow_record *r, const struct object *job)
{
    return flow_record_step_named(r, object_name(job));
}

void flow_record_set_state(struct flow_record *r, uint32_t i, enum step_state state)
{
    flow_record_move_step(r, i, state, (enum job_phase)r->steps[i].phase);
}

void flow_record_target_met(struct flow_record *r, uint32_t i)
{
    struct step *step = &r->steps[i];

    if (r->control)
        flow_control_target_met(r, i);
    else if (step->waiting && --step->waiting == 0 && step->state == STEP_WAITING)
        flow_record_set_state(r, i, STEP_READY);
}

void flow_record_tell_dependents(struct flow_record *r, uint32_t i)
{
    struct step *step = &r->steps[i];

    if (r->control) {
        flow_control_changed(r, i);
        return;
    }
    if (step->phase != JOB_COMPLETED || step->completed_told)
        return;
    step->completed_told = true;
    flow_graph_each_dependent(r->graph, i, dependent) flow_record_target_met(r, dependent);
}

static uint64_t job_key(const struct object *job)
{
    return hash_bytes(object_uid(job), strlen(object_uid(job))) | 1; /* never "none" */
}

static void set_attempt(struct flow_record *r, uint32_t i, unsigned attempt)
{
    r->steps[i].attempt = (uint16_t)attempt;
    if (attempt > 1)
        step_set_add(&r->retried, i);
}

/* Attempts that were made unseen count against the retries. */
static void see_attempt(struct flow_record *r, uint32_t i, unsigned attempt, int64_t now_ms)
{
    struct step *step = &r->steps[i];
    unsigned expected = step->attempt + (!step->attempt || step->retry || step->recreate);

    if (attempt <= step->attempt)
        return;
    if (step->detail) { /* of the attempt before, when this one was made unseen */
        step_detail_end_attempt(step->detail, step->attempt, now_ms);
        step->detail->next_retry_ms = 0;
    }
    if (attempt > expected)
        step->retries = (uint16_t)(step->retries + attempt - expected);
    step->restored = false;
    set_attempt(r, i, attempt);
}

static void keep_results(struct step *step, struct job_results *results)
{
    if (!results)
        return;
    if (!step->detail)
        step->detail = step_detail_new();
    if (step->detail->results && !results->n_pods)
        job_results_free(results); /* its pods are gone: what is known stays */
    else
        step_detail_set_results(step->detail, results);
}

/* An iteration of a loop that has failed meanwhile: nobody waits for it any more. */
static bool loop_is_over(const struct flow_record *r, uint32_t i)
{
    const struct step *loop = r->steps[i].inner ? &r->steps[flow_graph_loop(r->graph, i)] : NULL;

    return loop && loop->state == STEP_STARTED && job_phase_finished((enum job_phase)loop->phase);
}

/* The state that the phase of its job puts a step in. */
static enum step_state state_of(struct flow_record *r, uint32_t i, enum job_phase phase)
{
    struct step *step = &r->steps[i];
    const struct job_results *results = step->detail ? step->detail->results : NULL;

    if (!r->retrying || (r->closed && !step->final) || step->handled || loop_is_over(r, i))
        return STEP_STARTED;
    if (step->state == STEP_BACKOFF && step->phase == phase)
        return STEP_BACKOFF;
    if (step->state == STEP_STARTED && step->phase == phase && job_phase_finished(phase))
        return STEP_STARTED; /* decided before */
    if (!retry_policy_allows(r->graph->spec, flow_graph_step(r->graph, i), phase, results,
                             step->retries - step->restored))
        return STEP_STARTED;
    if (!step->restored)
        step->retries++;
    step->restored = false;
    return STEP_BACKOFF;
}

/* Somebody has resumed an aborted job before its next attempt came: it is the same attempt. */
static void take_back_retry(struct step *step, enum job_phase phase)
{
    if ((step->state != STEP_BACKOFF && !step->restored) || phase == JOB_ABORTED ||
        phase_failed(phase))
        return;
    step->retries -= step->retries > 0;
    step->restored = false;
}

/* An aborted job that was to be tried again, and was not, for its flow ended before: to its flow it
 * has ended (flow_record_close), as long as nobody resumes it. */
static enum job_phase phase_of(const struct step *step, const struct object *job)
{
    enum job_phase phase = job_status_of(job)->phase;
    bool ended = step->state == STEP_STARTED && step->phase == JOB_TERMINATED;

    return phase == JOB_ABORTED && ended && step_attempt_of(job) == step->attempt ? JOB_TERMINATED
                                                                                  : phase;
}

bool flow_record_see_job(struct flow_record *r, uint32_t i, const struct object *job,
                         struct job_results *results, int64_t now_ms)
{
    struct step *step = &r->steps[i];
    const unsigned attempts = step->attempt;
    const enum job_phase phase = phase_of(step, job);
    enum step_state next;

    if (job->revision <= step->revision) {
        job_results_free(results);
        return false; /* news of the past: the cache was ahead of the event */
    }
    step->revision = job->revision;
    set_job(r, i, job_key(job));
    see_attempt(r, i, step_attempt_of(job), now_ms);
    keep_results(step, results);
    step->recreate = step->retry = false;
    if (!r->compact && !step->detail)
        step->detail = step_detail_new();
    if (step->detail) {
        if (!r->compact && (step->attempt > attempts || !step->detail->spec_hash))
            step->detail->spec_hash = flow_spec_hash(r, i);
        step_detail_see(step->detail, job, now_ms);
    }
    take_back_retry(step, phase);
    next = state_of(r, i, phase);
    if (step->state != next || step->phase != phase)
        flow_record_move_step(r, i, next, phase);
    else
        r->changes++;
    if (next == STEP_BACKOFF)
        step_set_add(&r->retried, i);
    if (job_phase_finished(phase) || next == STEP_BACKOFF)
        step->finished_at = r->changes;
    flow_record_tell_dependents(r, i);
    return true;
}

static void lose_unfinished(struct flow_record *r, uint32_t i, bool open, int64_t now_ms)
{
    struct step *step = &r->steps[i];
    bool over = loop_is_over(r, i);

    step_detail_end_attempt(step->detail, step->attempt, now_ms);
    step->recreate = open && !over;
    flow_record_move_step(r, i, over ? STEP_SKIPPED : open ? STEP_READY : STEP_WAITING, JOB_NONE);
}

bool flow_record_lose_job(struct flow_record *r, uint32_t i, const struct object *job, bool open,
                          int64_t now_ms)
{
    struct step *step = &r->steps[i];

    if (step->job != job_key(job))
        return false;
    set_job(r, i, 0);
    if (!step->detail && step->phase != JOB_COMPLETED)
        step->detail = step_detail_new(); /* the attempt's record survives its job */
    if (step->detail && !step->detail->job)
        step_detail_see(step->detail, job, now_ms);
    if (step->state == STEP_BACKOFF || job_phase_finished((enum job_phase)step->phase)) {
        if (step->detail)
            step_detail_freeze(step->detail, step->attempt);
        r->changes++;
    } else {
        lose_unfinished(r, i, open, now_ms);
    }
    flow_record_tell_dependents(r, i);
    return true;
}

void flow_record_end_backoff(struct flow_record *r, uint32_t i)
{
    struct step *step = &r->steps[i];

    assert(step->state == STEP_BACKOFF && !step->job);
    step->retry = true;
    if (r->control)
        flow_control_attempt(r, i);
    flow_record_move_step(r, i, STEP_READY, JOB_NONE);
}

void flow_record_close(struct flow_record *r)
{
    r->closed = true;
    for (uint32_t i = 0; r->backing_off && i < r->graph->steps; i++) {
        struct step *step = &r->steps[i];

        if (step->state != STEP_BACKOFF || step->final)
            continue;
        flow_record_move_step(r, i, STEP_STARTED,
                              step->phase == JOB_ABORTED ? JOB_TERMINATED
                                                         : (enum job_phase)step->phase);
        flow_record_tell_dependents(r, i);
    }
}

bool flow_record_wants_results(const struct flow_record *r, uint32_t i, enum job_phase phase)
{
    const struct step *step = &r->steps[i];
    bool aborted = phase == JOB_ABORTED;

    if (step->detail && step->detail->results && !step->detail->results->restored &&
        step->phase == phase)
        return false; /* they are there */
    return (job_phase_finished(phase) || aborted) &&
           (!r->compact || step->wanted || ((phase_failed(phase) || aborted) && r->retrying));
}

void flow_record_fail(struct flow_record *r, uint32_t i, const char *reason, const char *message)
{
    struct step *step = &r->steps[i];

    if (!step->detail)
        step->detail = step_detail_new();
    step_detail_explain(step->detail, reason, message);
    flow_record_move_step(r, i, STEP_STARTED, JOB_FAILED);
    step->finished_at = r->changes;
    flow_record_tell_dependents(r, i);
}

void flow_record_handle_failure(struct flow_record *r, uint32_t i)
{
    if (r->steps[i].handled)
        return;
    flow_record_count(r, i, false);
    r->steps[i].handled = true;
    flow_record_count(r, i, true);
    r->changes++;
    if (r->control)
        flow_control_handled(r, i);
}

bool flow_record_step_failed(const struct flow_record *r, uint32_t i)
{
    const struct step *step = &r->steps[i];

    return step->state == STEP_STARTED && phase_failed(step->phase) && !step->handled &&
           !(step->inner && r->steps[flow_graph_loop(r->graph, i)].handled);
}
