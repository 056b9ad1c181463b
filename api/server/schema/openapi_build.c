/*
 * Builds OpenAPI documents from the field tables.
 *
 * Clients depend on three things: the parameters fieldValidation and dryRun of a kind's patch
 * operation (kubectl then leaves validation to the server), its patch types (custom kinds must not
 * offer the strategic one), and the group, version and kind of a kind's definition.
 */
#include "api/server/schema/openapi_build.h"

#include <string.h>

#include "api/types/object.h"
#include "api/types/schema/definitions.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"
#include "base/version.h"

#define GVK "x-kubernetes-group-version-kind"

static json_t *gvk_of(const struct kind *kind)
{
    return json_pack("{s:s, s:s, s:s}", "group", kind->group, "version", kind->version, "kind",
                     kind->name);
}

/* Returns the prefix of a kind's definitions, such as "sh.volcano.flow.v1alpha1." or
 * "io.k8s.api.core.v1."; owned. */
static char *prefix_of(const struct kind *kind)
{
    scoped(buf) struct buf text = {0};
    const char *end = kind->group + strlen(kind->group);

    if (!kind_is_custom(kind))
        return mem_printf("io.k8s.api.%.*s.%s.", *kind->group ? (int)strcspn(kind->group, ".") : 4,
                          *kind->group ? kind->group : "core", kind->version);
    while (end > kind->group) {
        const char *start = end;

        while (start > kind->group && start[-1] != '.')
            start--;
        buf_printf(&text, "%.*s.", (int)(end - start), start);
        end = start > kind->group ? start - 1 : start;
    }
    return mem_printf("%s%s.", text.data, kind->version);
}

static json_t *described(const char *type, const char *description)
{
    return json_pack("{s:s, s:s}", "type", type, "description", description);
}

/* Adds the schema of a kind and the members that its table omits because every object has them. */
static void add_kind(struct schema_definitions *definitions, const struct kind *kind,
                     const char *metadata)
{
    scoped_str prefix = prefix_of(kind);
    scoped_str ref = mem_printf("#/components/schemas/%s", metadata);
    const char *name;
    json_t *schema, *properties, *own;

    schema_definitions_prefix(definitions, prefix);
    name = schema_definitions_add(definitions, kind->schema);
    schema = json_object_get(schema_definitions_all(definitions), name);
    own = json_incref(json_object_get(schema, "properties"));
    properties = json_object();
    json_object_set_new(properties, "apiVersion",
                        described("string", "Group and version of this representation."));
    json_object_set_new(properties, "kind", described("string", "What the object is."));
    json_object_set_new(properties, "metadata",
                        json_pack("{s:[{s:s}], s:s}", "allOf", "$ref", (const char *)ref,
                                  "description", "Metadata every object has."));
    json_object_update(properties, own);
    json_decref(own);
    json_object_set_new(schema, "properties", properties);
    json_object_set_new(schema, GVK, json_pack("[o]", gvk_of(kind)));
}

json_t *openapi_schemas(void)
{
    struct schema_definitions *definitions = schema_definitions_new();
    const char *metadata;
    json_t *schemas;

    schema_definitions_prefix(definitions, "io.k8s.apimachinery.pkg.apis.meta.v1.");
    metadata = schema_definitions_add(definitions, &metadata_schema);
    for (int custom = 0; custom <= 1;
         custom++) /* built-in kinds first: they name the types that both use */
        for (int id = 0; id < KIND_N; id++)
            if (kind_by_id((enum kind_id)id)->schema &&
                kind_is_custom(kind_by_id((enum kind_id)id)) == (bool)custom)
                add_kind(definitions, kind_by_id((enum kind_id)id), metadata);
    schemas = json_incref(schema_definitions_all(definitions));
    schema_definitions_free(definitions);
    return schemas;
}

enum { ON_ITEM = 1, ON_COLLECTION = 2, PATCHES = 4 };
static const struct operation {
    const char *method, *action;
    unsigned flags;
} operations[] = {
    /* clang-format off */
    {"get",    "get",    ON_ITEM},
    {"put",    "put",    ON_ITEM},
    {"patch",  "patch",  ON_ITEM | PATCHES},
    {"delete", "delete", ON_ITEM},
    {"get",    "list",   ON_COLLECTION},
    {"post",   "post",   ON_COLLECTION},
    /* clang-format on */
};

static const struct {
    const char *name, *type;
    bool apply_only;
} parameters[] = {
    {"dryRun", "string", false},
    {"fieldManager", "string", false},
    {"fieldValidation", "string", false},
    {"force", "boolean", true},
};

static const char *const patch_types[] = {
    "application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", /* listed only for built-in kinds */
};

static size_t n_patch_types(const struct kind *kind)
{
    return countof(patch_types) - kind_is_custom(kind);
}

static bool writes(const struct operation *operation)
{
    return strcmp(operation->method, "get") != 0 && strcmp(operation->method, "delete") != 0;
}

static json_t *head_of(const struct kind *kind, const struct operation *operation)
{
    scoped_str id = mem_printf("%s%s%s", operation->action, kind->name,
                               operation->flags & ON_COLLECTION ? "s" : "");
    json_t *head = json_pack("{s:s}", "operationId", (const char *)id);

    json_object_set_new(head, "responses", json_pack("{s:{s:s}}", "200", "description", "OK"));
    json_object_set_new(head, "x-kubernetes-action", json_string(operation->action));
    json_object_set_new(head, GVK, gvk_of(kind));
    return head;
}

static json_t *operation_v3(const struct kind *kind, const struct operation *operation)
{
    json_t *result = head_of(kind, operation), *list = json_array(), *content;

    if (!writes(operation)) {
        json_decref(list);
        return result;
    }
    for (size_t i = 0; i < countof(parameters); i++)
        if (!parameters[i].apply_only || operation->flags & PATCHES)
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:{s:s}}", "name", parameters[i].name, "in",
                                            "query", "schema", "type", parameters[i].type));
    json_object_set_new(result, "parameters", list);
    if (!(operation->flags & PATCHES))
        return result;
    content = json_object();
    for (size_t i = 0; i < n_patch_types(kind); i++)
        json_object_set_new(content, patch_types[i],
                            json_pack("{s:{s:s}}", "schema", "type", "object"));
    json_object_set_new(result, "requestBody", json_pack("{s:o}", "content", content));
    return result;
}

static json_t *operation_v2(const struct kind *kind, const struct operation *operation)
{
    json_t *result = head_of(kind, operation), *list;

    json_object_set_new(result, "produces", json_pack("[s]", "application/json"));
    if (!writes(operation))
        return result;
    list = json_array();
    for (size_t i = 0; i < countof(parameters); i++)
        if (!parameters[i].apply_only || operation->flags & PATCHES)
            json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", parameters[i].name,
                                                  "in", "query", "type", parameters[i].type));
    json_object_set_new(result, "parameters", list);
    list = json_array();
    if (operation->flags & PATCHES)
        for (size_t i = 0; i < n_patch_types(kind); i++)
            json_array_append_new(list, json_string(patch_types[i]));
    else
        json_array_append_new(list, json_string("application/json"));
    json_object_set_new(result, "consumes", list);
    return result;
}

static void add_path(json_t *paths, const struct kind *kind, unsigned on,
                     json_t *(*make)(const struct kind *kind, const struct operation *operation))
{
    scoped_str path = mem_printf("/%s%s/%s/%s%s%s", *kind->group ? "apis/" : "api", kind->group,
                                 kind->version, kind->namespaced ? "namespaces/{namespace}/" : "",
                                 kind->plural, on == ON_ITEM ? "/{name}" : "");
    json_t *methods = json_object();

    for (size_t i = 0; i < countof(operations); i++)
        if (operations[i].flags & on)
            json_object_set_new(methods, operations[i].method, make(kind, &operations[i]));
    json_object_set_new(paths, path, methods);
}

static json_t *info(void)
{
    return json_pack("{s:s, s:s}", "title", "jobflow", "version",
                     "v1.32.0+jobflow-" JOBFLOW_VERSION);
}

/* Copies the schemas to which `schema` refers, directly or not. A property may be named $ref, too;
 * only a $ref whose value is text is a reference. */
static void take_referred(const json_t *schema, json_t *all, json_t *taken)
{
    static const char prefix[] = "#/components/schemas/";
    const char *ref = json_string_value(json_object_get(schema, "$ref")), *key;
    json_t *value;
    size_t i;

    if (ref && strncmp(ref, prefix, sizeof prefix - 1) == 0) {
        const char *name = ref + sizeof prefix - 1;

        value = json_object_get(all, name);
        if (json_object_get(taken, name) || !value)
            return;
        json_object_set(taken, name, value);
        take_referred(value, all, taken);
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)schema, key, value)
    {
        take_referred(value, all, taken);
    }
    json_array_foreach(schema, i, value)
    {
        take_referred(value, all, taken);
    }
}

static bool is_of(const json_t *schema, const struct kind *kind)
{
    const json_t *gvk = json_array_get(json_object_get(schema, GVK), 0);
    const char *group = json_string_value(json_object_get(gvk, "group"));
    const char *name = json_string_value(json_object_get(gvk, "kind"));

    return group && name && strcmp(group, kind->group) == 0 && strcmp(name, kind->name) == 0;
}

static void take_kind(const struct kind *kind, json_t *all, json_t *taken)
{
    const char *name;
    json_t *schema;

    json_object_foreach(all, name, schema)
    {
        if (!is_of(schema, kind))
            continue;
        json_object_set(taken, name, schema);
        take_referred(schema, all, taken);
    }
}

json_t *openapi_v3(const struct api_group *group, json_t *schemas)
{
    json_t *paths = json_object(), *taken = json_object();

    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);

        if (strcmp(kind->group, group->name) != 0 || strcmp(kind->version, group->version) != 0)
            continue;
        add_path(paths, kind, ON_ITEM, operation_v3);
        add_path(paths, kind, ON_COLLECTION, operation_v3);
        take_kind(kind, schemas, taken);
    }
    return json_pack("{s:s, s:o, s:o, s:{s:o}}", "openapi", "3.0.0", "info", info(), "paths", paths,
                     "components", "schemas", taken);
}

/* Converts a v3 schema to v2, which has fewer keywords. Owned. */
static json_t *downgraded(const json_t *schema)
{
    static const char prefix[] = "#/components/schemas/";
    const char *ref = json_string_value(json_object_get(schema, "$ref")), *key;
    json_t *result = json_object(), *value, *members, *member;
    const char *name;

    if (ref) {
        scoped_str path = mem_printf("#/definitions/%s", ref + sizeof prefix - 1);

        json_object_set_new(result, "$ref", json_string(path));
    }
    json_object_foreach((json_t *)(uintptr_t)schema, key, value)
    {
        if (strcmp(key, "$ref") == 0)
            continue;
        if (strcmp(key, "allOf") == 0) {
            scoped(json) json_t *inner = downgraded(json_array_get(value, 0));

            json_object_update(result, inner);
        } else if (strcmp(key, "oneOf") == 0) {
            json_object_set_new(result, "type", json_string("string"));
        } else if (strcmp(key, "items") == 0 || strcmp(key, "additionalProperties") == 0) {
            json_object_set_new(result, key, downgraded(value));
        } else if (strcmp(key, "properties") == 0) {
            members = json_object();
            json_object_foreach(value, name, member)
            {
                json_object_set_new(members, name, downgraded(member));
            }
            json_object_set_new(result, key, members);
        } else {
            json_object_set(result, key, value);
        }
    }
    return result;
}

json_t *openapi_v2(json_t *schemas)
{
    json_t *paths = json_object(), *definitions = json_object(), *schema;
    const char *name;

    for (int id = 0; id < KIND_N; id++) {
        add_path(paths, kind_by_id((enum kind_id)id), ON_ITEM, operation_v2);
        add_path(paths, kind_by_id((enum kind_id)id), ON_COLLECTION, operation_v2);
    }
    json_object_foreach(schemas, name, schema)
    {
        json_object_set_new(definitions, name, downgraded(schema));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "swagger", "2.0", "info", info(), "paths", paths,
                     "definitions", definitions);
}
