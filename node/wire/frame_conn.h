#pragma once
/*
 * One end of a socket that carries frames (frame.h): what has come and is not whole yet, what has
 * to go and has found no room.
 */
#include "base/buf.h"
#include "base/reactor.h"
#include "node/wire/frame.h"

struct frame_conn {
    struct source source; /* fd -1 = nobody is there */
    struct buf in, out;
    bool writing; /* waits for room in the socket */
};

typedef void (*frame_conn_take_fn)(void *ctx, struct frame *frame, const char *bytes);

/** Take what is there. False: the other end is gone; what it said before is in `in`. */
bool frame_conn_read(struct frame_conn *peer);
/** Hand over all that is whole. False: what came is no frame. */
bool frame_conn_take(struct frame_conn *peer, frame_conn_take_fn taker, void *ctx);
/** Send what there is room for. */
void frame_conn_flush(struct reactor *reactor, struct frame_conn *peer);
void frame_conn_close(struct reactor *reactor, struct frame_conn *peer); /* no-op when it is */
