/*
 * HTTP/1.1 on a stream.
 */
#include "api/server/connection.h"
#include "api/server/head.h"
#include "api/server/status.h"
#include "base/mem.h"
#include <llhttp.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    BODY_BYTES_MAX = 64 << 20, /* DC-05: JobFlows of many steps; L-01 is checked by kind */
    HEAD_MS = 10000,           /* from the first byte of a head to its end */
    BODY_MS = 30000,           /* from the end of the head to the end of the body */
    IDLE_MS = 60000,           /* L-24 */
    STALL_MS = 30000,          /* bytes wait and none goes out */
    LINGER_MS = 1000,          /* for the answer to be read before what was sent is dropped */
    KEPT_BYTES_MAX = 64 << 10, /* buffers above it are not kept between requests */
    READ_BYTES = 64 << 10,
};

enum state { READING_HEAD, READING_BODY, ANSWERING, LINGERING, CLOSING };

struct connection {
    union {
        uv_pipe_t pipe;
        uv_stream_t stream;
        uv_handle_t handle;
    } io;
    struct loop *loop;
    struct api *api;
    void (*closed)(void *ctx, struct connection *c);
    void *ctx;
    enum state state;
    struct timer deadline;
    uv_shutdown_t shutdown;

    /* the request */
    llhttp_t parser;
    llhttp_settings_t settings;
    struct buf in;   /* bytes not yet consumed */
    size_t searched; /* of them, for the end of a head */
    struct buf target, accept, accept_encoding, content_type, user_agent, body;
    bool message_done, wants_continue;
    struct error refused; /* what is wrong with it */

    /* the answer */
    struct api_answer answer;
    struct api_stream *request; /* being answered */
    struct task flush;
    struct buf head, out; /* status line and headers; body bytes: not yet handed to libuv */
    bool head_only, keep_alive, lingers, has_head, chunked, ended;
    size_t in_flight; /* bytes handed to libuv and not yet written */
};

struct write {
    uv_write_t req;
    struct connection *connection;
    struct buf bytes;
};

static void next_request(struct connection *c);

uv_pipe_t *connection_pipe(struct connection *c)
{
    return &c->io.pipe;
}

/* ---- closing ---- */

static void on_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    struct buf *const buffers[] = {
        &c->in,   &c->target, &c->accept, &c->accept_encoding, &c->content_type, &c->user_agent,
        &c->body, &c->head,   &c->out};

    for (size_t i = 0; i < countof(buffers); i++)
        buf_release(buffers[i]);
    c->closed(c->ctx, c);
    mem_free(c);
}

void connection_close(struct connection *c)
{
    if (c->state == CLOSING)
        return;
    c->state = CLOSING;
    if (c->request)
        api_cancel(take(c->request));
    timer_stop(c->loop, &c->deadline);
    loop_cancel(c->loop, &c->flush);
    uv_close(&c->io.handle, on_closed);
}

/* ---- writing ---- */

static void on_written(uv_write_t *req, int status)
{
    struct write *write = container_of(req, struct write, req);
    struct connection *c = write->connection;

    c->in_flight -= write->bytes.len;
    buf_release(&write->bytes);
    mem_free(write);
    if (c->state == CLOSING)
        return;
    if (status < 0) {
        connection_close(c);
        return;
    }
    if (c->in_flight > 0)
        timer_start(c->loop, &c->deadline, STALL_MS);
    else if (c->state == ANSWERING)
        timer_stop(c->loop, &c->deadline);
    if (c->in_flight > 0 || c->state != ANSWERING || c->flush.posted)
        return;
    if (c->ended)
        next_request(c);
    else if (c->request)
        api_drained(c->request);
}

static void send_bytes(struct connection *c, struct buf *bytes)
{
    struct write *write = mem_alloc(sizeof *write);
    uv_buf_t vector = uv_buf_init(bytes->data, (unsigned)bytes->len);

    write->connection = c;
    write->bytes = *bytes;
    *bytes = (struct buf){0};
    if (c->in_flight == 0 && c->state == ANSWERING)
        timer_start(c->loop, &c->deadline, STALL_MS);
    c->in_flight += write->bytes.len;
    if (uv_write(&write->req, &c->io.stream, &vector, 1, on_written) == 0)
        return;
    c->in_flight -= write->bytes.len;
    buf_release(&write->bytes);
    mem_free(write);
    connection_close(c);
}

static void add_chunk(struct buf *packet, const struct buf *bytes)
{
    buf_printf(packet, "%zx\r\n", bytes->len);
    buf_add(packet, bytes->data, bytes->len);
    buf_str(packet, "\r\n");
}

/* What has gathered, as bytes of HTTP. The first flush of an unfinished answer decides for chunks.
 */
static void take_packet(struct connection *c, struct buf *packet)
{
    if (c->head.len) {
        buf_add(packet, c->head.data, c->head.len);
        buf_clear(&c->head);
        c->chunked = !c->ended;
        if (c->chunked)
            buf_str(packet, "Transfer-Encoding: chunked\r\n\r\n");
        else
            buf_printf(packet, "Content-Length: %zu\r\n\r\n", c->out.len);
    }
    if (c->out.len && !c->head_only && c->chunked)
        add_chunk(packet, &c->out);
    else if (c->out.len && !c->head_only)
        buf_add(packet, c->out.data, c->out.len);
    buf_clear(&c->out);
    if (c->ended && c->chunked && !c->head_only)
        buf_str(packet, "0\r\n\r\n");
}

static void on_flush(struct task *task)
{
    struct connection *c = container_of(task, struct connection, flush);
    struct buf packet = {0};

    take_packet(c, &packet);
    if (packet.len)
        send_bytes(c, &packet);
    else if (c->ended && c->in_flight == 0)
        next_request(c);
}

void connection_stop(struct connection *c)
{
    struct buf packet = {0};

    if (c->state == ANSWERING)
        take_packet(c, &packet);
    if (packet.len)
        send_bytes(c, &packet);
    connection_close(c);
}

/* ---- the answer ---- */

static struct connection *of(const struct api_answer *answer)
{
    return container_of((struct api_answer *)(size_t)answer, struct connection, answer);
}

/* Headers of its own that an answer brings take the place of ours. */
static bool has_header(const char *const *headers, size_t n_headers, const char *name)
{
    for (size_t i = 0; i < n_headers; i++)
        if (strncmp(headers[i], name, strlen(name)) == 0)
            return true;
    return false;
}

static void begin_head(struct connection *c, int status, const char *content_type)
{
    time_t now = (time_t)(loop_wall_ms(c->loop) / 1000);
    char date[64];
    struct tm parts;

    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &parts));
    buf_printf(&c->head,
               "HTTP/1.1 %d %s\r\n"
               "Date: %s\r\n"
               "Audit-Id: %016llx\r\n"
               "X-Content-Type-Options: nosniff\r\n",
               status, status_http_phrase(status), date,
               (unsigned long long)clock_random(loop_clock(c->loop)));
    if (content_type)
        buf_printf(&c->head, "Content-Type: %s\r\n", content_type);
    if (!c->keep_alive)
        buf_str(&c->head, "Connection: close\r\n");
    c->has_head = true;
}

static void answer_head(struct api_answer *answer, int status, const char *content_type,
                        const char *const *headers, size_t n_headers)
{
    struct connection *c = of(answer);

    begin_head(c, status, content_type);
    if (!has_header(headers, n_headers, "Cache-Control:"))
        buf_str(&c->head, "Cache-Control: no-cache, private\r\n");
    for (size_t i = 0; i < n_headers; i++)
        buf_printf(&c->head, "%s\r\n", headers[i]);
    loop_post(c->loop, &c->flush);
}

static void answer_data(struct api_answer *answer, const void *bytes, size_t len)
{
    struct connection *c = of(answer);

    buf_add(&c->out, bytes, len);
    loop_post(c->loop, &c->flush);
}

static void answer_end(struct api_answer *answer)
{
    struct connection *c = of(answer);

    c->request = NULL;
    c->ended = true;
    if (c->has_head)
        loop_post(c->loop, &c->flush);
    else /* the API is being taken down before it could say anything */
        connection_close(c);
}

static size_t answer_backlog(const struct api_answer *answer)
{
    const struct connection *c = of(answer);

    return c->in_flight + c->out.len;
}

/* A request that cannot be understood: say why, then close. */
static void refuse(struct connection *c, const struct error *err)
{
    uv_read_stop(&c->io.stream);
    timer_stop(c->loop, &c->deadline);
    c->state = ANSWERING;
    c->keep_alive = false;
    c->lingers = true;
    c->ended = true;
    begin_head(c, error_http_status(err->code), "application/json");
    status_write_error(err, &(struct status_subject){0}, &c->out);
    loop_post(c->loop, &c->flush);
}

static void refuse_slow(struct connection *c)
{
    uv_read_stop(&c->io.stream);
    c->state = ANSWERING;
    c->keep_alive = false;
    c->ended = true;
    begin_head(c, HTTP_STATUS_REQUEST_TIMEOUT, NULL);
    loop_post(c->loop, &c->flush);
}

static void on_deadline(struct timer *timer)
{
    struct connection *c = container_of(timer, struct connection, deadline);

    if (c->state == READING_BODY || (c->state == READING_HEAD && c->in.len > 0))
        refuse_slow(c);
    else
        connection_close(c);
}

/* ---- the parser's callbacks ---- */

static int on_target(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;

    buf_add(&c->target, at, len);
    return 0;
}

static int refuse_size(struct connection *c)
{
    error_set(&c->refused, ERR_TOO_LARGE, "", "Request entity too large: limit is %d",
              BODY_BYTES_MAX);
    return -1;
}

static int on_headers(llhttp_t *parser)
{
    return parser->content_length > BODY_BYTES_MAX ? refuse_size(parser->data) : 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;

    if (c->body.len + len > BODY_BYTES_MAX)
        return refuse_size(c);
    buf_add(&c->body, at, len);
    return 0;
}

static int on_message(llhttp_t *parser)
{
    struct connection *c = parser->data;

    c->message_done = true;
    c->keep_alive = llhttp_should_keep_alive(parser);
    return HPE_PAUSED; /* what follows is the next request */
}

/* ---- reading ---- */

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

static void dispatch(struct connection *c)
{
    const struct api_request request = {
        .method = method_of(&c->parser),
        .target = c->target.data ? c->target.data : "",
        .accept = text_or_null(&c->accept),
        .content_type = text_or_null(&c->content_type),
        .accept_encoding = text_or_null(&c->accept_encoding),
        .user_agent = text_or_null(&c->user_agent),
        .body = c->body.data,
        .body_len = c->body.len,
    };

    timer_stop(c->loop, &c->deadline);
    c->state = ANSWERING;
    c->head_only = request.method == API_HEAD;
    c->request = api_handle(c->api, &request, &c->answer);
}

static void drop_consumed(struct connection *c, size_t n)
{
    c->in.len -= n;
    memmove(c->in.data, c->in.data + n, c->in.len);
    c->searched = 0;
}

static void keep_value(struct buf *to, struct head_value value)
{
    buf_clear(to);
    buf_add(to, value.text, value.len);
}

/* Whether the head is there, and good. */
static bool take_head(struct connection *c)
{
    size_t len = head_length(c->in.data, c->in.len, c->searched);
    struct error err = {0};
    struct head head;

    c->searched = c->in.len;
    if (len > HEAD_BYTES_MAX || (!len && c->in.len > HEAD_BYTES_MAX)) {
        error_set(&err, ERR_BAD_REQUEST, "", "the head of the request is larger than %d bytes",
                  HEAD_BYTES_MAX);
        refuse(c, &err);
        return false;
    }
    if (!len)
        return false;
    if (!head_parse(c->in.data, len, &head, &err)) {
        refuse(c, &err);
        return false;
    }
    keep_value(&c->accept, head.accept);
    keep_value(&c->accept_encoding, head.accept_encoding);
    keep_value(&c->content_type, head.content_type);
    keep_value(&c->user_agent, head.user_agent);
    c->wants_continue =
        head.expect.len == 12 && strncasecmp(head.expect.text, "100-continue", 12) == 0;
    return true;
}

static void send_continue(struct connection *c)
{
    struct buf go_on = {0};

    c->wants_continue = false;
    buf_str(&go_on, "HTTP/1.1 100 Continue\r\n\r\n");
    send_bytes(c, &go_on);
}

/* Feed the parser; a complete request is dispatched. */
static void take_body(struct connection *c)
{
    enum llhttp_errno result = llhttp_execute(&c->parser, c->in.data, c->in.len);
    struct error err = {0};

    if (c->message_done || result == HPE_OK) {
        drop_consumed(c, result == HPE_OK
                             ? c->in.len
                             : (size_t)(llhttp_get_error_pos(&c->parser) - c->in.data));
        if (c->message_done)
            dispatch(c);
        else if (c->wants_continue)
            send_continue(c);
        return;
    }
    error_set(&err, ERR_BAD_REQUEST, "", "the request is not HTTP/1.1: %s",
              llhttp_get_error_reason(&c->parser));
    refuse(c, c->refused.code == ERR_NONE ? &err : &c->refused);
}

static void consume(struct connection *c)
{
    if (c->state == READING_HEAD && c->in.len > 0) {
        if (c->searched == 0) /* its first bytes */
            timer_start(c->loop, &c->deadline, HEAD_MS);
        if (!take_head(c))
            return;
        c->state = READING_BODY;
        timer_start(c->loop, &c->deadline, BODY_MS);
    }
    if (c->state == READING_BODY && c->in.len > 0)
        take_body(c);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct connection *c = handle->data;

    buf_reserve(&c->in, READ_BYTES);
    *out = uv_buf_init(c->in.data + c->in.len, READ_BYTES);
}

/* The client has no more to say. It may still wait for its answer, but not for an endless one. */
static void on_end(struct connection *c)
{
    uv_read_stop(&c->io.stream);
    if (c->state != ANSWERING || (c->request && api_is_endless(c->request)))
        connection_close(c);
    else
        c->keep_alive = c->lingers = false;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct connection *c = stream->data;

    if (n == UV_EOF) {
        on_end(c);
        return;
    }
    if (n < 0) {
        connection_close(c);
        return;
    }
    if (c->state == LINGERING)
        return;
    c->in.len += (size_t)n;
    if (c->state == ANSWERING && c->in.len > HEAD_BYTES_MAX) /* pipelining has its bounds */
        uv_read_stop(stream);
    else
        consume(c);
}

/* ---- from one request to the next ---- */

static void reset(struct connection *c)
{
    struct buf *const buffers[] = {&c->target,       &c->accept,     &c->accept_encoding,
                                   &c->content_type, &c->user_agent, &c->body,
                                   &c->head,         &c->out};

    for (size_t i = 0; i < countof(buffers); i++) {
        buf_clear(buffers[i]);
        if (buffers[i]->cap > KEPT_BYTES_MAX)
            buf_release(buffers[i]);
    }
    llhttp_init(&c->parser, HTTP_REQUEST, &c->settings);
    c->parser.data = c;
    c->searched = 0;
    c->refused = (struct error){0};
    c->message_done = c->wants_continue = false;
    c->has_head = c->chunked = c->ended = c->lingers = c->head_only = false;
    c->state = READING_HEAD;
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
    /* what matters is that the client sees our end; the deadline does the rest */
}

/* Closing with bytes unread could take the answer back: let the client read it first. */
static void linger(struct connection *c)
{
    c->state = LINGERING;
    timer_start(c->loop, &c->deadline, LINGER_MS);
    if (uv_shutdown(&c->shutdown, &c->io.stream, on_shutdown) < 0 ||
        uv_read_start(&c->io.stream, on_alloc, on_read) < 0)
        connection_close(c);
}

static void next_request(struct connection *c)
{
    if (!c->keep_alive) {
        if (c->lingers)
            linger(c);
        else
            connection_close(c);
        return;
    }
    reset(c);
    timer_start(c->loop, &c->deadline, IDLE_MS);
    uv_read_start(&c->io.stream, on_alloc, on_read); /* already reading is fine */
    consume(c);
}

struct connection *connection_new(struct loop *loop, struct api *api,
                                  void (*closed)(void *ctx, struct connection *c), void *ctx)
{
    struct connection *c = mem_alloc(sizeof *c);

    c->loop = loop;
    c->api = api;
    c->closed = closed;
    c->ctx = ctx;
    c->deadline.fire = on_deadline;
    c->flush.run = on_flush;
    c->answer = (struct api_answer){answer_head, answer_data, answer_end, answer_backlog};
    llhttp_settings_init(&c->settings);
    c->settings.on_url = on_target;
    c->settings.on_headers_complete = on_headers;
    c->settings.on_body = on_body;
    c->settings.on_message_complete = on_message;
    uv_pipe_init(loop_uv(loop), &c->io.pipe, 0);
    c->io.handle.data = c;
    reset(c);
    return c;
}

void connection_start(struct connection *c)
{
    timer_start(c->loop, &c->deadline, IDLE_MS);
    uv_read_start(&c->io.stream, on_alloc, on_read);
}

void connection_turn_away(struct connection *c)
{
    struct error err = {0};

    error_set(&err, ERR_UNAVAILABLE, "", "too many connections; try again later");
    refuse(c, &err);
}
