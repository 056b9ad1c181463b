#pragma once
/*
 * One end of a socket that carries frames (frame.h): what has come and is not whole yet, what has
 * to go and has found no room.
 */
#include "base/buf.h"
#include "base/reactor.h"
#include "node/wire/frame.h"

struct peer {
    struct source source; /* fd -1 = nobody is there */
    struct buf in, out;
    bool writing; /* waits for room in the socket */
};

typedef void (*peer_take_fn)(void *ctx, struct wire_frame *frame, const char *bytes);

/** Take what is there. False: the other end is gone; what it said before is in `in`. */
bool peer_read(struct peer *peer);
/** Hand over all that is whole. False: what came is no frame. */
bool peer_take(struct peer *peer, peer_take_fn taker, void *ctx);
/** Send what there is room for. */
void peer_flush(struct reactor *reactor, struct peer *peer);
void peer_close(struct reactor *reactor, struct peer *peer); /* no-op when it is */
