/*
 * The commands `jobflow approve` and `jobflow reject`: answer a step of a flow that waits for its
 * approval. They send a Command, which the flow controller carries out and deletes.
 */
#include <string.h>

#include "api/types/kind.h"
#include "api/types/kinds/answer.h"
#include "api/types/text/doc.h"
#include "api/types/text/suggest.h"
#include "base/mem.h"
#include "base/user_name.h"
#include "cli/client/client.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"

struct approve_options {
    struct client_endpoint endpoint;
    const char *namespace;
    const char *text;
};

#define APPROVE(member) offsetof(struct approve_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR, "message",   'm', "TEXT", "a remark, which is kept with the answer", APPROVE(text)},
    {FLAG_STR, "namespace", 'n', "NAME", "namespace to look in; default: that of the kubeconfig, or default", APPROVE(namespace)},
    CLIENT_ENDPOINT_FLAGS(APPROVE(endpoint)),
    {0},
};
/* clang-format on */

static const struct approve_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL, .text = ""};

/* What a command answers. */
struct verdict {
    const char *action, *done;
};
static const struct verdict approving = {COMMAND_APPROVE_STEP, "approved"};
static const struct verdict rejecting = {COMMAND_REJECT_STEP, "rejected"};

/* Adds the names of steps that can be approved to the text of an error. */
static bool refuse_step(const json_t *flow, const char *flow_name, const char *step,
                        struct error *err)
{
    struct suggest best = {0};
    const json_t *one;
    size_t i;

    json_array_foreach(doc_at(flow, "spec.flows"), i, one)
    {
        const char *its = doc_text(one, "name");

        if (its && json_object_get(one, "approve"))
            suggest_offer(&best, step, its);
    }
    return error_set(err, ERR_INVALID, "", "%s has no step \"%.64s\" to approve%s%s%s", flow_name,
                     step, best.word ? "; near: \"" : "", best.word ? best.word : "",
                     best.word ? "\"" : "");
}

/* Refuses an answer that would have no effect. */
static bool check_step(const json_t *flow, const char *flow_name, const char *step,
                       struct error *err)
{
    const json_t *spec = doc_named(doc_at(flow, "spec.flows"), step);
    const json_t *node = doc_named(doc_at(flow, "status.nodes"), step);
    const char *reason = node ? doc_text(node, "reason") : NULL;
    const char *phase = node ? doc_text(node, "phase") : NULL;

    if (!spec || !json_object_get(spec, "approve"))
        return refuse_step(flow, flow_name, step, err);
    if (reason && strcmp(reason, "WaitingForApproval") == 0)
        return true;
    return error_set(err, ERR_CONFLICT, "", "step %s of %s does not wait for approval: it is %s",
                     step, flow_name, phase ? phase : "Waiting");
}

/* The Command; owned. A server writes the name of the user that it knows over ours. */
static json_t *command_to(const struct verdict *verdict, const json_t *flow, const char *step,
                          const char *text)
{
    const char *name = doc_text(flow, "metadata.name");
    scoped_str user = user_name();
    scoped(json) json_t *order = json_pack("{s:s, s:s}", "step", step, "text", text);
    char *message = json_dumps(order, JSON_COMPACT);
    scoped(json) json_t *target = json_pack(
        "{s:s, s:s, s:s, s:s, s:b}", "apiVersion", kind_api_version(&kind_job_flow), "kind",
        kind_job_flow.name, "name", name, "uid", doc_text(flow, "metadata.uid"), "controller", 1);
    json_t *command =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:O, s:{s:[O], s:o, s:{s:s}}}", "apiVersion",
                  kind_api_version(&kind_command), "kind", kind_command.name, "action",
                  verdict->action, "reason", "CommandLine", "message", message, "target", target,
                  "metadata", "ownerReferences", target, "generateName",
                  json_sprintf("%.200s-%.32s-", name, verdict->done), "annotations",
                  ANNOTATION_REQUESTED_BY, user);

    free(message);
    return command;
}

static bool answer(struct client *client, const struct verdict *verdict, const char *ns,
                   const char *flow_name, const char *step, const char *text, struct error *err)
{
    scoped(buf) struct buf path = {0};
    scoped(client_call) struct client_call call = {.method = "POST",
                                                   .content_type = "application/json"};
    scoped(json) json_t *flow = NULL, *command = NULL;
    char *body;
    bool ok;

    resource_write_path(&kind_job_flow, ns, flow_name, &path);
    flow = client_get(client, path.data, err);
    if (!flow || !check_step(flow, flow_name, step, err))
        return false;
    command = command_to(verdict, flow, step, text);
    body = json_dumps(command, JSON_COMPACT);
    buf_clear(&path);
    resource_write_path(&kind_command, ns, NULL, &path);
    call.target = path.data;
    call.body = body;
    call.body_len = body ? strlen(body) : 0;
    ok = body ? client_do(client, &call, err)
              : error_set(err, ERR_BAD_REQUEST, "", "the remark is not UTF-8");
    free(body);
    if (ok)
        printf("step %s of %s %s%s\n", step, flow_name, verdict->done,
               client_is_live(client)
                   ? ""
                   : "; the next 'jobflow run' or 'serve' of this directory takes it up");
    return ok;
}

static bool parse(char **operands, struct resource *out, struct error *err)
{
    if (!strchr(operands[0], '/'))
        return error_set(err, ERR_BAD_REQUEST, "",
                         "\"%.64s\" is not of the form jf/NAME: write jf/%.64s", operands[0],
                         operands[0]);
    if (!resource_parse(operands[0], out, err))
        return false;
    return out->kind == &kind_job_flow ||
           error_set(err, ERR_BAD_REQUEST, "",
                     "only steps of flows are approved: write jf/NAME STEP");
}

static int run(const struct verdict *verdict, const struct approve_options *options, int n_operands,
               char **operands)
{
    scoped(client) struct client *client = NULL;
    struct resource flow = {0};
    struct error err = {0};
    int code = EXIT_OK;

    if (!parse(operands, &flow, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    client = client_open_or_say(&options->endpoint, CLIENT_CHANGE, &code);
    if (!client)
        return code;
    for (int i = 1; i < n_operands; i++) {
        err = (struct error){0};
        if (answer(client, verdict, client_namespace(client, options->namespace), flow.name,
                   operands[i], options->text, &err))
            continue;
        cli_error(&err);
        code = EXIT_FAILED;
    }
    return code;
}

static int run_approve(const void *options, int n_operands, char **operands)
{
    return run(&approving, options, n_operands, operands);
}

static int run_reject(const void *options, int n_operands, char **operands)
{
    return run(&rejecting, options, n_operands, operands);
}

#define ANSWER_COMMAND(verb)                                                                       \
    .operands = "jf/NAME STEP…", .flags = flags, .options_size = sizeof(struct approve_options),   \
    .defaults = &defaults, .min_operands = 2, .max_operands = -1, .operand_kind = "resource",      \
    .run = run_##verb

const struct command cmd_approve = {
    .name = "approve",
    .summary = "Let a flow go on behind a step that waits for approval",
    .details = "The step is Completed. Its outputs say who has approved it (approvedBy), when "
               "(approvedAt) and with which remark (text).\n"
               "The first answer to a step counts.",
    .examples = "  jobflow approve jf/release gate -m 'checked with ana'",
    ANSWER_COMMAND(approve),
};

const struct command cmd_reject = {
    .name = "reject",
    .summary = "Refuse the approval that a step of a flow waits for",
    .details = "The step is Failed, with the reason Rejected. The first answer to a step counts.",
    .examples = "  jobflow reject jf/release gate -m 'not this week'",
    ANSWER_COMMAND(reject),
};
