/*
 * Writes texts about schedules. A schedule is read as the controller reads it. Its zone comes from
 * the files of this machine.
 */
#include "cli/inspect/schedule_text.h"

#include <inttypes.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/civil.h"
#include "base/time/zone_file.h"

/* Returns a member of the schedule, which a CronJob has in its spec and a FlowTrigger in
 * spec.schedule. The paths are those of the two kinds. */
static const char *member(const json_t *doc, const char *of_cronjob, const char *of_trigger)
{
    const char *text = doc_text(doc, of_cronjob);

    return text ? text : doc_text(doc, of_trigger);
}

bool schedule_text_init(const json_t *doc, struct schedule_text *out, struct error *err)
{
    const char *zone = member(doc, "spec.timeZone", "spec.schedule.timeZone");
    const char *cron = member(doc, "spec.schedule", "spec.schedule.cron");
    const char *created = doc_text(doc, "metadata.creationTimestamp");
    int64_t created_ms;

    *out = (struct schedule_text){.suspended = json_is_true(doc_at(doc, "spec.suspend"))};
    out->none = !cron;
    if (out->none)
        return true;
    if (!cron_parse(cron, &out->cron, err))
        return false;
    if (created && time_parse(created, &created_ms, NULL))
        out->cron.anchor_s = created_ms / 1000;
    out->zone = zone ? zone_open(zone, err) : zone_open_local();
    return !zone || out->zone;
}

void schedule_text_release(struct schedule_text *schedule)
{
    zone_free(schedule->zone);
    *schedule = (struct schedule_text){0};
}

static void write_clock(int64_t local_s, struct buf *out)
{
    int64_t minute = floor_div(local_s, 60) % DAY_MINUTES;

    buf_printf(out, "%02d:%02d", (int)(minute / 60), (int)(minute % 60));
}

static void write_change(const struct schedule_text *schedule, int64_t at_s, struct buf *out)
{
    int64_t local = at_s + zone_offset_s(schedule->zone, at_s);
    int64_t named = cron_local_s(&schedule->cron, schedule->zone, at_s);

    if (named != local) {
        buf_str(out, "  (");
        write_clock(named, out);
        buf_str(out, " does not exist on this day)");
    } else if (!schedule->cron.every_s && !schedule->cron.elapsed &&
               zone_instant(schedule->zone, local).fit == ZONE_TWICE) {
        buf_str(out, "  (");
        write_clock(local, out);
        buf_str(out, " comes twice on this day, the first one counts)");
    }
}

void schedule_text_times(const struct schedule_text *schedule, const char *indent, int64_t now_ms,
                         struct buf *out)
{
    int64_t at_s = now_ms / 1000;

    for (int i = 0; !schedule->none && i < SCHEDULE_TIMES; i++) {
        char text[TIME_TEXT_MAX];

        if (!cron_next(&schedule->cron, schedule->zone, at_s, &at_s))
            return;
        zone_time_format(schedule->zone, at_s, text);
        buf_printf(out, "%s%s", indent, text);
        write_change(schedule, at_s, out);
        buf_char(out, '\n');
    }
}

/* Appends since when a CronJob is due and which job it waits for, if its policy Forbid delays the
 * next job until the active one has ended. Returns whether it has appended this. */
static bool write_held_back(const struct schedule_text *schedule, const json_t *doc, int64_t now_ms,
                            struct buf *out)
{
    const char *policy = doc_text(doc, "spec.concurrencyPolicy");
    const char *last = doc_text(doc, "status.lastScheduleTime");
    const char *active = doc_text(json_array_get(doc_at(doc, "status.active"), 0), "name");
    char text[TIME_TEXT_MAX];
    int64_t last_ms, at_s;

    if (!active || !policy || strcmp(policy, "Forbid") != 0 || !last ||
        !time_parse(last, &last_ms, NULL) ||
        !cron_newest(&schedule->cron, schedule->zone, last_ms / 1000, now_ms / 1000, &at_s))
        return false;
    zone_time_format(schedule->zone, at_s, text);
    buf_printf(out, "due since %s, waits: %s is active and the policy is Forbid", text, active);
    return true;
}

void schedule_text_why(const struct schedule_text *schedule, const json_t *doc, int64_t now_ms,
                       struct buf *out)
{
    char text[TIME_TEXT_MAX], wait[TIME_TEXT_MAX];
    int64_t at_s;

    if (schedule->suspended) {
        buf_str(out, "suspended: 'jobflow resume' lets it go on");
        return;
    }
    if (doc_text(doc, "status.state.reason")) {
        buf_printf(out, "%s: %s", doc_text(doc, "status.state.reason"),
                   member(doc, "status.state.message", "status.state.reason"));
        return;
    }
    if (schedule->none) {
        buf_str(out, "it has no schedule: flows and 'jobflow trigger' fire it");
        return;
    }
    if (write_held_back(schedule, doc, now_ms, out))
        return;
    if (!cron_next(&schedule->cron, schedule->zone, now_ms / 1000, &at_s)) {
        buf_str(out, "no time comes within 12 years");
        return;
    }
    zone_time_format(schedule->zone, at_s, text);
    duration_human(at_s * 1000 - now_ms, wait);
    buf_printf(out, "next in %s (%s)", wait, text);
}
