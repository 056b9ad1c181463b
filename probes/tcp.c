/*
 * tcpSocket: passes when the connection opens within the time limit. Nothing is sent.
 *
 * The operation owns two libuv handles and is freed when both are closed. A cancelled attempt is
 * free at once; the operation outlives it until libuv has closed the handles.
 */
#include "base/mem.h"
#include "probes/attempt.h"

struct tcp_operation {
    struct probe_attempt *attempt; /* attempt of the caller; NULL once `done` was called or the
                                    * attempt was cancelled */
    struct loop *loop;
    uv_tcp_t socket;
    uv_timer_t limit;
    uv_connect_t connect;
    int open_handles;
};

static void on_close(uv_handle_t *handle)
{
    struct tcp_operation *op = handle->data;

    if (--op->open_handles == 0)
        mem_free(op);
}

/* Ends the operation and returns its attempt. NULL when it has ended before: closing the socket
 * makes a pending connect call back with UV_ECANCELED. */
static struct probe_attempt *finish(struct tcp_operation *op)
{
    struct probe_attempt *attempt = op->attempt;

    if (!attempt)
        return NULL;
    op->attempt = NULL;
    attempt->operation = NULL;
    loop_unhold(op->loop);
    uv_close((uv_handle_t *)&op->socket, on_close);
    uv_close((uv_handle_t *)&op->limit, on_close);
    return attempt;
}

static void on_connect(uv_connect_t *connect, int status)
{
    struct probe_attempt *attempt = finish(connect->data);

    if (attempt)
        attempt->done(attempt, status == 0);
}

static void on_limit(uv_timer_t *limit)
{
    struct probe_attempt *attempt = finish(limit->data);

    if (attempt)
        attempt->done(attempt, false);
}

bool probe_tcp_start(struct loop *loop, struct probe_attempt *attempt,
                     const struct probe_tcp *entry, const struct probe_address *address)
{
    struct tcp_operation *op = mem_alloc(sizeof *op);
    int fd = probe_address_socket(address);

    op->attempt = attempt;
    op->loop = loop;
    op->open_handles = 2;
    op->socket.data = op->limit.data = op->connect.data = op;
    attempt->operation = op;
    loop_hold(loop);
    uv_tcp_init(loop_uv(loop), &op->socket);
    uv_timer_init(loop_uv(loop), &op->limit);
    if (fd >= 0)
        uv_tcp_open(&op->socket, fd);
    if (uv_tcp_connect(&op->connect, &op->socket, &address->sock.any, on_connect) != 0) {
        finish(op);
        return false;
    }
    uv_timer_start(&op->limit, on_limit, (uint64_t)probe_timeout_ms(entry->timeout_s), 0);
    return true;
}

void probe_tcp_cancel(struct probe_attempt *attempt)
{
    if (attempt->operation)
        finish(attempt->operation);
}
