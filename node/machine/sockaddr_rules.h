#pragma once
/*
 * Which addresses of a pod's socket calls become others.
 *
 * All pods share the host's network and each has an address of its own in 127.0.0.0/8, so two that
 * listen on the same port of "any address" would get in each other's way, silently. Only the ports
 * a pod declares are touched; kernel-chosen and undeclared ones stay shared, as on a plain host.
 *
 *   bind     declared port, any or loopback address        → the pod's address
 *   connect  declared port, loopback                       → the pod's address
 *   send     a datagram there                              → the pod's address
 *   connect  to an address of a pod, from an unbound socket → from the pod's address
 *   connect  to an address of a Service, port below 1024   → LOW_PORTS_MOVE further up, where
 *   send     a datagram there                                those ports are not for our user
 *   bind     another port that the program has chosen, any address → as it is, but watched
 *
 * IPv6 has a single loopback address, so its sockets get the IPv4 address mapped. Ref:
 * local-runtime.md 3.3.
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REWRITE_PORTS_MAX = 64 };

/* Where a Service's low ports are when this user may not listen on them. */
enum { LOW_PORTS_END = 1024, LOW_PORTS_MOVE = 65536 - LOW_PORTS_END };
bool rewrite_low_ports_move(void); /* tried once */

/* Who does it. */
enum rewrite_way {
    REWRITE_NONE,      /* nobody: pods share their ports */
    REWRITE_BY_ASKING, /* notify.h */
    REWRITE_BY_KERNEL, /* sandbox/sockaddr_bpf.h */
};

struct rewrite {
    in_addr_t ip;                      /* the pod's, network order; 0 = rewrite nothing */
    uint16_t ports[REWRITE_PORTS_MAX]; /* declared, host order */
    size_t n_ports;
    bool low_ports_move; /* those of Services */
};

union rewrite_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

enum rewrite_call { REWRITE_BIND, REWRITE_CONNECT, REWRITE_SEND };
enum rewrite_what {
    REWRITE_NOTHING,
    REWRITE_ADDRESS, /* use the changed address */
    REWRITE_SOURCE,  /* the call as it is; bind an unbound socket to the changed address before */
    REWRITE_WATCH,   /* the call as it is: a port all pods share, which may be taken */
};

/** Decide about a call. `address` (of `len` bytes) is changed as the answer says. */
enum rewrite_what rewrite_decide(const struct rewrite *rewrite, enum rewrite_call call,
                                 union rewrite_address *address, socklen_t len);
