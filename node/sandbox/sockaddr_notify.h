#pragma once
/*
 * Rewriting socket addresses by seccomp notification, which needs no privilege: bind, connect and
 * sendto with an address, called by the programs of a container, stop in the kernel until the shim
 * answers. The shim lets the call go on, or makes it in the program's place with another address,
 * by the rules of machine/sockaddr_rules.h. The address of sendmsg is out of reach of a filter.
 */
#include "node/machine/sockaddr_rules.h"

/** From now on these calls of this process and its descendants wait for an answer on the descriptor
 * returned. -1 with errno when the kernel cannot. Needs no_new_privs or CAP_SYS_ADMIN. */
int sockaddr_notify_install(void);

/** Does it work here? Tried in a child. */
bool sockaddr_notify_works(void);

/* Ports that a program could not bind; 0 = none. */
struct port_failures {
    uint16_t taken;   /* not declared by the pod, and in use */
    uint16_t refused; /* below 1024, for which this user has no privilege */
};

/** Answer one waiting call, if there is any. False when all processes with the filter have ended.
 * Failures are added to `failures`. */
bool sockaddr_notify_answer(int listener_fd, const struct sockaddr_rules *rules,
                            struct port_failures *failures);
