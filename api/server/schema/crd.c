/*
 * Fills the store of definitions with the documents of all kinds, and adds what an API server adds.
 */
#include "api/server/schema/crd.h"

#include <assert.h>
#include <string.h>

#include "api/types/kinds/crd_document.h"
#include "api/types/text/json_text.h"
#include "base/collections/hash.h"
#include "base/timefmt.h"

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
    json_object_set_new(
        definition, "status",
        json_pack("{s:[o,o], s:o, s:[s]}", "conditions",
                  condition("NamesAccepted", "NoConflicts", since),
                  condition("Established", "InitialNamesAccepted", since), "acceptedNames",
                  json_incref(json_object_get(json_object_get(definition, "spec"), "names")),
                  "storedVersions", kind->version));
}

static void store_definition(struct store *store, const struct kind *kind, int64_t since_ms)
{
    scoped(json) json_t *definition = crd_document(kind, CRD_SERVED);
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
