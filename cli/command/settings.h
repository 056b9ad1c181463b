#pragma once
/*
 * Reads flags from a YAML file whose keys are the names of a command's flags:
 *
 *   listen: ["127.0.0.1:6480"]
 *   max-pods: 32
 */
#include "cli/command/command.h"

/** Sets the flags given in the file. Texts live in `arena`. Returns false with INVALID, which names
 * file, line and key, or with the error of reading the file. */
bool settings_load(const char *path, const struct flag *flags, void *options, struct arena *arena,
                   struct error *err);
