#pragma once
/*
 * Tests that kill the node or its shared shim and start a new one on the same data directory, which
 * has one shared shim at a time.
 */
#include <sys/types.h>

#include "tests/support/pods.h"
#include "tests/unit.h"

enum { LIMIT_MS = 60000, POLL_MS = 10 };

/** A new data directory; owned. */
char *node_directory(const char *name);
/** Run `act` with a node in a process of its own, which is killed when `act` has returned. */
void node_run(const char *dir, void (*act)(struct pods_fixture *fixture));
/** End the node, and wait for its shims: those without unfinished pods end with their node. */
void node_finish(struct pods_fixture *fixture, const char *dir);

void start_shell_pod(struct pods_fixture *fixture, const char *uid, const char *script);
void start_long_pod(
    struct pods_fixture *fixture); /* the pod "long", which runs when this returns */
void release_pod(struct pods_fixture *fixture, const char *uid);
/** Its last report says that its supervisor was lost. Releases it. */
void check_lost(struct pods_fixture *fixture, const char *uid);

pid_t shim_pid(const char *dir);
void wait_for_shims_to_end(const char *dir); /* returns when they have */
void wait_for_end(long pid);
void kill_shim(const char *dir); /* returns when it is dead */
