#pragma once
/*
 * The two ends of a connection: a socket of the loop (unix or TCP), with TLS or without, and plain
 * bytes.
 *
 * Everything that comes is appended to the owner's buffer and told; everything that goes is counted
 * until the kernel has it.
 */
#include <uv.h>

#include "api/server/http/tls.h"
#include "base/buf.h"
#include "base/compiler.h"

enum io_socket { IO_UNIX, IO_TCP };

struct connection_io {
    union {
        uv_pipe_t pipe;
        uv_tcp_t tcp;
        uv_stream_t stream;
        uv_handle_t handle;
    } uv;
    struct tls *tls;  /* NULL: plain */
    bool heard;       /* something has come */
    struct buf *in;   /* plain bytes that came; borrowed */
    size_t in_flight; /* bytes handed to libuv and not yet written */
    bool closing;
    uv_shutdown_t shutdown;
    const struct io_events *events;
};

struct blob;

/* Bytes to send: some of its own, the texts of blobs, some more. */
struct io_packet {
    struct buf bytes;
    struct blob **lines; /* [n_lines] references */
    size_t n_lines;
    struct buf after;
};
void io_packet_release(struct io_packet *packet);

/* None of them is called once the io is closing, but `closed`. */
struct io_events {
    void (*received)(struct connection_io *io);
    void (*ended)(struct connection_io *io);  /* the peer has no more to say */
    void (*failed)(struct connection_io *io); /* close it */
    void (*written)(struct connection_io *io);
    void (*closed)(struct connection_io *io); /* the last call */
};

/** `context` NULL: without TLS. */
void io_init(struct connection_io *io, uv_loop_t *loop, enum io_socket socket,
             struct tls_context *context, struct buf *in, const struct io_events *events);
/** Both may be called again at any time. */
void io_read_start(struct connection_io *io);
void io_read_stop(struct connection_io *io);
/** Take what is in the packet, leave it empty. What the socket takes at once was never in flight,
 * and `written` is told of the rest. May end in `failed` at once. */
void io_send(struct connection_io *io, struct io_packet *packet);
/** Say that nothing more comes from us. */
void io_end(struct connection_io *io);
void io_close(struct connection_io *io); /* idempotent */
