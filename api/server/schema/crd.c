/*
 * Builds the definitions. The structural schema that apiextensions.k8s.io/v1 requires is the
 * OpenAPI schema of the kind's table, inlined and without the keywords that such a schema may not
 * use.
 */
#include "api/server/schema/crd.h"

#include <assert.h>
#include <string.h>

#include "api/types/schema/schema.h"
#include "api/types/text/json_text.h"
#include "base/hash.h"
#include "base/timefmt.h"

static void make_structural(json_t *schema);

static void make_members_structural(json_t *members)
{
    const char *name;
    json_t *member;

    json_object_foreach(members, name, member)
    {
        make_structural(member);
    }
}

/* Returns whether every entry of the list must have the merge key. Only then may the schema name
 * it. */
static bool has_key(const json_t *schema)
{
    const char *key =
        json_string_value(json_array_get(json_object_get(schema, "x-kubernetes-list-map-keys"), 0));
    const json_t *items = json_object_get(schema, "items"), *required, *name;
    size_t i;

    required = json_object_get(items, "required");
    json_array_foreach(required, i, name)
    {
        if (key && strcmp(json_string_value(name), key) == 0)
            return true;
    }
    return key == NULL;
}

static void make_structural(json_t *schema)
{
    if (json_is_true(json_object_get(schema, "x-kubernetes-int-or-string"))) {
        json_object_del(schema, "oneOf");
        json_object_del(schema, "format");
    }
    json_object_del(schema, "x-kubernetes-patch-strategy");
    json_object_del(schema, "x-kubernetes-patch-merge-key");
    if (!has_key(schema)) {
        json_object_del(schema, "x-kubernetes-list-type");
        json_object_del(schema, "x-kubernetes-list-map-keys");
    }
    make_members_structural(json_object_get(schema, "properties"));
    if (json_object_get(schema, "items"))
        make_structural(json_object_get(schema, "items"));
    if (json_is_object(json_object_get(schema, "additionalProperties")))
        make_structural(json_object_get(schema, "additionalProperties"));
}

static json_t *schema_of(const struct kind *kind)
{
    json_t *schema = schema_openapi(kind->schema), *properties, *own;

    make_structural(schema);
    properties = json_pack("{s:{s:s}, s:{s:s}, s:{s:s}}", "apiVersion", "type", "string", "kind",
                           "type", "string", "metadata", "type", "object");
    own = json_object_get(schema, "properties");
    json_object_update(properties, own);
    json_object_set_new(schema, "properties", properties);
    return schema;
}

static json_t *names_of(const struct kind *kind)
{
    json_t *names = json_pack("{s:s, s:o, s:s, s:s}", "kind", kind->name, "listKind",
                              json_sprintf("%sList", kind->name), "plural", kind->plural,
                              "singular", kind->singular);
    json_t *shorts = json_array();

    for (const char *const *name = kind->short_names; name && *name; name++)
        json_array_append_new(shorts, json_string(*name));
    if (json_array_size(shorts))
        json_object_set(names, "shortNames", shorts);
    json_decref(shorts);
    return names;
}

static void add_columns(const struct kind *kind, json_t *version)
{
    json_t *columns = json_array();

    for (const struct column *column = kind->columns; column && column->title; column++) {
        json_t *row = json_pack("{s:s, s:s, s:o}", "name", column->title, "type", column->type,
                                "jsonPath", json_sprintf(".%s", column->path));

        if (column->description)
            json_object_set_new(row, "description", json_string(column->description));
        if (column->priority)
            json_object_set_new(row, "priority", json_integer(column->priority));
        json_array_append_new(columns, row);
    }
    if (json_array_size(columns))
        json_object_set(version, "additionalPrinterColumns", columns);
    json_decref(columns);
}

static json_t *version_of(const struct kind *kind)
{
    json_t *version = json_pack("{s:s, s:b, s:b, s:{s:o}}", "name", kind->version, "served", 1,
                                "storage", 1, "schema", "openAPIV3Schema", schema_of(kind));

    if (kind->has_status)
        json_object_set_new(version, "subresources", json_pack("{s:{}}", "status"));
    add_columns(kind, version);
    return version;
}

json_t *crd_document(const struct kind *kind)
{
    return json_pack("{s:s, s:s, s:{s:o}, s:{s:s, s:o, s:s, s:{s:s}, s:[o]}}", "apiVersion",
                     kind_api_version(&kind_crd), "kind", kind_crd.name, "metadata", "name",
                     json_sprintf("%s.%s", kind->plural, kind->group), "spec", "group", kind->group,
                     "names", names_of(kind), "scope", kind->namespaced ? "Namespaced" : "Cluster",
                     "conversion", "strategy", "None", "versions", version_of(kind));
}

static json_t *condition(const char *type, const char *reason, const char *since)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", type, "status", "True",
                     "lastTransitionTime", since, "reason", reason, "message", "");
}

/* Adds what an API server adds to a CRD, as of the first start of the store. */
static void add_metadata_and_status(const struct kind *kind, int64_t since_ms, json_t *definition)
{
    json_t *metadata = json_object_get(definition, "metadata");
    const char *name = json_string_value(json_object_get(metadata, "name"));
    unsigned long long id = hash_stable(name, strlen(name));
    char since[TIME_TEXT_MAX];

    time_format(since_ms, since);
    json_object_set_new(metadata, "uid",
                        json_sprintf("%08llx-%04llx-4000-8000-%012llx", id >> 32, id >> 16 & 0xffff,
                                     id & 0xffffffffffff));
    json_object_set_new(metadata, "generation", json_integer(1));
    json_object_set_new(metadata, "creationTimestamp", json_string(since));
    json_object_set_new(definition, "status",
                        json_pack("{s:[o,o], s:o, s:[s]}", "conditions",
                                  condition("NamesAccepted", "NoConflicts", since),
                                  condition("Established", "InitialNamesAccepted", since),
                                  "acceptedNames", names_of(kind), "storedVersions",
                                  kind->version));
}

static void store_definition(struct store *store, const struct kind *kind, int64_t since_ms)
{
    scoped(json) json_t *definition = crd_document(kind);
    struct error_list errors = {0};
    struct object *object;

    add_metadata_and_status(kind, since_ms, definition);
    object = object_from_json(definition, &errors);
    assert(object && "a generated definition is valid");
    store_put(store, object);
    error_list_release(&errors);
}

struct store *crd_store(struct api *api)
{
    const struct object *first = store_get(api->store, &kind_namespace, "", "default");
    int64_t since_ms = first ? first->meta->created_at_ms : loop_wall_ms(api->loop);

    if (api->crds)
        return api->crds;
    api->crds = store_open(api->loop, &(const struct store_options){0}, NULL);
    for (int id = 0; id < KIND_N; id++)
        if (kind_is_custom(kind_by_id((enum kind_id)id)))
            store_definition(api->crds, kind_by_id((enum kind_id)id), since_ms);
    return api->crds;
}
