#pragma once
/*
 * The sockets of one API and the connections that come in by them.
 *
 * A unix socket is for users of this machine, told apart by the kernel (SEC-01); a TCP socket
 * speaks TLS, always. Connections are bounded in all and by peer (L-22).
 */
#include "api/server/auth/authn.h"
#include "api/server/http/connection.h"

struct listener;

struct listener_options {
    struct authn *authn;           /* NULL: the user of this process and root, who may do all */
    const struct host_list *hosts; /* borrowed; needed for TCP */
    void (*answered)(void *ctx, const struct request_record *record); /* may be NULL */
    void *ctx;
    size_t connections_max;      /* 0 = 1,024 */
    size_t connections_per_peer; /* 0 = as many as in all for the owner, else 128 */
};

/** Borrows `api` and what the options name. */
struct listener *listener_new(struct loop *loop, struct api *api,
                              const struct listener_options *options);
/** Other bounds for connections to come; 0 = the default. */
void listener_limit(struct listener *listener, size_t connections_max, size_t connections_per_peer);
/** Listen on `path`, of any length (a stale socket of an earlier life is replaced). `mode` 0600
 * unless other users are let in. */
bool listener_add_unix(struct listener *listener, const char *path, unsigned mode,
                       struct error *err);
/** Listen on an address ("127.0.0.1", "::1", "0.0.0.0"); port 0 takes a free one. `*out_port` is
 * the port. EXISTS when it is taken. */
bool listener_add_tcp(struct listener *listener, const char *address, int port,
                      struct tls_context *tls, int *out_port, struct error *err);
/** Another certificate for connections to come. */
void listener_set_tls(struct listener *listener, struct tls_context *tls);
/** Close the connections on which somebody is answered whose token has been revoked. */
void listener_drop_revoked(struct listener *listener);
size_t listener_connections(const struct listener *listener);

/** Take no more connections and requests; `drained` is posted when no answer is under way. */
void listener_drain(struct listener *listener, struct task *drained);
/** Stop listening, drop the connections, remove the socket, free. NULL is fine. */
void listener_stop(struct listener *listener);
