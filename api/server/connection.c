/*
 * HTTP/1.1 on a stream.
 */
#include "api/server/connection.h"
#include "api/server/head.h"
#include "api/server/status.h"
#include "base/mem.h"
#include <llhttp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    BODY_BYTES_MAX = 64 << 20, /* DC-05: JobFlows of many steps; L-01 is checked by kind */
    HEAD_MS = 10000,           /* from the first byte of a head to its end */
    BODY_MS = 30000,           /* from the end of the head to the end of the body */
    IDLE_MS = 60000,           /* L-24 */
    ANSWER_MS = 60000,         /* L-24: until an answer begins */
    STALL_MS = 30000,          /* bytes wait and none goes out */
    LINGER_MS = 1000,          /* for the answer to be read before what was sent is dropped */
    KEPT_BYTES_MAX = 16 << 10, /* buffers above it are not kept between requests */
    AGENT_BYTES_MAX = 256,     /* of the User-Agent */
    AUDIT_ID_MAX = 20,
};

enum state { READING_HEAD, READING_BODY, ANSWERING, LINGERING, CLOSING };

struct connection {
    struct connection_io io;
    const struct connection_env *env;
    struct loop *loop;
    enum state state;
    struct timer deadline;

    /* the peer */
    char *peer;
    struct identity *socket_identity; /* unix socket; NULL */
    struct identity *certificate;     /* TLS; NULL */
    bool looked_at_certificate, certificate_refused;

    /* the request */
    llhttp_t parser;
    llhttp_settings_t settings;
    struct buf in;   /* bytes not yet consumed */
    size_t searched; /* of them, for the end of a head */
    struct buf target, accept, accept_encoding, content_type, authorization, user_agent, body;
    bool message_done, wants_continue;
    struct error refused;      /* what is wrong with it */
    struct identity *identity; /* who asks; a reference */
    int64_t began_ms, began_ns;

    /* the answer */
    struct api_answer answer;
    struct api_stream *request; /* being answered */
    struct task flush;
    struct buf head, out; /* status line and headers; body bytes: not yet handed over */
    bool head_only, keep_alive, lingers, has_head, chunked, ended, endless, draining;
    int status;
    char id[AUDIT_ID_MAX];
    struct buf object; /* what a change was about: "namespace/name" */
    int64_t revision;
    uint64_t bytes_out;
};

static void next_request(struct connection *c);

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

static struct connection *of_io(struct connection_io *io)
{
    return container_of(io, struct connection, io);
}

uv_stream_t *connection_stream(struct connection *c)
{
    return &c->io.uv.stream;
}

const char *connection_peer_name(const struct connection *c)
{
    return c->peer;
}

const struct identity *connection_identity(const struct connection *c)
{
    return c->identity;
}

void connection_set_peer(struct connection *c, struct identity *identity, char *name)
{
    mem_free(c->peer);
    identity_unref(c->socket_identity);
    c->peer = name;
    c->socket_identity = identity;
}

/* ---- closing ---- */

static void on_closed(struct connection_io *io)
{
    struct connection *c = of_io(io);
    struct buf *const buffers[] = {
        &c->in,   &c->target, &c->accept, &c->accept_encoding, &c->content_type, &c->user_agent,
        &c->body, &c->head,   &c->out,    &c->authorization,   &c->object};

    for (size_t i = 0; i < countof(buffers); i++)
        buf_release(buffers[i]);
    identity_unref(c->identity);
    identity_unref(c->certificate);
    identity_unref(c->socket_identity);
    c->env->closed(c->env->ctx, c);
    mem_free(c->peer);
    mem_free(c);
}

/* The request is over, one way or the other. */
static void tell(struct connection *c)
{
    const struct record record = {
        .identity = c->identity,
        .method = method_of(&c->parser),
        .method_name = llhttp_method_name((llhttp_method_t)c->parser.method),
        .target = c->target.data ? c->target.data : "",
        .peer = c->peer ? c->peer : "",
        .user_agent = c->user_agent.data ? c->user_agent.data : "",
        .id = c->id,
        .object = c->object.data ? c->object.data : "",
        .revision = c->revision,
        .status = c->status,
        .began_ms = c->began_ms,
        .duration_ns = loop_mono_ns(c->loop) - c->began_ns,
        .bytes_in = c->body.len,
        .bytes_out = c->bytes_out,
    };

    if (c->status)
        api_note(c->env->api, &record, c->endless);
    if (c->env->answered && c->status)
        c->env->answered(c->env->ctx, &record);
    c->status = 0;
}

void connection_close(struct connection *c)
{
    if (c->state == CLOSING)
        return;
    c->state = CLOSING;
    if (c->request) {
        api_cancel(take(c->request));
        tell(c);
    }
    timer_stop(c->loop, &c->deadline);
    loop_cancel(c->loop, &c->flush);
    io_close(&c->io);
}

/* ---- writing ---- */

static void on_written(struct connection_io *io)
{
    struct connection *c = of_io(io);

    if (io->in_flight > 0)
        timer_start(c->loop, &c->deadline, STALL_MS);
    else if (c->state == ANSWERING)
        timer_stop(c->loop, &c->deadline);
    if (io->in_flight > 0 || c->state != ANSWERING || c->flush.posted)
        return;
    if (c->ended)
        next_request(c);
    else if (c->request)
        api_drained(c->request);
}

static void send_bytes(struct connection *c, struct buf *bytes)
{
    if (c->io.in_flight == 0 && c->state == ANSWERING)
        timer_start(c->loop, &c->deadline, STALL_MS);
    io_send(&c->io, bytes);
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
    else if (c->ended && c->io.in_flight == 0)
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

    c->status = status;
    snprintf(c->id, sizeof c->id, "%016llx", (unsigned long long)clock_random(loop_clock(c->loop)));
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &parts));
    buf_printf(&c->head,
               "HTTP/1.1 %d %s\r\n"
               "Date: %s\r\n"
               "Audit-Id: %s\r\n"
               "X-Content-Type-Options: nosniff\r\n",
               status, status_http_phrase(status), date, c->id);
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
    c->bytes_out += c->head_only ? 0 : len;
    loop_post(c->loop, &c->flush);
}

static void answer_about(struct api_answer *answer, const struct object *object)
{
    struct connection *c = of(answer);
    const char *ns = object_namespace(object);

    buf_clear(&c->object);
    buf_printf(&c->object, "%s%s%s", ns, *ns ? "/" : "", object_name(object));
    c->revision = object->revision;
}

static void answer_end(struct api_answer *answer)
{
    struct connection *c = of(answer);

    c->request = NULL;
    c->ended = true;
    tell(c);
    if (c->has_head)
        loop_post(c->loop, &c->flush);
    else /* the API is being taken down before it could say anything */
        connection_close(c);
}

static size_t answer_backlog(const struct api_answer *answer)
{
    const struct connection *c = of(answer);

    return c->io.in_flight + c->out.len;
}

/* A request that cannot be understood: say why, then close. */
static void refuse(struct connection *c, const struct error *err)
{
    io_read_stop(&c->io);
    timer_stop(c->loop, &c->deadline);
    c->state = ANSWERING;
    c->keep_alive = false;
    c->lingers = true;
    c->ended = true;
    begin_head(c, error_http_status(err->code), "application/json");
    status_write_error(err, &(struct status_subject){0}, &c->out);
    tell(c);
    loop_post(c->loop, &c->flush);
}

static void refuse_slow(struct connection *c)
{
    io_read_stop(&c->io);
    c->state = ANSWERING;
    c->keep_alive = false;
    c->ended = true;
    begin_head(c, HTTP_STATUS_REQUEST_TIMEOUT, NULL);
    tell(c);
    loop_post(c->loop, &c->flush);
}

/* What was asked for may still happen: it is in the store's hands. */
static void refuse_late(struct connection *c)
{
    struct error err = {0};

    api_cancel(take(c->request));
    error_set(&err, ERR_TIMEOUT, "",
              "the request was not answered in %d s; whether it takes effect is not known",
              ANSWER_MS / 1000);
    refuse(c, &err);
}

static void on_deadline(struct timer *timer)
{
    struct connection *c = container_of(timer, struct connection, deadline);

    if (c->state == READING_BODY || (c->state == READING_HEAD && c->in.len > 0))
        refuse_slow(c);
    else if (c->state == ANSWERING && c->request && !c->has_head)
        refuse_late(c);
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

static const char *text_or_null(const struct buf *buf)
{
    return buf->len ? buf->data : NULL;
}

/* Who the client's certificate names: asked once, when the handshake is over. */
static void look_at_certificate(struct connection *c)
{
    enum { GROUPS_MAX = 32 };
    scoped(buf) struct buf user = {0}, groups = {0};
    const char *list[GROUPS_MAX];
    enum tls_certificate shown;
    size_t n = 0;

    if (c->looked_at_certificate || !c->io.tls)
        return;
    c->looked_at_certificate = true;
    shown = tls_peer(c->io.tls, &user, &groups);
    c->certificate_refused = shown == TLS_CERTIFICATE_UNKNOWN;
    if (shown != TLS_CERTIFICATE_GOOD)
        return;
    for (size_t at = 0; at < groups.len && n < GROUPS_MAX; at += strlen(groups.data + at) + 1)
        list[n++] = groups.data + at;
    c->certificate = identity_new(user.data, list, n);
}

static bool authenticate(struct connection *c, struct error *err)
{
    struct credentials credentials = {.socket = c->socket_identity, .peer = c->peer};

    if (!c->env->authn)
        return true;
    look_at_certificate(c);
    credentials.certificate = c->certificate;
    credentials.certificate_refused = c->certificate_refused;
    if (c->authorization.len)
        credentials.authorization =
            (struct head_value){c->authorization.data, c->authorization.len};
    c->identity = authn_identify(c->env->authn, &credentials, err);
    return c->identity != NULL;
}

static void dispatch(struct connection *c)
{
    struct api_request request = {
        .method = method_of(&c->parser),
        .target = c->target.data ? c->target.data : "",
        .accept = text_or_null(&c->accept),
        .content_type = text_or_null(&c->content_type),
        .accept_encoding = text_or_null(&c->accept_encoding),
        .user_agent = text_or_null(&c->user_agent),
        .body = c->body.data,
        .body_len = c->body.len,
    };
    struct error err = {0};

    timer_start(c->loop, &c->deadline, ANSWER_MS);
    c->state = ANSWERING;
    c->head_only = request.method == API_HEAD;
    if (authenticate(c, &err)) {
        request.identity = c->identity;
        c->request = api_handle(c->env->api, &request, &c->answer);
        c->endless = api_is_endless(c->request);
        if (c->endless)
            timer_stop(c->loop, &c->deadline);
    } else {
        c->request = api_refuse(c->env->api, &err, &c->answer);
    }
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
    if (!head_parse(c->in.data, len, &head, &err) ||
        (c->env->hosts && !host_check(c->env->hosts, &head, &err))) {
        refuse(c, &err);
        return false;
    }
    keep_value(&c->accept, head.accept);
    keep_value(&c->accept_encoding, head.accept_encoding);
    keep_value(&c->content_type, head.content_type);
    keep_value(&c->authorization, head.authorization);
    if (head.user_agent.len > AGENT_BYTES_MAX)
        head.user_agent.len = AGENT_BYTES_MAX;
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
        if (c->searched == 0) { /* its first bytes */
            timer_start(c->loop, &c->deadline, HEAD_MS);
            c->began_ms = loop_wall_ms(c->loop);
            c->began_ns = loop_mono_ns(c->loop);
        }
        if (!take_head(c))
            return;
        c->state = READING_BODY;
        timer_start(c->loop, &c->deadline, BODY_MS);
    }
    if (c->state == READING_BODY && c->in.len > 0)
        take_body(c);
}

/* The client has no more to say. It may still wait for its answer, but not for an endless one. */
static void on_end(struct connection_io *io)
{
    struct connection *c = of_io(io);

    io_read_stop(io);
    if (c->state != ANSWERING || (c->request && api_is_endless(c->request)))
        connection_close(c);
    else
        c->keep_alive = c->lingers = false;
}

static void on_failed(struct connection_io *io)
{
    connection_close(of_io(io));
}

static void on_received(struct connection_io *io)
{
    struct connection *c = of_io(io);

    if (c->state == LINGERING)
        buf_clear(&c->in);
    else if (c->state == ANSWERING && c->in.len > HEAD_BYTES_MAX) /* pipelining has its bounds */
        io_read_stop(io);
    else
        consume(c);
}

static const struct io_events io_events = {on_received, on_end, on_failed, on_written, on_closed};

/* ---- from one request to the next ---- */

static void reset(struct connection *c)
{
    struct buf *const buffers[] = {&c->target,       &c->accept,        &c->accept_encoding,
                                   &c->content_type, &c->authorization, &c->user_agent,
                                   &c->body,         &c->head,          &c->out,
                                   &c->object};

    for (size_t i = 0; i < countof(buffers); i++) {
        buf_clear(buffers[i]);
        if (buffers[i]->cap > KEPT_BYTES_MAX)
            buf_release(buffers[i]);
    }
    if (c->in.len == 0 && c->in.cap > KEPT_BYTES_MAX)
        buf_release(&c->in);
    identity_unref(take(c->identity));
    llhttp_init(&c->parser, HTTP_REQUEST, &c->settings);
    c->parser.data = c;
    c->searched = 0;
    c->status = 0;
    c->bytes_out = 0;
    c->revision = 0;
    c->refused = (struct error){0};
    c->message_done = c->wants_continue = false;
    c->has_head = c->chunked = c->ended = c->endless = c->lingers = c->head_only = false;
    c->state = READING_HEAD;
}

/* Closing with bytes unread could take the answer back: let the client read it first. */
static void linger(struct connection *c)
{
    c->state = LINGERING;
    timer_start(c->loop, &c->deadline, LINGER_MS);
    io_end(&c->io);
    io_read_start(&c->io);
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
    if (c->draining) {
        connection_close(c);
        return;
    }
    timer_start(c->loop, &c->deadline, IDLE_MS);
    io_read_start(&c->io); /* already reading is fine */
    consume(c);
}

/* ---- life ---- */

struct connection *connection_new(const struct connection_env *env,
                                  const struct connection_peer *peer)
{
    struct connection *c = mem_alloc(sizeof *c);

    c->env = env;
    c->loop = env->loop;
    c->peer = peer->name;
    c->socket_identity = peer->identity;
    c->deadline.fire = on_deadline;
    c->flush.run = on_flush;
    c->answer = (struct api_answer){
        .head = answer_head,
        .data = answer_data,
        .end = answer_end,
        .backlog = answer_backlog,
        .about = answer_about,
    };
    llhttp_settings_init(&c->settings);
    c->settings.on_url = on_target;
    c->settings.on_headers_complete = on_headers;
    c->settings.on_body = on_body;
    c->settings.on_message_complete = on_message;
    io_init(&c->io, loop_uv(c->loop), peer->socket, peer->tls, &c->in, &io_events);
    reset(c);
    return c;
}

void connection_start(struct connection *c)
{
    /* a handshake has no more time than a head */
    timer_start(c->loop, &c->deadline, c->io.tls ? HEAD_MS : IDLE_MS);
    io_read_start(&c->io);
}

void connection_turn_away(struct connection *c)
{
    struct error err = {0};

    error_set(&err, ERR_UNAVAILABLE, "", "too many connections; try again later");
    if (c->io.tls) /* there is no session to say it in */
        connection_close(c);
    else
        refuse(c, &err);
}

void connection_drain(struct connection *c)
{
    c->draining = true;
    if (c->state == READING_HEAD || c->state == READING_BODY)
        connection_close(c);
}
