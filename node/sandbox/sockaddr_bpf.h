#pragma once
/*
 * Rewriting addresses by programs of the kernel: small BPF programs on a pod's control group change
 * the addresses of bind, connect and datagrams on their way (machine/sockaddr_rules.h says which;
 * IPv6 datagrams stay as they are, for the kernel does not take a mapped address instead). They
 * cost programs nothing, open declared ports below 1024, and go with the group. They are the same
 * for all pods, for loading takes long: what is a pod's own lies in a cell of its group. Takes
 * root, and a directory of the unified hierarchy; the other way is notify.h.
 */
#include "base/error.h"
#include "node/machine/sockaddr_rules.h"

enum hook_place { HOOK_BIND4, HOOK_BIND6, HOOK_CONNECT4, HOOK_CONNECT6, HOOK_SEND4, HOOK_PLACES };

enum { HOOK_CELLS = HOOK_PLACES, HOOK_FDS };

struct hook {
    int fds[HOOK_FDS]; /* of the programs, and of the map of cells; -1 = there are none */
};

#define HOOK_NONE ((struct hook){{-1, -1, -1, -1, -1, -1}})

/** Load the programs. False with `err`; `out` has none then. */
bool hook_open(struct hook *out, struct error *err);
bool hook_is_open(const struct hook *hook);
void hook_close(struct hook *hook); /* those attached stay with their group */

/** Let them see what processes of the group in the directory `group_fd` ask. `out_cell` is where
 * this group's own is. */
bool hook_attach(const struct hook *hook, int group_fd, const struct rewrite *rewrite,
                 uint64_t *out_cell, struct error *err);

/** A port a program of that group has wanted of any address, that is not the pod's own and in use;
 * 0 = none. */
uint16_t hook_taken(const struct hook *hook, uint64_t cell);
