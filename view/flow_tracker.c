/*
 * Changes of jobs and flows become changes of views.
 *
 *   job changes  ──► its flow by uid, its step by name ──► take_job ──► set_state ──► events.step
 *   flow changes ──► loops and switches of its status, phase, reason ──────────────► events.flow
 *
 * A loop begins with its first iteration; that it is over, and what a switch has chosen, is in the
 * flow's status, which is read as long as one of them is open. Their times are those of the steps
 * that decided them, because the status is written a little later.
 */
#include "view/flow_tracker.h"

#include <stdio.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/encoding/jsonscan.h"
#include "base/hash.h"
#include "base/mem.h"
#include "view/reason.h"

struct flow_entry {
    const char *uid;
    struct flow_view *flow;
    UT_hash_handle hh;
};

struct flow_tracker {
    struct loop *loop;
    struct store *store;
    struct flow_tracker_events events;
    struct flow_view *flows, **flows_tail;
    struct flow_entry *by_uid;
    TAILQ_HEAD(, flow_view_step) active;
    struct store_watch *flow_watch, *job_watch;
    struct task done_task;
    size_t n_flows, n_over, n_active;
    bool finished;
};

/* Says whether a change causes an event. The state at the start causes none. */
enum telling { SILENT, TELL };

static void step_link(struct flow_tracker *tracker, struct flow_view_step *step)
{
    TAILQ_INSERT_TAIL(&tracker->active, step, active);
    tracker->n_active++;
}

static void step_unlink(struct flow_tracker *tracker, struct flow_view_step *step)
{
    TAILQ_REMOVE(&tracker->active, step, active);
    tracker->n_active--;
}

static struct flow_view *flow_by_uid(const struct flow_tracker *tracker, const char *uid)
{
    struct flow_entry *entry;

    HASH_FIND_STR(tracker->by_uid, uid, entry);
    return entry ? entry->flow : NULL;
}

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
    struct flow_view *flow = flow_by_uid(tracker, owner ? owner->uid : object_uid(job));
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

/* An iteration that was in another state is counted by its loop as it is now. */
static void count_iteration(struct flow_view_step *step, bool was_over, bool was_active)
{
    step->loop->iterations_over += (uint32_t)flow_view_step_over(step) - (uint32_t)was_over;
    step->loop->iterations_active += (uint32_t)flow_view_step_active(step) - (uint32_t)was_active;
}

/* Sets the state of a step, and updates its times and the list of active steps. */
static void set_state(struct flow_tracker *tracker, struct flow_view_step *step,
                      enum view_state state)
{
    int64_t now_ms = loop_wall_ms(tracker->loop);
    bool has_job = !flow_view_step_jobless(step) || step->loop;
    bool was_over = flow_view_step_over(step);
    bool was_active = has_job && flow_view_step_active(step), is_active;

    flow_view_set_state(step, state);
    if (step->loop)
        count_iteration(step, was_over, was_active);
    if (flow_view_step_active(step) && !step->created_ms)
        step->created_ms = now_ms;
    if (state == VIEW_RUNNING && !step->started_ms)
        step->started_ms = now_ms;
    if (flow_view_step_over(step) && !was_over) {
        step->ended_ms = now_ms;
        if (!step->created_ms)
            step->created_ms = now_ms;
        if (!step->started_ms)
            step->started_ms = step->created_ms;
    } else if (was_over && !flow_view_step_over(step)) {
        step->ended_ms = 0;
    }
    is_active = has_job && flow_view_step_active(step);
    if (is_active && !was_active)
        step_link(tracker, step);
    else if (was_active && !is_active)
        step_unlink(tracker, step);
}

static void come_to(struct flow_tracker *tracker, struct flow_view_step *step,
                    enum view_state state, enum telling telling)
{
    enum view_state before = (enum view_state)step->state;

    if (state == before)
        return;
    set_state(tracker, step, state);
    if (telling == TELL)
        tracker->events.step(tracker->events.ctx, step, before);
}

static void tell_finished(struct task *task)
{
    struct flow_tracker *tracker = container_of(task, struct flow_tracker, done_task);

    tracker->events.finished(tracker->events.ctx);
}

static void check_finished(struct flow_tracker *tracker)
{
    if (tracker->finished || tracker->n_over < tracker->n_flows || tracker->n_active)
        return;
    tracker->finished = true;
    loop_post(tracker->loop, &tracker->done_task);
}

/* Take what the newest status tells of steps that have had no job. */
static void complete(struct flow_view *flow)
{
    scoped(json) json_t *status = flow->object->status ? object_status_json(flow->object) : NULL;

    if (!flow->bare_job && status)
        flow_view_complete(flow, status);
}

static void flow_set_phase(struct flow_tracker *tracker, struct flow_view *flow,
                           enum flow_phase phase, enum telling telling)
{
    const struct blob *status = flow->object->status;
    enum flow_phase before = flow->phase;

    if (phase == before)
        return;
    flow->phase = phase;
    if (!flow->began_ms && phase != FLOW_NONE && phase != FLOW_PENDING)
        flow->began_ms = loop_wall_ms(tracker->loop);
    if (flow_phase_finished(phase)) {
        flow->ended_ms = loop_wall_ms(tracker->loop);
        flow->took_ms = status ? jsonscan_duration(jsonscan_member(status->text, "duration")) : -1;
        tracker->n_over++;
    } else if (flow_phase_finished(before)) {
        flow->ended_ms = 0;
        tracker->n_over--;
    }
    if (flow_view_is_over(flow) && flow->n_in[VIEW_WAITING])
        complete(flow); /* called because some steps were skipped */
    if (telling == TELL)
        tracker->events.flow(tracker->events.ctx, flow, before);
    check_finished(tracker);
}

static void set_told(struct flow_view_step *step, const char *text)
{
    char *copy = text && *text ? mem_strdup(text) : NULL;

    mem_free(step->told);
    step->told = copy;
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
    set_told(step, text.data);
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
    if (step->loop && before == VIEW_WAITING)
        come_to(tracker, step->loop, VIEW_RUNNING, telling);
    if (state != before)
        set_state(tracker, step, state);
    if (telling == TELL && changed)
        tracker->events.step(tracker->events.ctx, step, before);
    if (step->flow->bare_job)
        flow_set_phase(tracker, step->flow, flow_phase_of_job(status->phase), telling);
}

/* The job was removed for a manual retry: its step waits again, and may be skipped this time. */
static void forget_job(struct flow_tracker *tracker, struct flow_view_step *step)
{
    set_told(step, NULL);
    set_state(tracker, step, VIEW_WAITING);
    step->created_ms = step->started_ms = step->ended_ms = 0;
    step->ran_ms = -1;
    step->resumed = false;
}

static bool job_changed(void *ctx, enum store_change change, const struct object *old,
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
        set_told(step, NULL);
        come_to(tracker, step, VIEW_STOPPED, TELL);
    } else if (!step->flow->bare_job && jobflow_wants_retry(step->flow->object)) {
        forget_job(tracker, step);
    }
    check_finished(tracker);
    return true;
}

/* Returns when the last of the steps ended that decided the end of a loop or switch; 0 when none
 * did. */
static int64_t decided_ms(const struct flow_view_step *step)
{
    const struct flow_view *flow = step->flow;
    uint32_t i = flow_view_position(step);
    int64_t last_ms = 0;

    for (uint32_t k = 0; k < step->n_iterations; k++)
        if (step->iterations[k] && step->iterations[k]->ended_ms > last_ms)
            last_ms = step->iterations[k]->ended_ms;
    if (step->template || !flow_view_link(step->flow, NULL))
        return last_ms;
    for (uint32_t t = flow->targets.first[i]; t < flow->targets.first[i + 1]; t++)
        if (flow->steps[flow->targets.next[t]].ended_ms > last_ms)
            last_ms = flow->steps[flow->targets.next[t]].ended_ms;
    return last_ms;
}

/* Reads what a switch chose, or why a loop failed. */
static void take_verdict(struct flow_view_step *step, const json_t *node)
{
    const char *chosen = doc_text(node, "case");
    const char *reason = doc_text(node, "reason"), *message = doc_text(node, "message");
    scoped_str text = chosen && *chosen ? mem_printf("chose %s", chosen)
                      : chosen          ? mem_strdup("chose the default")
                      : reason          ? mem_printf("%s: %s", reason, message ? message : "")
                                        : NULL;

    set_told(step, text);
}

static void end_jobless(struct flow_tracker *tracker, struct flow_view_step *step,
                        const json_t *node, enum view_state state, enum telling telling)
{
    enum view_state before = (enum view_state)step->state;
    int64_t end_ms = decided_ms(step);

    take_verdict(step, node);
    set_state(tracker, step, state);
    step->ran_ms = doc_duration_ms(node, "duration");
    if (end_ms)
        step->ended_ms = end_ms;
    if (!step->template || step->started_ms > step->ended_ms)
        step->created_ms = step->started_ms = step->ended_ms;
    step->resumed = telling == SILENT;
    if (step->resumed)
        step->created_ms = step->started_ms = step->ended_ms = 0;
    if (telling == TELL)
        tracker->events.step(tracker->events.ctx, step, before);
}

static bool has_jobless(const struct flow_view *flow)
{
    for (uint32_t i = 0; i < flow->n_steps; i++)
        if (flow_view_step_jobless(&flow->steps[i]))
            return true;
    return false;
}

/* The entry of a loop or a switch. What was told of an earlier end goes when it is retried. */
static void take_jobless_node(struct flow_tracker *tracker, struct flow_view_step *step,
                              const json_t *node, enum telling telling)
{
    const char *phase = doc_text(node, "phase");
    enum view_state state = phase ? view_state_parse(phase) : VIEW_NONE;

    if (!phase || !flow_view_step_jobless(step) || state == step->state)
        return;
    if (state == VIEW_COMPLETED || state == VIEW_FAILED || state == VIEW_TERMINATED) {
        end_jobless(tracker, step, node, state, telling);
    } else if (flow_view_step_over(step)) {
        set_told(step, NULL);
        come_to(tracker, step, state, telling);
    }
}

static void forget_listed(struct flow_view *flow)
{
    for (uint32_t i = 0; i < flow->n_steps; i++)
        flow->steps[i].iterations_listed = 0;
}

/* Reads the results of the flow's loops and switches from its status. */
static void take_jobless(struct flow_tracker *tracker, struct flow_view *flow, enum telling telling)
{
    scoped(json) json_t *status = NULL;
    bool compact;
    json_t *node;
    size_t i;

    if (!flow->has_jobless || !flow->object->status)
        return;
    status = object_status_json(flow->object);
    compact = json_object_get(status, "results") != NULL;
    forget_listed(flow);
    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        uint32_t at = flow_view_find(flow, doc_text(node, "name"));
        uint32_t loop = flow_view_find(flow, doc_text(node, "step"));

        if (at != UINT32_MAX)
            take_jobless_node(tracker, &flow->steps[at], node, telling);
        else if (loop != UINT32_MAX && !compact)
            flow->steps[loop].iterations_listed++;
    }
}

/* Reads the reason and message of the flow's state. True when the remark about the flow changes. */
static bool take_flow_reason(struct flow_view *flow)
{
    const struct jobflow_summary *summary = jobflow_summary_of(flow->object);
    scoped(buf) struct buf before = {0}, now = {0};

    flow_view_remark(flow, &before);
    flow->reason = summary ? summary->reason : NULL;
    flow->message = summary ? summary->message : NULL;
    flow_view_remark(flow, &now);
    return strcmp(before.data ? before.data : "", now.data ? now.data : "") != 0;
}

/* Returns the phase of a flow. A failed flow that is to be retried counts as running. */
static enum flow_phase flow_phase_of(const struct object *object)
{
    return jobflow_wants_retry(object) ? FLOW_RUNNING : jobflow_phase_of(object);
}

static bool flow_changed(void *ctx, enum store_change change, const struct object *old,
                         const struct object *object)
{
    struct flow_tracker *tracker = ctx;
    struct flow_view *flow = flow_by_uid(tracker, object_uid(object));
    const struct object *earlier;
    enum flow_phase before;
    bool news;

    if (!flow)
        return true;
    earlier = flow->object;
    flow->object = object_ref(object);
    take_jobless(tracker, flow, TELL);
    before = flow->phase;
    news = take_flow_reason(flow);
    object_unref((struct object *)(size_t)earlier);
    flow_set_phase(tracker, flow, change == STORE_DELETED ? FLOW_FAILED : flow_phase_of(object),
                   TELL);
    if (news && flow->phase == before)
        tracker->events.flow(tracker->events.ctx, flow, before);
    return true;
}

struct flow_tracker *flow_tracker_new(struct loop *loop, struct store *store,
                                      const struct flow_tracker_events *events)
{
    struct flow_tracker *tracker = mem_alloc(sizeof *tracker);

    tracker->loop = loop;
    tracker->store = store;
    tracker->events = *events;
    tracker->flows_tail = &tracker->flows;
    TAILQ_INIT(&tracker->active);
    tracker->done_task.run = tell_finished;
    return tracker;
}

/* Returns when the job entered Running; 0 when it has not, or when that is not known. */
static int64_t running_since(const struct job_status *status)
{
    for (size_t i = 0; i < status->conditions.count; i++)
        if (status->conditions.items[i].phase == JOB_RUNNING)
            return status->conditions.items[i].at_ms;
    return 0;
}

/* Takes a job that exists at the start. One that is not over was made and started before; the times
 * of one that is over are not used. */
static void take_present_job(void *arg, const struct object *job)
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

void flow_tracker_add(struct flow_tracker *tracker, const struct object *object)
{
    struct flow_view *flow = flow_view_from_object(object);
    struct flow_entry *entry = mem_alloc(sizeof *entry);

    entry->uid = flow->uid;
    entry->flow = flow;
    HASH_ADD_KEYPTR(hh, tracker->by_uid, entry->uid, strlen(entry->uid), entry);
    *tracker->flows_tail = flow;
    tracker->flows_tail = &flow->next;
    tracker->n_flows++;
    if (flow->bare_job) {
        take_present_job(tracker, object);
        return;
    }
    flow->has_jobless = has_jobless(flow);
    store_each_owned(tracker->store, &kind_job, flow->uid, take_present_job, tracker);
    take_jobless(tracker, flow, SILENT);
    take_flow_reason(flow);
    flow->resumed = jobflow_phase_of(object) != FLOW_NONE;
    flow_set_phase(tracker, flow, flow_phase_of(object), SILENT);
}

bool flow_tracker_start(struct flow_tracker *tracker, struct error *err)
{
    struct store_watch_options options = {.kind = &kind_job,
                                          .since_revision = store_revision(tracker->store),
                                          .changed = job_changed,
                                          .ctx = tracker};

    tracker->job_watch = store_watch_open(tracker->store, &options, err);
    options.kind = &kind_job_flow;
    options.changed = flow_changed;
    if (tracker->job_watch)
        tracker->flow_watch = store_watch_open(tracker->store, &options, err);
    check_finished(tracker);
    return tracker->flow_watch != NULL;
}

void flow_tracker_free(struct flow_tracker *tracker)
{
    struct flow_entry *entry, *next;

    if (!tracker)
        return;
    if (tracker->job_watch)
        store_watch_close(tracker->job_watch);
    if (tracker->flow_watch)
        store_watch_close(tracker->flow_watch);
    loop_cancel(tracker->loop, &tracker->done_task);
    HASH_ITER(hh, tracker->by_uid, entry, next)
    {
        HASH_DEL(tracker->by_uid, entry);
        mem_free(entry);
    }
    for (struct flow_view *flow = tracker->flows, *after; flow; flow = after) {
        after = flow->next;
        flow_view_free(flow);
    }
    mem_free(tracker);
}

const struct flow_view *flow_tracker_flows(const struct flow_tracker *tracker)
{
    return tracker->flows;
}

const struct flow_view *flow_tracker_find(const struct flow_tracker *tracker, const char *uid)
{
    return flow_by_uid(tracker, uid);
}

size_t flow_tracker_active_count(const struct flow_tracker *tracker)
{
    return tracker->n_active;
}

bool flow_tracker_finished(const struct flow_tracker *tracker)
{
    return tracker->finished;
}

bool flow_tracker_succeeded(const struct flow_tracker *tracker)
{
    for (const struct flow_view *flow = tracker->flows; flow; flow = flow->next)
        if (flow->phase != FLOW_SUCCEED)
            return false;
    return true;
}

const struct flow_view_step *flow_tracker_active(const struct flow_tracker *tracker)
{
    return TAILQ_FIRST(&tracker->active);
}

void flow_tracker_waits_for(const struct flow_tracker *tracker, const struct flow_view_step *step,
                            struct buf *out)
{
    if (!flow_view_step_active(step))
        return;
    if (step->told)
        buf_str(out, step->told);
    else
        reason_to_wait(tracker->store, step->job_uid, out);
}

void flow_tracker_complete(struct flow_tracker *tracker)
{
    for (struct flow_view *flow = tracker->flows; flow; flow = flow->next) {
        complete(flow);
        if (flow_view_is_over(flow))
            flow_view_take_path(flow);
        else
            flow_view_link(flow, NULL);
    }
}
