#pragma once
/*
 * One HTTP exchange with an API server, and the transport that carries it: libcurl
 * (transport_http), or the script of a test.
 *
 * A transport knows the server and the credentials, and tries once. The caller (remote) interprets
 * the answer and decides on retries.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { EXCHANGE_MEDIA_TYPE_MAX = 96 };

/* Part of the caller's struct. Callbacks run on the loop, never inside `start`. */
struct exchange {
    /* The request; borrowed until `done`. */
    const char *method;                /* "GET", "POST", … */
    const char *target;                /* path and query of the request */
    const char *accept, *content_type; /* media types; NULL: JSON */
    const char *user_agent;            /* NULL: that of this program */
    const void *body;                  /* body of the request; NULL: none */
    size_t body_len;
    int64_t limit_ms; /* time limit of the whole exchange; 0: none */
    bool gathered;    /* the body is used as a whole and may be compressed */
    /* The answer. */
    int status;                               /* HTTP status; 0 before the response head */
    int retry_after_s;                        /* seconds of the header Retry-After; 0: not given */
    bool sent;                                /* the server may have received part of the request */
    char media_type[EXCHANGE_MEDIA_TYPE_MAX]; /* header Content-Type; "" when there is none */
    /* Receives a header Warning of the response. */
    void (*warning)(struct exchange *exchange, const char *text, size_t len);
    void (*data)(struct exchange *exchange, const char *bytes, size_t len);
    /** Ends the exchange. `err` is NULL when the answer is complete. */
    void (*done)(struct exchange *exchange, const struct error *err);
    void *carrier; /* private to the transport; NULL: the exchange is not in progress */
};

struct transport;

struct transport_ops {
    void (*start)(struct transport *transport, struct exchange *exchange);
    /** Cancels the exchange; no callback runs after that. May be called from a callback. */
    void (*cancel)(struct transport *transport, struct exchange *exchange);
    /** Reports that the server rejected the credentials (401). Returns whether the next exchange
     * may have new ones. */
    bool (*refused)(struct transport *transport);
};

struct transport {
    const struct transport_ops *ops;
};
