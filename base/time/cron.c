/*
 * Each field is a set of bits. The next time is searched for by months, then by days, then within
 * one day. Only then does the calendar time become an instant. Ref: robfig/cron v3 parser.go,
 * spec.go.
 */
#include "base/time/cron.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/civil.h"
#include "base/mem.h"

enum { FIELDS = 5, TEXT_SHOWN = 40, EVERY_MAX_S = 400 * 86400 };

struct names {
    const char *const *texts; /* names of the values from `first` on, ended by NULL */
    int first;
};
static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                          "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const day_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};
static const char *const no_names[] = {NULL};

/* clang-format off */
static const struct field {
    const char *name;
    int min, max;
    struct names names;
    const char *hint; /* appended to the message that a number is too large */
} fields[FIELDS] = {
    {"minute",       0, 59, {no_names, 0},    ""},
    {"hour",         0, 23, {no_names, 0},    ""},
    {"day of month", 1, 31, {no_names, 0},    ""},
    {"month",        1, 12, {month_names, 1}, ""},
    {"day of week",  0, 6,  {day_names, 0},   ": Sunday is 0"},
};

static const struct {
    const char *word, *fields;
} descriptors[] = {
    {"@yearly",   "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly",  "0 0 1 * *"},
    {"@weekly",   "0 0 * * 0"},
    {"@daily",    "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly",   "0 * * * *"},
};
/* clang-format on */

/* Parsing. */

static bool refuse(struct error *err, size_t i, const char *format, ...) PRINTF_LIKE(3, 4);

static bool refuse(struct error *err, size_t i, const char *format, ...)
{
    char text[ERROR_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(err, ERR_INVALID, "", "field %zu (%s): %s", i + 1, fields[i].name, text);
}

static bool not_understood(struct error *err, size_t i, const char *item)
{
    scoped(buf) struct buf shown = {0};

    buf_str_short(&shown, item, TEXT_SHOWN);
    return refuse(err, i, "\"%s\" is no number, range or *", shown.data ? shown.data : "");
}

static bool take_digits(const char **at, int *out)
{
    const char *start = *at;

    *out = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (*out < 1000000)
            *out = *out * 10 + (**at - '0');
    return *at != start;
}

/* Reads a number or a name and moves `*at` behind it. Returns false when there is neither. */
static bool take_value(const char **at, const struct field *field, int *out)
{
    for (int i = 0; field->names.texts[i]; i++) {
        if (strncasecmp(*at, field->names.texts[i], 3) == 0) {
            *at += 3;
            *out = field->names.first + i;
            return true;
        }
    }
    return take_digits(at, out);
}

struct range {
    int low, high, step;
    bool star;
};

/* Parses "*", "N" or "N-M", each with "/STEP" or without. Returns false for anything else. */
static bool parse_range(const char *item, const struct field *field, struct range *out)
{
    bool single = false, stepped;

    *out = (struct range){field->min, field->max, 1, *item == '*' || *item == '?'};
    if (out->star) {
        item++;
    } else {
        if (!take_value(&item, field, &out->low))
            return false;
        single = *item != '-';
        if (single)
            out->high = out->low;
        else if (item++, !take_value(&item, field, &out->high))
            return false;
    }
    stepped = *item == '/';
    if (stepped && (item++, !take_digits(&item, &out->step)))
        return false;
    if (stepped && single)
        out->high = field->max;
    out->star = out->star && out->step <= 1;
    return !*item;
}

static bool check_range(const struct range *range, size_t i, const char *item, struct error *err)
{
    const struct field *field = &fields[i];

    if (range->low < field->min)
        return refuse(err, i, "%d is below %d", range->low, field->min);
    if (range->low > field->max || range->high > field->max)
        return refuse(err, i, "%d is above %d%s",
                      range->low > field->max ? range->low : range->high, field->max, field->hint);
    if (range->high < range->low)
        return refuse(err, i, "%s ends before it begins", item);
    return range->step > 0 || refuse(err, i, "a step of 0");
}

static bool parse_field(char *text, size_t i, uint64_t *out, bool *out_star, struct error *err)
{
    *out = 0;
    *out_star = false;
    for (char *item = text, *next; item; item = next) {
        struct range range;

        next = strchr(item, ',');
        if (next)
            *next++ = '\0';
        if (!parse_range(item, &fields[i], &range))
            return not_understood(err, i, item);
        if (!check_range(&range, i, item, err))
            return false;
        for (int value = range.low; value <= range.high; value += range.step)
            *out |= UINT64_C(1) << value;
        *out_star = *out_star || range.star;
    }
    return true;
}

/* Returns whether a day that matches ever comes. Every day of the week comes in every month. */
static bool comes(const struct cron *cron)
{
    if (!cron->any_weekday)
        return true;
    for (unsigned month = 1; month <= 12; month++)
        for (unsigned day = 1; day <= civil_month_days(2000, month); day++)
            if (cron->month >> month & 1 && cron->day >> day & 1)
                return true;
    return false;
}

static bool parse_fields(const char *text, struct cron *out, struct error *err)
{
    uint64_t *sets[FIELDS] = {&out->minute, &out->hour, &out->day, &out->month, &out->weekday};
    bool star[FIELDS];
    scoped_str copy = mem_strdup(text);
    char *words[FIELDS], *rest = copy, *word;
    size_t count = 0;

    while ((word = strsep(&rest, " \t\r\n"))) {
        if (*word && count < FIELDS)
            words[count] = word;
        count += *word != '\0';
    }
    if (!count)
        return error_set(err, ERR_INVALID, "",
                         "Required value: a cron expression like \"0 2 * * *\"");
    if (count != FIELDS)
        return error_set(err, ERR_INVALID, "", "expected 5 fields, found %zu%s", count,
                         count == FIELDS + 1 ? ": seconds are not part of it" : "");
    for (size_t i = 0; i < FIELDS; i++)
        if (!parse_field(words[i], i, sets[i], &star[i], err))
            return false;
    out->elapsed = star[1];
    out->any_day = star[2];
    out->any_weekday = star[4];
    return comes(out) ||
           error_set(err, ERR_INVALID, "", "never comes: no date in the next 12 years matches");
}

static bool parse_every(const char *text, struct cron *out, struct error *err)
{
    int64_t ns;

    if (!duration_parse(text, &ns, NULL) || ns < 1000000000)
        return error_set(err, ERR_INVALID, "", "@every takes a duration of at least 1s");
    out->every_s = ns / 1000000000;
    return out->every_s <= EVERY_MAX_S ||
           error_set(err, ERR_INVALID, "", "@every takes a duration of at most 9600h");
}

static bool unknown_descriptor(const char *text, struct error *err)
{
    scoped(buf) struct buf shown = {0}, known = {0};

    buf_str_short(&shown, text, TEXT_SHOWN);
    for (size_t i = 0; i < countof(descriptors); i++)
        buf_printf(&known, "%s, ", descriptors[i].word);
    return error_set(err, ERR_INVALID, "", "unknown descriptor \"%s\": known are %s@every DURATION",
                     shown.data, known.data);
}

bool cron_parse(const char *text, struct cron *out, struct error *err)
{
    struct cron cron = {0};

    if (strncmp(text, "TZ=", 3) == 0 || strncmp(text, "CRON_TZ=", 8) == 0)
        return error_set(err, ERR_INVALID, "", "a time zone stands in timeZone");
    if (strncmp(text, "@every ", 7) == 0) {
        if (!parse_every(text + 7, &cron, err))
            return false;
    } else if (*text == '@') {
        const char *expanded = NULL;

        for (size_t i = 0; i < countof(descriptors); i++)
            if (strcmp(text, descriptors[i].word) == 0)
                expanded = descriptors[i].fields;
        if (!expanded)
            return unknown_descriptor(text, err);
        text = expanded;
    }
    if (!cron.every_s && !parse_fields(text, &cron, err))
        return false;
    *out = cron;
    return true;
}

/* Times. */

/* Returns whether a day matches: by both fields where one of them is a star, else by either. Ref:
 * robfig/cron, dayMatches. */
static bool day_matches(const struct cron *cron, int64_t day, struct civil date)
{
    bool by_day = cron->day >> date.day & 1;
    bool by_weekday = cron->weekday >> civil_weekday(day) & 1;

    if (cron->any_day || cron->any_weekday)
        return by_day && by_weekday;
    return by_day || by_weekday;
}

/* Finds the first day that matches, from `day` to `last`. */
static bool next_day(const struct cron *cron, int64_t day, int64_t last, int64_t *out)
{
    while (day <= last) {
        struct civil date = civil_from_days(day);

        if (!(cron->month >> date.month & 1)) {
            day += civil_month_days(date.year, date.month) - date.day + 1;
        } else if (day_matches(cron, day, date)) {
            *out = day;
            return true;
        } else {
            day++;
        }
    }
    return false;
}

/* Returns the lowest member of a set that is at least `from`; 64 if there is none. */
static unsigned next_member(uint64_t set, unsigned from)
{
    set = from < 64 ? set >> from << from : 0;
    return set ? (unsigned)__builtin_ctzll(set) : 64;
}

/* Returns the first minute of a day that matches, from minute `from` on; a day's length if none
 * does. */
static unsigned next_minute(const struct cron *cron, unsigned from)
{
    unsigned hour = next_member(cron->hour, from / 60), minute;

    if (hour == from / 60) {
        minute = next_member(cron->minute, from % 60);
        if (minute < 60)
            return hour * 60 + minute;
        hour = next_member(cron->hour, hour + 1);
    }
    return hour < 24 ? hour * 60 + next_member(cron->minute, 0) : DAY_MINUTES;
}

/* Finds the first matching local time after `after`, at most to the end of `last_day`. */
static bool next_local(const struct cron *cron, int64_t after, int64_t last_day, int64_t *out)
{
    int64_t minute = floor_div(after, 60) + 1, day = floor_div(minute, DAY_MINUTES), found;
    unsigned from = (unsigned)(minute - day * DAY_MINUTES);

    for (;;) {
        unsigned at;

        if (!next_day(cron, day, last_day, &found))
            return false;
        at = next_minute(cron, found == day ? from : 0);
        if (at < DAY_MINUTES) {
            *out = found * DAY_S + (int64_t)at * 60;
            return true;
        }
        day = found + 1;
        from = 0;
    }
}

/* Finds the next time of a schedule that runs in elapsed time. It searches the local times of one
 * stretch of constant offset after the other. */
static bool next_elapsed(const struct cron *cron, const struct zone *zone, int64_t after,
                         int64_t last_day, int64_t *out)
{
    for (;;) {
        int64_t change = zone_next_change_s(zone, after), local;
        int32_t offset = zone_offset_s(zone, after);

        if (next_local(cron, after + offset, last_day, &local) && local - offset < change) {
            *out = local - offset;
            return true;
        }
        if (change == INT64_MAX || floor_div(change, DAY_S) > last_day)
            return false;
        /* The local time of the change itself belongs to the next stretch. */
        offset = zone_offset_s(zone, change);
        if (next_local(cron, change + offset - 1, last_day, &local) && local == change + offset) {
            *out = change;
            return true;
        }
        after = change;
    }
}

static bool next_daily(const struct cron *cron, const struct zone *zone, int64_t after,
                       int64_t last_day, int64_t *out)
{
    int64_t local = after + zone_offset_s(zone, after);

    while (next_local(cron, local, last_day, &local)) {
        struct zone_instant instant = zone_instant(zone, local);

        if (instant.at_s > after) {
            *out = instant.at_s;
            return true;
        }
        /* Local times before the end of the gap or repetition are past. */
        if (instant.fit != ZONE_ONCE && instant.end_local_s - 1 > local)
            local = instant.end_local_s - 1;
    }
    return false;
}

bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t *out)
{
    int64_t last_day = floor_div(after_s, DAY_S) + CRON_HORIZON_YEARS * 366;

    if (cron->every_s) {
        *out = cron->anchor_s +
               (floor_div(after_s - cron->anchor_s, cron->every_s) + 1) * cron->every_s;
        return true;
    }
    if (cron->elapsed)
        return next_elapsed(cron, zone, after_s, last_day, out);
    return next_daily(cron, zone, after_s, last_day, out);
}

int64_t cron_local_s(const struct cron *cron, const struct zone *zone, int64_t at_s)
{
    int64_t local = at_s + zone_offset_s(zone, at_s), missing;
    int64_t before = at_s + zone_offset_s(zone, at_s - 1);

    if (cron->every_s || cron->elapsed || before >= local)
        return local;
    return next_local(cron, before - 1, floor_div(local, DAY_S), &missing) && missing < local
               ? missing
               : local;
}

/* Searches by halves: there is a time in (at, until] exactly when the next time after `at` is at
 * most `until`. */
bool cron_newest(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t until_s,
                 int64_t *out)
{
    int64_t low = after_s, high = until_s, next;

    if (after_s >= until_s || !cron_next(cron, zone, low, &next) || next > until_s)
        return false;
    *out = next;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (cron_next(cron, zone, middle, &next) && next <= until_s) {
            *out = next;
            low = middle;
        } else {
            high = middle;
        }
    }
    return true;
}

int cron_count(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t until_s)
{
    int64_t at = after_s;
    int count = 0;

    while (count <= CRON_COUNT_MAX && cron_next(cron, zone, at, &at) && at <= until_s)
        count++;
    return count;
}
