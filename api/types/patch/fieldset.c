/*
 * Set operations on field sets. Union, intersection and difference are one walk over two sets, with
 * a different rule for which paths remain. Paths are also converted to text here.
 */
#include <string.h>

#include "api/types/patch/internal.h"
#include "api/types/text/json_text.h"
#include "base/buf.h"

enum operation { UNION, INTERSECTION, DIFFERENCE };

/* Returns whether the path that leads to `node` (NULL: no such path) is in the set. */
static bool is_member(const json_t *node)
{
    return node && (json_object_size(node) == 0 || json_object_get(node, "."));
}

static bool decide(enum operation operation, bool a, bool b)
{
    return operation == UNION ? a || b : operation == INTERSECTION ? a && b : a && !b;
}

static json_t *combine(enum operation operation, const json_t *a, const json_t *b, bool root);

static void combine_child(enum operation operation, const char *key, const json_t *a,
                          const json_t *b, json_t *result)
{
    json_t *child;

    if (strcmp(key, ".") == 0 || json_object_get(result, key))
        return;
    child = combine(operation, json_object_get(a, key), json_object_get(b, key), false);
    if (child)
        json_object_set_new(result, key, child);
}

/* Combines two sets. Either may be NULL, the empty set. Returns NULL if the result is empty. */
static json_t *combine(enum operation operation, const json_t *a, const json_t *b, bool root)
{
    bool member = !root && decide(operation, is_member(a), is_member(b));
    json_t *result = json_object(), *value;
    const char *key;

    json_object_foreach((json_t *)(uintptr_t)a, key, value)
    {
        combine_child(operation, key, a, b, result);
    }
    if (operation == UNION)
        json_object_foreach((json_t *)(uintptr_t)b, key, value)
        {
            combine_child(operation, key, a, b, result);
        }
    if (member && json_object_size(result))
        json_object_set_new(result, ".", json_object());
    if (member || root || json_object_size(result))
        return result;
    json_decref(result);
    return NULL;
}

json_t *fieldset_union(const json_t *a, const json_t *b)
{
    return combine(UNION, a, b, true);
}

json_t *fieldset_intersection(const json_t *a, const json_t *b)
{
    return combine(INTERSECTION, a, b, true);
}

json_t *fieldset_difference(const json_t *a, const json_t *b)
{
    return combine(DIFFERENCE, a, b, true);
}

static json_t *parsed_element(const char *key)
{
    return json_loads(key + 2, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
}

bool fieldset_is_valid(const json_t *value)
{
    const char *key;
    json_t *child;

    if (!json_is_object(value))
        return false;
    json_object_foreach((json_t *)(uintptr_t)value, key, child)
    {
        bool keyed = strncmp(key, "k:", 2) == 0, plain = strncmp(key, "v:", 2) == 0;
        scoped(json) json_t *element = keyed || plain ? parsed_element(key) : NULL;

        if (strcmp(key, ".") != 0 && strncmp(key, "f:", 2) != 0 && strncmp(key, "i:", 2) != 0 &&
            !(keyed && json_object_size(element)) && !(plain && element))
            return false;
        if (!fieldset_is_valid(child))
            return false;
    }
    return true;
}

void fieldset_add_step(const char *key, struct buf *path)
{
    scoped(json) json_t *element = NULL;
    const char *name;
    json_t *value;
    bool first = true;

    if (strncmp(key, "f:", 2) == 0) {
        buf_printf(path, ".%s", key + 2);
        return;
    }
    element = parsed_element(key);
    buf_char(path, '[');
    json_object_foreach(element, name, value)
    {
        buf_printf(path, "%s%s=", first ? "" : ",", name);
        json_text(value, path);
        first = false;
    }
    if (!json_is_object(element))
        buf_printf(path, "=%s", key + 2);
    buf_char(path, ']');
}

static void each(const json_t *node, struct buf *path, void (*visit)(void *ctx, const char *path),
                 void *ctx)
{
    const char *key;
    json_t *child;
    size_t at = path->len;

    json_object_foreach((json_t *)(uintptr_t)node, key, child)
    {
        if (strcmp(key, ".") == 0)
            continue;
        fieldset_add_step(key, path);
        if (is_member(child))
            visit(ctx, path->data);
        each(child, path, visit, ctx);
        path->len = at;
        path->data[at] = '\0';
    }
}

void fieldset_each(const json_t *set, void (*visit)(void *ctx, const char *path), void *ctx)
{
    scoped(buf) struct buf path = {0};

    buf_reserve(&path, 1);
    path.data[0] = '\0';
    each(set, &path, visit, ctx);
}
