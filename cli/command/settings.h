#pragma once
/*
 * Flags from a file: YAML whose keys are the names of a command's flags.
 *
 *   listen: ["127.0.0.1:6480"]
 *   max-pods: 32
 */
#include "base/arena.h"
#include "cli/command/command.h"

/** Set the flags of the file. Texts live in `arena`. INVALID with file, line and name of what was
 * wrong, or what reading gave. */
bool settings_load(const char *path, const struct flag *flags, void *options, struct arena *arena,
                   struct error *err);
