/*
 * The command `jobflow wait`: waits until objects meet a condition.
 *
 * It survives the answering process: when that process exits, the command inspects the store it
 * left and waits for the next process.
 */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/client/wait_condition.h"
#include "cli/cmd/commands.h"

enum {
    DEFAULT_TIMEOUT_MS = 30000, /* with --for, the same as in kubectl */
    /* Time for a run that has just been started to create its objects. */
    GRACE_MS = 2000,
    POLL_MS = 200,
};

struct wait_options {
    struct client_endpoint endpoint;
    const char *namespace, *for_, *labels;
    int64_t timeout_ms;
    bool all;
    bool quiet; /* print nothing when the condition is met */
};

#define WAIT(member) offsetof(struct wait_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,      "for",       0,   "WHAT", "delete, condition=NAME, phase=NAME or jsonpath='{.path}'=VALUE; default: the end", WAIT(for_)},
    {FLAG_DURATION, "timeout",   0,   "D",    "give up and exit with 4; default: 30s with --for, else never", WAIT(timeout_ms)},
    {FLAG_STR,      "selector",  'l', "SEL",  "wait for what has these labels", WAIT(labels)},
    {FLAG_BOOL,     "all",       0,   NULL,   "wait for all of the kind in the namespace", WAIT(all)},
    {FLAG_STR,      "namespace", 'n', "NAME", "namespace to look in; default: that of the kubeconfig, or default", WAIT(namespace)},
    CLIENT_ENDPOINT_FLAGS(WAIT(endpoint)),
    {0},
};
/* clang-format on */

static const struct wait_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL, .timeout_ms = -1};

struct wait {
    const struct wait_options *options;
    struct condition condition;
    int64_t began_ns, ends_ns; /* monotonic times; ends_ns INT64_MAX = no deadline */
    struct client *client;     /* open client; NULL: it must be opened (again) */
    struct watcher watcher;
    const struct resource *resource; /* the resource being waited for */
    enum condition_verdict verdict;
    bool seen;         /* the object has been seen */
    char *phase, *why; /* phase and reason as last seen */
    struct error err;
};

static int64_t now_ns(void)
{
    return clock_mono_ns(clock_real());
}

static int64_t left_ms(const struct wait *wait)
{
    int64_t left_ns = wait->ends_ns - now_ns();

    if (wait->ends_ns == INT64_MAX)
        return -1;
    return left_ns > 0 ? left_ns / 1000000 + 1 : 0;
}

static bool in_grace(const struct wait *wait)
{
    return now_ns() - wait->began_ns < (int64_t)GRACE_MS * 1000000;
}

/* Returns whether a missing object may still be created: during the grace period, when a timeout is
 * set and no process answers yet, because the run may have just been started. A process that
 * answers has already created its objects. */
static bool may_still_come(const struct wait *wait)
{
    return in_grace(wait) && wait->options->timeout_ms >= 0 && !client_is_live(wait->client);
}

static void set_time_limit(struct wait *wait, int64_t timeout_ms)
{
    wait->began_ns = now_ns();
    wait->ends_ns = timeout_ms < 0 ? INT64_MAX : wait->began_ns + timeout_ms * 1000000;
}

static void release(struct wait *wait)
{
    condition_release(&wait->condition);
    watcher_stop(&wait->watcher);
    client_close(wait->client);
    mem_free(wait->phase);
    mem_free(wait->why);
}

static void poll_pause(void)
{
    const struct timespec time = {.tv_nsec = POLL_MS * 1000000L};

    nanosleep(&time, NULL);
}

static void evaluate(struct wait *wait, const json_t *object)
{
    const json_t *status = json_object_get(object, "status");
    const char *why =
        json_string_value(json_object_get(json_object_get(status, "state"), "message"));

    wait->verdict = condition_evaluate(&wait->condition, object, &wait->err);
    if (!object)
        return;
    wait->seen = true;
    mem_free(wait->phase);
    mem_free(wait->why);
    wait->phase = mem_strdup(condition_phase(object));
    wait->why = mem_strdup(why);
}

static bool on_change(struct watcher *watcher, enum watch_event event, json_t *object)
{
    struct wait *wait = container_of(watcher, struct wait, watcher);

    evaluate(wait, event == WATCH_DELETED ? NULL : object);
    return wait->verdict == CONDITION_NOT_YET && event != WATCH_DELETED &&
           wait->err.code == ERR_NONE;
}

static bool look(void *ctx, json_t *page)
{
    struct wait *wait = ctx;
    json_t *object = json_array_get(json_object_get(page, "items"), 0);

    /* Items in lists of built-in kinds have no "kind". */
    if (object && !json_object_get(object, "kind"))
        json_object_set_new(object, "kind", json_string(wait->resource->kind->name));
    evaluate(wait, object);
    return false;
}

/* Reads the object once and, while a process answers, watches it. Returns false when waiting cannot
 * continue. */
static bool look_and_watch(struct wait *wait)
{
    const struct list_query query = {
        .kind = wait->resource->kind,
        .ns = client_namespace(wait->client, wait->options->namespace),
        .name = wait->resource->name,
    };
    scoped_str revision = NULL;
    bool there;

    if (!list_pages(wait->client, &query, look, wait, &revision, &wait->err))
        return wait->err.code == ERR_UNAVAILABLE;
    there = wait->seen || wait->condition.kind == CONDITION_DELETE;
    if (wait->verdict != CONDITION_NOT_YET || wait->err.code != ERR_NONE)
        return false;
    if (!there && !may_still_come(wait))
        return error_set(&wait->err, ERR_NOT_FOUND, "", "%s%s%s \"%s\" not found",
                         query.kind->plural, *query.kind->group ? "." : "", query.kind->group,
                         query.name);
    if (!client_is_live(wait->client) || !there)
        return true;
    watcher_start(wait->client, &wait->watcher, &query, revision);
    client_run(wait->client, left_ms(wait));
    watcher_stop(&wait->watcher);
    return wait->verdict == CONDITION_NOT_YET && wait->err.code == ERR_NONE;
}

static bool open_client(struct wait *wait)
{
    struct error why = {0};

    if (wait->client)
        return true;
    wait->client = client_open_at(&wait->options->endpoint, CLIENT_LOOK, &why);
    if (wait->client || ((why.code == ERR_NOT_FOUND || why.code == ERR_CONFLICT) && in_grace(wait)))
        return true;
    wait->err = why;
    return false;
}

/* Returns false with `err` set when the wait has timed out, or when it has no timeout and no
 * process runs that could change the object. */
static bool may_go_on(struct wait *wait)
{
    if (wait->client && !client_is_live(wait->client) && wait->options->timeout_ms < 0 &&
        !in_grace(wait)) {
        scoped_str why = client_not_live_reason(wait->client);

        return error_set(&wait->err, ERR_UNAVAILABLE, "", "%s: %s/%s stays %s", why,
                         wait->resource->kind->plural, wait->resource->name,
                         wait->phase && *wait->phase ? wait->phase : "as it is");
    }
    return left_ms(wait) != 0 ||
           error_set(&wait->err, ERR_TIMEOUT, "", "timed out waiting for the condition on %s/%s",
                     wait->resource->kind->plural, wait->resource->name);
}

static int report(const struct wait *wait)
{
    scoped(buf) struct buf name = {0};

    resource_write_name(wait->resource->kind, wait->resource->name, &name);
    if (wait->err.code == ERR_UNAVAILABLE && wait->verdict != CONDITION_NOT_YET)
        return EXIT_OK;
    if (wait->err.code != ERR_NONE) {
        cli_error(&wait->err);
        return wait->err.code == ERR_TIMEOUT ? EXIT_TIMED_OUT
               : wait->client                ? EXIT_FAILED
                                             : client_open_failed(&wait->err);
    }
    if (wait->verdict == CONDITION_MET) {
        if (wait->options->quiet)
            return EXIT_OK;
        printf("%s %s\n", name.data,
               wait->condition.kind == CONDITION_END ? wait->phase : "condition met");
        return EXIT_OK;
    }
    cli_errorf("%s is %s%s%s", name.data, wait->phase, wait->why ? ": " : "",
               wait->why ? wait->why : "");
    return EXIT_FAILED;
}

static int wait_for(struct wait *wait, const struct resource *resource)
{
    wait->resource = resource;
    wait->verdict = CONDITION_NOT_YET;
    wait->seen = false;
    wait->err = (struct error){0};
    while (open_client(wait)) {
        if (wait->client && !look_and_watch(wait))
            break;
        if (!may_go_on(wait))
            break;
        wait->err = (struct error){0};
        client_close(take(wait->client)); /* another process may answer the next read */
        poll_pause();
    }
    return report(wait);
}

struct selected {
    struct resources *resources;
    const struct kind *kind;
    char **names; /* names of the objects, [count]; owned */
    size_t count, cap;
};

static bool add_name(void *ctx, json_t *object)
{
    struct selected *selected = ctx;
    const json_t *metadata = json_object_get(object, "metadata");

    mem_grow(selected->names, selected->count, selected->cap);
    selected->names[selected->count++] =
        mem_strdup(json_string_value(json_object_get(metadata, "name")));
    return true;
}

/* Waits for every object of a kind, or for those with the labels. */
static int wait_for_selected(struct wait *wait, const struct kind *kind)
{
    const struct list_query query = {.kind = kind,
                                     .ns = client_namespace(wait->client, wait->options->namespace),
                                     .labels = wait->options->labels};
    struct selected selected = {.kind = kind};
    struct error err = {0};
    int worst = EXIT_OK;

    if (!open_client(wait) || !wait->client ||
        !list_each(wait->client, &query, add_name, &selected, NULL, &err)) {
        cli_error(err.code ? &err : &wait->err);
        return wait->client ? EXIT_FAILED : client_open_failed(&wait->err);
    }
    if (selected.count == 0) {
        cli_errorf("no matching resources found");
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < selected.count; i++) {
        const struct resource one = {kind, selected.names[i]};
        int code = wait_for(wait, &one);

        wait->resource = NULL;
        worst = worst == EXIT_OK ? code : worst;
        mem_free(selected.names[i]);
    }
    mem_free(selected.names);
    return worst;
}

static bool check_operands(const struct wait *wait, const struct resources *resources,
                           struct error *err)
{
    static const struct kind *const ending[] = {&kind_job_flow, &kind_job, &kind_pod};

    for (size_t i = 0; i < resources->count; i++) {
        bool ends = false;

        for (size_t j = 0; j < countof(ending); j++)
            ends = ends || resources->items[i].kind == ending[j];
        if (wait->condition.kind == CONDITION_END && !ends)
            return error_set(err, ERR_BAD_REQUEST, "",
                             "%s have no end: say what to wait for "
                             "with --for",
                             resources->items[i].kind->plural);
        if (!resources->items[i].name && !wait->options->all && !wait->options->labels)
            return error_set(err, ERR_BAD_REQUEST, "",
                             "name the %s to wait for, or use --all or "
                             "-l",
                             resources->items[i].kind->plural);
    }
    return true;
}

static int wait_for_all(struct wait *wait, const struct resources *resources)
{
    int64_t timeout_ms = wait->options->timeout_ms;
    int worst = EXIT_OK;

    if (timeout_ms < 0 && wait->condition.kind != CONDITION_END)
        timeout_ms = DEFAULT_TIMEOUT_MS;
    set_time_limit(wait, timeout_ms);
    for (size_t i = 0; i < resources->count; i++) {
        const struct resource *resource = &resources->items[i];
        int code =
            resource->name ? wait_for(wait, resource) : wait_for_selected(wait, resource->kind);

        worst = worst == EXIT_OK ? code : worst;
    }
    return worst;
}

static int run(const void *options, int n_operands, char **operands)
{
    struct wait wait = {.options = options, .watcher = {.changed = on_change}};
    scoped(resources) struct resources resources = {0};
    struct error err = {0};
    int code = EXIT_REFUSED;

    if (!condition_parse(wait.options->for_, &wait.condition, &err) ||
        !resources_parse(n_operands, operands, &resources, &err) ||
        !check_operands(&wait, &resources, &err))
        cli_error(&err);
    else
        code = wait_for_all(&wait, &resources);
    release(&wait);
    return code;
}

int wait_for_the_end(const struct client_endpoint *endpoint, const char *namespace, int n_operands,
                     char **operands)
{
    const struct wait_options options = {
        .endpoint = *endpoint, .namespace = namespace, .timeout_ms = defaults.timeout_ms};

    return run(&options, n_operands, operands);
}

/* Returns whether the object can be read, with its namespace that of the options. */
static bool is_there(struct wait *wait, const struct resource *resource)
{
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *object = NULL;
    struct error err = {0};

    if (!open_client(wait) || !wait->client)
        return true; /* the wait for its end says why */
    resource_write_path(resource->kind, client_namespace(wait->client, wait->options->namespace),
                        resource->name, &path);
    object = client_get(wait->client, path.data, &err);
    return object || err.code != ERR_NOT_FOUND;
}

int wait_for_made(const struct client_endpoint *endpoint, const char *namespace,
                  const char *command, const struct resource *made, int64_t timeout_ms)
{
    const struct resource order = {&kind_command, (char *)command};
    struct wait_options options = {
        .endpoint = *endpoint, .namespace = namespace, .timeout_ms = timeout_ms, .quiet = true};
    struct wait wait = {
        .options = &options, .condition.kind = CONDITION_DELETE, .watcher = {.changed = on_change}};
    int code;

    set_time_limit(&wait, timeout_ms);
    code = wait_for(&wait, &order);
    if (code == EXIT_OK && !is_there(&wait, made)) {
        code = -1;
    } else if (code == EXIT_OK) {
        options.quiet = false;
        wait.condition.kind = CONDITION_END;
        code = wait_for(&wait, made);
    }
    release(&wait);
    return code;
}

const struct command cmd_wait = {
    .name = "wait",
    .operands = "KIND/NAME…",
    .summary = "Wait until a flow, job or pod has ended, or for a condition",
    .details =
        "Exits with 0 when it came, 1 when it cannot come any more (the flow or job failed),\n"
        "4 when the time was up. What is not there is an error at once; with --timeout, a run that "
        "is only just being started\n"
        "is given a moment.",
    .examples = "  jobflow wait jf/pipeline --timeout 1h\n"
                "  jobflow wait jf/pipeline --for=jsonpath='{.status.state.phase}'=Running\n"
                "  jobflow wait pod/p --for=delete",
    .flags = flags,
    .options_size = sizeof(struct wait_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "resource",
    .run = run,
};
