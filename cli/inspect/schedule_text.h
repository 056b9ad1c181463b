#pragma once
/*
 * Writes texts about schedules: the next times, what clock changes do to them, and why nothing is
 * made now.
 */
#include <jansson.h>

#include "base/buf.h"
#include "base/time/cron.h"

enum { SCHEDULE_TIMES = 5 };

/* The schedule of a CronJob's or FlowTrigger's document. */
struct schedule_text {
    struct cron cron;
    struct zone *zone;
    bool suspended;
    bool none; /* the document is a FlowTrigger without a schedule */
};
/** Reads the schedule of a document. Returns false, with the reason, when it cannot be read on this
 * machine. */
bool schedule_text_init(const json_t *doc, struct schedule_text *out, struct error *err);
void schedule_text_release(struct schedule_text *schedule);
SCOPED_DEFINE(schedule_text, struct schedule_text, schedule_text_release)

/** Appends the next five times, one a line, each after `indent`. A time that a clock change moves
 * or repeats is followed by an explanation. */
void schedule_text_times(const struct schedule_text *schedule, const char *indent, int64_t now_ms,
                         struct buf *out);
/** Appends why a schedule makes nothing now: "next in 14h (2026-10-27T02:30:00+01:00)". */
void schedule_text_why(const struct schedule_text *schedule, const json_t *doc, int64_t now_ms,
                       struct buf *out);
