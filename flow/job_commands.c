/*
 * What a flow that has ended makes of its jobs: it terminates unfinished ones (failurePolicy: abort,
 * or the deadline) by a Command like those of clients, or it removes those of steps that begin again,
 * so that a manual retry can use their names again.
 *
 * model.to_command is the set of steps whose job is still to be commanded. It is filled once when a
 * command begins, and then with each step whose job comes to need it. A job is commanded once per
 * phase, and by its uid. Nothing about commands is stored: after a restart they are computed and
 * sent again, which does no harm.
 */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"

enum { COMMAND_BATCH = 256, AGAIN_FIRST_MS = 100 };

struct command_call {
    struct cluster_call call;
    struct flow *flow;
    enum job_command what;
    uint32_t step, build;
};

static bool removal_wanted(const struct flow *flow)
{
    return flow->model.failed_jobs && flow_retry_wanted(flow);
}

/* Once its job is removed, the result of a step is known only from the stored status. */
static bool results_are_stored(const struct flow *flow)
{
    const struct status_writer *w = &flow->writer;

    return flow_phase_finished(w->written_phase) && w->state == STATUS_STORED &&
           w->written_changes == flow->model.changes;
}

static enum job_command command_of(const struct flow *flow)
{
    const struct flow_model *m = &flow->model;

    bool fails = flow->state.phase == FLOW_FAILED || flow->state.ending == FLOW_FAILED;

    if (flow->opening != FLOW_OPEN || object_deleting(flow->object) ||
        (!fails && !removal_wanted(flow)))
        return JOB_COMMAND_NONE;
    if (fails && flow_model_unfinished(m) &&
        (flow_failure_policy(flow) == FAILURE_ABORT || flow_deadline_hit(flow)))
        return JOB_COMMAND_TERMINATE;
    if (removal_wanted(flow) &&
        (flow->commands.now == JOB_COMMAND_REMOVE || results_are_stored(flow)))
        return JOB_COMMAND_REMOVE;
    return JOB_COMMAND_NONE;
}

/* Returns whether the present command is for the job of this step. */
static bool concerns(const struct flow *flow, uint32_t i)
{
    const struct step *step = &flow->model.steps[i];

    if (step->state != STEP_STARTED || !step->job)
        return false;
    if (flow->commands.now == JOB_COMMAND_REMOVE)
        return step->final ||
               (!flow->model.selective && flow_model_step_fails_flow(&flow->model, i)) ||
               (step->judged_again &&
                (job_phase_finished((enum job_phase)step->phase) || step->phase == JOB_ABORTED));
    return flow->commands.now == JOB_COMMAND_TERMINATE && !step->final &&
           !job_phase_finished((enum job_phase)step->phase) && step->phase != JOB_COMPLETING &&
           step->phase != JOB_TERMINATING;
}

static void begin(struct flow *flow, enum job_command what)
{
    struct flow_model *m = &flow->model;

    flow->commands.now = what;
    flow->commands.build = flow->build;
    flow->commands.failures = 0;
    flow_stop_job_commands(flow);
    step_set_each(&m->to_command, step) step_set_remove(&m->to_command, step);
    for (uint32_t i = 0; what != JOB_COMMAND_NONE && i < m->graph->steps; i++)
        if (concerns(flow, i))
            step_set_add(&m->to_command, i);
}

void flow_add_job_command(struct flow *flow, uint32_t step)
{
    if (flow->commands.build == flow->build && concerns(flow, step))
        step_set_add(&flow->model.to_command, step);
}

void flow_renew_job_commands(struct flow *flow)
{
    flow->commands.build = 0;
}

static void on_again(struct timer *timer)
{
    flow_make_runnable(container_of(timer, struct flow, commands.again));
}

static void again_later(struct flow *flow)
{
    flow->commands.again.fire = on_again;
    timer_start(flow->controller->loop, &flow->commands.again,
                flow_retry_delay_ms(flow->commands.failures++, AGAIN_FIRST_MS));
}

static void not_done(struct flow *flow, const struct command_call *command, const struct error *err)
{
    log_warn("job of a failed flow not commanded",
             kv_str("command", command->what == JOB_COMMAND_REMOVE ? "remove" : "terminate"),
             kv_str("namespace", object_namespace(flow->object)),
             kv_str("flow", object_name(flow->object)), kv_str("reason", err->message));
    if (command->build != flow->build || command->what != flow->commands.now)
        return; /* another command has replaced this one */
    step_set_add(&flow->model.to_command, command->step);
    if (!timer_armed(&flow->commands.again))
        again_later(flow);
}

/* Returns whether the error means that nothing is left to do: the job was commanded before, is
 * gone, or is another one of the same name. */
static bool is_harmless(const struct command_call *command, const struct error *err)
{
    const struct object *job;

    if (err->code == ERR_EXISTS)
        return command->what == JOB_COMMAND_TERMINATE;
    if (err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT)
        return false;
    if (command->flow->opening != FLOW_OPEN || command->build != command->flow->build)
        return true;
    job = flow_job_of(command->flow, command->step);
    return !job || object_deleting(job);
}

static void on_done(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct command_call *command = container_of(call, struct command_call, call);
    struct flow *flow = command->flow;

    if (flow_call_ended(flow)) {
        if (err && !is_harmless(command, err))
            not_done(flow, command, err);
        flow_make_runnable(flow);
    }
    mem_free(command);
}

struct cause {
    const char *reason, *message;
};

/* `scratch` holds a text that is made. */
static struct cause cause_of(const struct flow *flow, struct buf *scratch)
{
    if (jobflow_aborted(flow->object))
        return (struct cause){"JobFlowAborted", "the flow was aborted"};
    if (flow_deadline_hit(flow)) {
        flow_write_deadline(flow, scratch);
        return (struct cause){"JobFlow" REASON_DEADLINE, scratch->data};
    }
    return (struct cause){"JobFlowFailed",
                          "a step of the flow failed and its failurePolicy is abort"};
}

/* Ref: Volcano pkg/cli/job/suspend.go, createJobCommand. */
struct object *flow_command_to_job(const struct object *job, const char *action, const char *reason,
                                   const char *message)
{
    const struct owner_ref owner = {"batch.volcano.sh/v1alpha1", kind_job.name, object_name(job),
                                    object_uid(job), true};
    const bool completes = strcmp(action, "CompleteJob") == 0;
    scoped_str name = mem_printf("%s-%s", completes ? "complete" : "terminate", object_uid(job));
    const struct meta draft = {
        .namespace = object_namespace(job),
        .name = name,
        .uid = "",
        .deletion_grace_s = -1,
        .owners = &owner,
        .n_owners = 1,
    };
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    jsonw_member_str(&w, "action", action);
    jsonw_member_open(&w, "target");
    jsonw_member_str(&w, "apiVersion", owner.api_version);
    jsonw_member_str(&w, "kind", owner.kind);
    jsonw_member_str(&w, "name", owner.name);
    jsonw_member_str(&w, "uid", owner.uid);
    jsonw_close(&w);
    jsonw_member_str(&w, "reason", reason);
    jsonw_member_str(&w, "message", message);
    jsonw_close(&w);
    return object_new(&kind_command, meta_new(&draft), blob_from_buf(&text), NULL);
}

static void send_command(struct flow *flow, uint32_t step)
{
    struct cluster *cluster = flow->controller->cluster;
    const struct object *job = flow_job_of(flow, step);
    struct command_call *command;

    if (!job || object_deleting(job))
        return; /* the event of its removal follows */
    command = mem_alloc(sizeof *command);
    command->call.done = on_done;
    command->flow = flow;
    command->what = flow->commands.now;
    command->step = step;
    command->build = flow->build;
    flow_call_begun(flow);
    if (command->what == JOB_COMMAND_TERMINATE) {
        scoped(buf) struct buf scratch = {0};
        const struct cause cause = cause_of(flow, &scratch);

        cluster_create(cluster, &command->call,
                       flow_command_to_job(job, "TerminateJob", cause.reason, cause.message));
    } else {
        const struct cluster_removal how = {
            .uid = object_uid(job), .grace_s = -1, .propagation = PROPAGATE_FOREGROUND};

        cluster_remove(cluster, &command->call, &kind_job, object_namespace(job), object_name(job),
                       &how);
    }
}

void flow_send_job_commands(struct flow *flow)
{
    struct step_set *ordered = &flow->model.to_command;
    enum job_command what = command_of(flow);

    if (flow->opening != FLOW_OPEN)
        return;
    if (what != flow->commands.now || flow->build != flow->commands.build)
        begin(flow, what);
    if (what == JOB_COMMAND_NONE && removal_wanted(flow) &&
        !status_write_in_flight(flow->writer.state) && !flow->writer.failures)
        flow_write_status_now(flow); /* jobs are removed once their results are stored */
    if (timer_armed(&flow->commands.again))
        return;
    for (int left = COMMAND_BATCH; left > 0 && ordered->count; left--) {
        uint32_t step = step_set_next(ordered, 0);

        step_set_remove(ordered, step);
        send_command(flow, step);
    }
    if (ordered->count)
        flow_make_runnable(flow);
}

void flow_stop_job_commands(struct flow *flow)
{
    timer_stop(flow->controller->loop, &flow->commands.again);
}
