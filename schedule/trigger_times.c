/*
 * Follows the schedule of a FlowTrigger: which scheduled time is due, which missed times are caught
 * up, and when the trigger wakes next.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/schedule/timing.h"
#include "base/mem.h"
#include "schedule/trigger_internal.h"

enum { CATCH_UP_MAX = 1000, ID_ROOM = 32 };

bool trigger_schedule_read(struct trigger_record *record, struct trigger_look *look)
{
    const struct trigger_schedule *schedule = look->spec->schedule;
    const struct flowtrigger_controller *controller = trigger_controller_of(record);
    scoped_str signature = NULL;
    struct error err = {0};

    if (!schedule) {
        record->facts.since_s = 0;
        trigger_set_text(&record->observed_schedule, NULL);
        return true;
    }
    if (!timing_parse(schedule->cron, look->trigger, controller->options.upstream_compat,
                      &look->cron, &err) ||
        !timetable_zone(record->base.all->timetable, schedule->time_zone, &look->zone, &err)) {
        trigger_set_state(record, "InvalidTimeZone", err.message);
        return false;
    }
    look->scheduled = true;
    signature =
        mem_printf("%s %s", schedule->cron, schedule->time_zone ? schedule->time_zone : "local");
    if (!record->facts.since_s)
        record->facts.since_s = look->trigger->meta->created_at_ms / 1000;
    if (record->observed_schedule && strcmp(record->observed_schedule, signature) != 0) {
        record->facts.since_s = look->now_s;
        record->schedule_changed = true;
    }
    if (record->was_suspended && !look->spec->suspend && schedule->catch_up == CATCH_UP_LATEST)
        record->facts.since_s = look->now_s;
    trigger_set_text(&record->observed_schedule, signature);
    return true;
}

/* Returns the instant after which scheduled times count. */
static int64_t floor_of(const struct trigger_record *record, const struct trigger_look *look)
{
    const struct trigger_schedule *schedule = look->spec->schedule;
    int64_t from_s = record->facts.since_s;

    if (record->facts.last_s > from_s)
        from_s = record->facts.last_s;
    if (schedule->deadline_s.set && look->now_s - schedule->deadline_s.value > from_s)
        from_s = look->now_s - schedule->deadline_s.value;
    return from_s;
}

static void tell_missed(struct trigger_record *record, const struct trigger_look *look,
                        int64_t from_s, int64_t until_s, const char *reason)
{
    int missed = cron_count(&look->cron, look->zone, from_s, until_s);
    char first[TIME_TEXT_MAX] = "", last[TIME_TEXT_MAX] = "";
    int64_t at_s;

    if (missed <= 0)
        return;
    record->facts.missed += missed;
    if (cron_next(&look->cron, look->zone, from_s, &at_s))
        zone_time_format(look->zone, at_s, first);
    if (cron_newest(&look->cron, look->zone, from_s, until_s, &at_s))
        zone_time_format(look->zone, at_s, last);
    cluster_event(record->base.all->cluster, look->trigger, EVENT_WARNING, reason,
                  TRIGGER_COMPONENT, "%d times were missed: %s to %s", missed, first, last);
}

/* Returns the instant after which missed times are caught up. Only the newest CATCH_UP_MAX of them
 * are. */
static int64_t newest_thousand(const struct trigger_look *look, int64_t from_s)
{
    int64_t at_s = look->now_s + 1;

    for (int i = 0; i < CATCH_UP_MAX; i++)
        if (!cron_newest(&look->cron, look->zone, from_s, at_s - 1, &at_s))
            return from_s;
    return at_s - 1;
}

/* Returns whether a flow of a missed time is active. Missed times run one at a time, and the newest
 * time runs after the last of them. */
static bool is_catching_up(const struct trigger_look *look)
{
    for (size_t i = 0; i < look->flows.count; i++) {
        const char *cause = meta_annotation(look->flows.items[i]->meta, ANNOTATION_TRIGGER_CAUSE);

        if (trigger_flow_active(look->flows.items[i]) && cause &&
            strcmp(cause, trigger_cause_text(CAUSE_CATCH_UP)) == 0)
            return true;
    }
    return false;
}

bool trigger_fire_time(struct trigger_record *record, struct trigger_look *look)
{
    const bool all = look->spec->schedule->catch_up == CATCH_UP_ALL;
    int64_t from_s = floor_of(record, look), newest_s, at_s, previous_s = record->facts.last_s;
    struct firing firing = {.cause = CAUSE_SCHEDULE, .zone = look->zone};
    char id[ID_ROOM];

    if (!cron_newest(&look->cron, look->zone, from_s, look->now_s, &newest_s))
        return false;
    at_s = newest_s;
    if (all) {
        int64_t kept_s = newest_thousand(look, from_s);

        if (!cron_next(&look->cron, look->zone, kept_s, &at_s))
            return false;
        if (kept_s > from_s)
            tell_missed(record, look, from_s, kept_s, "TooManyMissedTimes");
        if (kept_s > record->facts.last_s && kept_s > from_s)
            record->facts.last_s = kept_s;
    }
    if (!trigger_has_room(record, look, all && (at_s < newest_s || is_catching_up(look))))
        return false;
    if (!all)
        tell_missed(record, look, from_s, at_s - 1, "Missed");
    snprintf(id, sizeof id, "%" PRId64, at_s);
    firing.cause = at_s < newest_s ? CAUSE_CATCH_UP : CAUSE_SCHEDULE;
    firing.id = id;
    firing.at_s = at_s;
    firing.previous_s = previous_s;
    trigger_fire(record, look, &firing, trigger_name_for_time(record->base.name, &look->cron, at_s),
                 &(const struct trigger_outcome){.time_s = at_s}, NULL);
    return true;
}

void trigger_sleep_until_next(struct trigger_record *record, const struct trigger_look *look)
{
    int64_t from_s = look->now_s, next_s;

    record->facts.next_s = 0;
    if (record->failed)
        return; /* the entry is already set for the next attempt */
    if (!look->scheduled || look->spec->suspend) {
        schedule_record_never_wake(&record->base);
        return;
    }
    /* After the clock has been set back, nothing runs until it passes the times that need nothing
     * more. */
    if (record->facts.last_s > from_s)
        from_s = record->facts.last_s;
    if (cron_next(&look->cron, look->zone, from_s, &next_s)) {
        record->facts.next_s = next_s;
        schedule_record_wake(&record->base, next_s * 1000);
    }
}
