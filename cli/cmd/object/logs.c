/*
 * The command `jobflow logs`: prints the logs of a pod, a job, a flow, a step or a label selection.
 *
 * The log of one pod is printed unchanged; others have the container's name before each line, and
 * come pod by pod, in the order in which the pods started. Pods that are gone are read from their kept logs. Following a job or flow
 * ends when it has ended and the last log is complete.
 */
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "cli/client/lister.h"
#include "cli/client/log_show.h"
#include "cli/client/resource.h"
#include "cli/client/wait_condition.h"
#include "cli/cmd/commands.h"

enum { FOLLOWED_AT_ONCE = 256 };

struct logs_options {
    struct client_endpoint endpoint;
    const char *namespace, *container, *labels;
    int64_t tail, since_ms, limit_bytes, attempt;
    bool follow, timestamps, previous, prefix, all_containers;
};

#define LOGS(member) offsetof(struct logs_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_BOOL,     "follow",     'f', NULL,   "go on until the containers have ended", LOGS(follow)},
    {FLAG_STR,      "container",  'c', "NAME", "only this container", LOGS(container)},
    {FLAG_BOOL,     "all-containers", 0, NULL, "every container of a pod, not only the first", LOGS(all_containers)},
    {FLAG_INT,      "attempt",    0,   "N",    "of attempt N of a step; default: the newest that has run", LOGS(attempt), .min = 1, .max = UINT16_MAX},
    {FLAG_INT,      "tail",       0,   "N",    "only the last N lines of each; -1: all", LOGS(tail), .min = -1},
    {FLAG_DURATION, "since",      0,   "D",    "only what is not older than D", LOGS(since_ms)},
    {FLAG_BOOL,     "timestamps", 0,   NULL,   "print when each line was written", LOGS(timestamps)},
    {FLAG_BOOL,     "previous",   'p', NULL,   "of the run before the container was restarted, or else of the pod before this one", LOGS(previous)},
    {FLAG_INT,      "limit-bytes", 0,  "N",    "at most N bytes of each", LOGS(limit_bytes)},
    {FLAG_BOOL,     "prefix",     0,   NULL,   "print [POD/CONTAINER] before each line, also of one pod", LOGS(prefix)},
    {FLAG_STR,      "selector",   'l', "SEL",  "of the pods with these labels", LOGS(labels)},
    {FLAG_STR,      "namespace",  'n', "NAME", "namespace to look in; default: that of the kubeconfig, or default", LOGS(namespace)},
    CLIENT_ENDPOINT_FLAGS(LOGS(endpoint)),
    {0},
};
/* clang-format on */

static const struct logs_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL, .tail = -1};

struct logs {
    const struct logs_options *options;
    struct client *client;
    struct resource subject; /* kind NULL: a label selection */
    const char *step;        /* step of the flow; NULL: all */
    json_t *doc;             /* the job or flow; NULL: it is gone, or there is none */
    struct error missing;    /* why there is no job or pod of this name; code NONE: there is */
};

static const char *namespace_of(const struct logs *logs)
{
    return client_namespace(logs->client, logs->options->namespace);
}

static struct logtail_options tail_of(const struct logs *logs, bool one_pod)
{
    const struct logs_options *options = logs->options;

    return (struct logtail_options){
        .follow = options->follow,
        .timestamps = options->timestamps,
        .tail = options->tail,
        .since_s = options->since_ms > 0 ? (options->since_ms + 999) / 1000 : 0,
        .limit_bytes = options->limit_bytes,
        .prefix = options->prefix || !one_pod,
        .at_once = options->follow ? FOLLOWED_AT_ONCE : 1,
    };
}

static struct log_request request_of(const struct logs *logs)
{
    return (struct log_request){
        .endpoint = &logs->options->endpoint,
        .ns = namespace_of(logs),
        .container = logs->options->container,
        .attempt = logs->options->attempt,
        .previous = logs->options->previous,
    };
}

static json_t *get(const struct logs *logs, const struct kind *kind, const char *name,
                   struct error *err)
{
    scoped(buf) struct buf path = {0};

    resource_write_path(kind, namespace_of(logs), name, &path);
    return client_get(logs->client, path.data, err);
}

static bool has_ended(const json_t *subject)
{
    const struct condition end = {.kind = CONDITION_END};

    return condition_evaluate(&end, subject, NULL) != CONDITION_NOT_YET;
}

/* Writes the subject: "attempt 3 of step a of flow f", "job x". */
static void name_subject(const struct logs *logs, struct buf *out)
{
    const struct resource *subject = &logs->subject;

    if (logs->options->attempt)
        buf_printf(out, "attempt %lld of ", (long long)logs->options->attempt);
    if (logs->step)
        buf_printf(out, "step %s of ", logs->step);
    buf_printf(out, "%s %s", subject->kind == &kind_job_flow ? "flow" : subject->kind->singular,
               subject->name);
}

/* Returns whether the status names logs of the attempt that was asked for: they were kept once. */
static bool were_kept(const struct logs *logs)
{
    json_t *nodes = json_object_get(json_object_get(logs->doc, "status"), "nodes"), *node, *attempt;
    size_t i, k;

    json_array_foreach(nodes, i, node)
    {
        const char *name = json_string_value(json_object_get(node, "name"));

        if (!logs->step || !name || strcmp(name, logs->step) != 0)
            continue;
        json_array_foreach(json_object_get(node, "attempts"), k, attempt)
        {
            if (json_integer_value(json_object_get(attempt, "attempt")) == logs->options->attempt)
                return json_object_get(attempt, "logs") != NULL;
        }
    }
    return false;
}

/* Appends which logs there are instead, or why there are none, as far as the status says. */
static void add_reason(const struct logs *logs, const struct log_found *found, struct buf *out)
{
    const json_t *state = json_object_get(json_object_get(logs->doc, "status"), "state");
    const char *phase = json_string_value(json_object_get(state, "phase"));
    const char *message = json_string_value(json_object_get(state, "message"));

    if (were_kept(logs))
        buf_str(out, ": it made room for newer ones (--keep-logs of run and serve)");
    if (found->n_attempts)
        buf_printf(out, "; there are logs of attempt%s", found->n_attempts == 1 ? "" : "s");
    for (size_t i = 0; i < found->n_attempts; i++)
        buf_printf(out, "%s %lld", i ? "," : "", (long long)found->attempts[i]);
    if (!found->n_attempts && phase && *phase)
        buf_printf(out, "; it is %s%s%s", phase, message && *message ? ": " : "",
                   message && *message ? message : "");
}

/* Returns the name (owned) of the loop of which the step would be an iteration; or NULL. */
static char *loop_of(const struct logs *logs)
{
    const char *dash = logs->step ? strrchr(logs->step, '-') : NULL;
    const json_t *steps = json_object_get(json_object_get(logs->doc, "spec"), "flows"), *step;
    size_t i;

    if (!dash || !dash[1] || dash[1 + strspn(dash + 1, "0123456789")])
        return NULL;
    json_array_foreach(steps, i, step)
    {
        const char *name = json_string_value(json_object_get(step, "name"));

        if (json_object_get(step, "for") && name && strlen(name) == (size_t)(dash - logs->step) &&
            strncmp(name, logs->step, strlen(name)) == 0)
            return mem_strdup(name);
    }
    return NULL;
}

/* Says which iterations a loop has, if one was asked for that it has not. */
static bool say_iterations(const struct logs *logs)
{
    const json_t *nodes = json_object_get(json_object_get(logs->doc, "status"), "nodes"), *node;
    scoped_str loop = loop_of(logs);
    size_t i, count = 0;

    json_array_foreach(nodes, i, node)
    {
        const char *of = json_string_value(json_object_get(node, "step"));
        const char *name = json_string_value(json_object_get(node, "name"));

        if (loop && name && strcmp(name, logs->step) == 0)
            return false;
        count += loop && of && strcmp(of, loop) == 0;
    }
    if (count)
        cli_errorf("step %s of flow %s has %zu iteration%s: %s-0 to %s-%zu", loop,
                   logs->subject.name, count, count == 1 ? "" : "s", loop, loop, count - 1);
    return count > 0;
}

/* Returns the job that did the work of the step, if the step was reused; or NULL. */
static const char *reused_job(const struct logs *logs)
{
    const json_t *nodes = json_object_get(json_object_get(logs->doc, "status"), "nodes"), *node;
    size_t i;

    json_array_foreach(nodes, i, node)
    {
        const char *name = json_string_value(json_object_get(node, "name"));

        if (logs->step && name && strcmp(name, logs->step) == 0)
            return json_string_value(json_object_get(json_object_get(node, "cachedFrom"), "job"));
    }
    return NULL;
}

static bool note_one(void *ctx, json_t *item)
{
    *(bool *)ctx = true;
    return false;
}

/* Returns whether a pod of the job, or a log of one, is left. */
static bool has_logs(const struct logs *logs, const char *job)
{
    static const struct kind *const kinds[] = {&kind_pod, &kind_pod_log};
    scoped_str labels = mem_printf("%s=%s", LABEL_JOB_NAME, job);
    bool found = false;

    for (size_t i = 0; i < countof(kinds); i++) {
        const struct list_query query = {
            .kind = kinds[i], .ns = namespace_of(logs), .labels = labels};

        list_each(logs->client, &query, note_one, &found, NULL, NULL);
    }
    return found;
}

static void say_reused(const struct logs *logs, const char *job)
{
    if (has_logs(logs, job))
        cli_errorf("step %s was reused; the log of the job that made it: %s logs job/%s",
                   logs->step, cli_program, job);
    else
        cli_errorf("step %s was reused; the log of job %s, which made it, is gone", logs->step,
                   job);
}

static void say_nothing(const struct logs *logs, const struct log_found *found)
{
    scoped(buf) struct buf subject = {0}, reason = {0};
    const char *job;

    if (!logs->subject.kind) {
        fprintf(stderr, "No pods found in %s namespace.\n", namespace_of(logs));
        return;
    }
    if (!found->pods && logs->missing.code != ERR_NONE) {
        cli_error(&logs->missing);
        return;
    }
    job = logs->options->attempt ? NULL : reused_job(logs);
    if (job) {
        say_reused(logs, job);
        return;
    }
    if (say_iterations(logs))
        return;
    name_subject(logs, &subject);
    add_reason(logs, found, &reason);
    if (logs->options->container)
        cli_errorf("no pod of %s has run a container %s", subject.data, logs->options->container);
    else if (logs->options->previous || logs->options->attempt)
        cli_errorf("no %slog of %s is kept%s", logs->options->previous ? "earlier " : "",
                   subject.data, reason.data ? reason.data : "");
    else
        cli_errorf("no pod of %s has run%s", subject.data, reason.data ? reason.data : "");
}

static int print_many(struct logs *logs, const struct log_request *request)
{
    const struct logtail_options tail = tail_of(logs, request->pod && request->first_container);
    struct log_found found = {0};
    struct error err = {0};
    bool failed;

    if (!log_show(&logs->client, request, &tail, &found, &failed, &err)) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    if (!found.logs)
        say_nothing(logs, &found);
    return failed || !found.logs ? EXIT_FAILED : EXIT_OK;
}

/* The job may be gone, for example after an interrupt: its logs are then those of its flow. */
static int print_job(struct logs *logs)
{
    struct log_request request = request_of(logs);
    scoped_str labels = mem_printf("%s=%s", LABEL_JOB_NAME, logs->subject.name);

    logs->doc = get(logs, &kind_job, logs->subject.name, &logs->missing);
    if (!logs->doc && logs->missing.code != ERR_NOT_FOUND) {
        cli_error(&logs->missing);
        return EXIT_FAILED;
    }
    request.labels = labels;
    request.until = &kind_job;
    request.until_name = logs->subject.name;
    request.ended = !logs->doc || has_ended(logs->doc);
    return print_many(logs, &request);
}

static int print_flow(struct logs *logs)
{
    struct log_request request = request_of(logs);
    scoped(log_jobs) struct log_jobs jobs = {0};
    struct error err = {0};

    logs->doc = get(logs, &kind_job_flow, logs->subject.name, &err);
    if (!logs->doc || !log_jobs_read(logs->doc, logs->step, &jobs, &err)) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    request.jobs = &jobs;
    request.until = &kind_job_flow;
    request.until_name = logs->subject.name;
    request.ended = has_ended(logs->doc);
    return print_many(logs, &request);
}

static const char *default_container(const json_t *pod)
{
    const json_t *annotations = json_object_get(json_object_get(pod, "metadata"), "annotations");
    const json_t *containers = json_object_get(json_object_get(pod, "spec"), "containers");
    const char *chosen =
        json_string_value(json_object_get(annotations, "kubectl.kubernetes.io/default-container"));
    const char *first = json_string_value(json_object_get(json_array_get(containers, 0), "name"));
    size_t i;
    json_t *container;

    if (chosen || json_array_size(containers) < 2)
        return chosen ? chosen : first;
    fprintf(stderr, "Defaulted container \"%s\" out of: ", first);
    json_array_foreach(containers, i, container) fprintf(
        stderr, "%s%s", i ? ", " : "", json_string_value(json_object_get(container, "name")));
    fputc('\n', stderr);
    return first;
}

static int print_pod(struct logs *logs, const json_t *pod)
{
    const struct logtail_options options = tail_of(logs, true);
    const char *uid = json_string_value(json_object_get(json_object_get(pod, "metadata"), "uid"));
    const char *container = logs->options->container;
    struct logtail *tail = logtail_new(logs->client, &options);
    bool failed;

    logtail_add(
        tail, &(struct logtail_source){.ns = namespace_of(logs),
                                       .pod = logs->subject.name,
                                       .uid = uid ? uid : "",
                                       .container = container ? container : default_container(pod),
                                       .previous = logs->options->previous});
    while (!logtail_is_idle(tail))
        client_run(logs->client, -1);
    failed = logtail_failed(tail);
    logtail_free(tail);
    return failed ? EXIT_FAILED : EXIT_OK;
}

/* The flows that have a step of this name. */
struct step_search {
    const char *step;
    char *flow; /* the first one, owned */
    struct buf flows;
    size_t count;
};

static bool look_for_step(void *ctx, json_t *flow)
{
    struct step_search *search = ctx;
    const char *name =
        json_string_value(json_object_get(json_object_get(flow, "metadata"), "name"));
    scoped(log_jobs) struct log_jobs jobs = {0};

    if (!name || !log_jobs_read(flow, search->step, &jobs, NULL))
        return true;
    if (search->count++ == 0)
        search->flow = mem_strdup(name);
    buf_printf(&search->flows, "%sjf/%s", search->count > 1 ? ", " : "", name);
    return true;
}

/* Prints the logs of the only flow that has a step of this name. */
static int print_step(struct logs *logs, const char *step)
{
    struct step_search search = {.step = step};
    const struct list_query flows = {.kind = &kind_job_flow, .ns = namespace_of(logs)};
    struct error err = {0};
    int code = EXIT_FAILED;

    if (!list_each(logs->client, &flows, look_for_step, &search, NULL, &err)) {
        cli_error(err.code == ERR_NOT_FOUND ? &logs->missing : &err);
    } else if (search.count == 0) {
        cli_error(&logs->missing);
    } else if (search.count > 1) {
        cli_errorf("%s have a step %s: say which, as in '%s logs jf/%s %s'", search.flows.data,
                   step, cli_program, search.flow, step);
    } else {
        logs->subject = (struct resource){&kind_job_flow, search.flow};
        logs->step = step;
        code = print_flow(logs);
    }
    buf_release(&search.flows);
    mem_free(search.flow);
    return code;
}

/* Prints the logs of a name: a pod that is gone or belongs to an earlier attempt, or a step. */
static int print_name(struct logs *logs)
{
    struct log_request request = request_of(logs);
    struct logtail_options tail = tail_of(logs, !logs->options->all_containers);
    struct log_found found = {0};
    struct error err = {0};
    bool failed;

    request.pod = logs->subject.name;
    request.first_container = !logs->options->all_containers;
    if (!log_show(&logs->client, &request, &tail, &found, &failed, &err)) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    if (!found.pods)
        return print_step(logs, logs->subject.name);
    if (!found.logs)
        say_nothing(logs, &found);
    return failed || !found.logs ? EXIT_FAILED : EXIT_OK;
}

static int print_named(struct logs *logs)
{
    scoped(json) json_t *pod = NULL;
    struct log_request request = request_of(logs);

    pod = get(logs, &kind_pod, logs->subject.name, &logs->missing);
    if (!pod && logs->missing.code != ERR_NOT_FOUND) {
        cli_error(&logs->missing);
        return EXIT_FAILED;
    }
    if (!pod || logs->options->attempt)
        return print_name(logs);
    if (!logs->options->all_containers)
        return print_pod(logs, pod);
    request.pod = logs->subject.name;
    return print_many(logs, &request);
}

static int print_selected(struct logs *logs)
{
    struct log_request request = request_of(logs);

    request.labels = logs->options->labels;
    return print_many(logs, &request);
}

static bool logs_parse(struct logs *logs, int n_operands, char **operands, struct error *err)
{
    static const struct kind *const kinds[] = {&kind_pod, &kind_job, &kind_job_flow};

    if ((n_operands > 0) == (logs->options->labels != NULL))
        return error_set(err, ERR_BAD_REQUEST, "",
                         "say whose logs: POD, STEP, job/NAME, jf/NAME [STEP], or -l SELECTOR");
    if (n_operands == 0)
        return true;
    logs->subject = (struct resource){&kind_pod, operands[0]};
    if (strchr(operands[0], '/') && !resource_parse(operands[0], &logs->subject, err))
        return false;
    logs->step = n_operands > 1 ? operands[1] : NULL;
    if (logs->step && logs->subject.kind != &kind_job_flow)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "a step goes with its flow: jobflow logs jf/NAME STEP");
    for (size_t i = 0; i < countof(kinds); i++)
        if (logs->subject.kind == kinds[i])
            return true;
    return error_set(err, ERR_BAD_REQUEST, "", "%s have no logs; pods, jobs and flows have",
                     logs->subject.kind->plural);
}

static int print(struct logs *logs)
{
    if (!logs->subject.kind)
        return print_selected(logs);
    if (logs->subject.kind == &kind_pod)
        return print_named(logs);
    return logs->subject.kind == &kind_job ? print_job(logs) : print_flow(logs);
}

static int run(const void *options, int n_operands, char **operands)
{
    struct logs logs = {.options = options};
    struct error err = {0};
    int code = EXIT_FAILED;

    if (!logs_parse(&logs, n_operands, operands, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    logs.client = client_open_or_say(&logs.options->endpoint, CLIENT_LOOK, &code);
    if (!logs.client)
        return code;
    code = print(&logs);
    json_decref(logs.doc);
    client_close(logs.client);
    return code;
}

const struct command cmd_logs = {
    .name = "logs",
    .operands = "POD | STEP | job/NAME | jf/NAME [STEP]",
    .summary = "Print what containers wrote",
    .details =
        "Of a pod, or of all pods of a job, flow or step, pod by pod in the order in which they "
        "started, each line with its container's\n"
        "name. Pods that are gone are included as long as their logs are kept: those of jobs that "
        "were aborted or restarted, "
        "and of earlier attempts of a step.",
    .examples = "  jobflow logs pipeline-train-worker-0 --tail 20\n"
                "  jobflow logs -f jf/pipeline      # everything, until the flow has ended\n"
                "  jobflow logs train --attempt 1   # of the first attempt of a step",
    .flags = flags,
    .options_size = sizeof(struct logs_options),
    .defaults = &defaults,
    .max_operands = 2,
    .operand_kind = "step",
    .run = run,
};
