/*
 * Takes up Commands, keeps those whose job does not exist yet, and deletes executed ones. Ref:
 * Volcano pkg/controllers/job/job_controller_handler.go, addCommand, handleCommands.
 */
#include "job/commands.h"

#include <string.h>

#include "api/types/kinds/command.h"
#include "base/mem.h"
#include "job/model/names.h"
#include "job/removals.h"
#include "job/run.h"
#include "job/state/rules.h"

enum { PARKED_MS = 30000 };

struct parked_command {
    struct job_controller *ctl;
    struct timer timer;
    struct object *command;
    LIST_ENTRY(parked_command) all;
};

static void reject(struct job_controller *ctl, const struct object *about,
                   const struct object *command, const char *why)
{
    const struct command *asked = command_of(command);

    cluster_event(ctl->cluster, about, EVENT_WARNING, "CommandRejected", JOB_COMPONENT,
                  "command %s (%s of job %s) is refused: %s", object_name(command),
                  asked->action ? asked->action : "", asked->target.name, why);
    job_remove(ctl, &kind_command, command->meta);
}

void job_command_done(struct job_run *run, const struct object *command)
{
    job_remove(run->ctl, &kind_command, command->meta);
}

static void unpark(struct parked_command *parked)
{
    LIST_REMOVE(parked, all);
    timer_stop(parked->ctl->loop, &parked->timer);
    object_unref(parked->command);
    mem_free(parked);
}

static void on_parked_too_long(struct timer *timer)
{
    struct parked_command *parked = container_of(timer, struct parked_command, timer);

    reject(parked->ctl, parked->command, parked->command, "there is no such job");
    unpark(parked);
}

static void park(struct job_controller *ctl, const struct object *command)
{
    struct parked_command *parked = mem_alloc(sizeof *parked);

    *parked = (struct parked_command){
        .ctl = ctl,
        .timer = {.fire = on_parked_too_long},
        .command = object_ref(command),
    };
    LIST_INSERT_HEAD(&ctl->parked, parked, all);
    timer_start(ctl->loop, &parked->timer, PARKED_MS);
}

void job_commands_unpark(struct job_controller *ctl, const struct object *job)
{
    for (struct parked_command *parked = LIST_FIRST(&ctl->parked), *next; parked; parked = next) {
        next = LIST_NEXT(parked, all);
        if (strcmp(command_of(parked->command)->target.name, object_name(job)) == 0 &&
            strcmp(object_namespace(parked->command), object_namespace(job)) == 0) {
            scoped(object) struct object *command = object_ref(parked->command);

            unpark(parked);
            job_command_arrived(ctl, command);
        }
    }
}

void job_commands_release(struct job_controller *ctl)
{
    while (!LIST_EMPTY(&ctl->parked))
        unpark(LIST_FIRST(&ctl->parked));
}

/* Reads the target of a targeted action from the Command's annotations (O-67). */
static void find_target(const struct job_run *run, const struct object *command,
                        struct job_request *request)
{
    const char *task = meta_annotation(command->meta, ANNOTATION_COMMAND_TASK);
    const char *pod = meta_annotation(command->meta, ANNOTATION_COMMAND_POD);
    const char *partition = meta_annotation(command->meta, ANNOTATION_COMMAND_PARTITION);
    const struct object *object =
        pod ? cluster_get(run->ctl->cluster, &kind_pod, object_namespace(command), pod) : NULL;
    int32_t position = task ? job_compiled_task_at(run->model.compiled, task) : -1;

    if (position >= 0) {
        request->has_task = true;
        request->at.task = (uint32_t)position;
    }
    if (partition && !job_parse_int(partition, &request->partition))
        request->partition = -1;
    if (object && job_model_locate(&run->model, object, &request->at)) {
        const struct job_slot *slot = job_model_slot(&run->model, request->at);

        request->has_task = request->has_pod =
            slot && slot->pod && strcmp(object_uid(slot->pod), object_uid(object)) == 0;
    }
}

static void execute(struct job_controller *ctl, const struct object *job,
                    const struct object *command, enum job_action action)
{
    struct job_run *run = job_run_get(ctl, job);
    const char *last = job_state_resource(&run->model.state, RESOURCE_COMMAND_UID);
    struct job_request *request;

    if (last && strcmp(last, object_uid(command)) == 0) { /* executed by the last process */
        job_remove(ctl, &kind_command, command->meta);
        return;
    }
    job_run_event(run, EVENT_NORMAL, "CommandIssued", "command %s: %s", object_name(command),
                  job_action_text(action));
    request = mem_alloc(sizeof *request);
    *request = (struct job_request){
        .event = EVENT_COMMAND_ISSUED,
        .has_action = true,
        .action = action,
        .partition = -1,
        .version = run->model.state.version,
        .command = object_ref(command),
    };
    if (job_action_targeted(action))
        find_target(run, command, request);
    job_request_post(run, request);
}

void job_command_arrived(struct job_controller *ctl, const struct object *command)
{
    const struct command *asked = command_of(command);
    const struct object *job;
    enum job_action action;

    if (!asked->target.kind || strcmp(asked->target.kind, kind_job.name) != 0 ||
        !asked->target.api_version || strcmp(asked->target.api_version, JOB_API_VERSION) != 0 ||
        !asked->target.name || object_deleting(command))
        return;
    job = cluster_get(ctl->cluster, &kind_job, object_namespace(command), asked->target.name);
    if (!job)
        park(ctl, command);
    else if (asked->target.uid && *asked->target.uid &&
             strcmp(asked->target.uid, object_uid(job)) != 0)
        reject(ctl, job, command, "it is for an earlier job of this name");
    else if (!asked->action || !job_action_parse(asked->action, &action) ||
             job_action_internal(action))
        reject(ctl, job, command, "the action is unknown");
    else
        execute(ctl, job, command, action);
}
