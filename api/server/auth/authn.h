#pragma once
/*
 * From what a request shows to who asks.
 *
 *   Authorization: Bearer …   the token's name and role
 *   client certificate        CN and O, when our CA has signed it
 *   unix socket               the user at the other end, by the kernel's word
 *   nothing                   system:anonymous
 *
 * What is shown and not known is refused, whatever is asked for; nobody is taken for anonymous
 * because his token is wrong.
 */
#include "api/server/auth/bearer_tokens.h"
#include "api/server/message/request_head.h"
#include "base/loop.h"

struct authn;

struct authn *authn_new(struct loop *loop, const char *token_path);
void authn_free(struct authn *authn); /* NULL is fine */
/** Read the tokens again if the file has changed. On failure the old ones stay. */
bool authn_reload(struct authn *authn, struct error *err);
/** Let a user of the machine in by the unix socket. */
void authn_allow_uid(struct authn *authn, unsigned uid, struct identity *identity /* consumed */);
struct identity *authn_identity_of_uid(const struct authn *authn,
                                       unsigned uid); /* borrowed; NULL */

struct credentials {
    struct identity *socket; /* unix socket: who is there; borrowed */
    bool certificate_refused;
    struct identity *certificate; /* borrowed */
    struct header_value authorization;
    const char *peer; /* whose failures are counted together */
};

/** A reference; NULL with UNAUTHORIZED, or TOO_MANY after too many failures in a second (SEC-07).
 */
struct identity *authn_authenticate(struct authn *authn, const struct credentials *credentials,
                                    struct error *err);
