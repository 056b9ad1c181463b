#pragma once
/*
 * The addresses that probes may connect to: an IP address from a pod's status and a port, nothing
 * else (SEC-13).
 *
 * Loopback is allowed because local pods may share the host's network. Link-local, unspecified,
 * multicast and broadcast addresses are never allowed, nor those that the caller refuses (the API
 * server's own).
 */
#include <netinet/in.h>
#include <stdint.h>

#include "base/error.h"

/* Opens sockets in the network of a pod, for pods in a network namespace that this process is not
 * in. */
struct probe_sockets {
    int (*open)(
        void *ctx,
        const struct sockaddr *to); /* a TCP socket; -1: an ordinary socket reaches the address */
    void *ctx;
};

struct probe_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } sock;
    char text[INET6_ADDRSTRLEN + 8]; /* address as a URL writes it: 10.0.0.7:80 or [fd00::7]:80 */
    const struct probe_sockets *sockets; /* makes the socket, borrowed for the attempt; NULL: an
                                          * ordinary socket is used */
};

/** Resolves the address of a probe. `refused` is a NULL-terminated list of "IP:PORT" (or
 * "[IP]:PORT") and of ranges such as 10.0.0.0/8, or NULL. False with FORBIDDEN or INVALID. */
bool probe_address_of(const char *ip, int32_t port, const char *const *refused,
                      struct probe_address *out, struct error *err);
/** Returns whether the text is a range of addresses: IP/BITS. */
bool probe_range_is(const char *text);
/** Returns a socket in the pod's network, owned; -1: an ordinary socket reaches the address. */
int probe_address_socket(const struct probe_address *address);
/** Returns whether this is the address that the socket address names. */
bool probe_address_is(const struct probe_address *address, const struct sockaddr *sock, size_t len);
