/*
 * Decodes documents into structs by field table. There is one function per field type; the table at
 * the end of the file picks it.
 *
 * Each function is also called without a value and then writes the absent form. The document should
 * have passed schema_check, but is not trusted: a value of the wrong type is an error here, too.
 */
#include <string.h>

#include "api/types/schema/rows.h"
#include "api/types/schema/schema.h"
#include "base/timefmt.h"

struct decode {
    struct arena *arena;
    struct error *err;
};

static bool decode_level(struct decode *d, const struct schema *schema, const json_t *doc,
                         void *out);

static bool wrong_type(struct decode *d, const struct field *field, const char *expected)
{
    return error_set(d->err, ERR_INVALID, field->name, "must be of type %s", expected);
}

/* Decodes a string. It ends at its first NUL byte, if it contains one. */
static bool decode_str(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    const char **out = at;

    if (value && !json_is_string(value))
        return wrong_type(d, field, "string");
    if (value)
        *out = schema_scalar_text(d->arena, value);
    return true;
}

static bool decode_enum(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    unsigned *out = at;

    if (value && !json_is_string(value))
        return wrong_type(d, field, "string");
    for (unsigned i = 0; value && field->one_of[i]; i++)
        if (strcmp(field->one_of[i], json_string_value(value)) == 0)
            *out = field->first_value + i;
    return true;
}

static bool decode_scalar(struct decode *d, const struct field *field, const json_t *value,
                          void *at)
{
    const char **out = at;

    if (value && !(*out = schema_scalar_text(d->arena, value)))
        return wrong_type(d, field, "string or number");
    return true;
}

static bool integer_in(struct decode *d, const struct field *field, const json_t *value,
                       int64_t min, int64_t max)
{
    if (!json_is_integer(value))
        return wrong_type(d, field, "integer");
    if (json_integer_value(value) < min || json_integer_value(value) > max)
        return error_set(d->err, ERR_INVALID, field->name, "%lld does not fit into an int32",
                         (long long)json_integer_value(value));
    return true;
}

static bool decode_i32(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    if (!value)
        return true;
    if (!integer_in(d, field, value, INT32_MIN, INT32_MAX))
        return false;
    *(int32_t *)at = (int32_t)json_integer_value(value);
    return true;
}

static bool decode_opt_i32(struct decode *d, const struct field *field, const json_t *value,
                           void *at)
{
    struct opt_i32 *out = at;

    if (!value)
        return true;
    out->set = true;
    return decode_i32(d, field, value, &out->value);
}

static bool decode_i64(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    if (!value)
        return true;
    if (!integer_in(d, field, value, INT64_MIN, INT64_MAX))
        return false;
    *(int64_t *)at = json_integer_value(value);
    return true;
}

static bool decode_opt_i64(struct decode *d, const struct field *field, const json_t *value,
                           void *at)
{
    struct opt_i64 *out = at;

    if (!value)
        return true;
    out->set = true;
    return decode_i64(d, field, value, &out->value);
}

static bool decode_bool(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    if (value && !json_is_boolean(value))
        return wrong_type(d, field, "boolean");
    *(bool *)at = json_is_true(value);
    return true;
}

static bool decode_opt_bool(struct decode *d, const struct field *field, const json_t *value,
                            void *at)
{
    if (value && !json_is_boolean(value))
        return wrong_type(d, field, "boolean");
    *(int8_t *)at = !value ? -1 : json_is_true(value) ? 1 : 0;
    return true;
}

static bool decode_duration(struct decode *d, const struct field *field, const json_t *value,
                            void *at)
{
    int64_t *out = at;

    *out = -1;
    if (!value)
        return true;
    if (!json_is_string(value))
        return wrong_type(d, field, "string");
    if (duration_parse(json_string_value(value), out, d->err))
        return true;
    error_prefix(d->err, "%s: ", field->name);
    return false;
}

static bool decode_time(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    if (!value)
        return true;
    if (!json_is_string(value))
        return wrong_type(d, field, "string");
    if (time_parse(json_string_value(value), at, d->err))
        return true;
    error_prefix(d->err, "%s: ", field->name);
    return false;
}

static bool decode_str_list(struct decode *d, const struct field *field, const json_t *value,
                            void *at)
{
    struct str_list *out = at;

    if (!value)
        return true;
    if (!json_is_array(value))
        return wrong_type(d, field, "array");
    out->count = json_array_size(value);
    out->items = arena_array(d->arena, out->count, sizeof *out->items);
    for (size_t i = 0; i < out->count; i++)
        if (!(out->items[i] = schema_scalar_text(d->arena, json_array_get(value, i))))
            return wrong_type(d, field, "array of strings");
    return true;
}

static bool decode_str_map(struct decode *d, const struct field *field, const json_t *value,
                           void *at)
{
    struct str_map *out = at;
    const char *key;
    json_t *member;

    if (!value)
        return true;
    if (!json_is_object(value))
        return wrong_type(d, field, "object");
    out->items = arena_array(d->arena, json_object_size(value), sizeof *out->items);
    json_object_foreach((json_t *)value, key, member)
    {
        struct str_pair *pair = &out->items[out->count++];

        pair->key = arena_strdup(d->arena, key);
        pair->value = json_is_null(member) ? "" : schema_scalar_text(d->arena, member);
        if (!pair->value)
            return wrong_type(d, field, "object of strings");
    }
    return true;
}

static bool decode_str_list_map(struct decode *d, const struct field *field, const json_t *value,
                                void *at)
{
    struct {
        struct str_list_pair *items;
        size_t count;
    } *out = at;
    const char *key;
    json_t *member;

    if (!value)
        return true;
    if (!json_is_object(value))
        return wrong_type(d, field, "object");
    out->items = arena_array(d->arena, json_object_size(value), sizeof *out->items);
    json_object_foreach((json_t *)value, key, member)
    {
        struct str_list_pair *pair = &out->items[out->count++];

        pair->key = arena_strdup(d->arena, key);
        if (!decode_str_list(d, field, json_is_null(member) ? NULL : member, &pair->value))
            return false;
    }
    return true;
}

static bool decode_object(struct decode *d, const struct field *field, const json_t *value,
                          void *at)
{
    void **out = at;

    if (!value)
        return true;
    *out = arena_alloc(d->arena, field->of->size);
    return decode_level(d, field->of, value, *out);
}

static bool decode_inline(struct decode *d, const struct field *field, const json_t *value,
                          void *at)
{
    return decode_level(d, field->of, value, at);
}

static bool decode_list(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    struct any_list *out = at;

    if (!value)
        return true;
    if (!json_is_array(value))
        return wrong_type(d, field, "array");
    out->count = json_array_size(value);
    out->items = arena_array(d->arena, out->count, field->of->size);
    for (size_t i = 0; i < out->count; i++)
        if (!decode_level(d, field->of, json_array_get(value, i),
                          (char *)out->items + i * field->of->size))
            return false;
    return true;
}

static bool decode_map(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    struct any_list *out = at;
    const char *key;
    json_t *member;

    if (!value)
        return true;
    if (!json_is_object(value))
        return wrong_type(d, field, "object");

    size_t pair_size = schema_pair_size(field->of);

    out->items = arena_array(d->arena, json_object_size(value), pair_size);
    json_object_foreach((json_t *)value, key, member)
    {
        char *pair = (char *)out->items + out->count++ * pair_size;

        *(const char **)(void *)pair = arena_strdup(d->arena, key);
        if (!field->of)
            *(json_t **)(void *)(pair + SCHEMA_PAIR_VALUE) = member;
        else if (!decode_level(d, field->of, member, pair + SCHEMA_PAIR_VALUE))
            return false;
    }
    return true;
}

static bool decode_json(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    *(json_t **)at = (json_t *)value;
    return true;
}

typedef bool (*decode_fn)(struct decode *d, const struct field *field, const json_t *value,
                          void *at);

/* clang-format off */
static const decode_fn decoders[] = {
    [FIELD_STR]          = decode_str,
    [FIELD_ENUM]         = decode_enum,
    [FIELD_I32]          = decode_i32,
    [FIELD_OPT_I32]      = decode_opt_i32,
    [FIELD_I64]          = decode_i64,
    [FIELD_OPT_I64]      = decode_opt_i64,
    [FIELD_BOOL]         = decode_bool,
    [FIELD_OPT_BOOL]     = decode_opt_bool,
    [FIELD_QUANTITY]     = decode_scalar,
    [FIELD_DURATION]     = decode_duration,
    [FIELD_TIME]         = decode_time,
    [FIELD_INT_OR_STR]   = decode_scalar,
    [FIELD_BASE64]       = decode_str,
    [FIELD_STR_LIST]     = decode_str_list,
    [FIELD_STR_MAP]      = decode_str_map,
    [FIELD_QUANTITY_MAP] = decode_str_map,
    [FIELD_STR_LIST_MAP] = decode_str_list_map,
    [FIELD_OBJECT]       = decode_object,
    [FIELD_INLINE]       = decode_inline,
    [FIELD_LIST]         = decode_list,
    [FIELD_MAP]          = decode_map,
    [FIELD_ANY]          = decode_json,
};
/* clang-format on */

/* Returns the member at a dotted name; NULL when it or a parent is absent or null. */
static const json_t *member_at(const json_t *doc, const char *name)
{
    while (doc) {
        size_t len = strcspn(name, ".");

        doc = json_object_getn(doc, name, len);
        if (!name[len])
            break;
        name += len + 1;
    }
    return json_is_null(doc) ? NULL : doc;
}

/* Whether the field is a required string. Callers do not expect NULL for it, but an object that did
 * not pass admission may lack it (P-11), so it then decodes as "". */
static bool is_required_text(const struct field *field)
{
    return field->required && field->type == FIELD_STR && !field->as_json &&
           !strchr(field->name, '.');
}

/* Decodes one level of the document; with `doc` NULL every member is absent. */
static bool decode_level(struct decode *d, const struct schema *schema, const json_t *doc,
                         void *out)
{
    memset(out, 0, schema->size);
    if (doc && !json_is_object(doc))
        return error_set(d->err, ERR_INVALID, "", "%s must be an object",
                         schema->name ? schema->name : "the value");
    for (const struct field *field = schema->fields; field && field->name; field++) {
        if (field->offset == FIELD_PASS)
            continue;

        const json_t *value = doc ? member_at(doc, field->name) : NULL;
        decode_fn decode = field->as_json ? decode_json : decoders[field->type];

        if (!value && doc && is_required_text(field))
            *(const char **)(void *)((char *)out + field->offset) = "";
        else if (!decode(d, field, value, (char *)out + field->offset))
            return false;
    }
    return true;
}

bool schema_decode(const struct schema *schema, const json_t *doc, struct arena *arena, void *out,
                   struct error *err)
{
    struct decode d = {arena, err};

    return decode_level(&d, schema, doc, out);
}
