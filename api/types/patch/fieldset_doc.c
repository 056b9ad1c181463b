/*
 * Field sets of documents: the fields of a document, the changes between two documents, the merge
 * of one into another, and the removal of fields.
 *
 * A value is one of four: an object, whose members are owned separately; a list whose entries have
 * keys; a list that is a set of scalars; or a whole, owned as one. Empty objects and lists count as
 * wholes. Lists are indexed by the path elements of their entries, so no operation is quadratic.
 */
#include <string.h>

#include "api/types/patch/internal.h"
#include "api/types/text/json_text.h"
#include "base/buf.h"
#include "base/mem.h"

enum fieldset_shape fieldset_shape(const struct field *field, const json_t *value)
{
    if (json_is_object(value))
        return OBJECT;
    if (!json_is_array(value) || !field || !field->merge_key)
        return WHOLE;
    return *field->merge_key ? KEYED : SET;
}

/* Lists with more than one key, by their merge key, with the default for an absent second key. */
static const struct {
    const char *merge_key, *also, *absent;
} second_keys[] = {
    {"containerPort", "protocol", "TCP"},
    {"port", "protocol", "TCP"},
    {"topologyKey", "whenUnsatisfiable", NULL},
};

/* Appends the path element "k:{…}" of an entry. Returns false when the entry lacks its key. */
static bool keyed_element(const char *merge_key, const json_t *entry, struct buf *out)
{
    scoped(json) json_t *keys = json_object();
    const json_t *key = json_object_get(entry, merge_key);
    char *text;

    if (!key || json_is_object(key) || json_is_array(key))
        return false;
    json_object_set(keys, merge_key, (json_t *)(uintptr_t)key);
    for (size_t i = 0; i < countof(second_keys); i++) {
        json_t *also = json_object_get(entry, second_keys[i].also);

        if (strcmp(second_keys[i].merge_key, merge_key) != 0)
            continue;
        if (also)
            json_object_set(keys, second_keys[i].also, also);
        else if (second_keys[i].absent)
            json_object_set_new(keys, second_keys[i].also, json_string(second_keys[i].absent));
    }
    text = json_dumps(keys, JSON_COMPACT | JSON_SORT_KEYS);
    buf_clear(out);
    buf_printf(out, "k:%s", text);
    free(text);
    return true;
}

bool fieldset_element(const struct field *field, const json_t *entry, struct buf *out)
{
    if (*field->merge_key)
        return keyed_element(field->merge_key, entry, out);
    buf_clear(out);
    buf_str(out, "v:");
    json_text(entry, out);
    return true;
}

static void field_element(const char *name, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "f:%s", name);
}

json_t *fieldset_index(const struct field *field, const json_t *list)
{
    scoped(json) json_t *index = json_object();
    scoped(buf) struct buf element = {0};
    json_t *entry;
    size_t i;

    json_array_foreach(list, i, entry)
    {
        if (!fieldset_element(field, entry, &element))
            return NULL;
        if (!json_object_get(index, element.data))
            json_object_set(index, element.data, entry);
    }
    return take(index);
}

enum ownership {
    OWN_APPLIED, /* leaves and entries of maps and lists: what apply owns */
    OWN_ALL      /* these and the objects that contain them */
};

/* Whether the path of a node is itself in the set, or only the paths of its children. */
enum membership { CHILDREN_ONLY, MEMBER };

static json_t *node_of(const struct schema_at *at, const struct field *field, const json_t *value,
                       enum ownership ownership, enum membership membership);

/* Completes a node (consumed). Returns NULL when neither its path nor a child is in the set. */
static json_t *finished(json_t *node, enum membership membership)
{
    if (json_object_size(node) == 0 && membership == CHILDREN_ONLY) {
        json_decref(node);
        return NULL;
    }
    if (membership == MEMBER && json_object_size(node))
        json_object_set_new(node, ".", json_object());
    return node;
}

static void add_members(const struct schema_at *at, const json_t *object, enum ownership ownership,
                        json_t *node)
{
    scoped(buf) struct buf element = {0};
    bool open = at->is_map || !at->level.schema; /* the members are map entries */
    const char *key;
    json_t *value, *child;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        struct schema_at below;
        const struct field *field = schema_at_member(at, key, &below);

        bool is_member = ownership == OWN_ALL || (open && !at->root);

        child = node_of(&below, field, value, ownership, is_member ? MEMBER : CHILDREN_ONLY);
        field_element(key, &element);
        if (child)
            json_object_set_new(node, element.data, child);
    }
}

static json_t *node_of(const struct schema_at *at, const struct field *field, const json_t *value,
                       enum ownership ownership, enum membership membership)
{
    enum fieldset_shape shape = fieldset_shape(field, value);
    json_t *node = json_object(), *index = NULL, *entry, *child;
    const char *element;

    if (shape == OBJECT)
        add_members(at, value, ownership, node);
    else if (shape != WHOLE)
        index = fieldset_index(field, value);
    json_object_foreach(index, element, entry)
    {
        child = shape == KEYED ? node_of(at, NULL, entry, ownership, MEMBER) : json_object();
        json_object_set_new(node, element, child);
    }
    json_decref(index);
    return finished(node, json_object_size(node) == 0 ? MEMBER : membership);
}

json_t *fieldset_of(const struct schema_at *at, const json_t *doc)
{
    json_t *node = json_object();

    add_members(at, doc, OWN_APPLIED, node);
    return node;
}

static void set_node(json_t *nodes, const char *element, json_t *node)
{
    if (node)
        json_object_set_new(nodes, element, node);
}

static void compare_members(const struct schema_at *at, const json_t *before, const json_t *after,
                            struct fieldset_changes *out);

static void compare_lists(const struct schema_at *at, const json_t *before, const json_t *after,
                          enum fieldset_shape shape, struct fieldset_changes *out);

/* Compares a value that is in both documents. */
static void compare_values(const struct schema_at *at, const struct field *field,
                           const char *element, const json_t *before, const json_t *after,
                           struct fieldset_changes *out)
{
    enum fieldset_shape was = fieldset_shape(field, before), is = fieldset_shape(field, after);
    scoped(json) json_t *old_index = NULL, *index = NULL;
    struct fieldset_changes below;

    if (json_equal(before, after))
        return;
    if (was == is && is != OBJECT && is != WHOLE) {
        old_index = fieldset_index(field, before);
        index = fieldset_index(field, after);
    }
    below = (struct fieldset_changes){json_object(), json_object()};
    if (was == OBJECT && is == OBJECT)
        compare_members(at, before, after, &below);
    else if (old_index && index)
        compare_lists(at, old_index, index, is, &below);
    else
        json_object_set_new(out->changed, element, json_object());
    set_node(out->changed, element, finished(below.changed, CHILDREN_ONLY));
    set_node(out->gone, element, finished(below.gone, CHILDREN_ONLY));
}

static void compare_members(const struct schema_at *at, const json_t *before, const json_t *after,
                            struct fieldset_changes *out)
{
    scoped(buf) struct buf element = {0};
    const char *key;
    json_t *value, *old;

    json_object_foreach((json_t *)(uintptr_t)after, key, value)
    {
        struct schema_at below;
        const struct field *field = schema_at_member(at, key, &below);
        enum membership membership = fieldset_is_frame(at, key) ? CHILDREN_ONLY : MEMBER;

        old = json_object_get(before, key);
        field_element(key, &element);
        if (old)
            compare_values(&below, field, element.data, old, value, out);
        else
            set_node(out->changed, element.data,
                     node_of(&below, field, value, OWN_ALL, membership));
    }
    json_object_foreach((json_t *)(uintptr_t)before, key, value)
    {
        struct schema_at below;
        const struct field *field = schema_at_member(at, key, &below);

        if (json_object_get(after, key))
            continue;
        field_element(key, &element);
        set_node(out->gone, element.data, node_of(&below, field, value, OWN_ALL, MEMBER));
    }
}

/* Compares two lists, given as indexes of their entries by path element. */
static void compare_lists(const struct schema_at *at, const json_t *before, const json_t *after,
                          enum fieldset_shape shape, struct fieldset_changes *out)
{
    const char *element;
    json_t *entry, *old;

    json_object_foreach((json_t *)(uintptr_t)after, element, entry)
    {
        old = json_object_get(before, element);
        if (old && shape == KEYED)
            compare_values(at, NULL, element, old, entry, out);
        else if (!old)
            set_node(out->changed, element, node_of(at, NULL, entry, OWN_ALL, MEMBER));
    }
    json_object_foreach((json_t *)(uintptr_t)before, element, entry)
    {
        if (!json_object_get(after, element))
            set_node(out->gone, element, node_of(at, NULL, entry, OWN_ALL, MEMBER));
    }
}

struct fieldset_changes fieldset_compare(const struct schema_at *at, const json_t *before,
                                         const json_t *after)
{
    struct fieldset_changes changes = {json_object(), json_object()};

    compare_members(at, before, after, &changes);
    return changes;
}

void fieldset_changes_release(struct fieldset_changes *changes)
{
    json_decref(changes->changed);
    json_decref(changes->gone);
}

static json_t *merged(const struct schema_at *at, const struct field *field, const json_t *live,
                      const json_t *config);

static json_t *merged_members(const struct schema_at *at, const json_t *live, const json_t *config)
{
    json_t *result = json_copy((json_t *)(uintptr_t)live), *value, *old;
    const char *key;

    json_object_foreach((json_t *)(uintptr_t)config, key, value)
    {
        struct schema_at below;
        const struct field *field = schema_at_member(at, key, &below);

        old = json_object_get(live, key);
        json_object_set_new(result, key,
                            old ? merged(&below, field, old, value) : json_deep_copy(value));
    }
    return result;
}

/* Merges a list with keys: the live entries in their order, merged, then the new ones. */
static json_t *merged_list(const struct schema_at *at, const struct field *field,
                           const json_t *live, const json_t *config)
{
    scoped(json) json_t *index = fieldset_index(field, config);
    scoped(buf) struct buf element = {0};
    json_t *result, *entry, *wanted;
    const char *key;
    size_t i;

    if (!index)
        return json_deep_copy(config);
    result = json_array();
    json_array_foreach(live, i, entry)
    {
        wanted =
            fieldset_element(field, entry, &element) ? json_object_get(index, element.data) : NULL;
        json_array_append_new(result,
                              wanted ? merged(at, NULL, entry, wanted) : json_deep_copy(entry));
        if (wanted)
            json_object_del(index, element.data);
    }
    json_object_foreach(index, key, entry)
    {
        json_array_append_new(result, json_deep_copy(entry));
    }
    return result;
}

/* Merges a set: the live entries, then those of the configuration that are new. */
static json_t *merged_set(const struct field *field, const json_t *live, const json_t *config)
{
    scoped(json) json_t *index = fieldset_index(field, live);
    scoped(buf) struct buf element = {0};
    json_t *result = json_deep_copy(live), *entry;
    size_t i;

    json_array_foreach(config, i, entry)
    {
        fieldset_element(field, entry, &element);
        if (!json_object_get(index, element.data))
            json_array_append_new(result, json_deep_copy(entry));
    }
    return result;
}

static json_t *merged(const struct schema_at *at, const struct field *field, const json_t *live,
                      const json_t *config)
{
    enum fieldset_shape shape = fieldset_shape(field, config);

    if (shape != fieldset_shape(field, live))
        return json_deep_copy(config);
    switch (shape) {
    case OBJECT:
        return merged_members(at, live, config);
    case KEYED:
        return merged_list(at, field, live, config);
    case SET:
        return merged_set(field, live, config);
    case WHOLE:
        break;
    }
    return json_deep_copy(config);
}

json_t *fieldset_merge(const struct schema_at *at, const json_t *live, const json_t *config)
{
    scoped(json) json_t *result = merged_members(at, live, config);

    return json_deep_copy(result); /* the caller may change the result, whose parts are shared */
}

static void remove_below(const struct schema_at *at, const struct field *field, json_t *value,
                         const json_t *set, const json_t *kept);

static bool is_taken(const json_t *set)
{
    return json_object_size(set) == 0 || json_object_get(set, ".");
}

static bool is_empty(const json_t *value)
{
    return (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

static void remove_members(const struct schema_at *at, json_t *object, const json_t *set,
                           const json_t *kept)
{
    const char *element;
    json_t *below_set;

    json_object_foreach((json_t *)(uintptr_t)set, element, below_set)
    {
        const char *name = element + 2;
        json_t *value = strncmp(element, "f:", 2) == 0 ? json_object_get(object, name) : NULL;
        const json_t *below_kept = json_object_get(kept, element);
        struct schema_at below;
        const struct field *field;

        if (!value)
            continue;
        field = schema_at_member(at, name, &below);
        if (!(is_taken(below_set) && !below_kept))
            remove_below(&below, field, value, below_set, below_kept);
        if (!below_kept && (is_taken(below_set) || is_empty(value)))
            json_object_del(object, name);
    }
}

/* Returns the set without the entry's key members, because an entry that stays keeps its keys. */
static json_t *without_keys(const struct field *field, const json_t *set)
{
    json_t *rest = json_copy((json_t *)(uintptr_t)set);
    scoped_str name = mem_printf("f:%s", field->merge_key);

    json_object_del(rest, name);
    for (size_t i = 0; i < countof(second_keys); i++)
        if (strcmp(second_keys[i].merge_key, field->merge_key) == 0) {
            scoped_str also = mem_printf("f:%s", second_keys[i].also);

            json_object_del(rest, also);
        }
    return rest;
}

static void remove_entries(const struct schema_at *at, const struct field *field, json_t *list,
                           const json_t *set, const json_t *kept)
{
    scoped(buf) struct buf element = {0};

    for (size_t i = 0; i < json_array_size(list);) {
        json_t *entry = json_array_get(list, i);
        const json_t *below = NULL, *below_kept = NULL;

        if (fieldset_element(field, entry, &element)) {
            below = json_object_get(set, element.data);
            below_kept = json_object_get(kept, element.data);
        }
        if (below && is_taken(below) && !below_kept) {
            json_array_remove(list, i);
            continue;
        }
        if (below && *field->merge_key) {
            scoped(json) json_t *rest = without_keys(field, below);

            remove_below(at, NULL, entry, rest, below_kept);
        }
        i++;
    }
}

static void remove_below(const struct schema_at *at, const struct field *field, json_t *value,
                         const json_t *set, const json_t *kept)
{
    enum fieldset_shape shape = fieldset_shape(field, value);

    if (shape == OBJECT)
        remove_members(at, value, set, kept);
    else if (shape != WHOLE)
        remove_entries(at, field, value, set, kept);
}

void fieldset_remove(const struct schema_at *at, json_t *doc, const json_t *set, const json_t *kept)
{
    remove_members(at, doc, set, kept);
}
