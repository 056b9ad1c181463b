#pragma once
/*
 * The holder of the private network (sandbox/network.h): a process that is in it, and lives as long
 * as somebody is connected.
 *
 *   node ──► holder ◄── shared shim ──fork──► shims of pods, with the same connection
 *
 * Whoever connects is given the namespaces; whoever asks on, a socket of that network: this is how
 * the node reaches its pods. Its place is <data>/node/net, like that of a shim.
 */
#include "node/sandbox/network.h"

#define NETNS_HOLDER_NAME "jobflow-net"

/* A connection, and the namespaces that came by it. All zero descriptors are invalid: see
 * NETNS_HOLDER_NONE. */
struct netns_holder {
    int fd; /* -1: none */
    struct network network;
};
#define NETNS_HOLDER_NONE ((struct netns_holder){-1, {-1, -1}})

/** Connect to the holder that lives in a place. False: nobody does (UNAVAILABLE), or it could not
 * make the network (INTERNAL, with the step that failed). */
bool netns_holder_connect(int place_fd, struct netns_holder *out, struct error *err);
/** Does it still live? */
bool netns_holder_alive(const struct netns_holder *holder);
void netns_holder_close(struct netns_holder *holder);
/** A socket of the private network, SOCK_STREAM or SOCK_DGRAM. -1 with `err` when it does not
 * answer within a moment. */
int netns_holder_socket(const struct netns_holder *holder, int type, struct error *err);

/** Be it, with the descriptors of a shim (entry.h); argv[1] is the level of isolation. */
int netns_holder_main(int argc, char **argv);
