#pragma once
/*
 * Measures the memory used by a process tree, for containers whose limit no control group enforces.
 */
#include <stdint.h>
#include <sys/types.h>

/** Returns the sum of the proportional set sizes of a process and its descendants, in bytes.
 * Processes that end meanwhile count 0. */
int64_t pss_of_tree(pid_t pid);
