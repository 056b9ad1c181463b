/*
 * The command `jobflow logs`: prints the logs of a pod, a job, a flow or a label selection.
 *
 * The log of one pod is printed unchanged; others have the container's name before each line.
 * Following a job or flow adds its pods as they start, and ends when the job or flow has ended and
 * the last log is complete.
 */
#include <ctype.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "cli/client/lister.h"
#include "cli/client/log_tail.h"
#include "cli/client/resource.h"
#include "cli/client/wait_condition.h"
#include "cli/cmd/commands.h"

enum { FOLLOWED_AT_ONCE = 256 };

struct logs_options {
    struct client_place place;
    const char *namespace, *container, *labels;
    int64_t tail, since_ms, limit_bytes;
    bool follow, timestamps, previous, prefix, all_containers;
};

#define LOGS(member) offsetof(struct logs_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_BOOL,     "follow",     'f', NULL,   "go on until the containers have ended", LOGS(follow)},
    {FLAG_STR,      "container",  'c', "NAME", "only this container", LOGS(container)},
    {FLAG_BOOL,     "all-containers", 0, NULL, "every container of a pod, not only the first", LOGS(all_containers)},
    {FLAG_INT,      "tail",       0,   "N",    "only the last N lines of each; -1: all", LOGS(tail), .min = -1},
    {FLAG_DURATION, "since",      0,   "D",    "only what is not older than D", LOGS(since_ms)},
    {FLAG_BOOL,     "timestamps", 0,   NULL,   "print when each line was written", LOGS(timestamps)},
    {FLAG_BOOL,     "previous",   'p', NULL,   "of the run before the container was restarted", LOGS(previous)},
    {FLAG_INT,      "limit-bytes", 0,  "N",    "at most N bytes of each", LOGS(limit_bytes)},
    {FLAG_BOOL,     "prefix",     0,   NULL,   "print [POD/CONTAINER] before each line, also of one pod", LOGS(prefix)},
    {FLAG_STR,      "selector",   'l', "SEL",  "of the pods with these labels", LOGS(labels)},
    {FLAG_STR,      "namespace",  'n', "NAME", "namespace to look in; default: that of the kubeconfig, or default", LOGS(namespace)},
    CLIENT_PLACE_FLAGS(LOGS(place)),
    {0},
};
/* clang-format on */

static const struct logs_options defaults = {.place = CLIENT_PLACE_USUAL, .tail = -1};

struct logs {
    const struct logs_options *options;
    struct client *client;
    struct logtail *tail;
    struct resource subject; /* kind NULL: a label selection */
    json_t *job_names;       /* set of a flow's job names; NULL otherwise */
    struct watcher pods, ends;
    bool ended; /* the job or flow has ended */
    size_t pods_seen;
    bool container_seen; /* a selected container exists, started or not */
};

static const json_t *status_of(const json_t *pod, const char *list, const char *container)
{
    size_t i;
    json_t *status;

    json_array_foreach(json_object_get(json_object_get(pod, "status"), list), i, status)
    {
        const char *name = json_string_value(json_object_get(status, "name"));

        if (name && strcmp(name, container) == 0)
            return status;
    }
    return NULL;
}

/* Adds the log of a container that runs or has run. */
static void add_container(struct logs *logs, const json_t *pod, const char *statuses,
                          const json_t *container)
{
    const json_t *metadata = json_object_get(pod, "metadata");
    const char *name = json_string_value(json_object_get(container, "name"));
    const json_t *status = name ? status_of(pod, statuses, name) : NULL;
    const json_t *state = json_object_get(status, "state");
    int64_t runs = json_integer_value(json_object_get(status, "restartCount"));

    if (!name || (logs->options->container && strcmp(logs->options->container, name) != 0))
        return;
    logs->container_seen = true;
    if (!json_object_get(state, "running") && !json_object_get(state, "terminated") && runs == 0)
        return;
    logtail_add(logs->tail, json_string_value(json_object_get(metadata, "namespace")),
                json_string_value(json_object_get(metadata, "name")),
                json_string_value(json_object_get(metadata, "uid")), name, runs);
}

/* Returns whether `job` belongs to a step, or to an iteration of a loop step, whose job name has a
 * number appended. */
static bool is_job_of(const json_t *names, const char *job)
{
    size_t len = strlen(job);
    scoped_str loop = mem_strdup(job);

    if (json_object_get(names, job))
        return true;
    while (len && isdigit((unsigned char)job[len - 1]))
        len--;
    if (!job[len] || len < 2 || job[len - 1] != '-')
        return false;
    loop[len - 1] = '\0';
    return json_is_true(json_object_get(names, loop));
}

static bool is_wanted(const struct logs *logs, const json_t *pod)
{
    const json_t *labels = json_object_get(json_object_get(pod, "metadata"), "labels");
    const char *job = json_string_value(json_object_get(labels, LABEL_JOB_NAME));

    return !logs->job_names || (job && is_job_of(logs->job_names, job));
}

static void add_pod(struct logs *logs, const json_t *pod)
{
    const json_t *spec = json_object_get(pod, "spec");
    size_t i;
    json_t *container;

    if (!is_wanted(logs, pod))
        return;
    logs->pods_seen++;
    json_array_foreach(json_object_get(spec, "initContainers"), i, container)
        add_container(logs, pod, "initContainerStatuses", container);
    json_array_foreach(json_object_get(spec, "containers"), i, container)
        add_container(logs, pod, "containerStatuses", container);
}

static bool add_listed(void *ctx, json_t *pod)
{
    add_pod(ctx, pod);
    return true;
}

static bool on_pod(struct watcher *watcher, enum watch_event event, json_t *pod)
{
    if (event != WATCH_DELETED)
        add_pod(container_of(watcher, struct logs, pods), pod);
    return true;
}

static bool has_ended(const json_t *subject)
{
    const struct condition end = {.kind = CONDITION_END};

    return condition_evaluate(&end, subject, NULL) != CONDITION_NOT_YET;
}

static bool on_subject(struct watcher *watcher, enum watch_event event, json_t *subject)
{
    struct logs *logs = container_of(watcher, struct logs, ends);

    logs->ended = event == WATCH_DELETED || has_ended(subject);
    return !logs->ended;
}

/* Restarts a watch that has fallen behind. Containers it reports again are recognised by uid, name
 * and restart count. */
static void on_pods_ended(struct watcher *watcher, const struct error *err)
{
    client_stop(watcher->call.client);
}

/* Adds pods as they appear, until the subject has ended or the answering process has exited. */
static bool follow_pods(struct logs *logs, const struct list_query *pods, struct error *err)
{
    const char *ns = client_namespace(logs->client, logs->options->namespace);
    const struct list_query subject = {
        .kind = logs->subject.kind, .ns = ns, .name = logs->subject.name};

    if (subject.kind)
        watcher_start(logs->client, &logs->ends, &subject, "0");
    while (!logs->ended && client_is_live(logs->client)) {
        scoped_str revision = NULL;

        if (!list_each(logs->client, pods, add_listed, logs, &revision, err))
            break;
        watcher_start(logs->client, &logs->pods, pods, revision);
        while (!logs->ended && logs->pods.call.link)
            client_run(logs->client, -1);
    }
    watcher_stop(&logs->ends);
    watcher_stop(&logs->pods);
    if (err->code == ERR_UNAVAILABLE)
        *err = (struct error){0}; /* the answering process has exited; not an error */
    return err->code == ERR_NONE;
}

/* Reads the logs of all existing pods to their present end. */
static bool print_present(struct logs *logs, const struct list_query *pods, struct error *err)
{
    if (!list_each(logs->client, pods, add_listed, logs, NULL, err))
        return false;
    while (!logtail_is_idle(logs->tail))
        client_run(logs->client, -1);
    return true;
}

/* The process that ran the pods may exit before this command has seen the last ones. Their logs are
 * then read from the store and the files in the data directory. */
static bool print_rest(struct logs *logs, const struct list_query *pods, struct error *err)
{
    struct client *left;

    if (print_present(logs, pods, err) ? !logtail_is_cut(logs->tail) : err->code != ERR_UNAVAILABLE)
        return err->code == ERR_NONE;
    *err = (struct error){0};
    while (!logtail_is_idle(logs->tail)) /* logs still being read are cut off too */
        client_run(logs->client, -1);
    left = client_open_at(&logs->options->place, CLIENT_LOOK, err);
    if (!left)
        return false;
    logtail_go_on(logs->tail, left);
    client_close(logs->client);
    logs->client = left;
    return print_present(logs, pods, err);
}

static int print_many(struct logs *logs, const char *labels)
{
    const struct list_query pods = {.kind = &kind_pod,
                                    .ns = client_namespace(logs->client, logs->options->namespace),
                                    .labels = labels};
    struct error err = {0};

    if ((logs->options->follow && !follow_pods(logs, &pods, &err)) ||
        !print_rest(logs, &pods, &err)) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    if (logs->pods_seen == 0) {
        fprintf(stderr, "No pods found in %s namespace.\n",
                client_namespace(logs->client, logs->options->namespace));
        return EXIT_FAILED;
    }
    if (!logs->container_seen) {
        cli_errorf("none of the %zu pods has a container %s", logs->pods_seen,
                   logs->options->container);
        return EXIT_FAILED;
    }
    return logtail_failed(logs->tail) ? EXIT_FAILED : EXIT_OK;
}

/* Returns the set of a flow's job names, which follow from its step names. Owned. */
static json_t *job_names(const json_t *flow, const char *name)
{
    json_t *names = json_object(), *step;
    size_t i;

    json_array_foreach(json_object_get(json_object_get(flow, "spec"), "flows"), i, step)
    {
        const char *step_name = json_string_value(json_object_get(step, "name"));
        scoped_str job = mem_printf("%s-%s", name, step_name ? step_name : "");

        json_object_set_new(names, job, json_boolean(json_object_get(step, "for") != NULL));
    }
    return names;
}

static int print_subject(struct logs *logs)
{
    const struct resource *subject = &logs->subject;
    scoped_str labels = NULL;
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *doc = NULL;
    struct error err = {0};

    resource_write_path(subject->kind, client_namespace(logs->client, logs->options->namespace),
                        subject->name, &path);
    doc = client_get(logs->client, path.data, &err);
    if (!doc) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    logs->ended = has_ended(doc);
    if (subject->kind == &kind_job_flow)
        logs->job_names = job_names(doc, subject->name);
    else
        labels = mem_printf("%s=%s", LABEL_JOB_NAME, subject->name);
    return print_many(logs, labels);
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

static int print_pod(struct logs *logs)
{
    const char *ns = client_namespace(logs->client, logs->options->namespace),
               *container = logs->options->container;
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *pod = NULL;
    const char *uid;
    struct error err = {0};

    resource_write_path(&kind_pod, ns, logs->subject.name, &path);
    pod = client_get(logs->client, path.data, &err);
    if (!pod) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    uid = json_string_value(json_object_get(json_object_get(pod, "metadata"), "uid"));
    if (logs->options->all_containers)
        add_pod(logs, pod);
    else
        logtail_add(logs->tail, ns, logs->subject.name, uid ? uid : "",
                    container ? container : default_container(pod), 0);
    while (!logtail_is_idle(logs->tail))
        client_run(logs->client, -1);
    return logtail_failed(logs->tail) ? EXIT_FAILED : EXIT_OK;
}

static bool logs_parse(struct logs *logs, int n_operands, char **operands, struct error *err)
{
    static const struct kind *const kinds[] = {&kind_pod, &kind_job, &kind_job_flow};

    if ((n_operands == 1) == (logs->options->labels != NULL))
        return error_set(err, ERR_BAD_REQUEST, "",
                         "say whose logs: POD, job/NAME, jf/NAME, or -l SELECTOR");
    if (n_operands == 0)
        return true;
    if (!strchr(operands[0], '/')) {
        logs->subject = (struct resource){&kind_pod, operands[0]};
        return true;
    }
    if (!resource_parse(operands[0], &logs->subject, err))
        return false;
    for (size_t i = 0; i < countof(kinds); i++)
        if (logs->subject.kind == kinds[i])
            return true;
    return error_set(err, ERR_BAD_REQUEST, "", "%s have no logs; pods, jobs and flows have",
                     logs->subject.kind->plural);
}

static struct logtail *make_tail(const struct logs *logs)
{
    const struct logs_options *options = logs->options;
    bool one = logs->subject.kind == &kind_pod && !options->all_containers;
    const struct logtail_options tail = {
        .follow = options->follow,
        .timestamps = options->timestamps,
        .previous = options->previous,
        .tail = options->tail,
        .since_s = options->since_ms > 0 ? (options->since_ms + 999) / 1000 : 0,
        .limit_bytes = options->limit_bytes,
        .prefix = options->prefix || !one,
        .at_once = options->follow ? FOLLOWED_AT_ONCE : 1,
    };

    return logtail_new(logs->client, &tail);
}

static int run(const void *options, int n_operands, char **operands)
{
    struct logs logs = {
        .options = options,
        .pods = {.changed = on_pod, .ended = on_pods_ended},
        .ends = {.changed = on_subject, .ended = on_pods_ended},
    };
    struct error err = {0};
    int code = EXIT_FAILED;

    if (!logs_parse(&logs, n_operands, operands, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    logs.client = client_open_at(&logs.options->place, CLIENT_LOOK, &err);
    if (!logs.client) {
        cli_error(&err);
        return client_open_failed(&err);
    }
    logs.tail = make_tail(&logs);
    if (logs.subject.kind == &kind_pod)
        code = print_pod(&logs);
    else
        code = logs.subject.kind ? print_subject(&logs) : print_many(&logs, logs.options->labels);
    watcher_stop(&logs.pods);
    watcher_stop(&logs.ends);
    logtail_free(logs.tail);
    json_decref(logs.job_names);
    client_close(logs.client);
    return code;
}

const struct command cmd_logs = {
    .name = "logs",
    .operands = "POD | job/NAME | jf/NAME",
    .summary = "Print what containers wrote",
    .details = "Of a pod, or of all pods of a job or flow, each line with its container's name.",
    .examples = "  jobflow logs pipeline-train-worker-0 --tail 20\n"
                "  jobflow logs -f jf/pipeline      # everything, until the flow has ended",
    .flags = flags,
    .options_size = sizeof(struct logs_options),
    .defaults = &defaults,
    .max_operands = 1,
    .operand_kind = "resource",
    .run = run,
};
