/*
 * Checks credentials in this order: bearer token, client certificate, user of the unix socket.
 * Failures are counted by peer (SEC-07).
 */
#include "api/server/auth/authn.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/collections/hash.h"
#include "base/log.h"
#include "base/mem.h"

/* How many failed attempts of a peer are answered in a second (SEC-07). */
enum { FAILURES_A_SECOND = 10, BUCKETS = 256 };

/* Failures within one second of all peers that hash to the bucket. */
struct bucket {
    int64_t second;
    unsigned failures;
};

struct local_user {
    unsigned uid;
    struct identity *identity;
};

/* A token that this process shows itself. */
struct lent_token {
    unsigned char hash[BEARER_HASH];
    struct identity *identity;
};

struct authn {
    struct loop *loop;
    char *token_path;
    struct stat token_stat; /* state of the file when it was last read */
    struct bearer_tokens bearers;
    struct identity *anonymous;
    struct local_user *users; /* users with a right by their uid, [n_users] */
    size_t n_users, users_cap;
    struct lent_token *lent; /* [n_lent] */
    size_t n_lent, lent_cap;
    struct bucket buckets[BUCKETS];
};

struct authn *authn_new(struct loop *loop, const char *token_path)
{
    struct authn *authn = mem_alloc(sizeof *authn);

    authn->loop = loop;
    authn->token_path = mem_strdup(token_path);
    authn->anonymous = identity_anonymous();
    return authn;
}

void authn_free(struct authn *authn)
{
    if (!authn)
        return;
    for (size_t i = 0; i < authn->n_users; i++)
        identity_unref(authn->users[i].identity);
    mem_free(authn->users);
    for (size_t i = 0; i < authn->n_lent; i++)
        identity_unref(authn->lent[i].identity);
    mem_free(authn->lent);
    bearer_tokens_release(&authn->bearers);
    identity_unref(authn->anonymous);
    mem_free(authn->token_path);
    mem_free(authn);
}

static bool has_changed(const struct stat *now, const struct stat *before)
{
    return now->st_ino != before->st_ino || now->st_size != before->st_size ||
           now->st_mtim.tv_sec != before->st_mtim.tv_sec ||
           now->st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

bool authn_reload(struct authn *authn, struct error *err)
{
    struct stat now = {0};

    if (!authn->token_path)
        return true;
    if (stat(authn->token_path, &now) < 0)
        now = (struct stat){0};
    if (!has_changed(&now, &authn->token_stat))
        return true;
    if (!bearer_tokens_load(&authn->bearers, authn->token_path, err))
        return false;
    authn->token_stat = now;
    return true;
}

/* Looks up a token. Every request checks whether the file has changed, so a revoked token is
 * refused from the next request on. */
static struct identity *by_token(struct authn *authn, struct header_value token)
{
    const struct bearer_token *bearer;
    struct error err = {0};

    if (!authn_reload(authn, &err)) {
        log_error("tokens cannot be read", kv_str("error", err.message));
        return NULL;
    }
    bearer = bearer_tokens_find(&authn->bearers, token.text, token.len, loop_wall_ms(authn->loop));
    return bearer ? identity_ref(bearer->identity) : NULL;
}

void authn_lend(struct authn *authn, struct identity *identity, char text[BEARER_TEXT + 1])
{
    struct lent_token *lent;

    bearer_secret_make(text);
    mem_grow(authn->lent, authn->n_lent, authn->lent_cap);
    lent = &authn->lent[authn->n_lent++];
    lent->identity = identity_ref(identity);
    SHA256((const unsigned char *)text, BEARER_TEXT, lent->hash);
}

/* Compares with all of them: the time must not depend on the match. */
static struct lent_token *find_lent(struct authn *authn, struct header_value token)
{
    unsigned char hash[BEARER_HASH];
    struct lent_token *found = NULL;

    SHA256((const unsigned char *)token.text, token.len, hash);
    for (size_t i = 0; i < authn->n_lent; i++)
        if (CRYPTO_memcmp(authn->lent[i].hash, hash, sizeof hash) == 0)
            found = &authn->lent[i];
    return found;
}

void authn_withdraw(struct authn *authn, const char *text)
{
    struct lent_token *lent = find_lent(authn, (struct header_value){text, strlen(text)});

    if (!lent)
        return;
    identity_unref(lent->identity);
    *lent = authn->lent[--authn->n_lent];
}

static const char token_prefix[] = "token ", uid_prefix[] = "uid ";

bool authn_credential_of(const struct authn *authn, const struct identity *identity,
                         struct buf *out)
{
    for (size_t i = 0; i < authn->bearers.count; i++)
        if (authn->bearers.items[i].identity == identity) {
            buf_str(out, token_prefix);
            bearer_token_describe(&authn->bearers.items[i], out);
            return true;
        }
    for (size_t i = 0; i < authn->n_users; i++)
        if (authn->users[i].identity == identity) {
            buf_printf(out, "%s%u", uid_prefix, authn->users[i].uid);
            return true;
        }
    return false;
}

/* Returns the identity of the bearer token that authn_credential_of has described; borrowed. NULL when
 * the token is revoked or has expired, or the token file cannot be read. Reads the token file first
 * if it has changed. */
static struct identity *by_description(struct authn *authn, const char *description,
                                       int64_t *out_expires_ms)
{
    const struct bearer_token *bearer;
    struct error err = {0};

    if (!authn_reload(authn, &err)) {
        log_error("tokens cannot be read", kv_str("error", err.message));
        return NULL;
    }
    bearer = bearer_tokens_described(&authn->bearers, description, loop_wall_ms(authn->loop));
    if (!bearer)
        return NULL;
    *out_expires_ms = bearer->expires_ms;
    return bearer->identity;
}

struct identity *authn_by_credential(struct authn *authn, const char *credential,
                                     int64_t *out_expires_ms)
{
    *out_expires_ms = 0;
    if (strncmp(credential, token_prefix, sizeof token_prefix - 1) == 0)
        return by_description(authn, credential + sizeof token_prefix - 1, out_expires_ms);
    if (strncmp(credential, uid_prefix, sizeof uid_prefix - 1) == 0)
        return authn_identity_of_uid(
            authn, (unsigned)strtoul(credential + sizeof uid_prefix - 1, NULL, 10));
    return NULL;
}

void authn_allow_uid(struct authn *authn, unsigned uid, struct identity *identity)
{
    mem_grow(authn->users, authn->n_users, authn->users_cap);
    authn->users[authn->n_users++] = (struct local_user){uid, identity};
}

struct identity *authn_identity_of_uid(const struct authn *authn, unsigned uid)
{
    for (size_t i = 0; i < authn->n_users; i++)
        if (authn->users[i].uid == uid)
            return authn->users[i].identity;
    return NULL;
}

static bool may_fail(struct authn *authn, const char *peer)
{
    struct bucket *bucket = &authn->buckets[hash_bytes(peer, strlen(peer)) % BUCKETS];
    int64_t second = loop_mono_ns(authn->loop) / 1000000000;

    if (bucket->second != second)
        *bucket = (struct bucket){.second = second};
    return ++bucket->failures <= FAILURES_A_SECOND;
}

static struct identity *by_lent(struct authn *authn, struct header_value token)
{
    const struct lent_token *lent = find_lent(authn, token);

    return lent && !lent->identity->revoked ? identity_ref(lent->identity) : NULL;
}

static bool take_bearer(struct header_value authorization, struct header_value *out)
{
    static const char scheme[] = "Bearer ";
    const size_t n = sizeof scheme - 1;

    if (authorization.len <= n || strncasecmp(authorization.text, scheme, n) != 0)
        return false;
    *out = (struct header_value){authorization.text + n, authorization.len - n};
    return true;
}

struct identity *authn_authenticate(struct authn *authn, const struct credentials *credentials,
                                    struct error *err)
{
    struct identity *identity = NULL;
    struct header_value token = {0};

    if (credentials->authorization.text) {
        if (take_bearer(credentials->authorization, &token))
            identity = credentials->socket ? by_lent(authn, token) : NULL;
        if (!identity && token.text)
            identity = by_token(authn, token);
    } else if (credentials->certificate) {
        identity = identity_ref(credentials->certificate);
    } else if (!credentials->certificate_refused) {
        identity = identity_ref(credentials->socket ? credentials->socket : authn->anonymous);
    }
    if (identity)
        return identity;
    if (may_fail(authn, credentials->peer ? credentials->peer : ""))
        error_set(err, ERR_UNAUTHORIZED, "", "Unauthorized");
    else
        error_set(err, ERR_TOO_MANY, "", "too many requests, please try again later");
    return NULL;
}
