#pragma once
/*
 * Rewriting addresses without any privilege: bind, connect and sendto with an address, called by
 * the programs of a container, stop in the kernel and ask the shim, which lets them go on, or makes
 * the call in their place with another address. (Where sendmsg sends to cannot be seen from
 * outside.)
 */
#include "node/machine/sockaddr_rules.h"

/**
 * From now on these calls of this process and its descendants ask whoever holds the descriptor
 * returned. -1 with errno when the kernel cannot. Needs no_new_privs or CAP_SYS_ADMIN.
 */
int sockaddr_notify_install(void);

/** Does it work for a process like this one? Tried in a child. */
bool sockaddr_notify_works(void);

/* Ports a program wanted and did not get; 0 = none. */
struct port_failures {
    uint16_t taken;   /* not the pod's own, and in use */
    uint16_t refused; /* below 1024, which is not for this user to listen on */
};

/** Answer what is asked now. False when nobody is left to ask. `trouble` is added to. */
bool sockaddr_notify_answer(int listener_fd, const struct sockaddr_rules *rules,
                            struct port_failures *trouble);
