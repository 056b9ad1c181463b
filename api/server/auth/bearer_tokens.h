#pragma once
/*
 * Bearer tokens: 256 random bits each, stored only as SHA-256 (SEC-03).
 *
 * The file, `{"tokens": [{"name", "role", "namespaces", "sha256", "createdAt", "expiresAt"}]}`, is
 * written by `jobflow token` and read by the daemon, which reads it again after a change.
 */
#include <stdint.h>

#include "api/server/auth/identity.h"
#include "base/buf.h"
#include "base/error.h"

enum {
    BEARER_TEXT = 46, /* length of a token: "jf_" and 43 characters of base64url */
    BEARER_HASH = 32,
    BEARER_MAX = 10000
};

struct bearer_token {
    char *name;
    enum role role;
    char **namespaces; /* namespaces in which the role holds, [n_namespaces]; none: everywhere */
    size_t n_namespaces;
    unsigned char hash[BEARER_HASH];
    int64_t created_ms, expires_ms; /* times in milliseconds; expires_ms 0: the token never
                                     * expires */
    struct identity *identity;
};

struct bearer_tokens {
    struct bearer_token *items; /* the tokens, [count] */
    size_t count, cap;
};

/** Replaces the content of `out` by that of the file; a missing file is empty. FORBIDDEN when other
 * users may read or write the file or own it; INVALID, with the place, when it is damaged. */
bool bearer_tokens_load(struct bearer_tokens *out, const char *path, struct error *err);
bool bearer_tokens_save(const struct bearer_tokens *tokens, const char *path, struct error *err);
void bearer_tokens_release(struct bearer_tokens *tokens);
SCOPED_DEFINE(bearer_tokens, struct bearer_tokens, bearer_tokens_release)

/** Appends a text that names the token and its rights, without its secret: two tokens have the same
 * one only when the hash of the secret, role, namespaces and name are equal. */
void bearer_token_describe(const struct bearer_token *token, struct buf *out);
/** Returns the token with this description; NULL when there is none, or when it has expired. */
const struct bearer_token *bearer_tokens_described(const struct bearer_tokens *tokens,
                                                   const char *description, int64_t now_ms);
/** Makes a secret in the form of a token. */
void bearer_secret_make(char text[BEARER_TEXT + 1]);

struct bearer_token_request {
    const char *name;
    enum role role;
    const char *const *namespaces; /* namespaces in which the role holds, [n_namespaces]; none:
                                    * everywhere */
    size_t n_namespaces;
    int64_t now_ms, expires_ms; /* times in milliseconds; expires_ms 0: the token never expires */
};

/** Creates a token and writes its text to `text`. EXISTS when the name is taken, INVALID for a
 * malformed name, TOO_MANY. */
bool bearer_tokens_add(struct bearer_tokens *tokens, const struct bearer_token_request *request,
                       char text[BEARER_TEXT + 1], struct error *err);
/** Removes a token. Returns false when there is no token of that name. */
bool bearer_tokens_remove(struct bearer_tokens *tokens, const char *name);

/** Returns the token with this text, compared in constant time. NULL when it is unknown or expired.
 */
const struct bearer_token *bearer_tokens_find(const struct bearer_tokens *tokens, const char *text,
                                              size_t len, int64_t now_ms);
