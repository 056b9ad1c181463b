/*
 * The life of a connection: its states, its deadline, and the way from one request to the next.
 *
 * One timer serves every state; what it means when it fires is in on_deadline. Buffers are kept
 * from request to request while they are small.
 */
#include "api/server/connection_impl.h"
#include "api/server/head.h"
#include "base/mem.h"

enum { KEPT_BYTES_MAX = 16 << 10 }; /* buffers above it are not kept between requests */

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

bool connection_is_admin(const struct connection *c)
{
    return c->is_admin;
}

void connection_set_peer(struct connection *c, struct identity *identity, char *name)
{
    mem_free(c->peer);
    identity_unref(c->socket_identity);
    c->peer = name;
    c->socket_identity = identity;
}

/* ---- buffers ---- */

static void each_buffer(struct connection *c, void (*act)(struct buf *buf))
{
    struct buf *const buffers[] = {&c->target,       &c->accept,        &c->accept_encoding,
                                   &c->content_type, &c->authorization, &c->user_agent,
                                   &c->body,         &c->head,          &c->out,
                                   &c->object};

    for (size_t i = 0; i < countof(buffers); i++)
        act(buffers[i]);
}

static void empty(struct buf *buf)
{
    buf_clear(buf);
    if (buf->cap > KEPT_BYTES_MAX)
        buf_release(buf);
}

/* ---- closing ---- */

static void on_closed(struct connection_io *io)
{
    struct connection *c = of_io(io);

    each_buffer(c, buf_release);
    buf_release(&c->in);
    identity_unref(c->identity);
    identity_unref(c->certificate);
    identity_unref(c->socket_identity);
    c->env->closed(c->env->ctx, c);
    mem_free(c->peer);
    mem_free(c);
}

void connection_close(struct connection *c)
{
    if (c->state == CLOSING)
        return;
    c->state = CLOSING;
    if (c->request) {
        api_cancel(take(c->request));
        answer_tell(c);
    }
    request_reset(c);
    timer_stop(c->loop, &c->deadline);
    loop_cancel(c->loop, &c->flush);
    io_close(&c->io);
}

void connection_stop(struct connection *c)
{
    if (c->state == ANSWERING)
        answer_flush(c);
    connection_close(c);
}

/* ---- from one request to the next ---- */

static void reset(struct connection *c)
{
    each_buffer(c, empty);
    if (c->in.len == 0)
        empty(&c->in);
    request_reset(c);
    answer_reset(c);
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

void connection_next(struct connection *c)
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
    request_consume(c);
}

/* ---- what happens to it ---- */

static void on_deadline(struct timer *timer)
{
    struct connection *c = container_of(timer, struct connection, deadline);

    if (c->state == READING_BODY || (c->state == READING_HEAD && c->in.len > 0))
        answer_refuse_slow(c);
    else if (c->state == ANSWERING && c->request && !c->has_head)
        answer_refuse_late(c);
    else
        connection_close(c);
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
        request_consume(c);
}

static void on_written(struct connection_io *io)
{
    answer_written(of_io(io));
}

static const struct io_events io_events = {on_received, on_end, on_failed, on_written, on_closed};

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
    request_init(c);
    answer_init(c);
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
        answer_refuse(c, &err);
}

void connection_drain(struct connection *c)
{
    c->draining = true;
    if (c->state == READING_HEAD || c->state == READING_BODY)
        connection_close(c);
}
