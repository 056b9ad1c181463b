#pragma once
/*
 * Tickets and sign-ins of one gateway.
 *
 *   ticket ──POST /ui/signin──► sign-in: K1 in a cookie, K2 in the storage of the page's origin
 *
 * A ticket is a single-use secret in the link that the user opens. It is exchanged for a key in two
 * halves. A cookie reaches every port of a host and storage is read by scripts, so each half alone
 * opens nothing. A sign-in has the rights of the credential that it was made with, and ends with
 * it. Only SHA-256 of each secret is kept; all comparisons take the same time whatever
 * matches. Ref: spec/web.md 5.
 */
#include "api/server/message/request_head.h"
#include "base/buf.h"
#include "base/loop/loop.h"

enum {
    SIGNIN_SECRET_TEXT = 43, /* length of a ticket and of each half: 256 bits as base64url */
    SIGNIN_ID_TEXT = 8,      /* length of a gateway's id */
    SIGNINS_MAX = 32,
    SIGNIN_TRIES_PER_S = 10,
};
/* How long a sign-in lasts without a request, and in any case. */
#define SIGNIN_IDLE_MS  (INT64_C(12) * 3600 * 1000)
#define SIGNIN_WHOLE_MS (INT64_C(7) * 24 * 3600 * 1000)

struct signins;

struct signins_options {
    struct loop *loop;
    const char *cookie_prefix; /* "" or "__Secure-" */
    /* Called before a sign-in is forgotten, so that its streams can be ended. May be NULL. */
    void (*ended)(void *ctx, uint64_t signin, const char *credential, const char *why);
    /* Returns whether a credential gives rights still; a sign-in ends when it does not. NULL: it
     * does. */
    bool (*good)(void *ctx, const char *credential);
    const char *another_link; /* how a new link is made, for the refusal of one that is used */
    const char *path; /* file in which sign-ins outlive the process, mode 0600; NULL: they end with
                       * it */
    /* Called when a ticket was used a second time by a client without the cookie of the first use.
     * May be NULL. */
    void (*misused)(void *ctx);
    void *ctx;
};

struct signins *signins_new(const struct signins_options *options);
void signins_free(struct signins *signins); /* NULL is fine */
/** Returns the id of this gateway, which names its cookie: eight hexadecimal digits. */
const char *signins_id(const struct signins *signins);
/** Returns the number of sign-ins that have not ended. */
size_t signins_count(struct signins *signins);

/** Makes a ticket for a sign-in with this credential ("" where there is one user). It is good for
 * `life_ms`; of too many the oldest is forgotten. */
void signins_ticket(struct signins *signins, const char *credential, int64_t life_ms,
                    char out[SIGNIN_SECRET_TEXT + 1]);

/* Both halves of a new key, as text. The caller wipes them. */
struct signin_keys {
    char cookie[SIGNIN_SECRET_TEXT + 1], key[SIGNIN_SECRET_TEXT + 1];
};

struct signin_try {
    const char *ticket;
    size_t len;
    struct header_value cookie; /* header of the request */
    const char *peer;           /* NULL: not known */
};

/** Exchanges a ticket. UNAUTHORIZED when it is not known, over or used, or when its credential gives
 * no rights any more; TOO_MANY after SIGNIN_TRIES_PER_S tries of the peer within a second. */
bool signins_redeem(struct signins *signins, const struct signin_try *attempt,
                    struct signin_keys *out, struct error *err);
/** Counts a try of a peer to sign in by other means. False with TOO_MANY. */
bool signins_count_try(struct signins *signins, const char *peer, struct error *err);
/** Logs that a try was refused, at most once a second. */
void signins_log_failure(struct signins *signins, const char *peer);
/** Makes a sign-in with a credential that was shown. Returns its number. */
uint64_t signins_make(struct signins *signins, const char *credential, struct signin_keys *out);

enum { SIGNIN_NONE = 0 };
/** Returns the number of the sign-in of which the headers have both halves, SIGNIN_NONE otherwise.
 * The time of its last request is now. */
uint64_t signins_find(struct signins *signins, struct header_value cookie, struct header_value key);
/** Returns in how many milliseconds a sign-in ends if no request comes (`out_idle_ms`), and in how
 * many it ends in any case (`out_whole_ms`). False when it has ended. */
bool signins_ends(struct signins *signins, uint64_t signin, int64_t *out_idle_ms,
                  int64_t *out_whole_ms);
/** Returns the credential of a sign-in, borrowed; NULL when it has ended. */
const char *signins_credential(struct signins *signins, uint64_t signin);
/** Returns whether there is a sign-in with this credential. */
bool signins_has(const struct signins *signins, const char *credential);
/** Ends the sign-ins that are over, or whose credentials give no rights any more. */
void signins_check(struct signins *signins);
/** Ends a sign-in. */
void signins_end(struct signins *signins, uint64_t signin, const char *why);
/** Appends the header line that sets the cookie to `value`; NULL: that removes it. */
void signins_write_cookie(const struct signins *signins, const char *value, struct buf *out);
