#pragma once
/*
 * Bearer tokens: 256 random bits each, kept as SHA-256 alone (SEC-03).
 *
 * The file, `{"tokens": [{"name", "role", "namespaces", "sha256", "createdAt", "expiresAt"}]}`, is
 * written by `jobflow token` and read by the daemon, which reads it again when it has changed.
 */
#include <stdint.h>

#include "api/server/auth/identity.h"
#include "base/buf.h"
#include "base/error.h"

enum {
    BEARER_TEXT = 46, /* "jf_" and 43 characters of base64url */
    BEARER_HASH = 32,
    BEARER_MAX = 10000
};

struct bearer_token {
    char *name;
    enum role role;
    char **namespaces; /* [n_namespaces]; none: everywhere */
    size_t n_namespaces;
    unsigned char hash[BEARER_HASH];
    int64_t created_ms, expires_ms; /* expires 0: never */
    struct identity *identity;
};

struct bearer_tokens {
    struct bearer_token *items; /* [count] */
    size_t count, cap;
};

/** Replace what `out` holds by the file's content; an absent file is empty. FORBIDDEN when others
 * may read or write it, or it is not ours; INVALID with the place when it is damaged. */
bool bearer_tokens_load(struct bearer_tokens *out, const char *path, struct error *err);
bool bearer_tokens_save(const struct bearer_tokens *bearers, const char *path, struct error *err);
void bearer_tokens_release(struct bearer_tokens *bearers);
SCOPED_DEFINE(bearer_tokens, struct bearer_tokens, bearer_tokens_release)

/** A new token, its text to `text`. EXISTS when the name is taken, INVALID for names that are no
 * DNS-like words, TOO_MANY. */
bool bearer_tokens_add(struct bearer_tokens *bearers, const char *name, enum role role,
                       const char *const *namespaces, size_t n_namespaces, int64_t now_ms,
                       int64_t expires_ms, char text[BEARER_TEXT + 1], struct error *err);
/** False when there is none of that name. */
bool bearer_tokens_remove(struct bearer_tokens *bearers, const char *name);

/** Whose token this is; compares in constant time. NULL: nobody's, or expired. */
const struct bearer_token *bearer_tokens_find(const struct bearer_tokens *bearers, const char *text,
                                              size_t len, int64_t now_ms);
