#pragma once
/*
 * Finding out what this machine can do by doing it in a process of its own, whose end undoes all.
 *
 * A process with threads can neither enter a user namespace nor run such code after fork (SEC-28).
 * So the check starts the program anew with the name of the check in argv.
 */
#include "node/sandbox/isolation_level.h"

#define CAPABILITY_CHECK_NAME "jobflow-trial"

/** Run a check in a new process: "level" (isolation_level.h) or "network" (network.h), at a
 * level of isolation, with the directory `scratch` to build in. False with the reason:
 * UNAVAILABLE. */
bool capability_check(const char *check, enum isolation_level level, const char *scratch,
                      struct error *err);

/** Run `attempt` in a forked child, from a process without threads. False with its error:
 * UNAVAILABLE. */
bool capability_check_in_child(bool (*attempt)(void *arg, struct error *err), void *arg,
                               struct error *err);

/** The main function of the process that runs a check, if argv names one: its exit code; else
 * -1. */
int capability_check_main(int argc, char **argv);
