#pragma once
/*
 * Limits of this process (getrlimit(2)) under which an engine cannot work, and how many pods fit
 * into them.
 */
#include "base/error.h"

/** Returns false with UNAVAILABLE, and what to do, when a limit is too small for an engine. From
 * then on a write beyond the size limit of files fails with an error, not with a signal. */
bool process_limits_check(struct error *err);
/** Returns how many of `wanted` pods may run at once, so that the supervisor does not run out of
 * descriptors; at least one. */
int process_limits_pods(int wanted);
