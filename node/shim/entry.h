#pragma once
/*
 * How a shim is started: `jobflow` under this name, with these descriptors; see
 * runtime_shim_main.
 */
#include "node/sandbox/hook.h"

#define SHIM_NAME   "jobflow-shim"
#define SHIM_SOCKET "ctl" /* in its directory */

/* The directory is locked (flock) through the shim's descriptor as long as it lives. */
enum { SHIM_FD_LISTEN = 3, SHIM_FD_DIR, SHIM_FD_LOGS, SHIM_FD_N };

/* What shims of pods may have besides, from the one they come from: its connection to the network
 * of pods (holder.h), the programs that rewrite addresses (sandbox/hook.h). */
enum { SHIM_FD_HOLDER = SHIM_FD_N, SHIM_FD_NET, SHIM_FD_NET_USER, SHIM_FD_HOOK };
enum { SHIM_FD_REST = SHIM_FD_HOOK + HOOK_FDS };

/* In the environment of every program: how processes that outlive their parents are told apart. */
#define SHIM_MARKER "JOBFLOW_POD_UID"
