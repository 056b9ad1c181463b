#pragma once
/*
 * Hatches: listeners for datagrams, in the thread of the proxy (proxy.h).
 *
 *   program ──► udp_listener (a Service's address and UDP port) ──► client ──► one of the udp_listener's targets
 *           ◄────────────────── from the udp_listener ◄──────────────┘
 *
 * Whoever sends to a udp_listener gets a socket of his own, a client, to the target whose turn it is; what
 * comes back over it is sent to him from the udp_listener. How long clients last, and how many there are:
 * udp_sessions.h. One ends at once when its target refuses or is no longer one. What cannot be sent
 * on without waiting is lost, as datagrams may be.
 */
#include "base/reactor.h"
#include "node/proxy/proxy.h"
#include "node/proxy/udp_sessions.h"

struct udp_listeners {
    struct reactor *reactor;
    int (*new_socket)(void *ctx, int type); /* non-blocking; -1: errno says why */
    void *ctx;
    struct udp_listener *udp_listeners; /* by number */
    struct udp_sessions udp_sessions;
    struct alarm expiry;
    char *bytes; /* of the datagram at hand */
};

/** `reactor`, `new_socket` and `ctx` are the caller's to set before. */
void udp_listeners_init(struct udp_listeners *all);
void udp_listeners_release(struct udp_listeners *all);

/** Opens one at a bound socket (consumed, non-blocking), shut until it is led somewhere. */
void udp_listener_open(struct udp_listeners *all, uint32_t number, int fd);
/** Both do nothing when there is none of that number. */
void udp_listener_set_targets(struct udp_listeners *all, uint32_t number,
                              const struct proxy_target *targets, size_t n);
void udp_listener_close(struct udp_listeners *all, uint32_t number);
