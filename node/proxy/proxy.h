#pragma once
/*
 * The proxy: a thread that hands connections and datagrams on, from the addresses of Services to
 * pods.
 *
 *   program ──► listener (a Service's address and port) ──► splice ──► one of the listener's targets
 *
 * Doors are opened, led and closed from the loop; nothing of it waits for the proxy. A listener without
 * targets refuses connections, as a port does on which nobody listens. Targets take turns; one that
 * refuses is passed over. There are at most PROXY_CONNS_MAX connections at once: further ones wait
 * in the kernel until one has ended. Doors of datagrams are udp_listeners (udp_listener.h).
 */
#include <netinet/in.h>
#include <stdint.h>

#include "node/shim/netns_holder.h"

enum { PROXY_CONNS_MAX = 1024, PROXY_TARGETS_MAX = 1024 };

struct proxy;
struct proxy_target {
    in_addr_t ip;  /* network order */
    uint16_t port; /* host order */
};

/** Connections are made from sockets of the holder's network (consumed; NETNS_HOLDER_NONE: the
 * machine's). NULL with `err` when no thread can be had. */
struct proxy *proxy_start(struct netns_holder holder, struct error *err);
/** Ends all connections. NULL is fine. */
void proxy_stop(struct proxy *proxy);

/** A listener at a bound socket (consumed) of either type, that of a stream with SO_REUSEADDR, for it
 * will listen again while connections of its live. It refuses until it is led somewhere. */
uint32_t proxy_open(struct proxy *proxy, int fd);
/** From now on its connections and datagrams go to these, the first PROXY_TARGETS_MAX of them;
 * connections it has made stay. */
void proxy_set_targets(struct proxy *proxy, uint32_t listener, const struct proxy_target *targets,
                       size_t n);
void proxy_close(struct proxy *proxy, uint32_t listener);
