#pragma once
/*
 * Rewriting socket addresses by seccomp notification, which needs no privilege: bind, connect and
 * sendto with an address, called by the programs of a container, stop in the kernel until the shim
 * answers. The shim lets the call go on, or makes it in the program's place with another address,
 * by the rules of machine/sockaddr_rules.h. The address of sendmsg is out of reach of a filter.
 */
#include "node/machine/sockaddr_rules.h"

/** Installs the filter: from now on the notified calls of this process and its descendants wait for
 * an answer on the descriptor that is returned. Returns -1 with errno when the kernel cannot do
 * that. It needs no_new_privs or CAP_SYS_ADMIN. */
int sockaddr_notify_install(void);

/** Returns whether seccomp notification works here. It is tried in a child process. */
bool sockaddr_notify_works(void);

/* The ports that a program could not bind; 0 = none. */
struct port_failures {
    uint16_t taken;   /* a port that the pod does not declare and that is in use */
    uint16_t refused; /* a port below 1024, for which this user has no privilege */
};

/** Answers one waiting call, if there is any. Returns false when all processes with the filter have
 * ended. Ports that could not be bound are added to `failures`. */
bool sockaddr_notify_answer(int listener_fd, const struct sockaddr_rules *rules,
                            struct port_failures *failures);
