#pragma once
/*
 * A time zone says the offset from UTC at any instant, and the instants of a local time.
 *
 * A zone is read from a TZif file (RFC 9636), which has a list of changes of the offset and a rule
 * for the time after the last of them. NULL stands for UTC wherever a `const struct zone *` is
 * taken. Times are whole seconds since 1970-01-01T00:00:00Z. A *local time* is written as the
 * second at which a clock that runs on UTC shows it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/scoped.h"
#include "base/timefmt.h"

struct zone;

enum { ZONE_FILE_MAX = 65536 };

/** Reads the bytes of a TZif file. Returns an owned zone, or NULL with INVALID when the bytes are
 * no TZif data or their rule cannot be read. */
struct zone *zone_parse(const void *bytes, size_t len, struct error *err);
/** Reads a rule in the form of the variable TZ, such as "CET-1CEST,M3.5.0,M10.5.0/3". Returns an
 * owned zone, or NULL with INVALID. */
struct zone *zone_of_rule(const char *rule, struct error *err);
void zone_free(struct zone *zone); /* NULL is ignored */
SCOPED_DEFINE_PTR(zone, struct zone *, zone_free)

/** Returns the seconds that local time is ahead of UTC at `at_s`. */
int32_t zone_offset_s(const struct zone *zone, int64_t at_s);
/** Returns the first instant after `at_s` at which the offset changes; INT64_MAX if there is none
 * in the following three years. */
int64_t zone_next_change_s(const struct zone *zone, int64_t at_s);

enum zone_fit { ZONE_ONCE, ZONE_GAP, ZONE_TWICE };
struct zone_instant {
    enum zone_fit fit;
    int64_t at_s; /* the only or the first instant; the end of the gap for ZONE_GAP */
    /* Local time at the end of the gap or of the repeated hour. It is unset for ZONE_ONCE. */
    int64_t end_local_s;
};
/** Returns the instant of a local time, and whether the local time occurs once, twice or, in a gap,
 * not at all. */
struct zone_instant zone_instant(const struct zone *zone, int64_t local_s);

/** Formats an instant with the offset of the zone, such as 2026-10-24T02:30:00+02:00. An offset of
 * 0 is written as Z. */
void zone_time_format(const struct zone *zone, int64_t at_s, char out[TIME_TEXT_MAX]);
