#pragma once
/*
 * TLS without sockets: encrypted bytes of the wire in, plain bytes out, and the reverse.
 *
 * TLS 1.2 or later. ALPN offers HTTP/1.1 alone: a client that offers only other protocols fails the
 * handshake, one that sends no ALPN is taken for HTTP/1.1. A client may send a certificate. The
 * handshake accepts any certificate and tls_peer reports afterwards whether the CA signed it, so
 * that a wrong certificate gets status 401 and not a failed handshake.
 */
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/* Certificate, key, and the CA of client certificates; reference-counted. */
struct tls_context;

/** Makes a context. INVALID when the texts (PEM) are not a certificate and its key. `client_ca` may
 * be NULL: then clients are not asked for a certificate. */
struct tls_context *tls_context_new(const char *certificate, const char *key, const char *client_ca,
                                    struct error *err);
struct tls_context *tls_context_ref(struct tls_context *context);
void tls_context_unref(struct tls_context *context); /* NULL is ignored */

struct tls; /* the server side of one session */

struct tls *tls_new(struct tls_context *context); /* keeps a reference to the context */
void tls_free(struct tls *tls);                   /* NULL is ignored */

enum tls_state {
    TLS_OPEN,
    TLS_ENDED, /* the peer has closed the session */
    TLS_FAILED /* the peer does not speak TLS, or an unsupported version; `wire` holds the alert to
                * send */
};

/** Takes bytes of the wire; appends plain bytes to `plain` and the protocol's own messages to
 * `wire`. */
enum tls_state tls_receive(struct tls *tls, const void *bytes, size_t len, struct buf *plain,
                           struct buf *wire);
/** Appends `plain`, encrypted, to `wire`; false when the session has failed. */
bool tls_send(struct tls *tls, const struct buf *plain, struct buf *wire);
/** Appends the message that closes this side of the session. */
void tls_end(struct tls *tls, struct buf *wire);
bool tls_handshake_done(const struct tls *tls);

enum tls_certificate { TLS_NO_CERTIFICATE, TLS_CERTIFICATE_UNKNOWN, TLS_CERTIFICATE_GOOD };
/** Reports the client's certificate once the handshake is done. For GOOD its CN is appended to
 * `user`, and each O followed by a NUL to `groups`. */
enum tls_certificate tls_peer(const struct tls *tls, struct buf *user, struct buf *groups);
