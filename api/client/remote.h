#pragma once
/*
 * An API server of somebody else, asked patiently.
 *
 * A call is a request with its answer. In between the server may be busy and say when to come back
 * (429 and 5xx with Retry-After), want other credentials (401), or not be reached: what can be
 * asked again without harm is, within bounds. A refusal is an answer like any other.
 *
 * Ref: spec/kube-api.md 16.3; k8s.io/client-go rest/with_retry.go.
 */
#include "api/client/backoff.h"
#include "api/client/exchange.h"
#include "base/buf.h"
#include "base/loop.h"

struct remote;

struct remote_options {
    int per_second, burst; /* calls begun, at most; 0: as they come */
};

/** Borrows loop and transport. `options` NULL: no bound on the rate. */
struct remote *remote_new(struct loop *loop, struct transport *transport,
                          const struct remote_options *options);
void remote_free(struct remote *remote); /* after its last call; NULL is fine */
struct loop *remote_loop(const struct remote *remote);

enum { REMOTE_LIMIT_MS = 60000, REMOTE_TRIES_MAX = 10, REMOTE_RETRY_AFTER_MAX_S = 600 };

/* A struct inside the asker's struct. */
struct remote_call {
    /* the request; borrowed until `done` */
    const char *method;                /* NULL: GET */
    const char *target;                /* path and query */
    const char *accept, *content_type; /* NULL: JSON */
    const void *body;
    size_t body_len;
    int64_t limit_ms; /* for each try; 0: none */
    /* How often it is tried again when the server is not reached: a GET, or whatever the server
     * cannot have seen. */
    unsigned patience;
    /* the answer */
    int status;       /* of HTTP; 0: none came, see `err` */
    struct buf text;  /* the body, or with `data` that of a failure */
    struct error err; /* why no answer came */
    void (*data)(struct remote_call *call, const char *bytes, size_t len);   /* NULL: gathered */
    void (*warning)(struct remote_call *call, const char *text, size_t len); /* may be NULL */
    void (*done)(struct remote_call *call);
    /* private */
    struct remote *remote;
    struct exchange exchange;
    struct timer timer; /* until the next try */
    struct backoff backoff;
    unsigned busy_tries, lost_tries;
    bool renewed, under_way;
};

void remote_start(struct remote *remote, struct remote_call *call);
/** No callback follows; also from one, and for a call that is not under way. */
void remote_cancel(struct remote_call *call);
/** Cancel, and free what the answer holds. */
void remote_call_release(struct remote_call *call);

/** Whether the complete answer is a success; else why not: that none came, or what its Status says.
 */
bool remote_ok(const struct remote_call *call, struct error *err);
