/*
 * Field tables as OpenAPI v3 schema objects, everything in place (structural schemas have no
 * references).
 *
 * The row of a type gives the skeleton, the field adds its bounds. Rows with dotted names become
 * nested objects.
 */
#include "api/types/schema.h"

#include <string.h>

#include "api/types/schema_rows.h"

/* A table may come back to itself; documents may not be deeper than this anyway. */
enum { DEPTH_MAX = 40 };

static json_t *level_schema(const struct schema_level *level, const char *doc, unsigned depth);

/* What a value of the type is, as JSON text; NULL: built from the field's own schema. */
/* clang-format off */
static const char any_object[] = "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}";
static const char int_or_string[] =
    "{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"format\":\"int-or-string\",\"x-kubernetes-int-or-string\":true}";
static const struct type_row {
    const char *value;
    enum { ONE, LIST, MAP } shape;
} types[] = {
    [FIELD_STR]          = {"{\"type\":\"string\"}", ONE},
    [FIELD_I32]          = {"{\"type\":\"integer\",\"format\":\"int32\"}", ONE},
    [FIELD_OPT_I32]      = {"{\"type\":\"integer\",\"format\":\"int32\"}", ONE},
    [FIELD_I64]          = {"{\"type\":\"integer\",\"format\":\"int64\"}", ONE},
    [FIELD_OPT_I64]      = {"{\"type\":\"integer\",\"format\":\"int64\"}", ONE},
    [FIELD_BOOL]         = {"{\"type\":\"boolean\"}", ONE},
    [FIELD_OPT_BOOL]     = {"{\"type\":\"boolean\"}", ONE},
    [FIELD_QUANTITY]     = {int_or_string, ONE},
    [FIELD_DURATION]     = {"{\"type\":\"string\",\"format\":\"duration\"}", ONE},
    [FIELD_TIME]         = {"{\"type\":\"string\",\"format\":\"date-time\"}", ONE},
    [FIELD_INT_OR_STR]   = {int_or_string, ONE},
    [FIELD_BASE64]       = {"{\"type\":\"string\",\"format\":\"byte\"}", ONE},
    [FIELD_STR_LIST]     = {"{\"type\":\"string\"}", LIST},
    [FIELD_STR_MAP]      = {"{\"type\":\"string\"}", MAP},
    [FIELD_QUANTITY_MAP] = {int_or_string, MAP},
    [FIELD_STR_LIST_MAP] = {"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", MAP},
    [FIELD_OBJECT]       = {NULL, ONE},
    [FIELD_INLINE]       = {NULL, ONE},
    [FIELD_LIST]         = {NULL, LIST},
    [FIELD_MAP]          = {NULL, MAP},
    [FIELD_ANY]          = {"{\"x-kubernetes-preserve-unknown-fields\":true}", ONE},
};
/* clang-format on */

static json_t *parsed(const char *text)
{
    return json_loads(text, JSON_DECODE_ANY, NULL);
}

/* One value of the field: of a list or map, one entry. */
static json_t *value_schema(const struct field *field, bool partial, unsigned depth)
{
    struct schema_level level;

    if (types[field->type].value)
        return parsed(types[field->type].value);
    if (!field->of || depth == DEPTH_MAX)
        return parsed(any_object);
    level = schema_level(field->of, partial);
    return level_schema(&level, field->of->doc, depth + 1);
}

static void set_bound(json_t *schema, const char *key, uint32_t bound)
{
    if (bound)
        json_object_set_new(schema, key, json_integer(bound));
}

static void add_enum(json_t *value, const struct field *field)
{
    json_t *list = json_array();

    for (const char *const *one = field->one_of; *one; one++)
        json_array_append_new(list, json_string(*one));
    json_object_set_new(value, "enum", list);
}

/* Lists by key and sets, in the words of both patch strategies. */
static void add_merge_key(json_t *schema, const struct field *field)
{
    bool keyed = *field->merge_key;

    json_object_set_new(schema, "x-kubernetes-patch-strategy", json_string("merge"));
    json_object_set_new(schema, "x-kubernetes-list-type", json_string(keyed ? "map" : "set"));
    if (!keyed)
        return;
    json_object_set_new(schema, "x-kubernetes-patch-merge-key", json_string(field->merge_key));
    json_object_set_new(schema, "x-kubernetes-list-map-keys", json_pack("[s]", field->merge_key));
}

static json_t *shaped(const struct field *field, bool partial, json_t *value)
{
    static const struct {
        const char *type, *inner, *least, *most;
    } shapes[] = {
        [LIST] = {"array", "items", "minItems", "maxItems"},
        [MAP] = {"object", "additionalProperties", "minProperties", "maxProperties"},
    };
    unsigned shape = types[field->type].shape;
    json_t *schema;

    if (shape == ONE) {
        set_bound(value, "minLength", field->min_length);
        set_bound(value, "maxLength", field->max_length);
        return value;
    }
    schema = json_pack("{s:s, s:o}", "type", shapes[shape].type, shapes[shape].inner, value);
    set_bound(schema, shapes[shape].least, partial ? 0 : field->min_length);
    set_bound(schema, shapes[shape].most, field->max_length);
    if (field->merge_key)
        add_merge_key(schema, field);
    return schema;
}

static json_t *field_schema(const struct field *field, bool partial, unsigned depth)
{
    json_t *value = value_schema(field, partial, depth), *schema;

    if (field->one_of)
        add_enum(value, field);
    if (field->bounded && field->min > INT64_MIN)
        json_object_set_new(value, "minimum", json_integer(field->min));
    if (field->bounded && field->max < INT64_MAX)
        json_object_set_new(value, "maximum", json_integer(field->max));
    schema = shaped(field, partial, value);
    if (field->doc)
        json_object_set_new(schema, "description", json_string(field->doc));
    if (field->default_json && !partial)
        json_object_set_new(schema, "default", parsed(field->default_json));
    return schema;
}

/* The property a row stands for in this level, unless an earlier row made it. */
static void add_property(const struct schema_level *level, const struct field *field,
                         json_t *properties, json_t *required, unsigned depth)
{
    const char *name = schema_local_name(level, field);
    size_t len = name ? strcspn(name, ".") : 0;
    struct schema_member member;
    json_t *property;

    if (!len || json_object_getn(properties, name, len))
        return;
    member = schema_member(level, name, len);
    property = member.nested ? level_schema(&member.level, NULL, depth + 1)
                             : field_schema(field, level->partial, depth);
    json_object_setn_new(properties, name, len, property);
    if (!member.nested && field->required && !level->partial)
        json_array_append_new(required, json_string(name));
}

static json_t *level_schema(const struct schema_level *level, const char *doc, unsigned depth)
{
    json_t *properties = json_object(), *required = json_array();
    json_t *schema = json_pack("{s:s}", "type", "object");

    if (doc)
        json_object_set_new(schema, "description", json_string(doc));
    for (const struct field *field = level->schema->fields; field && field->name; field++)
        add_property(level, field, properties, required, depth);
    if (json_object_size(properties))
        json_object_set(schema, "properties", properties);
    if (json_array_size(required))
        json_object_set(schema, "required", required);
    if (level->schema->preserve_unknown)
        json_object_set_new(schema, "x-kubernetes-preserve-unknown-fields", json_true());
    json_decref(properties);
    json_decref(required);
    return schema;
}

json_t *schema_openapi(const struct schema *schema)
{
    struct schema_level level = schema_level(schema, false);

    return level_schema(&level, schema->doc, 0);
}
