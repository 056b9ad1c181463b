/*
 * The record of a live flow. Every change goes through put_in_list and count_phase, so that sets
 * and counters always agree with the steps.
 */
#include "flow/record.h"
#include "base/hash.h"
#include "flow/step_probe.h"
#include <assert.h>
#include <string.h>

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
    if (step->state != STEP_STARTED)
        return FLOW_LIST_WAITING;
    if (r->upstream && (step->phase == JOB_COMPLETING || step->phase == JOB_TERMINATING))
        return FLOW_LIST_NONE;
    return list_of_phase[step->phase];
}

static bool phase_failed(unsigned phase)
{
    return phase == JOB_FAILED || phase == JOB_TERMINATED;
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

/* Count or discount a step where state and phase put it. */
static void count_step(struct flow_record *r, uint32_t i, bool in)
{
    const struct step *step = &r->steps[i];
    uint32_t one = in ? 1 : UINT32_MAX; /* adding UINT32_MAX subtracts one */

    put_in_list(r, i, in);
    if (step->state == STEP_CREATING)
        r->creating += one;
    if (step->state != STEP_STARTED)
        return;
    if (step->phase == JOB_COMPLETED && in)
        step_set_add(&r->completed, i);
    else
        step_set_remove(&r->completed, i);
    r->started += one;
    r->by_phase[step->phase] += one;
    if (phase_failed(step->phase) && step->handled)
        r->handled += one;
    else if (phase_failed(step->phase) && step->job)
        r->failed_jobs += one;
}

static void set_job(struct flow_record *r, uint32_t i, uint64_t job)
{
    if (r->steps[i].job == job)
        return;
    count_step(r, i, false);
    r->steps[i].job = job;
    count_step(r, i, true);
}

static void move_step(struct flow_record *r, uint32_t i, enum step_state state,
                      enum job_phase phase)
{
    struct step *step = &r->steps[i];

    count_step(r, i, false);
    step->state = (uint8_t)state;
    step->phase = (uint8_t)phase;
    count_step(r, i, true);
    if (state == STEP_READY)
        step_set_add(&r->ready, i);
    else
        step_set_remove(&r->ready, i);
    if (state == STEP_BLOCKED)
        step_set_add(&r->blocked, i);
    else if (state != STEP_READY && state != STEP_CREATING) /* a new try is still blocked */
        step_set_remove(&r->blocked, i);
    r->changes++;
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

/* Every set of the record, lists first. */
enum { SETS = FLOW_LIST_N + 6 };

static struct step_set *set_at(struct flow_record *r, int at)
{
    struct step_set *others[] = {&r->ready,   &r->blocked,   &r->probing,
                                 &r->retried, &r->completed, &r->ordered};

    return at < FLOW_LIST_N ? &r->lists[at] : others[at - FLOW_LIST_N];
}

static void init_sets(struct flow_record *r)
{
    for (int i = 0; i < SETS; i++)
        step_set_init(set_at(r, i), r->graph->steps);
}

static void release_sets(struct flow_record *r)
{
    for (int i = 0; i < SETS; i++)
        step_set_release(set_at(r, i));
}

bool flow_record_init(struct flow_record *r, const struct object *flow, bool upstream,
                      struct error *err)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    struct flow_graph *graph = flow_graph_new(spec, err);

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
    init_sets(r);
    return true;
}

void flow_record_release(struct flow_record *r)
{
    for (uint32_t i = 0; r->graph && i < r->graph->steps; i++) {
        step_detail_free(r->steps[i].detail);
        step_probe_free(r->steps[i].probe);
    }
    release_sets(r);
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
    buf_str(out, flow_graph_step(r->graph, i)->name);
}

uint32_t flow_record_step_of(const struct flow_record *r, const struct object *job)
{
    const char *name = object_name(job);

    if (strncmp(name, r->name, r->name_len) != 0 || name[r->name_len] != '-')
        return STEP_NONE;
    return flow_graph_find(r->graph, name + r->name_len + 1);
}

void flow_record_set_state(struct flow_record *r, uint32_t i, enum step_state state)
{
    move_step(r, i, state, (enum job_phase)r->steps[i].phase);
}

void flow_record_target_met(struct flow_record *r, uint32_t i)
{
    struct step *step = &r->steps[i];

    if (step->waiting && --step->waiting == 0 && step->state == STEP_WAITING)
        flow_record_set_state(r, i, STEP_READY);
}

/* A step's job changed: those who wait for more than its completion look at their probes. */
static void tell_dependents(struct flow_record *r, uint32_t i)
{
    struct step *step = &r->steps[i];
    bool completed = step->phase == JOB_COMPLETED && !step->completed_told;

    if (!completed && !r->probed)
        return;
    if (completed)
        step->completed_told = true;
    flow_graph_each_dependent(r->graph, i, dependent)
    {
        if (r->steps[dependent].probe)
            step_set_add(&r->probing, dependent);
        else if (completed)
            flow_record_target_met(r, dependent);
    }
}

static uint64_t job_key(const struct object *job)
{
    return hash_bytes(object_uid(job), strlen(object_uid(job))) | 1; /* never "none" */
}

static unsigned attempt_of(const struct object *job)
{
    const char *text = meta_annotation(job->meta, ANNOTATION_FLOW_ATTEMPT);
    unsigned long attempt = text ? strtoul(text, NULL, 10) : 1;

    return attempt >= 1 && attempt <= UINT16_MAX ? (unsigned)attempt : 1;
}

static void set_attempt(struct flow_record *r, uint32_t i, unsigned attempt)
{
    r->steps[i].attempt = (uint16_t)attempt;
    if (attempt > 1)
        step_set_add(&r->retried, i);
}

bool flow_record_see_job(struct flow_record *r, uint32_t i, const struct object *job,
                         int64_t now_ms)
{
    struct step *step = &r->steps[i];
    const struct job_status *status = job_status_of(job);

    if (job->revision <= step->revision)
        return false; /* news of the past: the cache was ahead of the event */
    step->revision = job->revision;
    set_job(r, i, job_key(job));
    step->recreate = step->retry = false;
    if (attempt_of(job) > step->attempt) {
        if (step->detail) /* of the attempt before, when this one was made unseen */
            step_detail_end_attempt(step->detail, step->attempt, now_ms);
        set_attempt(r, i, attempt_of(job));
    }
    if (!r->compact && !step->detail)
        step->detail = step_detail_new();
    if (step->detail)
        step_detail_see(step->detail, job, now_ms);
    if (step->state != STEP_STARTED || step->phase != status->phase)
        move_step(r, i, STEP_STARTED, status->phase);
    else
        r->changes++;
    if (job_phase_finished(status->phase))
        step->finished_at = r->changes;
    tell_dependents(r, i);
    return true;
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
    if (job_phase_finished((enum job_phase)step->phase)) {
        if (step->detail)
            step_detail_freeze(step->detail, step->attempt);
        r->changes++;
    } else {
        step_detail_end_attempt(step->detail, step->attempt, now_ms);
        step->recreate = open;
        move_step(r, i, open ? STEP_READY : STEP_WAITING, JOB_NONE);
    }
    tell_dependents(r, i);
    return true;
}

void flow_record_handle_failure(struct flow_record *r, uint32_t i)
{
    if (r->steps[i].handled)
        return;
    count_step(r, i, false);
    r->steps[i].handled = true;
    count_step(r, i, true);
    r->changes++;
}

void flow_record_move(struct flow_record *r, struct flow_record *old)
{
    for (uint32_t i = 0; i < r->graph->steps; i++) {
        uint32_t from = flow_graph_find(old->graph, flow_graph_step(r->graph, i)->name);
        struct step *step = &r->steps[i];
        struct step_probe *probe = step->probe;

        if (from == STEP_NONE)
            continue;
        *step = old->steps[from];
        step->probe = probe;
        if (step->probe && old->steps[from].probe)
            step_probe_move(step->probe, old->steps[from].probe);
        old->steps[from].detail = NULL;
    }
    r->changes = old->changes + 1;
}

/* How many targets the step waits for when nothing has happened yet. */
static uint32_t waits_at_first(const struct flow_record *r, uint32_t i)
{
    uint32_t targets = (uint32_t)flow_graph_targets(r->graph, i);

    if (r->steps[i].probe)
        return step_probe_open(r->steps[i].probe);
    return flow_record_waits_for_any(r, i) && targets ? 1 : targets;
}

void flow_record_recount(struct flow_record *r)
{
    release_sets(r);
    init_sets(r);
    memset(r->by_phase, 0, sizeof r->by_phase);
    r->started = r->creating = r->handled = r->failed_jobs = 0;
    for (uint32_t i = 0; i < r->graph->steps; i++) {
        struct step *step = &r->steps[i];

        if (step->state == STEP_READY || step->state == STEP_BLOCKED)
            step->state = STEP_WAITING; /* the new spec may say otherwise */
        step->waiting = waits_at_first(r, i);
        step->completed_told = false;
        count_step(r, i, true);
        if (step->probe)
            step_set_add(&r->probing, i);
        if (step->attempt > 1 || step->retry)
            step_set_add(&r->retried, i);
        if (!step->waiting && step->state == STEP_WAITING)
            flow_record_set_state(r, i, STEP_READY);
    }
    for (uint32_t i = 0; i < r->graph->steps; i++)
        if (r->steps[i].state == STEP_STARTED && r->steps[i].phase == JOB_COMPLETED)
            tell_dependents(r, i);
}

bool flow_record_step_failed(const struct flow_record *r, uint32_t i)
{
    const struct step *step = &r->steps[i];

    return step->state == STEP_STARTED && phase_failed(step->phase) && !step->handled;
}

/* A new attempt of the step is a new thing to look at for those who probe it. */
static void forget_met(struct flow_record *r, uint32_t i)
{
    flow_graph_each_dependent(r->graph, i, dependent)
    {
        if (r->steps[dependent].probe)
            step_probe_forget(r->steps[dependent].probe, flow_graph_step(r->graph, i)->name);
    }
}

static void start_again(struct flow_record *r, uint32_t i, int64_t now_ms)
{
    struct step *step = &r->steps[i];

    if (step->detail)
        step_detail_end_attempt(step->detail, step->attempt, now_ms);
    step->state = STEP_WAITING;
    step->phase = JOB_NONE;
    step->retry = true;
    if (r->probed)
        forget_met(r, i);
}

uint32_t flow_record_start_again(struct flow_record *r, int64_t now_ms)
{
    uint32_t count = 0;

    assert(!r->failed_jobs);
    for (uint32_t i = 0; i < r->graph->steps; i++) {
        if (!flow_record_step_failed(r, i))
            continue;
        start_again(r, i, now_ms);
        count++;
    }
    r->changes++;
    flow_record_recount(r);
    return count;
}

bool flow_record_active(const struct flow_record *r)
{
    return flow_record_unfinished(r) || r->creating || r->ready.count || r->blocked.count;
}

uint32_t flow_record_unfinished(const struct flow_record *r)
{
    return r->started - r->by_phase[JOB_COMPLETED] - r->by_phase[JOB_FAILED] -
           r->by_phase[JOB_TERMINATED];
}

uint32_t flow_record_failed(const struct flow_record *r)
{
    uint32_t failed = r->by_phase[JOB_FAILED] + r->by_phase[JOB_TERMINATED];

    return failed > r->handled ? failed - r->handled : 0;
}

uint32_t flow_record_done(const struct flow_record *r)
{
    uint32_t failed = r->by_phase[JOB_FAILED] + r->by_phase[JOB_TERMINATED];

    return r->by_phase[JOB_COMPLETED] + failed - flow_record_failed(r);
}

uint32_t flow_record_ran(const struct flow_record *r)
{
    return r->started - r->by_phase[JOB_NONE] - r->by_phase[JOB_PENDING];
}
