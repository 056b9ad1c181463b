#pragma once
/*
 * Backups that the daemon makes by itself: `serve --backup-dir DIR --backup-every D --backup-keep
 * N`.
 *
 *   due ─► copy on the store thread ─► checked, synced and renamed on the pool ─► the oldest go
 *
 * A backup is a file jobflow-TIME.db in DIR. It has that name only when every row of it was read
 * and verified; its path is then noted in the data directory, where the message about a damaged
 * store finds it. A failure is logged, counted and told as an Event of the node, and tried again
 * sooner.
 */
#include "cli/engine/engine.h"

struct backups;

struct backup_options {
    const char *directory; /* made with mode 0700 when it is missing */
    int64_t every_ms;
    int64_t keep; /* number of backups that stay */
};

/** Starts making backups of the engine's store. FORBIDDEN or INTERNAL when the directory cannot be
 * used. */
struct backups *backups_start(struct engine *engine, const struct backup_options *options,
                              struct error *err);
/** Stops making backups; an unfinished copy is removed. NULL is fine. */
void backups_stop(struct backups *backups);
