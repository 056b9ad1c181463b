#pragma once
/*
 * Which pods run, asked while no process uses the data directory.
 */
#include "base/error.h"

/**
 * Asks each living supervisor of the directory `node_dir` for its pods, and calls `found` with the
 * uid of each pod that has not ended, once. Waits at most 10 seconds for each answer. Nothing is
 * changed: supervisors go on as if a daemon had come and gone. Returns false when a supervisor
 * lives and does not answer; a directory without supervisors has no pods.
 */
bool running_pods(const char *node_dir, void (*found)(void *ctx, const char *uid), void *ctx,
                  struct error *err);
