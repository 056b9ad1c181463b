#pragma once
/*
 * Finding out by doing: something is tried in a process of its own, whose end leaves nothing of it.
 * We have threads and it must not (SEC-28), so it is no fork of ours but started anew, by the name
 * of what it is to try.
 */
#include "node/sandbox/isolation_level.h"

#define CAPABILITY_CHECK_NAME "jobflow-capability_check"

/** Try "level" (sandbox.h) or "network" (network.h), at a level of isolation, with the directory
 * `scratch` to build in. False with what was said: UNAVAILABLE. */
bool capability_check(const char *what, enum isolation_level level, const char *scratch,
                      struct error *err);

/** In a process without threads: run `attempt` in a child. False with what it said: UNAVAILABLE. */
bool capability_check_in_child(bool (*attempt)(void *arg, struct error *err), void *arg,
                               struct error *err);

/** Be such a process, if that is what argv says: the exit code; else -1. */
int capability_check_main(int argc, char **argv);
