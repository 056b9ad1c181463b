#pragma once
/*
 * Where probes may go: an IP address from a pod's status and a port, nothing else (SEC-13).
 *
 * Loopback is allowed, for local pods may share the host's network; link-local, unspecified,
 * multicast and broadcast addresses never are, nor the addresses the caller refuses (the API's
 * own).
 */
#include <netinet/in.h>
#include <stdint.h>

#include "base/error.h"

/* Pods may be in a network that this process is not in: then the socket comes from somebody who
 * is. */
struct probe_sockets {
    int (*open)(void *ctx, const struct sockaddr *to); /* TCP; -1: any socket leads there */
    void *ctx;
};

struct probe_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } sock;
    char text[INET6_ADDRSTRLEN + 8];     /* as a URL writes it: 10.0.0.7:80 or [fd00::7]:80 */
    const struct probe_sockets *sockets; /* NULL: any socket leads there; borrowed for the try */
};

/** `refused` is a NULL-terminated list of "IP:PORT" (or "[IP]:PORT"), or NULL. False with FORBIDDEN
 * or INVALID. */
bool probe_address_of(const char *ip, int32_t port, const char *const *refused,
                      struct probe_address *out, struct error *err);
/** A socket that leads there, made elsewhere; -1: any one does. */
int probe_address_socket(const struct probe_address *address);
/** Whether a socket address about to be connected to is this one. */
bool probe_address_is(const struct probe_address *address, const struct sockaddr *sock, size_t len);
