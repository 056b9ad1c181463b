#pragma once
/*
 * Detects shims whose data directory has been deleted. They notice the deletion and stop their pods
 * by themselves, but a new run may start earlier.
 */
#include <stddef.h>

/** Logs a warning about shims of a deleted directory of this path that still run. Returns their
 * number. */
size_t orphans_warn(const char *data_dir);
