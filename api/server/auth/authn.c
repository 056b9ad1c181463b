/*
 * Checks credentials in this order: bearer token, client certificate, user of the unix socket.
 * Failures are counted by peer (SEC-07).
 */
#include "api/server/auth/authn.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/hash.h"
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

struct authn {
    struct loop *loop;
    char *token_path;
    struct stat token_stat; /* state of the file when it was last read */
    struct bearer_tokens bearers;
    struct identity *anonymous;
    struct local_user *users; /* users with a right by their uid, [n_users] */
    size_t n_users, users_cap;
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
    struct header_value token;

    if (credentials->authorization.text) {
        if (take_bearer(credentials->authorization, &token))
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
