/*
 * Compares documents member by member, and lists as a whole.
 */
#include "api/cluster_remote/merge_difference.h"

#include <string.h>

/* Returns a copy of the document with only those members that an update writes. Owned. */
static json_t *written_part(const struct object *object)
{
    static const char *const members[] = {"labels", "annotations", "ownerReferences", "finalizers"};
    json_t *doc = object_body_json(object), *metadata = json_object();
    scoped(json) json_t *whole = object_to_json(object);
    const json_t *from = json_object_get(whole, "metadata");

    for (size_t i = 0; i < countof(members); i++) {
        json_t *value = json_object_get(from, members[i]);

        if (value)
            json_object_set(metadata, members[i], value);
    }
    json_object_set_new(doc, "metadata", metadata);
    return doc;
}

static json_t *compare(const json_t *from, const json_t *to)
{
    json_t *patch = json_object();
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)to, key, value)
    {
        json_t *old = json_object_get(from, key);

        if (json_is_object(old) && json_is_object(value)) {
            json_t *below = compare(old, value);

            if (below)
                json_object_set_new(patch, key, below);
        } else if (!old || !json_equal(old, value)) {
            json_object_set(patch, key, value);
        }
    }
    json_object_foreach((json_t *)from, key, value)
    {
        if (!json_object_get(to, key))
            json_object_set_new(patch, key, json_null());
    }
    if (json_object_size(patch))
        return patch;
    json_decref(patch);
    return NULL;
}

json_t *merge_difference(const struct object *base, const struct object *object)
{
    scoped(json) json_t *from = base ? written_part(base) : json_object();
    scoped(json) json_t *to = written_part(object);

    return compare(from, to);
}

static bool is_applied(const json_t *patch, const json_t *doc)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)patch, key, value)
    {
        const json_t *there = json_object_get(doc, key);

        if (json_is_null(value)     ? there != NULL
            : json_is_object(value) ? !json_is_object(there) || !is_applied(value, there)
                                    : !there || !json_equal(value, there))
            return false;
    }
    return true;
}

bool merge_difference_applied(const json_t *patch, const json_t *doc)
{
    scoped(json) json_t *compared = json_deep_copy(patch);
    json_t *metadata = json_object_get(compared, "metadata");

    json_object_del(metadata, "uid");
    json_object_del(metadata, "resourceVersion");
    if (json_object_size(metadata) == 0)
        json_object_del(compared, "metadata");
    return is_applied(compared, doc);
}
