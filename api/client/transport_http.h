#pragma once
/*
 * Exchanges over HTTP: with the server a kubeconfig names (TLS, tokens, client certificates, a
 * program that gives credentials), or with whoever listens on a socket of this machine.
 */
#include "api/client/exchange.h"
#include "api/client/kubeconfig.h"
#include "base/loop.h"

/** `config` is consumed; it may be empty with `socket`, the path of a unix socket (NULL: the
 * config's server). `shown` is what messages call the other side: an address, or the directory of
 * the socket's process. INVALID for an address that is none. */
struct transport *transport_http_new(struct loop *loop, struct kubeconfig *config,
                                     const char *socket, const char *shown, struct error *err);
/** After its last exchange. Memory goes with the loop's next passes. NULL is fine. */
void transport_http_free(struct transport *transport);
