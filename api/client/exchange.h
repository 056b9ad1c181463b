#pragma once
/*
 * One HTTP exchange with an API server, and what carries it there: libcurl (client_curl), or the
 * script of a test.
 *
 * A transport knows who the server is and what it is shown; it tries once. What an answer means,
 * and whether to ask again, is for those above (remote).
 */
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A struct inside the asker's struct. Callbacks come on the loop, never inside `start`. */
struct exchange {
    /* the request; borrowed until `done` */
    const char *method;                /* "GET", … */
    const char *target;                /* path and query */
    const char *accept, *content_type; /* NULL: JSON */
    const void *body;                  /* NULL: none */
    size_t body_len;
    int64_t limit_ms; /* until the answer is complete; 0: none */
    bool gathered;    /* taken as a whole: it may come compressed */
    /* the answer */
    int status;        /* of HTTP; 0 until its head has come */
    int retry_after_s; /* 0: it does not say */
    bool sent;         /* the server may have seen something of the request */
    void (*warning)(struct exchange *exchange, const char *text, size_t len); /* of its headers */
    void (*data)(struct exchange *exchange, const char *bytes, size_t len);
    /** The end; `err` NULL when the answer is complete. */
    void (*done)(struct exchange *exchange, const struct error *err);
    void *carrier; /* private to the transport; NULL: not under way */
};

struct transport;

struct transport_ops {
    void (*start)(struct transport *transport, struct exchange *exchange);
    /** No callback follows; also from one. */
    void (*cancel)(struct transport *transport, struct exchange *exchange);
    /** The server does not take the credentials it was shown (401): whether the next exchange may
     * have others. */
    bool (*refused)(struct transport *transport);
};

struct transport {
    const struct transport_ops *ops;
};
