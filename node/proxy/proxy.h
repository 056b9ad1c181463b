#pragma once
/*
 * The relay: a thread that hands connections and datagrams on, from the addresses of Services to
 * pods.
 *
 *   program ──► door (a Service's address and port) ──► joint ──► one of the door's targets
 *
 * Doors are opened, led and closed from the loop; nothing of it waits for the relay. A door without
 * targets refuses connections, as a port does on which nobody listens. Targets take turns; one that
 * refuses is passed over. There are at most RELAY_JOINTS_MAX connections at once: further ones wait
 * in the kernel until one has ended. Doors of datagrams are hatches (udp_listener.h).
 */
#include <netinet/in.h>
#include <stdint.h>

#include "node/shim/netns_holder.h"

enum { RELAY_JOINTS_MAX = 1024, RELAY_TARGETS_MAX = 1024 };

struct relay;
struct relay_target {
    in_addr_t ip;  /* network order */
    uint16_t port; /* host order */
};

/** Connections are made from sockets of the holder's network (consumed; NETNS_HOLDER_NONE: the
 * machine's). NULL with `err` when no thread can be had. */
struct relay *relay_start(struct netns_holder holder, struct error *err);
/** Ends all connections. NULL is fine. */
void relay_stop(struct relay *relay);

/** A door at a bound socket (consumed) of either type, that of a stream with SO_REUSEADDR, for it
 * will listen again while connections of its live. It refuses until it is led somewhere. */
uint32_t relay_open(struct relay *relay, int fd);
/** From now on its connections and datagrams go to these, the first RELAY_TARGETS_MAX of them;
 * connections it has made stay. */
void relay_lead(struct relay *relay, uint32_t door, const struct relay_target *targets, size_t n);
void relay_close(struct relay *relay, uint32_t door);
