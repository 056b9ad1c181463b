#pragma once
/*
 * The listening sockets of one API, and the connections accepted on them.
 *
 * A unix socket serves users of this machine; the kernel identifies them (SEC-01). A TCP socket
 * speaks TLS, except the one of `jobflow ui`, which is on loopback addresses. The number of connections is bounded in total and by peer (L-22); above
 * the limit an unauthenticated connection is closed for a new one (connection_eviction.h).
 */
#include "api/server/http/connection.h"

struct listener;

struct listener_options {
    struct authn *authn;           /* users and their rights; NULL: only this process's user and
                                    * root may connect, with every right */
    const struct host_list *hosts; /* names of the server, borrowed; needed for TCP */
    /* Called for each complete request; may be NULL. */
    void (*answered)(void *ctx, const struct request_record *record);
    void *ctx;
    size_t connections_max; /* limit of TCP connections, and as many of unix sockets; 0 = 1,024 */
    size_t connections_per_peer; /* limit of unauthenticated connections of one peer, and of
                                  * connections of one identity; 0 = 128 */
};

/** Borrows `handler` and what the options refer to. */
struct listener *listener_new_for(struct loop *loop, struct http_handler *handler,
                                  const struct listener_options *options);
/** Like listener_new_for, for the API itself. */
struct listener *listener_new(struct loop *loop, struct api *api,
                              const struct listener_options *options);
/** Lets another handler answer the requests below /ui/; borrowed. Call before the loop runs. */
void listener_set_page(struct listener *listener, struct http_handler *page);
/** Changes the bounds for further connections; 0 = the default. */
void listener_set_limits(struct listener *listener, size_t connections_max,
                         size_t connections_per_peer);
/** Listens on `path`, of any length; a socket left by an earlier process is replaced. `mode` is
 * 0600 unless other users are let in. */
bool listener_add_unix(struct listener *listener, const char *path, unsigned mode,
                       struct error *err);
/** Listens on an address ("127.0.0.1", "::1", "0.0.0.0"); port 0 takes a free one. `*out_port` is
 * the port. `tls` NULL: plain HTTP, which is for loopback addresses. EXISTS when the port is taken. */
bool listener_add_tcp(struct listener *listener, const char *address, int port,
                      struct tls_context *tls, int *out_port, struct error *err);
/** Sets the certificate of further connections. */
void listener_set_tls(struct listener *listener, struct tls_context *tls);
/** Closes the connections with a request whose token has been revoked. */
void listener_drop_revoked(struct listener *listener);
size_t listener_connections(const struct listener *listener);

/** Takes no more connections and requests; `drained` is posted when every response is sent. */
void listener_drain(struct listener *listener, struct task *drained);
/** Stops listening, drops the connections, removes the socket files, frees. NULL is fine. */
void listener_stop(struct listener *listener);
