/*
 * One table row for each type of flag: its parser, and its size in the options struct.
 */
#include "cli/command/flag_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"

const struct flag *flag_named(const struct flag *flags, const char *name)
{
    for (; flags && flags->type != FLAG_END; flags++)
        if (strcmp(flags->name, name) == 0)
            return flags;
    return NULL;
}

static bool parse_int(const char *text, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

static bool store_bool(const struct flag *flag, const char *text, void *member, struct error *err)
{
    /* The forms are --flag, --flag=true and --flag=false. */
    *(bool *)member = !text || strcmp(text, "false") != 0;
    if (!text || strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return true;
    return error_set(err, ERR_INVALID, "", "\"%s\" is neither true nor false", text);
}

static bool store_str(const struct flag *flag, const char *text, void *member, struct error *err)
{
    *(const char **)member = text;
    return true;
}

static bool store_int(const struct flag *flag, const char *text, void *member, struct error *err)
{
    int64_t number;

    if (parse_int(text, &number) && number >= flag->min && (!flag->max || number <= flag->max)) {
        *(int64_t *)member = number;
        return true;
    }
    if (flag->max)
        return error_set(err, ERR_INVALID, "", "\"%s\" is not a whole number from %lld to %lld",
                         text, (long long)flag->min, (long long)flag->max);
    return error_set(err, ERR_INVALID, "", "\"%s\" is not a whole number of at least %lld", text,
                     (long long)flag->min);
}

/* Durations are bounded, so that their nanoseconds can be added to the time. */
static bool store_duration(const struct flag *flag, const char *text, void *member,
                           struct error *err)
{
    const int64_t years_100_s = INT64_C(36525) * 24 * 3600;
    int64_t seconds, ns;

    if (parse_int(text, &seconds) && seconds >= 0 && seconds <= years_100_s) {
        *(int64_t *)member = seconds * 1000;
        return true;
    }
    if (duration_parse(text, &ns, NULL) && ns >= 0 && ns <= years_100_s * 1000000000) {
        *(int64_t *)member = ns / 1000000;
        return true;
    }
    return error_set(
        err, ERR_INVALID, "",
        "\"%s\" is not a duration of at most 100 years; write it like 90s, 5m or 1h30m", text);
}

static bool choice_known(const struct flag *flag, const char *text)
{
    for (size_t i = 0; flag->choices[i]; i++)
        if (strcmp(flag->choices[i], text) == 0)
            return true;
    return false;
}

static bool store_choice(const struct flag *flag, const char *text, void *member, struct error *err)
{
    char known[ERROR_MESSAGE_MAX / 2];
    size_t len = 0;

    if (choice_known(flag, text))
        return store_str(flag, text, member, err);
    for (size_t i = 0; flag->choices[i] && len < sizeof known; i++)
        len += (size_t)snprintf(known + len, sizeof known - len, "%s %s", i ? "," : "",
                                flag->choices[i]);
    return error_set(err, ERR_INVALID, "", "\"%s\" is not one of%s", text, known);
}

static bool store_list(const struct flag *flag, const char *text, void *member, struct error *err)
{
    struct flag_list *list = member;

    if (list->count == countof(list->items))
        return error_set(err, ERR_INVALID, "", "given more than %zu times", countof(list->items));
    list->items[list->count++] = text;
    return true;
}

/* clang-format off */
static const struct {
    size_t size;
    bool (*store)(const struct flag *flag, const char *text, void *member, struct error *err);
} types[] = {
    [FLAG_BOOL]     = {sizeof(bool),             store_bool},
    [FLAG_STR]      = {sizeof(const char *),     store_str},
    [FLAG_INT]      = {sizeof(int64_t),          store_int},
    [FLAG_DURATION] = {sizeof(int64_t),          store_duration},
    [FLAG_CHOICE]   = {sizeof(const char *),     store_choice},
    [FLAG_LIST]     = {sizeof(struct flag_list), store_list},
};
/* clang-format on */

bool flag_store(const struct flag *flag, const char *text, void *options, struct error *err)
{
    return (!flag->check || flag->check(text, err)) &&
           types[flag->type].store(flag, text, (char *)options + flag->offset, err);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_list(const struct flag_list *a, const struct flag_list *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (!same_text(a->items[i], b->items[i]))
            return false;
    return a->count == b->count;
}

bool flag_equal(const struct flag *flag, const void *options, const void *others)
{
    const void *a = (const char *)options + flag->offset, *b = (const char *)others + flag->offset;

    if (flag->type == FLAG_LIST)
        return same_list(a, b);
    if (flag->type == FLAG_STR || flag->type == FLAG_CHOICE)
        return same_text(*(const char *const *)a, *(const char *const *)b);
    return memcmp(a, b, types[flag->type].size) == 0;
}

void flag_copy(const struct flag *flag, void *options, const void *from)
{
    memcpy((char *)options + flag->offset, (const char *)from + flag->offset,
           types[flag->type].size);
}
