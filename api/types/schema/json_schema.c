/*
 * Rewrites OpenAPI definitions as JSON Schema. The recursion follows the definitions, whose depth
 * the field tables bound.
 */
#include "api/types/schema/json_schema.h"

#include <string.h>

#include "base/mem.h"

static const char openapi_prefix[] = "#/components/schemas/";

static bool is_type(const json_t *schema, const char *type)
{
    const char *text = json_string_value(json_object_get(schema, "type"));

    return text && strcmp(text, type) == 0;
}

static void rewrite_reference(json_t *schema)
{
    const char *path = json_string_value(json_object_get(schema, "$ref"));

    if (path && strncmp(path, openapi_prefix, strlen(openapi_prefix)) == 0) {
        scoped_str here = mem_printf("#/definitions/%s", path + strlen(openapi_prefix));

        json_object_set_new(schema, "$ref", json_string(here));
    }
}

/* Quantities, ports and the like: a number, or a text. */
static void rewrite_alternatives(json_t *schema)
{
    if (!json_object_get(schema, "x-kubernetes-int-or-string"))
        return;
    json_object_del(schema, "oneOf");
    json_object_del(schema, "format");
    json_object_set_new(schema, "type", json_pack("[s, s]", "number", "string"));
}

/* Makes the schema refuse members that it does not list. The schema of a patch (`partial`) still
 * accepts directives of a strategic merge, such as `$patch`. */
static void close_object(json_t *schema, bool partial)
{
    if (!json_object_get(schema, "properties") ||
        json_object_get(schema, "x-kubernetes-preserve-unknown-fields"))
        return;
    json_object_set_new(schema, "additionalProperties", json_false());
    if (partial)
        json_object_set_new(schema, "patternProperties", json_pack("{s:{}}", "^\\$"));
}

/* Returns a schema that accepts a reference such as $(item), too, where `schema` (consumed) is no
 * text. */
static json_t *or_reference(json_t *schema)
{
    json_t *both;

    if (!is_type(schema, "integer") && !is_type(schema, "number") && !is_type(schema, "boolean") &&
        !json_object_get(schema, "enum"))
        return schema;
    both = json_pack("{s:[o, {s:s, s:s}]}", "anyOf", schema, "type", "string", "pattern", "\\$\\(");
    if (json_object_get(schema, "description"))
        json_object_set(both, "description", json_object_get(schema, "description"));
    return both;
}

static void drop_extensions(json_t *schema)
{
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe(schema, next, key, value)
    {
        if (strncmp(key, "x-kubernetes-", strlen("x-kubernetes-")) == 0)
            json_object_del(schema, key);
    }
}

static void rewrite(json_t *schema, bool partial);

/* Rewrites the schemas that are the values of an object. */
static void rewrite_members(json_t *members, bool partial)
{
    const char *key;
    json_t *member;

    json_object_foreach(members, key, member)
    {
        rewrite(member, partial);
        if (partial) {
            json_t *wider = or_reference(json_incref(member));

            json_object_set_new(members, key, wider);
        }
    }
}

static void rewrite(json_t *schema, bool partial)
{
    json_t *items = json_object_get(schema, "items"), *alternative;
    size_t i;

    if (!json_is_object(schema))
        return;
    rewrite_reference(schema);
    rewrite_alternatives(schema);
    close_object(schema, partial);
    drop_extensions(schema);
    rewrite_members(json_object_get(schema, "properties"), partial);
    rewrite(items, partial);
    rewrite(json_object_get(schema, "additionalProperties"), partial);
    json_array_foreach(json_object_get(schema, "allOf"), i, alternative)
        rewrite(alternative, partial);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

void json_schema_from_definitions(json_t *definitions)
{
    const char *name;
    json_t *definition;

    json_object_foreach(definitions, name, definition)
        rewrite(definition, ends_with(name, "Patch"));
}
