/*
 * Reads all settings again and compares them one by one with those in use.
 */
#include "cli/daemon/live_settings.h"

#include "base/log.h"
#include "cli/command/flag_values.h"

/* Texts of live settings always point into the newest arena, changed or not, so that the older
 * arena can be freed. */
static void compare(const struct flag *flag, struct daemon_options *options,
                    const struct daemon_options *fresh)
{
    bool same = flag_equal(flag, options, fresh);

    if (flag->live)
        flag_copy(flag, options, fresh);
    if (!same && flag->live)
        log_info("setting changed", kv_str("setting", flag->name));
    else if (!same)
        log_warn("a setting that has changed waits for the next start",
                 kv_str("setting", flag->name));
}

bool live_settings_read(struct live_settings *live, struct daemon_options *options,
                        struct error *err)
{
    struct arena *arena = arena_new(0);
    struct daemon_options fresh;

    if (!command_options_again(&fresh, arena, err)) {
        arena_free(arena);
        return false;
    }
    for (const struct flag *flag = live->flags; flag->type != FLAG_END; flag++)
        compare(flag, options, &fresh);
    arena_free(live->arena);
    live->arena = arena;
    return true;
}

void live_settings_release(struct live_settings *live)
{
    arena_free(live->arena);
    live->arena = NULL;
}
