#pragma once
/*
 * Rewriting socket addresses in the kernel: BPF programs on a container's control group change the
 * addresses of bind, connect and sent datagrams by the rules of machine/sockaddr_rules.h. IPv6
 * datagrams stay as they are, because the kernel does not accept a mapped address for them.
 *
 * The programs let a pod bind its declared ports below 1024, and go away with the group. Loading
 * them takes long, so all pods share the same programs; a pod's address and ports are in the
 * group's entry of a map. Needs root and the unified hierarchy; without these sockaddr_notify.h
 * does the same at a higher price.
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
    int fds[SOCKADDR_BPF_FDS]; /* descriptors of the programs and of the map; -1 = not open */
};

#define SOCKADDR_BPF_NONE ((struct sockaddr_bpf){{-1, -1, -1, -1, -1, -1}})

/** Loads the BPF programs. Returns false with `err` on failure; `out` is then closed. */
bool sockaddr_bpf_open(struct sockaddr_bpf *out, struct error *err);
bool sockaddr_bpf_is_open(const struct sockaddr_bpf *bpf);
/** Closes the descriptors. Attached programs stay with their control group. */
void sockaddr_bpf_close(struct sockaddr_bpf *bpf);

/** Applies the BPF programs to the processes of the control group whose directory is `group_fd`,
 * with these rules. `out_key` becomes the key of the group's entry in the map. */
bool sockaddr_bpf_attach(const struct sockaddr_bpf *bpf, int group_fd,
                         const struct sockaddr_rules *rules, uint64_t *out_key, struct error *err);

/** Returns the last port that a process of the group bound on any address although the pod does not
 * declare it, if that port is in use now; 0 = none. */
uint16_t sockaddr_bpf_taken_port(const struct sockaddr_bpf *bpf, uint64_t storage_key);
