/*
 * Lists and watches a collection, and recovers when either ends.
 *
 * Either one call is in progress or the timer until the next one runs. A failed list, and a watch
 * that cannot be resumed, wait longer each time. A watch that ended normally is resumed at once.
 */
#include "api/client/reflector.h"

#include <stdio.h>
#include <string.h>

#include "api/client/resource_path.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"

#define PAGE_LIMIT "500"

enum {
    WATCH_MIN_S = 300,        /* plus up to as much again at random, so that many watches do not end
                        * together */
    WATCH_SILENCE_MS = 30000, /* time after the watch's timeout at which the peer counts as
                                  * dead */
    STREAM_SILENCE_MS = 30000,   /* a server that does not know streamed lists never ends one */
    WATCH_SHORT_NS = 1000000000, /* a watch without events that ends sooner counts as failed */
};
static const int64_t internal_errors_ns = 60 * INT64_C(1000000000);

#define INITIAL_EVENTS_END "k8s.io/initial-events-end"

static void list(struct reflector *r);
static void stream(struct reflector *r);
static void watch(struct reflector *r);

static void set(char **text, const char *value)
{
    char *copy = mem_strdup(value);

    mem_free(*text);
    *text = copy;
}

static void call(struct reflector *r, struct buf *target,
                 void (*data)(struct remote_call *, const char *, size_t),
                 void (*done)(struct remote_call *), int64_t limit_ms)
{
    mem_free(r->target);
    r->target = buf_take(target);
    r->call.target = r->target;
    r->call.data = data;
    r->call.done = done;
    r->call.limit_ms = limit_ms;
    remote_start(r->remote, &r->call);
}

static void on_timer(struct timer *timer)
{
    struct reflector *r = container_of(timer, struct reflector, timer);

    if (r->listing)
        list(r);
    else
        watch(r);
}

static void again_in(struct reflector *r, int64_t ms)
{
    r->timer.fire = on_timer;
    timer_start(remote_loop(r->remote), &r->timer, ms);
}

static int64_t longer_each_time(struct reflector *r)
{
    return backoff_next_ms(&r->backoff, loop_clock(remote_loop(r->remote)));
}

/* Returns the delay of the next list: none the first time, since a lagging watch is no error. */
static int64_t soon(struct reflector *r)
{
    int64_t wait_ms = longer_each_time(r);

    return r->backoff.failures == 1 ? 0 : wait_ms;
}

/* Reports an error to the owner, which may stop the reflector. Returns whether to continue. */
static bool tell(struct reflector *r, const struct error *err)
{
    if (r->ops->failed)
        r->ops->failed(r, err);
    return r->started;
}

static void begin_list(struct reflector *r)
{
    r->listing = true;
    set(&r->page, NULL);
}

static const char *member(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(json_object_get(object, "metadata"), key));
}

static void list_failed(struct reflector *r, const struct error *err)
{
    bool paging = r->page != NULL, gone = err->code == ERR_GONE;
    /* The revision is ahead of this server, or the list started too long ago. */
    bool unknown = gone || err->code == ERR_TIMEOUT;
    int64_t wait_ms = err->code == ERR_NOT_FOUND ? REFLECTOR_NOT_INSTALLED_MS
                      : gone                     ? soon(r)
                                                 : longer_each_time(r);

    begin_list(r);
    r->newest = r->newest || unknown;
    r->whole = paging && gone;
    if (tell(r, err))
        again_in(r, wait_ms);
}

static bool take_page(struct reflector *r, json_t *page)
{
    json_t *items = json_object_get(page, "items"), *item;
    size_t i;

    json_array_foreach(items, i, item)
    {
        r->ops->present(r, item);
        if (!r->started)
            return false;
    }
    return true;
}

/* Tells that the list is complete. Returns whether to continue. */
static bool list_ended(struct reflector *r, const json_t *list)
{
    const char *revision = member(list, "resourceVersion");

    set(&r->revision, revision ? revision : "");
    set(&r->page, NULL);
    r->listing = r->newest = r->whole = false;
    r->synced = true;
    r->ops->listed(r);
    return r->started;
}

static void on_page(struct remote_call *done)
{
    struct reflector *r = container_of(done, struct reflector, call);
    scoped(json) json_t *page = NULL;
    struct error err = {0};
    const char *next;

    if (!remote_ok(done, &err)) {
        list_failed(r, &err);
        return;
    }
    page = json_loadb(done->text.data ? done->text.data : "", done->text.len, 0, NULL);
    buf_release(&done->text);
    if (!json_is_object(page) || !json_object_get(page, "metadata")) {
        error_set(&err, ERR_INTERNAL, "", "the answer to a list is no list");
        list_failed(r, &err);
        return;
    }
    if (!r->page)
        r->ops->begun(r);
    if (!r->started || !take_page(r, page))
        return;
    next = member(page, "continue");
    if (!next || !*next) {
        if (list_ended(r, page))
            watch(r);
        return;
    }
    set(&r->page, next);
    list(r);
}

/* Starts a list. The first may return any state, a later one none older than was seen. */
static void list(struct reflector *r)
{
    const char *revision = r->newest ? "" : r->revision ? r->revision : "0";
    bool paged = !r->whole && (!*revision || strcmp(revision, "0") == 0 || r->page);
    scoped(buf) struct buf target = {0};

    if (!*revision && !r->page && !r->whole && r->streams && *r->streams) {
        stream(r);
        return;
    }
    buf_str(&target, r->collection);
    resource_write_query("limit", paged ? PAGE_LIMIT : NULL, &target);
    resource_write_query("continue", r->page, &target);
    resource_write_query("resourceVersion", r->page ? NULL : revision, &target);
    call(r, &target, NULL, on_page, REMOTE_LIMIT_MS);
}

enum { EVENT_ADDED, EVENT_MODIFIED, EVENT_DELETED, EVENT_BOOKMARK, EVENT_ERROR, EVENT_N };

static int event_of(const char *type)
{
    static const char *const types[EVENT_N] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};

    for (int i = 0; type && i < EVENT_N; i++)
        if (strcmp(types[i], type) == 0)
            return i;
    return EVENT_N;
}

static void take_refusal(struct reflector *r, const json_t *status)
{
    const char *message = json_string_value(json_object_get(status, "message"));
    json_int_t code = json_integer_value(json_object_get(status, "code"));

    error_set(&r->refusal,
              code == 410   ? ERR_GONE
              : code == 429 ? ERR_TOO_MANY
                            : ERR_INTERNAL,
              "", "%s", message ? message : "the watch failed");
}

/* The server does not take streamed lists, or does not know them. */
static void forgo_streams(struct reflector *r)
{
    *r->streams = false;
    r->streaming = false;
    timer_stop(remote_loop(r->remote), &r->timer);
    begin_list(r);
    list(r);
}

static void on_stream_silent(struct timer *timer)
{
    struct reflector *r = container_of(timer, struct reflector, timer);

    remote_cancel(&r->call);
    forgo_streams(r);
}

static void await_more(struct reflector *r)
{
    r->timer.fire = on_stream_silent;
    timer_start(remote_loop(r->remote), &r->timer, STREAM_SILENCE_MS);
}

/* Handles an event of a watch that begins with all objects. False when the watch has ended. */
static bool take_initial(struct reflector *r, int type, json_t *object)
{
    const json_t *annotations = json_object_get(json_object_get(object, "metadata"), "annotations");
    const char *end = json_string_value(json_object_get(annotations, INITIAL_EVENTS_END));

    if (type == EVENT_ADDED) {
        await_more(r);
        r->ops->present(r, object);
        return r->started;
    }
    if (type != EVENT_BOOKMARK)
        return error_set(&r->refusal, ERR_INVALID, "", "a streamed list has what is no list");
    if (!end || strcmp(end, "true") != 0)
        return true;
    r->streaming = false;
    timer_stop(remote_loop(r->remote), &r->timer);
    return list_ended(r, object);
}

/* Handles one event. False when the watch has ended. */
static bool take_event(void *ctx, const char *text, size_t len)
{
    struct reflector *r = ctx;
    scoped(json) json_t *event = json_loadb(text, len, 0, NULL);
    int type = event_of(json_string_value(json_object_get(event, "type")));
    json_t *object = json_object_get(event, "object");
    const char *revision = member(object, "resourceVersion");

    if (type == EVENT_N || !json_is_object(object))
        return error_set(&r->refusal, ERR_BAD_REQUEST, "", "the watch says what is no event");
    if (type == EVENT_ERROR) {
        take_refusal(r, object);
        return false;
    }
    r->watch_events++;
    if (r->streaming)
        return take_initial(r, type, object);
    if (type == EVENT_DELETED)
        r->ops->vanished(r, object);
    else if (type != EVENT_BOOKMARK)
        r->ops->present(r, object);
    if (!r->started)
        return false;
    if (revision && *revision)
        set(&r->revision, revision);
    return true;
}

/* Decides how to continue after a failed watch: resume it, or list again. */
static void watch_failed(struct reflector *r, const struct error *err)
{
    int64_t now_ns = loop_mono_ns(remote_loop(r->remote)), wait_ms;
    bool unreachable = err->code == ERR_UNAVAILABLE || err->code == ERR_TOO_MANY;
    bool internal = err->code == ERR_INTERNAL;

    if (internal && !r->troubled_since_ns)
        r->troubled_since_ns = now_ns;
    if (!unreachable && !(internal && now_ns - r->troubled_since_ns < internal_errors_ns)) {
        r->troubled_since_ns = 0;
        begin_list(r);
    }
    r->newest = r->newest || err->code == ERR_GONE;
    wait_ms = err->code == ERR_GONE ? soon(r) : longer_each_time(r);
    if (tell(r, err))
        again_in(r, wait_ms);
}

/* Returns whether the server will not stream lists. One whose etcd cannot tell how far a watch is
 * says so by an error in the watch. */
static bool is_no_streamer(const struct reflector *r, const struct error *err)
{
    bool told = r->refusal.code == ERR_INTERNAL || r->refusal.code == ERR_INVALID;

    return told || err->code == ERR_INVALID || err->code == ERR_BAD_REQUEST;
}

/* A streamed list ended too early. What was known before stays. */
static void stream_failed(struct reflector *r, const struct error *err)
{
    r->streaming = false;
    timer_stop(remote_loop(r->remote), &r->timer);
    if (is_no_streamer(r, err))
        forgo_streams(r);
    else
        list_failed(r, err);
}

static void on_watch_done(struct remote_call *done)
{
    struct reflector *r = container_of(done, struct reflector, call);
    int64_t lasted_ns = loop_mono_ns(remote_loop(r->remote)) - r->watch_began_ns;
    struct error err = {0};

    if (r->refusal.code != ERR_NONE)
        err = r->refusal;
    else
        remote_ok(done, &err);
    if (r->streaming) {
        if (err.code == ERR_NONE)
            error_set(&err, ERR_UNAVAILABLE, "", "a streamed list ended before its end");
        stream_failed(r, &err);
        return;
    }
    if (err.code == ERR_TIMEOUT && !done->status) /* the peer is dead: use a new connection */
        err.code = ERR_UNAVAILABLE;
    if (err.code != ERR_NONE) {
        watch_failed(r, &err);
        return;
    }
    if (r->watch_events)
        r->troubled_since_ns = 0;
    again_in(r, !r->watch_events && lasted_ns < WATCH_SHORT_NS ? longer_each_time(r) : 0);
}

static void on_events(struct remote_call *call, const char *bytes, size_t len)
{
    struct reflector *r = container_of(call, struct reflector, call);

    if (documents_take(&r->events, bytes, len, take_event, r, &r->refusal) || !r->started)
        return;
    remote_cancel(call);
    on_watch_done(call);
}

static void watch_with(struct reflector *r, const char *key, const char *value)
{
    struct loop *loop = remote_loop(r->remote);
    int seconds = WATCH_MIN_S + (int)(clock_random(loop_clock(loop)) % (WATCH_MIN_S + 1));
    scoped(buf) struct buf target = {0};
    char text[16];

    snprintf(text, sizeof text, "%d", seconds);
    buf_str(&target, r->collection);
    resource_write_query("watch", "true", &target);
    resource_write_query("allowWatchBookmarks", "true", &target);
    resource_write_query(key, value, &target);
    if (r->streaming)
        resource_write_query("resourceVersionMatch", "NotOlderThan", &target);
    resource_write_query("timeoutSeconds", text, &target);
    documents_reset(&r->events);
    r->refusal = (struct error){0};
    r->watch_events = 0;
    r->watch_began_ns = loop_mono_ns(loop);
    call(r, &target, on_events, on_watch_done, (int64_t)seconds * 1000 + WATCH_SILENCE_MS);
}

static void watch(struct reflector *r)
{
    watch_with(r, "resourceVersion", r->revision);
}

static void stream(struct reflector *r)
{
    r->ops->begun(r);
    if (!r->started)
        return;
    r->streaming = true;
    await_more(r);
    watch_with(r, "sendInitialEvents", "true");
}

void reflector_start(struct reflector *r)
{
    r->backoff = BACKOFF_USUAL;
    r->events.bytes_max = r->event_bytes_max ? r->event_bytes_max : REFLECTOR_EVENT_BYTES_MAX;
    r->started = true;
    r->newest = r->from_newest;
    begin_list(r);
    list(r);
}

void reflector_stop(struct reflector *r)
{
    if (!r->started)
        return;
    r->started = false;
    timer_stop(remote_loop(r->remote), &r->timer);
    remote_call_release(&r->call);
    documents_release(&r->events);
    mem_free(take(r->target));
    mem_free(take(r->collection));
    mem_free(take(r->revision));
    mem_free(take(r->page));
}
