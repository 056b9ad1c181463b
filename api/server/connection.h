#pragma once
/*
 * One HTTP/1.1 connection.
 *
 *   reading head ─► reading body ─► answering ─┬─► reading head … (keep-alive)
 *        │  refused, too slow           │      └─► closing
 *        └──────────────► answering ────┴─► lingering ─► closing
 *
 * While a request is answered, pipelined bytes wait in the buffer (bounded); a client that leaves
 * ends its watch. An answer that is complete within the turn goes out with its length, one that
 * goes on is chunked. Deadlines are on the whole of a head and of a body (SEC-10, L-23, L-24).
 */
#include "api/server/api.h"
#include <uv.h>

struct connection;

/** A connection that answers from `api`. Accept into, or open, its pipe, then start. `closed` runs
 * when it is gone. */
struct connection *connection_new(struct loop *loop, struct api *api,
                                  void (*closed)(void *ctx, struct connection *c), void *ctx);
uv_pipe_t *connection_pipe(struct connection *connection);
void connection_start(struct connection *connection);
/** Answer 503 without reading anything, and close. */
void connection_turn_away(struct connection *connection);
/** Send what is ready, as far as the socket takes it at once, and close. */
void connection_stop(struct connection *connection);
void connection_close(struct connection *connection); /* at once */
