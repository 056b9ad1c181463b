/*
 * HTTP/1.1 on a stream.
 */
#include "api/server/connection.h"
#include "api/server/precheck.h"
#include "base/mem.h"
#include <llhttp.h>
#include <string.h>
#include <strings.h>

enum {
    BODY_MAX = 64 << 20,     /* DC-05: JobFlows of many steps; L-01 is for the others and checked by
                                their size limits */
    HEAD_TIMEOUT_MS = 10000, /* L-23: from the first byte of a head to its end */
    BODY_TIMEOUT_MS = 30000,
    IDLE_TIMEOUT_MS = 120000, /* L-24 */
    WRITE_STALL_MS = 30000,
};

enum state { READING_HEAD, READING_BODY, ANSWERING, CLOSING };

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
    llhttp_t parser;
    llhttp_settings_t settings;
    struct buf in;   /* bytes not yet consumed */
    size_t head_len; /* of the present request, once complete */
    struct buf target, accept, content_type, user_agent, field;
    struct buf *value; /* where the present header's value goes; NULL = nobody reads it */
    struct buf body;
    bool keep_alive, head_only, message_done, expects_continue;
    struct error refused; /* a request refused while reading */

    struct api_answer answer;
    struct api_stream *request; /* being answered */
    struct task flush;
    struct buf head,
        out; /* status line and headers; body bytes not yet handed to the kernel's queue */
    bool chunked, ended, close_after;
    size_t in_flight; /* bytes handed to libuv and not yet written */
};

struct write {
    uv_write_t req;
    struct connection *connection;
    struct buf bytes;
};

static void consume(struct connection *c);

uv_stream_t *connection_stream(struct connection *connection)
{
    return &connection->io.stream;
}

/* ---- closing ---- */

static void on_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;

    buf_release(&c->in);
    buf_release(&c->target);
    buf_release(&c->accept);
    buf_release(&c->content_type);
    buf_release(&c->user_agent);
    buf_release(&c->field);
    buf_release(&c->body);
    buf_release(&c->head);
    buf_release(&c->out);
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

static void on_deadline(struct timer *timer)
{
    connection_close(container_of(timer, struct connection, deadline));
}

/* ---- writing ---- */

static void next_request(struct connection *c);

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
    if (c->in_flight == 0 && c->ended)
        next_request(c);
    else if (c->in_flight > 0)
        timer_start(c->loop, &c->deadline, WRITE_STALL_MS);
    else
        timer_stop(c->loop, &c->deadline);
}

static void send_bytes(struct connection *c, struct buf *bytes)
{
    struct write *write = mem_alloc(sizeof *write);
    uv_buf_t vector = uv_buf_init(bytes->data, (unsigned)bytes->len);

    write->connection = c;
    write->bytes = *bytes;
    *bytes = (struct buf){0};
    c->in_flight += write->bytes.len;
    timer_start(c->loop, &c->deadline, WRITE_STALL_MS);
    if (uv_write(&write->req, &c->io.stream, &vector, 1, on_written) < 0) {
        c->in_flight -= write->bytes.len;
        buf_release(&write->bytes);
        mem_free(write);
        connection_close(c);
    }
}

static void add_chunk(struct buf *packet, const struct buf *bytes)
{
    buf_printf(packet, "%zx\r\n", bytes->len);
    buf_add(packet, bytes->data, bytes->len);
    buf_str(packet, "\r\n");
}

/* Hand what has gathered to the kernel. The first flush of an unfinished answer decides for chunks.
 */
static void flush_out(struct connection *c)
{
    struct buf packet = {0};

    if (c->head.len) {
        buf_add(&packet, c->head.data, c->head.len);
        buf_clear(&c->head);
        if (c->ended) {
            buf_printf(&packet, "Content-Length: %zu\r\n\r\n", c->out.len);
        } else {
            c->chunked = true;
            buf_str(&packet, "Transfer-Encoding: chunked\r\n\r\n");
        }
    }
    if (c->out.len && !c->head_only) {
        if (c->chunked)
            add_chunk(&packet, &c->out);
        else
            buf_add(&packet, c->out.data, c->out.len);
    }
    buf_clear(&c->out);
    if (c->ended && c->chunked && !c->head_only)
        buf_str(&packet, "0\r\n\r\n");
    if (packet.len)
        send_bytes(c, &packet);
}

static void on_flush(struct task *task)
{
    struct connection *c = container_of(task, struct connection, flush);

    if (c->state != CLOSING)
        flush_out(c);
}

static void answer_head(struct api_answer *answer, int status, const char *content_type,
                        const char *const *headers)
{
    struct connection *c = container_of(answer, struct connection, answer);

    buf_printf(&c->head,
               "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-cache, private\r\n", status,
               llhttp_status_name((llhttp_status_t)status), content_type);
    for (; headers && *headers; headers++)
        buf_printf(&c->head, "%s\r\n", *headers);
    if (c->close_after)
        buf_str(&c->head, "Connection: close\r\n");
    loop_post(c->loop, &c->flush);
}

static void answer_data(struct api_answer *answer, const void *bytes, size_t len)
{
    struct connection *c = container_of(answer, struct connection, answer);

    buf_add(&c->out, bytes, len);
    loop_post(c->loop, &c->flush);
}

static void answer_end(struct api_answer *answer)
{
    struct connection *c = container_of(answer, struct connection, answer);

    c->request = NULL;
    c->ended = true;
    loop_cancel(c->loop, &c->flush);
    flush_out(c);
}

static size_t answer_backlog(const struct api_answer *answer)
{
    const struct connection *c =
        container_of((struct api_answer *)(size_t)answer, struct connection, answer);

    return c->in_flight + c->out.len;
}

/* ---- reading ---- */

static int on_target(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;

    buf_add(&c->target, at, len);
    return 0;
}

static int on_field(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;

    if (c->value) { /* the first piece of a new name */
        c->value = NULL;
        buf_clear(&c->field);
    }
    buf_add(&c->field, at, len);
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;
    static struct buf nobody; /* marks a header nobody reads; never written */
    const struct {
        const char *name;
        struct buf *value;
    } wanted[] = {
        {"Accept", &c->accept}, {"Content-Type", &c->content_type}, {"User-Agent", &c->user_agent}};

    if (!c->value) {
        c->value = &nobody;
        for (size_t i = 0; i < countof(wanted); i++)
            if (strcasecmp(c->field.data, wanted[i].name) == 0)
                c->value = wanted[i].value;
        if (strcasecmp(c->field.data, "Expect") == 0)
            c->expects_continue = true;
    }
    if (c->value != &nobody)
        buf_add(c->value, at, len);
    return 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;

    if (c->body.len + len > BODY_MAX) {
        error_set(&c->refused, ERR_TOO_LARGE, "", "the body of the request is larger than %d bytes",
                  BODY_MAX);
        return HPE_USER;
    }
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

static enum api_method method_of(const llhttp_t *parser)
{
    static const enum api_method methods[] = {
        [HTTP_DELETE] = API_DELETE,   [HTTP_GET] = API_GET, [HTTP_HEAD] = API_HEAD,
        [HTTP_POST] = API_POST,       [HTTP_PUT] = API_PUT, [HTTP_PATCH] = API_PATCH,
        [HTTP_OPTIONS] = API_OPTIONS,
    };
    unsigned method = llhttp_get_method((llhttp_t *)(size_t)parser);
    bool known = method == HTTP_GET || method == HTTP_DELETE ||
                 (method < countof(methods) && methods[method] != API_GET);

    return known ? methods[method] : API_OTHER;
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
        .user_agent = text_or_null(&c->user_agent),
        .body = c->body.data,
        .body_len = c->body.len,
    };

    timer_stop(c->loop, &c->deadline);
    c->state = ANSWERING;
    c->head_only = request.method == API_HEAD;
    c->close_after = !c->keep_alive;
    c->request = api_handle(c->api, &request, &c->answer);
}

/* A request that cannot be understood: say why, then close. */
static void refuse(struct connection *c, const struct error *err)
{
    struct buf body = {0};
    struct jsonw w = jsonw_to(&body);

    uv_read_stop(&c->io.stream);
    c->state = ANSWERING;
    c->close_after = true;
    c->head_only = false;
    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "Status");
    jsonw_member_str(&w, "apiVersion", "v1");
    jsonw_member_open(&w, "metadata");
    jsonw_close(&w);
    jsonw_member_str(&w, "status", "Failure");
    jsonw_member_str(&w, "message", err->message);
    jsonw_member_str(&w, "reason", error_reason(err->code));
    jsonw_member_int(&w, "code", error_http_status(err->code));
    jsonw_close(&w);
    answer_head(&c->answer, error_http_status(err->code), "application/json", NULL);
    answer_data(&c->answer, body.data, body.len);
    buf_release(&body);
    answer_end(&c->answer);
}

static void drop_consumed(struct connection *c, size_t n)
{
    memmove(c->in.data, c->in.data + n, c->in.len - n);
    c->in.len -= n;
}

static bool begin_message(struct connection *c)
{
    struct error err = {0};

    c->head_len = precheck_head_length(c->in.data, c->in.len);
    if (c->head_len > HEAD_BYTES_MAX || (!c->head_len && c->in.len > HEAD_BYTES_MAX)) {
        error_set(&err, ERR_BAD_REQUEST, "", "the head of the request is larger than %d bytes",
                  HEAD_BYTES_MAX);
        refuse(c, &err);
        return false;
    }
    if (!c->head_len) {
        if (!timer_armed(&c->deadline) || c->in.len)
            timer_start(c->loop, &c->deadline, c->in.len ? HEAD_TIMEOUT_MS : IDLE_TIMEOUT_MS);
        return false;
    }
    if (!precheck_head(c->in.data, c->head_len, &err)) {
        refuse(c, &err);
        return false;
    }
    c->state = READING_BODY;
    timer_start(c->loop, &c->deadline, BODY_TIMEOUT_MS);
    return true;
}

/* Feed what has come to the parser; a complete request is dispatched. */
static void consume(struct connection *c)
{
    struct error err = {0};
    enum llhttp_errno result;
    size_t used;

    if (c->state == READING_HEAD && (c->in.len == 0 || !begin_message(c)))
        return;
    if (c->state != READING_BODY)
        return;
    result = llhttp_execute(&c->parser, c->in.data, c->in.len);
    used = result == HPE_OK ? c->in.len : (size_t)(llhttp_get_error_pos(&c->parser) - c->in.data);
    if (result == HPE_OK || c->message_done) {
        drop_consumed(c, used);
        if (c->message_done)
            dispatch(c);
        else if (c->expects_continue) {
            struct buf go_on = {0};

            buf_str(&go_on, "HTTP/1.1 100 Continue\r\n\r\n");
            c->expects_continue = false;
            send_bytes(c, &go_on);
        }
        return;
    }
    if (c->refused.code == ERR_NONE)
        error_set(&err, ERR_BAD_REQUEST, "", "the request is not HTTP/1.1: %s",
                  llhttp_get_error_reason(&c->parser));
    refuse(c, c->refused.code == ERR_NONE ? &err : &c->refused);
}

static void reset_message(struct connection *c)
{
    struct buf *const texts[] = {&c->target, &c->accept, &c->content_type, &c->user_agent,
                                 &c->field,  &c->body,   &c->head,         &c->out};

    for (size_t i = 0; i < countof(texts); i++)
        buf_clear(texts[i]);
    llhttp_init(&c->parser, HTTP_REQUEST, &c->settings);
    c->parser.data = c;
    c->value = NULL;
    c->message_done = c->chunked = c->ended = c->expects_continue = false;
    c->refused = (struct error){0};
    c->state = READING_HEAD;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct connection *c = handle->data;

    buf_reserve(&c->in, 16 << 10);
    *out = uv_buf_init(c->in.data + c->in.len, (unsigned)(c->in.cap - c->in.len));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct connection *c = stream->data;

    if (n < 0) {
        connection_close(c);
        return;
    }
    c->in.len += (size_t)n;
    if (c->state == ANSWERING && c->in.len > HEAD_BYTES_MAX) { /* pipelining has its bounds */
        uv_read_stop(stream);
        return;
    }
    consume(c);
}

static void next_request(struct connection *c)
{
    if (c->close_after) {
        connection_close(c);
        return;
    }
    reset_message(c);
    timer_start(c->loop, &c->deadline, IDLE_TIMEOUT_MS);
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
    c->settings.on_header_field = on_field;
    c->settings.on_header_value = on_value;
    c->settings.on_body = on_body;
    c->settings.on_message_complete = on_message;
    uv_pipe_init(loop_uv(loop), &c->io.pipe, 0);
    c->io.handle.data = c;
    reset_message(c);
    return c;
}

void connection_start(struct connection *c)
{
    timer_start(c->loop, &c->deadline, IDLE_TIMEOUT_MS);
    uv_read_start(&c->io.stream, on_alloc, on_read);
}
