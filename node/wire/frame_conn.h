#pragma once
/*
 * One end of a socket that carries frames (frame.h). It keeps received bytes until they are a whole
 * frame, and bytes to send until the socket has room.
 */
#include "base/buf.h"
#include "base/reactor.h"
#include "node/wire/frame.h"

struct frame_conn {
    struct source source; /* fd -1 = closed */
    struct buf in, out;
    bool writing; /* EPOLLOUT is requested: `out` waits for room in the socket */
};

/** Receives one frame; `bytes` are its frame->size bytes. Both are borrowed for the call. */
typedef void (*frame_conn_visit_fn)(void *ctx, struct frame *frame, const char *bytes);

/** Read what has arrived, up to a bound per call. False: the other end has closed; frames it sent
 * before are in `in`. */
bool frame_conn_read(struct frame_conn *conn);
/** Pass each whole frame to `visit`. False: the bytes are no frame. */
bool frame_conn_take(struct frame_conn *conn, frame_conn_visit_fn visit, void *ctx);
/** Send as much of `out` as the socket takes; the rest when it has room. */
void frame_conn_flush(struct reactor *reactor, struct frame_conn *conn);
void frame_conn_close(struct reactor *reactor, struct frame_conn *conn); /* no-op when closed */
