/*
 * The model of a followed run. One job event costs one hash look-up, whatever the size of the flow.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "view/run_model_internal.h"
#include "view/why.h"

static void step_link(struct follow *follow, struct follow_step *step)
{
    step->prev_running = follow->running_last;
    step->next_running = NULL;
    *(follow->running_last ? &follow->running_last->next_running : &follow->running) = step;
    follow->running_last = step;
}

static void step_unlink(struct follow *follow, struct follow_step *step)
{
    *(step->prev_running ? &step->prev_running->next_running : &follow->running) =
        step->next_running;
    *(step->next_running ? &step->next_running->prev_running : &follow->running_last) =
        step->prev_running;
    step->next_running = step->prev_running = NULL;
}

static bool phase_at_work(enum job_phase phase)
{
    return phase != JOB_NONE && phase != JOB_ABORTED && !job_phase_finished(phase);
}

bool follow_step_over(const struct follow_step *step)
{
    return job_phase_finished(step->phase);
}

bool follow_step_failed(const struct follow_step *step)
{
    return follow_step_over(step) && step->phase != JOB_COMPLETED;
}

const char *follow_step_state(const struct follow_step *step)
{
    if (step->phase == JOB_NONE)
        return step->stopped ? "Stopped" : "Waiting";
    return job_phase_text(step->phase);
}

void follow_step_waits(const struct follow *follow, const struct follow_step *step, struct buf *out)
{
    if (step->phase == JOB_NONE || follow_step_over(step))
        return;
    if (step->reason)
        buf_str(out, step->reason);
    else
        why_waits(follow->store, step->job_uid, out);
}

static struct follow_flow *flow_by_uid(const struct follow *follow, const char *uid)
{
    struct flow_uid *entry;

    HASH_FIND_STR(follow->by_uid, uid, entry);
    return entry ? entry->flow : NULL;
}

struct follow_step *follow_named(const struct follow_flow *flow, const char *name)
{
    struct step_name *entry;

    HASH_FIND_STR(flow->names, name, entry);
    return entry ? entry->step : NULL;
}

const struct follow_step *follow_find_step(const struct follow_flow *flow, const char *name)
{
    return follow_named(flow, name);
}

/* The step a job belongs to, by its controlling owner and its annotation; a bare job is its own
 * flow. */
static struct follow_step *step_of(const struct follow *follow, const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);
    struct follow_flow *flow = flow_by_uid(follow, owner ? owner->uid : object_uid(job));
    struct follow_step *step;
    const char *name, *number;

    if (!flow)
        return NULL;
    if (flow->bare_job)
        return &flow->steps[0];
    name = meta_annotation(job->meta, ANNOTATION_FLOW_STEP);
    step = name ? follow_named(flow, name) : NULL;
    number = meta_annotation(job->meta, ANNOTATION_FLOW_ITERATION);
    return step && number ? follow_iteration(step, number) : step;
}

void follow_set_text(const char **member, const char *text)
{
    if (text && !*text)
        text = NULL;
    if ((*member == NULL) == (text == NULL) && (!text || strcmp(*member, text) == 0))
        return;
    mem_free((char *)(size_t)*member);
    *member = mem_strdup(text);
}

/* A message that only counts pods: the state tells that already. */
static bool only_counts(const struct job_status *status)
{
    return !status->message || !*status->message || strstr(status->message, " pods succeeded, ");
}

/* Why it failed, restarts or waits; before anybody is told of the step's new phase. */
static void take_reason(const struct follow *follow, struct follow_step *step,
                        const struct job_status *status)
{
    bool is_over = job_phase_finished(status->phase) && status->phase != JOB_COMPLETED;
    scoped(buf) struct buf text = {0};

    if (is_over && only_counts(status)) {
        why_failed(follow->store, step->job_uid, &text);
        if (text.len == 0)
            buf_str(&text, status->message ? status->message : "");
        if (status->reason && strcmp(status->reason, "MaxRetryReached") == 0)
            buf_str(&text, "; no restart is left (maxRetry)");
    } else if (is_over || (status->phase != JOB_RUNNING && status->phase != JOB_COMPLETED &&
                           status->phase != JOB_COMPLETING && !only_counts(status))) {
        buf_str(&text, status->message ? status->message : "");
    }
    follow_set_text(&step->reason, text.data);
}

static int32_t job_replicas(const struct job_spec *spec)
{
    int32_t total = 0;

    for (size_t i = 0; i < spec->tasks.count; i++)
        total += spec->tasks.items[i].replicas;
    return total;
}

/* The flow's tallies and the list of steps at work follow every change of a step's phase. */
void follow_set_phase(struct follow *follow, struct follow_step *step, enum job_phase phase)
{
    int64_t now = loop_wall_ms(follow->loop);
    struct follow_flow *flow = step->flow;
    bool was_over = job_phase_finished(step->phase), is_over = job_phase_finished(phase);
    bool was_working = !step->jobless && phase_at_work(step->phase);
    bool is_working = !step->jobless && phase_at_work(phase);
    size_t one = step->loop ? 0 : 1; /* a loop is one step of its flow */

    if (step->phase == JOB_NONE && phase != JOB_NONE) {
        flow->n_started += one;
        step->created_ms = now;
    }
    if (phase == JOB_RUNNING && !step->started_ms)
        step->started_ms = now;
    if (is_over && !was_over) {
        step->ended_ms = now;
        if (!step->started_ms)
            step->started_ms = step->created_ms;
        *(phase == JOB_COMPLETED ? &flow->n_done : &flow->n_failed) += one;
    } else if (was_over && !is_over) {
        *(step->phase == JOB_COMPLETED ? &flow->n_done : &flow->n_failed) -= one;
        step->ended_ms = 0;
    }
    if (is_working && !was_working) {
        follow->n_working++;
        step_link(follow, step);
    } else if (was_working && !is_working) {
        follow->n_working--;
        step_unlink(follow, step);
    }
    step->phase = phase;
}

static enum flow_phase flow_phase_of_job(enum job_phase phase)
{
    if (phase == JOB_COMPLETED)
        return FLOW_SUCCEED;
    if (job_phase_finished(phase) || phase == JOB_ABORTED)
        return FLOW_FAILED;
    return phase == JOB_NONE || phase == JOB_PENDING ? FLOW_PENDING : FLOW_RUNNING;
}

static void check_finished(struct follow *follow);

/* A failed flow that is to be retried is not over. */
static enum flow_phase flow_phase_of(const struct object *object)
{
    return jobflow_wants_retry(object) ? FLOW_RUNNING : jobflow_phase_of(object);
}

static void flow_set_phase(struct follow *follow, struct follow_flow *flow, enum flow_phase phase,
                           bool tell)
{
    enum flow_phase before = flow->phase;

    if (phase == before)
        return;
    flow->phase = phase;
    if (!flow->started_ms && phase != FLOW_PENDING)
        flow->started_ms = loop_wall_ms(follow->loop);
    if (flow_phase_finished(phase)) {
        flow->ended_ms = loop_wall_ms(follow->loop);
        follow->n_over++;
    } else if (flow_phase_finished(before)) {
        follow->n_over--;
    }
    if (tell)
        follow->events.flow(follow->events.ctx, flow, before);
    check_finished(follow);
}

static void take_job(struct follow *follow, struct follow_step *step, const struct object *job,
                     bool tell)
{
    const struct job_status *status = job_status_of(job);
    enum job_phase before = step->phase;
    bool changed = before != status->phase || step->ready != status->running + status->succeeded ||
                   step->retries != status->retry_count;

    if (strcmp(step->job_uid, object_uid(job)) != 0) {
        snprintf(step->job_uid, sizeof step->job_uid, "%s", object_uid(job));
        step->attempts++;
        if (step->loop)
            step->loop->attempts++;
        if (follow_step_over(step))
            step->started_ms = 0; /* a further attempt */
        step->resumed = false;
    }
    step->ready = status->running + status->succeeded;
    step->total = job_replicas(job_spec_of(job));
    step->retries = status->retry_count;
    step->stopped = false;
    take_reason(follow, step, status);
    if (step->loop && before == JOB_NONE)
        follow_loop_goes_on(follow, step, tell);
    if (status->phase != before)
        follow_set_phase(follow, step, status->phase);
    if (tell && changed)
        follow->events.step(follow->events.ctx, step, before);
    if (step->flow->bare_job)
        flow_set_phase(follow, step->flow, flow_phase_of_job(step->phase), tell);
}

static bool job_changed(void *ctx, enum store_change change, const struct object *old,
                        const struct object *job)
{
    struct follow *follow = ctx;
    struct follow_step *step = step_of(follow, job);

    if (!step)
        return true;
    if (change != STORE_DELETED) {
        take_job(follow, step, job, true);
    } else if (!follow_step_over(step) && strcmp(step->job_uid, object_uid(job)) == 0) {
        enum job_phase before = step->phase;

        follow_set_phase(follow, step, JOB_NONE);
        step->stopped = true;
        follow_set_text(&step->reason, NULL);
        follow->events.step(follow->events.ctx, step, before);
    }
    check_finished(follow);
    return true;
}

static bool flow_changed(void *ctx, enum store_change change, const struct object *old,
                         const struct object *object)
{
    struct follow *follow = ctx;
    struct follow_flow *flow = flow_by_uid(follow, object_uid(object));
    enum flow_phase before;
    bool news;

    if (!flow)
        return true;
    object_unref((struct object *)(size_t)flow->object);
    flow->object = object_ref(object);
    follow_read_jobless(follow, flow, true);
    before = flow->phase;
    news = follow_read_reason(flow);
    flow_set_phase(follow, flow, change == STORE_DELETED ? FLOW_FAILED : flow_phase_of(object),
                   true);
    if (news && flow->phase == before)
        follow->events.flow(follow->events.ctx, flow, before);
    return true;
}

static void tell_finished(struct task *task)
{
    struct follow *follow = container_of(task, struct follow, done_task);

    follow->events.finished(follow->events.ctx);
}

static void check_finished(struct follow *follow)
{
    if (follow->finished || follow->n_over < follow->n_flows || follow->n_working)
        return;
    follow->finished = true;
    loop_post(follow->loop, &follow->done_task);
}

struct follow *follow_new(struct loop *loop, struct store *store,
                          const struct follow_events *events)
{
    struct follow *follow = mem_alloc(sizeof *follow);

    follow->loop = loop;
    follow->store = store;
    follow->events = *events;
    follow->flows_tail = &follow->flows;
    follow->done_task.run = tell_finished;
    return follow;
}

void follow_name_step(struct follow_flow *flow, struct follow_step *step, char *name)
{
    struct step_name *entry = mem_alloc(sizeof *entry);

    step->name = name;
    step->flow = flow;
    entry->name = name;
    entry->step = step;
    HASH_ADD_KEYPTR(hh, flow->names, entry->name, strlen(entry->name), entry);
}

static void add_steps(struct follow_flow *flow, const struct object *object)
{
    const struct jobflow_spec *spec = jobflow_spec_of(object);

    flow->n_steps = spec->steps.count;
    flow->steps = mem_array(flow->n_steps ? flow->n_steps : 1, sizeof *flow->steps);
    for (size_t i = 0; i < flow->n_steps; i++) {
        flow->steps[i].index = i;
        flow->steps[i].jobless = spec->steps.items[i].loop || spec->steps.items[i].choice;
        flow->n_jobless += flow->steps[i].jobless;
        follow_name_step(flow, &flow->steps[i], mem_strdup(spec->steps.items[i].name));
    }
}

struct take_present {
    struct follow *follow;
};

static void take_present_job(void *arg, const struct object *job)
{
    struct take_present *present = arg;
    struct follow_step *step = step_of(present->follow, job);

    if (!step)
        return;
    take_job(present->follow, step, job, false);
    step->resumed = follow_step_over(step);
    if (step->resumed)
        step->started_ms = step->ended_ms = 0;
}

void follow_add(struct follow *follow, const struct object *object)
{
    struct follow_flow *flow = mem_alloc(sizeof *flow);
    struct flow_uid *entry = mem_alloc(sizeof *entry);
    struct take_present present = {follow};

    flow->bare_job = object->kind == &kind_job;
    flow->name = mem_strdup(object_name(object));
    flow->namespace_ = mem_strdup(object_namespace(object));
    flow->uid = mem_strdup(object_uid(object));
    flow->object = object_ref(object);
    entry->uid = flow->uid;
    entry->flow = flow;
    HASH_ADD_KEYPTR(hh, follow->by_uid, entry->uid, strlen(entry->uid), entry);
    *follow->flows_tail = flow;
    follow->flows_tail = &flow->next;
    follow->n_flows++;
    if (flow->bare_job) {
        flow->n_steps = 1;
        flow->steps = mem_alloc(sizeof *flow->steps);
        flow->steps[0] =
            (struct follow_step){.name = mem_strdup(object_name(object)), .flow = flow};
        take_present_job(&present, object);
    } else {
        add_steps(flow, object);
        store_each_owned(follow->store, &kind_job, flow->uid, take_present_job, &present);
        follow_read_jobless(follow, flow, false);
        follow_read_reason(flow);
        flow_set_phase(follow, flow, flow_phase_of(object), false);
    }
}

bool follow_start(struct follow *follow, struct error *err)
{
    struct store_watch_options options = {.kind = &kind_job,
                                          .since_revision = store_revision(follow->store),
                                          .changed = job_changed,
                                          .ctx = follow};

    follow->job_watch = store_watch_open(follow->store, &options, err);
    options.kind = &kind_job_flow;
    options.changed = flow_changed;
    if (follow->job_watch)
        follow->flow_watch = store_watch_open(follow->store, &options, err);
    check_finished(follow);
    return follow->flow_watch != NULL;
}

static void step_release(struct follow_step *step)
{
    mem_free((char *)(size_t)step->name);
    mem_free((char *)(size_t)step->reason);
}

static void flow_free(struct follow_flow *flow)
{
    struct step_name *entry, *next;

    HASH_ITER(hh, flow->names, entry, next)
    {
        HASH_DEL(flow->names, entry);
        mem_free(entry);
    }
    for (size_t i = 0; i < flow->n_steps; i++) {
        for (struct follow_step *step = flow->steps[i].iterations, *before; step; step = before) {
            before = step->next_iteration;
            step_release(step);
            mem_free(step);
        }
        step_release(&flow->steps[i]);
    }
    mem_free(flow->steps);
    mem_free((char *)(size_t)flow->name);
    mem_free((char *)(size_t)flow->namespace_);
    mem_free((char *)(size_t)flow->uid);
    mem_free((char *)(size_t)flow->reason);
    object_unref((struct object *)(size_t)flow->object);
    mem_free(flow);
}

void follow_free(struct follow *follow)
{
    struct flow_uid *entry, *next;

    if (!follow)
        return;
    if (follow->job_watch)
        store_watch_close(follow->job_watch);
    if (follow->flow_watch)
        store_watch_close(follow->flow_watch);
    loop_cancel(follow->loop, &follow->done_task);
    HASH_ITER(hh, follow->by_uid, entry, next)
    {
        HASH_DEL(follow->by_uid, entry);
        mem_free(entry);
    }
    for (struct follow_flow *flow = follow->flows, *after; flow; flow = after) {
        after = flow->next;
        flow_free(flow);
    }
    mem_free(follow);
}

const struct follow_flow *follow_flows(const struct follow *follow)
{
    return follow->flows;
}

const struct follow_flow *follow_find_flow(const struct follow *follow, const char *uid)
{
    return flow_by_uid(follow, uid);
}

size_t follow_working(const struct follow *follow)
{
    return follow->n_working;
}

bool follow_finished(const struct follow *follow)
{
    return follow->finished;
}

bool follow_succeeded(const struct follow *follow)
{
    for (const struct follow_flow *flow = follow->flows; flow; flow = flow->next)
        if (flow->phase != FLOW_SUCCEED)
            return false;
    return true;
}

const struct follow_step *follow_running(const struct follow *follow)
{
    return follow->running;
}
