/*
 * The commands `jobflow suspend`, `resume` and `abort`.
 *
 * They record a request that a controller carries out: for a flow or a schedule, spec.suspend or an
 * annotation; for a job, a Command object as Volcano's vcctl creates. Ref: Volcano pkg/cli/job/suspend.go,
 * createJobCommand.
 */
#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/doc.h"
#include "base/clock.h"
#include "cli/client/client.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/client/volcano_flow.h"
#include "cli/cmd/commands.h"

struct control_options {
    struct client_endpoint endpoint;
    const char *namespace;
    bool jobs;
};

#define CONTROL(member) offsetof(struct control_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_BOOL, "jobs",      0,   NULL,   "of a flow: its running jobs, too", CONTROL(jobs)},
    {FLAG_STR,  "namespace", 'n', "NAME", "namespace to look in; default: that of the kubeconfig, or default", CONTROL(namespace)},
    CLIENT_ENDPOINT_FLAGS(CONTROL(endpoint)),
    {0},
};
/* clang-format on */

/* `abort` has every flag but --jobs: an aborted flow always aborts its jobs. */
#define ABORT_FLAGS (flags + 1)

static const struct control_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL};

static const char *const ended[] = {"Succeed", "Failed", "Completed", "Terminated", NULL};
static const char *const held[] = {"Aborted", "Aborting", NULL};

/* What one command does to a job and to a flow. */
struct control {
    const char *done;   /* past participle for messages: "suspended" */
    const char *action; /* action of the Command object for a job */
    /* Job phases in which the command applies; NULL = every unfinished phase. */
    const char *const *only_jobs;
    const char *const *not_jobs; /* job phases in which it does not apply; NULL = none */
    const char *patch_spec;      /* patch of a flow's spec; NULL: sets ANNOTATION_FLOW_ABORT */
};

/* clang-format off */
static const struct control suspending = {"suspended", "AbortJob",     NULL, held, "{\"spec\":{\"suspend\":true}}"};
static const struct control resuming =   {"resumed",   "ResumeJob",    held, NULL, "{\"spec\":{\"suspend\":null}}"};
static const struct control aborting =   {"aborted",   "TerminateJob", NULL, NULL, NULL};
/* clang-format on */

struct controlling {
    const struct control *control;
    const struct control_options *options;
    struct client *client;
    const char *flow_uid; /* flow whose jobs get a Command, and how many have got one */
    size_t jobs;
};

static bool is_one_of(const char *text, const char *const *list)
{
    while (list && *list && strcmp(*list, text) != 0)
        list++;
    return list && *list;
}

static const char *phase_of(const json_t *doc)
{
    const char *phase = doc_text(doc, "status.state.phase");

    return phase && *phase ? phase : "Pending";
}

static json_t *command_to(const struct control *control, const json_t *job)
{
    const char *name = doc_text(job, "metadata.name");
    scoped(json) json_t *target = json_pack(
        "{s:s, s:s, s:s, s:s, s:b}", "apiVersion", kind_api_version(&kind_job), "kind",
        kind_job.name, "name", name, "uid", doc_text(job, "metadata.uid"), "controller", 1);
    json_t *command = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:O, s:{s:[O]}}", "apiVersion", kind_api_version(&kind_command),
        "kind", kind_command.name, "action", control->action, "reason", "CommandLine", "message",
        "asked for on the command line", "target", target, "metadata", "ownerReferences", target);
    scoped(buf) struct buf prefix = {0};

    buf_printf(&prefix, "%s-", name);
    for (const char *c = control->action; *c; c++)
        buf_char(&prefix, *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c);
    buf_char(&prefix, '-');
    json_object_set_new(json_object_get(command, "metadata"), "generateName",
                        json_string(prefix.data));
    return command;
}

static bool request_job(struct controlling *c, const json_t *job, struct error *err)
{
    scoped(json) json_t *command = command_to(c->control, job);
    const char *ns = doc_text(job, "metadata.namespace");
    scoped(buf) struct buf path = {0};
    scoped(client_call) struct client_call call = {.method = "POST",
                                                   .content_type = "application/json"};
    char *text = json_dumps(command, JSON_COMPACT);
    bool ok;

    resource_write_path(&kind_command, ns, NULL, &path);
    call.target = path.data;
    call.body = text;
    call.body_len = strlen(text);
    ok = client_do(c->client, &call, err);
    free(text);
    return ok;
}

static bool may_tell(const struct controlling *c, const char *phase)
{
    return !is_one_of(phase, ended) && !is_one_of(phase, c->control->not_jobs) &&
           (!c->control->only_jobs || is_one_of(phase, c->control->only_jobs));
}

static bool control_job(struct controlling *c, const char *name, struct error *err)
{
    scoped(buf) struct buf path = {0}, word = {0};
    scoped(json) json_t *job = NULL;

    resource_write_path(&kind_job, client_namespace(c->client, c->options->namespace), name, &path);
    job = client_get(c->client, path.data, err);
    if (!job)
        return false;
    if (!may_tell(c, phase_of(job)))
        return error_set(err, ERR_CONFLICT, "", "job \"%s\" is %s: it cannot be %s", name,
                         phase_of(job), c->control->done);
    if (!request_job(c, job, err))
        return false;
    resource_write_name(&kind_job, name, &word);
    printf("%s %s%s\n", word.data, c->control->done,
           client_is_live(c->client) ? "" : " as soon as a process runs here");
    return true;
}

static bool request_one(void *ctx, json_t *job)
{
    struct controlling *c = ctx;
    const json_t *owner = json_array_get(doc_at(job, "metadata.ownerReferences"), 0);
    const char *uid = doc_text(owner, "uid");
    struct error err = {0};

    if (!uid || strcmp(uid, c->flow_uid) != 0 || !may_tell(c, phase_of(job)))
        return true;
    if (request_job(c, job, &err))
        c->jobs++;
    else
        cli_error(&err);
    return true;
}

static bool request_jobs(struct controlling *c, struct error *err)
{
    const struct list_query query = {.kind = &kind_job,
                                     .ns = client_namespace(c->client, c->options->namespace)};

    return list_each(c->client, &query, request_one, c, NULL, err);
}

static bool aborts(const struct control *control)
{
    return !control->patch_spec;
}

/* Checks that the server has kept the field. One with Volcano's own definition drops it. */
static bool check_kept(const struct controlling *c, const struct client_call *call,
                       struct error *err)
{
    scoped(json) json_t *flow =
        json_loadb(call->text.data ? call->text.data : "", call->text.len, 0, NULL);

    if (c->control != &suspending || json_is_true(doc_at(flow, "spec.suspend")))
        return true;
    return error_set(err, ERR_INVALID, "",
                     "the server has dropped spec.suspend: its definition of JobFlows does not "
                     "have the field; '%s manifests --only=crds' prints one that does",
                     cli_program);
}

static bool patch_flow(struct controlling *c, const char *path, struct error *err)
{
    scoped(client_call) struct client_call call = {
        .method = "PATCH", .content_type = "application/merge-patch+json", .target = path};
    scoped(buf) struct buf body = {0};
    char value[CLOCK_UUID_LEN + 1];

    if (aborts(c->control)) {
        clock_uuid(clock_real(), value);
        buf_printf(&body, "{\"metadata\":{\"annotations\":{\"" ANNOTATION_FLOW_ABORT "\":\"%s\"}}}",
                   value);
    } else {
        buf_str(&body, c->control->patch_spec);
    }
    call.body = body.data;
    call.body_len = body.len;
    return client_do(c->client, &call, err) && check_kept(c, &call, err);
}

/* Jobs that ran when their flow failed go on, so that there is something left to abort. */
static bool has_jobs_at_work(const json_t *flow)
{
    return json_array_size(doc_at(flow, "status.pendingJobs")) ||
           json_array_size(doc_at(flow, "status.runningJobs"));
}

static bool control_flow(struct controlling *c, const char *name, struct error *err)
{
    scoped(buf) struct buf path = {0}, word = {0};
    scoped(json) json_t *flow = NULL;

    resource_write_path(&kind_job_flow, client_namespace(c->client, c->options->namespace), name,
                        &path);
    flow = client_get(c->client, path.data, err);
    if (!flow)
        return false;
    if (is_one_of(phase_of(flow), ended) && !(aborts(c->control) && has_jobs_at_work(flow)))
        return error_set(err, ERR_CONFLICT, "", "jobflow \"%s\" is %s: it cannot be %s", name,
                         phase_of(flow), c->control->done);
    c->flow_uid = doc_text(flow, "metadata.uid");
    c->jobs = 0;
    if (!patch_flow(c, path.data, err) || (c->options->jobs && !request_jobs(c, err)))
        return false;
    resource_write_name(&kind_job_flow, name, &word);
    printf("%s %s", word.data, c->control->done);
    if (c->options->jobs)
        printf(", with %zu job%s", c->jobs, c->jobs == 1 ? "" : "s");
    puts(client_is_live(c->client) ? "" : " from the next 'jobflow run' of its file on");
    volcano_flow_note(flow);
    return true;
}

/* CronJobs and FlowTriggers have no end: they are suspended and resumed at any time. */
static bool control_schedule(struct controlling *c, const struct resource *one, struct error *err)
{
    scoped(buf) struct buf path = {0}, word = {0};
    scoped(client_call) struct client_call call = {.method = "PATCH",
                                                   .content_type = "application/merge-patch+json"};

    if (!c->control->patch_spec)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "%s \"%s\" cannot be aborted: suspend it, or delete it",
                         one->kind->singular, one->name);
    resource_write_path(one->kind, client_namespace(c->client, c->options->namespace), one->name,
                        &path);
    call.target = path.data;
    call.body = c->control->patch_spec;
    call.body_len = strlen(call.body);
    if (!client_do(c->client, &call, err))
        return false;
    resource_write_name(one->kind, one->name, &word);
    printf("%s %s\n", word.data, c->control->done);
    return true;
}

static bool is_controlled(const struct kind *kind)
{
    return kind == &kind_job_flow || kind == &kind_job || kind == &kind_cron_job ||
           kind == &kind_flow_trigger;
}

static bool control_one(struct controlling *c, const struct resource *one, struct error *err)
{
    if (one->kind == &kind_job_flow)
        return control_flow(c, one->name, err);
    if (one->kind == &kind_job)
        return control_job(c, one->name, err);
    return control_schedule(c, one, err);
}

static bool parse(int n, char **words, struct resources *out, struct error *err)
{
    if (!resources_parse(n, words, out, err))
        return strchr(words[0], '/')
                   ? false
                   : error_set(err, ERR_BAD_REQUEST, "",
                               "\"%s\" is not of the form jf/NAME or job/NAME: write jf/%s",
                               words[0], words[0]);
    for (size_t i = 0; i < out->count; i++)
        if (!is_controlled(out->items[i].kind) || !out->items[i].name)
            return error_set(err, ERR_BAD_REQUEST, "",
                             "name flows, jobs, CronJobs and FlowTriggers, as in jf/NAME, "
                             "job/NAME, cronvj/NAME and ft/NAME");
    return true;
}

static int control(const struct control *control, const struct control_options *options, int n,
                   char **operands)
{
    struct controlling c = {.control = control, .options = options};
    scoped(resources) struct resources named = {0};
    struct error err = {0};
    int code = EXIT_OK;

    if (!parse(n, operands, &named, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    c.client = client_open_or_say(&options->endpoint, CLIENT_CHANGE, &code);
    if (!c.client)
        return code;
    for (size_t i = 0; i < named.count; i++) {
        const struct resource *one = &named.items[i];

        err = (struct error){0};
        if (control_one(&c, one, &err))
            continue;
        cli_error(&err);
        code = EXIT_FAILED;
    }
    client_close(c.client);
    return code;
}

static int run_suspend(const void *options, int n_operands, char **operands)
{
    return control(&suspending, options, n_operands, operands);
}

static int run_resume(const void *options, int n_operands, char **operands)
{
    return control(&resuming, options, n_operands, operands);
}

static int run_abort(const void *options, int n_operands, char **operands)
{
    return control(&aborting, options, n_operands, operands);
}

#define CONTROL_COMMAND(verb, words)                                                               \
    .operands = words, .options_size = sizeof(struct control_options), .defaults = &defaults,      \
    .min_operands = 1, .max_operands = -1, .operand_kind = "resource", .run = run_##verb

const struct command cmd_suspend = {
    .name = "suspend",
    .summary = "Hold a flow, job, CronJob or FlowTrigger until it is resumed",
    .details =
        "A suspended flow starts no further steps; jobs that run go on, unless --jobs "
        "suspends them, too. The pods of a suspended\n"
        "job are stopped; what has succeeded in it is kept. A suspended CronJob makes no job "
        "at its times.",
    .examples = "  jobflow suspend jf/pipeline          # finish what runs, start nothing more\n"
                "  jobflow suspend jf/pipeline --jobs   # stop what runs, too",
    .flags = flags,
    CONTROL_COMMAND(suspend, "jf/NAME… | job/NAME… | cronvj/NAME… | ft/NAME…"),
};

const struct command cmd_resume = {
    .name = "resume",
    .summary = "Let a suspended flow, job, CronJob or FlowTrigger go on",
    .details = "Of a flow with --jobs: its suspended jobs, too.",
    .examples = "  jobflow resume jf/pipeline --jobs\n  jobflow resume job/pipeline-train",
    .flags = flags,
    CONTROL_COMMAND(resume, "jf/NAME… | job/NAME… | cronvj/NAME… | ft/NAME…"),
};

const struct command cmd_abort = {
    .name = "abort",
    .summary = "End a flow or job for good",
    .details = "What runs is terminated and nothing more starts. The flow is Failed, the job "
               "Terminated; 'retry' can take the flow up again.",
    .examples = "  jobflow abort jf/pipeline",
    .flags = ABORT_FLAGS,
    CONTROL_COMMAND(abort, "jf/NAME… | job/NAME…"),
};
