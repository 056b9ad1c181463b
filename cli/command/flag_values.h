#pragma once
/*
 * Stores flag values in options structs, for the command line and for settings files.
 */
#include "cli/command/command.h"

/** Returns NULL for an unknown name. */
const struct flag *flag_named(const struct flag *flags, const char *name);
/** Sets a flag of its command's options; a list flag gets another item. `text` is borrowed for the
 * life of the options; NULL for a FLAG_BOOL without a value. Returns false with INVALID, which
 * says which values are valid. */
bool flag_store(const struct flag *flag, const char *text, void *options, struct error *err);
bool flag_equal(const struct flag *flag, const void *options, const void *others);
void flag_copy(const struct flag *flag, void *options, const void *from);
