/*
 * The status is compared to its first level: a definition that has a member of the status has what
 * is below it. The members of the spec belong to users; a server that drops one says so in a
 * warning.
 */
#include "cli/controller/schema_gap.h"

#include <string.h>

#include "api/types/kinds/crd_document.h"
#include "api/types/text/json_text.h"
#include "base/scoped.h"

/* Returns the schema of the version that this program uses; borrowed, NULL if there is none. */
static const json_t *schema_of(const struct kind *kind, const json_t *definition)
{
    const json_t *versions = json_object_get(json_object_get(definition, "spec"), "versions");
    const json_t *version;
    size_t i;

    json_array_foreach(versions, i, version)
    {
        const char *name = json_string_value(json_object_get(version, "name"));

        if (name && strcmp(name, kind->version) == 0)
            return json_object_get(json_object_get(version, "schema"), "openAPIV3Schema");
    }
    return NULL;
}

static const json_t *status_of(const json_t *schema)
{
    return json_object_get(json_object_get(schema, "properties"), "status");
}

static bool keeps_all(const json_t *schema)
{
    return json_is_true(json_object_get(schema, "x-kubernetes-preserve-unknown-fields"));
}

size_t schema_gap(const struct kind *kind, const json_t *definition, size_t most, struct buf *out)
{
    scoped(json) json_t *ours = crd_document(kind, CRD_SERVED);
    const json_t *theirs = schema_of(kind, definition), *there = status_of(theirs);
    json_t *wanted = json_object_get(status_of(schema_of(kind, ours)), "properties");
    const json_t *has = json_object_get(there, "properties");
    const char *name;
    json_t *member;
    size_t count = 0;

    if (keeps_all(theirs) || keeps_all(there))
        return 0;
    json_object_foreach(wanted, name, member)
    {
        if (json_object_get(has, name))
            continue;
        if (count++ < most)
            buf_printf(out, "%sstatus.%s", count > 1 ? ", " : "", name);
    }
    if (count > most)
        buf_printf(out, " and %zu more", count - most);
    return count;
}
