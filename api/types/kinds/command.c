/*
 * The kind Command: field table and admission (O-14). Its fields are at the top level; it has
 * neither spec nor status.
 */
#include "api/types/kinds/command.h"

#include <string.h>

#include "api/types/checks.h"
#include "api/types/decoded.h"
#include "base/compiler.h"

#define TARGET(member)  (offsetof(struct command, target.member) - offsetof(struct command, target))
#define COMMAND(member) offsetof(struct command, member)

/* clang-format off */
static const struct field target_fields[] = {
    {"apiVersion",         FIELD_STR,      TARGET(api_version), .required = true, .doc = "Group and version of the object."},
    {"kind",               FIELD_STR,      TARGET(kind), .required = true, .doc = "Kind of the object: Job or Queue."},
    {"name",               FIELD_STR,      TARGET(name), .required = true, .doc = "Name of the object."},
    {"uid",                FIELD_STR,      TARGET(uid), .required = true,
     .doc = "UID of the object. A later object of the same name is left alone."},
    {"controller",         FIELD_OPT_BOOL, FIELD_PASS, .doc = "Not used."},
    {"blockOwnerDeletion", FIELD_OPT_BOOL, FIELD_PASS, .doc = "Not used."},
    {0},
};
static const struct schema target_schema = {"CommandTarget", target_fields, sizeof ((struct command *)0)->target};

static const struct field command_fields[] = {
    {"action",  FIELD_STR,    COMMAND(action), .doc = "Action to carry out: AbortJob, ResumeJob, CloseQueue and others."},
    {"target",  FIELD_INLINE, COMMAND(target), &target_schema, .doc = "Job or Queue that the action applies to."},
    {"reason",  FIELD_STR,    COMMAND(reason), .doc = "One word that names the sender of the command."},
    {"message", FIELD_STR,    COMMAND(message), .doc = "Text that explains the command."},
    {0},
};
static const struct schema command_schema = {"Command", command_fields, sizeof(struct command), .doc = "A command to a Job or Queue. It is deleted when it has been carried out."};

/* The actions that each kind supports. */
static const struct {
    const struct kind *kind;
    const char *const *actions;
} targets[] = {
    {&kind_job,   (const char *const[]){"AbortJob", "RestartJob", "TerminateJob", "CompleteJob", "ResumeJob", "RestartTask",
                                        "RestartPod", "RestartPartition", NULL}},
    {&kind_queue, (const char *const[]){"OpenQueue", "CloseQueue", NULL}},
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

static void command_validate(const struct admission *adm, const struct object *old,
                             const struct object *object, struct error_list *errors)
{
    const struct command *command = command_of(object);
    const struct kind *kind = NULL;

    if (!command->target.name || !*command->target.name) {
        FINDING(errors, ("target"), "Required value: name the Job or Queue to act on");
        return;
    }
    kind = kind_by_gvk(command->target.api_version, command->target.kind);
    for (size_t i = 0; i < countof(targets); i++) {
        if (targets[i].kind == kind) {
            check_action(command, targets[i].actions, errors);
            check_annotations(object, command->action ? command->action : "", errors);
            return;
        }
    }
    FINDING(errors, ("target.kind"),
            "Invalid value: \"%s\": must be Job of batch.volcano.sh/v1alpha1 or Queue of "
            "scheduling.volcano.sh/v1beta1",
            command->target.kind);
}

/* Whoever created the command had the right to act on its target; an update never asks for it. */
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
