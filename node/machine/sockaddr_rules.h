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

enum { SOCKADDR_PORTS_MAX = 64 };

/* Where a Service's low ports are when this user may not listen on them. */
enum { LOW_PORTS_END = 1024, LOW_PORTS_MOVE = 65536 - LOW_PORTS_END };
bool sockaddr_low_ports_move(void); /* tried once */

/* Who does it. */
enum sockaddr_method {
    SOCKADDR_METHOD_NONE,   /* nobody: pods share their ports */
    SOCKADDR_METHOD_NOTIFY, /* notify.h */
    SOCKADDR_METHOD_BPF,    /* sandbox/sockaddr_bpf.h */
};

struct sockaddr_rules {
    in_addr_t ip;                       /* the pod's, network order; 0 = rules nothing */
    uint16_t ports[SOCKADDR_PORTS_MAX]; /* declared, host order */
    size_t n_ports;
    bool low_ports_move; /* those of Services */
};

union sockaddr_any {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

enum sockaddr_call { SOCKADDR_BIND, SOCKADDR_CONNECT, SOCKADDR_SEND };
enum sockaddr_verdict {
    SOCKADDR_UNCHANGED,
    SOCKADDR_REPLACED,    /* use the changed address */
    SOCKADDR_BIND_SOURCE, /* the call as it is; bind an unbound socket to the changed address before */
    SOCKADDR_SHARED_PORT, /* the call as it is: a port all pods share, which may be taken */
};

/** Decide about a call. `address` (of `len` bytes) is changed as the answer says. */
enum sockaddr_verdict sockaddr_decide(const struct sockaddr_rules *rules, enum sockaddr_call call,
                                      union sockaddr_any *address, socklen_t len);
