#pragma once
/*
 * The parts of the CronJob controller: cronjob.c notices changes, cronjob_sync.c finds out what is
 * due and writes the status, cronjob_fire.c makes the job of a due time.
 */
#include "api/types/kinds/schedule/timing.h"
#include "schedule/cronjob.h"
#include "schedule/internal.h"
#include "schedule/jobs.h"
#include "schedule/manual.h"
#include "schedule/record.h"

struct cronjob_record {
    struct schedule_record base;
    int64_t done_s; /* newest due time that is dealt with, unless the status has a newer one */
    int64_t told_s; /* the due time about which an event was recorded */
    int64_t not_before_ms; /* after a failure nothing is made before this time */
    int64_t retry_ms;
    bool creating; /* the creation of a job is in flight */
    bool broken;   /* an event has said that the schedule cannot be read */
};

struct cronjob_controller {
    struct schedule_records records;
    struct cronjob_options options;
    struct manual_jobs *manual;
    struct cluster_watcher cronjobs, jobs;
};

/* Defined in cronjob_sync.c. */

/** Makes the job that is due, writes the status, deletes old jobs, and sets when to wake next. */
void cronjob_sync(struct schedule_record *base);
/** Writes the status that follows from the jobs, if it is not the stored one. */
void cronjob_write_status(struct cronjob_record *record, const struct object *cronjob);
/** Makes the record wait longer after each failure, up to a minute. */
void cronjob_try_later(struct cronjob_record *record);

/* Defined in cronjob_fire.c. */

/** Makes the job of the due time `at_s`, as far as the concurrency policy allows it. */
void cronjob_fire(struct cronjob_record *record, const struct object *cronjob,
                  const struct owned_list *jobs, const struct cron *cron, const struct zone *zone,
                  int64_t at_s);
/** Returns whether an event about this due time is still to be recorded, and notes that it is. */
bool cronjob_tell_once(struct cronjob_record *record, int64_t at_s);
