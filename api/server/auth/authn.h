#pragma once
/*
 * Authentication: from the credentials of a request to the identity of its sender.
 *
 *   Authorization: Bearer …   the token's name and role
 *   client certificate        CN and O, if the CA has signed it
 *   unix socket               the user at the other end, as the kernel reports it
 *   no credentials            system:anonymous
 *
 * A wrong credential is refused, whatever the request is; a sender with a wrong token never counts
 * as anonymous.
 */
#include "api/server/auth/bearer_tokens.h"
#include "api/server/message/request_head.h"
#include "base/loop/loop.h"

struct authn;

struct authn *authn_new(struct loop *loop, const char *token_path);
void authn_free(struct authn *authn); /* NULL is ignored */
/** Reads the tokens again if the file has changed. The old ones stay after a failure. */
bool authn_reload(struct authn *authn, struct error *err);
/** Admits a user of this machine through the unix socket. `identity` is freed by authn_free. */
void authn_allow_uid(struct authn *authn, unsigned uid, struct identity *identity);
/** Returns the identity of a user of this machine, borrowed; NULL when the user has no right. */
struct identity *authn_identity_of_uid(const struct authn *authn, unsigned uid);

/** Makes a token with which this process sends itself requests as `identity`, over the unix socket
 * only, until it is withdrawn or the identity revoked. */
void authn_lend(struct authn *authn, struct identity *identity, char text[BEARER_TEXT + 1]);
void authn_withdraw(struct authn *authn, const char *text);

/** Appends a text that names the credential which gives this identity, without its secret: that of
 * a token or of a user of the unix socket. False for any other. */
bool authn_credential_of(const struct authn *authn, const struct identity *identity,
                         struct buf *out);
/** Returns the identity that such a credential gives now, borrowed; NULL when it gives none any
 * more: it was revoked or changed, or has expired. *out_expires_ms is the wall time of its end; 0:
 * it has none. */
struct identity *authn_by_credential(struct authn *authn, const char *credential,
                                     int64_t *out_expires_ms);

struct credentials {
    struct identity *socket;      /* user of the unix socket; borrowed */
    bool certificate_refused;     /* the CA did not sign the client's certificate */
    struct identity *certificate; /* identity of the client's certificate; borrowed */
    struct header_value authorization;
    const char *peer; /* failures are counted by peer */
};

/** Returns a reference; NULL with UNAUTHORIZED, or TOO_MANY after too many failures in a second
 * (SEC-07). */
struct identity *authn_authenticate(struct authn *authn, const struct credentials *credentials,
                                    struct error *err);
