/*
 * FZ-15: checks requests against a simple model. Each line of the input is one request, `WORD
 * TARGET BODY`; the words are in the table below. The requests exercise decoding, defaulting,
 * admission, patching, managed fields, deletion and garbage collection.
 *
 * The model is what a client can observe. It lists every kind before and after a request:
 *   - a request that failed, only read or was a dry run has changed nothing (P-02);
 *   - a changed object has a revision higher than all before (P-03), keeps its identity as long as
 *     its uid is the same, and stays marked for deletion once it is marked (INV-S9);
 *   - the response to a write shows the stored object, unless that has changed since;
 *   - every failure is a Status of type Failure, and none is an internal error;
 *   - the events of watches from the start add up to the stored objects (INV-S6);
 *   - after CRASH everything is as before (INV-S1).
 */
/* covers: reliability.md FZ-15 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/server/message/request_target.h"
#include "api/types/kind.h"
#include "base/file.h"
#include "base/mem.h"
#include "tests/support/api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 64 << 10, LINES_MAX = 32, PATIENCE_MS = 120 * 1000 };

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
/* clang-format on */

/* The items of a list of each kind, as text. */
struct everything {
    char *items[KIND_N];
};

struct run {
    struct api_fixture fixture;
    struct api_fixture_options options;
    struct api_capture watches[KIND_N];
    struct everything now;
    int64_t newest; /* the highest resourceVersion of the objects in `now` */
};

static char *collection(const struct kind *kind, const char *query)
{
    return *kind->group
               ? mem_printf("/apis/%s/%s/%s%s", kind->group, kind->version, kind->plural, query)
               : mem_printf("/api/%s/%s%s", kind->version, kind->plural, query);
}

static void everything_release(struct everything *all)
{
    for (size_t i = 0; i < KIND_N; i++)
        mem_free(all->items[i]);
}

static struct everything read_everything(struct run *run)
{
    struct everything all = {0};

    for (size_t i = 0; i < KIND_N; i++) {
        scoped_str path = collection(kind_by_id(i), "");
        scoped(capture) struct api_capture capture = {0};

        if (kind_by_id(i)->built_in)
            continue;
        assert(api_send(&run->fixture, &capture, "GET", path) == 200);

        const char *items = strstr(capture.body.data, "\"items\":");

        assert(items);
        all.items[i] = mem_strdup(items);
    }
    return all;
}

static bool is_same_state(const struct everything *a, const struct everything *b)
{
    for (size_t i = 0; i < KIND_N; i++)
        if (a->items[i] && strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

/* Returns the objects of one kind by their uid (owned). */
static json_t *by_uid(const char *items)
{
    scoped_str text = mem_printf("{%s", items);
    scoped(json) json_t *list = json_loads(text, 0, NULL);
    json_t *objects = json_object(), *object;
    size_t i;

    assert(list);
    json_array_foreach(json_object_get(list, "items"), i, object)
    {
        const char *uid =
            json_string_value(json_object_get(json_object_get(object, "metadata"), "uid"));

        assert(uid && !json_object_get(objects, uid));
        json_object_set(objects, uid, object);
    }
    return objects;
}

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

static void check_step(const json_t *before, const json_t *after)
{
    static const char *const fixed[] = {"name", "namespace", "uid", "creationTimestamp"};
    const json_t *marked = meta_of(before, "deletionTimestamp");

    for (size_t i = 0; i < countof(fixed); i++) {
        const json_t *was = meta_of(before, fixed[i]), *is = meta_of(after, fixed[i]);

        assert(was == is || json_equal(was, is));
    }
    assert(!marked || meta_of(after, "deletionTimestamp"));
    assert(json_integer_value(meta_of(before, "generation")) <=
           json_integer_value(meta_of(after, "generation")));
}

static void check_kind(const char *before, const char *after, int64_t newest, int64_t *out_newest)
{
    scoped(json) json_t *were = by_uid(before), *are = by_uid(after);
    const char *uid;
    json_t *object;

    json_object_foreach(are, uid, object)
    {
        const json_t *was = json_object_get(were, uid);

        if (was && json_equal(was, object))
            continue;
        assert(revision_of(object) > newest);
        if (revision_of(object) > *out_newest)
            *out_newest = revision_of(object);
        if (was)
            check_step(was, object);
    }
}

/* Makes `after` (consumed) the known state. */
static void accept_state(struct run *run, struct everything *after)
{
    int64_t newest = run->newest;

    for (size_t i = 0; i < KIND_N; i++)
        if (after->items[i] && strcmp(run->now.items[i], after->items[i]) != 0)
            check_kind(run->now.items[i], after->items[i], run->newest, &newest);
    everything_release(&run->now);
    run->now = *after;
    run->newest = newest;
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

/* Returns the present version of the object with this uid (owned); NULL when there is none of this
 * kind (a Scale has the uid of its job). */
static json_t *listed(const struct run *run, const struct kind *kind, const json_t *shown)
{
    const char *uid = json_string_value(meta_of(shown, "uid")),
               *name = json_string_value(json_object_get(shown, "kind")),
               *version = json_string_value(json_object_get(shown, "apiVersion"));

    if (!run->now.items[kind->id] || !uid || !name || strcmp(name, kind->name) != 0 || !version ||
        strcmp(version, kind_api_version(kind)) != 0)
        return NULL;

    scoped(json) json_t *objects = by_uid(run->now.items[kind->id]);

    return json_incref(json_object_get(objects, uid));
}

/* Checks that the response to a write shows the stored object, unless it is deleted or newer. */
static void check_shown(const struct run *run, const struct api_capture *capture)
{
    scoped(json) json_t *shown = api_capture_json(capture);

    for (size_t i = 0; i < KIND_N; i++) {
        scoped(json) json_t *object = listed(run, kind_by_id(i), shown);
        const char *key;
        json_t *value;

        if (object && revision_of(object) > revision_of(shown))
            continue;
        json_object_foreach(object, key, value)
            assert(json_equal(value, json_object_get(shown, key)));
    }
}

static void begin(struct run *run)
{
    api_fixture_start(&run->fixture, &run->options);
    for (size_t i = 0; i < KIND_N; i++) {
        scoped_str path = collection(kind_by_id(i), "?watch=1");

        if (!kind_by_id(i)->built_in)
            assert(api_send(&run->fixture, &run->watches[i], "GET", path) == 200);
    }
}

static void end(struct run *run)
{
    for (size_t i = 0; i < KIND_N; i++)
        api_capture_release(&run->watches[i]);
    api_fixture_stop(&run->fixture);
}

/* Returns the objects that result from all events of the watch of a kind (owned). */
static json_t *watched_objects(const struct api_capture *watch)
{
    json_t *objects = json_object();
    const char *at = watch->body.data, *stop;

    for (; at && (stop = strchr(at, '\n')); at = stop + 1) {
        scoped(json) json_t *event = json_loadb(at, (size_t)(stop - at), 0, NULL);
        json_t *object = json_object_get(event, "object");
        const char *type = json_string_value(json_object_get(event, "type")),
                   *uid = json_string_value(meta_of(object, "uid"));

        assert(type && uid);
        assert(strcmp(type, "ADDED") == 0 ? !json_object_get(objects, uid)
                                          : json_object_get(objects, uid) != NULL);
        if (strcmp(type, "DELETED") == 0)
            json_object_del(objects, uid);
        else
            json_object_set(objects, uid, object);
    }
    return objects;
}

static void check_watches(const struct run *run)
{
    for (size_t i = 0; i < KIND_N; i++) {
        if (!run->now.items[i])
            continue;

        scoped(json) json_t *seen = watched_objects(&run->watches[i]),
                            *there = by_uid(run->now.items[i]);
        const char *uid;
        json_t *object;

        assert(json_object_size(seen) == json_object_size(there));
        json_object_foreach(there, uid, object)
            assert(revision_of(object) == revision_of(json_object_get(seen, uid)));
    }
}

static void crash(struct run *run)
{
    struct everything after;

    if (!run->options.directory)
        return;
    end(run);
    begin(run);
    after = read_everything(run);
    assert(is_same_state(&run->now, &after));
    everything_release(&after);
}

/* Any value counts as a dry run: the server refuses unknown values. */
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

static void send_request(struct run *run, const struct word *word, const char *target,
                         const char *body)
{
    scoped(capture) struct api_capture capture = {0};
    const bool waits = strcmp(word->method, "GET") == 0, looks = waits || is_dry(target);
    struct everything after;

    api_send(&run->fixture, &capture, word->method, target, .body = body,
             .content_type = word->content_type, .user_agent = "fuzz/1");
    if (!capture.status && waits) { /* the request waits for a revision that does not exist yet */
        loop_advance(run->fixture.loop, PATIENCE_MS);
        after = read_everything(run);
        accept_state(run, &after);
    }
    assert(capture.status);
    after = read_everything(run);
    if (capture.status >= 400)
        check_refusal(&capture);
    if (capture.status >= 400 || looks)
        assert(is_same_state(&run->now, &after));
    accept_state(run, &after);
    if (capture.status < 300 && !looks)
        check_shown(run, &capture);
}

static void line(struct run *run, char *text)
{
    char *save = NULL, *name = strtok_r(text, " ", &save), *target = strtok_r(NULL, " ", &save);

    if (name && strcmp(name, "CRASH") == 0)
        crash(run);
    for (size_t i = 0; target && i < countof(words); i++)
        if (strcmp(name, words[i].word) == 0)
            send_request(run, &words[i], target, save && *save ? save : NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped_str text =
        mem_printf("%.*s", (int)(size < INPUT_MAX ? size : INPUT_MAX), (const char *)data);
    char directory[] = "/tmp/fuzz-api-XXXXXX", *save = NULL;
    const bool durable = strstr(text, "CRASH");
    struct run run = {.options.directory = durable ? mkdtemp(directory) : NULL};
    size_t lines = 0;

    begin(&run);
    run.now = read_everything(&run);
    for (char *at = strtok_r(text, "\n", &save); at && lines < LINES_MAX; lines++) {
        char *next = strtok_r(NULL, "\n", &save);

        line(&run, at);
        at = next;
    }
    check_watches(&run);
    everything_release(&run.now);
    end(&run);
    if (durable)
        file_remove_tree(AT_FDCWD, directory, NULL);
    return 0;
}
