#pragma once
/*
 * Shows that random walks find planted bugs (SIM-08). Without such a test, walks that find nothing
 * would prove nothing.
 *
 * The bugs are planted from outside: the linker redirects calls of some functions to wrappers of
 * the test, which change arguments or results. Each bug runs in a child process, because some bugs
 * end in an assertion of the program itself, which counts as found.
 */
#include <stdbool.h>
#include <stddef.h>

struct planted_bugs {
    const char *const *texts; /* what each bug does, [count]; the first means no bug */
    size_t count;
    /* Plants the bug and runs walks. Returns true when one of them fails. Runs in the child. */
    bool (*find)(size_t bug);
};

/** Fails the test when a bug is not found, or when walks fail without one. */
void planted_bugs_are_found(const struct planted_bugs *bugs);
