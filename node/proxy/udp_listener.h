#pragma once
/*
 * Hatches: doors for datagrams, in the thread of the relay (proxy.h).
 *
 *   program ──► hatch (a Service's address and UDP port) ──► talk ──► one of the hatch's targets
 *           ◄────────────────── from the hatch ◄──────────────┘
 *
 * Whoever sends to a hatch gets a socket of his own, a talk, to the target whose turn it is; what
 * comes back over it is sent to him from the hatch. How long talks last, and how many there are:
 * udp_sessions.h. One ends at once when its target refuses or is no longer one. What cannot be sent
 * on without waiting is lost, as datagrams may be.
 */
#include "base/reactor.h"
#include "node/proxy/proxy.h"
#include "node/proxy/udp_sessions.h"

struct hatches {
    struct reactor *reactor;
    int (*new_socket)(void *ctx, int type); /* non-blocking; -1: errno says why */
    void *ctx;
    struct hatch *hatches; /* by number */
    struct sessions sessions;
    struct alarm expiry;
    char *bytes; /* of the datagram at hand */
};

/** `reactor`, `new_socket` and `ctx` are the caller's to set before. */
void hatches_init(struct hatches *all);
void hatches_release(struct hatches *all);

/** Opens one at a bound socket (consumed, non-blocking), shut until it is led somewhere. */
void hatch_open(struct hatches *all, uint32_t number, int fd);
/** Both do nothing when there is none of that number. */
void hatch_lead(struct hatches *all, uint32_t number, const struct relay_target *targets, size_t n);
void hatch_close(struct hatches *all, uint32_t number);
