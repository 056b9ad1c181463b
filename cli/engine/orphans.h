#pragma once
/*
 * Supervisors of pods whose data directory somebody has deleted: nothing knows of them any more.
 * They notice, and stop their pods; but a new run may come first.
 */
#include <stddef.h>

/** Warn of those that belonged to a directory of this path, until they have ended. Returns how many
 * there are. */
size_t orphans_warn(const char *data_dir);
