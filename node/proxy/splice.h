#pragma once
/*
 * A splice forwards bytes between two sockets, each direction on its own. A socket is read only
 * when the other one has taken what was read before, so a splice buffers at most two chunks.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/reactor.h"

enum { SPLICE_CHUNK = 16 << 10 };

/* One direction. */
struct splice_flow {
    size_t from, to; /* bytes read and not yet written: [from, to) */
    bool ended;      /* the source has sent its end */
    bool end_sent;   /* the end was passed on */
    char bytes[SPLICE_CHUNK];
};

struct splice_side {
    struct source source; /* fd -1: not connected yet */
    struct splice *splice;
    bool armed;
};

struct splice {
    struct reactor *reactor;
    struct splice_side sides[2];
    struct splice_flow flows[2]; /* [i]: from sides[i] to the other */
    bool connecting;             /* sides[1] is not connected yet */
    bool over;
    void (*failed)(struct splice *splice); /* sides[1] failed: connect again or end */
    void (*ended)(struct splice *splice);  /* both directions have ended: the owner frees it */
};

/** Start with an accepted connection (non-blocking; consumed). */
void splice_init(struct splice *splice, struct reactor *reactor, int fd);
/** Set the other side: a connection in progress (non-blocking; consumed). */
void splice_connect(struct splice *splice, int fd);
/** Close both sockets; by a reset, unless both directions have ended. */
void splice_close(struct splice *splice);
