/*
 * Writes and reads times and durations as text. The calendar is that of base/civil.h.
 */
#include "base/timefmt.h"

#include <stdio.h>
#include <string.h>

#include "base/civil.h"

static const int64_t ns_per_s = 1000000000;

static char *put_digits(char *at, uint64_t value, unsigned width)
{
    for (unsigned i = width; i-- > 0; value /= 10)
        at[i] = (char)('0' + value % 10);
    return at + width;
}

static char *put_two(char *at, unsigned value)
{
    *at++ = (char)('0' + value / 10);
    *at++ = (char)('0' + value % 10);
    return at;
}

/* The years that RFC 3339 can write, in seconds: 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
static const int64_t first_s = -62167219200, last_s = 253402300799;

/* Writes "YYYY-MM-DDTHH:MM:SS". Years outside 0…9999 have no RFC 3339 form and are clamped. */
static char *put_seconds(char *at, int64_t seconds)
{
    seconds = seconds < first_s ? first_s : seconds > last_s ? last_s : seconds;

    int64_t days = floor_div(seconds, 86400);
    unsigned rest = (unsigned)(seconds - days * 86400);
    struct civil date = civil_from_days(days);

    at = put_two(at, (unsigned)date.year / 100);
    at = put_two(at, (unsigned)date.year % 100);
    *at++ = '-';
    at = put_two(at, date.month);
    *at++ = '-';
    at = put_two(at, date.day);
    *at++ = 'T';
    at = put_two(at, rest / 3600);
    *at++ = ':';
    at = put_two(at, rest / 60 % 60);
    *at++ = ':';
    return put_two(at, rest % 60);
}

void time_format(int64_t at_ms, char out[TIME_TEXT_MAX])
{
    char *at = put_seconds(out, floor_div(at_ms, 1000));

    *at++ = 'Z';
    *at = '\0';
}

static void format_fraction(int64_t at_ns, unsigned digits, int64_t ns_per_digit, char *out)
{
    int64_t seconds = floor_div(at_ns, ns_per_s);
    char *at = put_seconds(out, seconds);

    *at++ = '.';
    at = put_digits(at, (uint64_t)((at_ns - seconds * ns_per_s) / ns_per_digit), digits);
    *at++ = 'Z';
    *at = '\0';
}

void time_format_nano(int64_t at_ns, char out[TIME_TEXT_MAX])
{
    format_fraction(at_ns, 9, 1, out);
}

void time_format_micro(int64_t at_ns, char out[TIME_TEXT_MAX])
{
    format_fraction(at_ns, 6, 1000, out);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads `width` digits at *at and then the character `after`, unless it is 0. Moves *at behind
 * them. */
static bool take_digits(const char **at, unsigned width, char after, unsigned *out)
{
    unsigned value = 0;

    for (unsigned i = 0; i < width; i++) {
        if (!is_digit((*at)[i]))
            return false;
        value = value * 10 + (unsigned)((*at)[i] - '0');
    }
    *at += width;
    if (after && *(*at)++ != after)
        return false;
    *out = value;
    return true;
}

/* Reads an offset, such as "Z" or "+02:00", as seconds east of UTC. */
static bool take_offset(const char **at, int64_t *out_s)
{
    char sign = *(*at)++;
    unsigned hours, minutes;

    if (sign == 'Z' || sign == 'z') {
        *out_s = 0;
        return true;
    }
    if (sign != '+' && sign != '-')
        return false;
    if (!take_digits(at, 2, ':', &hours) || !take_digits(at, 2, 0, &minutes) || hours > 23 ||
        minutes > 59)
        return false;
    *out_s = (sign == '-' ? -1 : 1) * (int64_t)(hours * 3600 + minutes * 60);
    return true;
}

bool time_parse(const char *text, int64_t *out_ms, struct error *err)
{
    const char *at = text;
    unsigned year, month, day, hour, minute, second;
    int64_t offset_s, fraction_ms = 0;

    if (!take_digits(&at, 4, '-', &year) || !take_digits(&at, 2, '-', &month) ||
        !take_digits(&at, 2, 0, &day) || (*at != 'T' && *at != 't'))
        goto malformed;
    at++;
    if (!take_digits(&at, 2, ':', &hour) || !take_digits(&at, 2, ':', &minute) ||
        !take_digits(&at, 2, 0, &second))
        goto malformed;
    if (*at == '.') {
        const char *digits = ++at;

        for (int64_t unit = 100; is_digit(*at); at++, unit /= 10)
            fraction_ms += (*at - '0') * unit;
        if (at == digits)
            goto malformed;
    }
    if (!take_offset(&at, &offset_s) || *at)
        goto malformed;
    if (month < 1 || month > 12 || day < 1 || day > civil_month_days(year, month) || hour > 23 ||
        minute > 59 || second > 59)
        return error_set(err, ERR_INVALID, "",
                         "time \"%.64s\" names a date or hour that does not exist", text);

    int64_t days = days_from_civil((struct civil){year, month, day});
    int64_t seconds =
        days * 86400 + (int64_t)hour * 3600 + (int64_t)minute * 60 + second - offset_s;

    if (seconds < first_s ||
        seconds > last_s) /* a year in UTC may differ from that of the local time */
        return error_set(err, ERR_INVALID, "", "time \"%.64s\" lies outside the years 0 to 9999",
                         text);
    *out_ms = seconds * 1000 + fraction_ms;
    return true;

malformed:
    return error_set(err, ERR_INVALID, "", "time \"%.64s\" must look like 2026-01-02T03:04:05Z",
                     text);
}

/* Units of durations. Where one begins like another, the longer one comes first. */
static const struct {
    const char *name;
    int64_t ns;
} units[] = {
    {"ns", 1},       {"us", 1000},      {"\u00b5s", 1000},        {"\u03bcs", 1000},
    {"ms", 1000000}, {"s", 1000000000}, {"m", 60 * 1000000000LL}, {"h", 3600 * 1000000000LL},
};

/* Reads a unit, such as "ms". It ends where the next number starts. Returns its nanoseconds. */
static int64_t take_unit(const char **at)
{
    size_t len = strcspn(*at, "0123456789.");

    for (size_t i = 0; i < countof(units); i++) {
        if (len == strlen(units[i].name) && memcmp(*at, units[i].name, len) == 0) {
            *at += len;
            return units[i].ns;
        }
    }
    return 0;
}

bool duration_parse(const char *text, int64_t *out_ns, struct error *err)
{
    const char *at = text;
    bool minus = *at == '-';
    uint64_t total = 0;
    const uint64_t limit = (uint64_t)INT64_MAX + minus;

    if (*at == '-' || *at == '+')
        at++;
    if (at[0] == '0' && !at[1]) {
        *out_ns = 0;
        return true;
    }
    if (!*at)
        goto malformed;
    while (*at) {
        uint64_t whole = 0, part, fraction = 0;
        double scale = 1;
        bool digits = false;

        for (; is_digit(*at); at++, digits = true) {
            if (__builtin_mul_overflow(whole, 10, &whole) ||
                __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
                goto too_large;
        }
        if (*at == '.') {
            at++;
            for (; is_digit(*at); at++, digits = true) {
                if (fraction <
                    INT64_MAX / 10) { /* further digits are less than a nanosecond in any unit */
                    fraction = fraction * 10 + (uint64_t)(*at - '0');
                    scale *= 10;
                }
            }
        }

        int64_t unit = digits ? take_unit(&at) : 0;

        if (!unit)
            goto malformed;
        if (__builtin_mul_overflow(whole, (uint64_t)unit, &part) ||
            __builtin_add_overflow(part, (uint64_t)((double)fraction * ((double)unit / scale)),
                                   &part) ||
            __builtin_add_overflow(total, part, &total) || total > limit)
            goto too_large;
    }
    *out_ns = minus ? (int64_t)(0 - total) : (int64_t)total;
    return true;

malformed:
    return error_set(err, ERR_INVALID, "", "duration \"%.64s\" must look like 1h15m30.5s", text);
too_large:
    return error_set(err, ERR_INVALID, "", "duration \"%.64s\" is beyond 290 years", text);
}

/* Returns the fraction value/10^digits without trailing zeros, written before `end`; returns its
 * start and the whole part. */
static char *put_fraction_before(char *end, uint64_t value, unsigned digits, uint64_t *out_whole)
{
    bool printed = false;

    for (unsigned i = 0; i < digits; i++, value /= 10) {
        printed = printed || value % 10;
        if (printed)
            *--end = (char)('0' + value % 10);
    }
    if (printed)
        *--end = '.';
    *out_whole = value;
    return end;
}

static char *put_whole_before(char *end, uint64_t value)
{
    do
        *--end = (char)('0' + value % 10);
    while (value /= 10);
    return end;
}

/* Formats a duration as Go does. Ref: Go time.Duration.String. */
void duration_format(int64_t ns, char out[TIME_TEXT_MAX])
{
    char text[TIME_TEXT_MAX];
    char *at = text + sizeof text;
    uint64_t value = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, whole;

    *--at = '\0';
    *--at = 's';
    if (value < (uint64_t)ns_per_s && value) {
        static const struct {
            uint64_t below;
            const char *prefix;
            unsigned digits;
        } small[] = {{1000, "n", 0}, {1000000, "\u00b5", 3}, {1000000000, "m", 6}};
        size_t i = 0;

        while (value >= small[i].below)
            i++;
        at -= strlen(small[i].prefix);
        memcpy(at, small[i].prefix, strlen(small[i].prefix));
        at = put_fraction_before(at, value, small[i].digits, &whole);
        at = put_whole_before(at, whole);
    } else {
        at = put_fraction_before(at, value, 9, &whole);
        at = put_whole_before(at, whole % 60);
        whole /= 60;
        if (whole) {
            *--at = 'm';
            at = put_whole_before(at, whole % 60);
            whole /= 60;
        }
        if (whole) {
            *--at = 'h';
            at = put_whole_before(at, whole);
        }
    }
    if (ns < 0)
        *--at = '-';
    memcpy(out, at, (size_t)(text + sizeof text - at));
}

/* Writes "<a><unit_a>" and, unless b is 0, "<b><unit_b>". */
static void put_pair(char out[TIME_TEXT_MAX], int64_t a, char unit_a, int64_t b, char unit_b)
{
    char text[TIME_TEXT_MAX];
    char *at = text + sizeof text;

    *--at = '\0';
    if (b) {
        *--at = unit_b;
        at = put_whole_before(at, (uint64_t)b);
    }
    *--at = unit_a;
    at = put_whole_before(at, (uint64_t)a);
    memcpy(out, at, (size_t)(text + sizeof text - at));
}

/* Formats a duration as kubectl does. Ref: k8s.io/apimachinery/pkg/util/duration, HumanDuration. */
void duration_precise(int64_t ms, char out[TIME_TEXT_MAX])
{
    if (ms < (int64_t)60 * 1000)
        snprintf(out, TIME_TEXT_MAX, "%.2fs", (double)ms / 1000.0);
    else
        duration_human(ms, out);
}

void duration_human(int64_t ms, char out[TIME_TEXT_MAX])
{
    const int64_t year = 365; /* days of a year */
    int64_t seconds = ms / 1000, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

    if (seconds < -1)
        memcpy(out, "<invalid>", sizeof "<invalid>");
    else if (seconds < 0)
        memcpy(out, "0s", sizeof "0s");
    else if (seconds < 120)
        put_pair(out, seconds, 's', 0, 0);
    else if (minutes < 10)
        put_pair(out, minutes, 'm', seconds % 60, 's');
    else if (minutes < 180)
        put_pair(out, minutes, 'm', 0, 0);
    else if (hours < 8)
        put_pair(out, hours, 'h', minutes % 60, 'm');
    else if (hours < 48)
        put_pair(out, hours, 'h', 0, 0);
    else if (days < 8)
        put_pair(out, days, 'd', hours % 24, 'h');
    else if (days < year * 2)
        put_pair(out, days, 'd', 0, 0);
    else if (days < year * 8)
        put_pair(out, days / year, 'y', days % year, 'd');
    else
        put_pair(out, days / year, 'y', 0, 0);
}
