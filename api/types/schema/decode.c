/*
 * Decodes documents into structs by field table. There is one function per field type; the table at
 * the end of the file picks it.
 *
 * The document should have passed schema_check, but is not trusted: a value of the wrong type is an
 * error here, too.
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

/* Decodes text, or a number as text. It ends at its first NUL byte, if it contains one. */
static bool decode_text(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    *(const char **)at = schema_scalar_text(d->arena, value);
    return true;
}

static bool decode_enum(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    for (unsigned i = 0; field->one_of[i]; i++)
        if (strcmp(field->one_of[i], json_string_value(value)) == 0)
            *(unsigned *)at = field->first_value + i;
    return true;
}

static bool decode_i32(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    json_int_t number = json_integer_value(value);

    *(int32_t *)at = (int32_t)number;
    return (number >= INT32_MIN && number <= INT32_MAX) ||
           error_set(d->err, ERR_INVALID, field->name, "%lld does not fit into an int32",
                     (long long)number);
}

static bool decode_opt_i32(struct decode *d, const struct field *field, const json_t *value,
                           void *at)
{
    struct opt_i32 *out = at;

    out->set = true;
    return decode_i32(d, field, value, &out->value);
}

static bool decode_i64(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    *(int64_t *)at = json_integer_value(value);
    return true;
}

static bool decode_opt_i64(struct decode *d, const struct field *field, const json_t *value,
                           void *at)
{
    *(struct opt_i64 *)at = (struct opt_i64){true, json_integer_value(value)};
    return true;
}

static bool decode_bool(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    *(bool *)at = json_is_true(value);
    return true;
}

static bool decode_opt_bool(struct decode *d, const struct field *field, const json_t *value,
                            void *at)
{
    *(int8_t *)at = json_is_true(value);
    return true;
}

static bool decode_duration(struct decode *d, const struct field *field, const json_t *value,
                            void *at)
{
    if (duration_parse(json_string_value(value), at, d->err))
        return true;
    error_prefix(d->err, "%s: ", field->name);
    return false;
}

static bool decode_time(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    if (time_parse(json_string_value(value), at, d->err))
        return true;
    error_prefix(d->err, "%s: ", field->name);
    return false;
}

static bool decode_object(struct decode *d, const struct field *field, const json_t *value,
                          void *at)
{
    void **out = at;

    *out = arena_alloc(d->arena, field->of->size);
    return decode_level(d, field->of, value, *out);
}

static bool decode_inline(struct decode *d, const struct field *field, const json_t *value,
                          void *at)
{
    return decode_level(d, field->of, value, at);
}

static bool decode_json(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    *(json_t **)at = (json_t *)value;
    return true;
}

static bool decode_list(struct decode *d, const struct field *field, const json_t *value, void *at);

/* Decodes an entry of a list or map. Only maps have entries that are null. */
static bool decode_entry(struct decode *d, const struct field *field, enum field_type type,
                         const json_t *value, void *at)
{
    if (type == FIELD_OBJECT)
        return field->of ? decode_level(d, field->of, value, at) : decode_json(d, field, value, at);
    if (type == FIELD_STR_LIST && json_is_null(value))
        return true;
    if (type == FIELD_STR_LIST)
        return json_is_array(value) ? decode_list(d, field, value, at)
                                    : wrong_type(d, field, "array");
    *(const char **)at = json_is_null(value) ? "" : schema_scalar_text(d->arena, value);
    return *(const char **)at || wrong_type(d, field, "string");
}

static size_t entry_size(const struct field *field, enum field_type type)
{
    if (type == FIELD_OBJECT)
        return field->of ? field->of->size : sizeof(json_t *);
    return type == FIELD_STR_LIST ? sizeof(struct str_list) : sizeof(const char *);
}

static bool decode_list(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    enum field_type type = field->type == FIELD_LIST ? FIELD_OBJECT : FIELD_STR;
    size_t size = entry_size(field, type);
    struct any_list *out = at;

    out->count = json_array_size(value);
    out->items = arena_array(d->arena, out->count, size);
    for (size_t i = 0; i < out->count; i++) {
        const json_t *entry = json_array_get(value, i);

        if (type == FIELD_STR && json_is_null(entry))
            return wrong_type(d, field, "array of strings");
        if (!decode_entry(d, field, type, entry, (char *)out->items + i * size))
            return false;
    }
    return true;
}

static bool decode_map(struct decode *d, const struct field *field, const json_t *value, void *at)
{
    enum field_type type = field_shapes[field->type].entry;
    size_t pair_size = schema_pair_size(entry_size(field, type));
    struct any_list *out = at;
    const char *key;
    json_t *member;

    out->items = arena_array(d->arena, json_object_size(value), pair_size);
    json_object_foreach((json_t *)value, key, member)
    {
        char *pair = (char *)out->items + out->count++ * pair_size;

        *(const char **)(void *)pair = arena_strdup(d->arena, key);
        if (!decode_entry(d, field, type, member, pair + SCHEMA_PAIR_VALUE))
            return false;
    }
    return true;
}

typedef bool (*decode_fn)(struct decode *d, const struct field *field, const json_t *value,
                          void *at);

#define OF(type) (1U << JSON_##type)
/* clang-format off */
static const struct {
    decode_fn decode;
    unsigned types;       /* the JSON types that it takes; 0: it checks the value itself */
    const char *expected; /* names of the expected types */
    uint8_t absent;       /* number of bytes that are -1 when the member is absent */
} decoders[FIELD_TYPE_N] = {
    [FIELD_STR]          = {decode_text,     OF(STRING), "string"},
    [FIELD_ENUM]         = {decode_enum,     OF(STRING), "string"},
    [FIELD_I32]          = {decode_i32,      OF(INTEGER), "integer"},
    [FIELD_OPT_I32]      = {decode_opt_i32,  OF(INTEGER), "integer"},
    [FIELD_I64]          = {decode_i64,      OF(INTEGER), "integer"},
    [FIELD_OPT_I64]      = {decode_opt_i64,  OF(INTEGER), "integer"},
    [FIELD_BOOL]         = {decode_bool,     OF(TRUE) | OF(FALSE), "boolean"},
    [FIELD_OPT_BOOL]     = {decode_opt_bool, OF(TRUE) | OF(FALSE), "boolean", sizeof(int8_t)},
    [FIELD_QUANTITY]     = {decode_text,     OF(STRING) | OF(INTEGER) | OF(REAL), "string or number"},
    [FIELD_DURATION]     = {decode_duration, OF(STRING), "string", sizeof(int64_t)},
    [FIELD_TIME]         = {decode_time,     OF(STRING), "string"},
    [FIELD_INT_OR_STR]   = {decode_text,     OF(STRING) | OF(INTEGER) | OF(REAL), "string or number"},
    [FIELD_BASE64]       = {decode_text,     OF(STRING), "string"},
    [FIELD_STR_LIST]     = {decode_list,     OF(ARRAY), "array"},
    [FIELD_STR_MAP]      = {decode_map,      OF(OBJECT), "object"},
    [FIELD_QUANTITY_MAP] = {decode_map,      OF(OBJECT), "object"},
    [FIELD_STR_LIST_MAP] = {decode_map,      OF(OBJECT), "object"},
    [FIELD_OBJECT]       = {decode_object},
    [FIELD_INLINE]       = {decode_inline},
    [FIELD_LIST]         = {decode_list,     OF(ARRAY), "array"},
    [FIELD_MAP]          = {decode_map,      OF(OBJECT), "object"},
    [FIELD_ANY]          = {decode_json},
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

/* Returns whether the field is a required string. Callers do not expect NULL for it, but an object
 * that did not pass admission may lack it (P-11), so it then decodes as "". */
static bool is_required_text(const struct field *field)
{
    return field->required && field->type == FIELD_STR && !field->as_json &&
           !strchr(field->name, '.');
}

/* Decodes a member, or writes the form of an absent one. */
static bool decode_member(struct decode *d, const struct field *field, const json_t *value,
                          void *at)
{
    if (field->as_json)
        return decode_json(d, field, value, at);
    if (!value && field->type != FIELD_INLINE) {
        memset(at, 0xff, decoders[field->type].absent);
        return true;
    }
    if (decoders[field->type].types && !(decoders[field->type].types >> json_typeof(value) & 1))
        return wrong_type(d, field, decoders[field->type].expected);
    return decoders[field->type].decode(d, field, value, at);
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
        void *at = (char *)out + field->offset;

        if (!value && doc && is_required_text(field))
            *(const char **)at = "";
        else if (!decode_member(d, field, value, at))
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
