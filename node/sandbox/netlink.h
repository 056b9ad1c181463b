#pragma once
/*
 * The requests to the kernel's routing socket that set up a network of pods. Each applies to the
 * network namespace in which the socket was opened.
 */
#include <netinet/in.h>

#include "base/error.h"

/** Opens a routing socket. Returns -1 with `err` on failure. */
int netlink_open(struct error *err);

bool netlink_add_bridge(int fd, const char *name, struct error *err);
/** Makes a pair of linked interfaces (veth): `name` in this network namespace, `peer` in the
 * network namespace `peer_ns_fd`. */
bool netlink_add_pair(int fd, const char *name, const char *peer, int peer_ns_fd,
                      struct error *err);
/** Switches a network interface on. */
bool netlink_up(int fd, const char *name, struct error *err);
/** Makes a network interface a port of a bridge and switches it on. */
bool netlink_up_on_bridge(int fd, const char *name, const char *bridge, struct error *err);
bool netlink_add_address(int fd, const char *name, in_addr_t address, unsigned prefix_bits,
                         struct error *err);
