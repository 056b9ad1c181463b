#pragma once
/*
 * Finding out what this machine can do by doing it in a process of its own, whose end undoes all.
 *
 * A process with threads can neither enter a user namespace nor run such code after fork (SEC-28).
 * So the check starts the program anew with the name of the check in argv.
 */
#include "node/sandbox/isolation_level.h"

#define CAPABILITY_CHECK_NAME "jobflow-check"

/** Runs a check in a new process: "level" (isolation_level.h) or "network" (network.h), at a level
 * of isolation. The check builds its files in the directory `scratch`. Returns false with the
 * reason when the check fails: UNAVAILABLE. */
bool capability_check(const char *check, enum isolation_level level, const char *scratch,
                      struct error *err);

/** Runs `attempt` in a forked child. The calling process must have a single thread. Returns false
 * with the error of the attempt when it fails: UNAVAILABLE. */
bool capability_check_in_child(bool (*attempt)(void *arg, struct error *err), void *arg,
                               struct error *err);

/** The main function of the process that runs a check. Returns its exit code, or -1 when argv names
 * no check and the program goes on as usual. */
int capability_check_main(int argc, char **argv);
