/*
 * Reads requests for backfills, and decides their times and what happens to each.
 */
#include "api/types/kinds/schedule/backfill.h"

#include <inttypes.h>
#include <string.h>

#include "api/types/text/json_text.h"
#include "base/civil.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/timefmt.h"

const char *const backfill_rerun_texts[] = {
    [RERUN_NONE] = "none", [RERUN_FAILED] = "failed", [RERUN_ALL] = "all", NULL};
const char *const backfill_state_texts[] = {[BACKFILL_RUNNING] = "Running",
                                            [BACKFILL_DONE] = "Done",
                                            [BACKFILL_CANCELLED] = "Cancelled",
                                            NULL};

/* Requests. */

static bool is_form_of_date(const char *text)
{
    static const char form[] = "0000-00-00";

    if (strlen(text) != strlen(form))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

static unsigned digits(const char *text, int n)
{
    unsigned value = 0;

    for (int i = 0; i < n; i++)
        value = value * 10 + (unsigned)(text[i] - '0');
    return value;
}

static bool read_date(const char *text, int64_t *out_days)
{
    const struct civil date = {digits(text, 4), digits(text + 5, 2), digits(text + 8, 2)};

    if (!date.month || date.month > 12 || !date.day ||
        date.day > civil_month_days(date.year, date.month))
        return false;
    *out_days = days_from_civil(date);
    return true;
}

bool backfill_end_read(const char *text, bool is_from, struct backfill_end *out, struct error *err)
{
    int64_t at_ms;

    *out = (struct backfill_end){.is_date = is_form_of_date(text)};
    if (out->is_date ? read_date(text, &out->value) : time_parse(text, &at_ms, NULL)) {
        if (!out->is_date)
            out->value = is_from ? -floor_div(-at_ms, 1000) : floor_div(at_ms, 1000);
        return true;
    }
    return error_set(err, ERR_INVALID, "",
                     "\"%.64s\" is no time: write a date such as 2026-10-24, or a time such as "
                     "2026-10-24T02:30:00+02:00",
                     text);
}

static bool read_end(const json_t *order, const char *key, struct backfill_end *out,
                     struct error *err)
{
    const char *text = json_string_value(json_object_get(order, key));
    struct error why = {0};

    if (!text)
        return error_set(err, ERR_INVALID, key, "Required value: a date, or a time of RFC 3339");
    return backfill_end_read(text, strcmp(key, "from") == 0, out, &why) ||
           error_set(err, ERR_INVALID, key, "%s", why.message);
}

static bool read_rerun(const json_t *value, enum backfill_rerun *out, struct error *err)
{
    const char *text = json_string_value(value);

    *out = RERUN_NONE;
    if (!value)
        return true;
    for (int i = 0; text && i < RERUN_N; i++) {
        *out = (enum backfill_rerun)i;
        if (strcmp(text, backfill_rerun_texts[i]) == 0)
            return true;
    }
    return error_set(err, ERR_INVALID, "rerun", "must be none, failed or all");
}

static bool read_parallelism(const json_t *value, int32_t *out, struct error *err)
{
    json_int_t number = value ? json_integer_value(value) : 1;

    if ((value && !json_is_integer(value)) || number < 1 || number > BACKFILL_PARALLEL_MAX)
        return error_set(err, ERR_INVALID, "parallelism", "must be a number from 1 to %d",
                         BACKFILL_PARALLEL_MAX);
    *out = (int32_t)number;
    return true;
}

static bool only_known(const json_t *order, struct error *err)
{
    static const char *const known[] = {"from", "to", "parallelism", "rerun", "reverse"};
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)order, key, value)
    {
        size_t i = 0;

        while (i < countof(known) && strcmp(key, known[i]) != 0)
            i++;
        if (i == countof(known))
            return error_set(err, ERR_INVALID, "",
                             "unknown member \"%.64s\": known are from, to, parallelism, rerun, "
                             "reverse",
                             key);
    }
    return true;
}

bool backfill_order_read(const char *message, struct backfill_order *out, struct error *err)
{
    scoped(json) json_t *order = json_loads(message ? message : "", JSON_REJECT_DUPLICATES, NULL);
    const json_t *reverse = json_object_get(order, "reverse");

    *out = (struct backfill_order){0};
    if (!json_is_object(order))
        return error_set(err, ERR_INVALID, "",
                         "must be a JSON object such as {\"from\": \"2026-10-24\", \"to\": "
                         "\"2026-10-26\"}");
    if (reverse && !json_is_boolean(reverse))
        return error_set(err, ERR_INVALID, "reverse", "must be true or false");
    out->reverse = json_is_true(reverse);
    return only_known(order, err) && read_end(order, "from", &out->from, err) &&
           read_end(order, "to", &out->to, err) &&
           read_parallelism(json_object_get(order, "parallelism"), &out->parallelism, err) &&
           read_rerun(json_object_get(order, "rerun"), &out->rerun, err);
}

char *backfill_cancel_read(const char *message, struct error *err)
{
    scoped(json) json_t *order = json_loads(message ? message : "", JSON_REJECT_DUPLICATES, NULL);
    const char *id = json_string_value(json_object_get(order, "id"));

    if (id && *id && json_object_size(order) == 1)
        return mem_strdup(id);
    error_set(err, ERR_INVALID, "", "must be {\"id\": ID} with the id of a backfill");
    return NULL;
}

/* Times. */

/* Returns the first instant of a date. */
static int64_t begin_of(const struct zone *zone, int64_t days)
{
    return zone_instant(zone, days * DAY_S).at_s;
}

static void describe_range(const struct zone *zone, int64_t from_s, int64_t to_s, struct buf *out)
{
    char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];

    zone_time_format(zone, from_s, from);
    zone_time_format(zone, to_s, to);
    buf_printf(out, "from %s to %s", from, to);
}

bool backfill_range(const struct backfill_order *order, const struct cron *cron,
                    const struct zone *zone, int64_t now_s, struct backfill_range *out,
                    struct error *err)
{
    scoped(buf) struct buf range = {0};
    int64_t last_s;

    *out = (struct backfill_range){
        .from_s = order->from.is_date ? begin_of(zone, order->from.value) : order->from.value,
        .to_s = order->to.is_date ? begin_of(zone, order->to.value + 1) - 1 : order->to.value};
    describe_range(zone, out->from_s, out->to_s, &range);
    if (out->from_s > out->to_s)
        return error_set(err, ERR_INVALID, "", "%s: the end is before the beginning", range.data);
    if (out->to_s > now_s)
        out->to_s = now_s;
    if (out->from_s < 1)
        out->from_s = 1; /* names of flows have no sign */
    if (!cron_newest(cron, zone, out->from_s - 1, out->to_s, &last_s))
        return error_set(err, ERR_INVALID, "", "no scheduled time has come %s", range.data);
    out->times = cron_count(cron, zone, out->from_s - 1, out->to_s);
    if (out->times > BACKFILL_TIMES_MAX)
        return error_set(err, ERR_INVALID, "", "more than %d times %s: make several backfills",
                         BACKFILL_TIMES_MAX, range.data);
    if (order->reverse)
        out->first_s = last_s;
    else if (!cron_next(cron, zone, out->from_s - 1, &out->first_s))
        return error_set(err, ERR_INVALID, "", "no scheduled time has come %s", range.data);
    return true;
}

int64_t backfill_after(const struct cron *cron, const struct zone *zone, int64_t from_s,
                       int64_t to_s, bool reverse, int64_t at_s)
{
    int64_t next_s;

    if (reverse)
        return cron_newest(cron, zone, from_s - 1, at_s - 1, &next_s) ? next_s : 0;
    return cron_next(cron, zone, at_s, &next_s) && next_s <= to_s ? next_s : 0;
}

/* Decisions. */

enum backfill_then backfill_decide(enum backfill_found found, enum backfill_rerun rerun)
{
    /* clang-format off */
    static const enum backfill_then table[FOUND_N][RERUN_N] = {
        /*                    none          failed        all         */
        [FOUND_NONE]      = {THEN_MAKE,    THEN_MAKE,    THEN_MAKE},
        [FOUND_ACTIVE]    = {THEN_KEEP,    THEN_KEEP,    THEN_KEEP},
        [FOUND_SUCCEEDED] = {THEN_KEEP,    THEN_KEEP,    THEN_REPLACE},
        [FOUND_FAILED]    = {THEN_KEEP,    THEN_RETRY,   THEN_REPLACE},
        [FOUND_FOREIGN]   = {THEN_FOREIGN, THEN_FOREIGN, THEN_FOREIGN},
    };
    /* clang-format on */

    return table[found][rerun];
}
