#pragma once
/*
 * One HTTP/1.1 connection: reading head → reading body → answering → again, or close.
 *
 * While a request is answered, pipelined bytes wait in the buffer (bounded); a client that leaves
 * ends its answer. An answer that is complete within the turn goes out with its length, one that
 * goes on is chunked.
 */
#include "api/server/api.h"
#include <uv.h>

struct connection;

/** Take over an accepted stream (a uv_pipe_t or uv_tcp_t inside the connection, see
 * connection_stream). `closed` runs when it is gone. */
struct connection *connection_new(struct loop *loop, struct api *api,
                                  void (*closed)(void *ctx, struct connection *c), void *ctx);
uv_stream_t *connection_stream(struct connection *connection); /* accept into this, then start */
void connection_start(struct connection *connection);
void connection_close(struct connection *connection);
