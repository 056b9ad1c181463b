/* covers: everyday.md EVD-004..EVD-011 */
#include "tests/unit.h"

#include <stdio.h>

#include "base/civil.h"
#include "base/time/cron.h"
#include "base/time/zone_file.h"
#include "tests/support/dice.h"

static int64_t instant(const char *text)
{
    int64_t ms = 0;
    struct error err = {0};

    check_ok(text, time_parse(text, &ms, &err), err);
    return ms / 1000;
}

static struct cron parsed(const char *text)
{
    struct cron cron = {0};
    struct error err = {0};

    check_ok(text, cron_parse(text, &cron, &err), err);
    return cron;
}

static struct zone *opened(const char *name)
{
    struct error err = {0};
    struct zone *zone = zone_open(name, &err);

    check_ok(name, zone != NULL, err);
    return zone;
}

static void what_is_no_schedule_is_refused_with_its_field(void **state)
{
    /* clang-format off */
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"",                 "Required value: a cron expression like \"0 2 * * *\""},
        {"  \t",             "Required value: a cron expression like \"0 2 * * *\""},
        {"0 2 * *",          "expected 5 fields, found 4"},
        {"0 0 2 * * *",      "expected 5 fields, found 6: seconds are not part of it"},
        {"0 2 * * * * *",    "expected 5 fields, found 7"},
        {"60 * * * *",       "field 1 (minute): 60 is above 59"},
        {"0 25 * * *",       "field 2 (hour): 25 is above 23"},
        {"0 0 0 * *",        "field 3 (day of month): 0 is below 1"},
        {"0 0 32 * *",       "field 3 (day of month): 32 is above 31"},
        {"0 0 * 13 *",       "field 4 (month): 13 is above 12"},
        {"0 0 * * 7",        "field 5 (day of week): 7 is above 6: Sunday is 0"},
        {"0 0 * * 5-8",      "field 5 (day of week): 8 is above 6: Sunday is 0"},
        {"5-3 * * * *",      "field 1 (minute): 5-3 ends before it begins"},
        {"*/0 * * * *",      "field 1 (minute): a step of 0"},
        {"x * * * *",        "field 1 (minute): \"x\" is no number, range or *"},
        {"1,,2 * * * *",     "field 1 (minute): \"\" is no number, range or *"},
        {", * * * *",        "field 1 (minute): \"\" is no number, range or *"},
        {"1-2-3 * * * *",    "field 1 (minute): \"1-2-3\" is no number, range or *"},
        {"*-5 * * * *",      "field 1 (minute): \"*-5\" is no number, range or *"},
        {"1/ * * * *",       "field 1 (minute): \"1/\" is no number, range or *"},
        {"1/2/3 * * * *",    "field 1 (minute): \"1/2/3\" is no number, range or *"},
        {"-1 * * * *",       "field 1 (minute): \"-1\" is no number, range or *"},
        {"0 0 * monday *",   "field 4 (month): \"monday\" is no number, range or *"},
        {"0 0 * * monday",   "field 5 (day of week): \"monday\" is no number, range or *"},
        {"0 0 * * jan",      "field 5 (day of week): \"jan\" is no number, range or *"},
        {"99999999999999999999 * * * *", "field 1 (minute): 999999"},
        {"TZ=UTC 0 2 * * *", "a time zone stands in timeZone"},
        {"CRON_TZ=Asia/Tokyo 0 2 * * *", "a time zone stands in timeZone"},
        {"0 0 31 2 *",       "never comes: no date in the next 12 years matches"},
        {"0 0 30,31 feb ?",  "never comes: no date in the next 12 years matches"},
        {"0 0 31 4,6,9,11 */1", "never comes: no date in the next 12 years matches"},
        {"@every 0s",        "@every takes a duration of at least 1s"},
        {"@every 900ms",     "@every takes a duration of at least 1s"},
        {"@every -5s",       "@every takes a duration of at least 1s"},
        {"@every soon",      "@every takes a duration of at least 1s"},
        {"@every 1000000h",  "@every takes a duration of at most 9600h"},
        {"@reboot",          "unknown descriptor \"@reboot\": known are @yearly, @annually, @monthly"},
        {"@every",           "unknown descriptor \"@every\": known are @yearly"},
        {"@Daily",           "unknown descriptor \"@Daily\": known are @yearly"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct cron cron = {.minute = 77};
        struct error err = {0};

        check_error(cases[i].text, cron_parse(cases[i].text, &cron, &err), err, ERR_INVALID);
        check_has(cases[i].text, err.message, cases[i].message);
        check_int(cases[i].text, cron.minute, 77);
    }
}

/* The first times after an instant, as the zone shows them. */
static void check_times(const char *name, const struct cron *cron, const struct zone *zone,
                        const char *after, const char *const *want)
{
    int64_t at = instant(after);

    for (; *want; want++) {
        char text[TIME_TEXT_MAX];

        check(name, cron_next(cron, zone, at, &at));
        zone_time_format(zone, at, text);
        check_str(name, text, *want);
    }
}

static void schedules_have_the_times_that_robfig_gives_them(void **state)
{
    /* clang-format off */
    static const struct {
        const char *text, *after, *times[6];
    } cases[] = {
        {"*/7 * * * *",      "2026-01-01T00:50:00Z", {"2026-01-01T00:56:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:07:00Z"}},
        {"5/15 * * * *",     "2026-01-01T00:00:00Z", {"2026-01-01T00:05:00Z", "2026-01-01T00:20:00Z", "2026-01-01T00:35:00Z", "2026-01-01T00:50:00Z", "2026-01-01T01:05:00Z"}},
        {"10-20/5 * * * *",  "2026-01-01T00:10:00Z", {"2026-01-01T00:15:00Z", "2026-01-01T00:20:00Z", "2026-01-01T01:10:00Z"}},
        {"0 0 1 JAN-mar *",  "2026-02-01T00:00:00Z", {"2026-03-01T00:00:00Z", "2027-01-01T00:00:00Z"}},
        {"? ? ? ? ?",        "2026-01-01T00:00:59Z", {"2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"}},
        {"0 0 1,15 * 1",     "2026-06-01T00:00:00Z", {"2026-06-08T00:00:00Z", "2026-06-15T00:00:00Z", "2026-06-22T00:00:00Z", "2026-06-29T00:00:00Z", "2026-07-01T00:00:00Z"}},
        {"0 0 */2 * 1",      "2026-06-01T00:00:00Z", {"2026-06-03T00:00:00Z", "2026-06-05T00:00:00Z", "2026-06-07T00:00:00Z", "2026-06-08T00:00:00Z"}},
        {"0 0 */1 * 1",      "2026-06-01T00:00:00Z", {"2026-06-08T00:00:00Z", "2026-06-15T00:00:00Z"}},
        {"0 0 13 * fri",     "2026-02-01T00:00:00Z", {"2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"}},
        {"0 0 29 2 *",       "2096-03-01T00:00:00Z", {"2104-02-29T00:00:00Z"}},
        {"30 4 * * SUN",     "2026-11-23T00:00:00Z", {"2026-11-29T04:30:00Z"}},
        {"59 23 31 12 *",    "2026-12-31T23:59:00Z", {"2027-12-31T23:59:00Z"}},
        {"@yearly",          "2026-01-01T00:00:00Z", {"2027-01-01T00:00:00Z"}},
        {"@annually",        "2026-01-01T00:00:00Z", {"2027-01-01T00:00:00Z"}},
        {"@monthly",         "2026-01-01T00:00:00Z", {"2026-02-01T00:00:00Z"}},
        {"@weekly",          "2026-11-23T00:00:00Z", {"2026-11-29T00:00:00Z"}},
        {"@daily",           "2026-01-01T00:00:00Z", {"2026-01-02T00:00:00Z"}},
        {"@midnight",        "2026-01-01T00:00:00Z", {"2026-01-02T00:00:00Z"}},
        {"@hourly",          "2026-01-01T00:00:00Z", {"2026-01-01T01:00:00Z"}},
        {"@every 1h30m",     "1970-01-01T00:00:00Z", {"1970-01-01T01:30:00Z", "1970-01-01T03:00:00Z"}},
        {"@every 1500ms",    "1970-01-01T00:00:00Z", {"1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z"}},
        {"0 0 1 1 *",        "1960-06-01T00:00:00Z", {"1961-01-01T00:00:00Z"}},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct cron cron = parsed(cases[i].text);

        check_times(cases[i].text, &cron, NULL, cases[i].after, cases[i].times);
    }
}

static void intervals_count_from_their_anchor(void **state)
{
    static const char *const times[] = {"2026-01-01T00:00:17Z", "2026-01-01T00:00:27Z", NULL};
    struct cron cron = parsed("@every 10s");

    cron.anchor_s = instant("2026-01-01T00:00:07Z");
    check_times("anchor", &cron, NULL, "2026-01-01T00:00:07Z", times);
    cron.anchor_s = instant("2027-01-01T00:00:07Z"); /* the anchor may lie ahead */
    check_times("anchor ahead", &cron, NULL, "2026-01-01T00:00:07Z", times);
}

static void clock_changes_move_daily_times_and_leave_elapsed_ones(void **state)
{
    /* clang-format off */
    static const struct {
        const char *text, *zone, *after, *times[8];
    } cases[] = {
        {"30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z",
         {"2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
        {"30 2 * * *", "Europe/Berlin", "2026-10-23T12:00:00Z",
         {"2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
        {"0,15,30,45 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
         {"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
        {"0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
         {"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
        {"*/30 * * * *", "Europe/Berlin", "2026-03-29T00:29:00Z",
         {"2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"}},
        {"*/30 * * * *", "Europe/Berlin", "2026-10-24T23:59:00Z",
         {"2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00",
          "2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00"}},
        {"15 2 * * *", "Australia/Lord_Howe", "2026-10-02T12:00:00Z", /* the clock skips half an hour */
         {"2026-10-03T02:15:00+10:30", "2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
        {"45 1 * * *", "Australia/Lord_Howe", "2026-04-03T12:00:00Z", /* the clock repeats half an hour */
         {"2026-04-04T01:45:00+11:00", "2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
        {"0 12 * * *", "Pacific/Apia", "2011-12-28T23:00:00Z", /* the 30th does not exist there */
         {"2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"}},
        {"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", /* midnight does not exist */
         {"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"}},
        {"30 23 * * *", "America/Sao_Paulo", "2018-02-16T12:00:00Z",
         {"2018-02-16T23:30:00-02:00", "2018-02-17T23:30:00-02:00", "2018-02-18T23:30:00-03:00"}},
        {"* 2 * * *", "Europe/Berlin", "2026-10-25T00:59:30Z", /* the second 02:00 to 02:59 do not count */
         {"2026-10-26T02:00:00+01:00"}},
        {"0 9 * * *", "Asia/Kathmandu", "2026-01-01T00:00:00Z", {"2026-01-01T09:00:00+05:45"}},
        {"@every 30m", "Europe/Berlin", "2026-10-25T00:00:00Z",
         {"2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00"}},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(zone) struct zone *zone = opened(cases[i].zone);
        struct cron cron = parsed(cases[i].text);

        check_times(cases[i].text, &cron, zone, cases[i].after, cases[i].times);
    }
    check_int("name of 03:00 on 2026-03-29", instant("2026-03-29T01:00:00Z") / 60, 29579100);
    check_int("name of 02:30 on 2026-10-25", instant("2026-10-25T00:30:00Z") / 60, 29881470);
}

/* Upstream looks through local hours one by one, which is what `elapsed` says. */
static void upstream_leaves_gaps_out_and_repeats(void **state)
{
    static const char *const gap[] = {"2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00",
                                      NULL};
    static const char *const twice[] = {"2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00",
                                        NULL};
    scoped(zone) struct zone *zone = opened("Europe/Berlin");
    struct cron cron = parsed("30 2 * * *");

    cron.elapsed = true;
    check_times("gap", &cron, zone, "2026-03-27T12:00:00Z", gap);
    check_times("twice", &cron, zone, "2026-10-24T12:00:00Z", twice);
}

static void one_hour_field_without_a_star_is_once_a_local_day(void **state)
{
    static const char *const zones[] = {"Australia/Lord_Howe", "America/Sao_Paulo",
                                        "Europe/Dublin",       "Africa/Casablanca",
                                        "Asia/Tehran",         "America/St_Johns"};
    struct cron cron = parsed("0 0 * * *");

    for (size_t i = 0; i < countof(zones); i++) {
        scoped(zone) struct zone *zone = opened(zones[i]);
        int64_t at = instant("2010-01-01T15:00:00Z"), day = 0;

        for (int n = 0; n < 4000; n++) {
            int64_t today;

            check(zones[i], cron_next(&cron, zone, at, &at));
            today = floor_div(at + zone_offset_s(zone, at), DAY_S);
            if (day)
                check_int(zones[i], today, day + 1);
            day = today;
        }
    }
}

/* The rule of the specification, by a walk over all minutes of a day and the day after. */
static bool walk_next(const struct cron *cron, const struct zone *zone, int64_t after, int64_t *out)
{
    for (int64_t local = floor_div(after - 2 * DAY_S, 60) * 60; local < after + 400 * DAY_S;
         local += 60) {
        int64_t day = floor_div(local, DAY_S);
        struct civil date = civil_from_days(day);
        int minute = (int)(local - day * DAY_S) / 60;
        bool by_day = cron->day >> date.day & 1, by_week = cron->weekday >> civil_weekday(day) & 1;
        struct zone_instant found;

        if (!(cron->month >> date.month & 1) || !(cron->hour >> (minute / 60) & 1) ||
            !(cron->minute >> (minute % 60) & 1))
            continue;
        if (cron->any_day || cron->any_weekday ? !(by_day && by_week) : !(by_day || by_week))
            continue;
        found = zone_instant(zone, local);
        if (!cron->elapsed && found.at_s > after) {
            *out = found.at_s;
            return true;
        }
        if (cron->elapsed && found.fit != ZONE_GAP && found.at_s > after) {
            *out = found.at_s;
            return true;
        }
    }
    return false;
}

static const char *random_field(struct dice *dice, int min, int max, char *out)
{
    int a = min + dice_roll(dice, max - min + 1);
    int b = a + dice_roll(dice, max - a + 1);
    int step = 1 + dice_roll(dice, 7);

    switch (dice_roll(dice, 6)) {
    case 0:
        sprintf(out, "%d", a);
        break;
    case 1:
        sprintf(out, "%d-%d", a, b);
        break;
    case 2:
        sprintf(out, "*/%d", step);
        break;
    case 3:
        sprintf(out, "%d,%d/%d", a, b, step);
        break;
    default:
        strcpy(out, "*");
    }
    return out;
}

/* In zones without repeated times on the way, so that a walk over local minutes is in order. */
static void random_schedules_agree_with_a_walk_by_minutes(void **state)
{
    static const char *const zones[] = {"UTC", "Asia/Kathmandu", "Asia/Tokyo", "America/Phoenix"};
    struct dice dice = {20261123};

    for (int i = 0; i < 400; i++) {
        char text[128], field[5][24];
        scoped(zone) struct zone *zone = opened(zones[dice_roll(&dice, (int)countof(zones))]);
        int64_t after = instant("2026-01-01T00:00:00Z") + dice_roll(&dice, 4 * 365 * DAY_S);
        struct cron cron;
        int64_t want = 0, got = 0;

        snprintf(text, sizeof text, "%s %s %s %s %s", random_field(&dice, 0, 59, field[0]),
                 random_field(&dice, 0, 23, field[1]), random_field(&dice, 1, 28, field[2]),
                 random_field(&dice, 1, 12, field[3]), random_field(&dice, 0, 6, field[4]));
        cron = parsed(text);
        if (!walk_next(&cron, zone, after, &want))
            continue;
        check(text, cron_next(&cron, zone, after, &got));
        check_int(text, got, want);
    }
}

static void the_newest_and_the_number_of_times_follow_from_the_next(void **state)
{
    struct cron daily = parsed("30 2 * * *"), minutes = parsed("* * * * *");
    int64_t at = 0, now = instant("2026-11-23T06:00:30Z");

    check("newest", cron_newest(&daily, NULL, now - 10 * DAY_S, now, &at));
    check_int("newest", at, instant("2026-11-23T02:30:00Z"));
    check_int("count", cron_count(&daily, NULL, now - 10 * DAY_S, now), 10);
    check("none", !cron_newest(&daily, NULL, now - 60, now, &at));
    check("empty", !cron_newest(&daily, NULL, now, now, &at));
    check("at its end",
          cron_newest(&daily, NULL, now - DAY_S, instant("2026-11-23T02:30:00Z"), &at));
    check_int("at its end", at, instant("2026-11-23T02:30:00Z"));
    check("not at its beginning",
          !cron_newest(&daily, NULL, instant("2026-11-23T02:30:00Z"), now, &at));
    check("of a year", cron_newest(&minutes, NULL, now - 365 * DAY_S, now, &at));
    check_int("of a year", at, now - 30);
    check_int("many", cron_count(&minutes, NULL, now - 365 * DAY_S, now), CRON_COUNT_MAX + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_schedule_is_refused_with_its_field),
        cmocka_unit_test(schedules_have_the_times_that_robfig_gives_them),
        cmocka_unit_test(intervals_count_from_their_anchor),
        cmocka_unit_test(clock_changes_move_daily_times_and_leave_elapsed_ones),
        cmocka_unit_test(upstream_leaves_gaps_out_and_repeats),
        cmocka_unit_test(one_hour_field_without_a_star_is_once_a_local_day),
        cmocka_unit_test(random_schedules_agree_with_a_walk_by_minutes),
        cmocka_unit_test(the_newest_and_the_number_of_times_follow_from_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
