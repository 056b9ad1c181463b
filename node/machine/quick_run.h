#pragma once
/*
 * Runs a program of this machine that answers a question by its exit code. Its output is thrown
 * away. The calling thread waits for it, but not long.
 */
#include <stdbool.h>

struct quick_run {
    const char *path;
    char *const *argv, *const *env;
    int input_fd;   /* standard input, borrowed */
    int timeout_ms; /* a program that takes longer is killed */
};

/** Returns whether the program was started and ended with exit code 0 in time. */
bool quick_run(const struct quick_run *run);

/** Returns a descriptor from which `text` can be read, closed on exec; -1 on failure. */
int quick_run_input(const char *text);
