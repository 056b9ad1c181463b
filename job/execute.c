/*
 * Executes requests: policies turn a request into an action, the table of rules turns the action
 * into a decision, and the decision is stored. Ref: spec/job.md 6, 8, 10.
 *
 * A full kill is decided by storing phase and version. Which pods must go follows from those two
 * (job/model/model.h), and sync removes them. A targeted kill first marks its pods, because the marks are
 * the only durable record of the target. Then it stores the decision, and then sync deletes the
 * marked pods (O-29).
 */
#include <string.h>

#include "job/model/names.h"
#include "job/model/slot_annotations.h"
#include "job/reason.h"
#include "job/run.h"
#include "job/state/rules.h"

/* Rounds of marking a targeted kill's pods before it goes on without those that could not be
 * marked. */
enum { MARK_ROUNDS = 10 };

/* Returns the text of state.reason: that of the request, else the event that decided, or the action
 * when a Command asked for it. */
static const char *reason_of(const struct job_request *request, enum job_action action)
{
    if (request->reason)
        return request->reason;
    return request->event == EVENT_NONE || request->event == EVENT_COMMAND_ISSUED
               ? job_action_text(action)
               : job_event_text(request->event);
}

static bool has_target(const struct job_request *request, enum job_action action)
{
    switch ((int)action) {
    case ACT_RESTART_TASK:
        return request->has_task;
    case ACT_RESTART_POD:
        return request->has_task && request->has_pod;
    case ACT_RESTART_PARTITION:
        return request->has_task && request->partition >= 0;
    default:
        return true;
    }
}

/* Marks the pod of a slot. Returns true when the pod is a target of the kill, not one that leaves
 * anyway. */
static bool mark_slot(struct job_run *run, struct slot_id at)
{
    const struct job_slot *slot = job_model_slot(&run->model, at);

    if (!slot || !slot->pod || slot->op != SLOT_IDLE || slot->facts.marked ||
        (slot->doomed && !slot->facts.deleting))
        return false;
    run->target.marks++;
    if (slot->doomed) { /* the pod leaves anyway; the mark keeps its end from counting as an
                         * eviction (10.1) */
        job_pod_mark(run, at, MARK_TARGET_LEAVING);
        return false;
    }
    job_pod_mark(run, at, MARK_TARGET);
    return true;
}

/* Slots from … to-1 of one task. */
struct target_range {
    int32_t from, to;
};

/* Returns the slots that an action restarts: one, those of a partition, or all of a task. */
static struct target_range range_of(const struct job_run *run, const struct job_request *request,
                                    enum job_action action)
{
    const struct job_task_model *task = &run->model.tasks[request->at.task];
    const struct job_task *spec = &run->model.compiled->spec->tasks.items[request->at.task];
    int32_t from = 0, to = task->n_slots;

    if (action == ACT_RESTART_POD) {
        from = request->at.index;
        to = from + 1;
    } else if (action == ACT_RESTART_PARTITION) {
        int32_t size = spec->partition ? spec->partition->size : 0;

        from = request->partition * size;
        to = from + size < to ? from + size : to;
    }
    return (struct target_range){from, to};
}

static bool mark_target(struct job_run *run, const struct job_request *request,
                        enum job_action action)
{
    struct target_range range = range_of(run, request, action);
    bool any = false;

    for (int32_t i = range.from; i < range.to; i++)
        any |= mark_slot(run, (struct slot_id){request->at.task, i});
    return any;
}

/* Every target is marked: store the decision. */
static void decide_target(struct job_run *run, struct job_request *request)
{
    struct job_rule rule = job_rule_of(run->model.state.phase, request->action);
    struct target_range range = range_of(run, request, request->action);
    scoped(buf) struct buf message = {0};

    if (rule.verb != DO_KILL_TARGET || rule.to == JOB_NONE) { /* the job restarts or ends anyway */
        job_request_finish(run, request);
        run->sync_wanted = true;
        return;
    }
    job_reason_of_action(run, request, request->action, &message);
    if (rule.retry) {
        run->model.state.retry_count++;
        job_slot_annotations_count_restart(&run->model, request->at.task, range.from, range.to);
    }
    job_delayed_cancel_covered(run, request->action, request);
    for (int32_t i = range.from; i < range.to; i++)
        job_delayed_on_mark(run, (struct slot_id){request->at.task, i});
    job_change_phase(run, rule.to, reason_of(request, request->action), message.data, request);
}

/* Handles a targeted kill whose pods are all marked. */
static void finish_target(struct job_run *run, struct job_request *request)
{
    if (request->marking == MARKING_NO_POD)
        job_request_finish(run, request);
    else
        decide_target(run, request);
}

static void kill_target(struct job_run *run, struct job_request *request, enum job_action action)
{
    bool any = false;

    request->action = action;
    run->target.marked = run->target.failed = 0;
    if (request->marking == MARKING_NONE || request->marking == MARKING_PARTLY)
        any = mark_target(run, request, action);
    if (any || (request->marking == MARKING_PARTLY && run->target.marks > 0)) {
        run->target.request = request;
    } else if (request->marking != MARKING_NONE) {
        finish_target(run, request);
    } else { /* rule O-50 */
        job_run_event(run, EVENT_WARNING, "ExecuteAction",
                      "%s has no pod to restart; nothing is done", job_action_text(action));
        job_request_finish(run, request);
        run->sync_wanted = true;
    }
}

void job_execute_marked(struct job_run *run)
{
    struct job_request *request = run->target.request;

    if (!request)
        return;
    run->target.request = NULL;
    if (run->target.marked > 0)
        request->marking = MARKING_PARTLY;
    if (run->target.failed > 0 && request->rounds++ < MARK_ROUNDS) { /* the others first (O-51) */
        run->paused = true;
        job_request_repeat(run, request);
        return;
    }
    request->marking = request->marking == MARKING_NONE ? MARKING_NO_POD : MARKING_COMPLETE;
    if (run->write != WRITE_NONE) /* counters are being stored: their answer takes this up */
        job_request_repeat(run, request);
    else
        finish_target(run, request);
}

static bool any_pod_of_this_epoch(const struct job_model *model)
{
    return model->totals[SLOT_PENDING] + model->totals[SLOT_RUNNING] +
               model->totals[SLOT_SUCCEEDED] + model->totals[SLOT_FAILED] +
               model->totals[SLOT_UNKNOWN] >
           0;
}

static void kill_all(struct job_run *run, struct job_request *request, enum job_action action,
                     const struct job_rule *rule)
{
    struct job_state *state = &run->model.state;
    scoped(buf) struct buf message = {0};

    job_delayed_cancel_covered(run, action, request);
    if (rule->to == JOB_NONE) {
        run->sync_wanted = true;
        if (!rule->version || !any_pod_of_this_epoch(&run->model)) {
            job_request_finish(run, request); /* the kill is in progress (O-30) */
            return;
        }
        state->version++;
        job_model_new_epoch(&run->model);
        job_store_status(run, request);
        return;
    }
    job_reason_of_action(run, request, action, &message);
    if (rule->version)
        state->version++;
    if (rule->retry)
        state->retry_count++;
    job_change_phase(run, rule->to, reason_of(request, action), message.data, request);
}

/* Returns the job with annotations that count a resume, with the version it starts from. They are
 * written before the resume is decided (O-34). */
static struct object *with_resume_counted(const struct job_run *run)
{
    char count[16], version[16];

    snprintf(count, sizeof count, "%d", run->model.resumes + 1);
    snprintf(version, sizeof version, "%d", run->model.state.version);
    return job_annotated(
        run->model.job,
        (const struct kv[]){{ANNOTATION_RESUME_COUNT, count}, {ANNOTATION_RESUME_VERSION, version}},
        2);
}

static bool resume_is_counted(const struct job_run *run)
{
    const char *text = meta_annotation(run->model.job->meta, ANNOTATION_RESUME_VERSION);
    int32_t version;

    return text && job_parse_int(text, &version) && version == run->model.state.version;
}

static void resume_counted(struct cluster_call *call, const struct object *job,
                           const struct error *err)
{
    struct job_run *run = container_of(call, struct job_run, store_call);
    struct job_request *request = run->deciding;

    job_write_set(&run->write, WRITE_NONE);
    if (run->gone) {
        job_run_free_if_done(run);
        return;
    }
    run->deciding = NULL;
    job_request_repeat(run, request); /* the action is decided when the annotations are stored */
    if (!err) {
        job_run_job(run, job);
        job_run_sync(run);
        return;
    }
    run->paused = true;
    job_write_failed(run, "JobStatusError", "count the resume", err);
}

static void count_resume(struct job_run *run, struct job_request *request)
{
    job_write_set(&run->write, WRITE_RESUME);
    run->deciding = request;
    run->store_call.done = resume_counted;
    cluster_update(run->ctl->cluster, &run->store_call, with_resume_counted(run));
}

static void execute_action(struct job_run *run, struct job_request *request, enum job_action action)
{
    struct job_rule rule = job_rule_of(run->model.state.phase, action);

    if (job_action_targeted(action) && !has_target(request, action)) { /* rule O-21 */
        job_run_event(run, EVENT_WARNING, "ExecuteAction",
                      "%s needs a %s, and %s names none; nothing is done", job_action_text(action),
                      action == ACT_RESTART_TASK  ? "task"
                      : action == ACT_RESTART_POD ? "pod"
                                                  : "partition",
                      job_event_text(request->event));
        job_request_finish(run, request);
        run->sync_wanted = true;
        return;
    }
    if (run->model.lifecycle.at_most_once && (rule.to == JOB_RESTARTING || rule.resume)) {
        job_run_event(run, EVENT_WARNING, "ExecuteAction",
                      "%s has no effect on a job that runs at most once", job_action_text(action));
        job_request_finish(run, request);
        run->sync_wanted = true;
        return;
    }
    if (rule.resume && !resume_is_counted(run)) {
        count_resume(run, request);
        return;
    }
    if (rule.verb == DO_NOTHING) {
        job_run_event(run, EVENT_NORMAL, "ExecuteAction", "%s has no effect on a job that is %s",
                      job_action_text(action), job_phase_text(run->model.state.phase));
        run->sync_wanted = true;
        job_request_finish(run, request);
        return;
    }
    if (!job_action_internal(action) && request->marking == MARKING_NONE) {
        scoped(buf) struct buf message = {0};

        job_reason_of_action(run, request, action, &message);
        job_run_event(run, EVENT_NORMAL, "ExecuteAction", "%s", message.data);
    }
    switch (rule.verb) {
    case DO_KILL:
        kill_all(run, request, action, &rule);
        return;
    case DO_KILL_TARGET:
        kill_target(run, request, action);
        return;
    case DO_SYNC:
    case DO_NOTHING:
        run->sync_wanted = true;
        job_request_finish(run, request);
        return;
    }
}

/* The pods of companions are started again when they end: that is no event of the whole job. */
static bool is_of_companion(const struct job_run *run, const struct job_request *request)
{
    return request->has_task && run->model.tasks[request->at.task].companion;
}

/* A gang that takes no other pods in begins anew when it has lost one. */
static bool is_loss_of_present_pod(const struct job_run *run, const struct job_request *request)
{
    return request->event == EVENT_POD_EVICTED && request->version == run->model.state.version;
}

void job_execute(struct job_run *run, struct job_request *request)
{
    static const struct job_policy_rows none = {0};
    const struct job_compiled_spec *compiled = run->model.compiled;
    const struct job_policy_input what = {
        .event = request->event,
        .has_action = request->has_action,
        .action = request->action,
        .version = request->version,
        .exit_code = request->exit_code,
    };
    struct job_policy_result response;

    if (object_deleting(run->model.job) ||
        (request->has_task && request->at.task >= compiled->spec->tasks.count)) {
        job_request_finish(run, request);
        return;
    }
    if (request->expired && request->marking == MARKING_NONE) {
        if (job_delayed_must_wait(run, request)) {
            job_request_postpone(run, request);
            return;
        }
        if (!job_delayed_still_valid(run, request)) {
            job_request_finish(run, request);
            return;
        }
    }
    job_delayed_on_event(run, request);
    response =
        job_policy_match(&what, run->model.state.version,
                         request->has_task ? compiled->tasks[request->at.task].policies : none,
                         is_of_companion(run, request) ? none : compiled->policies);
    if (run->ctl->gang->whole && response.source == POLICY_NONE && !request->has_action &&
        is_loss_of_present_pod(run, request))
        response.action = ACT_RESTART_JOB;
    if (response.delay_ms > 0) {
        /* The sync keeps counters and pods right until the action is due (O-25). */
        job_delayed_add(run, request, &response);
        job_request_finish(run, request);
        run->sync_wanted = true;
        return;
    }
    if (job_action_internal(response.action)) {
        run->sync_wanted = true;
        job_request_finish(run, request);
        return;
    }
    execute_action(run, request, response.action);
}
