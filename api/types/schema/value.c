/*
 * Checks one string, number or boolean against its row of a field table: type, size, enum, format.
 */
#include "api/types/schema/value.h"

#include <string.h>

#include "api/types/schema/flow_reference.h"
#include "api/types/text/quantity.h"
#include "api/types/text/suggest.h"
#include "base/encoding/base64.h"
#include "base/timefmt.h"

static void mark_unreadable(struct schema_check *c)
{
    if (c->options->unreadable)
        *c->options->unreadable = true;
}

bool schema_expect(struct schema_check *c, const struct field_path *place, const json_t *value,
                   bool ok, const char *expected)
{
    if (ok)
        return true;
    field_path_report_type(place, c->errors, value, expected);
    mark_unreadable(c);
    return false;
}

static bool is_one_of(const struct field *field, const char *text)
{
    for (const char *const *one = field->one_of; *one; one++)
        if (strcmp(*one, text) == 0)
            return true;
    return false;
}

static void report_choices(struct schema_check *c, const struct field *field, const json_t *value,
                           const struct field_path *place)
{
    char quoted[SHOWN_MAX + 8];
    scoped(buf) struct buf choices = {0};
    struct suggest best = {0};

    for (const char *const *one = field->one_of; *one; one++) {
        if (!**one)
            continue;
        buf_printf(&choices, "%s\"%s\"", choices.len ? ", " : "", *one);
        suggest_offer(&best, json_string_value(value), *one);
    }
    if (best.word)
        buf_printf(&choices, "; did you mean \"%s\"?", best.word);
    field_path_report(place, c->errors, "Unsupported value: %s: supported values: %s%s",
                      field_path_shown(value, quoted), choices.len ? choices.data : "none",
                      flow_ref_hint(json_string_value(value)));
}

/* Checks a string format. The first call passes no error, because nearly all text is valid; only a
 * failure is checked again for the reason. */
typedef bool (*format_fn)(const char *text, struct error *err);

static void report_format(struct schema_check *c, format_fn format, const char *text,
                          const json_t *value, const struct field_path *place)
{
    char quoted[SHOWN_MAX + 8];
    const char *shown = field_path_shown(value, quoted);
    size_t len = strlen(shown);
    struct error err = {0};
    const char *why = err.message;

    format(text, &err);
    if (strncmp(why, shown, len) == 0 && strncmp(why + len, ": ", 2) == 0)
        why += len + 2; /* the value is named once */
    field_path_report(place, c->errors, "Invalid value: %s: %s%s", shown, why, flow_ref_hint(text));
}

void schema_check_content(struct schema_check *c, const struct field *field, const json_t *value,
                          const struct field_path *place)
{
    if (field->one_of) {
        if (!is_one_of(field, json_string_value(value)))
            report_choices(c, field, value, place);
    } else if (field->check && !field->check(json_string_value(value), NULL)) {
        report_format(c, field->check, json_string_value(value), value, place);
    }
}

static void check_text_rules(struct schema_check *c, const struct field *field, const json_t *value,
                             const struct field_path *place)
{
    size_t len = json_string_length(value);

    if (len < field->min_length)
        field_path_report_should(place, c->errors, value, "be at least %u chars long",
                                 field->min_length);
    else if (field->max_length && len > field->max_length)
        field_path_report(place, c->errors, "Too long: may not be more than %u bytes",
                          field->max_length);
    else
        schema_check_content(c, field, value, place);
}

static void check_str(struct schema_check *c, const struct field *field, const json_t *value,
                      const struct field_path *place)
{
    if (schema_expect(c, place, value, json_is_string(value), "string"))
        check_text_rules(c, field, value, place);
}

static void check_integer_within(struct schema_check *c, const struct field *field,
                                 const json_t *value, const struct field_path *place, int64_t min,
                                 int64_t max)
{
    int64_t number = json_integer_value(value);

    if (number < min || number > max)
        mark_unreadable(c);
    if (field->bounded) {
        min = field->min > min ? field->min : min;
        max = field->max < max ? field->max : max;
    }
    if (number < min)
        field_path_report_should(place, c->errors, value, "be greater than or equal to %lld",
                                 (long long)min);
    else if (number > max)
        field_path_report_should(place, c->errors, value, "be less than or equal to %lld",
                                 (long long)max);
}

static void check_i32(struct schema_check *c, const struct field *field, const json_t *value,
                      const struct field_path *place)
{
    if (schema_expect(c, place, value, json_is_integer(value), "integer"))
        check_integer_within(c, field, value, place, INT32_MIN, INT32_MAX);
}

static void check_i64(struct schema_check *c, const struct field *field, const json_t *value,
                      const struct field_path *place)
{
    if (schema_expect(c, place, value, json_is_integer(value), "integer"))
        check_integer_within(c, field, value, place, INT64_MIN, INT64_MAX);
}

static void check_bool(struct schema_check *c, const struct field *field, const json_t *value,
                       const struct field_path *place)
{
    schema_expect(c, place, value, json_is_boolean(value), "boolean");
}

static bool is_quantity(const char *text, struct error *err)
{
    quantity_nano parsed;

    return quantity_parse(text, &parsed, err);
}

static bool is_duration(const char *text, struct error *err)
{
    int64_t ns;

    return duration_parse(text, &ns, err);
}

static bool is_time(const char *text, struct error *err)
{
    int64_t ms;

    return time_parse(text, &ms, err);
}

static void check_quantity(struct schema_check *c, const struct field *field, const json_t *value,
                           const struct field_path *place)
{
    char number[JSON_NUMBER_MAX];
    const char *text = json_string_value(value);
    quantity_nano parsed;

    if (!schema_expect(c, place, value, text || json_is_number(value), "string or number"))
        return;
    if (!text) {
        json_number_text(value, number);
        text = number;
    }
    if (!quantity_parse(text, &parsed, NULL))
        report_format(c, is_quantity, text, value, place);
    else if (field->bounded && quantity_whole(parsed) < field->min)
        field_path_report_should(place, c->errors, value, "be greater than or equal to %lld",
                                 (long long)field->min);
    else if (field->bounded && quantity_whole(parsed) > field->max)
        field_path_report_should(place, c->errors, value, "be less than or equal to %lld",
                                 (long long)field->max);
}

static void check_duration(struct schema_check *c, const struct field *field, const json_t *value,
                           const struct field_path *place)
{
    const char *text = json_string_value(value);
    int64_t ns;

    if (!schema_expect(c, place, value, text != NULL, "string"))
        return;
    if (!duration_parse(text, &ns, NULL))
        report_format(c, is_duration, text, value, place);
    else if (field->bounded && ns < field->min)
        field_path_report_should(place, c->errors, value, "be a duration of at least %lldns",
                                 (long long)field->min);
    else if (field->bounded && ns > field->max)
        field_path_report_should(place, c->errors, value, "be a duration of at most %lldns",
                                 (long long)field->max);
}

static void check_time(struct schema_check *c, const struct field *field, const json_t *value,
                       const struct field_path *place)
{
    const char *text = json_string_value(value);

    if (schema_expect(c, place, value, text != NULL, "string") && !is_time(text, NULL))
        report_format(c, is_time, text, value, place);
}

static void check_int_or_str(struct schema_check *c, const struct field *field, const json_t *value,
                             const struct field_path *place)
{
    if (!schema_expect(c, place, value, json_is_integer(value) || json_is_string(value),
                       "integer or string"))
        return;
    if (json_is_string(value))
        check_text_rules(c, field, value, place);
    else
        check_integer_within(c, field, value, place, INT32_MIN, INT32_MAX);
}

static void check_base64(struct schema_check *c, const struct field *field, const json_t *value,
                         const struct field_path *place)
{
    char text[SHOWN_MAX + 8];

    if (!schema_expect(c, place, value, json_is_string(value), "string"))
        return;
    if (!base64_valid(json_string_value(value), json_string_length(value)))
        field_path_report(place, c->errors, "Invalid value: %s: must be base64 text",
                          field_path_shown(value, text));
    else
        check_text_rules(c, field, value, place);
}

typedef void (*check_fn)(struct schema_check *c, const struct field *field, const json_t *value,
                         const struct field_path *place);

/* clang-format off */
static const check_fn checks[] = {
    [FIELD_STR]        = check_str,
    [FIELD_ENUM]       = check_str,
    [FIELD_I32]        = check_i32,
    [FIELD_OPT_I32]    = check_i32,
    [FIELD_I64]        = check_i64,
    [FIELD_OPT_I64]    = check_i64,
    [FIELD_BOOL]       = check_bool,
    [FIELD_OPT_BOOL]   = check_bool,
    [FIELD_QUANTITY]   = check_quantity,
    [FIELD_DURATION]   = check_duration,
    [FIELD_TIME]       = check_time,
    [FIELD_INT_OR_STR] = check_int_or_str,
    [FIELD_BASE64]     = check_base64,
};
/* clang-format on */

void schema_check_value(struct schema_check *c, const struct field *field, enum field_type type,
                        const json_t *value, const struct field_path *place)
{
    if ((size_t)type < countof(checks) && checks[type])
        checks[type](c, field, value, place);
}
