/*
 * Moves bytes between a socket and its connection with libuv. With TLS the session (tls.c) works on
 * memory buffers in between, so libuv does all reading and writing.
 */
#include "api/server/http/connection_io.h"

#include "api/types/blob.h"
#include "base/mem.h"

enum { READ_BYTES = 64 << 10 };

/* Shared by all connections: the loop reads one socket at a time and the bytes are copied out
 * before the next read. */
static char scratch[READ_BYTES];

struct write {
    uv_write_t req;
    struct connection_io *io;
    struct io_packet packet;
    size_t len;
};

static struct connection_io *io_of(uv_handle_t *handle)
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

void io_packet_release(struct io_packet *packet)
{
    for (size_t i = 0; i < packet->n_blobs; i++)
        blob_unref(packet->blobs[i]);
    mem_free(packet->blobs);
    buf_release(&packet->bytes);
    buf_release(&packet->after);
    *packet = (struct io_packet){0};
}

static void write_free(struct write *write)
{
    write->io->in_flight -= write->len;
    io_packet_release(&write->packet);
    mem_free(write);
}

static void on_written(uv_write_t *req, int status)
{
    struct write *write = container_of(req, struct write, req);
    struct connection_io *io = write->io;

    write_free(write);
    if (io->closing)
        return;
    if (status < 0)
        io->events->failed(io);
    else
        io->events->written(io);
}

/* The parts of a packet in order, as libuv takes them. */
struct parts {
    uv_buf_t few[20], *at; /* `at` has the parts: in `few`, or allocated */
    unsigned n;
    size_t len;
};

static void add_part(struct parts *parts, const void *bytes, size_t len)
{
    if (len == 0)
        return;
    parts->at[parts->n++] = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)len);
    parts->len += len;
}

static void parts_init(struct parts *parts, const struct io_packet *packet)
{
    parts->n = 0;
    parts->len = 0;
    parts->at = packet->n_blobs + 2 > countof(parts->few)
                    ? mem_array(packet->n_blobs + 2, sizeof *parts->at)
                    : parts->few;
    add_part(parts, packet->bytes.data, packet->bytes.len);
    for (size_t i = 0; i < packet->n_blobs; i++)
        add_part(parts, packet->blobs[i]->text, packet->blobs[i]->len);
    add_part(parts, packet->after.data, packet->after.len);
}

/* Skips the first `taken` bytes; returns the index of the first part that is left. */
static unsigned parts_skip(struct parts *parts, size_t taken)
{
    unsigned i = 0;

    parts->len -= taken;
    for (; i < parts->n && taken >= parts->at[i].len; i++)
        taken -= parts->at[i].len;
    if (i < parts->n) {
        parts->at[i].base += taken;
        parts->at[i].len -= taken;
    }
    return i;
}

/* Writes as much as the socket takes at once and queues the rest, which is then in flight. */
static bool write_parts(struct connection_io *io, struct io_packet *packet, struct parts *parts)
{
    int taken = io->in_flight ? 0 : uv_try_write(&io->uv.stream, parts->at, parts->n);
    unsigned first = parts_skip(parts, taken > 0 ? (size_t)taken : 0);
    struct write *write;

    if (parts->len == 0)
        return true;
    write = mem_alloc(sizeof *write);
    write->io = io;
    write->packet = *packet;
    write->len = parts->len;
    *packet = (struct io_packet){0};
    io->in_flight += write->len;
    if (uv_write(&write->req, &io->uv.stream, parts->at + first, parts->n - first, on_written) == 0)
        return true;
    write_free(write);
    return false;
}

static bool send_wire(struct connection_io *io, struct io_packet *packet)
{
    struct parts parts;
    bool ok;

    parts_init(&parts, packet);
    ok = write_parts(io, packet, &parts);
    if (parts.at != parts.few)
        mem_free(parts.at);
    io_packet_release(packet);
    return ok;
}

static bool send_bytes(struct connection_io *io, struct buf *bytes)
{
    struct io_packet packet = {.bytes = *bytes};

    *bytes = (struct buf){0};
    return send_wire(io, &packet);
}

/* TLS encrypts one contiguous stretch of bytes, so the blobs are copied into it. */
static bool send_tls(struct connection_io *io, struct io_packet *packet)
{
    struct buf wire = {0};
    bool ok;

    for (size_t i = 0; i < packet->n_blobs; i++)
        buf_add(&packet->bytes, packet->blobs[i]->text, packet->blobs[i]->len);
    buf_add(&packet->bytes, packet->after.data, packet->after.len);
    ok = tls_send(io->tls, &packet->bytes, &wire);
    io_packet_release(packet);
    ok = ok && send_bytes(io, &wire);
    buf_release(&wire);
    return ok;
}

void io_send(struct connection_io *io, struct io_packet *packet)
{
    if (!(io->tls ? send_tls : send_wire)(io, packet))
        io->events->failed(io);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    *out = uv_buf_init(scratch, READ_BYTES);
}

/* A TLS handshake begins with a byte that is not a letter, an HTTP request with its method. */
static bool looks_like_http(const char *bytes, size_t n)
{
    return n > 0 && bytes[0] >= 'A' && bytes[0] <= 'Z';
}

/* Answers a plain HTTP request on a TLS port in plain HTTP, because the client would not understand
 * a TLS alert. */
static void refuse_plain_http(struct connection_io *io)
{
    struct buf bytes = {0};

    buf_str(&bytes, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n"
                    "Connection: close\r\n\r\nthis port speaks TLS: use https://\n");
    send_bytes(io, &bytes);
    io->events->failed(io);
}

static void receive_tls(struct connection_io *io, size_t n)
{
    struct buf wire = {0};
    size_t before = io->in->len;
    enum tls_state state = tls_receive(io->tls, scratch, n, io->in, &wire);

    if (wire.len && !send_bytes(io, &wire))
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
    struct connection_io *io = io_of((uv_handle_t *)stream);

    if (n == UV_EOF) {
        io->events->ended(io);
    } else if (n < 0) {
        io->events->failed(io);
    } else if (n > 0 && io->tls && !io->has_received && looks_like_http(bytes->base, (size_t)n)) {
        refuse_plain_http(io);
    } else if (n > 0 && io->tls) {
        io->has_received = true;
        receive_tls(io, (size_t)n);
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

static void on_shutdown(uv_shutdown_t *req, int status)
{
    /* There is nothing to do: the owner's deadline closes the connection if the client does not. */
}

void io_end(struct connection_io *io)
{
    struct buf wire = {0};

    if (io->tls)
        tls_end(io->tls, &wire);
    if (wire.len)
        send_bytes(io, &wire);
    buf_release(&wire);
    if (uv_shutdown(&io->shutdown, &io->uv.stream, on_shutdown) < 0)
        io->events->failed(io);
}

static void on_closed(uv_handle_t *handle)
{
    struct connection_io *io = io_of(handle);

    tls_free(io->tls);
    io->events->closed(io);
}

/* Sends the close_notify of a TLS session if the socket takes it at once. */
static void send_close_notify(struct connection_io *io)
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
        send_close_notify(io);
    uv_close(&io->uv.handle, on_closed);
}
