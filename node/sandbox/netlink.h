#pragma once
/*
 * The few requests to the kernel's routing socket that a network of pods takes. Each goes to the
 * network namespace the socket was opened in.
 */
#include <netinet/in.h>

#include "base/error.h"

/** A socket, close-on-exec. -1 with `err`. */
int netlink_open(struct error *err);

bool netlink_add_bridge(int fd, const char *name, struct error *err);
/** A pair of linked interfaces: `name` here, `peer` in the namespace `peer_ns_fd`. */
bool netlink_add_pair(int fd, const char *name, const char *peer, int peer_ns_fd,
                      struct error *err);
/** Switch it on; `bridge`: as a port of that one, or NULL. */
bool netlink_up(int fd, const char *name, const char *bridge, struct error *err);
bool netlink_add_address(int fd, const char *name, in_addr_t address, unsigned prefix_bits,
                         struct error *err);
