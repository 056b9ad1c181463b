#pragma once
/*
 * Cron expressions and their times. Language and meaning are those of robfig/cron v3,
 * ParseStandard, which Volcano uses: five fields, @daily and its like, @every DURATION.
 *
 * Clock changes (spec/everyday.md 2.1): a schedule whose hour field has no star is *daily-like*. A
 * time of it that falls into a gap moves to the first instant after the gap; a time that comes
 * twice counts the first time only. A schedule with a star in the hour field runs in elapsed time:
 * what falls into a gap is left out, what comes twice runs twice. @every knows no calendar.
 */
#include "base/time/zone.h"

struct cron {
    uint64_t minute, hour, day, month, weekday; /* bit n: the value n matches */
    bool any_day, any_weekday;                  /* the field has a star without a step above 1 */
    bool elapsed;     /* time that elapses counts, also at clock changes */
    int64_t every_s;  /* interval of @every; 0: the fields above count */
    int64_t anchor_s; /* instant from which the intervals of @every are counted */
};

enum { CRON_COUNT_MAX = 10000, CRON_HORIZON_YEARS = 12 };

/** Parses an expression. Returns false with INVALID, whose message names the field. `anchor_s` of
 * the result is 0; the caller may set it, and set `elapsed`. */
bool cron_parse(const char *text, struct cron *out, struct error *err);

/** Sets `*out` to the first time after `after_s`. Returns false if none comes within 12 years. */
bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t *out);
/** Returns the local time that the schedule names for its time `at_s`. It differs from the local
 * time of `at_s` where a clock change has moved the time to the end of a gap. */
int64_t cron_local_s(const struct cron *cron, const struct zone *zone, int64_t at_s);
/** Sets `*out` to the newest time in (after_s, until_s]. Returns false if there is none. It asks
 * for some thirty next times, however many times there are. */
bool cron_newest(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t until_s,
                 int64_t *out);
/** Returns how many times lie in (after_s, until_s], at most CRON_COUNT_MAX + 1. */
int cron_count(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t until_s);
