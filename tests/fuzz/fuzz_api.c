/*
 * FZ-15: checks requests against a simple model. Each line of the input is one request, `WORD
 * TARGET BODY`; the words are in the table below. The requests exercise decoding, defaulting,
 * admission, authorization, patching, managed fields, deletion and garbage collection. All
 * controllers and a simulated node work on what is stored. Further lines are
 *
 *   AS admin | editor | viewer   the sender of the requests that follow; at first it is admin.
 *                                The editor has rights in the namespace default only.
 *   WAIT MS                      time passes
 *   CRASH                        the store is closed and opened again, if it is on disk
 *
 * "@UID@" in a body stands for the uid of the object that the last successful write showed.
 *
 * The model is the list of all stored objects before and after a request:
 *   - a request that failed, only read or was a dry run has changed nothing (P-02);
 *   - a changed object has a revision higher than all before (P-03), keeps its identity as long as
 *     its uid is the same, and stays marked for deletion once it is marked (INV-S9);
 *   - a viewer changes nothing, and an editor only what its namespace contains (SEC-04);
 *   - neither of them reads the Secret of another namespace (SEC-32);
 *   - the response to a write shows the stored object, unless that has changed since;
 *   - every failure is a Status of type Failure, and none is an internal error;
 *   - lists show what is stored, and the events of watches from the start add up to it (INV-S6),
 *     for each kind that the input names;
 *   - after CRASH everything is as before (INV-S1).
 *
 * Objects are immutable, so an object that was not written is the same object. That makes the
 * comparison cheap. A server in which an input has changed nothing serves the next input, too.
 * Under the sanitizers most inputs take less than a millisecond.
 */
/* covers: reliability.md FZ-15 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/cluster_embedded.h"
#include "api/server/auth/identity.h"
#include "api/server/message/request_target.h"
#include "api/types/kind.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "flow/controller.h"
#include "job/controller.h"
#include "node/node.h"
#include "template/controller.h"
#include "tests/support/api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    INPUT_MAX = 64 << 10,
    LINES_MAX = 32,
    PATIENCE_MS = 120 * 1000,
    WAIT_MAX_MS = 3600 * 1000,
    OBJECTS_MAX = 300, /* so that a job with many replicas does not take seconds */
};

struct word {
    const char *word, *method, *content_type;
};
/* clang-format off */
static const struct word words[] = {
    {"GET",       "GET",    NULL},
    {"POST",      "POST",   "application/json"},
    {"YAML",      "POST",   "application/yaml"},
    {"PUT",       "PUT",    "application/json"},
    {"DELETE",    "DELETE", "application/json"},
    {"JSON",      "PATCH",  "application/json-patch+json"},
    {"MERGE",     "PATCH",  "application/merge-patch+json"},
    {"STRATEGIC", "PATCH",  "application/strategic-merge-patch+json"},
    {"APPLY",     "PATCH",  "application/apply-patch+yaml"},
};

enum sender { SENDER_ADMIN, SENDER_EDITOR, SENDER_VIEWER, SENDER_N };
static const struct {
    const char *name;
    enum role role;
    const char *ns; /* NULL: everywhere */
} senders[SENDER_N] = {
    [SENDER_ADMIN]  = {"admin",  ROLE_ADMIN,  NULL},
    [SENDER_EDITOR] = {"editor", ROLE_EDITOR, "default"},
    [SENDER_VIEWER] = {"viewer", ROLE_VIEWER, NULL},
};
/* clang-format on */

/* A Secret that only the administrator may read, and its data. */
#define KEPT_DATA "a2VwdC1mb3ItdGhlLWFkbWlu"
static const char *const kept[] = {
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kept\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"namespace\":"
    "\"kept\"},\"data\":{\"k\":\"" KEPT_DATA "\"}}",
};

/* All stored objects, as references, in the order of the store. */
struct objects {
    const struct object **items;
    size_t n, room;
};

struct run {
    struct api_fixture fixture;
    struct api_fixture_options options;
    struct cluster *cluster;
    struct node *node;
    struct job_controller *jobs;
    struct flow_controller *flows;
    struct template_controller *templates;
    struct api_capture watches[KIND_N];
    bool named[KIND_N]; /* kinds that the input names */
    bool tells_secret;  /* the input itself contains the data of the Secret */
    struct objects now;
    int64_t newest; /* the highest revision of the objects in `now` */
    bool used;      /* something has changed, or time has passed */
    enum sender sender;
    struct identity *identities[SENDER_N];
    char uid[CLOCK_UUID_LEN + 1]; /* the uid that "@UID@" stands for */
};

/* A run whose server nothing has changed, for the next input; or NULL. */
static struct run *spare;

/* What is stored. */

static void collect(void *arg, const struct object *object)
{
    struct objects *all = arg;

    mem_grow(all->items, all->n, all->room);
    all->items[all->n++] = object_ref(object);
}

static void objects_release(struct objects *all)
{
    for (size_t i = 0; i < all->n; i++)
        object_unref((struct object *)(size_t)all->items[i]);
    mem_free(all->items);
    *all = (struct objects){0};
}

static struct objects read_everything(const struct run *run)
{
    struct objects all = {0};

    for (size_t i = 0; i < KIND_N; i++)
        if (!kind_by_id(i)->built_in)
            store_each(run->fixture.store, kind_by_id(i), NULL, collect, &all);
    return all;
}

static bool is_same_state(const struct objects *a, const struct objects *b)
{
    return a->n == b->n && (!a->n || memcmp(a->items, b->items, a->n * sizeof *a->items) == 0);
}

static const struct object *find(const struct objects *all, const char *uid)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(object_uid(all->items[i]), uid) == 0)
            return all->items[i];
    return NULL;
}

static bool has(const struct objects *all, size_t likely, const struct object *object)
{
    if (likely < all->n && all->items[likely] == object)
        return true;
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i] == object)
            return true;
    return false;
}

/* What may change. */

static void check_step(const struct object *was, const struct object *is)
{
    const struct meta *before = was->meta, *after = is->meta;

    assert(was->kind == is->kind);
    assert(strcmp(before->name, after->name) == 0);
    assert(strcmp(before->namespace, after->namespace) == 0);
    assert(meta_created_ms(before) == meta_created_ms(after));
    assert(!before->deleted_at_ms || after->deleted_at_ms);
    assert(before->generation <= after->generation);
}

/* Makes `after` the known state, which then owns it. */
static void accept_state(struct run *run, struct objects *after)
{
    int64_t newest = run->newest;

    run->used = run->used || !is_same_state(&run->now, after);
    for (size_t i = 0; i < after->n; i++) {
        const struct object *is = after->items[i], *was;

        if (has(&run->now, i, is))
            continue;
        assert(is->revision > run->newest);
        if (is->revision > newest)
            newest = is->revision;
        was = find(&run->now, object_uid(is));
        if (was)
            check_step(was, is);
    }
    objects_release(&run->now);
    run->now = *after;
    run->newest = newest;
}

static bool is_open_queue(const struct object *object)
{
    return object->kind == &kind_queue && object->status &&
           strstr(object->status->text, "\"state\":\"Open\"");
}

/* Controllers may write the status of any object, whatever identity made them do so. */
static void check_outside(const struct objects *before, const struct objects *after)
{
    for (size_t i = 0; i < after->n; i++)
        assert(strcmp(object_namespace(after->items[i]), "default") == 0 ||
               find(before, object_uid(after->items[i])));
    for (size_t i = 0; i < before->n; i++) {
        const struct object *was = before->items[i], *is;

        if (strcmp(object_namespace(was), "default") == 0 || has(after, i, was))
            continue;
        is = find(after, object_uid(was));
        assert(is && is->body == was->body);
        assert(object_deleting(is) == object_deleting(was));
        assert(!is_open_queue(was) || is_open_queue(is));
    }
}

static void check_rights(const struct run *run, const struct api_capture *capture,
                         const struct objects *after)
{
    if (run->sender == SENDER_ADMIN)
        return;
    if (run->sender == SENDER_VIEWER)
        assert(is_same_state(&run->now, after));
    else
        check_outside(&run->now, after);
    assert(run->tells_secret || !capture->body.data || !strstr(capture->body.data, KEPT_DATA));
}

/* What responses say. */

static const json_t *meta_of(const json_t *object, const char *key)
{
    return json_object_get(json_object_get(object, "metadata"), key);
}

static int64_t revision_of(const json_t *object)
{
    const char *text = json_string_value(meta_of(object, "resourceVersion"));

    assert(text);
    return strtoll(text, NULL, 10);
}

static void check_refusal(const struct api_capture *capture)
{
    scoped(json) json_t *status = api_capture_json(capture);
    const char *kind = json_string_value(json_object_get(status, "kind")),
               *message = json_string_value(json_object_get(status, "message"));

    assert(kind && strcmp(kind, "Status") == 0);
    assert(message && *message);
    assert(capture->status != 500 ||
           strstr(message, "failed to create typed patch object") == message);
    assert(json_integer_value(json_object_get(status, "code")) == capture->status);
}

/* Returns the stored object that a response shows; NULL when it shows something else (a Scale has
 * the uid of its job). */
static const struct object *shown_object(const struct run *run, const json_t *shown)
{
    const char *uid = json_string_value(meta_of(shown, "uid")),
               *kind = json_string_value(json_object_get(shown, "kind")),
               *version = json_string_value(json_object_get(shown, "apiVersion"));
    const struct object *object = uid && kind && version ? find(&run->now, uid) : NULL;

    return object && object->kind == kind_by_gvk(version, kind) ? object : NULL;
}

/* Checks that the response to a write shows the stored object, unless it is deleted or newer. */
static void check_shown(struct run *run, const struct api_capture *capture)
{
    scoped(json) json_t *shown = api_capture_json(capture);
    const struct object *object = shown_object(run, shown);
    scoped(json) json_t *stored = NULL;
    const char *key;
    json_t *value;

    if (object)
        snprintf(run->uid, sizeof run->uid, "%s", object_uid(object));
    if (!object || object->revision > revision_of(shown))
        return;
    stored = object_to_json(object);
    json_object_foreach(stored, key, value) assert(json_equal(value, json_object_get(shown, key)));
}

static char *collection(const struct kind *kind, const char *query)
{
    return *kind->group
               ? mem_printf("/apis/%s/%s/%s%s", kind->group, kind->version, kind->plural, query)
               : mem_printf("/api/%s/%s%s", kind->version, kind->plural, query);
}

/* Checks that documents by uid are the stored objects of this kind. */
static void check_complete(const struct run *run, const struct kind *kind, const json_t *by_uid)
{
    size_t n = 0;

    for (size_t i = 0; i < run->now.n; i++) {
        const struct object *object = run->now.items[i];

        if (object->kind != kind)
            continue;

        const json_t *shown = json_object_get(by_uid, object_uid(object));

        assert(shown && revision_of(shown) == object->revision);
        n++;
    }
    assert(json_object_size(by_uid) == n);
}

static void check_list(struct run *run, const struct kind *kind)
{
    scoped_str path = collection(kind, "");
    scoped(capture) struct api_capture capture = {0};
    scoped(json) json_t *seen = json_object(), *list = NULL;
    json_t *object;
    size_t i;

    assert(api_send(&run->fixture, &capture, "GET", path) == 200);
    list = api_capture_json(&capture);
    assert(list);
    json_array_foreach(json_object_get(list, "items"), i, object)
    {
        const char *uid = json_string_value(meta_of(object, "uid"));

        assert(uid && !json_object_get(seen, uid));
        json_object_set(seen, uid, object);
    }
    check_complete(run, kind, seen);
}

static void check_watch(const struct run *run, const struct kind *kind)
{
    scoped(json) json_t *seen = json_object();
    const char *at = run->watches[kind->id].body.data, *stop;

    for (; at && (stop = strchr(at, '\n')); at = stop + 1) {
        scoped(json) json_t *event = json_loadb(at, (size_t)(stop - at), 0, NULL);
        json_t *object = json_object_get(event, "object");
        const char *type = json_string_value(json_object_get(event, "type")),
                   *uid = json_string_value(meta_of(object, "uid"));

        assert(type && uid);
        assert(strcmp(type, "ADDED") == 0 ? !json_object_get(seen, uid)
                                          : json_object_get(seen, uid) != NULL);
        if (strcmp(type, "DELETED") == 0)
            json_object_del(seen, uid);
        else
            json_object_set(seen, uid, object);
    }
    check_complete(run, kind, seen);
}

/* A run. */

static void start_controllers(struct run *run)
{
    const struct node_options node = {.name = "n",
                                      .max_pods = 8,
                                      .cpu_milli = 4000,
                                      .memory_bytes = INT64_C(8) << 30,
                                      .sim = true};
    const struct job_options jobs = {
        .scheduler_name = "volcano", .max_requeue = 15, .local_pods = true};
    const struct flow_options flows = {.host_address = "127.0.0.1"};

    run->cluster = cluster_embedded_new(run->fixture.loop, run->fixture.registry);
    run->node = node_start(run->cluster, &node, NULL);
    assert(run->node);
    run->jobs = job_controller_start(run->cluster, &jobs);
    run->templates = template_controller_start(run->cluster);
    run->flows = flow_controller_start(run->cluster, &flows);
    loop_settle(run->fixture.loop);
}

static void open_watches(struct run *run)
{
    for (size_t i = 0; i < KIND_N; i++) {
        if (!run->named[i])
            continue;

        scoped_str path = collection(kind_by_id(i), "?watch=1");

        assert(api_send(&run->fixture, &run->watches[i], "GET", path) == 200);
    }
}

static void close_watches(struct run *run)
{
    for (size_t i = 0; i < KIND_N; i++)
        api_capture_release(&run->watches[i]);
}

static void start(struct run *run)
{
    static const struct registry_write how = {.unknown = UNKNOWN_ERROR};

    api_fixture_start(&run->fixture, &run->options);
    for (size_t i = 0; i < countof(kept); i++) {
        scoped(json) json_t *doc = json_loads(kept[i], 0, NULL);
        struct error_list errors = {0};

        assert(registry_create(run->fixture.registry, doc, &how, NULL, &errors));
    }
    start_controllers(run);
    run->now = read_everything(run);
    run->newest = store_revision(run->fixture.store);
    for (enum sender i = 0; i < SENDER_N; i++)
        run->identities[i] = identity_with_role(senders[i].name, senders[i].role, &senders[i].ns,
                                                senders[i].ns ? 1 : 0);
}

static void stop(struct run *run)
{
    close_watches(run);
    objects_release(&run->now);
    flow_controller_stop(run->flows);
    template_controller_stop(run->templates);
    job_controller_stop(run->jobs);
    node_stop(run->node);
    loop_settle(run->fixture.loop);
    cluster_embedded_free(run->cluster);
    api_fixture_stop(&run->fixture);
}

static struct run *begin(const char *directory)
{
    struct run *run = directory ? NULL : take(spare);

    if (!run) {
        run = mem_alloc(sizeof *run);
        run->options = (struct api_fixture_options){
            .directory = directory, .objects_max = OBJECTS_MAX, .deletion_protection = true};
        start(run);
    }
    run->sender = SENDER_ADMIN;
    run->uid[0] = '\0';
    return run;
}

static void end(struct run *run)
{
    if (!run->used && !run->options.directory) {
        close_watches(run);
        spare = run;
        return;
    }
    stop(run);
    for (enum sender i = 0; i < SENDER_N; i++)
        identity_unref(run->identities[i]);
    mem_free(run);
}

static bool is_equal(const struct object *a, const struct object *b)
{
    scoped(buf) struct buf first = {0}, second = {0};

    object_write(a, &first);
    object_write(b, &second);
    return strcmp(first.data, second.data) == 0;
}

static void crash(struct run *run)
{
    struct objects before = run->now, after;

    if (!run->options.directory)
        return;
    run->now = (struct objects){0};
    stop(run);
    run->options.lives++;
    api_fixture_start(&run->fixture, &run->options);
    run->now = read_everything(run);
    assert(run->now.n == before.n);
    for (size_t i = 0; i < before.n; i++) {
        const struct object *is = find(&run->now, object_uid(before.items[i]));

        assert(is && is_equal(is, before.items[i]));
    }
    objects_release(&before);
    open_watches(run);
    start_controllers(run);
    after = read_everything(run);
    accept_state(run, &after);
}

/* Returns whether the request is a dry run. Any value counts as one: the server refuses unknown
 * values. */
static bool is_dry(const char *text)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct request_target target;

    if (!request_target_parse(text, arena, &target, NULL))
        return false;
    for (size_t i = 0; i < target.n_pairs; i++)
        if (strcmp(target.keys[i], "dryRun") == 0 && *target.values[i])
            return true;
    return false;
}

static void pass_time(struct run *run, int64_t ms)
{
    struct objects after;

    run->used = true;
    loop_advance(run->fixture.loop, ms);
    after = read_everything(run);
    accept_state(run, &after);
}

/* Returns the body (owned) with the uid in the place of each "@UID@". */
static char *with_uid(const struct run *run, const char *body)
{
    static const char mark[] = "@UID@";
    scoped(buf) struct buf out = {0};
    const char *at;

    while (body && (at = strstr(body, mark))) {
        buf_add(&out, body, (size_t)(at - body));
        buf_printf(&out, "%s", run->uid);
        body = at + sizeof mark - 1;
    }
    buf_printf(&out, "%s", body ? body : "");
    return body ? mem_strdup(out.data ? out.data : "") : NULL;
}

static void send_request(struct run *run, const struct word *word, const char *target,
                         const char *body)
{
    scoped(capture) struct api_capture capture = {0};
    const bool waits = strcmp(word->method, "GET") == 0, looks = waits || is_dry(target);
    scoped_str sent = with_uid(run, body);
    struct objects after;

    api_send(&run->fixture, &capture, word->method, target, .body = sent,
             .content_type = word->content_type, .user_agent = "fuzz/1",
             .identity = run->identities[run->sender]);
    if (!capture.status && waits) /* the request waits for a revision that does not exist yet */
        pass_time(run, PATIENCE_MS);
    assert(capture.status);
    after = read_everything(run);
    if (capture.status >= 400)
        check_refusal(&capture);
    if (capture.status >= 400 || looks)
        assert(is_same_state(&run->now, &after));
    check_rights(run, &capture, &after);
    accept_state(run, &after);
    if (capture.status < 300 && !looks)
        check_shown(run, &capture);
}

static void change_sender(struct run *run, const char *name)
{
    for (enum sender i = 0; i < SENDER_N; i++)
        if (strcmp(senders[i].name, name) == 0)
            run->sender = i;
}

static void line(struct run *run, char *text)
{
    char *save = NULL, *name = strtok_r(text, " ", &save), *target = strtok_r(NULL, " ", &save);

    if (name && strcmp(name, "CRASH") == 0)
        crash(run);
    if (!target)
        return;
    if (strcmp(name, "AS") == 0)
        change_sender(run, target);
    if (strcmp(name, "WAIT") == 0)
        pass_time(run, strtol(target, NULL, 10) % WAIT_MAX_MS);
    for (size_t i = 0; i < countof(words); i++)
        if (strcmp(name, words[i].word) == 0)
            send_request(run, &words[i], target, save && *save ? save : NULL);
}

/* A store on disk is in memory all the same where the machine has a place for that, because a sync
 * to a disk takes longer than everything else. */
static char *new_directory(void)
{
    char *path = mem_printf("%s/fuzz-api-XXXXXX",
                            faccessat(AT_FDCWD, "/dev/shm", W_OK, 0) ? "/tmp" : "/dev/shm");

    assert(mkdtemp(path));
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped_str text =
        mem_printf("%.*s", (int)(size < INPUT_MAX ? size : INPUT_MAX), (const char *)data);
    scoped_str directory = strstr(text, "CRASH") ? new_directory() : NULL;
    struct run *run = begin(directory);
    char *save = NULL;
    size_t lines = 0;

    run->tells_secret = strstr(text, KEPT_DATA) != NULL;
    for (size_t i = 0; i < KIND_N; i++)
        run->named[i] = !kind_by_id(i)->built_in && strstr(text, kind_by_id(i)->plural);
    open_watches(run);
    for (char *at = strtok_r(text, "\n", &save); at && lines < LINES_MAX; lines++) {
        char *next = strtok_r(NULL, "\n", &save);

        line(run, at);
        at = next;
    }
    for (size_t i = 0; i < KIND_N; i++) {
        if (!run->named[i])
            continue;
        check_list(run, kind_by_id(i));
        check_watch(run, kind_by_id(i));
    }
    end(run);
    if (directory)
        file_remove_tree(AT_FDCWD, directory, NULL);
    return 0;
}
