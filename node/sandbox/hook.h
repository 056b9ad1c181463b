#pragma once
/*
 * Rewriting addresses by programs of the kernel: small BPF programs on a pod's control group change
 * the addresses of bind and connect on their way (rewrite.h says which). They cost programs
 * nothing, open declared ports below 1024, and go with the group. Takes root, and a directory of
 * the unified hierarchy; the other way is notify.h.
 */
#include "base/error.h"
#include "node/sandbox/rewrite.h"

enum hook_place { HOOK_BIND4, HOOK_BIND6, HOOK_CONNECT4, HOOK_CONNECT6, HOOK_PLACES };

struct hook {
    int programs[HOOK_PLACES]; /* descriptors */
    int wanted_fd;             /* a map of one number: the last port wanted that is not the pod's */
};

/** The programs for a pod. NULL with `err`. */
struct hook *hook_new(const struct rewrite *rewrite, struct error *err);
void hook_free(struct hook *hook); /* those attached stay with their group */

/** Let them see what processes of the group in the directory `group_fd` ask. */
bool hook_attach(const struct hook *hook, int group_fd, struct error *err);

/** A port a program has wanted of any address, that is not the pod's own and in use; 0 = none. */
uint16_t hook_taken(const struct hook *hook);
