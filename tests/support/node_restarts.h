#pragma once
/*
 * Helpers for tests that kill the node or its shared shim and start a new node on the same data
 * directory. A data directory has one shared shim at a time.
 */
#include <sys/types.h>

#include "tests/support/pods.h"
#include "tests/unit.h"

enum { LIMIT_MS = 60000, POLL_MS = 10 };

/** Creates a new data directory; the path is owned by the caller. */
char *node_directory(const char *name);
/** Runs `act` with a node in a child process, which is killed when `act` has returned. */
void node_run(const char *dir, void (*act)(struct pods_fixture *fixture));
/** Ends the node and waits for its shims: shims without unfinished pods end with their node. */
void node_finish(struct pods_fixture *fixture, const char *dir);

void start_shell_pod(struct pods_fixture *fixture, const char *uid, const char *script);
void start_long_pod(
    struct pods_fixture *fixture); /* starts the pod "long", which is running when this returns */
void release_pod(struct pods_fixture *fixture, const char *uid);
/** Checks that the last report of the pod says that its supervisor was lost, and releases the pod.
 */
void check_lost(struct pods_fixture *fixture, const char *uid);

pid_t shim_pid(const char *dir);
void wait_for_shims_to_end(const char *dir); /* returns when all shims of the directory have
                                              * ended */
void wait_for_end(long pid);
void kill_shim(const char *dir); /* kills the shared shim; returns when it is dead */
