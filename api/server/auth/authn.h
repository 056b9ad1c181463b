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
#include "base/loop.h"

struct authn;

struct authn *authn_new(struct loop *loop, const char *token_path);
void authn_free(struct authn *authn); /* NULL is ignored */
/** Reads the tokens again if the file has changed. The old ones stay after a failure. */
bool authn_reload(struct authn *authn, struct error *err);
/** Admits a user of this machine through the unix socket. `identity` is freed by authn_free. */
void authn_allow_uid(struct authn *authn, unsigned uid, struct identity *identity);
/** Returns the identity of a user of this machine, borrowed; NULL when the user has no right. */
struct identity *authn_identity_of_uid(const struct authn *authn, unsigned uid);

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
