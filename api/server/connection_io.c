/*
 * Sockets and TLS.
 */
#include "api/server/connection_io.h"
#include "base/mem.h"

enum { READ_BYTES = 64 << 10 };

/* One loop, one read at a time: what is read is taken in before the next one. */
static char scratch[READ_BYTES];

struct write {
    uv_write_t req;
    struct connection_io *io;
    struct buf bytes;
};

static struct connection_io *of(uv_handle_t *handle)
{
    return handle->data;
}

void io_init(struct connection_io *io, uv_loop_t *loop, enum io_socket socket,
             struct tls_context *context, struct buf *in, const struct io_events *events)
{
    if (socket == IO_UNIX)
        uv_pipe_init(loop, &io->uv.pipe, 0);
    else
        uv_tcp_init(loop, &io->uv.tcp);
    io->uv.handle.data = io;
    io->tls = context ? tls_new(context) : NULL;
    io->in = in;
    io->events = events;
}

/* ---- out ---- */

static void on_written(uv_write_t *req, int status)
{
    struct write *write = container_of(req, struct write, req);
    struct connection_io *io = write->io;

    io->in_flight -= write->bytes.len;
    buf_release(&write->bytes);
    mem_free(write);
    if (io->closing)
        return;
    if (status < 0)
        io->events->failed(io);
    else
        io->events->written(io);
}

static bool send_wire(struct connection_io *io, struct buf *bytes)
{
    struct write *write = mem_alloc(sizeof *write);
    uv_buf_t vector = uv_buf_init(bytes->data, (unsigned)bytes->len);

    write->io = io;
    write->bytes = *bytes;
    *bytes = (struct buf){0};
    io->in_flight += write->bytes.len;
    if (uv_write(&write->req, &io->uv.stream, &vector, 1, on_written) == 0)
        return true;
    io->in_flight -= write->bytes.len;
    buf_release(&write->bytes);
    mem_free(write);
    return false;
}

void io_send(struct connection_io *io, struct buf *bytes)
{
    struct buf wire = {0};
    bool ok;

    if (io->tls) {
        ok = tls_send(io->tls, bytes, &wire);
        buf_release(bytes);
        ok = ok && send_wire(io, &wire);
        buf_release(&wire);
    } else {
        ok = send_wire(io, bytes);
    }
    if (!ok)
        io->events->failed(io);
}

/* ---- in ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    *out = uv_buf_init(scratch, READ_BYTES);
}

static void take_tls(struct connection_io *io, size_t n)
{
    struct buf wire = {0};
    size_t before = io->in->len;
    enum tls_state state = tls_receive(io->tls, scratch, n, io->in, &wire);

    if (wire.len && !send_wire(io, &wire))
        state = TLS_FAILED;
    buf_release(&wire);
    if (state == TLS_FAILED) {
        io->events->failed(io);
        return;
    }
    if (io->in->len > before)
        io->events->received(io);
    if (state == TLS_ENDED && !io->closing)
        io->events->ended(io);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct connection_io *io = of((uv_handle_t *)stream);

    if (n == UV_EOF) {
        io->events->ended(io);
    } else if (n < 0) {
        io->events->failed(io);
    } else if (n > 0 && io->tls) {
        take_tls(io, (size_t)n);
    } else if (n > 0) {
        buf_add(io->in, bytes->base, (size_t)n);
        io->events->received(io);
    }
}

void io_read_start(struct connection_io *io)
{
    int result = uv_read_start(&io->uv.stream, on_alloc, on_read);

    if (result < 0 && result != UV_EALREADY)
        io->events->failed(io);
}

void io_read_stop(struct connection_io *io)
{
    uv_read_stop(&io->uv.stream);
}

/* ---- the end ---- */

static void on_shutdown(uv_shutdown_t *req, int status)
{
    /* what matters is that the client sees our end; the owner's deadline does the rest */
}

void io_end(struct connection_io *io)
{
    struct buf wire = {0};

    if (io->tls)
        tls_end(io->tls, &wire);
    if (wire.len)
        send_wire(io, &wire);
    buf_release(&wire);
    if (uv_shutdown(&io->shutdown, &io->uv.stream, on_shutdown) < 0)
        io->events->failed(io);
}

static void on_closed(uv_handle_t *handle)
{
    struct connection_io *io = of(handle);

    tls_free(io->tls);
    io->events->closed(io);
}

/* The end of a TLS session is told as far as the socket takes it at once. */
static void say_goodbye(struct connection_io *io)
{
    scoped(buf) struct buf wire = {0};
    uv_buf_t vector;

    tls_end(io->tls, &wire);
    vector = uv_buf_init(wire.data, (unsigned)wire.len);
    if (wire.len)
        uv_try_write(&io->uv.stream, &vector, 1);
}

void io_close(struct connection_io *io)
{
    if (io->closing)
        return;
    io->closing = true;
    if (io->tls && io->in_flight == 0)
        say_goodbye(io);
    uv_close(&io->uv.handle, on_closed);
}
