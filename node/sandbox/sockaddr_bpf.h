#pragma once
/*
 * Rewriting addresses by programs of the kernel: small BPF programs on a pod's control group change
 * the addresses of bind, connect and datagrams on their way (machine/sockaddr_rules.h says which;
 * IPv6 datagrams stay as they are, for the kernel does not take a mapped address instead). They
 * cost programs nothing, open declared ports below 1024, and go with the group. They are the same
 * for all pods, for loading takes long: what is a pod's own lies in a storage_key of its group.
 * Takes root, and a directory of the unified hierarchy; the other way is notify.h.
 */
#include "base/error.h"
#include "node/machine/sockaddr_rules.h"

enum sockaddr_bpf_program {
    SOCKADDR_BPF_BIND4,
    SOCKADDR_BPF_BIND6,
    SOCKADDR_BPF_CONNECT4,
    SOCKADDR_BPF_CONNECT6,
    SOCKADDR_BPF_SEND4,
    SOCKADDR_BPF_PROGRAMS
};

enum { SOCKADDR_BPF_STORAGE = SOCKADDR_BPF_PROGRAMS, SOCKADDR_BPF_FDS };

struct sockaddr_bpf {
    int fds[SOCKADDR_BPF_FDS]; /* of the programs, and of the map of cells; -1 = there are none */
};

#define SOCKADDR_BPF_NONE ((struct sockaddr_bpf){{-1, -1, -1, -1, -1, -1}})

/** Load the programs. False with `err`; `out` has none then. */
bool sockaddr_bpf_open(struct sockaddr_bpf *out, struct error *err);
bool sockaddr_bpf_is_open(const struct sockaddr_bpf *bpf);
void sockaddr_bpf_close(struct sockaddr_bpf *bpf); /* those attached stay with their group */

/** Let them see what processes of the group in the directory `group_fd` ask. `out_cell` is where
 * this group's own is. */
bool sockaddr_bpf_attach(const struct sockaddr_bpf *bpf, int group_fd,
                         const struct sockaddr_rules *rules, uint64_t *out_cell, struct error *err);

/** A port a program of that group has wanted of any address, that is not the pod's own and in use;
 * 0 = none. */
uint16_t sockaddr_bpf_taken_port(const struct sockaddr_bpf *bpf, uint64_t storage_key);
