#pragma once
/*
 * The private network of pods: a network namespace with a bridge, and for every pod one more
 * network namespace, linked to the bridge by a veth pair.
 *
 *   Services (lo, 10.127.0.2/22): the node's proxy listens there (proxy/proxy.h)
 *   pods (10.127.0.1/16) ─┬─ p0400 ═══ eth0 10.127.4.0   pod
 *                         └─ p0401 ═══ eth0 10.127.4.1   pod
 *
 * No other network is reachable from inside, and programs outside do not reach the pods. An
 * ordinary user makes the network inside a user namespace. The namespaces live as long as a process
 * holds descriptors of them (shim/netns_holder.h).
 */
#include <netinet/in.h>

#include "base/error.h"
#include "node/sandbox/isolation_level.h"

/* The namespaces of the private network, held by descriptors. */
struct network {
    int net_fd;  /* descriptor of the network namespace; -1: there is no private network */
    int user_fd; /* descriptor of the user namespace that owns the network; -1: the one of this
                  * process owns it */
};

/** Moves this process into a new network namespace and makes the bridge in it. */
bool network_make(enum isolation_level level, struct error *err);
/** Opens descriptors of the namespaces of the network that this process is in. */
bool network_hold(enum isolation_level level, struct network *out, struct error *err);

/** Moves this process into a new network namespace, linked to the bridge, with the address `ip`. If
 * a user namespace owns the network, this process enters that one, too. */
bool network_join(const struct network *network, in_addr_t ip, struct error *err);

/** Returns whether an address belongs to the private network. */
bool network_has(const struct sockaddr *address);

/** Returns whether the private network works here for pods of this level. It is tried in a process
 * of its own; `err` names the step that failed. */
bool network_check(enum isolation_level level, struct error *err);
/** The check "network" of capability_check.h: builds a private network to see whether it works. The
 * calling process is in that network from then on. */
bool network_try(enum isolation_level level, const char *scratch, struct error *err);
