#pragma once
/*
 * The socket of a connection, unix or TCP, with or without TLS: delivers and takes plain bytes.
 *
 * Received bytes are appended to the owner's buffer before the owner is told. Sent bytes count as
 * in flight until the kernel has taken them.
 */
#include <uv.h>

#include "api/server/http/tls.h"
#include "base/buf.h"

enum io_socket { IO_UNIX, IO_TCP };

struct connection_io {
    union {
        uv_pipe_t pipe;
        uv_tcp_t tcp;
        uv_stream_t stream;
        uv_handle_t handle;
    } uv;
    struct tls *tls;   /* TLS of the connection; NULL: plain */
    bool has_received; /* at least one byte has been received */
    struct buf *in;    /* plain bytes that came; borrowed */
    size_t in_flight;  /* bytes handed to libuv and not yet written */
    bool closing;
    uv_shutdown_t shutdown;
    const struct io_events *events;
};

struct blob;

/* Bytes to send, in this order: bytes of its own, the texts of blobs, more bytes of its own. */
struct io_packet {
    struct buf bytes;
    struct blob **blobs; /* blobs that are being sent, [n_blobs] references */
    size_t n_blobs;
    struct buf after;
};
void io_packet_release(struct io_packet *packet);

/* Only `closed` is called once the io is closing. */
struct io_events {
    void (*received)(struct connection_io *io);
    void (*ended)(struct connection_io *io);  /* the peer sends no more */
    void (*failed)(struct connection_io *io); /* the owner must close it */
    void (*written)(struct connection_io *io);
    /* Called as the last call, when the connection is closed. */
    void (*closed)(struct connection_io *io);
};

/** Initialises the connection. `context` NULL: without TLS. */
void io_init(struct connection_io *io, uv_loop_t *loop, enum io_socket socket,
             struct tls_context *context, struct buf *in, const struct io_events *events);
/** Starts and stops reading. Both may be called repeatedly. */
void io_read_start(struct connection_io *io);
void io_read_stop(struct connection_io *io);
/** Sends a packet and leaves it empty. Bytes that the socket takes at once are never in flight;
 * `written` reports the others. May call `failed` at once. */
void io_send(struct connection_io *io, struct io_packet *packet);
/** Tells the peer that no more bytes come from this side. */
void io_end(struct connection_io *io);
void io_close(struct connection_io *io); /* closes the connection; may be called again */
