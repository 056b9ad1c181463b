/*
 * Compares two documents by meaning. A table picks one comparison function per field type.
 */
#include "api/types/semantic.h"

#include <stdio.h>
#include <string.h>

#include "api/types/text/quantity.h"
#include "base/timefmt.h"

typedef bool (*equal_fn)(const struct field *field, const json_t *a, const json_t *b);

static bool text_equal(const struct field *field, const json_t *a, const json_t *b)
{
    if (json_is_number(a) || json_is_number(b))
        return json_equal(a, b);

    const char *left = json_string_value(a), *right = json_string_value(b);

    return strcmp(left ? left : "", right ? right : "") == 0;
}

static bool number_equal(const struct field *field, const json_t *a, const json_t *b)
{
    return json_integer_value(a) == json_integer_value(b);
}

static bool optional_equal(const struct field *field, const json_t *a, const json_t *b)
{
    return a && b ? json_equal(a, b) : a == b;
}

static bool bool_equal(const struct field *field, const json_t *a, const json_t *b)
{
    return json_is_true(a) == json_is_true(b);
}

static bool quantity_value(const json_t *json, quantity_nano *out)
{
    char number[32];

    *out = 0;
    if (!json)
        return true;
    if (json_is_string(json))
        return quantity_parse(json_string_value(json), out, NULL);
    if (!json_is_integer(json))
        return false;
    snprintf(number, sizeof number, "%lld", (long long)json_integer_value(json));
    return quantity_parse(number, out, NULL);
}

static bool quantity_equal(const struct field *field, const json_t *a, const json_t *b)
{
    quantity_nano left, right;

    if (!quantity_value(a, &left) || !quantity_value(b, &right))
        return optional_equal(field, a, b);
    return quantity_compare(left, right) == 0;
}

static bool duration_equal(const struct field *field, const json_t *a, const json_t *b)
{
    int64_t left, right;

    if (!json_is_string(a) || !json_is_string(b))
        return optional_equal(field, a, b);
    if (!duration_parse(json_string_value(a), &left, NULL) ||
        !duration_parse(json_string_value(b), &right, NULL))
        return json_equal(a, b);
    return left == right;
}

static bool time_equal(const struct field *field, const json_t *a, const json_t *b)
{
    int64_t left, right;

    if (!json_is_string(a) || !json_is_string(b))
        return optional_equal(field, a, b);
    if (!time_parse(json_string_value(a), &left, NULL) ||
        !time_parse(json_string_value(b), &right, NULL))
        return json_equal(a, b);
    return left == right;
}

static bool object_equal(const struct field *field, const json_t *a, const json_t *b)
{
    return field->of ? schema_equal(field->of, a, b) : optional_equal(field, a, b);
}

/* clang-format off */
static const equal_fn equals[FIELD_TYPE_N] = {
    [FIELD_STR]        = text_equal,
    [FIELD_ENUM]       = text_equal,
    [FIELD_I32]        = number_equal,
    [FIELD_OPT_I32]    = optional_equal,
    [FIELD_I64]        = number_equal,
    [FIELD_OPT_I64]    = optional_equal,
    [FIELD_BOOL]       = bool_equal,
    [FIELD_OPT_BOOL]   = optional_equal,
    [FIELD_QUANTITY]   = quantity_equal,
    [FIELD_DURATION]   = duration_equal,
    [FIELD_TIME]       = time_equal,
    [FIELD_INT_OR_STR] = text_equal,
    [FIELD_BASE64]     = text_equal,
    [FIELD_OBJECT]     = object_equal,
    [FIELD_INLINE]     = object_equal,
    [FIELD_ANY]        = optional_equal,
};
/* clang-format on */

static bool value_equal(const struct field *field, enum field_type type, const json_t *a,
                        const json_t *b)
{
    enum field_type entry = field_shapes[type].entry;
    const char *key;
    json_t *value;

    if (field_shapes[type].form == FORM_ONE)
        return equals[type](field, a, b);
    if (json_array_size(a) != json_array_size(b) || json_object_size(a) != json_object_size(b))
        return false;
    for (size_t i = 0; field_shapes[type].form == FORM_LIST && i < json_array_size(a); i++)
        if (!value_equal(field, entry, json_array_get(a, i), json_array_get(b, i)))
            return false;
    json_object_foreach(field_shapes[type].form == FORM_MAP ? (json_t *)(uintptr_t)a : NULL, key,
                        value)
    {
        const json_t *other = json_object_get(b, key);

        if (!other || !value_equal(field, entry, value, other))
            return false;
    }
    return true;
}

static const json_t *member(const json_t *doc, const char *name)
{
    const json_t *value = json_object_get(doc, name);

    return json_is_null(value) ? NULL : value;
}

bool schema_equal(const struct schema *schema, const json_t *a, const json_t *b)
{
    for (const struct field *field = schema->fields; field && field->name; field++)
        if (!value_equal(field, field->type, member(a, field->name), member(b, field->name)))
            return false;
    return true;
}
