/*
 * Builds the definitions. The structural schema that apiextensions.k8s.io/v1 requires is the
 * OpenAPI schema of the kind's table, inlined and without the keywords that such a schema may not
 * use.
 */
#include "api/types/kinds/crd_document.h"

#include <string.h>

#include "api/types/object.h"
#include "api/types/schema/schema.h"

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

static json_t *open_object(void)
{
    return json_pack("{s:s, s:b}", "type", "object", "x-kubernetes-preserve-unknown-fields", 1);
}

/* Keywords that a definition for a cluster does not have: prose, and bounds that could make an
 * object unwritable that Volcano's definition has let in (DCL-11). Controllers check them. */
static const char *const left_out[] = {
    "description", "enum",    "format",   "maxItems", "maxLength", "maximum", "minItems",
    "minLength",   "minimum", "nullable", "pattern",  "required",  "default",
};

static void open_up(json_t *schema);

static void open_members(json_t *members)
{
    /* Fragments of Jobs: they hold references where numbers are expected, and directives. */
    static const char *const fragments[] = {"patch", "jobTemplate"};
    const char *name;
    json_t *member;
    void *next;

    json_object_foreach_safe(members, next, name, member)
    {
        bool is_fragment = strcmp(name, fragments[0]) == 0 || strcmp(name, fragments[1]) == 0;

        if (is_fragment)
            json_object_set_new(members, name, open_object());
        else
            open_up(member);
    }
}

/* A list type with keys makes a list of what was one value for other field managers. */
static void make_list_atomic(json_t *schema)
{
    json_object_del(schema, "x-kubernetes-list-type");
    json_object_del(schema, "x-kubernetes-list-map-keys");
}

static void open_up(json_t *schema)
{
    json_t *properties = json_object_get(schema, "properties");
    json_t *items = json_object_get(schema, "items");
    json_t *values = json_object_get(schema, "additionalProperties");

    for (size_t i = 0; i < countof(left_out); i++)
        json_object_del(schema, left_out[i]);
    make_list_atomic(schema);
    if (properties) {
        open_members(properties);
        json_object_set_new(schema, "x-kubernetes-preserve-unknown-fields", json_true());
    }
    if (items)
        open_up(items);
    if (json_is_object(values))
        open_up(values);
}

/* Returns the schema for another cluster. The status is written by controllers alone and is one
 * value for field ownership: with keyed lists each step would add to every object's managedFields. */
static json_t *cluster_schema_of(const struct kind *kind)
{
    json_t *schema = schema_of(kind), *properties = json_object_get(schema, "properties");
    json_t *status = open_object();

    json_object_del(properties, "status");
    open_up(schema);
    json_object_del(schema, "x-kubernetes-preserve-unknown-fields"); /* only below the members */
    json_object_set_new(status, "x-kubernetes-map-type", json_string("atomic"));
    json_object_set_new(properties, "status", status);
    return schema;
}

static json_t *version_of(const struct kind *kind, enum crd_form form)
{
    json_t *schema = form == CRD_CLUSTER ? cluster_schema_of(kind) : schema_of(kind);
    json_t *version = json_pack("{s:s, s:b, s:b, s:{s:o}}", "name", kind->version, "served", 1,
                                "storage", 1, "schema", "openAPIV3Schema", schema);

    if (kind->has_status)
        json_object_set_new(version, "subresources", json_pack("{s:{}}", "status"));
    add_columns(kind, version);
    return version;
}

json_t *crd_document(const struct kind *kind, enum crd_form form)
{
    json_t *doc =
        json_pack("{s:s, s:s, s:{s:o}, s:{s:s, s:o, s:s, s:{s:s}, s:[o]}}", "apiVersion",
                  kind_api_version(&kind_crd), "kind", kind_crd.name, "metadata", "name",
                  json_sprintf("%s.%s", kind->plural, kind->group), "spec", "group", kind->group,
                  "names", names_of(kind), "scope", kind->namespaced ? "Namespaced" : "Cluster",
                  "conversion", "strategy", "None", "versions", version_of(kind, form));

    if (form == CRD_CLUSTER)
        json_object_update_new(json_object_get(doc, "metadata"),
                               json_pack("{s:{s:s}, s:{s:o, s:s}}", "labels",
                                         "app.kubernetes.io/part-of", "jobflow", "annotations",
                                         CRD_ANNOTATION_REVISION, json_sprintf("%d", CRD_REVISION),
                                         "helm.sh/resource-policy", "keep"));
    return doc;
}
