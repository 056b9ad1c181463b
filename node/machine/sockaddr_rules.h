#pragma once
/*
 * Rules by which the addresses in a pod's socket calls are replaced.
 *
 * All pods share the host's network, and each has an address of its own in 127.0.0.0/8. Two pods
 * that bind the same port on any address would silently collide. So the ports that a pod declares
 * are bound at its own address; undeclared ports and those chosen by the kernel stay shared, as on
 * a plain host.
 *
 *   bind     declared port, any or loopback address         → the pod's address
 *   bind     undeclared port, any address                   → unchanged, reported if it is in use
 *   connect  declared port, loopback                        → the pod's address
 *   send     a datagram to the same                         → the pod's address
 *   connect  a pod's address, from an unbound socket        → bound to the pod's address first
 *   connect  a Service's address, port below 1024           → port + LOW_PORTS_MOVE, where the
 *   send     a datagram to the same                           Service listens if this user may not
 *                                                             bind low ports
 *
 * IPv6 has a single loopback address, so IPv6 sockets get the IPv4 address mapped. Ref:
 * local-runtime.md 3.3.
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOCKADDR_PORTS_MAX = 64 };

/* When this user may not bind low ports, a Service listens on its port plus LOW_PORTS_MOVE if that
 * port is below LOW_PORTS_END. */
enum { LOW_PORTS_END = 1024, LOW_PORTS_MOVE = 65536 - LOW_PORTS_END };
/** Returns whether the low ports of Services move; the answer is found once per process, by binding
 * one. */
bool sockaddr_low_ports_move(void);

/* The mechanism by which the addresses in socket calls are replaced. */
enum sockaddr_method {
    SOCKADDR_METHOD_NONE,   /* addresses are not replaced: pods share the ports of the host */
    SOCKADDR_METHOD_NOTIFY, /* the kernel reports calls to the shim (sandbox/sockaddr_notify.h) */
    SOCKADDR_METHOD_BPF,    /* BPF programs of a control group (sandbox/sockaddr_bpf.h) */
};

struct sockaddr_rules {
    in_addr_t ip;                       /* the pod's address, network order; 0: no rule applies */
    uint16_t ports[SOCKADDR_PORTS_MAX]; /* ports that the pod declares, host order */
    size_t n_ports;
    bool low_ports_move; /* the low ports of Services have moved by LOW_PORTS_MOVE */
};

union sockaddr_any {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

enum sockaddr_call { SOCKADDR_BIND, SOCKADDR_CONNECT, SOCKADDR_SEND };
enum sockaddr_verdict {
    SOCKADDR_UNCHANGED,
    SOCKADDR_REPLACED,    /* the call is made with the changed address */
    SOCKADDR_BIND_SOURCE, /* the unbound socket is first bound to the changed address; then the call
                           * is made unchanged */
    SOCKADDR_SHARED_PORT, /* the call is made unchanged; the port is shared with other pods and may
                           * be in use */
};

/** Applies the rules to a socket call and returns the verdict. `address` has `len` bytes and is
 * changed as the verdict says. */
enum sockaddr_verdict sockaddr_decide(const struct sockaddr_rules *rules, enum sockaddr_call call,
                                      union sockaddr_any *address, socklen_t len);
