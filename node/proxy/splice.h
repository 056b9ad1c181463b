#pragma once
/*
 * A joint: two sockets, and what comes out of one goes into the other, each way on its own. What
 * one side does not take is not read from the other, so a joint holds at most two chunks.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/reactor.h"

enum { JOINT_CHUNK = 16 << 10 };

/* One way through it. */
struct joint_way {
    size_t from, to; /* read and not yet written */
    bool ended;      /* nothing more comes, */
    bool passed_on;  /* and the other side was told */
    char bytes[JOINT_CHUNK];
};

struct joint_side {
    struct source source; /* fd -1: not there yet */
    struct joint *joint;
    bool armed;
};

struct joint {
    struct reactor *reactor;
    struct joint_side sides[2];
    struct joint_way ways[2]; /* [i]: from sides[i] to the other one */
    bool connecting;          /* sides[1] */
    bool over;
    void (*failed)(struct joint *joint); /* sides[1] could not connect: connect again, or end */
    void (*ended)(struct joint *joint);  /* both ways are; the owner's to free */
};

/** Takes the descriptor, non-blocking, of who has come. */
void joint_init(struct joint *joint, struct reactor *reactor, int fd);
/** Takes the descriptor of a connection under way, non-blocking. */
void joint_connect(struct joint *joint, int fd);
/** Closes both; with a reset, unless both have come to their end. */
void joint_close(struct joint *joint);
