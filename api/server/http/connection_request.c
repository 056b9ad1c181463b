/*
 * Reads the requests of a connection: from received bytes to a call of the API.
 *
 *   in ─► complete head, checked as raw bytes ─► llhttp: framing, body ─► authn ─► api_handle
 *
 * A head is checked once it is complete, and the headers that matter are copied; llhttp then only
 * finds the framing. Bytes behind the end of a request stay in `in`: they belong to the next one.
 * Any error ends in a refusal (connection_response.c) and closes the connection.
 */
#include <string.h>
#include <strings.h>

#include "api/server/http/internal.h"
#include "api/server/message/request_head.h"
#include "base/mem.h"

enum {
    AGENT_BYTES_MAX = 256, /* kept of the User-Agent header */
    /* The bytes beside the body (head, chunk sizes, extensions, trailers) may be this many more
     * than a body sent in chunks of one byte needs. */
    FRAMING_BYTES_MAX = REQUEST_HEAD_BYTES_MAX + (32 << 10),
    FRAMING_PER_BYTE = 8,
};

static enum api_method method_of(const llhttp_t *parser)
{
    static const struct {
        llhttp_method_t theirs;
        enum api_method ours;
    } rows[] = {
        {HTTP_GET, API_GET},         {HTTP_HEAD, API_HEAD},   {HTTP_POST, API_POST},
        {HTTP_PUT, API_PUT},         {HTTP_PATCH, API_PATCH}, {HTTP_DELETE, API_DELETE},
        {HTTP_OPTIONS, API_OPTIONS},
    };

    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].theirs == (llhttp_method_t)parser->method)
            return rows[i].ours;
    return API_OTHER;
}

static const char *text_or_null(const struct buf *buf)
{
    return buf->len ? buf->data : NULL;
}

/* Makes an identity from the client's certificate; once, after the handshake. */
static void check_certificate(struct connection *c)
{
    enum { GROUPS_MAX = 32 };
    scoped(buf) struct buf user = {0}, groups = {0};
    const char *list[GROUPS_MAX];
    enum tls_certificate shown;
    size_t n = 0;

    if (c->certificate_check != CERTIFICATE_UNCHECKED || !c->io.tls)
        return;
    shown = tls_peer(c->io.tls, &user, &groups);
    c->certificate_check =
        shown == TLS_CERTIFICATE_UNKNOWN ? CERTIFICATE_UNKNOWN : CERTIFICATE_CHECKED;
    if (shown != TLS_CERTIFICATE_GOOD)
        return;
    for (size_t at = 0; at < groups.len && n < GROUPS_MAX; at += strlen(groups.data + at) + 1)
        list[n++] = groups.data + at;
    c->certificate = identity_new(user.data, list, n);
}

static struct api_request request_of(const struct connection *c)
{
    const struct exchange *x = c->reading;

    return (struct api_request){
        .method = x->method,
        .target = x->target.data ? x->target.data : "",
        .accept = text_or_null(&c->accept),
        .content_type = text_or_null(&c->content_type),
        .accept_encoding = text_or_null(&c->accept_encoding),
        .user_agent = text_or_null(&x->user_agent),
        .body = c->body.data,
        .body_len = c->body.len,
        .identity = x->identity,
        .peer = c->peer,
        .head = text_or_null(&c->head),
        .head_len = c->head.len,
    };
}

/* Lets a handler that knows its clients by itself say who has sent the request. */
static void identify(struct connection *c)
{
    struct http_handler *handler = c->handler;
    const struct api_request request = request_of(c);

    if (!handler->ops->identify || c->reading->identity)
        return;
    c->reading->identity = handler->ops->identify(handler, &request);
    if (c->reading->identity)
        connection_take_identity(c, c->reading->identity);
}

static bool authenticate(struct connection *c, struct error *err)
{
    struct credentials credentials = {.socket = c->socket_identity, .peer = c->peer};

    identify(c);
    if (!c->env->authn || c->reading->identity)
        return true;
    check_certificate(c);
    credentials.certificate = c->certificate;
    credentials.certificate_refused = c->certificate_check == CERTIFICATE_UNKNOWN;
    if (c->authorization.len)
        credentials.authorization =
            (struct header_value){c->authorization.data, c->authorization.len};
    c->reading->identity = authn_authenticate(c->env->authn, &credentials, err);
    if (c->reading->identity)
        connection_take_identity(c, c->reading->identity);
    return c->reading->identity != NULL;
}

/* Authenticates the request that is being read and passes it to `call`. The exchange has a stream
 * afterwards unless `call` returned none. */
static void call_api(struct connection *c,
                     void *(*call)(struct connection *c, const struct api_request *request))
{
    struct exchange *x = c->reading;
    struct api_request request;
    struct error err = {0};

    x->method = method_of(&c->parser);
    x->method_name = llhttp_method_name((llhttp_method_t)c->parser.method);
    x->head_only = x->method == API_HEAD;
    if (!authenticate(c, &err)) {
        x->stream = c->handler->ops->refuse(c->handler, &err, &x->response);
        return;
    }
    request = request_of(c);
    x->stream = call(c, &request);
}

static void *authorize(struct connection *c, const struct api_request *request)
{
    struct http_handler *handler = c->handler;

    return handler->ops->authorize(handler, request, &c->reading->response, &c->body_max);
}

static void *handle(struct connection *c, const struct api_request *request)
{
    struct http_handler *handler = c->handler;

    return handler->ops->handle(handler, request, &c->reading->response);
}

static void dispatch(struct connection *c)
{
    struct exchange *x = c->reading;

    x->bytes_in = c->body.len;
    call_api(c, handle);
    x->long_running = c->handler->ops->is_long_running(x->stream);
    exchange_enqueue(c);
    request_reset(c);
    c->state = exchange_has_room(c) && !c->draining ? READING_HEAD : RESPONDING;
}

static int on_target(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;

    buf_add(&c->reading->target, at, len);
    return 0;
}

/* Allocates c->refusal on first use, because few connections need it. */
static struct error *refusal_of(struct connection *c)
{
    if (!c->refusal)
        c->refusal = mem_alloc(sizeof *c->refusal);
    return c->refusal;
}

static int refuse_size(struct connection *c)
{
    error_set(refusal_of(c), ERR_TOO_LARGE, "", "Request entity too large: limit is %zu",
              c->body_max);
    return -1;
}

/* Authorizes a request before its body is read, if the body is still on its way. A body that has
 * arrived already is left to api_handle, so that the connection survives a refusal. */
static int on_headers(llhttp_t *parser)
{
    struct connection *c = parser->data;
    bool chunked = parser->flags & F_CHUNKED;

    c->body_max = c->in.len;
    if (parser->http_major != 1) {
        error_set(refusal_of(c), ERR_BAD_REQUEST, "",
                  "the HTTP version of the request line is not supported: use HTTP/1.1");
        return -1;
    }
    if (!chunked && parser->content_length <= c->in.len - c->head_len)
        return 0;
    call_api(c, authorize);
    if (c->reading->stream)
        return -1;
    return parser->content_length > c->body_max ? refuse_size(c) : 0;
}

/* Counts the body as a large one; false when too many large bodies are being read. */
static bool count_large_body(struct connection *c)
{
    if (!c->env->large_bodies || c->is_large)
        return true;
    if (*c->env->large_bodies >= LARGE_BODIES_MAX)
        return error_set(refusal_of(c), ERR_TOO_MANY, "",
                         "%d bodies of more than %d bytes are being read already; try again later",
                         LARGE_BODIES_MAX, LARGE_BODY_BYTES);
    ++*c->env->large_bodies;
    c->is_large = true;
    return true;
}

/* Takes the size of the next chunk. A chunk that would make the body too large is refused before it
 * comes. */
static int on_chunk(llhttp_t *parser)
{
    struct connection *c = parser->data;

    return parser->content_length > c->body_max - c->body.len ? refuse_size(c) : 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;

    if (c->body.len + len > c->body_max)
        return refuse_size(c);
    if (c->body.len + len > LARGE_BODY_BYTES && !count_large_body(c))
        return -1;
    buf_add(&c->body, at, len);
    return 0;
}

static int on_message(llhttp_t *parser)
{
    struct connection *c = parser->data;

    c->message_done = true;
    c->reading->after = llhttp_should_keep_alive(parser) ? KEEP_OPEN : CLOSE_AFTER;
    return HPE_PAUSED; /* the bytes that follow belong to the next request */
}

static void drop_consumed(struct connection *c, size_t n)
{
    c->in.len -= n;
    memmove(c->in.data, c->in.data + n, c->in.len);
    c->searched = 0;
}

static void copy_value(struct buf *to, struct header_value value)
{
    buf_clear(to);
    buf_add(to, value.text, value.len);
}

/* Returns what answers the request with this head: the page for what is below /ui/. */
static struct http_handler *handler_for(const struct connection *c, size_t len)
{
    static const char prefix[] = " /ui/";
    const char *target = memchr(c->in.data, ' ', len);
    size_t left = target ? len - (size_t)(target - c->in.data) : 0;

    return c->env->page && left >= sizeof prefix - 1 &&
                   memcmp(target, prefix, sizeof prefix - 1) == 0
               ? c->env->page
               : c->env->handler;
}

/* Refuses a request that a web page made a browser send. No browser sends one to a unix socket. */
static bool check_head(const struct connection *c, size_t len, const struct request_head *head,
                       struct error *err)
{
    struct http_handler *handler = c->handler;

    if (handler->ops->check_head)
        return connection_socket(c) == IO_UNIX ||
               handler->ops->check_head(handler, c->in.data, len, head, err);
    return !c->env->hosts || host_check(c->env->hosts, head, err);
}

/* Checks the head and starts its exchange; false when it is incomplete or refused. */
static bool read_head(struct connection *c)
{
    size_t len = request_head_length(c->in.data, c->in.len, c->searched), searched = c->searched;
    size_t seen = len ? len : c->in.len;
    struct error err = {0};
    struct request_head head;

    c->searched = c->in.len;
    if (seen > REQUEST_HEAD_BYTES_MAX)
        seen = REQUEST_HEAD_BYTES_MAX;
    if (searched < seen && !request_head_check_lines(c->in.data, seen, searched, &err)) {
        response_refuse(c, &err);
        return false;
    }
    if (len > REQUEST_HEAD_BYTES_MAX || (!len && c->in.len > REQUEST_HEAD_BYTES_MAX)) {
        request_head_too_large(c->in.data, REQUEST_HEAD_BYTES_MAX, &err);
        response_refuse(c, &err);
        return false;
    }
    if (!len)
        return false;
    c->handler = handler_for(c, len);
    if (!request_head_parse(c->in.data, len, &head, &err) || !check_head(c, len, &head, &err)) {
        response_refuse(c, &err);
        return false;
    }
    exchange_begin(c);
    c->head_len = len;
    copy_value(&c->accept, head.accept);
    copy_value(&c->accept_encoding, head.accept_encoding);
    copy_value(&c->content_type, head.content_type);
    copy_value(&c->authorization, head.authorization);
    if (c->handler->ops->keeps_head)
        copy_value(&c->head, (struct header_value){c->in.data, len});
    if (head.user_agent.len > AGENT_BYTES_MAX)
        head.user_agent.len = AGENT_BYTES_MAX;
    copy_value(&c->reading->user_agent, head.user_agent);
    c->wants_continue =
        head.expect.len == 12 && strncasecmp(head.expect.text, "100-continue", 12) == 0;
    return true;
}

void request_send_continue(struct connection *c)
{
    struct io_packet go_on = {0};

    if (c->state != READING_BODY || !c->wants_continue || c->first)
        return;
    c->wants_continue = false;
    buf_str(&go_on.bytes, "HTTP/1.1 100 Continue\r\n\r\n");
    io_send(&c->io, &go_on);
}

static bool is_framed_well(const struct connection *c, enum llhttp_errno result, struct error *err)
{
    if (!c->message_done && result != HPE_OK)
        return error_set(err, ERR_BAD_REQUEST, "", "the request is not HTTP/1.1: %s",
                         llhttp_get_error_reason(&c->parser));
    return c->parsed <= FRAMING_BYTES_MAX + (FRAMING_PER_BYTE + 1) * c->body.len ||
           error_set(err, ERR_BAD_REQUEST, "",
                     "chunk extensions and trailers are many times larger than the body");
}

/* Passes the bytes received to the parser, and a request that is complete to the handler. Returns
 * true when no more of the request is to be read: it was complete, or it was refused. */
static bool read_body(struct connection *c)
{
    enum llhttp_errno result = llhttp_execute(&c->parser, c->in.data, c->in.len);
    size_t taken =
        result == HPE_OK ? c->in.len : (size_t)(llhttp_get_error_pos(&c->parser) - c->in.data);
    struct error err = {0};

    c->parsed += taken;
    if (is_framed_well(c, result, &err)) {
        drop_consumed(c, taken);
        if (c->message_done)
            dispatch(c);
        else
            request_send_continue(c);
        return c->state != READING_BODY;
    }
    if (c->reading->stream) {
        response_end_early(c);
        return true;
    }
    response_refuse(c, c->refusal ? c->refusal : &err);
    return true;
}

/* Drops empty lines before a request (RFC 9112, 2.2). */
static void drop_empty_lines(struct connection *c)
{
    size_t n = 0;

    while (c->in.len - n >= 2 && memcmp(c->in.data + n, "\r\n", 2) == 0)
        n += 2;
    if (n)
        drop_consumed(c, n);
}

static bool begin_request(struct connection *c)
{
    drop_empty_lines(c);
    if (c->in.len == 0)
        return false;
    if (c->searched == 0) { /* the first bytes of the head */
        c->began_ms = loop_wall_ms(c->loop);
        c->began_ns = loop_mono_ns(c->loop);
    }
    if (!read_head(c))
        return false;
    c->state = READING_BODY;
    return true;
}

void request_consume(struct connection *c)
{
    while (c->in.len > 0) {
        if (c->state == READING_HEAD && !begin_request(c))
            return;
        if (c->state != READING_BODY || !read_body(c))
            return;
    }
}

static const llhttp_settings_t *settings(void)
{
    static llhttp_settings_t callbacks;

    if (!callbacks.on_url) {
        llhttp_settings_init(&callbacks);
        callbacks.on_url = on_target;
        callbacks.on_headers_complete = on_headers;
        callbacks.on_chunk_header = on_chunk;
        callbacks.on_body = on_body;
        callbacks.on_message_complete = on_message;
    }
    return &callbacks;
}

static void each_buffer(struct connection *c, void (*act)(struct buf *buf))
{
    struct buf *const buffers[] = {
        &c->accept, &c->accept_encoding, &c->content_type, &c->authorization, &c->body, &c->head};

    for (size_t i = 0; i < countof(buffers); i++)
        act(buffers[i]);
}

static void empty(struct buf *buf)
{
    enum { KEPT_BYTES_MAX = 16 << 10 }; /* larger buffers are freed between requests */

    buf_clear(buf);
    if (buf->cap > KEPT_BYTES_MAX)
        buf_release(buf);
}

void request_reset(struct connection *c)
{
    each_buffer(c, empty);
    if (c->in.len == 0)
        empty(&c->in);
    llhttp_init(&c->parser, HTTP_REQUEST, settings());
    c->parser.data = c;
    c->handler = c->env->handler;
    c->searched = c->parsed = 0;
    mem_free(take(c->refusal));
    c->message_done = c->wants_continue = false;
    if (c->is_large)
        --*c->env->large_bodies;
    c->is_large = false;
}

void request_release(struct connection *c)
{
    each_buffer(c, buf_release);
    buf_release(&c->in);
}
