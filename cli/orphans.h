#pragma once
/*
 * Supervisors of pods whose data directory somebody has deleted: they go on, and nothing knows of
 * them any more.
 */
#include <stddef.h>

/** Warn of those that belonged to a directory of this path, with how to end them. Returns how many
 * there are. */
size_t orphans_warn(const char *data_dir);
