#pragma once
/*
 * Forwarding datagrams to pods, in the thread of the proxy (proxy.h).
 *
 *   program ──► listener (a Service's address and UDP port) ──► client ──► one of the targets
 *           ◄──────────────── from the listener ◄─────────────────┘
 *
 * Each program that sends to a listener becomes a client: it gets a socket of its own, connected to
 * the target whose turn it is. Answers on that socket are sent to the program from the listener.
 * udp_sessions.h says how long clients are kept and how many. A client ends at once when its target
 * refuses or is removed. A datagram that cannot be forwarded without waiting is dropped.
 */
#include "base/loop/reactor.h"
#include "node/proxy/proxy.h"
#include "node/proxy/udp_sessions.h"

struct udp_listeners {
    struct reactor *reactor;
    int (*new_socket)(void *ctx, int type); /* returns a non-blocking socket, or -1 with errno */
    void *ctx;
    struct udp_listener *udp_listeners; /* hash table of listeners by number */
    struct udp_sessions udp_sessions;
    struct alarm expiry;
    char *bytes; /* buffer for one datagram */
};

/** Initialises the struct. The caller has set `reactor`, `new_socket` and `ctx`. */
void udp_listeners_init(struct udp_listeners *all);
void udp_listeners_release(struct udp_listeners *all);

/** Adds a listener at a bound, non-blocking socket, which it then owns. The listener refuses until
 * it has targets. */
void udp_listener_open(struct udp_listeners *all, uint32_t number, int fd);
/** Sets the targets of a listener. This function and the next do nothing when there is no listener
 * of that number. */
void udp_listener_set_targets(struct udp_listeners *all, uint32_t number,
                              const struct proxy_target *targets, size_t n);
void udp_listener_close(struct udp_listeners *all, uint32_t number);
