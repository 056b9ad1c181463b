/*
 * Takes what jobs say of the steps that they belong to: state, pods, attempts, times and reasons.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/flow_tracker_internal.h"
#include "view/reason.h"

/* Returns the iteration of a loop by the number in its job's annotation, and makes it when the
 * number is new. NULL for a text that is no number of an iteration. */
static struct flow_view_step *iteration_of(struct flow_view_step *loop, const char *text)
{
    unsigned long number = strtoul(text, NULL, 10);
    struct flow_view_step *step;

    if (number >= LOOP_ITERATIONS_MAX)
        return NULL;
    if (number >= loop->n_iterations) {
        loop->iterations = mem_resize(loop->iterations, (number + 1) * sizeof(void *));
        for (size_t i = loop->n_iterations; i <= number; i++)
            loop->iterations[i] = NULL;
        loop->n_iterations = (uint32_t)number + 1;
    }
    step = loop->iterations[number];
    if (step)
        return step;
    step = loop->iterations[number] = mem_alloc(sizeof *step);
    step->name = mem_printf("%s-%lu", loop->name, number);
    step->template = loop->template;
    step->flow = loop->flow;
    step->loop = loop;
    step->state = VIEW_WAITING;
    step->ran_ms = -1;
    return step;
}

/* Returns the step that a job belongs to, by its controlling owner and its annotations. A bare Job
 * is a flow of its own. NULL when the job is not followed. */
static struct flow_view_step *step_of(const struct flow_tracker *tracker, const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);
    struct flow_view *flow = flow_tracker_flow(tracker, owner ? owner->uid : object_uid(job));
    const char *number;
    uint32_t at;

    if (!flow)
        return NULL;
    if (flow->bare_job)
        return &flow->steps[0];
    at = flow_view_find(flow, meta_annotation(job->meta, ANNOTATION_FLOW_STEP));
    number = meta_annotation(job->meta, ANNOTATION_FLOW_ITERATION);
    if (at == UINT32_MAX)
        return NULL;
    return number ? iteration_of(&flow->steps[at], number) : &flow->steps[at];
}

/* Reads why a step failed, restarts or waits. */
static void take_reason(const struct flow_tracker *tracker, struct flow_view_step *step,
                        const struct job_status *status)
{
    bool failed = job_phase_finished(status->phase) && status->phase != JOB_COMPLETED;
    bool goes_well = status->phase == JOB_RUNNING || status->phase == JOB_COMPLETING ||
                     status->phase == JOB_COMPLETED;
    struct reason_pods pods = {0};
    scoped(buf) struct buf text = {0};

    if (failed && reason_only_counts(status->message))
        reason_pods_of(tracker->store, step->job_uid, &pods);
    if (failed)
        reason_of_failure(status->reason, status->message, &pods, &text);
    else if (!goes_well && !reason_only_counts(status->message))
        buf_str(&text, status->message);
    flow_tracker_set_told(step, text.data);
    reason_pods_release(&pods);
}

static int32_t pods_of(const struct job_spec *spec)
{
    int32_t total = 0;

    for (size_t i = 0; i < spec->tasks.count; i++)
        total += spec->tasks.items[i].replicas;
    return total;
}

/* Reads the number of attempts from the job's annotation, which also counts attempts of earlier
 * runs. A loop has the attempts of its iterations. */
static void take_attempt(struct flow_view_step *step, const struct object *job)
{
    int32_t attempt = (int32_t)jobflow_attempt_of(job);

    if (step->loop)
        step->loop->attempts += attempt - step->attempts;
    step->attempts = attempt;
}

/* Takes a new job of a step: it is a further attempt with times of its own. */
static void take_new_job(struct flow_view_step *step, const struct object *job)
{
    snprintf(step->job_uid, sizeof step->job_uid, "%s", object_uid(job));
    take_attempt(step, job);
    if (flow_view_step_over(step) || step->state == VIEW_STOPPED)
        step->created_ms = step->started_ms = 0;
    step->resumed = false;
}

static enum flow_phase flow_phase_of_job(enum job_phase phase)
{
    if (phase == JOB_COMPLETED)
        return FLOW_SUCCEED;
    if (job_phase_finished(phase) || phase == JOB_ABORTED)
        return FLOW_FAILED;
    return phase == JOB_NONE || phase == JOB_PENDING ? FLOW_PENDING : FLOW_RUNNING;
}

/* Returns the state of a job. The states of jobs have the numbers of their phases; a job without a
 * phase waits. */
static enum view_state state_of(const struct job_status *status)
{
    return status->phase == JOB_NONE ? VIEW_WAITING : (enum view_state)status->phase;
}

static void take_job(struct flow_tracker *tracker, struct flow_view_step *step,
                     const struct object *job, enum telling telling)
{
    const struct job_status *status = job_status_of(job);
    enum view_state before = (enum view_state)step->state, state = state_of(status);
    int32_t ready = status->running + status->succeeded;
    bool changed =
        before != state || step->pods_ready != ready || step->restarts != status->retry_count;

    if (strcmp(step->job_uid, object_uid(job)) != 0)
        take_new_job(step, job);
    step->pods_ready = ready;
    step->pods = pods_of(job_spec_of(job));
    step->restarts = status->retry_count;
    step->ran_ms = job_phase_finished(status->phase) && status->running_duration_ns >= 0
                       ? status->running_duration_ns / 1000000
                       : -1;
    take_reason(tracker, step, status);
    if (telling == TELL && before == VIEW_WAITING)
        flow_tracker_end_targets(tracker, step->loop ? step->loop : step);
    if (step->loop && before == VIEW_WAITING) {
        step->loop->inferred = false;
        flow_tracker_come_to(tracker, step->loop, VIEW_RUNNING, telling);
    }
    if (state != before)
        flow_tracker_set_state(tracker, step, state);
    if (telling == TELL && changed)
        tracker->events.step(tracker->events.ctx, step, before);
    if (step->flow->bare_job)
        flow_tracker_set_phase(tracker, step->flow, flow_phase_of_job(status->phase), telling);
}

/* Handles the removal of a job for a manual retry: its step waits again, and may be skipped this
 * time. */
static void forget_job(struct flow_tracker *tracker, struct flow_view_step *step)
{
    if (step->loop)
        step->loop->inferred = false;
    flow_tracker_set_told(step, NULL);
    flow_tracker_set_state(tracker, step, VIEW_WAITING);
    step->created_ms = step->started_ms = step->ended_ms = 0;
    step->ran_ms = -1;
    step->resumed = false;
}

bool flow_tracker_job_changed(void *ctx, enum store_change change, const struct object *old,
                              const struct object *job)
{
    struct flow_tracker *tracker = ctx;
    struct flow_view_step *step = step_of(tracker, job);

    if (!step)
        return true;
    if (change != STORE_DELETED) {
        take_job(tracker, step, job, TELL);
    } else if (strcmp(step->job_uid, object_uid(job)) != 0) {
        return true; /* the step has another job by now */
    } else if (!flow_view_step_over(step)) {
        flow_tracker_set_told(step, NULL);
        flow_tracker_come_to(tracker, step, VIEW_STOPPED, TELL);
    } else if (!step->flow->bare_job && jobflow_wants_retry(step->flow->object)) {
        forget_job(tracker, step);
    }
    flow_tracker_check_finished(tracker);
    return true;
}

/* Returns when the job entered Running; 0 when it has not, or when that is not known. */
static int64_t running_since(const struct job_status *status)
{
    for (size_t i = 0; i < status->conditions.count; i++)
        if (status->conditions.items[i].phase == JOB_RUNNING)
            return status->conditions.items[i].at_ms;
    return 0;
}

void flow_tracker_take_present_job(void *arg, const struct object *job)
{
    struct flow_tracker *tracker = arg;
    struct flow_view_step *step = step_of(tracker, job);

    if (!step)
        return;
    take_job(tracker, step, job, SILENT);
    step->resumed = flow_view_step_over(step);
    if (step->resumed) {
        step->created_ms = step->started_ms = step->ended_ms = 0;
    } else if (flow_view_step_active(step)) {
        step->created_ms = job->meta->created_at_ms;
        step->started_ms = running_since(job_status_of(job));
    }
}
