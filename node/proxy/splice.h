#pragma once
/*
 * A splice forwards bytes between two sockets, each direction on its own. A socket is read only
 * when the other one has taken what was read before, so a splice buffers at most two chunks.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/loop/reactor.h"

enum { SPLICE_CHUNK = 16 << 10 };

/* One direction of a splice. */
struct splice_flow {
    size_t from, to; /* bytes read and not yet written: [from, to) */
    bool ended;      /* the source has sent its end */
    bool end_sent;   /* the end was passed on to the other side */
    char bytes[SPLICE_CHUNK];
};

struct splice_side {
    struct source source; /* the socket of this side; fd -1: not connected yet */
    struct splice *splice;
    bool armed;
};

struct splice {
    struct reactor *reactor;
    struct splice_side sides[2];
    struct splice_flow flows[2]; /* flows[i] leads from sides[i] to the other side */
    bool connecting;             /* sides[1] is not connected yet */
    bool over;
    /* Called when sides[1] failed: the owner connects again or ends the splice. */
    void (*failed)(struct splice *splice);
    /* Called when both directions have ended: the owner frees the splice. */
    void (*ended)(struct splice *splice);
};

/** Starts a splice with an accepted connection, which is non-blocking and then owned by the
 * splice. */
void splice_init(struct splice *splice, struct reactor *reactor, int fd);
/** Sets the other side: a connection in progress, which is non-blocking and then owned by the
 * splice. */
void splice_connect(struct splice *splice, int fd);
/** Closes both sockets, by a reset unless both directions have ended. */
void splice_close(struct splice *splice);
