/*
 * Changes of jobs and flows become changes of views.
 *
 *   job changes  ──► its flow by uid, its step by name ──► its state ──► events.step
 *   flow changes ──► loops and switches of its status, phase, reason ──► events.flow
 */
#include "view/flow_tracker.h"

#include <string.h>

#include "base/encoding/jsonscan.h"
#include "base/mem.h"
#include "view/flow_tracker_internal.h"
#include "view/reason.h"

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

struct flow_view *flow_tracker_flow(const struct flow_tracker *tracker, const char *uid)
{
    struct flow_entry *entry;

    HASH_FIND_STR(tracker->by_uid, uid, entry);
    return entry ? entry->flow : NULL;
}

/* An iteration that was in another state is counted by its loop as it is now. */
static void count_iteration(struct flow_view_step *step, bool was_over, bool was_active)
{
    step->loop->iterations_over += (uint32_t)flow_view_step_over(step) - (uint32_t)was_over;
    step->loop->iterations_active += (uint32_t)flow_view_step_active(step) - (uint32_t)was_active;
}

void flow_tracker_set_state(struct flow_tracker *tracker, struct flow_view_step *step,
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

void flow_tracker_come_to(struct flow_tracker *tracker, struct flow_view_step *step,
                          enum view_state state, enum telling telling)
{
    enum view_state before = (enum view_state)step->state;

    if (state == before)
        return;
    flow_tracker_set_state(tracker, step, state);
    if (telling == TELL)
        tracker->events.step(tracker->events.ctx, step, before);
}

static void tell_finished(struct task *task)
{
    struct flow_tracker *tracker = container_of(task, struct flow_tracker, done_task);

    tracker->events.finished(tracker->events.ctx);
}

void flow_tracker_check_finished(struct flow_tracker *tracker)
{
    if (tracker->finished || tracker->n_over < tracker->n_flows || tracker->n_active)
        return;
    tracker->finished = true;
    loop_post(tracker->loop, &tracker->done_task);
}

/* Takes what the newest status tells of steps that have had no job. */
static void complete(struct flow_view *flow)
{
    scoped(json) json_t *status = flow->object->status ? object_status_json(flow->object) : NULL;

    if (!flow->bare_job && status)
        flow_view_complete(flow, status);
}

/* Takes what the status tells of steps without a job, and tells those that failed without one. */
static void complete_and_tell(struct flow_tracker *tracker, struct flow_view *flow,
                              enum telling telling)
{
    bool *waited = mem_array(flow->n_steps, sizeof *waited);

    for (uint32_t i = 0; i < flow->n_steps; i++)
        waited[i] = flow->steps[i].state == VIEW_WAITING;
    complete(flow);
    for (uint32_t i = 0; telling == TELL && i < flow->n_steps; i++)
        if (waited[i] && flow->steps[i].state == VIEW_FAILED)
            tracker->events.step(tracker->events.ctx, &flow->steps[i], VIEW_WAITING);
    mem_free(waited);
}

void flow_tracker_set_phase(struct flow_tracker *tracker, struct flow_view *flow,
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
        complete_and_tell(tracker, flow, telling); /* some were skipped, or failed without a job */
    if (telling == TELL)
        tracker->events.flow(tracker->events.ctx, flow, before);
    flow_tracker_check_finished(tracker);
}

void flow_tracker_set_told(struct flow_view_step *step, const char *text)
{
    char *copy = text && *text ? mem_strdup(text) : NULL;

    mem_free(step->told);
    step->told = copy;
}

static bool has_jobless(const struct flow_view *flow)
{
    for (uint32_t i = 0; i < flow->n_steps; i++)
        if (flow_view_step_jobless(&flow->steps[i]))
            return true;
    return false;
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
    struct flow_view *flow = flow_tracker_flow(tracker, object_uid(object));
    const struct object *earlier;
    enum flow_phase before;
    bool changed;

    if (!flow)
        return true;
    earlier = flow->object;
    flow->object = object_ref(object);
    flow_tracker_take_jobless(tracker, flow, TELL);
    before = flow->phase;
    changed = take_flow_reason(flow);
    object_unref((struct object *)(size_t)earlier);
    flow_tracker_set_phase(tracker, flow,
                           change == STORE_DELETED ? FLOW_FAILED : flow_phase_of(object), TELL);
    if (changed && flow->phase == before)
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
        flow_tracker_take_present_job(tracker, object);
        return;
    }
    flow->has_jobless = has_jobless(flow);
    store_each_owned(tracker->store, &kind_job, flow->uid, flow_tracker_take_present_job, tracker);
    flow_tracker_take_jobless(tracker, flow, SILENT);
    take_flow_reason(flow);
    flow->resumed = jobflow_phase_of(object) != FLOW_NONE;
    flow_tracker_set_phase(tracker, flow, flow_phase_of(object), SILENT);
}

bool flow_tracker_start(struct flow_tracker *tracker, struct error *err)
{
    struct store_watch_options options = {.kind = &kind_job,
                                          .since_revision = store_revision(tracker->store),
                                          .changed = flow_tracker_job_changed,
                                          .ctx = tracker};

    tracker->job_watch = store_watch_open(tracker->store, &options, err);
    options.kind = &kind_job_flow;
    options.changed = flow_changed;
    if (tracker->job_watch)
        tracker->flow_watch = store_watch_open(tracker->store, &options, err);
    flow_tracker_check_finished(tracker);
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
    return flow_tracker_flow(tracker, uid);
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
