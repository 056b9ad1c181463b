/*
 * Finds out what is due for a CronJob, and when to wake next. Both follow from the stored objects,
 * so a start of the controller needs no steps of its own:
 *
 *   since = status.lastScheduleTime, else creation, but not before the deadline
 *   due   = the newest time in (since, now]
 */
#include <string.h>

#include "base/mem.h"
#include "schedule/cronjob_internal.h"

enum { MANY_MISSED = 100, RETRY_FIRST_MS = 1000, RETRY_MAX_MS = 60000, ZONE_LOST_MS = 60000 };

void cronjob_try_later(struct cronjob_record *record)
{
    int64_t now_ms = schedule_record_now_ms(&record->base);

    record->retry_ms = record->retry_ms ? record->retry_ms * 2 : (int64_t)RETRY_FIRST_MS;
    if (record->retry_ms > RETRY_MAX_MS)
        record->retry_ms = RETRY_MAX_MS;
    record->not_before_ms = now_ms + record->retry_ms;
    schedule_record_wake(&record->base, record->not_before_ms);
}

/* Records an event for each job that has ended while the status still lists it as active. */
static void announce_ends(const struct cronjob_record *record, const struct object *cronjob,
                          const struct owned_list *jobs)
{
    const struct cronjob_status *status = cronjob_status_of(cronjob);

    for (size_t i = 0; i < status->active.count; i++)
        for (size_t j = 0; j < jobs->count; j++)
            if (!cron_job_active(jobs->items[j]) &&
                strcmp(object_uid(jobs->items[j]), status->active.items[i].uid) == 0)
                cluster_event(record->base.all->cluster, cronjob, EVENT_NORMAL, "SawCompletedJob",
                              CRON_COMPONENT, "Saw completed job: %s in active, remove",
                              object_name(jobs->items[j]));
}

void cronjob_write_status(struct cronjob_record *record, const struct object *cronjob)
{
    scoped(owned_list) struct owned_list jobs = {0};
    struct blob *status;

    owned_gather(record->base.all->cluster, &kind_job, cronjob, &jobs);
    status = cron_jobs_status(cronjob, &jobs, record->done_s);
    if (schedule_has_status(cronjob, status)) {
        blob_unref(status);
        return;
    }
    announce_ends(record, cronjob, &jobs);
    schedule_record_put_status(&record->base, cronjob, status);
}

static void tell_missed(struct cronjob_record *record, const struct object *cronjob,
                        const struct cron *cron, const struct zone *zone, int64_t since_s,
                        int64_t at_s)
{
    int missed = cron_count(cron, zone, since_s, at_s);

    if (missed > MANY_MISSED && cronjob_tell_once(record, at_s))
        cluster_event(record->base.all->cluster, cronjob, EVENT_WARNING, "TooManyMissedTimes",
                      CRON_COMPONENT,
                      "too many missed start times: %s%d. Set or decrease "
                      ".spec.startingDeadlineSeconds or check clock skew",
                      missed > CRON_COUNT_MAX ? "more than " : "",
                      missed > CRON_COUNT_MAX ? CRON_COUNT_MAX : missed);
}

/* Returns the newest time that needs nothing more, or the creation of the CronJob. */
static int64_t done_until(const struct cronjob_record *record, const struct object *cronjob)
{
    int64_t last_s = cronjob_status_of(cronjob)->last_schedule_ms / 1000;
    int64_t from_s = last_s ? last_s : cronjob->meta->created_at_ms / 1000;

    return record->done_s > from_s ? record->done_s : from_s;
}

/* Returns the instant after which scheduled times count. */
static int64_t since(const struct cronjob_record *record, const struct object *cronjob,
                     int64_t now_s)
{
    const struct cronjob_spec *spec = cronjob_spec_of(cronjob);
    int64_t from_s = done_until(record, cronjob);

    if (spec->deadline_s.set && now_s - spec->deadline_s.value > from_s)
        from_s = now_s - spec->deadline_s.value;
    return from_s;
}

static void fire_if_due(struct cronjob_record *record, const struct object *cronjob,
                        const struct owned_list *jobs, const struct cron *cron,
                        const struct zone *zone)
{
    int64_t now_ms = schedule_record_now_ms(&record->base), now_s = now_ms / 1000;
    int64_t since_s = since(record, cronjob, now_s), at_s;

    if (cronjob_spec_of(cronjob)->suspend || record->creating || now_ms < record->not_before_ms ||
        !cron_newest(cron, zone, since_s, now_s, &at_s))
        return;
    tell_missed(record, cronjob, cron, zone, since_s, at_s);
    cronjob_fire(record, cronjob, jobs, cron, zone, at_s);
}

/* Reads the schedule and its zone. Returns false when one of them cannot be used, and records one
 * event about it: a zone file may have vanished, and another program may have written the store. */
static bool schedule_of(struct cronjob_record *record, const struct object *cronjob,
                        struct cron *cron, const struct zone **zone)
{
    const struct cronjob_spec *spec = cronjob_spec_of(cronjob);
    struct cronjob_controller *controller =
        container_of(record->base.all, struct cronjob_controller, records);
    const char *reason = "UnParseableCronJobSchedule";
    struct error err = {0};

    if (timing_parse(spec->schedule, cronjob, controller->options.upstream_compat, cron, &err)) {
        reason = "InvalidTimeZone";
        if (timetable_zone(record->base.all->timetable, spec->time_zone, zone, &err)) {
            record->broken = false;
            return true;
        }
    }
    if (!record->broken)
        cluster_event(record->base.all->cluster, cronjob, EVENT_WARNING, reason, CRON_COMPONENT,
                      "%s", err.message);
    record->broken = true;
    schedule_record_wake(&record->base, schedule_record_now_ms(&record->base) + ZONE_LOST_MS);
    return false;
}

static void sleep_until_next(struct cronjob_record *record, const struct object *cronjob,
                             const struct cron *cron, const struct zone *zone)
{
    int64_t now_ms = schedule_record_now_ms(&record->base), next_s;
    /* Looks for the next time after both now and the last one that was dealt with, so that a clock
     * which was set back repeats no time. */
    int64_t after_s = since(record, cronjob, now_ms / 1000);

    if (now_ms < record->not_before_ms)
        return; /* the entry is already set for the next attempt */
    if (after_s < now_ms / 1000)
        after_s = now_ms / 1000;
    if (!cronjob_spec_of(cronjob)->suspend && cron_next(cron, zone, after_s, &next_s))
        schedule_record_wake(&record->base, next_s * 1000);
    else
        schedule_record_never_wake(&record->base);
}

void cronjob_sync(struct schedule_record *base)
{
    struct cronjob_record *record = container_of(base, struct cronjob_record, base);
    const struct object *cronjob = schedule_record_object(&record->base);
    scoped(owned_list) struct owned_list jobs = {0};
    const struct zone *zone;
    struct cron cron;

    if (!cronjob || object_deleting(cronjob)) {
        schedule_record_never_wake(&record->base);
        return;
    }
    owned_gather(record->base.all->cluster, &kind_job, cronjob, &jobs);
    if (schedule_of(record, cronjob, &cron, &zone)) {
        fire_if_due(record, cronjob, &jobs, &cron, zone);
        sleep_until_next(record, cronjob, &cron, zone);
    }
    cronjob = schedule_record_object(&record->base);
    if (!cronjob)
        return;
    cronjob_write_status(record, cronjob);
    cron_jobs_prune(record->base.all->cluster, cronjob, &jobs, done_until(record, cronjob));
}
