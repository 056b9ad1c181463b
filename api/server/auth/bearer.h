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

struct bearer {
    char *name;
    enum role role;
    char **namespaces; /* [n_namespaces]; none: everywhere */
    size_t n_namespaces;
    unsigned char hash[BEARER_HASH];
    int64_t created_ms, expires_ms; /* expires 0: never */
    struct identity *identity;
};

struct bearers {
    struct bearer *items; /* [count] */
    size_t count, cap;
};

/** Replace what `out` holds by the file's content; an absent file is empty. FORBIDDEN when others
 * may read or write it, or it is not ours; INVALID with the place when it is damaged. */
bool bearers_load(struct bearers *out, const char *path, struct error *err);
bool bearers_save(const struct bearers *bearers, const char *path, struct error *err);
void bearers_release(struct bearers *bearers);
SCOPED_DEFINE(bearers, struct bearers, bearers_release)

/** A new token, its text to `text`. EXISTS when the name is taken, INVALID for names that are no
 * DNS-like words, TOO_MANY. */
bool bearers_add(struct bearers *bearers, const char *name, enum role role,
                 const char *const *namespaces, size_t n_namespaces, int64_t now_ms,
                 int64_t expires_ms, char text[BEARER_TEXT + 1], struct error *err);
/** False when there is none of that name. */
bool bearers_remove(struct bearers *bearers, const char *name);

/** Whose token this is; compares in constant time. NULL: nobody's, or expired. */
const struct bearer *bearers_find(const struct bearers *bearers, const char *text, size_t len,
                                  int64_t now_ms);
