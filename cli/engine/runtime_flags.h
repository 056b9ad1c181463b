#pragma once
/*
 * Flags that say how programs of pods are started. A runtime that starts none, or starts them in
 * one way only, refuses them instead of ignoring them.
 */
#include <stdbool.h>

struct runtime_flag {
    const char *name; /* name of the flag without the dashes; NULL ends the list */
    bool given;
    bool host; /* the flag also has an effect with --runtime host */
};

/** Returns whether all given flags have an effect with this runtime: "sandbox", "host" or "sim".
 * Otherwise prints an error that names the first that has none. */
bool runtime_flags_check(const char *runtime, const struct runtime_flag *flags);
