/*
 * The verbs get and list. What they read may not be durable yet, so the response waits for it.
 *
 * A list takes references to its objects at once, as its snapshot, and writes them piece by piece
 * as the client reads. A later page shows the present state from the end of the page before, under
 * the revision of the first page: a client that watches from that revision misses nothing, as long
 * as the store still has the changes since. Ref: spec/kube-api.md 8.3, 8.4.
 */
#include <string.h>

#include "api/server/message/continue_token.h"
#include "api/server/message/gzip.h"
#include "api/server/rest/render.h"
#include "base/mem.h"

enum { PAGE = 512, PIECE_BYTES = 64 << 10 };

struct api_stream *verb_get(const struct api_call *call)
{
    struct reply reply = {.status = 200};
    struct render render;
    struct error err = {0};
    const struct object *object = find_object(call, &err);

    if (!object || !render_init(&render, call, &err))
        return reply_error(call, &err);
    render_object(&render, object, TABLE_COLUMNS, &reply.body);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_DURABLE);
}

struct list_query {
    struct filter filter;
    int64_t limit;     /* size of a page; 0 = all */
    int64_t revision;  /* revision of the list, or of its first page */
    const char *after; /* key "ns/name" behind which the page begins, or NULL */
    int64_t given;     /* number of objects in earlier pages */
    bool expired;      /* the token is valid, but the store has lost changes since its revision */
};

static bool check_revision(const struct api_call *call, const struct list_query *query,
                           struct error *err)
{
    const char *match = request_query(&call->target, "resourceVersionMatch");
    const char *text = request_query(&call->target, "resourceVersion");
    bool has_revision = text && *text;
    int64_t revision;

    if (!request_query_revision(&call->target, &revision, err))
        return false;
    if (query->after && revision > 0)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "specifying resource version is not allowed when using continue");
    if (match && *match) {
        if (strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0)
            return error_set(err, ERR_INVALID, "resourceVersionMatch",
                             "Unsupported value: \"%s\": supported values: \"Exact\", "
                             "\"NotOlderThan\", \"\"",
                             match);
        if (query->after)
            return error_set(err, ERR_INVALID, "resourceVersionMatch",
                             "Forbidden: resourceVersionMatch is forbidden when continue is "
                             "provided");
        if (!has_revision)
            return error_set(err, ERR_INVALID, "resourceVersionMatch",
                             "Forbidden: resourceVersionMatch is forbidden unless "
                             "resourceVersion is provided");
        if (strcmp(match, "Exact") == 0 && revision == 0)
            return error_set(err, ERR_INVALID, "resourceVersionMatch",
                             "Forbidden: resourceVersionMatch \"exact\" is forbidden for "
                             "resourceVersion \"0\"");
        if (strcmp(match, "Exact") == 0 && revision < query->revision)
            return error_set(err, ERR_GONE, "",
                             "The resourceVersion for the provided list is too old.");
    }
    if (revision > query->revision)
        return error_set(err, ERR_TIMEOUT, "resourceVersion",
                         "Timeout: Too large resource version: %lld, current: %lld",
                         (long long)revision, (long long)query->revision);
    if (request_query_bool(&call->target, "sendInitialEvents"))
        return error_set(err, ERR_INVALID, "sendInitialEvents",
                         "Forbidden: sendInitialEvents is forbidden for list");
    return true;
}

static bool ignore_change(void *ctx, enum store_change change, const struct object *old,
                          const struct object *object)
{
    return false;
}

/* Returns whether a watch could start from `revision`. */
static bool is_known(const struct api_call *call, int64_t revision)
{
    const struct store_watch_options options = {
        .kind = call->route.kind, .since_revision = revision, .changed = ignore_change};
    struct store_watch *watch = store_watch_open(call->store, &options, NULL);

    store_watch_close(watch);
    return watch != NULL;
}

static bool take_token(const struct api_call *call, struct list_query *query, struct error *err)
{
    const char *text = request_query(&call->target, "continue");
    scoped(buf) struct buf scratch = {0};
    struct continue_token token;

    if (!text || !*text)
        return true;
    if (!continue_token_read(text, &scratch, &token, err))
        return false;
    query->after = arena_strdup(call->arena, token.after);
    query->given = token.given;
    query->expired = token.revision > 0 && !is_known(call, token.revision);
    if (token.revision > 0)
        query->revision = token.revision;
    return true;
}

static bool parse_query(const struct api_call *call, struct list_query *query, struct error *err)
{
    int64_t timeout_s; /* checked and ignored: a list is quick */

    *query = (struct list_query){.revision = store_revision(call->store)};
    return request_query_int(&call->target, "limit", 0, &query->limit, err) &&
           request_query_int(&call->target, "timeoutSeconds", 0, &timeout_s, err) &&
           take_token(call, query, err) && check_revision(call, query, err) &&
           filter_parse(&call->target, call->route.kind, NULL, call->arena, &query->filter, err);
}

static struct api_stream *reply_expired(const struct api_call *call, const struct list_query *query)
{
    const struct continue_token token = {
        .revision = -1, .after = query->after, .given = query->given};
    scoped(buf) struct buf text = {0};
    struct status_subject about = {.kind = call->route.kind};
    struct error_list errors = {0};
    struct api_stream *stream;

    continue_token_write(&token, &text);
    about.continue_token = text.data;
    error_list_add(&errors, ERR_GONE, "",
                   "The provided continue parameter is too old to display a consistent list "
                   "result. You can start a new list without the continue parameter, or use the "
                   "continue token in this response to retrieve the remainder of the results. "
                   "Continuing with the provided token results in an inconsistent list - objects "
                   "that were created, modified, or deleted between the time the first chunk was "
                   "returned and now may show up in the list.");
    stream = reply_failure(call, &errors, &about);
    error_list_release(&errors);
    return stream;
}

struct list_stream {
    struct api_stream stream;
    struct render render;
    struct object **items; /* objects of the list, [count] references */
    size_t count, cap, next;
    bool more; /* an object beyond the limit matches, too */
    struct table_head head;
    struct buf continue_token;
    bool begun;
    bool may_gzip;     /* the client accepts it */
    struct gzip *gzip; /* gzip coder of the response; NULL: not coded */
};

static void collect(struct list_stream *list, const struct api_call *call,
                    const struct list_query *query)
{
    struct object *chunk[PAGE];
    char *cursor = mem_strdup(query->after);
    size_t n;

    do {
        n = store_page(call->store, call->route.kind, call->route.ns, cursor, PAGE, chunk);
        if (n) {
            mem_free(cursor);
            cursor = mem_printf("%s/%s", object_namespace(chunk[n - 1]), object_name(chunk[n - 1]));
        }
        for (size_t i = 0; i < n; i++) {
            bool matches = !list->more && filter_matches(&query->filter, chunk[i]);

            if (matches && query->limit > 0 && list->count == (size_t)query->limit) {
                list->more = true;
                matches = false;
            }
            if (!matches) {
                object_unref(chunk[i]);
                continue;
            }
            mem_grow(list->items, list->count, list->cap);
            list->items[list->count++] = chunk[i];
        }
    } while (n == PAGE && !list->more);
    mem_free(cursor);
}

static void write_head(struct list_stream *list, const struct api_call *call,
                       const struct list_query *query)
{
    const struct object *last = list->count ? list->items[list->count - 1] : NULL;
    int64_t given = query->given + (int64_t)list->count;
    int64_t total = (int64_t)store_count(call->store, call->route.kind, call->route.ns);
    scoped_str after = last ? mem_printf("%s/%s", object_namespace(last), object_name(last)) : NULL;
    const struct continue_token token = {query->revision, after, given};

    list->head = (struct table_head){.revision = query->revision, .columns = TABLE_COLUMNS};
    if (!list->more)
        return;
    continue_token_write(&token, &list->continue_token);
    list->head.continue_token = list->continue_token.data;
    if (filter_is_empty(&query->filter))
        list->head.remaining = total > given ? total - given : 1;
}

static struct list_stream *list_of(struct api_stream *stream)
{
    return container_of(stream, struct list_stream, stream);
}

static void release(struct api_stream *stream)
{
    struct list_stream *list = list_of(stream);

    for (size_t i = list->next; i < list->count; i++)
        object_unref(list->items[i]);
    mem_free(list->items);
    buf_release(&list->continue_token);
    gzip_free(list->gzip);
    mem_free(list);
}

/* Appends items until `out` has `bytes`; true when that completes the list. */
static bool write_piece(struct list_stream *list, size_t bytes, struct buf *out)
{
    while (list->next < list->count && out->len < bytes) {
        struct object *object = list->items[list->next];

        if (list->next)
            buf_char(out, ',');
        render_list_item(&list->render, object, out);
        object_unref(object);
        list->next++;
    }
    if (list->next < list->count)
        return false;
    render_list_end(&list->render, out);
    return true;
}

/* Writes the first piece, whose size decides whether the list is coded. */
static bool begin(struct list_stream *list, struct buf *out)
{
    struct api_response *response = list->stream.response;
    bool last;

    render_list_begin(&list->render, &list->head, out);
    last = write_piece(list, list->may_gzip ? GZIP_FROM_BYTES + 1 : PIECE_BYTES, out);
    if (list->may_gzip && out->len > GZIP_FROM_BYTES)
        list->gzip = gzip_new();
    response->head(response, 200, "application/json", gzip_headers,
                   list->gzip ? countof(gzip_headers) : 0);
    list->begun = true;
    return last;
}

static void run(struct api_stream *stream)
{
    struct list_stream *list = list_of(stream);
    scoped(buf) struct buf piece = {0}, coded = {0};
    bool last = list->begun ? write_piece(list, PIECE_BYTES, &piece) : begin(list, &piece);

    if (list->gzip)
        gzip_add(list->gzip, piece.data, piece.len, last ? GZIP_LAST : GZIP_MORE, &coded);
    if (list->gzip)
        stream->response->data(stream->response, coded.data, coded.len);
    else
        stream->response->data(stream->response, piece.data, piece.len);
    if (last)
        stream_end(stream);
    else
        stream_continue(stream);
}

static const struct stream_ops list_ops = {run, release};

/* A message begins with its length, so protobuf is not sent in pieces. Consumes the list. */
static struct api_stream *reply_whole(const struct api_call *call, struct list_stream *list)
{
    struct reply reply = {.status = 200};

    render_list_begin(&list->render, &list->head, &reply.body);
    write_piece(list, SIZE_MAX, &reply.body);
    release(&list->stream);
    return reply_send(call, &reply, STREAM_DURABLE);
}

struct api_stream *verb_list(const struct api_call *call)
{
    struct list_query query;
    struct render render;
    struct list_stream *list;
    struct error err = {0};

    if (!parse_query(call, &query, &err) || !render_init(&render, call, &err)) {
        filter_release(&query.filter);
        return reply_option_error(call, "ListOptions", &err);
    }
    if (query.expired) {
        filter_release(&query.filter);
        return reply_expired(call, &query);
    }
    list = mem_alloc(sizeof *list);
    list->render = render;
    list->may_gzip =
        call->request->method == API_GET && gzip_is_accepted(call->request->accept_encoding);
    collect(list, call, &query);
    write_head(list, call, &query);
    filter_release(&query.filter);
    if (render.form == MEDIA_PROTOBUF)
        return reply_whole(call, list);
    stream_start(&list->stream, call, &list_ops, STREAM_DURABLE);
    return &list->stream;
}
