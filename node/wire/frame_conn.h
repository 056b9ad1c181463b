#pragma once
/*
 * One end of a socket that carries frames (frame.h). It keeps received bytes until they are a whole
 * frame, and bytes to send until the socket has room.
 */
#include "base/buf.h"
#include "base/loop/reactor.h"
#include "node/wire/frame.h"

struct frame_conn {
    struct source source; /* the socket in the reactor; its fd is -1 when the connection is
                           * closed */
    struct buf in, out;
    bool writing; /* EPOLLOUT is requested, because `out` waits for room in the socket */
};

/** Receives one frame. `bytes` are the frame->size bytes of the whole frame. Both are borrowed for
 * the call. */
typedef void (*frame_conn_visit_fn)(void *ctx, struct frame *frame, const char *bytes);

/** Reads what has arrived, up to a bound per call. Returns false when the other end has closed; the
 * frames that it sent before are in `in`. */
bool frame_conn_read(struct frame_conn *conn);
/** Passes each whole frame to `visit`. Returns false when the received bytes are no frame. */
bool frame_conn_take(struct frame_conn *conn, frame_conn_visit_fn visit, void *ctx);
/** Sends as much of `out` as the socket takes, and the rest as soon as the socket has room. */
void frame_conn_flush(struct reactor *reactor, struct frame_conn *conn);
/** Does nothing for a closed connection. */
void frame_conn_close(struct reactor *reactor, struct frame_conn *conn);
