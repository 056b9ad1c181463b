#pragma once
/*
 * Finds the zone files of the machine: a zone by its name, and the zone of the machine itself.
 *
 * Two variables of the environment change where they are: TZDIR and TZ. The program sets them once,
 * before it uses a zone.
 */
#include "base/buf.h"
#include "base/time/zone.h"

/** Tells this module what the environment variables TZ and TZDIR contain; NULL for one that is not
 * set. Called once, before the first zone is opened. The texts are borrowed until the process ends. */
void zone_environment(const char *tz, const char *tzdir);

/**
 * Opens a zone by its name, such as Europe/Berlin: a file beneath the zone directory (TZDIR, else
 * /usr/share/zoneinfo). Returns an owned zone, or NULL with INVALID for a name that is none, and
 * NOT_FOUND for a zone that the machine does not have.
 */
struct zone *zone_open(const char *name, struct error *err);
/** Opens the zone of this process: that of TZ, else /etc/localtime. Returns NULL (UTC) when none is
 * set. */
struct zone *zone_open_local(void);
/** Appends the name of the zone of this process as users know it: Europe/Berlin, /etc/localtime or
 * UTC. */
void zone_local_name(struct buf *out);
/** Calls `visit` with the name of each zone of the machine. */
void zone_names_each(void (*visit)(void *arg, const char *name), void *arg);

/**
 * Zones that are in use, by name. They are read once, and again by zone_cache_refresh where their
 * files have changed.
 */
struct zone_cache;
struct zone_cache *zone_cache_new(void);
void zone_cache_free(struct zone_cache *cache); /* NULL is ignored */
/**
 * Sets `*out` to the zone of this name, borrowed until the next refresh. NULL or "" names the zone
 * of this process. Returns false with the errors of zone_open.
 */
bool zone_cache_get(struct zone_cache *cache, const char *name, const struct zone **out,
                    struct error *err);
/** Looks at the files of all zones in use and reads those that have changed. A zone whose file is
 * gone is forgotten. Returns whether anything has changed. */
bool zone_cache_refresh(struct zone_cache *cache);
