#pragma once
/*
 * The holder of the private network (sandbox/network.h): a process that lives inside it, so that
 * the network exists as long as a node or shim is connected.
 *
 *   node ──► holder ◄── shared shim ──fork──► shims of pods, with the same connection
 *
 * A new connection receives descriptors of the namespaces. Each byte sent on it names a socket type
 * and is answered with a socket inside the network, by which the node reaches its pods. The holder
 * has a directory like that of a shim (shim_dir.h): <data>/node/net.
 */
#include "node/sandbox/network.h"

#define NETNS_HOLDER_NAME "jobflow-net"

/* A connection to the holder, and the namespaces it sent. A zeroed struct would name descriptor 0,
 * so begin with NETNS_HOLDER_NONE. */
struct netns_holder {
    int fd; /* descriptor of the connection; -1: none */
    struct network network;
};
#define NETNS_HOLDER_NONE ((struct netns_holder){-1, {-1, -1}})

/** Connect to the holder in a directory. False with UNAVAILABLE when it does not answer, INTERNAL
 * when it could not make the network; the message then names the step that failed. */
bool netns_holder_connect(int dir_fd, struct netns_holder *out, struct error *err);
/** Returns whether the holder still runs. */
bool netns_holder_alive(const struct netns_holder *holder);
void netns_holder_close(struct netns_holder *holder);
/** Returns a socket inside the private network (owned), SOCK_STREAM or SOCK_DGRAM. Returns -1 with
 * `err` when the holder does not answer within half a second. */
int netns_holder_socket(const struct netns_holder *holder, int type, struct error *err);

/** Runs the holder itself, with the descriptors of a shim (entry.h). argv[1] is the level of
 * isolation. Returns the exit code. */
int netns_holder_main(int argc, char **argv);
