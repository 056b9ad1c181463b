/*
 * Responses that are complete before they are sent: an object, a Status or a page, with the
 * warnings of the request as headers.
 */
#include <string.h>

#include "api/server/message/gzip.h"
#include "api/server/message/protobuf.h"
#include "api/server/rest/internal.h"
#include "base/mem.h"

enum { HEADERS_MAX = 64, WARNING_BYTES_MAX = 4096 };

struct reply_stream {
    struct api_stream stream;
    int status;
    char *content_type;
    struct buf body;
    char *headers[HEADERS_MAX]; /* headers of the response, [n_headers] */
    size_t n_headers;
};

static struct reply_stream *reply_of(struct api_stream *stream)
{
    return container_of(stream, struct reply_stream, stream);
}

static void release(struct api_stream *stream)
{
    struct reply_stream *pending = reply_of(stream);

    for (size_t i = 0; i < pending->n_headers; i++)
        mem_free(pending->headers[i]);
    buf_release(&pending->body);
    mem_free(pending->content_type);
    mem_free(pending);
}

static void run(struct api_stream *stream)
{
    struct reply_stream *pending = reply_of(stream);

    stream->response->head(stream->response, pending->status, pending->content_type,
                           (const char *const *)pending->headers, pending->n_headers);
    stream->response->data(stream->response, pending->body.data, pending->body.len);
    stream_end(stream);
}

static size_t size(const struct api_stream *stream)
{
    return container_of(stream, const struct reply_stream, stream)->body.len;
}

static const struct stream_ops ops = {run, release, .size = size};

/* Returns a Warning header. The text is a quoted string of RFC 9110, without characters that could
 * end the header. */
static char *warning_header(const struct error *warning)
{
    scoped(buf) struct buf out = {0};
    bool names_field = !*warning->field || strstr(warning->message, warning->field);
    scoped_str whole = mem_printf("%s%s%s", names_field ? "" : warning->field,
                                  names_field ? "" : ": ", warning->message);
    const char *text = whole;

    buf_str(&out, "Warning: 299 - \"");
    for (; *text && out.len < WARNING_BYTES_MAX; text++) {
        if (*text == '"' || *text == '\\')
            buf_char(&out, '\\');
        buf_char(&out, (unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text);
    }
    buf_char(&out, '"');
    return buf_take(&out);
}

static void add_header(struct reply_stream *pending, const char *header)
{
    if (pending->n_headers < HEADERS_MAX)
        pending->headers[pending->n_headers++] = mem_strdup(header);
}

/* Codes a long body with gzip if the client accepts it. */
static void code_body(struct reply_stream *pending, const struct api_call *call)
{
    scoped(gzip) struct gzip *gzip = NULL;
    struct buf coded = {0};

    if (call->request->method != API_GET || pending->body.len <= GZIP_FROM_BYTES ||
        !gzip_is_accepted(call->request->accept_encoding))
        return;
    gzip = gzip_new();
    gzip_add(gzip, pending->body.data, pending->body.len, GZIP_LAST, &coded);
    buf_release(&pending->body);
    pending->body = coded;
    for (size_t i = 0; i < countof(gzip_headers); i++)
        add_header(pending, gzip_headers[i]);
}

static void add_headers(struct reply_stream *pending, const struct reply *reply)
{
    int retry_s = status_retry_after_s(reply->code);

    for (size_t i = 0; i < countof(reply->headers); i++)
        if (reply->headers[i])
            pending->headers[pending->n_headers++] = mem_strdup(reply->headers[i]);
    if (retry_s)
        pending->headers[pending->n_headers++] = mem_printf("Retry-After: %d", retry_s);
    for (size_t i = 0; reply->warnings && i < reply->warnings->count; i++)
        if (pending->n_headers < HEADERS_MAX)
            pending->headers[pending->n_headers++] = warning_header(&reply->warnings->items[i]);
}

/* Turns the JSON of a response into protobuf, if the client accepts nothing else. */
static void encode(const struct api_call *call, struct reply *reply)
{
    struct buf coded = {0};

    if (call->media.form != MEDIA_PROTOBUF || reply->content_type ||
        !protobuf_from_json(reply->body.data, reply->body.len, &coded))
        return;
    buf_release(&reply->body);
    reply->body = coded;
    reply->content_type = PROTOBUF_TYPE;
}

struct api_stream *reply_send(const struct api_call *call, struct reply *reply,
                              enum stream_start when)
{
    struct reply_stream *pending = mem_alloc(sizeof *pending);

    encode(call, reply);
    pending->status = reply->status;
    pending->content_type =
        mem_strdup(reply->content_type ? reply->content_type : "application/json");
    pending->body = reply->body;
    reply->body = (struct buf){0};
    add_headers(pending, reply);
    code_body(pending, call);
    stream_start(&pending->stream, call, &ops, when);
    return &pending->stream;
}

struct api_stream *reply_object(const struct api_call *call, int status,
                                const struct object *object, struct error_list *warnings)
{
    struct reply reply = {.status = status, .warnings = warnings};
    bool changes = call->request->method != API_GET && call->request->method != API_HEAD;

    if (changes && call->response->object)
        call->response->object(call->response, object);
    if (call->route.alias)
        group_alias_write(call->route.alias, object, &reply.body);
    else
        object_write(object, &reply.body);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_DURABLE);
}

/* A failure that reveals stored state may be about a write that is accepted and not durable yet, so
 * it waits like every other response (INV-S10). */
static enum stream_start failure_start(enum error_code code)
{
    /* clang-format off */
    static const bool reveals[ERROR_CODE_N] = {
        [ERR_NOT_FOUND] = true,
        [ERR_EXISTS]    = true,
        [ERR_CONFLICT]  = true,
        [ERR_GONE]      = true,
        [ERR_INVALID]   = true, /* compared with the stored version */
        [ERR_FORBIDDEN] = true, /* refused by deletion protection or a quota */
    };
    /* clang-format on */

    return reveals[code] ? STREAM_DURABLE : STREAM_NOW;
}

struct api_stream *reply_failure(const struct api_call *call, const struct error_list *errors,
                                 const struct status_subject *about)
{
    enum error_code code = status_code(errors, about);
    struct reply reply = {.status = error_http_status(code), .code = code};

    status_write_failure(errors, about, &reply.body);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, failure_start(code));
}

struct api_stream *reply_errors(const struct api_call *call, const struct error_list *errors)
{
    struct status_subject about = {.kind = call->route.kind, .name = call->name};

    if (errors->items[0].code == ERR_NOT_FOUND && errors->items[0].field[0])
        about = (struct status_subject){.kind = &kind_namespace, .name = call->route.ns};
    return reply_failure(call, errors, &about);
}

struct api_stream *reply_error(const struct api_call *call, const struct error *err)
{
    return reply_option_error(call, NULL, err);
}

struct api_stream *reply_option_error(const struct api_call *call, const char *options,
                                      const struct error *err)
{
    const struct status_subject about = {
        .kind = call->route.kind,
        .options = err->code == ERR_INVALID ? options : NULL,
        .name = call->name,
    };
    struct error_list errors = {0};
    struct api_stream *stream;

    error_list_append(&errors, err);
    stream = reply_failure(call, &errors, &about);
    error_list_release(&errors);
    return stream;
}

struct api_stream *reply_deleted(const struct api_call *call, const char *uid)
{
    const struct status_subject about = {.kind = call->route.kind, .name = call->name, .uid = uid};
    struct reply reply = {.status = 200};

    status_write_deleted(&about, &reply.body);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_DURABLE);
}

struct api_stream *reply_success(const struct api_call *call, int status)
{
    struct reply reply = {.status = status};

    status_write_success(status, &reply.body);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_DURABLE);
}

const struct object *find_object(const struct api_call *call, struct error *err)
{
    const struct kind *kind = call->route.kind;
    const struct object *object = store_get(call->store, kind, call->route.ns, call->route.name);

    if (!object)
        error_set(err, ERR_NOT_FOUND, "", "%s%s%s \"%s\" not found", kind->plural,
                  *kind->group ? "." : "", kind->group, call->name);
    return object;
}
