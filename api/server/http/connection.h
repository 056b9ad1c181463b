#pragma once
/*
 * One HTTP/1.1 connection.
 *
 *   reading head ─► reading body ─► answering ─┬─► reading head … (keep-alive)
 *        │  refused, too slow           │      └─► closing
 *        └──────────────► answering ────┴─► lingering ─► closing
 *
 * Pipelined requests are taken while those before them wait for the disk and for nothing else, so
 * that one commit serves them all; behind a longer answer they wait in the buffer. Both are
 * bounded, and answers go out in order. A client that leaves ends its watch. An answer that is
 * complete within the turn goes out with its length, one that goes on is chunked. Deadlines are on
 * the whole of a head, of a body and of the wait for an answer (SEC-10, L-23, L-24).
 */
#include "api/server/api.h"
#include "api/server/auth/authn.h"
#include "api/server/http/connection_io.h"
#include "api/server/http/host_check.h"
#include "api/server/rest/request_record.h"

struct connection;

/* Bodies beyond LARGE_BODY_BYTES are for flows of many steps: a few at a time (P-13). */
enum { LARGE_BODY_BYTES = 4 << 20, LARGE_BODIES_MAX = 4 };

/* What the connections of a listener have in common; borrowed. */
struct connection_env {
    struct loop *loop;
    struct api *api;
    struct authn *authn;           /* NULL: whoever gets here may do everything */
    const struct host_list *hosts; /* of TCP; may be NULL for unix sockets */
    size_t *large_bodies; /* of all listeners together, how many are being read; may be NULL */
    void (*closed)(void *ctx, struct connection *c);
    void (*answered)(void *ctx, const struct request_record *record); /* may be NULL */
    void *ctx;
};

/* Who is at the other end. */
struct connection_peer {
    enum io_socket socket;
    struct tls_context *tls;   /* NULL: plain */
    struct identity *identity; /* unix socket; a reference, consumed; NULL */
    char *name;                /* address or user, for logs and counting; consumed */
};

/** Accept into, or open, its stream, then start. `closed` runs when it is gone. */
struct connection *connection_new(const struct connection_env *env,
                                  const struct connection_peer *peer);
uv_stream_t *connection_stream(struct connection *connection);
const char *connection_peer_name(const struct connection *connection);
/** The token of somebody who is being answered there has been revoked. */
bool connection_is_revoked(const struct connection *connection);
/** Somebody there has shown that he is an administrator. */
bool connection_is_admin(const struct connection *connection);
/** What becomes known of the peer once it was accepted; consumed. */
void connection_set_peer(struct connection *connection, struct identity *identity, char *name);
void connection_start(struct connection *connection);
/** Answer 503 without reading anything, and close. */
void connection_refuse_busy(struct connection *connection);
/** No new request: close now when idle, end a watch, finish an answer. */
void connection_drain(struct connection *connection);
/** Send what is ready, as far as the socket takes it at once, and close. */
void connection_stop(struct connection *connection);
void connection_close(struct connection *connection); /* at once */
