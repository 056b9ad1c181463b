/*
 * Watches: the present state as ADDED when asked for, then every durable change, one JSON document
 * a line.
 *
 *   asked ─(what was accepted is durable)─► present state, piece by piece ─► changes ─► over
 *
 * The present state is a snapshot taken when the watch was asked for; the changes go on from its
 * revision. An object that begins to match the selectors is ADDED, one that ceases to is DELETED
 * with its old content. Ref: spec/kube-api.md 8.5.
 */
#include <string.h>

#include "api/server/rest/render.h"
#include "base/mem.h"

enum {
    BACKLOG_MAX = 4 << 20, /* L-27 */
    BOOKMARK_MS = 60000,
    LIFE_MIN_S = 1800, /* without timeoutSeconds: 30 to 60 minutes */
    LIFE_SPREAD_S = 1800,
    PIECE_BYTES = 64 << 10,
    FILTER_BYTES = 256, /* of most watches */
};

struct watch {
    struct api_stream stream;
    struct arena *arena; /* owns the filter's strings */
    struct filter filter;
    struct render render;
    char *ns; /* NULL = all */
    struct store *store;
    struct store_watch *source;
    struct timer deadline, bookmark;
    struct object **present; /* [n_present] references: the snapshot not yet sent */
    size_t n_present, cap, next;
    int64_t since, marked; /* where changes begin; revision of the last bookmark */
    bool begun, definitions_sent, bookmarks, ends_initial;
    struct error *over; /* why it ends, to be told; NULL */
    bool is_over;
};

static const char *const change_names[] = {
    [STORE_ADDED] = "ADDED", [STORE_MODIFIED] = "MODIFIED", [STORE_DELETED] = "DELETED"};

static struct watch *of(struct api_stream *stream)
{
    return container_of(stream, struct watch, stream);
}

static void release(struct api_stream *stream)
{
    struct watch *watch = of(stream);

    store_watch_close(watch->source);
    timer_stop(stream->api->loop, &watch->deadline);
    timer_stop(stream->api->loop, &watch->bookmark);
    for (; watch->next < watch->n_present; watch->next++)
        object_unref(watch->present[watch->next]);
    mem_free(watch->present);
    filter_release(&watch->filter);
    arena_free(watch->arena);
    mem_free(watch->over);
    mem_free(watch->ns);
    mem_free(watch);
}

/* ---- events ---- */

static void add_event(const char *type, const struct buf *json, struct buf *out)
{
    buf_printf(out, "{\"type\":\"%s\",\"object\":", type);
    buf_add(out, json->data, json->len);
    buf_str(out, "}\n");
}

static void send_bytes(struct watch *watch, const struct buf *bytes)
{
    watch->stream.response->data(watch->stream.response, bytes->data, bytes->len);
}

static void send_line(struct watch *watch, struct blob *line)
{
    struct api_response *response = watch->stream.response;

    if (response->blob)
        response->blob(response, line);
    else
        response->data(response, line->text, line->len);
}

static void add_object(struct watch *watch, enum store_change change, const struct object *object,
                       struct buf *out)
{
    scoped(buf) struct buf text = {0};

    watch->render.table.now_ms = loop_wall_ms(watch->stream.api->loop);
    render_object(&watch->render, object, !watch->definitions_sent, &text);
    watch->definitions_sent = true;
    add_event(change_names[change], &text, out);
}

/* The object as it was, under the revision of the change that took it out of sight. */
static struct object *renumbered(const struct object *old, int64_t revision)
{
    struct object *last = object_with_status(old, blob_ref(old->status));

    last->revision = revision;
    return last;
}

static struct blob *new_line(struct watch *watch, enum store_change change,
                             const struct object *object, int64_t revision)
{
    scoped(object) struct object *shown =
        object->revision == revision ? object_ref(object) : renumbered(object, revision);
    struct buf text = {0};

    add_object(watch, change, shown, &text);
    return blob_from_buf(&text);
}

/* Everybody who takes the same form is told the same, so it is written once. But for the columns,
 * with which a Table begins. */
static void send_object(struct watch *watch, enum store_change change, const struct object *object,
                        int64_t revision)
{
    struct watch_event_cache *lines = watch->stream.api->event_cache;
    const struct render *render = &watch->render;
    const struct watch_event_key key = {object,
                                        revision,
                                        change,
                                        render->form,
                                        render->table.include,
                                        render->alias,
                                        render->table.version};
    bool shared = render->form != MEDIA_TABLE || watch->definitions_sent;
    struct blob *kept = shared ? watch_event_cache_find(lines, &key) : NULL;
    scoped(blob) struct blob *line =
        kept ? blob_ref(kept) : new_line(watch, change, object, revision);

    if (shared && !kept)
        watch_event_cache_add(lines, &key, line);
    send_line(watch, line);
}

static void add_bookmark(struct watch *watch, int64_t revision, bool initial_end, struct buf *out)
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
    if (initial_end) {
        jsonw_member_open(&w, "annotations");
        jsonw_member_str(&w, "k8s.io/initial-events-end", "true");
        jsonw_close(&w);
    }
    jsonw_close(&w);
    jsonw_close(&w);
    watch->marked = revision;
    add_event("BOOKMARK", &text, out);
}

static void send_bookmark(struct watch *watch)
{
    int64_t revision = store_durable_revision(watch->store);
    scoped(buf) struct buf line = {0};

    if (!watch->source || revision <= watch->marked || revision < watch->since)
        return;
    add_bookmark(watch, revision, false, &line);
    send_bytes(watch, &line);
}

static void send_error(struct watch *watch, const struct error *err)
{
    scoped(buf) struct buf text = {0}, line = {0};

    status_write_error(err, &(struct status_subject){0}, &text);
    add_event("ERROR", &text, &line);
    send_bytes(watch, &line);
}

/* ---- changes ---- */

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
    if (watch->stream.response->backlog(watch->stream.response) <= BACKLOG_MAX)
        return true;
    watch->source = NULL; /* closed by our answer */
    watch->is_over = true;
    watch->over = mem_alloc(sizeof *watch->over);
    error_set(watch->over, ERR_GONE, "",
              "the watch was read too slowly: %d bytes were waiting; list again", BACKLOG_MAX);
    loop_post(watch->stream.api->loop, &watch->stream.task);
    return false;
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
    watch->is_over = !watch->source;
    if (!watch->is_over)
        return;
    watch->over = mem_alloc(sizeof *watch->over);
    *watch->over = err;
}

static void send_present(struct watch *watch)
{
    scoped(buf) struct buf piece = {0};

    while (watch->next < watch->n_present && piece.len < PIECE_BYTES) {
        add_object(watch, STORE_ADDED, watch->present[watch->next], &piece);
        object_unref(watch->present[watch->next++]);
    }
    if (watch->next == watch->n_present && watch->ends_initial) {
        watch->ends_initial = false;
        add_bookmark(watch, watch->since, true, &piece);
    }
    if (piece.len)
        send_bytes(watch, &piece);
}

static void run(struct api_stream *stream)
{
    struct watch *watch = of(stream);

    if (!watch->begun)
        stream->response->head(stream->response, 200, "application/json", NULL, 0);
    watch->begun = true;
    send_present(watch);
    if (watch->next < watch->n_present) {
        stream_continue(stream);
        return;
    }
    if (!watch->source && !watch->is_over)
        open_source(watch);
    if (!watch->is_over)
        return;
    if (watch->over)
        send_error(watch, watch->over);
    stream_end(stream);
}

static const struct stream_ops watch_ops = {run, release, .long_running = true};

static void on_deadline(struct timer *timer)
{
    struct watch *watch = container_of(timer, struct watch, deadline);

    if (watch->begun && watch->bookmarks)
        send_bookmark(watch);
    watch->source = (store_watch_close(watch->source), NULL);
    watch->is_over = true;
    if (watch->begun && watch->next == watch->n_present)
        stream_end(&watch->stream);
}

static void on_bookmark(struct timer *timer)
{
    struct watch *watch = container_of(timer, struct watch, bookmark);

    send_bookmark(watch);
    timer_start(watch->stream.api->loop, timer, BOOKMARK_MS);
}

/* ---- the request ---- */

static void take_reference(void *arg, const struct object *object)
{
    struct watch *watch = arg;

    if (!filter_matches(&watch->filter, object))
        return;
    mem_grow(watch->present, watch->n_present, watch->cap);
    watch->present[watch->n_present++] = object_ref(object);
}

/* Whether the present state comes first. */
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

static bool watch_parse(struct watch *watch, const struct api_call *call, int64_t *life_s,
                        struct error *err)
{
    struct store *store = call->store;
    bool initial = false;

    if (!request_query_int(&call->target, "timeoutSeconds", 0, life_s, err) ||
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

static int64_t random_life_s(const struct api_call *call)
{
    return LIFE_MIN_S + (int64_t)(clock_random(loop_clock(call->api->loop)) % LIFE_SPREAD_S);
}

struct api_stream *verb_watch(const struct api_call *call)
{
    struct watch *watch = mem_alloc(sizeof *watch);
    struct loop *loop = call->api->loop;
    struct error err = {0};
    int64_t life_s = 0;

    watch->arena = arena_new(FILTER_BYTES);
    if (!watch_parse(watch, call, &life_s, &err)) {
        filter_release(&watch->filter);
        arena_free(watch->arena);
        mem_free(watch);
        return reply_option_error(call, "ListOptions", &err);
    }
    stream_start(&watch->stream, call, &watch_ops, STREAM_DURABLE);
    watch->deadline.fire = on_deadline;
    watch->bookmark.fire = on_bookmark;
    timer_start(loop, &watch->deadline, (life_s > 0 ? life_s : random_life_s(call)) * 1000);
    if (watch->bookmarks)
        timer_start(loop, &watch->bookmark, BOOKMARK_MS);
    return &watch->stream;
}
