/*
 * Converts field tables to OpenAPI v3 schemas. A schema either contains everything (structural
 * schemas of CRDs have no references) or is a set of definitions that refer to each other.
 *
 * The field type gives the basic schema, the row adds its bounds. Rows with dotted names become
 * nested objects.
 */
#include <string.h>

#include "api/types/schema/definitions.h"
#include "api/types/schema/rows.h"
#include "base/mem.h"

/* Recursive tables end at this depth; documents may not be deeper. */
enum { DEPTH_MAX = 40 };

/* The current depth, and where the definitions of named tables are collected. */
struct making {
    struct schema_definitions *definitions; /* definitions to refer to; NULL: no references */
    unsigned depth;
};

static json_t *level_schema(const struct making *m, const struct schema_level *level,
                            const char *doc);
static json_t *reference(struct schema_definitions *definitions, const struct schema *schema,
                         bool partial);

/* The basic schema of each field type, or of an entry of it, as JSON text; NULL: built from the
 * row's own table. */
/* clang-format off */
static const char any_object[] = "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}";
static const char int_or_string[] =
    "{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"format\":\"int-or-string\",\"x-kubernetes-int-or-string\":true}";
static const char *const types[FIELD_TYPE_N] = {
    [FIELD_STR]          = "{\"type\":\"string\"}",
    [FIELD_ENUM]         = "{\"type\":\"string\"}",
    [FIELD_I32]          = "{\"type\":\"integer\",\"format\":\"int32\"}",
    [FIELD_OPT_I32]      = "{\"type\":\"integer\",\"format\":\"int32\"}",
    [FIELD_I64]          = "{\"type\":\"integer\",\"format\":\"int64\"}",
    [FIELD_OPT_I64]      = "{\"type\":\"integer\",\"format\":\"int64\"}",
    [FIELD_BOOL]         = "{\"type\":\"boolean\"}",
    [FIELD_OPT_BOOL]     = "{\"type\":\"boolean\"}",
    [FIELD_QUANTITY]     = int_or_string,
    [FIELD_DURATION]     = "{\"type\":\"string\",\"format\":\"duration\"}",
    [FIELD_TIME]         = "{\"type\":\"string\",\"format\":\"date-time\"}",
    [FIELD_INT_OR_STR]   = int_or_string,
    [FIELD_BASE64]       = "{\"type\":\"string\",\"format\":\"byte\"}",
    [FIELD_STR_LIST]     = "{\"type\":\"string\"}",
    [FIELD_STR_MAP]      = "{\"type\":\"string\"}",
    [FIELD_QUANTITY_MAP] = int_or_string,
    [FIELD_STR_LIST_MAP] = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
    [FIELD_ANY]          = "{\"x-kubernetes-preserve-unknown-fields\":true}",
};
/* clang-format on */

static json_t *parsed(const char *text)
{
    return json_loads(text, JSON_DECODE_ANY, NULL);
}

/* Returns the schema of one value of the field; for a list or map, of one entry. */
static json_t *value_schema(const struct making *m, const struct field *field, bool partial)
{
    struct making below = {m->definitions, m->depth + 1};
    struct schema_level level;

    if (types[field->type])
        return parsed(types[field->type]);
    if (!field->of && field->type == FIELD_MAP) /* a map of values of any type */
        return parsed(types[FIELD_ANY]);
    if (!field->of || m->depth == DEPTH_MAX)
        return parsed(any_object);
    level = schema_level(field->of, partial);
    if (m->definitions)
        return reference(m->definitions, field->of, level.partial);
    return level_schema(&below, &level, field->of->doc);
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

/* Marks lists with keys and sets, for both strategic merge and server-side apply. */
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
        [FORM_LIST] = {"array", "items", "minItems", "maxItems"},
        [FORM_MAP] = {"object", "additionalProperties", "minProperties", "maxProperties"},
    };
    enum field_form form = field_shapes[field->type].form;
    json_t *schema;

    if (form == FORM_ONE) {
        set_bound(value, "minLength", field->min_length);
        set_bound(value, "maxLength", field->max_length);
        return value;
    }
    schema = json_pack("{s:s, s:o}", "type", shapes[form].type, shapes[form].inner, value);
    set_bound(schema, shapes[form].least, partial ? 0 : field->min_length);
    set_bound(schema, shapes[form].most, field->max_length);
    if (field->merge_key)
        add_merge_key(schema, field);
    return schema;
}

/* Wraps a reference in allOf if it is one, because no other member may stand beside "$ref". */
static json_t *wrap_reference(json_t *schema)
{
    return json_object_get(schema, "$ref") ? json_pack("{s:[o]}", "allOf", schema) : schema;
}

static json_t *field_schema(const struct making *m, const struct field *field, bool partial)
{
    json_t *value = value_schema(m, field, partial), *schema;

    if (field->one_of)
        add_enum(value, field);
    if (field->bounded && field->min > INT64_MIN)
        json_object_set_new(value, "minimum", json_integer(field->min));
    if (field->bounded && field->max < INT64_MAX)
        json_object_set_new(value, "maximum", json_integer(field->max));
    schema = shaped(field, partial, value);
    if (field->doc || (field->default_json && !partial))
        schema = wrap_reference(schema);
    if (field->doc)
        json_object_set_new(schema, "description", json_string(field->doc));
    if (field->default_json && !partial)
        json_object_set_new(schema, "default", parsed(field->default_json));
    return schema;
}

/* Adds the property of a row at this level, unless an earlier row has added it. */
static void add_property(const struct making *m, const struct schema_level *level,
                         const struct field *field, json_t *properties, json_t *required)
{
    struct making below = {m->definitions, m->depth + 1};
    const char *name = schema_local_name(level, field);
    size_t len = name ? strcspn(name, ".") : 0;
    struct schema_member member;
    json_t *property;

    if (!len || json_object_getn(properties, name, len))
        return;
    member = schema_member(level, name, len);
    property = member.nested ? level_schema(&below, &member.level, NULL)
                             : field_schema(m, field, level->partial);
    json_object_setn_new(properties, name, len, property);
    if (!member.nested && field->required && !level->partial)
        json_array_append_new(required, json_string(name));
}

static json_t *level_schema(const struct making *m, const struct schema_level *level,
                            const char *doc)
{
    json_t *properties = json_object(), *required = json_array();
    json_t *schema = json_pack("{s:s}", "type", "object");

    if (doc)
        json_object_set_new(schema, "description", json_string(doc));
    for (const struct field *field = level->schema->fields; field && field->name; field++)
        add_property(m, level, field, properties, required);
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

    return level_schema(&(struct making){0}, &level, schema->doc);
}

/* A table and its definition. Tables are told apart by address, because different ones may share a
 * name. */
struct definition {
    const struct schema *schema;
    bool partial;
    char *name;
};

struct schema_definitions {
    json_t *schemas; /* documents of the schemas by name */
    char *prefix;
    struct definition *items; /* the definitions, [count] */
    size_t count, cap;
};

struct schema_definitions *schema_definitions_new(void)
{
    struct schema_definitions *definitions = mem_alloc(sizeof *definitions);

    definitions->schemas = json_object();
    return definitions;
}

void schema_definitions_free(struct schema_definitions *definitions)
{
    if (!definitions)
        return;
    for (size_t i = 0; i < definitions->count; i++)
        mem_free(definitions->items[i].name);
    mem_free(definitions->items);
    mem_free(definitions->prefix);
    json_decref(definitions->schemas);
    mem_free(definitions);
}

void schema_definitions_prefix(struct schema_definitions *definitions, const char *prefix)
{
    mem_free(definitions->prefix);
    definitions->prefix = mem_strdup(prefix);
}

json_t *schema_definitions_all(const struct schema_definitions *definitions)
{
    return definitions->schemas;
}

static const char *known_name(const struct schema_definitions *definitions,
                              const struct schema *schema, bool partial)
{
    for (size_t i = 0; i < definitions->count; i++)
        if (definitions->items[i].schema == schema && definitions->items[i].partial == partial)
            return definitions->items[i].name;
    return NULL;
}

/* Returns a name that no definition has yet; owned. */
static char *free_name(const struct schema_definitions *definitions, const struct schema *schema,
                       bool partial)
{
    const char *prefix = definitions->prefix ? definitions->prefix : "";
    const char *suffix = partial ? "Patch" : "";
    char *name = mem_printf("%s%s%s", prefix, schema->name, suffix);

    for (int n = 2; json_object_get(definitions->schemas, name); n++) {
        mem_free(name);
        name = mem_printf("%s%s%s%d", prefix, schema->name, suffix, n);
    }
    return name;
}

static const char *define(struct schema_definitions *definitions, const struct schema *schema,
                          bool partial)
{
    const struct making m = {definitions, 0};
    const char *known = known_name(definitions, schema, partial);
    struct schema_level level = schema_level(schema, partial);
    char *name;

    if (known)
        return known;
    name = free_name(definitions, schema, partial);
    mem_grow(definitions->items, definitions->count, definitions->cap);
    definitions->items[definitions->count++] = (struct definition){schema, partial, name};
    /* Reserve the name, because the table may refer to itself. */
    json_object_set_new(definitions->schemas, name, json_null());
    json_object_set_new(definitions->schemas, name, level_schema(&m, &level, schema->doc));
    return name;
}

static json_t *reference(struct schema_definitions *definitions, const struct schema *schema,
                         bool partial)
{
    scoped_str path = mem_printf("#/components/schemas/%s", define(definitions, schema, partial));

    return json_pack("{s:s}", "$ref", path);
}

const char *schema_definitions_add(struct schema_definitions *definitions,
                                   const struct schema *schema)
{
    return define(definitions, schema, schema->partial);
}
