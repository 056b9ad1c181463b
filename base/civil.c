/*
 * Calendar arithmetic on eras of 400 years that begin on the first of March, so that the day of a
 * leap year is the last one of its year. Ref: Hinnant, chrono-compatible low-level date algorithms:
 * civil_from_days, days_from_civil.
 */
#include "base/civil.h"

#include <stdbool.h>

struct civil civil_from_days(int64_t days)
{
    days += 719468;

    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    unsigned doe = (unsigned)(days - era * 146097);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned mp = (5 * doy + 2) / 153;
    unsigned month = mp < 10 ? mp + 3 : mp - 9;

    return (struct civil){(int64_t)yoe + era * 400 + (month <= 2), month,
                          doy - (153 * mp + 2) / 5 + 1};
}

int64_t days_from_civil(struct civil date)
{
    int64_t year = date.year - (date.month <= 2);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    unsigned yoe = (unsigned)(year - era * 400);
    unsigned doy =
        (153 * (date.month > 2 ? date.month - 3 : date.month + 9) + 2) / 5 + date.day - 1;
    unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

    return era * 146097 + (int64_t)doe - 719468;
}

unsigned civil_month_days(int64_t year, unsigned month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

unsigned civil_weekday(int64_t days)
{
    return (unsigned)(days - 7 * floor_div(days + 4, 7) + 4);
}
