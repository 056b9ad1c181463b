/*
 * Comparing member by member; lists of one length element by element, others as a whole.
 */
#include "cli/difference.h"
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

static void compare(json_t *changes, const char *path, const json_t *from, const json_t *to)
{
    if (json_is_object(from) && json_is_object(to)) {
        compare_members(changes, path, from, to);
    } else if (json_is_array(from) && json_is_array(to) &&
               json_array_size(from) == json_array_size(to)) {
        for (size_t i = 0; i < json_array_size(to); i++) {
            scoped_str at = mem_printf("%s[%zu]", path, i);

            compare(changes, at, json_array_get(from, i), json_array_get(to, i));
        }
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
