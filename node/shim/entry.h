#pragma once
/*
 * How a shim is started: `jobflow` under this name, with these descriptors; see
 * runtime_shim_main.
 */
#define SHIM_NAME   "jobflow-shim"
#define SHIM_SOCKET "ctl" /* in its directory */

/* The directory is locked (flock) through the shim's descriptor as long as it lives. */
enum { SHIM_FD_LISTEN = 3, SHIM_FD_DIR, SHIM_FD_LOGS, SHIM_FD_N };

/* In the environment of every program: how processes that outlive their parents are told apart. */
#define SHIM_MARKER "JOBFLOW_POD_UID"
