#pragma once
/*
 * Rewriting addresses without any privilege: bind and connect of the programs of a container stop
 * in the kernel and ask the shim, which lets them go on, or makes the call in their place with
 * another address.
 */
#include "node/sandbox/rewrite.h"

/**
 * From now on bind and connect of this process and its descendants ask whoever holds the descriptor
 * returned. -1 with errno when the kernel cannot. Needs no_new_privs or CAP_SYS_ADMIN.
 */
int notify_install(void);

/** Does it work for a process like this one? Tried in a child. */
bool notify_works(void);

/** Answer what is asked now. False when nobody is left to ask. `*out_taken` becomes a port that
 * was asked for, is not the pod's own and is in use; else it stays. */
bool notify_answer(int listener_fd, const struct rewrite *rewrite, uint16_t *out_taken);
