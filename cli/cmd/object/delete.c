/*
 * The command `jobflow delete`: finds every selected object, deletes them, then watches until all
 * are gone.
 */
#include <string.h>

#include "base/mem.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/object/vcctl.h"
#include "cli/manifest/manifests.h"

static const char *const cascades[] = {"background", "foreground", "orphan", NULL};

#define DELETE(member) offsetof(struct delete_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_LIST,     "filename",     'f', "FILE", "delete what is defined in FILE (a directory, - for standard input)", DELETE(files)},
    {FLAG_STR,      "selector",     'l', "SEL",  "delete what has these labels", DELETE(labels)},
    {FLAG_BOOL,     "all",          0,   NULL,   "delete all of the kind in the namespace", DELETE(all)},
    {FLAG_BOOL,     "force",        0,   NULL,   "at once: no grace period, no deletion protection", DELETE(force)},
    {FLAG_INT,      "grace-period", 0,   "S",    "seconds pods get to end; -1: what they ask for", DELETE(grace_s), .min = -1, .max = 86400},
    {FLAG_CHOICE,   "cascade",      0,   "HOW",  "what happens to what depends on it", DELETE(cascade), cascades},
    {FLAG_BOOL,     "wait",         0,   NULL,   "wait until it is gone; default: true", DELETE(wait)},
    {FLAG_DURATION, "timeout",      0,   "D",    "how long to wait; default: as long as it takes", DELETE(timeout_ms)},
    {FLAG_BOOL,     "ignore-not-found", 0, NULL, "what is not there counts as deleted", DELETE(ignore_not_found)},
    {FLAG_STR,      "namespace",    'n', "NAME", "namespace of objects that name none; default: that of the kubeconfig, or default", DELETE(namespace)},
    CLIENT_ENDPOINT_FLAGS(DELETE(endpoint)),
    {0},
};
/* clang-format on */

static const struct delete_options defaults = {
    .endpoint = CLIENT_ENDPOINT_USUAL,
    .cascade = "background",
    .grace_s = -1,
    .wait = true,
};

/* One object to be deleted. */
struct victim {
    const struct kind *kind;
    char *ns, *name;
    char *uid;                       /* set when deletion has started and must be waited for */
    const struct manifest *manifest; /* the manifest that names the object; NULL: an operand does */
};

struct deletion {
    const struct delete_options *options;
    struct client *client;
    struct victim *victims; /* objects to be deleted, [count] */
    size_t count, cap;
    int code;
};

static void add_victim(struct deletion *deletion, const struct kind *kind, const char *ns,
                       const char *name)
{
    mem_grow(deletion->victims, deletion->count, deletion->cap);
    deletion->victims[deletion->count++] = (struct victim){
        .kind = kind,
        .ns = mem_strdup(kind->namespaced ? ns : NULL),
        .name = mem_strdup(name),
    };
}

static void release(struct deletion *deletion)
{
    for (size_t i = 0; i < deletion->count; i++) {
        mem_free(deletion->victims[i].ns);
        mem_free(deletion->victims[i].name);
        mem_free(deletion->victims[i].uid);
    }
    mem_free(deletion->victims);
    client_close(deletion->client);
}

struct finding {
    struct deletion *deletion;
    const struct kind *kind;
};

static bool add_found(void *ctx, json_t *object)
{
    const struct finding *finding = ctx;
    const json_t *metadata = json_object_get(object, "metadata");

    add_victim(finding->deletion, finding->kind,
               json_string_value(json_object_get(metadata, "namespace")),
               json_string_value(json_object_get(metadata, "name")));
    return true;
}

static bool find_selected(struct deletion *deletion, const struct kind *kind, struct error *err)
{
    struct finding finding = {deletion, kind};
    const struct list_query query = {
        .kind = kind,
        .ns = client_namespace(deletion->client, deletion->options->namespace),
        .labels = deletion->options->labels,
    };

    if (!deletion->options->all && !deletion->options->labels)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "resource(s) were provided, but no name was specified: name them, or "
                         "use --all or -l");
    return list_each(deletion->client, &query, add_found, &finding, NULL, err);
}

static bool find_operands(struct deletion *deletion, const struct resources *resources,
                          struct error *err)
{
    for (size_t i = 0; i < resources->count; i++) {
        const struct resource *resource = &resources->items[i];

        if (resource->name)
            add_victim(deletion, resource->kind,
                       client_namespace(deletion->client, deletion->options->namespace),
                       resource->name);
        else if (!find_selected(deletion, resource->kind, err))
            return false;
    }
    return true;
}

static void find_manifests(struct deletion *deletion, const struct manifests *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const json_t *metadata = json_object_get(set->items[i].doc, "metadata");
        const char *ns = json_string_value(json_object_get(metadata, "namespace"));
        const char *name = json_string_value(json_object_get(metadata, "name"));

        if (!name && !deletion->options->vcctl)
            continue;
        add_victim(deletion, set->items[i].kind,
                   ns ? ns : client_namespace(deletion->client, deletion->options->namespace),
                   name);
        deletion->victims[deletion->count - 1].manifest = &set->items[i];
    }
}

static char *options_body(const struct delete_options *options)
{
    static const char *const policies[] = {"Background", "Foreground", "Orphan"};
    int64_t grace_s = options->force && options->grace_s < 0 ? 0 : options->grace_s;
    scoped(buf) struct buf body = {0};

    buf_str(&body, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"");
    for (size_t i = 0; cascades[i]; i++)
        if (strcmp(cascades[i], options->cascade) == 0)
            buf_printf(&body, ",\"propagationPolicy\":\"%s\"", policies[i]);
    if (grace_s >= 0)
        buf_printf(&body, ",\"gracePeriodSeconds\":%lld", (long long)grace_s);
    buf_char(&body, '}');
    return buf_take(&body);
}

static void print_deleted(const struct deletion *deletion, const struct victim *victim)
{
    printf("%s%s%s \"%s\" %sdeleted\n", victim->kind->singular, *victim->kind->group ? "." : "",
           victim->kind->group, victim->name, deletion->options->force ? "force " : "");
}

/* Returns the uid of the object in the answer when it still exists with a deletionTimestamp. */
static char *uid_left(const struct client_call *call)
{
    scoped(json) json_t *doc = json_loadb(call->text.data, call->text.len, 0, NULL);
    const json_t *metadata = json_object_get(doc, "metadata");

    if (!json_object_get(metadata, "deletionTimestamp"))
        return NULL;
    return mem_strdup(json_string_value(json_object_get(metadata, "uid")));
}

static bool send_delete(struct deletion *deletion, struct victim *victim, const char *body,
                        struct error *err)
{
    scoped(buf) struct buf target = {0};
    scoped(client_call) struct client_call call = {
        .method = "DELETE", .body = body, .body_len = strlen(body)};

    resource_write_path(victim->kind, victim->ns, victim->name, &target);
    call.target = target.data;
    if (!client_do(deletion->client, &call, err))
        return false;
    victim->uid = uid_left(&call);
    return true;
}

static void delete_one(struct deletion *deletion, struct victim *victim, const char *body)
{
    struct error err = {0};

    if (send_delete(deletion, victim, body, &err)) {
        print_deleted(deletion, victim);
    } else if (err.code != ERR_NOT_FOUND || !deletion->options->ignore_not_found) {
        cli_error(&err);
        deletion->code = EXIT_FAILED;
    }
}

/* Deletes an object for vcctl, with its messages. */
static void delete_as_vcctl(struct deletion *deletion, struct victim *victim, const char *body)
{
    const struct vcctl_alias *vcctl = deletion->options->vcctl;
    struct error err = {0};

    if ((victim->manifest && !vcctl_accepts(vcctl, victim->manifest)) ||
        !vcctl_print_change(vcctl, victim->ns, victim->name,
                            send_delete(deletion, victim, body, &err) ? NULL : &err))
        deletion->code = EXIT_REFUSED;
}

struct departure {
    struct watcher watcher;
    const char *uid;
    bool gone;
};

static bool is_same(const json_t *object, const char *uid)
{
    const char *its =
        json_string_value(json_object_get(json_object_get(object, "metadata"), "uid"));

    return its && strcmp(its, uid) == 0;
}

static bool on_change(struct watcher *watcher, enum watch_event event, json_t *object)
{
    struct departure *departure = container_of(watcher, struct departure, watcher);

    departure->gone = (event == WATCH_DELETED) == is_same(object, departure->uid);
    return !departure->gone;
}

static bool look(void *ctx, json_t *page)
{
    struct departure *departure = ctx;

    departure->gone = !is_same(json_array_get(json_object_get(page, "items"), 0), departure->uid);
    return false;
}

/* Waits until the object is gone and restarts the watch as often as it ends. */
static bool wait_until_gone(struct deletion *deletion, const struct victim *victim,
                            int64_t timeout_ms, struct error *err)
{
    const struct list_query query = {.kind = victim->kind, .ns = victim->ns, .name = victim->name};
    struct departure departure = {.watcher = {.changed = on_change}, .uid = victim->uid};
    enum client_ran ran = CLIENT_IDLE;

    for (;;) {
        scoped_str revision = NULL;

        if (!list_pages(deletion->client, &query, look, &departure, &revision, err))
            return false;
        if (departure.gone || ran == CLIENT_TIMED_OUT || !client_is_live(deletion->client))
            break;
        watcher_start(deletion->client, &departure.watcher, &query, revision);
        ran = client_run(deletion->client, timeout_ms);
        watcher_stop(&departure.watcher);
    }
    return departure.gone ||
           error_set(err, ERR_TIMEOUT, "",
                     ran == CLIENT_TIMED_OUT
                         ? "timed out waiting for %s \"%s\" to go"
                         : "%s \"%s\" is marked for deletion; it goes when a run works on it "
                           "again, or at once with --force",
                     victim->kind->plural, victim->name);
}

static void delete_all(struct deletion *deletion)
{
    int64_t timeout_ms = deletion->options->timeout_ms ? deletion->options->timeout_ms : -1;
    scoped_str body = options_body(deletion->options);

    for (size_t i = 0; i < deletion->count; i++)
        if (deletion->options->vcctl)
            delete_as_vcctl(deletion, &deletion->victims[i], body);
        else
            delete_one(deletion, &deletion->victims[i], body);
    fflush(stdout);
    for (size_t i = 0; i < deletion->count && deletion->options->wait; i++) {
        struct error err = {0};

        if (deletion->victims[i].uid &&
            !wait_until_gone(deletion, &deletion->victims[i], timeout_ms, &err)) {
            cli_error(&err);
            deletion->code = client_is_live(deletion->client) ? EXIT_TIMED_OUT : EXIT_FAILED;
        }
    }
}

static int delete_found(struct deletion *deletion, const struct resources *resources,
                        const struct manifests *set)
{
    struct error err = {0};

    deletion->client = client_open_at(&deletion->options->endpoint, CLIENT_CHANGE, &err);
    if (!deletion->client || !find_operands(deletion, resources, &err)) {
        cli_error(&err);
        return !deletion->client             ? client_open_failed(&err)
               : err.code == ERR_BAD_REQUEST ? EXIT_REFUSED
                                             : EXIT_FAILED;
    }
    find_manifests(deletion, set);
    if (deletion->count == 0 && !deletion->options->ignore_not_found) {
        fprintf(stderr, "No resources found\n");
        return EXIT_FAILED;
    }
    delete_all(deletion);
    return deletion->code;
}

static int run(const void *options, int n_operands, char **operands)
{
    struct deletion deletion = {.options = options};
    scoped(resources) struct resources resources = {0};
    scoped(manifests) struct manifests set = {0};
    struct error err = {0};
    int code = EXIT_REFUSED;

    if (deletion.options->files.count &&
        !manifests_load(&set, (int)deletion.options->files.count,
                        (char *const *)(size_t)deletion.options->files.items))
        return EXIT_REFUSED;
    if ((n_operands || !deletion.options->files.count) &&
        !resources_parse(n_operands, operands, &resources, &err))
        cli_error(&err);
    else
        code = delete_found(&deletion, &resources, &set);
    release(&deletion);
    return code;
}

const struct command cmd_delete = {
    .name = "delete",
    .operands = "KIND NAME… | KIND/NAME… | -f FILE",
    .summary = "Delete flows, jobs, pods and other objects",
    .details = "Waits until what was deleted is gone. An unfinished flow, or a template that one\n"
               "still needs, is only deleted with --force.",
    .examples = "  jobflow delete jf pipeline\n"
                "  jobflow delete pod/pipeline-train-worker-0 --grace-period 0\n"
                "  jobflow delete -f pipeline.yaml --cascade foreground",
    .flags = flags,
    .options_size = sizeof(struct delete_options),
    .defaults = &defaults,
    .max_operands = -1,
    .operand_kind = "resource",
    .run = run,
};
