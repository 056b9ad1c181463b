/*
 * Checking a document against a field table: nulls and unknown members first, then defaults, then
 * each member by its row.
 *
 * The place in the document is a chain of stack frames and becomes text only where there is
 * something to report. Texts follow kube-apiserver, so that clients and people recognise them.
 */
#include "api/types/schema.h"

#include <string.h>

#include "api/types/flowref.h"
#include "api/types/json_text.h"
#include "api/types/nearest.h"
#include "api/types/quantity.h"
#include "api/types/schema_place.h"
#include "api/types/schema_rows.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/timefmt.h"

struct check {
    const struct schema_options *options;
    struct error_list *errors;
};

static void check_level(struct check *c, const struct schema_level *level, json_t *object,
                        const struct place *place);

static void mark_unreadable(struct check *c)
{
    if (c->options->unreadable)
        *c->options->unreadable = true;
}

static bool expect(struct check *c, const struct place *place, const json_t *value, bool ok,
                   const char *expected)
{
    if (ok)
        return true;
    place_report_type(place, c->errors, value, expected);
    mark_unreadable(c);
    return false;
}

/* ---- strings and numbers ---- */

static bool is_one_of(const struct field *field, const char *text)
{
    for (const char *const *one = field->one_of; *one; one++)
        if (!strcmp(*one, text))
            return true;
    return false;
}

static void report_choices(struct check *c, const struct field *field, const json_t *value,
                           const struct place *place)
{
    char quoted[SHOWN_MAX + 8];
    scoped(buf) struct buf choices = {0};
    struct nearest best = {0};

    for (const char *const *one = field->one_of; *one; one++) {
        if (!**one)
            continue;
        buf_printf(&choices, "%s\"%s\"", choices.len ? ", " : "", *one);
        nearest_offer(&best, json_string_value(value), *one);
    }
    if (best.word)
        buf_printf(&choices, "; did you mean \"%s\"?", best.word);
    place_report(place, c->errors, "Unsupported value: %s: supported values: %s",
                 place_shown(value, quoted), choices.len ? choices.data : "none");
}

/* Formats are first asked without an error, for nearly all text passes; then again, for the reason.
 */
typedef bool (*format_fn)(const char *text, struct error *err);

static void report_format(struct check *c, format_fn format, const char *text, const json_t *value,
                          const struct place *place)
{
    char quoted[SHOWN_MAX + 8];
    struct error err = {0};

    format(text, &err);
    place_report(place, c->errors, "Invalid value: %s: %s", place_shown(value, quoted),
                 err.message);
}

/* The enum and the format: what also holds for each entry of a list or map. */
static void check_content(struct check *c, const struct field *field, const json_t *value,
                          const struct place *place)
{
    if (field->one_of) {
        if (!is_one_of(field, json_string_value(value)))
            report_choices(c, field, value, place);
    } else if (field->check && !field->check(json_string_value(value), NULL)) {
        report_format(c, field->check, json_string_value(value), value, place);
    }
}

static void check_text_rules(struct check *c, const struct field *field, const json_t *value,
                             const struct place *place)
{
    size_t len = json_string_length(value);

    if (len < field->min_length)
        place_report_should(place, c->errors, value, "be at least %u chars long",
                            field->min_length);
    else if (field->max_length && len > field->max_length)
        place_report(place, c->errors, "Too long: may not be more than %u bytes",
                     field->max_length);
    else
        check_content(c, field, value, place);
}

static void check_str(struct check *c, const struct field *field, bool partial, json_t *value,
                      const struct place *place)
{
    if (expect(c, place, value, json_is_string(value), "string"))
        check_text_rules(c, field, value, place);
}

static void check_integer_within(struct check *c, const struct field *field, const json_t *value,
                                 const struct place *place, int64_t min, int64_t max)
{
    int64_t number = json_integer_value(value);

    if (number < min || number > max)
        mark_unreadable(c);
    if (field->bounded) {
        min = field->min > min ? field->min : min;
        max = field->max < max ? field->max : max;
    }
    if (number < min)
        place_report_should(place, c->errors, value, "be greater than or equal to %lld",
                            (long long)min);
    else if (number > max)
        place_report_should(place, c->errors, value, "be less than or equal to %lld",
                            (long long)max);
}

static void check_i32(struct check *c, const struct field *field, bool partial, json_t *value,
                      const struct place *place)
{
    if (expect(c, place, value, json_is_integer(value), "integer"))
        check_integer_within(c, field, value, place, INT32_MIN, INT32_MAX);
}

static void check_i64(struct check *c, const struct field *field, bool partial, json_t *value,
                      const struct place *place)
{
    if (expect(c, place, value, json_is_integer(value), "integer"))
        check_integer_within(c, field, value, place, INT64_MIN, INT64_MAX);
}

static void check_bool(struct check *c, const struct field *field, bool partial, json_t *value,
                       const struct place *place)
{
    expect(c, place, value, json_is_boolean(value), "boolean");
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

static void check_quantity(struct check *c, const struct field *field, bool partial, json_t *value,
                           const struct place *place)
{
    char number[JSON_NUMBER_MAX];
    const char *text = json_string_value(value);
    quantity_nano parsed;

    if (!expect(c, place, value, text || json_is_number(value), "string or number"))
        return;
    if (!text) {
        json_number_text(value, number);
        text = number;
    }
    if (!quantity_parse(text, &parsed, NULL))
        report_format(c, is_quantity, text, value, place);
    else if (field->bounded && quantity_whole(parsed) < field->min)
        place_report_should(place, c->errors, value, "be greater than or equal to %lld",
                            (long long)field->min);
    else if (field->bounded && quantity_whole(parsed) > field->max)
        place_report_should(place, c->errors, value, "be less than or equal to %lld",
                            (long long)field->max);
}

static void check_duration(struct check *c, const struct field *field, bool partial, json_t *value,
                           const struct place *place)
{
    const char *text = json_string_value(value);
    int64_t ns;

    if (!expect(c, place, value, text != NULL, "string"))
        return;
    if (!duration_parse(text, &ns, NULL))
        report_format(c, is_duration, text, value, place);
    else if (field->bounded && ns < field->min)
        place_report_should(place, c->errors, value, "be a duration of at least %lldns",
                            (long long)field->min);
    else if (field->bounded && ns > field->max)
        place_report_should(place, c->errors, value, "be a duration of at most %lldns",
                            (long long)field->max);
}

static void check_time(struct check *c, const struct field *field, bool partial, json_t *value,
                       const struct place *place)
{
    const char *text = json_string_value(value);

    if (expect(c, place, value, text != NULL, "string") && !is_time(text, NULL))
        report_format(c, is_time, text, value, place);
}

static void check_int_or_str(struct check *c, const struct field *field, bool partial,
                             json_t *value, const struct place *place)
{
    if (!expect(c, place, value, json_is_integer(value) || json_is_string(value),
                "integer or string"))
        return;
    if (json_is_string(value))
        check_text_rules(c, field, value, place);
    else
        check_integer_within(c, field, value, place, INT32_MIN, INT32_MAX);
}

static void check_base64(struct check *c, const struct field *field, bool partial, json_t *value,
                         const struct place *place)
{
    char text[SHOWN_MAX + 8];

    if (!expect(c, place, value, json_is_string(value), "string"))
        return;
    if (!base64_valid(json_string_value(value), json_string_length(value)))
        place_report(place, c->errors, "Invalid value: %s: must be base64 text",
                     place_shown(value, text));
    else
        check_text_rules(c, field, value, place);
}

/* ---- lists, maps, objects ---- */

static void check_count(struct check *c, const struct field *field, bool partial, size_t count,
                        const struct place *place)
{
    if (!partial && count < field->min_length)
        place_report(place, c->errors, "Invalid value: %zu: should have at least %u items", count,
                     field->min_length);
    else if (field->max_length && count > field->max_length)
        place_report(place, c->errors, "Too many: %zu: must have at most %u items", count,
                     field->max_length);
}

typedef void (*check_entry_fn)(struct check *c, const struct field *field, bool partial,
                               json_t *value, const struct place *place);

static void check_str_entry(struct check *c, const struct field *field, bool partial, json_t *value,
                            const struct place *place)
{
    if (expect(c, place, value, json_is_string(value), "string"))
        check_content(c, field, value, place);
}

static void check_entries(struct check *c, const struct field *field, bool partial, json_t *array,
                          const struct place *place, check_entry_fn check_entry)
{
    size_t i;
    json_t *entry;

    json_array_foreach(array, i, entry)
    {
        struct place here = {.up = place, .index = i};

        check_entry(c, field, partial, entry, &here);
    }
}

static void check_counted(struct check *c, const struct field *field, bool partial, json_t *value,
                          const struct place *place, check_entry_fn check_entry)
{
    if (!expect(c, place, value, json_is_array(value), "array"))
        return;
    check_count(c, field, partial, json_array_size(value), place);
    check_entries(c, field, partial, value, place, check_entry);
}

static void check_str_list(struct check *c, const struct field *field, bool partial, json_t *value,
                           const struct place *place)
{
    check_counted(c, field, partial, value, place, check_str_entry);
}

static void check_members(struct check *c, const struct field *field, bool partial, json_t *value,
                          const struct place *place, check_entry_fn check_entry)
{
    const char *key;
    json_t *member;

    if (!expect(c, place, value, json_is_object(value), "object"))
        return;
    check_count(c, field, partial, json_object_size(value), place);
    json_object_foreach(value, key, member)
    {
        struct place here = {.up = place, .name = key, .map_key = true};

        if (!json_is_null(member) || field->type == FIELD_MAP)
            check_entry(c, field, partial, member, &here);
    }
}

static void check_str_map(struct check *c, const struct field *field, bool partial, json_t *value,
                          const struct place *place)
{
    check_members(c, field, partial, value, place, check_str_entry);
}

static void check_quantity_map(struct check *c, const struct field *field, bool partial,
                               json_t *value, const struct place *place)
{
    check_members(c, field, partial, value, place, check_quantity);
}

/* The count in the row is that of the map. */
static void check_list_entry(struct check *c, const struct field *field, bool partial,
                             json_t *value, const struct place *place)
{
    if (expect(c, place, value, json_is_array(value), "array"))
        check_entries(c, field, partial, value, place, check_str_entry);
}

static void check_str_list_map(struct check *c, const struct field *field, bool partial,
                               json_t *value, const struct place *place)
{
    check_members(c, field, partial, value, place, check_list_entry);
}

static void check_object(struct check *c, const struct field *field, bool partial, json_t *value,
                         const struct place *place)
{
    struct schema_level level;

    if (!expect(c, place, value, json_is_object(value), "object") || !field->of)
        return;
    level = schema_level(field->of, partial);
    check_level(c, &level, value, place);
}

static void check_list(struct check *c, const struct field *field, bool partial, json_t *value,
                       const struct place *place)
{
    check_counted(c, field, partial, value, place, check_object);
}

static void check_map_entry(struct check *c, const struct field *field, bool partial, json_t *value,
                            const struct place *place)
{
    if (field->of)
        check_object(c, field, partial, value, place);
}

static void check_map(struct check *c, const struct field *field, bool partial, json_t *value,
                      const struct place *place)
{
    check_members(c, field, partial, value, place, check_map_entry);
}

static void check_any(struct check *c, const struct field *field, bool partial, json_t *value,
                      const struct place *place)
{
}

/* clang-format off */
static const check_entry_fn checks[] = {
    [FIELD_STR]          = check_str,
    [FIELD_I32]          = check_i32,
    [FIELD_OPT_I32]      = check_i32,
    [FIELD_I64]          = check_i64,
    [FIELD_OPT_I64]      = check_i64,
    [FIELD_BOOL]         = check_bool,
    [FIELD_OPT_BOOL]     = check_bool,
    [FIELD_QUANTITY]     = check_quantity,
    [FIELD_DURATION]     = check_duration,
    [FIELD_TIME]         = check_time,
    [FIELD_INT_OR_STR]   = check_int_or_str,
    [FIELD_BASE64]       = check_base64,
    [FIELD_STR_LIST]     = check_str_list,
    [FIELD_STR_MAP]      = check_str_map,
    [FIELD_QUANTITY_MAP] = check_quantity_map,
    [FIELD_STR_LIST_MAP] = check_str_list_map,
    [FIELD_OBJECT]       = check_object,
    [FIELD_INLINE]       = check_object,
    [FIELD_LIST]         = check_list,
    [FIELD_MAP]          = check_map,
    [FIELD_ANY]          = check_any,
};
/* clang-format on */

/* ---- one level of an object ---- */

/* The name, cut at the next dot, of the row nearest to a mistyped member. */
static const char *nearest_member(const struct schema_level *level, const char *key, char out[64])
{
    struct nearest best = {0};

    for (const struct field *field = level->schema->fields; field && field->name; field++) {
        const char *name = schema_local_name(level, field);
        char local[64];
        size_t len = name ? strcspn(name, ".") : 0;

        if (!len || len >= sizeof local)
            continue;
        memcpy(local, name, len);
        local[len] = '\0';
        nearest_offer(&best, key, local);
        if (best.word == local) {
            memcpy(out, local, len + 1);
            best.word = out;
        }
    }
    return best.word;
}

static void report_unknown(const struct schema_level *level, const struct place *place,
                           struct error_list *to)
{
    scoped_str path = place_text(place);
    char near[64];
    const char *best = nearest_member(level, place->name, near);

    if (best)
        error_list_add(to, ERR_BAD_REQUEST, path, "unknown field \"%s\", did you mean \"%s\"?",
                       path, best);
    else
        error_list_add(to, ERR_BAD_REQUEST, path, "unknown field \"%s\"", path);
}

static bool is_kept_unknown(const struct schema_level *level, const char *key)
{
    return level->schema->preserve_unknown ||
           (level->partial && (!strcmp(key, "$patch") || !strcmp(key, "$retainKeys")));
}

static void set_defaults(struct check *c, const struct schema_level *level, json_t *object)
{
    if (!c->options->defaults || level->partial)
        return;
    for (const struct field *field = level->schema->fields; field && field->name; field++) {
        const char *name = field->default_json ? schema_local_name(level, field) : NULL;
        const json_t *present;

        if (!name || strchr(name, '.'))
            continue;
        present = json_object_get(object, name);
        if (!present || (c->options->drop_null && json_is_null(present)))
            json_object_set_new_nocheck(object, name,
                                        json_loads(field->default_json, JSON_DECODE_ANY, NULL));
    }
}

static void check_required(struct check *c, const struct schema_level *level, const json_t *object,
                           const struct place *place)
{
    if (level->partial)
        return;
    for (const struct field *field = level->schema->fields; field && field->name; field++) {
        const char *name = field->required ? schema_local_name(level, field) : NULL;
        const json_t *value;

        if (!name || strchr(name, '.'))
            continue;
        value = json_object_get(object, name);
        if (!value || json_is_null(value)) {
            struct place here = {.up = place, .name = name};

            place_report(&here, c->errors, "Required value");
        }
    }
}

/* A patch may say $(params.n) where a number or a name of some format belongs: what it stands for
 * is checked when it is known. */
static bool stands_for_another(const struct field *field, const json_t *value)
{
    const char *text = json_string_value(value);

    if (!text || !field || !strstr(text, "$("))
        return false;
    return field->type == FIELD_STR ? flow_ref_in(text) : flow_ref_is_all(text);
}

static void check_level(struct check *c, const struct schema_level *level, json_t *object,
                        const struct place *place)
{
    const char *key;
    json_t *value;
    void *next;

    set_defaults(c, level, object);
    json_object_foreach_safe(object, next, key, value)
    {
        struct place here = {.up = place, .name = key};
        struct schema_member member = schema_member(level, key, strlen(key));

        if (!member.field && !member.nested) {
            if (is_kept_unknown(level, key))
                continue;
            if (c->options->unknown == UNKNOWN_ERROR) {
                report_unknown(level, &here, c->errors);
                continue;
            }
            if (c->options->pruned)
                report_unknown(level, &here, c->options->pruned);
            json_object_del(object, key);
        } else if (json_is_null(value)) {
            if (c->options->drop_null && !(member.field && member.field->type == FIELD_ANY))
                json_object_del(object, key);
        } else if (level->partial && stands_for_another(member.field, value)) {
            continue;
        } else if (member.field) {
            checks[member.field->type](c, member.field, level->partial, value, &here);
        } else if (expect(c, &here, value, json_is_object(value), "object")) {
            check_level(c, &member.level, value, &here);
        }
    }
    check_required(c, level, object, place);
}

void schema_check(const struct schema *schema, json_t *doc, const char *path,
                  const struct schema_options *options, struct error_list *errors)
{
    struct check c = {options, errors};
    struct place root = {.name = path ? path : ""};
    struct schema_level level = schema_level(schema, false);

    if (expect(&c, &root, doc, json_is_object(doc), "object"))
        check_level(&c, &level, doc, &root);
}
