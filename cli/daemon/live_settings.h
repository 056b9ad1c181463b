#pragma once
/*
 * Settings of a daemon at work that are read again (SIGHUP).
 *
 * Those whose flag is `live` are taken at once; another that has changed is named and waits for the
 * next start. A file with a mistake changes nothing.
 */
#include "cli/daemon/daemon.h"

struct live_settings {
    const struct flag *flags;
    struct arena *arena; /* texts of what was read last; NULL: those of the start hold */
};

/** False with what is wrong with the file. */
bool live_settings_read(struct live_settings *live, struct daemon_options *options,
                        struct error *err);
void live_settings_release(struct live_settings *live);
