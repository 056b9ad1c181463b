/*
 * Refuses flags that have no effect with the chosen runtime.
 */
#include "cli/engine/runtime_flags.h"

#include <string.h>

#include "cli/command/command.h"

bool runtime_flags_check(const char *runtime, const struct runtime_flag *flags)
{
    bool host = strcmp(runtime, "host") == 0;

    if (strcmp(runtime, "sandbox") == 0)
        return true;
    for (; flags->name; flags++) {
        if (!flags->given || (host && flags->host))
            continue;
        cli_errorf("--%s has no effect with --runtime %s, which %s: leave it out", flags->name,
                   runtime,
                   host ? "starts every pod as plain processes" : "starts no programs of pods");
        return false;
    }
    return true;
}
