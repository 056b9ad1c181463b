#pragma once
/*
 * HTTP exchanges with the server of a kubeconfig (TLS, tokens, client certificates, credential
 * plugins), or with a process that listens on a local socket.
 */
#include "api/client/exchange.h"
#include "api/client/kubeconfig.h"
#include "base/loop/loop.h"

/** Creates the transport. `config` is consumed. `socket` is the path of a unix socket, or NULL for
 * the config's server; with a socket, only the config's token is used. `shown` names the server in
 * messages. INVALID for a malformed address. */
struct transport *transport_http_new(struct loop *loop, struct kubeconfig *config,
                                     const char *socket, const char *shown, struct error *err);
/** Frees the transport after its last exchange; some memory is freed in later passes of the loop.
 * NULL is fine. */
void transport_http_free(struct transport *transport);
