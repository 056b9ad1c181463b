/*
 * First the reasons of actions, then those of verdicts: which pod, task, exit code or limit
 * decided.
 */
#include "job/reason.h"

#include <string.h>

#include "api/types/kinds/command.h"
#include "job/model/names.h"

static bool is_of_task(enum job_event event)
{
    return event == EVENT_TASK_COMPLETED || event == EVENT_TASK_FAILED;
}

/* Appends " of pod x" or " of task y", the subject of the event. */
static void put_subject(const struct job_run *run, const struct job_request *request,
                        struct buf *out)
{
    const struct job_model *model = &run->model;
    const char *task =
        request->has_task ? model->compiled->spec->tasks.items[request->at.task].name : NULL;

    if (task && is_of_task(request->event)) {
        buf_printf(out, " of task %s", task);
    } else if (request->pod) {
        buf_printf(out, " of pod %s", object_name(request->pod));
    } else if (task && request->has_pod) { /* the pod itself is gone */
        scoped_str name = job_pod_name(object_name(model->job), task, request->at.index);

        buf_printf(out, " of pod %s", name);
    }
}

/* Returns the exit code of the event; for a delayed action that of the pod in the slot. */
static int32_t exit_code_of(const struct job_run *run, const struct job_request *request)
{
    const struct job_slot *slot = request->event == EVENT_POD_FAILED && request->has_pod
                                      ? job_model_slot(&run->model, request->at)
                                      : NULL;

    if (request->exit_code != 0 || !slot || !slot->pod)
        return request->exit_code;
    return slot->facts.exit_code;
}

/* What a Command has done to a job; NULL: it is told like any other action. */
static const char *const commanded[JOB_ACTION_N] = {
    [ACT_ABORT_JOB] = "aborted",        [ACT_RESTART_JOB] = "restarted",
    [ACT_TERMINATE_JOB] = "terminated", [ACT_COMPLETE_JOB] = "completed",
    [ACT_RESUME_JOB] = "resumed",
};

/* Appends the message of the Command, or its name when it has none. */
static void put_command(const struct object *command, struct buf *out)
{
    enum { MESSAGE_MAX = 200 };
    const char *message = command_of(command)->message;

    if (!message || !*message) {
        buf_printf(out, " by command %s", object_name(command));
        return;
    }
    buf_str(out, ": ");
    buf_str_short(out, message, MESSAGE_MAX);
}

void job_reason_of_action(const struct job_run *run, const struct job_request *request,
                          enum job_action action, struct buf *out)
{
    int32_t exit_code = exit_code_of(run, request);

    if (request->command && commanded[action]) {
        buf_str(out, commanded[action]);
        put_command(request->command, out);
        return;
    }
    if (request->message) {
        buf_str(out, request->message);
        return;
    }
    buf_str(out, job_action_text(action));
    if (request->event != EVENT_NONE)
        buf_printf(out, " after %s", job_event_text(request->event));
    put_subject(run, request, out);
    if (exit_code != 0)
        buf_printf(out, " with exit code %d", exit_code);
    if (request->expired)
        buf_str(out, " and its timeout");
    if (request->command)
        put_command(request->command, out);
}

static const struct job_slot *first_failed(const struct job_model *model)
{
    for (size_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        const struct job_task_model *task = &model->tasks[t];

        for (int32_t i = 0; task->by_class[SLOT_FAILED] > 0 && i < task->n_slots; i++)
            if (task->slots[i].class == SLOT_FAILED && task->slots[i].pod)
                return &task->slots[i];
    }
    return NULL;
}

static void put_ends(const struct job_model *model, const struct job_counts *c, struct buf *out)
{
    const struct job_slot *failed = first_failed(model);

    buf_printf(out, "%d of %lld pods succeeded, %d failed", c->succeeded,
               (long long)job_counts_ordinary(c), c->failed);
    if (!failed)
        return;
    buf_printf(out, " (%s%s", c->failed > 1 ? "first " : "", object_name(failed->pod));
    if (failed->facts.exit_code != 0)
        buf_printf(out, " with exit code %d", failed->facts.exit_code);
    buf_char(out, ')');
}

static void put_short_task(const struct job_model *model, struct buf *out)
{
    for (size_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        const struct job_task *task = &model->compiled->spec->tasks.items[t];

        if (!model->tasks[t].below_minimum)
            continue;
        buf_printf(out, "; task %s has %d of minAvailable %d", task->name,
                   model->tasks[t].by_class[SLOT_SUCCEEDED], task->min_available.value);
        return;
    }
}

static void put_end(const struct job_model *model, const struct job_counts *c, const char *reason,
                    struct buf *out)
{
    put_ends(model, c, out);
    if (strncmp(reason, "MinSuccess", strlen("MinSuccess")) == 0)
        buf_printf(out, "; minSuccess %d", c->min_success.value);
    else if (strcmp(reason, "TaskMinAvailableMissed") == 0)
        put_short_task(model, out);
    else
        buf_printf(out, "; minAvailable %lld", (long long)job_counts_ordinary_minimum(c));
}

static void put_spent(const struct job_model *model, const struct job_counts *c, struct buf *out)
{
    const char *led_here = model->state.message;

    buf_printf(out, "maxRetry %d is used up", c->max_retry);
    if (led_here && *led_here)
        buf_printf(out, " by %s", led_here);
    buf_str(out, "; ");
    put_ends(model, c, out);
}

void job_reason_of_verdict(const struct job_model *model, const struct job_counts *c,
                           const struct job_verdict *verdict, struct buf *out)
{
    if (verdict->phase == JOB_RUNNING)
        buf_printf(out, "%d of %lld pods run or have ended; minAvailable %d",
                   c->running + c->succeeded + c->failed, (long long)c->replicas, c->min_available);
    else if (verdict->phase == JOB_PENDING && c->phase == JOB_RUNNING)
        buf_printf(out, "%d of %lld pods are pending; minAvailable %d", c->pending,
                   (long long)c->replicas, c->min_available);
    else if (c->phase == JOB_RUNNING)
        put_end(model, c, verdict->reason, out);
    else if (verdict->phase == JOB_FAILED && c->phase != JOB_TERMINATING)
        put_spent(model, c, out);
    else /* the decision that began the restart or the end */
        buf_str(out, model->state.message ? model->state.message : "");
}
