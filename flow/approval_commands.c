/*
 * The Commands ApproveStep and RejectStep. The first that names a step which waits for its approval
 * counts; all others are answered with the event NothingToApprove.
 */
#include <string.h>

#include "api/types/kinds/answer.h"
#include "api/types/kinds/command.h"
#include "base/mem.h"
#include "flow/approvals.h"
#include "flow/internal.h"
#include "flow/model/approval.h"

/* What a Command says. The texts are borrowed from `doc`. */
struct order {
    json_t *doc;
    const char *step, *text;
};

static bool read_order(const struct command *command, struct order *out)
{
    out->doc = command->message && *command->message == '{'
                   ? json_loads(command->message, JSON_REJECT_DUPLICATES, NULL)
                   : NULL;
    out->step = json_string_value(json_object_get(out->doc, "step"));
    out->text = json_string_value(json_object_get(out->doc, "text"));
    if (!out->text)
        out->text = "";
    return out->step != NULL;
}

static void remove_command(struct cluster *cluster, const struct object *command)
{
    const struct cluster_removal how = {
        .uid = object_uid(command), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

    cluster_remove(cluster, NULL, &kind_command, object_namespace(command), object_name(command),
                   &how);
}

/* Returns the flow that the Command is for, or NULL. The uid alone would let a user of one namespace
 * answer for another. */
static struct flow *target_of(struct flow_controller *controller, const struct object *command)
{
    const struct command *asked = command_of(command);
    struct flow *flow = asked->target.uid ? flow_by_uid(controller, asked->target.uid) : NULL;

    return flow && asked->target.name &&
                   strcmp(object_name(flow->object), asked->target.name) == 0 &&
                   strcmp(object_namespace(flow->object), object_namespace(command)) == 0
               ? flow
               : NULL;
}

static const char *sender_of(const struct flow *flow, const struct object *command)
{
    const char *by = meta_annotation(command->meta, ANNOTATION_REQUESTED_BY);

    return by && *by && !flow->controller->options.senders_unknown ? by : "unknown";
}

/* Carries the order out. Returns whether its step waited for an answer. */
static bool answer(struct flow *flow, const struct object *command, const struct order *order)
{
    struct flow_model *m = &flow->model;
    const struct approval_answer given = {
        .by = sender_of(flow, command), .text = order->text, .at_ms = flow_now_ms(flow)};
    const char *action = command_of(command)->action;
    const uint32_t step =
        flow->opening == FLOW_OPEN ? flow_graph_find(m->graph, order->step) : STEP_NONE;
    const bool approves = action && strcmp(action, COMMAND_APPROVE_STEP) == 0;

    if (step == STEP_NONE || m->steps[step].state != STEP_ASKING ||
        (!approves && (!action || strcmp(action, COMMAND_REJECT_STEP) != 0)))
        return false;
    flow_approval_stop(flow, step);
    m->tick = flow_tick(flow);
    if (approves)
        flow_model_approve(m, step, &given);
    else
        flow_model_reject(m, step, &given);
    cluster_event(flow->controller->cluster, flow->object, EVENT_NORMAL,
                  approves ? "Approved" : REASON_REJECTED, FLOW_COMPONENT,
                  "step %s is %s by %s%s%s", flow_graph_name(m->graph, step),
                  approves ? "approved" : "rejected", given.by, *given.text ? ": " : "",
                  given.text);
    return true;
}

/* Carries one Command out. Returns whether it is to stay until its effect is stored. */
static bool handle(struct flow_controller *controller, struct flow_command *one)
{
    struct flow *flow = target_of(controller, one->command);
    struct order order = {0};
    bool answered = false;

    if (!flow) {
        cluster_event(controller->cluster, one->command, EVENT_WARNING, "CommandRejected",
                      FLOW_COMPONENT, "there is no such jobflow: %s",
                      command_of(one->command)->target.name);
        return false;
    }
    if (read_order(command_of(one->command), &order))
        answered = answer(flow, one->command, &order);
    if (answered) {
        one->changes = flow->model.changes;
        STAILQ_INSERT_TAIL(&flow->answered, one, next);
        flow_write_status_now(flow);
        flow_make_runnable(flow);
    } else {
        cluster_event(controller->cluster, flow->object, EVENT_WARNING, "NothingToApprove",
                      FLOW_COMPONENT,
                      "step %.64s does not wait for approval: command %s of %s has "
                      "no effect",
                      order.step ? order.step : "?", object_name(one->command),
                      sender_of(flow, one->command));
    }
    json_decref(order.doc);
    return answered;
}

void flow_command_arrived(struct flow_controller *controller, const struct object *command)
{
    const struct command *asked = command_of(command);
    struct flow_command *one;

    if (object_deleting(command) || !asked->target.kind || !asked->target.name ||
        strcmp(asked->target.kind, kind_job_flow.name) != 0)
        return;
    one = mem_alloc(sizeof *one);
    one->command = object_ref(command);
    STAILQ_INSERT_TAIL(&controller->arrived, one, next);
    loop_post(controller->loop, &controller->run);
}

static void free_command(struct flow_command *one)
{
    object_unref(one->command);
    mem_free(one);
}

void flow_commands_run(struct flow_controller *controller)
{
    struct flow_command *one;

    while ((one = STAILQ_FIRST(&controller->arrived))) {
        STAILQ_REMOVE_HEAD(&controller->arrived, next);
        if (handle(controller, one))
            continue;
        remove_command(controller->cluster, one->command);
        free_command(one);
    }
}

void flow_commands_remove(struct flow *flow, bool all)
{
    struct flow_command *one;

    while ((one = STAILQ_FIRST(&flow->answered)) &&
           (all || one->changes <= flow->writer.written_changes)) {
        STAILQ_REMOVE_HEAD(&flow->answered, next);
        remove_command(flow->controller->cluster, one->command);
        free_command(one);
    }
}

void flow_commands_drop(struct flow_command_list *list)
{
    struct flow_command *one;

    while ((one = STAILQ_FIRST(list))) {
        STAILQ_REMOVE_HEAD(list, next);
        free_command(one);
    }
}
