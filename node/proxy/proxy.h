#pragma once
/*
 * The proxy: a thread that forwards connections and datagrams from the addresses of Services to
 * their pods.
 *
 *   program ──► listener (a Service's address and port) ──► splice ──► one of its targets
 *
 * The loop opens and closes listeners and sets their targets by commands; it never waits for the
 * proxy. A listener without targets refuses connections, as an unused port does. Targets take
 * turns, and one that refuses is skipped. There are at most PROXY_CONNS_MAX connections at once;
 * further ones wait in the kernel until one has ended. Datagrams: udp_listener.h.
 */
#include <netinet/in.h>
#include <stdint.h>

#include "node/shim/netns_holder.h"

enum { PROXY_CONNS_MAX = 1024, PROXY_TARGETS_MAX = 1024 };

struct proxy;
struct proxy_target {
    in_addr_t ip;  /* address of the target, in network order */
    uint16_t port; /* port of the target, in host order */
};

/** Starts the thread. Connections to pods are made from sockets of the network of `holder`, which
 * the proxy then owns; with NETNS_HOLDER_NONE they are made in the machine's network. Returns NULL
 * with `err` when no thread can be started. */
struct proxy *proxy_start(struct netns_holder holder, struct error *err);
/** Ends all connections and the thread. NULL is ignored. */
void proxy_stop(struct proxy *proxy);

/** Adds a listener at a bound socket of either type, and returns its number. The proxy closes `fd`.
 * A stream socket must have SO_REUSEADDR, because it listens again while its connections live. The
 * listener refuses until it has targets. */
uint32_t proxy_open(struct proxy *proxy, int fd);
/** Sets the targets of a listener, the first PROXY_TARGETS_MAX of them, for new connections and
 * datagrams. Existing connections stay. */
void proxy_set_targets(struct proxy *proxy, uint32_t listener, const struct proxy_target *targets,
                       size_t n);
void proxy_close(struct proxy *proxy, uint32_t listener);
