#pragma once
/*
 * The private network of pods: a network namespace of its own with a bridge, and for every pod one
 * more namespace with a pair of interfaces between the two.
 *
 *   Services (lo, 10.127.0.2/22): the node's proxy listens there (proxy/proxy.h)
 *   pods (10.127.0.1/16) ─┬─ p0400 ═══ eth0 10.127.4.0   pod
 *                         └─ p0401 ═══ eth0 10.127.4.1   pod
 *
 * No other network is reached from there, and the machine's own programs do not reach the pods.
 * An ordinary user makes it inside a user namespace, in which he may. The namespaces live as long
 * as somebody holds them (shim/netns_holder.h).
 */
#include <netinet/in.h>

#include "base/error.h"
#include "node/sandbox/isolation_level.h"

/* The namespaces, held by descriptors. */
struct network {
    int net_fd;  /* -1: there is none */
    int user_fd; /* the user namespace that owns it; -1: ours does */
};

/** Move this process into a new network with its bridge; it is in no other afterwards. */
bool network_make(enum isolation_level level, struct error *err);
/** Of the network this process is in: descriptors of its namespaces. */
bool network_hold(enum isolation_level level, struct network *out, struct error *err);

/** Move this process into a network namespace of its own, linked to the bridge, with the address
 * `ip`. Where the network has a user namespace, it is in that one afterwards. */
bool network_join(const struct network *network, in_addr_t ip, struct error *err);

/** Is it an address of pods in there? */
bool network_has(const struct sockaddr *address);

/** Does all that work here, for pods of this level? Tried in a child; `err` names the step. */
bool network_check(enum isolation_level level, struct error *err);
/** The capability_check of it: this process is in such a network from then on. */
bool network_try(enum isolation_level level, const char *scratch, struct error *err);
