#pragma once
/*
 * How a shim is started: `jobflow` under the name SHIM_NAME, with these descriptors.
 */
#include "node/exe/self_exe.h"
#include "node/sandbox/sockaddr_bpf.h"

#define SHIM_SOCKET "ctl" /* in its directory */

#define PODS_DIRECTORY "pods" /* beside that of shims: what boxed pods have on disk */

/* The directory is locked (flock) through the shim's descriptor as long as it lives. */
enum { SHIM_FD_LISTEN = 3, SHIM_FD_DIR, SHIM_FD_LOGS, SHIM_FD_N };

/* What pods' own shims find at the same numbers as the shared one they come from: the directory of
 * pods on disk, /dev/null, the connection to the network of pods (netns_holder.h), the programs
 * that rewrite addresses (sandbox/sockaddr_bpf.h). Their socket to the shared one is where that one
 * listens. */
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

/** Entry of the processes that jobflow starts from itself: shims, the holder of the private
 * network, trials. Their argv[0] says which. Returns an exit code, or -1 when argv[0] names none of
 * them. */
int shim_main(int argc, char **argv);
