#pragma once
/*
 * How shims and the other helper processes are started: argv[0] names the process, and descriptors
 * lie at fixed numbers.
 */
#include "node/exe/self_exe.h"
#include "node/sandbox/filter/sockaddr_bpf.h"

#define SHIM_SOCKET "ctl" /* name of the shim's socket in its directory */
/* Argument of a shim: plain pods do not share a session keyring. */
#define SHIM_OWN_KEYRINGS "own-keyrings"
#define PODS_DIRECTORY    "pods" /* directory beside that of the shims: files of sandboxed pods */

/* Numbers of the descriptors that the shared shim and the holder of the private network are started
 * with. The directory is locked (flock) through SHIM_FD_DIR as long as the process lives. */
enum { SHIM_FD_LISTEN = 3, SHIM_FD_DIR, SHIM_FD_LOGS, SHIM_FD_N };

/* Numbers of the further descriptors that pods' shims inherit: the directory of pods' files,
 * /dev/null, the connection to the holder of the private network and its namespaces, the BPF
 * programs that rewrite addresses. Where the shared shim listens, pods' shims have their socket to
 * it. */
enum {
    SHIM_FD_SHARED = SHIM_FD_LISTEN,
    SHIM_FD_PODS = SHIM_FD_N,
    SHIM_FD_NULL,
    SHIM_FD_HOLDER,
    SHIM_FD_NET,
    SHIM_FD_NET_USER,
    SHIM_FD_SOCKADDR_BPF
};
enum { SHIM_FD_REST = SHIM_FD_SOCKADDR_BPF + SOCKADDR_BPF_FDS };

/** Runs the process that argv[0] names: a shim, the holder of the private network or a capability
 * check. Returns its exit code, or -1 when argv[0] names none of them. */
int shim_main(int argc, char **argv);
