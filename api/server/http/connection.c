/*
 * The states of a connection, its deadline, and the decision when it takes further requests.
 *
 * One timer serves everything a connection can wait for. Its time is for the whole of what is
 * awaited: it starts anew only when the connection waits for something else, or when
 * connection_progress reports progress.
 */
#include "api/server/http/internal.h"
#include "api/server/message/request_head.h"
#include "base/mem.h"

static struct connection *connection_of(struct connection_io *io)
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

bool connection_is_revoked(const struct connection *c)
{
    for (const struct exchange *x = c->first; x; x = x->next)
        if (x->stream && x->identity && x->identity->revoked)
            return true;
    return false;
}

void connection_eviction_candidate(const struct connection *c, struct eviction_candidate *out)
{
    *out = (struct eviction_candidate){
        .standing = c->known || connection_socket(c) == IO_UNIX ? STANDING_AUTHENTICATED
                    : c->io.has_received                        ? STANDING_UNAUTHENTICATED
                                                                : STANDING_SILENT,
        .group = c->group,
        .number = c->number,
    };
}

enum io_socket connection_socket(const struct connection *c)
{
    return c->io.uv.handle.type == UV_TCP ? IO_TCP : IO_UNIX;
}

/* After its first authenticated request the connection is not evicted any more, unless its user has
 * too many connections. Administrators have no limit. */
void connection_take_identity(struct connection *c, struct identity *identity)
{
    if (c->known || !identity->authenticated ||
        (identity->connections >= c->env->connections_per_identity &&
         identity_role(identity, NULL) != ROLE_ADMIN))
        return;
    c->known = identity_ref(identity);
    identity->connections++;
}

static void give_identity_back(struct connection *c)
{
    if (!c->known)
        return;
    c->known->connections--;
    identity_unref(c->known);
}

void connection_set_peer(struct connection *c, struct identity *identity, char *name)
{
    mem_free(c->peer);
    identity_unref(c->socket_identity);
    c->peer = name;
    c->socket_identity = identity;
    peer_group(name, c->group);
}

static enum connection_awaits awaited(const struct connection *c)
{
    if (c->state == LINGERING)
        return AWAITS_PEER_CLOSE;
    if (c->io.in_flight > 0)
        return AWAITS_WRITE;
    if (c->first)
        return c->first->stream && c->first->progress == RESPONSE_NOT_BEGUN &&
                       !c->first->long_running
                   ? AWAITS_RESPONSE
                   : AWAITS_NOTHING;
    if (c->state == READING_BODY)
        return AWAITS_BODY;
    if (c->in.len > 0)
        return AWAITS_HEAD;
    return c->io.tls && !c->has_received ? AWAITS_HANDSHAKE : AWAITS_REQUEST;
}

static void set_deadline(struct connection *c)
{
    static const int wait_ms[] = {
        [AWAITS_HANDSHAKE] = HEAD_MS,    [AWAITS_REQUEST] = IDLE_MS,      [AWAITS_HEAD] = HEAD_MS,
        [AWAITS_BODY] = BODY_MS,         [AWAITS_RESPONSE] = RESPONSE_MS, [AWAITS_WRITE] = STALL_MS,
        [AWAITS_PEER_CLOSE] = LINGER_MS,
    };
    enum connection_awaits what = awaited(c);

    if (what == c->awaits)
        return;
    c->awaits = what;
    if (what == AWAITS_NOTHING)
        timer_stop(c->loop, &c->deadline);
    else
        timer_start(c->loop, &c->deadline, wait_ms[what]);
}

void connection_progress(struct connection *c)
{
    c->awaits = AWAITS_NOTHING;
    timer_stop(c->loop, &c->deadline);
}

static void on_deadline(struct timer *timer)
{
    struct connection *c = container_of(timer, struct connection, deadline);
    enum connection_awaits what = c->awaits;

    c->awaits = AWAITS_NOTHING;
    if (what == AWAITS_HEAD || what == AWAITS_BODY)
        response_refuse_slow(c);
    else if (what == AWAITS_RESPONSE)
        response_refuse_late(c);
    else
        connection_close(c);
}

static void on_closed(struct connection_io *io)
{
    struct connection *c = connection_of(io);

    request_release(c);
    give_identity_back(c);
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
    exchange_drop_all(c);
    request_reset(c);
    connection_progress(c);
    loop_cancel(c->loop, &c->flush);
    io_close(&c->io);
}

void connection_stop(struct connection *c)
{
    if (c->first && c->state != CLOSING)
        response_flush(c);
    connection_close(c);
}

/* Closes a finished connection. With unread bytes in the socket, closing at once would send a reset
 * that can destroy the response on its way, so the client gets time to read it first. */
static void linger_or_close(struct connection *c)
{
    if (c->after != LINGER_AFTER || c->peer_ended) {
        connection_close(c);
        return;
    }
    c->state = LINGERING;
    io_end(&c->io);
    io_read_start(&c->io);
}

static bool takes_requests(const struct connection *c)
{
    return c->after == KEEP_OPEN && !c->draining && exchange_has_room(c);
}

static bool is_finished(const struct connection *c)
{
    bool may_come = c->state != CLOSING && c->after == KEEP_OPEN && !c->draining && !c->peer_ended;

    return !c->first && c->io.in_flight == 0 && !may_come;
}

void connection_advance(struct connection *c)
{
    if (c->io.in_flight == 0 && c->first && c->first->stream && !c->flush.posted)
        c->first->handler->ops->drained(c->first->stream);
    if (c->state == RESPONDING && takes_requests(c)) {
        c->state = READING_HEAD;
        if (!c->peer_ended)
            io_read_start(&c->io); /* already reading is fine */
        request_consume(c);
    }
    if (c->state == CLOSING || c->state == LINGERING)
        return;
    if (is_finished(c))
        linger_or_close(c);
    else
        request_send_continue(c);
    if (c->state != CLOSING)
        set_deadline(c);
}

/* The client sends no more. It may still wait for its responses, except for a long-running one. */
static void on_end(struct connection_io *io)
{
    struct connection *c = connection_of(io);

    io_read_stop(io);
    c->peer_ended = true;
    if (c->state == LINGERING || (!c->first && io->in_flight == 0) ||
        (c->first && c->first->stream && c->first->long_running))
        connection_close(c);
}

static void on_failed(struct connection_io *io)
{
    connection_close(connection_of(io));
}

static void on_received(struct connection_io *io)
{
    struct connection *c = connection_of(io);

    c->has_received = true;
    if (c->state == LINGERING) {
        buf_clear(&c->in);
        return;
    }
    if (c->state != RESPONDING)
        request_consume(c);
    /* No more is read, which bounds pipelining. */
    if (c->state == RESPONDING && c->in.len > REQUEST_HEAD_BYTES_MAX)
        io_read_stop(io);
    if (c->state != CLOSING)
        set_deadline(c);
}

/* The kernel has taken some or all of the bytes in flight. */
static void on_written(struct connection_io *io)
{
    struct connection *c = connection_of(io);

    connection_progress(c);
    if (c->first && c->first->blobs.n && !c->first->batch_entry.waits.le_prev)
        response_flush(c);
    if (c->state != CLOSING)
        connection_advance(c);
}

static const struct io_events io_events = {on_received, on_end, on_failed, on_written, on_closed};

struct connection *connection_new(const struct connection_env *env,
                                  const struct connection_peer *peer)
{
    struct connection *c = mem_alloc(sizeof *c);

    c->env = env;
    c->loop = env->loop;
    c->peer = peer->name;
    c->socket_identity = peer->identity;
    c->number = peer->number;
    c->deadline.fire = on_deadline;
    c->last = &c->first;
    response_init_connection(c);
    io_init(&c->io, loop_uv(c->loop), peer->socket, peer->tls, &c->in, &io_events);
    request_reset(c);
    return c;
}

void connection_start(struct connection *c)
{
    io_read_start(&c->io);
    if (c->state != CLOSING)
        set_deadline(c);
}

void connection_refuse_busy(struct connection *c)
{
    struct error err = {0};

    error_set(&err, ERR_UNAVAILABLE, "", "too many connections; try again later");
    if (c->io.tls) /* without a TLS session the refusal cannot be sent */
        connection_close(c);
    else
        response_refuse(c, &err);
}

void connection_drain(struct connection *c)
{
    c->draining = true;
    if (!c->first && c->state != LINGERING)
        connection_close(c);
    else if (c->state != LINGERING && c->state != CLOSING)
        c->state = RESPONDING;
}
