/*
 * The kind Command: field table and admission (O-14). Its fields are at the top level; it has
 * neither spec nor status.
 */
#include "api/types/kinds/command.h"

#include <string.h>

#include "api/types/checks.h"
#include "api/types/decoded.h"
#include "api/types/kinds/answer.h"
#include "api/types/kinds/schedule/backfill.h"
#include "base/compiler.h"
#include "base/mem.h"

#define TARGET(member)  (offsetof(struct command, target.member) - offsetof(struct command, target))
#define COMMAND(member) offsetof(struct command, member)

/* clang-format off */
static const struct field target_fields[] = {
    {"apiVersion",         FIELD_STR,      TARGET(api_version), .required = true, .doc = "Group and version of the object."},
    {"kind",               FIELD_STR,      TARGET(kind), .required = true, .doc = "Kind of the object: Job, Queue, CronJob, FlowTrigger or JobFlow."},
    {"name",               FIELD_STR,      TARGET(name), .required = true, .doc = "Name of the object."},
    {"uid",                FIELD_STR,      TARGET(uid), .required = true,
     .doc = "UID of the object. A later object of the same name is left alone."},
    {"controller",         FIELD_OPT_BOOL, FIELD_PASS, .doc = "Not used."},
    {"blockOwnerDeletion", FIELD_OPT_BOOL, FIELD_PASS, .doc = "Not used."},
    {0},
};
static const struct schema target_schema = {"CommandTarget", target_fields, sizeof ((struct command *)0)->target};

static const struct field command_fields[] = {
    {"action",  FIELD_STR,    COMMAND(action), .doc = "Action to carry out: AbortJob, ResumeJob, CloseQueue, FireJob, FireFlow, BackfillFlow, ApproveStep and others."},
    {"target",  FIELD_INLINE, COMMAND(target), &target_schema, .doc = "Object that the action applies to."},
    {"reason",  FIELD_STR,    COMMAND(reason), .doc = "One word that names the sender of the command."},
    {"message", FIELD_STR,    COMMAND(message), .doc = "Text that explains the command."},
    {0},
};
static const struct schema command_schema = {"Command", command_fields, sizeof(struct command), .doc = "A command to a Job, a Queue, a CronJob, a FlowTrigger or a JobFlow. It is deleted when it has been carried out."};

/* The actions that each kind supports. */
static const struct {
    const struct kind *kind;
    const char *const *actions;
} targets[] = {
    {&kind_job,   (const char *const[]){"AbortJob", "RestartJob", "TerminateJob", "CompleteJob", "ResumeJob", "RestartTask",
                                        "RestartPod", "RestartPartition", NULL}},
    {&kind_queue, (const char *const[]){"OpenQueue", "CloseQueue", NULL}},
    {&kind_cron_job, (const char *const[]){"FireJob", NULL}},
    {&kind_flow_trigger, (const char *const[]){COMMAND_FIRE_FLOW, COMMAND_BACKFILL_FLOW, COMMAND_CANCEL_BACKFILL, NULL}},
    {&kind_job_flow, (const char *const[]){COMMAND_APPROVE_STEP, COMMAND_REJECT_STEP, NULL}},
};
/* The annotations that an action on a part of a job needs (O-67). */
static const struct {
    const char *action, *annotation;
} required_annotations[] = {
    {"RestartTask",      ANNOTATION_COMMAND_TASK},
    {"RestartPod",       ANNOTATION_COMMAND_POD},
    {"RestartPartition", ANNOTATION_COMMAND_TASK},
    {"RestartPartition", ANNOTATION_COMMAND_PARTITION},
};
/* clang-format on */

static const struct decoded_type command_type = {.schema = &command_schema};

const struct command *command_of(const struct object *command)
{
    return decoded_of(command->body, &command_type);
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_one_of(const char *text, const char *const *list)
{
    while (*list && strcmp(*list, text) != 0)
        list++;
    return *list != NULL;
}

static void check_annotations(const struct object *object, const char *action,
                              struct error_list *errors)
{
    for (size_t i = 0; i < countof(required_annotations); i++)
        if (strcmp(required_annotations[i].action, action) == 0 &&
            !meta_annotation(object->meta, required_annotations[i].annotation))
            FINDING(errors, ("action"), "%s acts on a part of the job: name it in annotation %s",
                    action, required_annotations[i].annotation);
}

static void check_action(const struct command *command, const char *const *actions,
                         struct error_list *errors)
{
    scoped(buf) struct buf known = {0};
    const char *action = command->action ? command->action : "";

    if (is_one_of(action, actions))
        return;
    for (const char *const *one = actions; *one; one++)
        buf_printf(&known, "%s%s", known.len ? ", " : "", *one);
    FINDING(errors, ("action"), "invalid action \"%s\" for a %s: must be one of %s", action,
            command->target.kind, known.data);
}

/* Returns whether a terminal shows the text as it is: it has no control characters of ASCII, and none
 * of U+0080 to U+009F. */
static bool is_shown_as_is(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f))
            return false;
    return true;
}

/* An answer to an approval names its step: {"step": NAME, "text": REMARK}. */
static void check_answer(const struct command *command, struct error_list *errors)
{
    scoped(json) json_t *order =
        command->message ? json_loads(command->message, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *text = json_object_get(order, "text");

    if (!json_is_string(json_object_get(order, "step")) || (text && !json_is_string(text)))
        FINDING(errors, ("message"),
                "Invalid value: must be {\"step\": NAME, \"text\": REMARK} with the step that is "
                "answered");
    else if (text && json_string_length(text) > ANSWER_BYTES_MAX)
        FINDING(errors, ("message"), "Too long: the text may have at most %d bytes",
                ANSWER_BYTES_MAX);
    else if (text && !is_shown_as_is(json_string_value(text)))
        FINDING(errors, ("message"),
                "Invalid value: the text must be one line without control characters");
}

/* Checks the message of a Command that asks for a backfill or cancels one. */
static void check_backfill(const struct command *command, struct error_list *errors)
{
    const char *action = command->action ? command->action : "";
    struct backfill_order order;
    struct error err = {0};
    bool good = true;

    if (strcmp(action, COMMAND_BACKFILL_FLOW) == 0) {
        good = backfill_order_read(command->message, &order, &err);
    } else if (strcmp(action, COMMAND_CANCEL_BACKFILL) == 0) {
        scoped_str id = backfill_cancel_read(command->message, &err);

        good = id != NULL;
    }
    if (!good)
        FINDING(errors, ("message%s%s", *err.field ? "." : "", err.field), "Invalid value: %s",
                err.message);
}

static const struct kind *kind_of_target(const struct command *command)
{
    return command->target.api_version && command->target.kind
               ? kind_by_gvk(command->target.api_version, command->target.kind)
               : NULL;
}

static void command_validate(const struct admission *adm, const struct object *old,
                             const struct object *object, struct error_list *errors)
{
    const struct command *command = command_of(object);
    const struct kind *kind = NULL;

    if (!command->target.name || !*command->target.name) {
        FINDING(errors, ("target"), "Required value: name the object to act on");
        return;
    }
    kind = kind_of_target(command);
    for (size_t i = 0; i < countof(targets); i++) {
        if (targets[i].kind == kind) {
            check_action(command, targets[i].actions, errors);
            check_annotations(object, command->action ? command->action : "", errors);
            if (kind == &kind_job_flow)
                check_answer(command, errors);
            if (kind == &kind_flow_trigger)
                check_backfill(command, errors);
            return;
        }
    }
    FINDING(errors, ("target.kind"),
            "Invalid value: \"%s\": must be Job or CronJob of batch.volcano.sh/v1alpha1, "
            "FlowTrigger or JobFlow of flow.volcano.sh/v1alpha1 or Queue of "
            "scheduling.volcano.sh/v1beta1",
            command->target.kind);
}

/* The creator of the command had the right to act on its target; updates do not check that again. */
static void command_validate_in_context(const struct admission *adm, const struct object *old,
                                        const struct object *object, struct error_list *errors)
{
    const struct command *before = old ? command_of(old) : NULL, *after = command_of(object);

    if (before && (!same_text(before->action, after->action) ||
                   !same_text(before->target.api_version, after->target.api_version) ||
                   !same_text(before->target.kind, after->target.kind) ||
                   !same_text(before->target.name, after->target.name) ||
                   !same_text(before->target.uid, after->target.uid)))
        FINDING(errors, ("target"),
                "Forbidden: action and target of a command never change: create another command");
    if (before && kind_of_target(before) == &kind_job_flow &&
        (!same_text(before->message, after->message) ||
         !same_text(meta_annotation(old->meta, ANNOTATION_REQUESTED_BY),
                    meta_annotation(object->meta, ANNOTATION_REQUESTED_BY))))
        FINDING(errors, ("message"),
                "Forbidden: the answer and its sender never change: create another command");
}

const struct kind kind_command = {
    .id = KIND_COMMAND,
    .group = "bus.volcano.sh",
    .version = "v1alpha1",
    .name = "Command",
    .plural = "commands",
    .singular = "command",
    .namespaced = true,
    .schema = &command_schema,
    .validate = command_validate,
    .validate_in_context = command_validate_in_context,
};
