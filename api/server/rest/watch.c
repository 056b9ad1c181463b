/*
 * Watches: the present state as ADDED events if the client requests it, then every durable change,
 * one JSON document a line, or one protobuf message behind its length.
 *
 *   request ─(everything accepted so far is durable)─► snapshot, piece by piece ─► changes ─► end
 *
 * Data that clients do not read is bounded for each watch and for all together (L-27). A watch over
 * its own bound ends; when all are over theirs, the watches furthest behind end. The client gets 410
 * and lists again. Its unread events are dropped; a connection that holds more than that is closed.
 *
 * The snapshot is taken when the request arrives; the changes continue from its revision. An object
 * that begins to match the selectors is reported as ADDED, one that ceases to match as DELETED with
 * its old content. Ref: spec/kube-api.md 8.5.
 */
#include <assert.h>
#include <string.h>

#include "api/server/message/protobuf.h"
#include "api/server/rest/render.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    BACKLOG_MAX = 4 << 20, /* a watch with more unsent bytes is ended (L-27) */
    BOOKMARK_MS = 60000,
    TIMEOUT_MIN_S = 1800, /* a watch without timeoutSeconds lasts 30 to 60 minutes, at random */
    TIMEOUT_SPREAD_S = 1800,
    PIECE_BYTES = 64 << 10,
    FILTER_BYTES = 256, /* enough for the filters of most watches */
};

/* How far a watch has come. */
enum watch_state {
    WATCH_NEW,      /* the response has not begun */
    WATCH_SNAPSHOT, /* objects of the snapshot are being sent */
    WATCH_CHANGES,  /* `source` passes on the changes */
    WATCH_ENDED,    /* the next run sends the last event, if there is one, and ends the response */
    WATCH_STATE_N
};

static const unsigned watch_edges[WATCH_STATE_N] = {
    [WATCH_NEW] = 1u << WATCH_SNAPSHOT,
    [WATCH_SNAPSHOT] = 1u << WATCH_CHANGES | 1u << WATCH_ENDED,
    [WATCH_CHANGES] = 1u << WATCH_ENDED,
};

struct watch {
    struct api_stream stream;
    enum watch_state state;
    struct arena *arena; /* owns the filter's strings */
    struct filter filter;
    struct render render;
    char *ns; /* namespace that is watched; NULL = all */
    struct store *store;
    struct store_watch *source;
    struct timer deadline, bookmark;
    struct object **snapshot; /* the objects at the start, [n_snapshot] references; those before
                               * `next` are sent */
    size_t n_snapshot, cap, next;
    int64_t since, bookmarked; /* revisions: where changes begin; of the last bookmark */
    bool columns_sent, bookmarks, ends_initial;
    bool expired;            /* the time of the watch is over: it ends behind the snapshot */
    bool aborts;             /* the connection is closed, and unread data is dropped */
    struct error *end_error; /* sent as an ERROR event at the end; NULL */
    size_t unread;           /* the watch's part of api.unread_bytes */
    LIST_ENTRY(watch) all;   /* element of api.watches until the watch has ended */
};

static void set_state(struct watch *watch, enum watch_state to)
{
    assert(watch_edges[watch->state] >> to & 1);
    watch->state = to;
}

static const char *const change_names[] = {
    [STORE_ADDED] = "ADDED", [STORE_MODIFIED] = "MODIFIED", [STORE_DELETED] = "DELETED"};

static struct watch *watch_of(struct api_stream *stream)
{
    return container_of(stream, struct watch, stream);
}

/* Takes a watch out of the account of unread data. */
static void leave_account(struct watch *watch)
{
    if (!watch->all.le_prev)
        return;
    LIST_REMOVE(watch, all);
    watch->all.le_prev = NULL;
    watch->stream.api->unread_bytes -= watch->unread;
}

static void release(struct api_stream *stream)
{
    struct watch *watch = watch_of(stream);

    leave_account(watch);
    store_watch_close(watch->source);
    timer_stop(stream->api->loop, &watch->deadline);
    timer_stop(stream->api->loop, &watch->bookmark);
    for (; watch->next < watch->n_snapshot; watch->next++)
        object_unref(watch->snapshot[watch->next]);
    mem_free(watch->snapshot);
    filter_release(&watch->filter);
    arena_free(watch->arena);
    mem_free(watch->end_error);
    mem_free(watch->ns);
    mem_free(watch);
}

static void add_event(const struct watch *watch, const char *type, const struct buf *json,
                      struct buf *out)
{
    if (watch->render.form == MEDIA_PROTOBUF) {
        protobuf_watch_event(type, json->data, json->len, out);
        return;
    }
    buf_printf(out, "{\"type\":\"%s\",\"object\":", type);
    buf_add(out, json->data, json->len);
    buf_str(out, "}\n");
}

static void send_bytes(struct watch *watch, const struct buf *bytes)
{
    watch->stream.response->data(watch->stream.response, bytes->data, bytes->len);
}

static void send_blob(struct watch *watch, struct blob *event)
{
    struct api_response *response = watch->stream.response;

    if (response->blob)
        response->blob(response, event);
    else
        response->data(response, event->text, event->len);
}

static void add_object(struct watch *watch, enum store_change change, const struct object *object,
                       struct buf *out)
{
    scoped(buf) struct buf text = {0};

    watch->render.table.now_ms = loop_wall_ms(watch->stream.api->loop);
    render_object(&watch->render, object, watch->columns_sent ? TABLE_NO_COLUMNS : TABLE_COLUMNS,
                  &text);
    watch->columns_sent = true;
    add_event(watch, change_names[change], &text, out);
}

/* Returns a copy of an old version with the revision of the change after which it no longer
 * matches. */
static struct object *with_revision(const struct object *old, int64_t revision)
{
    struct object *last = object_with_status(old, blob_ref(old->status));

    last->revision = revision;
    return last;
}

static struct blob *encode_event(struct watch *watch, enum store_change change,
                                 const struct object *object, int64_t revision)
{
    scoped(object) struct object *shown =
        object->revision == revision ? object_ref(object) : with_revision(object, revision);
    struct buf text = {0};

    add_object(watch, change, shown, &text);
    return blob_from_buf(&text);
}

/* Sends an event. Watches of the same form share its encoded bytes; only the first Table of a
 * watch, which has the column definitions, is encoded for that watch alone. */
static void send_object(struct watch *watch, enum store_change change, const struct object *object,
                        int64_t revision)
{
    struct watch_event_cache *cache = watch->stream.api->event_cache;
    const struct render *render = &watch->render;
    const struct watch_event_key key = {object,
                                        revision,
                                        change,
                                        render->form,
                                        render->table.include,
                                        render->alias,
                                        render->table.version};
    bool shared = render->form != MEDIA_TABLE || watch->columns_sent;
    struct blob *cached = shared ? watch_event_cache_find(cache, &key) : NULL;
    scoped(blob) struct blob *event =
        cached ? blob_ref(cached) : encode_event(watch, change, object, revision);

    if (shared && !cached)
        watch_event_cache_add(cache, &key, event);
    send_blob(watch, event);
}

enum bookmark { BOOKMARK_PROGRESS, BOOKMARK_INITIAL_END };

static void add_bookmark(struct watch *watch, int64_t revision, enum bookmark kind, struct buf *out)
{
    scoped(buf) struct buf text = {0}, version = {0};
    struct jsonw w = jsonw_to(&text);
    char number[24];

    jsonw_open(&w);
    jsonw_member_str(&w, "kind", watch->render.kind->name);
    render_api_version(&watch->render, &version);
    jsonw_member_str(&w, "apiVersion", version.data);
    jsonw_member_open(&w, "metadata");
    snprintf(number, sizeof number, "%lld", (long long)revision);
    jsonw_member_str(&w, "resourceVersion", number);
    jsonw_member_raw(&w, "creationTimestamp", "null", 4);
    if (kind == BOOKMARK_INITIAL_END) {
        jsonw_member_open(&w, "annotations");
        jsonw_member_str(&w, "k8s.io/initial-events-end", "true");
        jsonw_close(&w);
    }
    jsonw_close(&w);
    jsonw_close(&w);
    watch->bookmarked = revision;
    add_event(watch, "BOOKMARK", &text, out);
}

static void send_bookmark(struct watch *watch)
{
    int64_t revision = store_durable_revision(watch->store);
    scoped(buf) struct buf event = {0};

    if (!watch->source || revision <= watch->bookmarked || revision < watch->since)
        return;
    add_bookmark(watch, revision, BOOKMARK_PROGRESS, &event);
    send_bytes(watch, &event);
}

static void send_error(struct watch *watch, const struct error *err)
{
    scoped(buf) struct buf text = {0}, event = {0};

    status_write_error(err, &(struct status_subject){0}, &text);
    add_event(watch, "ERROR", &text, &event);
    send_bytes(watch, &event);
}

static size_t backlog(const struct watch *watch)
{
    return watch->stream.response->backlog(watch->stream.response);
}

/* Ends a watch whose client does not read, and drops its events that are not being sent yet. The
 * store closes the source of the watch that it is just telling. */
static void end_unread(struct watch *watch, const struct watch *told, const char *whose,
                       size_t bytes)
{
    struct api_response *response = watch->stream.response;

    leave_account(watch);
    if (watch != told)
        store_watch_close(watch->source);
    watch->source = NULL;
    set_state(watch, WATCH_ENDED);
    watch->end_error = mem_alloc(sizeof *watch->end_error);
    error_set(watch->end_error, ERR_GONE, "",
              "the watch was read too slowly: %zu bytes%s were waiting; list again", bytes, whose);
    if (response->discard)
        response->discard(response);
    watch->stream.awaits_drain = false;
    loop_post(watch->stream.api->loop, &watch->stream.task);
}

/* Looks at a watch again. */
static void account(struct watch *watch)
{
    struct api *api = watch->stream.api;
    size_t now = backlog(watch);

    api->unread_bytes += now - watch->unread;
    watch->unread = now;
}

static struct watch *furthest_behind(const struct api *api)
{
    struct watch *most = NULL, *at;

    LIST_FOREACH(at, &api->watches, all)
    if (!most || at->unread > most->unread)
        most = at;
    return most;
}

/* Ends the watches furthest behind until the unread data of all is well below its bound. What was
 * read meanwhile is noticed first. */
static void shed(struct api *api, const struct watch *told)
{
    size_t max = api->traffic.limits.unread_bytes;
    size_t total;
    struct watch *at;

    LIST_FOREACH(at, &api->watches, all)
    account(at);
    total = api->unread_bytes;
    if (total <= max)
        return;
    log_warn("watches end: too much data is unread", kv_int("bytes", (int64_t)total));
    while (api->unread_bytes > max / 4 * 3) {
        at = furthest_behind(api);
        end_unread(at, told, " of all watches", total);
        at->aborts = backlog(at) > BACKLOG_LOW;
    }
}

/* Keeps the bounds after data was added. `told`: the store is telling the watch. */
static void keep_bounds(struct watch *watch, const struct watch *told)
{
    struct api *api = watch->stream.api;

    account(watch);
    if (told && watch->unread > BACKLOG_MAX)
        end_unread(watch, told, "", watch->unread);
    else if (api->unread_bytes > api->traffic.limits.unread_bytes)
        shed(api, told);
}

static bool on_change(void *ctx, enum store_change change, const struct object *old,
                      const struct object *object)
{
    struct watch *watch = ctx;
    bool matches = filter_matches(&watch->filter, object);
    bool matched = old && change == STORE_MODIFIED && filter_matches(&watch->filter, old);

    if (change == STORE_MODIFIED && matches && !matched)
        send_object(watch, STORE_ADDED, object, object->revision);
    else if (matches)
        send_object(watch, change, object, object->revision);
    else if (matched)
        send_object(watch, STORE_DELETED, old, object->revision);
    else
        return true;
    keep_bounds(watch, watch);
    return watch->state != WATCH_ENDED;
}

static void open_source(struct watch *watch)
{
    const struct store_watch_options options = {
        .kind = watch->render.kind,
        .ns = watch->ns,
        .since_revision = watch->since,
        .changed = on_change,
        .ctx = watch,
    };
    struct error err = {0};

    watch->source = store_watch_open(watch->store, &options, &err);
    set_state(watch, watch->source ? WATCH_CHANGES : WATCH_ENDED);
    if (watch->source)
        return;
    watch->end_error = mem_alloc(sizeof *watch->end_error);
    *watch->end_error = err;
}

/* Whether an object fills a piece alone. It is then sent like a change, so that watches which begin
 * at the same time share its bytes. */
static bool is_large(const struct object *object)
{
    return object->body->len + (object->status ? object->status->len : 0) > PIECE_BYTES;
}

static void send_snapshot(struct watch *watch)
{
    scoped(buf) struct buf piece = {0};
    bool alone = false;

    while (watch->next < watch->n_snapshot && piece.len < PIECE_BYTES && !alone) {
        scoped(object) struct object *object = watch->snapshot[watch->next];

        alone = is_large(object);
        if (alone && piece.len) { /* it is sent with the next piece */
            take(object);
            break;
        }
        watch->next++;
        if (alone)
            send_object(watch, STORE_ADDED, object, object->revision);
        else
            add_object(watch, STORE_ADDED, object, &piece);
    }
    if (watch->next == watch->n_snapshot && watch->ends_initial) {
        watch->ends_initial = false;
        add_bookmark(watch, watch->since, BOOKMARK_INITIAL_END, &piece);
    }
    if (piece.len)
        send_bytes(watch, &piece);
    if (piece.len || alone)
        keep_bounds(watch, NULL);
}

static void run(struct api_stream *stream)
{
    struct watch *watch = watch_of(stream);

    if (watch->state == WATCH_NEW) {
        set_state(watch, WATCH_SNAPSHOT);
        LIST_INSERT_HEAD(&stream->api->watches, watch, all);
        stream->response->head(stream->response, 200,
                               watch->render.form == MEDIA_PROTOBUF ? PROTOBUF_TYPE ";stream=watch"
                                                                    : "application/json",
                               NULL, 0);
    }
    if (watch->state == WATCH_SNAPSHOT) {
        send_snapshot(watch);
        if (watch->state == WATCH_ENDED)
            return; /* the next run ends the response */
        if (watch->next < watch->n_snapshot)
            stream_continue(stream);
        else if (watch->expired)
            set_state(watch, WATCH_ENDED);
        else
            open_source(watch);
    }
    if (watch->state != WATCH_ENDED)
        return;
    if (watch->aborts) {
        stream_abort(stream);
        return;
    }
    if (watch->end_error)
        send_error(watch, watch->end_error);
    stream_end(stream);
}

static const struct stream_ops watch_ops = {run, release, .long_running = true};

static void on_deadline(struct timer *timer)
{
    struct watch *watch = container_of(timer, struct watch, deadline);

    watch->expired = true;
    if (watch->state < WATCH_CHANGES)
        return;
    if (watch->bookmarks)
        send_bookmark(watch);
    stream_end(&watch->stream); /* closes the source, too */
}

static void on_bookmark(struct timer *timer)
{
    struct watch *watch = container_of(timer, struct watch, bookmark);

    send_bookmark(watch);
    timer_start(watch->stream.api->loop, timer, BOOKMARK_MS);
}

static void take_reference(void *arg, const struct object *object)
{
    struct watch *watch = arg;

    if (!filter_matches(&watch->filter, object))
        return;
    mem_grow(watch->snapshot, watch->n_snapshot, watch->cap);
    watch->snapshot[watch->n_snapshot++] = object_ref(object);
}

/* Reads whether the watch starts with the present state, and whether a bookmark marks its end. */
static bool parse_initial(const struct api_call *call, bool *out, bool *out_marks_end,
                          struct error *err)
{
    const char *wanted = request_query(&call->target, "sendInitialEvents");
    const char *match = request_query(&call->target, "resourceVersionMatch");
    int64_t since;

    *out_marks_end = wanted && request_query_bool(&call->target, "sendInitialEvents");
    if (!request_query_revision(&call->target, &since, err))
        return false;
    if (wanted && (!match || strcmp(match, "NotOlderThan") != 0))
        return error_set(err, ERR_INVALID, "resourceVersionMatch",
                         "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                         "NotOlderThan");
    *out = wanted ? *out_marks_end : since == 0;
    return true;
}

static bool watch_parse(struct watch *watch, const struct api_call *call, int64_t *timeout_s,
                        struct error *err)
{
    struct store *store = call->store;
    bool initial = false;

    if (!request_query_int(&call->target, "timeoutSeconds", 0, timeout_s, err) ||
        !request_query_revision(&call->target, &watch->since, err) ||
        !parse_initial(call, &initial, &watch->ends_initial, err) ||
        !filter_parse(&call->target, call->route.kind, call->route.name, watch->arena,
                      &watch->filter, err) ||
        !render_init(&watch->render, call, err))
        return false;
    watch->store = store;
    watch->bookmarks = request_query_bool(&call->target, "allowWatchBookmarks");
    watch->ns = mem_strdup(call->route.kind->namespaced ? call->route.ns : NULL);
    if (initial || watch->since <= 0)
        watch->since = store_revision(store);
    if (initial)
        store_each(store, watch->render.kind, watch->ns, take_reference, watch);
    return true;
}

static int64_t random_timeout_s(const struct api_call *call)
{
    return TIMEOUT_MIN_S + (int64_t)(clock_random(loop_clock(call->api->loop)) % TIMEOUT_SPREAD_S);
}

struct api_stream *verb_watch(const struct api_call *call)
{
    struct watch *watch = mem_alloc(sizeof *watch);
    struct loop *loop = call->api->loop;
    struct error err = {0};
    int64_t timeout_s = 0;

    watch->arena = arena_new(FILTER_BYTES);
    if (!watch_parse(watch, call, &timeout_s, &err)) {
        filter_release(&watch->filter);
        arena_free(watch->arena);
        mem_free(watch);
        return reply_option_error(call, "ListOptions", &err);
    }
    stream_start(&watch->stream, call, &watch_ops, STREAM_DURABLE);
    watch->deadline.fire = on_deadline;
    watch->bookmark.fire = on_bookmark;
    timer_start(loop, &watch->deadline,
                (timeout_s > 0 ? timeout_s : random_timeout_s(call)) * 1000);
    if (watch->bookmarks)
        timer_start(loop, &watch->bookmark, BOOKMARK_MS);
    return &watch->stream;
}
