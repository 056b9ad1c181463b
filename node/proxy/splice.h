#pragma once
/*
 * A splice: two sockets, and what comes out of one goes into the other, each way on its own. What
 * one side does not take is not read from the other, so a splice holds at most two chunks.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/reactor.h"

enum { SPLICE_CHUNK = 16 << 10 };

/* One way through it. */
struct splice_flow {
    size_t from, to; /* read and not yet written */
    bool ended;      /* nothing more comes, */
    bool passed_on;  /* and the other side was told */
    char bytes[SPLICE_CHUNK];
};

struct splice_side {
    struct source source; /* fd -1: not there yet */
    struct splice *splice;
    bool armed;
};

struct splice {
    struct reactor *reactor;
    struct splice_side sides[2];
    struct splice_flow ways[2]; /* [i]: from sides[i] to the other one */
    bool connecting;            /* sides[1] */
    bool over;
    void (*failed)(struct splice *splice); /* sides[1] could not connect: connect again, or end */
    void (*ended)(struct splice *splice);  /* both ways are; the owner's to free */
};

/** Takes the descriptor, non-blocking, of who has come. */
void splice_init(struct splice *splice, struct reactor *reactor, int fd);
/** Takes the descriptor of a connection under way, non-blocking. */
void splice_connect(struct splice *splice, int fd);
/** Closes both; with a reset, unless both have come to their end. */
void splice_close(struct splice *splice);
