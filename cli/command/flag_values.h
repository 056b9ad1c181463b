#pragma once
/*
 * What a flag is set to: the same for the command line and for a file of settings.
 */
#include "cli/command/command.h"

const struct flag *flag_named(const struct flag *flags, const char *name); /* NULL if unknown */
/** Set a flag of its command's options; a list grows. `text` is borrowed for the life of the
 * options, NULL for a FLAG_BOOL that stands alone. INVALID with what it must be. */
bool flag_store(const struct flag *flag, const char *text, void *options, struct error *err);
bool flag_equal(const struct flag *flag, const void *options, const void *others);
void flag_copy(const struct flag *flag, void *options, const void *from);
