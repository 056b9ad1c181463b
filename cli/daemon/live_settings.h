#pragma once
/*
 * Reloads the settings of a running daemon (SIGHUP).
 *
 * A changed setting whose flag is `live` takes effect at once. Any other changed setting is
 * reported and takes effect at the next start. A file with an error changes nothing.
 */
#include "cli/daemon/daemon.h"

struct live_settings {
    const struct flag *flags;
    struct arena *arena; /* texts of the last reload; NULL: none yet */
};

/** Returns false with `err` set when the file has an error. */
bool live_settings_read(struct live_settings *live, struct daemon_options *options,
                        struct error *err);
void live_settings_release(struct live_settings *live);
