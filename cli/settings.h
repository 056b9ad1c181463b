#pragma once
/*
 * Flags from a file: YAML whose keys are the names of a command's flags.
 *
 *   listen: ["127.0.0.1:6480"]
 *   max-pods: 32
 */
#include "base/arena.h"
#include "cli/command.h"

/** Set the flags of the file; `store` sets one from its text and prints what is wrong. Texts live
 * in `arena`. False when something was wrong, which has been printed. */
bool settings_load(const char *path, const struct flag *flags, char *options,
                   bool (*store)(const struct flag *flag, const char *text, char *options),
                   struct arena *arena);
