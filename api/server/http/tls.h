#pragma once
/*
 * TLS without sockets: bytes of the wire in, plain bytes out, and the other way round.
 *
 * TLS 1.2 or later, HTTP/1.1 alone by ALPN: a client that offers only something else is refused in
 * the handshake, one that offers nothing is taken for HTTP/1.1. A client may show a certificate;
 * whether it is one of ours is told afterwards, so that a wrong one is answered with 401 and not
 * with a broken handshake.
 */
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/* Certificate, key, and the CA of client certificates; counted. */
struct tls_context;

/** INVALID when the texts (PEM) are no certificate and key that belong together. `client_ca` may be
 * NULL: then no certificate is asked for. */
struct tls_context *tls_context_new(const char *certificate, const char *key, const char *client_ca,
                                    struct error *err);
struct tls_context *tls_context_ref(struct tls_context *context);
void tls_context_unref(struct tls_context *context); /* NULL is fine */

struct tls; /* one session, server side */

struct tls *tls_new(struct tls_context *context); /* keeps the context */
void tls_free(struct tls *tls);                   /* NULL is fine */

enum tls_state {
    TLS_OPEN,
    TLS_ENDED, /* the peer has said its last */
    TLS_FAILED /* no TLS, or not one we speak; what is to be sent says so */
};

/** Take bytes of the wire; append plain ones to `plain`, and what the protocol has to say to
 * `wire`. */
enum tls_state tls_receive(struct tls *tls, const void *bytes, size_t len, struct buf *plain,
                           struct buf *wire);
/** Append `plain`, enciphered, to `wire`; false when the session has failed. */
bool tls_send(struct tls *tls, const struct buf *plain, struct buf *wire);
/** Append the end of our side. */
void tls_end(struct tls *tls, struct buf *wire);
bool tls_handshake_done(const struct tls *tls); /* the handshake is over */

enum tls_certificate { TLS_NO_CERTIFICATE, TLS_CERTIFICATE_UNKNOWN, TLS_CERTIFICATE_GOOD };
/** Who the peer's certificate names, once ready: CN to `user`, every O, each with a NUL, to
 * `groups`. Only for GOOD. */
enum tls_certificate tls_peer(const struct tls *tls, struct buf *user, struct buf *groups);
