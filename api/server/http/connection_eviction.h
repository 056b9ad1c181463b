#pragma once
/*
 * Which connection is closed to make room for a new one.
 *
 * A client without a credential can open connections, too. The number of unauthenticated
 * connections has a limit of its own; above it the oldest one is closed. So a client that sends its
 * request at once gets its response, however many other clients hold connections open. A connection
 * with an authenticated request is never closed in favor of an unauthenticated one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* How far a connection has come. */
enum standing {
    STANDING_SILENT,          /* the connection has sent no byte */
    STANDING_UNAUTHENTICATED, /* the connection has sent no authenticated request */
    STANDING_AUTHENTICATED,
    STANDING_N
};

/* What the choice needs to know of a connection. */
struct eviction_candidate {
    enum standing standing;
    const char *group; /* the peers that share one bound; borrowed */
    uint64_t number;   /* number of the connection in the order of arrival */
};

struct eviction_bounds {
    size_t unauthenticated; /* largest number of silent, and of unauthenticated connections */
    size_t per_group;       /* largest number of each of the two within one group */
};

enum { EVICT_NONE = -1 };

/**
 * Returns the position of the connection to close because of the new connection at position
 * `newest` of `candidates` [n]; EVICT_NONE when there is room. The oldest connection of the same
 * group is chosen first, so that many connections from one address replace each other.
 */
long eviction_choose(const struct eviction_candidate *candidates, size_t n, size_t newest,
                     const struct eviction_bounds *bounds);

enum { PEER_GROUP_MAX = 64 };

/**
 * Writes the group of an address: all of 127.0.0.0/8 and ::1 are one peer, because every user of
 * this machine has all of them; so is a /64 of IPv6, because every host has one. Any other text is
 * a group of its own.
 */
void peer_group(const char *address, char out[PEER_GROUP_MAX]);
