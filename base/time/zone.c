/*
 * Reads TZif data and rules. The change before an instant is searched for by halves. After the last
 * change the rule applies, which names two changes a year. Ref: RFC 9636 3.2, 3.3.
 */
#include "base/time/zone.h"

#include <stdio.h>
#include <string.h>

#include "base/civil.h"
#include "base/mem.h"

enum { TYPES_MAX = 256, HEADER = 44, OFFSET_MAX_S = 26 * 3600, LOOK_AHEAD_YEARS = 3 };

/* Files name the beginning of time by -2^59. No sum with a time inside of these bounds overflows.
 */
#define FAR_S (INT64_C(1) << 60)

/* The day and time of a change that comes every year. */
struct yearly {
    enum { ON_WEEKDAY, ON_DAY, ON_DAY_WITHOUT_LEAP } form;
    unsigned month, week, day; /* M: month, week (5: the last), day of the week; J and n: day */
    int32_t time_s;            /* local time of that day; may be negative or above a day */
};

struct rule {
    bool set, summer;             /* summer: there are two offsets */
    int32_t standard_s, summer_s; /* seconds east of UTC */
    struct yearly to_summer, to_standard;
};

struct zone {
    size_t count;
    int64_t *at;     /* instants of the changes, ascending, [count] */
    int32_t *offset; /* the offset from that instant on, [count] */
    int32_t first_s; /* the offset before the first change */
    struct rule rule;
};

void zone_free(struct zone *zone)
{
    if (!zone)
        return;
    mem_free(zone->at);
    mem_free(zone->offset);
    mem_free(zone);
}

/* Rules. */

static bool take_number(const char **at, int64_t max, int64_t *out)
{
    const char *start = *at;
    int64_t value = 0;

    for (; **at >= '0' && **at <= '9'; ++*at) {
        value = value * 10 + (**at - '0');
        if (value > max)
            return false;
    }
    *out = value;
    return *at != start;
}

/* Reads [+-]hours[:minutes[:seconds]] as a number of seconds. */
static bool take_time(const char **at, int32_t *out)
{
    int32_t sign = **at == '-' ? -1 : 1;
    int64_t part[3] = {0};

    if (**at == '-' || **at == '+')
        ++*at;
    for (int i = 0; i < 3; i++) {
        if (!take_number(at, i ? 59 : 167, &part[i]))
            return false;
        if (**at != ':' || i == 2)
            break;
        ++*at;
    }
    *out = sign * (int32_t)(part[0] * 3600 + part[1] * 60 + part[2]);
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Moves `*at` behind the name of an offset: three letters or more, or letters, digits and signs in
 * angle brackets. Returns false for any other text. */
static bool take_name(const char **at)
{
    const char *start = *at;

    if (*start == '<') {
        size_t len = strspn(start + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789+-");

        *at = start + len + 2;
        return len > 0 && start[len + 1] == '>';
    }
    while (is_letter(**at))
        ++*at;
    return *at - start >= 3;
}

static bool take_yearly(const char **at, struct yearly *out)
{
    int64_t month = 0, week = 0, day = 0;

    if (**at == 'M') {
        ++*at;
        out->form = ON_WEEKDAY;
        if (!take_number(at, 12, &month) || *(*at)++ != '.' || !take_number(at, 5, &week) ||
            *(*at)++ != '.' || !take_number(at, 6, &day) || !month || !week)
            return false;
    } else if (**at == 'J') {
        ++*at;
        out->form = ON_DAY_WITHOUT_LEAP;
        if (!take_number(at, 365, &day) || !day)
            return false;
    } else {
        out->form = ON_DAY;
        if (!take_number(at, 365, &day))
            return false;
    }
    out->month = (unsigned)month;
    out->week = (unsigned)week;
    out->day = (unsigned)day;
    out->time_s = 2 * 3600;
    if (**at != '/')
        return true;
    ++*at;
    return take_time(at, &out->time_s);
}

/* Offsets in rules count west of UTC. */
static bool take_west(const char **at, int32_t *out)
{
    int32_t west;

    if (!take_time(at, &west) || west > OFFSET_MAX_S || west < -OFFSET_MAX_S)
        return false;
    *out = -west;
    return true;
}

static bool parse_rule(const char *text, struct rule *out)
{
    const char *at = text;

    out->set = true;
    if (!take_name(&at) || !take_west(&at, &out->standard_s))
        return false;
    if (!*at)
        return true;
    out->summer = true;
    out->summer_s = out->standard_s + 3600;
    if (!take_name(&at) || (*at && *at != ',' && !take_west(&at, &out->summer_s)))
        return false;
    return *at++ == ',' && take_yearly(&at, &out->to_summer) && *at++ == ',' &&
           take_yearly(&at, &out->to_standard) && !*at;
}

struct zone *zone_of_rule(const char *text, struct error *err)
{
    struct zone *zone;
    struct rule rule = {0};

    if (!parse_rule(text, &rule)) {
        error_set(err, ERR_INVALID, "", "no rule of a time zone");
        return NULL;
    }
    zone = mem_alloc(sizeof *zone);
    zone->rule = rule;
    zone->first_s = rule.standard_s;
    return zone;
}

/* Returns the day of a change in a year, in days since 1970. */
static int64_t yearly_day(const struct yearly *yearly, int64_t year)
{
    int64_t first = days_from_civil((struct civil){year, 1, 1});
    unsigned last, day;

    if (yearly->form == ON_DAY)
        return first + yearly->day;
    if (yearly->form == ON_DAY_WITHOUT_LEAP) /* the 29th of February is never counted */
        return first + yearly->day - 1 + (yearly->day > 59 && civil_month_days(year, 2) == 29);
    first = days_from_civil((struct civil){year, yearly->month, 1});
    last = civil_month_days(year, yearly->month);
    day = (7 + yearly->day - civil_weekday(first)) % 7 + 7 * (yearly->week - 1);
    return first + (day < last ? day : day - 7);
}

/* Computes the two changes of a year, as instants: [0] to summer time, [1] to standard time. */
static void rule_changes(const struct rule *rule, int64_t year, int64_t out[2])
{
    out[0] = yearly_day(&rule->to_summer, year) * DAY_S + rule->to_summer.time_s - rule->standard_s;
    out[1] =
        yearly_day(&rule->to_standard, year) * DAY_S + rule->to_standard.time_s - rule->summer_s;
}

static int64_t rule_year(const struct rule *rule, int64_t at_s)
{
    return civil_from_days(floor_div(at_s + rule->standard_s, DAY_S)).year;
}

static int32_t rule_offset(const struct rule *rule, int64_t at_s)
{
    int64_t change[2];
    bool summer;

    if (!rule->summer)
        return rule->standard_s;
    rule_changes(rule, rule_year(rule, at_s), change);
    if (change[0] < change[1])
        summer = at_s >= change[0] && at_s < change[1];
    else
        summer = at_s < change[1] || at_s >= change[0];
    return summer ? rule->summer_s : rule->standard_s;
}

static int64_t rule_next_change(const struct rule *rule, int64_t at_s)
{
    int64_t year = rule_year(rule, at_s), best = INT64_MAX;

    if (!rule->summer)
        return INT64_MAX;
    for (int64_t i = -1; i <= LOOK_AHEAD_YEARS && best == INT64_MAX; i++) {
        int64_t change[2];

        rule_changes(rule, year + i, change);
        for (int k = 0; k < 2; k++)
            if (change[k] > at_s && change[k] < best &&
                rule_offset(rule, change[k] - 1) != rule_offset(rule, change[k]))
                best = change[k];
    }
    return best;
}

/* TZif data. */

static uint32_t read_u32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t read_time(const unsigned char *at, size_t width)
{
    if (width == 4)
        return (int32_t)read_u32(at);
    return (int64_t)((uint64_t)read_u32(at) << 32 | read_u32(at + 4));
}

/* One block of a file: a header and what follows it. */
struct block {
    const unsigned char *data;
    size_t width; /* bytes of a time: 4 or 8 */
    uint32_t times, types, chars, leaps, standards, universals;
    size_t size; /* bytes behind the header */
};

static bool read_block(const unsigned char *bytes, size_t len, size_t width, struct block *out)
{
    if (len < HEADER || memcmp(bytes, "TZif", 4) != 0)
        return false;
    *out = (struct block){
        .data = bytes + HEADER,
        .width = width,
        .universals = read_u32(bytes + 20),
        .standards = read_u32(bytes + 24),
        .leaps = read_u32(bytes + 28),
        .times = read_u32(bytes + 32),
        .types = read_u32(bytes + 36),
        .chars = read_u32(bytes + 40),
    };
    if (out->times > ZONE_FILE_MAX || out->types > TYPES_MAX || out->chars > ZONE_FILE_MAX ||
        out->leaps > ZONE_FILE_MAX || out->standards > TYPES_MAX || out->universals > TYPES_MAX ||
        !out->types)
        return false;
    out->size = out->times * (width + 1) + out->types * 6 + out->chars + out->leaps * (width + 4) +
                out->standards + out->universals;
    return out->size <= len - HEADER;
}

static bool read_changes(const struct block *block, struct zone *zone)
{
    const unsigned char *times = block->data, *indexes = times + block->times * block->width,
                        *types = indexes + block->times;

    zone->at = mem_array(block->times + 1, sizeof *zone->at);
    zone->offset = mem_array(block->times + 1, sizeof *zone->offset);
    zone->count = block->times;
    for (uint32_t i = 0; i < block->types; i++) {
        int32_t offset_s = (int32_t)read_u32(types + i * 6);

        if (offset_s > OFFSET_MAX_S || offset_s < -OFFSET_MAX_S)
            return false;
    }
    zone->first_s = (int32_t)read_u32(types);
    for (uint32_t i = 0; i < block->times; i++) {
        if (indexes[i] >= block->types)
            return false;
        zone->at[i] = read_time(times + i * block->width, block->width);
        zone->offset[i] = (int32_t)read_u32(types + (size_t)indexes[i] * 6);
        if (zone->at[i] > FAR_S || zone->at[i] < -FAR_S || (i && zone->at[i] <= zone->at[i - 1]))
            return false;
    }
    return true;
}

/* "\nRULE\n" behind the second block; an empty rule is allowed. */
static bool read_footer(const unsigned char *bytes, size_t len, struct rule *out)
{
    const unsigned char *end = len ? memchr(bytes + 1, '\n', len - 1) : NULL;
    scoped_str text = NULL;

    if (!end || bytes[0] != '\n')
        return false;
    if (end == bytes + 1)
        return true;
    text = mem_printf("%.*s", (int)(end - bytes - 1), (const char *)bytes + 1);
    return parse_rule(text, out);
}

static bool read_file(const unsigned char *bytes, size_t len, struct zone *zone)
{
    struct block block;
    size_t second;

    if (len > ZONE_FILE_MAX || !read_block(bytes, len, 4, &block))
        return false;
    if (bytes[4] < '2') /* version 1 has no second block */
        return bytes[4] == 0 && read_changes(&block, zone);
    second = HEADER + block.size;
    if (!read_block(bytes + second, len - second, 8, &block) || !read_changes(&block, zone))
        return false;
    second += HEADER + block.size;
    return read_footer(bytes + second, len - second, &zone->rule);
}

struct zone *zone_parse(const void *bytes, size_t len, struct error *err)
{
    struct zone *zone = mem_alloc(sizeof *zone);

    if (read_file(bytes, len, zone))
        return zone;
    zone_free(zone);
    error_set(err, ERR_INVALID, "", "no file of a time zone (TZif)");
    return NULL;
}

/* Instants. */

/* Returns the number of changes at or before `at_s`. */
static size_t changes_until(const struct zone *zone, int64_t at_s)
{
    size_t low = 0, high = zone->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (zone->at[middle] <= at_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int32_t offset_after(const struct zone *zone, size_t changes, int64_t at_s)
{
    if (changes == zone->count && zone->rule.set)
        return rule_offset(&zone->rule, at_s);
    return changes ? zone->offset[changes - 1] : zone->first_s;
}

int32_t zone_offset_s(const struct zone *zone, int64_t at_s)
{
    return zone ? offset_after(zone, changes_until(zone, at_s), at_s) : 0;
}

int64_t zone_next_change_s(const struct zone *zone, int64_t at_s)
{
    int32_t now;

    if (!zone)
        return INT64_MAX;
    now = zone_offset_s(zone, at_s);
    for (size_t i = changes_until(zone, at_s); i < zone->count; i++) {
        if (offset_after(zone, i + 1, zone->at[i]) != now)
            return zone->at[i];
        at_s = zone->at[i];
    }
    return zone->rule.set ? rule_next_change(&zone->rule, at_s) : INT64_MAX;
}

/* Looks for the local time in the stretches of constant offset around it. */
struct zone_instant zone_instant(const struct zone *zone, int64_t local_s)
{
    struct zone_instant found = {.at_s = INT64_MAX}, gap = found;
    int64_t start = local_s - OFFSET_MAX_S - 1, stop = local_s + OFFSET_MAX_S + 1, end;

    for (int64_t at = start; at <= stop; at = end) {
        int64_t here = local_s - zone_offset_s(zone, at), next;

        end = zone_next_change_s(zone, at);
        if (here >= at && here < end) {
            if (found.at_s != INT64_MAX) {
                found.fit = ZONE_TWICE;
                return found;
            }
            found.at_s = here;
            found.end_local_s = end == INT64_MAX ? 0 : end + zone_offset_s(zone, at);
        }
        if (end == INT64_MAX)
            break;
        next = end + zone_offset_s(zone, end);
        if (gap.at_s == INT64_MAX && local_s >= end + zone_offset_s(zone, at) && local_s < next)
            /* A change back that follows may give this local time an instant after all. */
            gap = (struct zone_instant){ZONE_GAP, end, next};
    }
    return found.at_s == INT64_MAX ? gap : found;
}

void zone_time_format(const struct zone *zone, int64_t at_s, char out[TIME_TEXT_MAX])
{
    int32_t offset = zone_offset_s(zone, at_s);
    unsigned minutes = (unsigned)(offset < 0 ? -offset : offset) / 60;
    size_t len;

    time_format((at_s + offset) * 1000, out);
    if (!offset)
        return;
    len = strlen(out) - 1; /* without the Z */
    snprintf(out + len, TIME_TEXT_MAX - len, "%c%02u:%02u", offset < 0 ? '-' : '+',
             minutes / 60 % 100, minutes % 60);
}
