/*
 * Compares two documents member by member. Lists of equal length are compared element by element.
 * Lists of named elements that differ in order or length are compared by name; other lists as a
 * whole.
 */
#include "cli/preflight/difference.h"

#include <string.h>

#include "base/collections/name_index.h"
#include "base/mem.h"

enum { CHANGES_MAX = 200 };

static void add_change(json_t *changes, const char *path, const json_t *from, const json_t *to)
{
    json_t *change = json_pack("{s:s}", "path", path);

    if (json_array_size(changes) >= CHANGES_MAX) {
        json_decref(change);
        return;
    }
    if (from)
        json_object_set(change, "from", (json_t *)(size_t)from);
    if (to)
        json_object_set(change, "to", (json_t *)(size_t)to);
    json_array_append_new(changes, change);
}

static void compare(json_t *changes, const char *path, const json_t *from, const json_t *to);

static void compare_members(json_t *changes, const char *path, const json_t *from, const json_t *to)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(size_t)to, key, value)
    {
        scoped_str at = mem_printf("%s%s%s", path, *path ? "." : "", key);

        compare(changes, at, json_object_get(from, key), value);
    }
    json_object_foreach((json_t *)(size_t)from, key, value)
    {
        scoped_str at = mem_printf("%s%s%s", path, *path ? "." : "", key);

        if (!json_object_get(to, key))
            add_change(changes, at, value, NULL);
    }
}

static const char *name_of(const json_t *element)
{
    return json_string_value(json_object_get(element, "name"));
}

/* Returns true when every element has a name and no name occurs twice. */
static bool index_names(const json_t *list, struct name_index *out)
{
    const json_t *element;
    size_t i;

    name_index_init(out, json_array_size(list));
    json_array_foreach(list, i, element)
    {
        if (!name_of(element) || name_index_put(out, name_of(element), (uint32_t)i) != NAME_NONE)
            return false;
    }
    return i > 0;
}

static bool in_the_same_places(const json_t *from, const json_t *to)
{
    size_t i;
    const json_t *element;

    if (json_array_size(from) != json_array_size(to))
        return false;
    json_array_foreach(to, i, element)
    {
        const char *before = name_of(json_array_get(from, i)), *now = name_of(element);

        if (before && now && strcmp(before, now) != 0)
            return false;
    }
    return true;
}

static void compare_named(json_t *changes, const char *path, const json_t *from, const json_t *to,
                          const struct name_index *before, const struct name_index *now)
{
    size_t had = json_array_size(changes), i;
    const json_t *element;

    json_array_foreach(to, i, element)
    {
        uint32_t was = name_index_get(before, name_of(element));
        scoped_str at = mem_printf("%s[%s]", path, name_of(element));

        compare(changes, at, was == NAME_NONE ? NULL : json_array_get(from, was), element);
    }
    json_array_foreach(from, i, element)
    {
        scoped_str at = mem_printf("%s[%s]", path, name_of(element));

        if (name_index_get(now, name_of(element)) == NAME_NONE)
            add_change(changes, at, element, NULL);
    }
    if (json_array_size(changes) == had) /* only the order of the entries differs */
        add_change(changes, path, from, to);
}

static void compare_lists(json_t *changes, const char *path, const json_t *from, const json_t *to)
{
    scoped(name_index) struct name_index before = {0}, now = {0};

    if (in_the_same_places(from, to))
        for (size_t i = 0; i < json_array_size(to); i++) {
            scoped_str at = mem_printf("%s[%zu]", path, i);

            compare(changes, at, json_array_get(from, i), json_array_get(to, i));
        }
    else if (index_names(from, &before) && index_names(to, &now))
        compare_named(changes, path, from, to, &before, &now);
    else
        add_change(changes, path, from, to);
}

static void compare(json_t *changes, const char *path, const json_t *from, const json_t *to)
{
    if (json_is_object(from) && json_is_object(to)) {
        compare_members(changes, path, from, to);
    } else if (json_is_array(from) && json_is_array(to)) {
        compare_lists(changes, path, from, to);
    } else if (!json_equal(from, to)) {
        add_change(changes, path, from, to);
    }
}

json_t *difference_of(const json_t *from, const json_t *to)
{
    json_t *changes = json_array();

    compare(changes, "", from, to);
    return changes;
}
