#pragma once
/*
 * One HTTP/1.1 connection.
 *
 *   reading head ─► reading body ─► responding ─┬─► reading head … (keep-alive)
 *        │ refused, timed out           │       └─► closing
 *        └──────────────► responding ───┴─► lingering ─► closing
 *
 * Pipelined requests are taken while those before them wait for nothing but the disk, so that one
 * commit serves them all; behind a longer response they wait in the input buffer. Both are bounded,
 * and responses go out in order. A watch ends when its client disconnects. A response that is
 * complete within one turn of the loop carries its length; one that goes on is chunked. Deadlines
 * apply to a head, to a body and to the wait for a response as a whole (SEC-10, L-23, L-24).
 */
#include "api/server/auth/authn.h"
#include "api/server/http/connection_eviction.h"
#include "api/server/http/connection_io.h"
#include "api/server/http/handler.h"
#include "api/server/http/host_check.h"

struct connection;

/* Only flows with many steps need a body above LARGE_BODY_BYTES, so few are read at once (P-13). */
enum { LARGE_BODY_BYTES = 4 << 20, LARGE_BODIES_MAX = 4 };

/* What the connections of a listener have in common; borrowed. */
struct connection_env {
    struct loop *loop;
    struct http_handler *handler;
    struct http_handler *page;     /* answers what is below /ui/ instead; NULL: none */
    struct authn *authn;           /* users and their rights; NULL: the handler identifies
                                    * clients, or every client has all rights */
    const struct host_list *hosts; /* checked for TCP; may be NULL for unix sockets */
    size_t
        connections_per_identity; /* connections of one identity that stay open when there are too
                                      * many unauthenticated ones */
    size_t *large_bodies; /* number being read over all connections; may be NULL: not counted */
    void (*closed)(void *ctx, struct connection *c);
    /* Called for each complete request; may be NULL. */
    void (*answered)(void *ctx, const struct request_record *record);
    void *ctx;
};

/* The other end of a connection. */
struct connection_peer {
    enum io_socket socket;
    struct tls_context *tls;   /* TLS of the listener; NULL: plain connections */
    struct identity *identity; /* user of a unix socket; a reference, consumed; NULL */
    char *name;                /* address or user, for logs and counting; consumed */
    uint64_t number;           /* number of the connection in the order of arrival */
};

/** Creates a connection. The caller accepts into, or opens, its stream and then starts it. `closed`
 * runs when it is gone. */
struct connection *connection_new(const struct connection_env *env,
                                  const struct connection_peer *peer);
uv_stream_t *connection_stream(struct connection *connection);
const char *connection_peer_name(const struct connection *connection);
/** Returns true when a request whose response has not ended was authenticated by a token that is now
 * revoked. */
bool connection_is_revoked(const struct connection *connection);
/** Says in `out` how much right to its place the connection has. `out->group` is borrowed. */
void connection_eviction_candidate(const struct connection *connection,
                                   struct eviction_candidate *out);
enum io_socket connection_socket(const struct connection *connection);
/** Sets what accepting reveals of the peer; both are consumed. */
void connection_set_peer(struct connection *connection, struct identity *identity, char *name);
void connection_start(struct connection *connection);
/** Responds with 503 without reading anything, and closes. */
void connection_refuse_busy(struct connection *connection);
/** Takes no new request: closes an idle connection at once, others after their responses. */
void connection_drain(struct connection *connection);
/** Sends what is ready, as far as the socket takes it at once, and closes. */
void connection_stop(struct connection *connection);
void connection_close(struct connection *connection); /* closes it at once */
