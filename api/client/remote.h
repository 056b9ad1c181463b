#pragma once
/*
 * Calls to a remote API server, with retries.
 *
 * A call is a request with its answer. The server may be overloaded and say when to retry (429, and
 * 5xx with Retry-After), reject the credentials (401), or be unreachable. Requests that are safe to
 * repeat are retried, within limits. Any other answer, such as a refusal, ends the call.
 *
 * Ref: spec/kube-api.md 16.3; k8s.io/client-go rest/with_retry.go.
 */
#include "api/client/backoff.h"
#include "api/client/exchange.h"
#include "base/buf.h"
#include "base/loop/loop.h"

struct remote;

struct remote_options {
    int per_second, burst; /* limits of calls started; 0: no limit */
    /* The loop's metrics count requests under this host, copied. NULL: they are not counted. */
    const char *host;
};

/** Creates a client. Borrows loop and transport. `options` NULL: no rate limit. */
struct remote *remote_new(struct loop *loop, struct transport *transport,
                          const struct remote_options *options);
void remote_free(struct remote *remote); /* call it after the last call has ended; NULL is fine */
struct loop *remote_loop(const struct remote *remote);

enum { REMOTE_LIMIT_MS = 60000, REMOTE_TRIES_MAX = 10, REMOTE_RETRY_AFTER_MAX_S = 600 };

/* Part of the caller's struct. */
struct remote_call {
    /* The request; borrowed until `done`. */
    const char *method;                /* "GET", "POST", …; NULL: GET */
    const char *target;                /* path and query of the request */
    const char *accept, *content_type; /* media types; NULL: JSON */
    const char *user_agent;            /* NULL: that of this program */
    const void *body;
    size_t body_len;
    int64_t limit_ms; /* time limit of each attempt; 0: none */
    /* Number of retries when the server is unreachable: for a GET, or when the server cannot have
     * received the request. */
    unsigned patience;
    bool once; /* a server that is overloaded is not asked again: its answer ends the call */
    /* The answer. */
    int status; /* HTTP status; 0: no answer, the reason is in `err` */
    char media_type[EXCHANGE_MEDIA_TYPE_MAX]; /* media type of the answer; "" when not given */
    struct buf text;                          /* the body; with `data`, only that of a failure */
    struct error err;                         /* why there is no response */
    /** Called for each piece of the response's body as it arrives. NULL: the whole body is
     * collected in `text`. */
    void (*data)(struct remote_call *call, const char *bytes, size_t len);
    /* Receives a header Warning of the response; may be NULL. */
    void (*warning)(struct remote_call *call, const char *text, size_t len);
    void (*done)(struct remote_call *call);
    /* private */
    struct remote *remote;
    struct exchange exchange;
    struct timer timer; /* runs until the next attempt */
    struct backoff backoff;
    int64_t began_ns; /* start of the current attempt */
    unsigned busy_tries, lost_tries;
    bool renewed, under_way;
};

void remote_start(struct remote *remote, struct remote_call *call);
/** Cancels the call; no callback runs after that. May be called from a callback, and for a call
 * that is not in progress. */
void remote_cancel(struct remote_call *call);
/** Cancels the call and frees the answer. */
void remote_call_release(struct remote_call *call);

/** Returns whether the answer is a success. Otherwise `err` says why there is none, or has the
 * error of its Status. */
bool remote_ok(const struct remote_call *call, struct error *err);
