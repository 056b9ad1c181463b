/*
 * Strategic merge patch: a merge patch that merges lists entry by entry where the schema names a
 * merge key.
 *
 * The document is copied once and changed in place, along the levels of its schema. Below the end
 * of the schema, objects still merge and lists are replaced. Ref: apimachinery
 * pkg/util/strategicpatch/patch.go
 */
#include <string.h>

#include "api/types/patch/patch.h"
#include "api/types/schema/walk.h"
#include "base/mem.h"

#define DIRECTIVE_ORDER  "$setElementOrder/"
#define DIRECTIVE_DELETE "$deleteFromPrimitiveList/"

/* Lists are searched linearly, so long lists in a patch cost the product of their lengths. This
 * limits the comparisons. */
enum { COMPARISONS_MAX = 5000000 };

struct merging {
    size_t comparisons; /* beyond the limit every search fails, and so does the merge */
    struct error *err;
};

static bool merge_object(struct merging *m, const struct schema_at *at, json_t *target,
                         const json_t *patch);

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char *directive(const json_t *patch)
{
    return json_string_value(json_object_get(patch, "$patch"));
}

/* Returns a copy of a value of the patch without nulls and directives (owned). It serves where the
 * document has no value yet. */
static json_t *plain_copy(const json_t *value)
{
    const char *key;
    json_t *member, *copy;
    size_t i;

    if (json_is_object(value)) {
        copy = json_object();
        json_object_foreach((json_t *)value, key, member)
        {
            if (*key != '$' && !json_is_null(member))
                json_object_set_new_nocheck(copy, key, plain_copy(member));
        }
        return copy;
    }
    if (!json_is_array(value))
        return json_deep_copy(value);
    copy = json_array();
    json_array_foreach(value, i, member)
    {
        const char *what = directive(member);

        if (!what || strcmp(what, "merge") == 0)
            json_array_append_new(copy, plain_copy(member));
    }
    return copy;
}

/* Returns the index of the entry equal to `value` or, with merge_key, of the entry whose member of
 * that name equals `value`; SIZE_MAX when there is none. */
static size_t find(struct merging *m, const json_t *list, const char *merge_key,
                   const json_t *value)
{
    size_t i;
    json_t *entry;

    if (m->comparisons > COMPARISONS_MAX)
        return SIZE_MAX;
    m->comparisons += json_array_size(list);
    json_array_foreach(list, i, entry)
    {
        const json_t *own = *merge_key ? json_object_get(entry, merge_key) : entry;

        if (own && json_equal(own, value))
            return i;
    }
    return SIZE_MAX;
}

static void merge_set(struct merging *m, json_t *target, const json_t *patch)
{
    size_t i;
    json_t *value;

    json_array_foreach(patch, i, value)
    {
        if (find(m, target, "", value) == SIZE_MAX)
            json_array_append_new(target, json_deep_copy(value));
    }
}

static bool asks_replacement(const json_t *patch)
{
    size_t i;
    json_t *entry;

    json_array_foreach(patch, i, entry)
    {
        const char *what = directive(entry);

        if (what && strcmp(what, "replace") == 0)
            return true;
    }
    return false;
}

static bool merge_entry(struct merging *m, const struct schema_at *below, const char *merge_key,
                        json_t *target, json_t *entry)
{
    const char *what = directive(entry);
    const json_t *key = json_object_get(entry, merge_key);
    size_t index;

    if (!key)
        return error_set(m->err, ERR_INVALID, "",
                         "a list entry of the patch does not contain the merge key \"%s\"",
                         merge_key);
    index = find(m, target, merge_key, key);
    if (what && strcmp(what, "delete") == 0) {
        for (; index != SIZE_MAX; index = find(m, target, merge_key, key))
            json_array_remove(target, index);
        return true;
    }
    if (index == SIZE_MAX) {
        json_array_append_new(target, plain_copy(entry));
        return true;
    }
    return merge_object(m, below, json_array_get(target, index), entry);
}

static bool merge_list(struct merging *m, const struct schema_at *below, const char *merge_key,
                       json_t *target, const json_t *patch)
{
    size_t i;
    json_t *entry;

    if (asks_replacement(patch)) {
        json_array_clear(target);
        json_array_foreach(patch, i, entry)
        {
            if (!directive(entry))
                json_array_append_new(target, plain_copy(entry));
        }
        return true;
    }
    json_array_foreach(patch, i, entry)
    {
        if (!merge_entry(m, below, merge_key, target, entry))
            return false;
    }
    return true;
}

/* Returns the merged list in the order of Kubernetes (owned). The entries that the patch names are
 * in the patch's order; each other entry comes before the first of them that followed it in the
 * list `before`. New entries thus come first. `merged` holds the remaining old entries in their
 * order, then the new ones. */
static json_t *interleaved(struct merging *m, const json_t *before, const json_t *merged,
                           const json_t *patch, const char *merge_key)
{
    json_t *result = json_array(), *mine, *entry, *one;
    size_t i, j = 0;

    mine = json_array();
    json_array_foreach(patch, i, entry)
    {
        const json_t *id = *merge_key ? json_object_get(entry, merge_key) : entry;
        size_t at = id ? find(m, merged, merge_key, id) : SIZE_MAX;

        if (at != SIZE_MAX && find(m, mine, merge_key, id) == SIZE_MAX)
            json_array_append(mine, json_array_get(merged, at));
    }
    json_array_foreach(merged, i, one)
    {
        const json_t *id = *merge_key ? json_object_get(one, merge_key) : one;

        if (id && find(m, mine, merge_key, id) != SIZE_MAX)
            continue;
        for (; j < json_array_size(mine); j++) {
            const json_t *next = json_array_get(mine, j);
            size_t stood =
                find(m, before, merge_key, *merge_key ? json_object_get(next, merge_key) : next);
            size_t own = id ? find(m, before, merge_key, id) : SIZE_MAX;

            if (stood != SIZE_MAX && own < stood)
                break;
            json_array_append(result, (json_t *)next);
        }
        json_array_append(result, one);
    }
    for (; j < json_array_size(mine); j++)
        json_array_append(result, json_array_get(mine, j));
    json_decref(mine);
    return result;
}

/* The state of reordering a list. */
struct ordering {
    const json_t *list, *order;
    const char *merge_key;
    bool *taken; /* for each entry of the list whether it was matched */
};

/* Returns the value that identifies an entry: its key or, without merge_key, the entry itself. NULL
 * if the key is absent. */
static const json_t *identity(const json_t *entry, const char *merge_key)
{
    return *merge_key ? json_object_get(entry, merge_key) : entry;
}

static bool is_named(struct merging *m, const struct ordering *o, size_t index)
{
    const json_t *id = identity(json_array_get(o->list, index), o->merge_key);

    return id && find(m, o->order, o->merge_key, id) != SIZE_MAX;
}

/* Appends the entry and the entries after it that the order does not name. */
static void take_run(struct merging *m, struct ordering *o, json_t *result, size_t index)
{
    do {
        o->taken[index] = true;
        json_array_append(result, json_array_get(o->list, index));
        index++;
    } while (index < json_array_size(o->list) && !o->taken[index] && !is_named(m, o, index));
}

/* Returns the entries in the order given (owned). An entry that the order does not name stays
 * behind the entry it followed. */
static json_t *in_order(struct merging *m, const json_t *list, const json_t *order,
                        const char *merge_key)
{
    size_t count = json_array_size(list), i;
    struct ordering o = {.list = list, .order = order, .merge_key = merge_key};
    json_t *result = json_array();
    json_t *wanted;

    o.taken = mem_array(count, sizeof *o.taken);
    if (count && !is_named(m, &o, 0))
        take_run(m, &o, result, 0);
    json_array_foreach(order, i, wanted)
    {
        const json_t *id = identity(wanted, merge_key);
        size_t index = id ? find(m, list, merge_key, id) : SIZE_MAX;

        if (index != SIZE_MAX && !o.taken[index])
            take_run(m, &o, result, index);
    }
    for (i = 0; i < count; i++)
        if (!o.taken[i])
            json_array_append(result, json_array_get(list, i));
    mem_free(o.taken);
    return result;
}

static void retain_keys(struct merging *m, json_t *target, const json_t *keys)
{
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe(target, next, key, value)
    {
        scoped(json) json_t *text = json_string(key);

        if (find(m, keys, "", text) == SIZE_MAX)
            json_object_del(target, key);
    }
}

static void delete_from_set(struct merging *m, json_t *target, const char *member,
                            const json_t *values)
{
    json_t *list = json_object_get(target, member);
    json_t *value;
    size_t i;

    json_array_foreach(values, i, value)
    {
        size_t index = find(m, list, "", value);

        for (; index != SIZE_MAX; index = find(m, list, "", value))
            json_array_remove(list, index);
    }
}

static bool merge_member(struct merging *m, const struct schema_at *at, json_t *target,
                         const char *key, json_t *patch)
{
    struct schema_at below;
    const struct field *field = schema_at_member(at, key, &below);
    json_t *present = json_object_get(target, key);

    if (json_is_null(patch)) {
        json_object_del(target, key);
        return true;
    }
    if (json_is_object(patch) && json_is_object(present))
        return merge_object(m, &below, present, patch);
    if (json_is_array(patch) && json_is_array(present) && field && field->merge_key) {
        scoped(json) json_t *before = json_deep_copy(present);

        if (!*field->merge_key)
            merge_set(m, present, patch);
        else if (!merge_list(m, &below, field->merge_key, present, patch))
            return false;
        if (!asks_replacement(patch))
            json_object_set_new(target, key,
                                interleaved(m, before, present, patch, field->merge_key));
        return true;
    }
    json_object_set_new_nocheck(target, key, plain_copy(patch));
    return true;
}

static void order_members(struct merging *m, const struct schema_at *at, json_t *target,
                          const json_t *patch)
{
    const char *key;
    json_t *order;

    json_object_foreach((json_t *)patch, key, order)
    {
        const char *member = key + sizeof DIRECTIVE_ORDER - 1;
        struct schema_at below;
        const struct field *field;
        json_t *list;

        if (!starts_with(key, DIRECTIVE_ORDER))
            continue;
        field = schema_at_member(at, member, &below);
        list = json_object_get(target, member);
        if (field && field->merge_key && json_is_array(list) && json_is_array(order))
            json_object_set_new(target, member, in_order(m, list, order, field->merge_key));
    }
}

static bool merge_object(struct merging *m, const struct schema_at *at, json_t *target,
                         const json_t *patch)
{
    const char *what = directive(patch);
    const json_t *retained = json_object_get(patch, "$retainKeys");
    const char *key;
    json_t *value;

    if (what && strcmp(what, "replace") != 0 && strcmp(what, "delete") != 0 &&
        strcmp(what, "merge") != 0)
        return error_set(m->err, ERR_INVALID, "",
                         "$patch is one of replace, delete, merge, not \"%.64s\"", what);
    if (what && strcmp(what, "merge") != 0)
        json_object_clear(target);
    if (what && strcmp(what, "delete") == 0)
        return true;
    if (json_is_array(retained))
        retain_keys(m, target, retained);
    json_object_foreach((json_t *)patch, key, value)
    {
        if (starts_with(key, DIRECTIVE_DELETE))
            delete_from_set(m, target, key + sizeof DIRECTIVE_DELETE - 1, value);
        else if (*key != '$' && !merge_member(m, at, target, key, value)) {
            error_prefix(m->err, "%s: ", key);
            return false;
        }
    }
    order_members(m, at, target, patch);
    return true;
}

json_t *patch_strategic(const struct schema *schema, const json_t *doc, const json_t *patch,
                        struct error *err)
{
    struct merging m = {.err = err};
    struct schema_at at = schema_at_root(schema, true);
    scoped(json) json_t *result = NULL;

    if (!json_is_object(patch)) {
        error_set(err, ERR_BAD_REQUEST, "",
                  "error decoding patch: a strategic merge patch is an object");
        return NULL;
    }
    result = json_deep_copy(doc);
    if (!json_is_object(result)) {
        error_set(err, ERR_INVALID, "", "only an object can be patched");
        return NULL;
    }
    if (!merge_object(&m, &at, result, patch))
        return NULL;
    if (m.comparisons > COMPARISONS_MAX) {
        error_set(err, ERR_TOO_LARGE, "", "the lists of this patch are too long to merge");
        return NULL;
    }
    return take(result);
}
