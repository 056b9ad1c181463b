#pragma once
/*
 * How much memory a process and all below it use: for containers whose limit no control group
 * enforces.
 */
#include <stdint.h>
#include <sys/types.h>

/** Sum of the proportional set sizes, in bytes; processes that end meanwhile count nothing. */
int64_t pss_of_tree(pid_t pid);
