#pragma once
/*
 * Which connection gives up its place for a new one.
 *
 * Strangers can open connections without a credential. They share places of their own, and the one
 * that has held its place longest gives it up for a newcomer: a client that sends its request at
 * once gets its response, however many others hold connections open. A connection with an
 * authenticated request never gives up its place for a stranger.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* How far a connection has come. */
enum standing {
    STANDING_SILENT,   /* the connection has sent no byte */
    STANDING_STRANGER, /* the connection has sent no authenticated request */
    STANDING_KNOWN,
    STANDING_N
};

/* One connection, as far as places are concerned. */
struct place_holder {
    enum standing standing;
    const char *group; /* the peers that share one bound; borrowed */
    uint64_t number;   /* number of the connection in the order of arrival */
};

struct place_bounds {
    size_t strangers; /* largest number of connections of each of the two standings */
    size_t per_group; /* largest number of each of the two standings in one group */
};

enum { PLACE_NONE = -1 };

/**
 * The position of the connection that gives up its place because of `newcomer`, which is one of
 * `holders` [n]; PLACE_NONE when there is room. Of the newcomer's own group the eldest goes first,
 * so that a crowd from one address replaces itself.
 */
long place_to_give_up(const struct place_holder *holders, size_t n, size_t newcomer,
                      const struct place_bounds *bounds);

enum { PLACE_GROUP_MAX = 64 };

/**
 * The group of an address: all of 127.0.0.0/8 and ::1 are one peer, because every user of this
 * machine has all of them; so is a /64 of IPv6, because every host has one. Any other text is a
 * group of its own.
 */
void place_group(const char *address, char out[PLACE_GROUP_MAX]);
