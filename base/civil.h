#pragma once
/*
 * Dates of the Gregorian calendar as days since 1970-01-01, without the time zone code of the C
 * library.
 */
#include <stdint.h>

struct civil {
    int64_t year;
    unsigned month, day; /* month and day, counted from 1 */
};

enum { DAY_S = 86400, DAY_MINUTES = 1440 };

struct civil civil_from_days(int64_t days);
int64_t days_from_civil(struct civil date);
/** Returns the number of days of a month, 28 to 31. */
unsigned civil_month_days(int64_t year, unsigned month);
/** Returns the day of the week, 0 (Sunday) to 6. */
unsigned civil_weekday(int64_t days);

/** Divides and rounds towards minus infinity; `b` is positive. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}
