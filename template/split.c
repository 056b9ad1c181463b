/*
 * The walks follow the tables of the merge, whose depth bounds the recursion. A member whose row says
 * that it is replaced, and a list whose elements are replaced, goes as a whole; so the elements of a
 * list keep their order.
 */
#include "template/split.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/text/json_text.h"
#include "base/mem.h"
#include "template/merge_rows.h"

/* Removes const, because jansson's readers and reference counts take no const. */
static json_t *unconst(const json_t *value)
{
    return (json_t *)(uintptr_t)value; /* NOLINT(performance-no-int-to-ptr) */
}

/* Takes the next member, index or key off a path: "a.b", "[0].b", "[example.com/key]". Owned; "" at
 * the end. */
static char *next_word(const char **path)
{
    const char *text = *path + (**path == '.');
    bool bracket = *text == '[';
    size_t len;
    char *word;

    text += bracket;
    len = strcspn(text, bracket ? "]" : ".[");
    word = mem_printf("%.*s", (int)len, text);
    text += len;
    *path = text + (bracket && *text == ']');
    return word;
}

/* Returns the part of the mark that belongs to a member, which is made when it is missing. NULL: the
 * member is marked as a whole. */
static json_t *mark_below(json_t *moved, const char *name)
{
    json_t *below = json_object_get(moved, name);

    if (!below) {
        below = json_object();
        json_object_set_new(moved, name, below);
    }
    return json_is_object(below) ? below : NULL;
}

static bool mark_object(const struct merge_row *rows, const json_t *object, const char *key,
                        const char *path, json_t *moved);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the tables */
static bool mark_element(const struct merge_row *row, const json_t *list, const char *path,
                         json_t *moved)
{
    scoped_str index = next_word(&path);
    const json_t *element = json_array_get(list, strtoul(index, NULL, 10));
    json_t *below = mark_below(moved, index);

    return below && mark_object(row->of, element, row->keys[0].member, path, below);
}

/* Marks in an object, whose member `key` (NULL: none) is its name and stays. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the tables */
static bool mark_object(const struct merge_row *rows, const json_t *object, const char *key,
                        const char *path, json_t *moved)
{
    scoped_str name = next_word(&path);
    const struct merge_row *row = merge_row_of(rows, name);
    const json_t *member = json_object_get(object, name);
    json_t *below;

    if (!member || (key && strcmp(name, key) == 0))
        return false;
    if (row->how == MERGE_RECURSE || row->how == MERGE_LIST_DEEP || row->how == MERGE_BY_KEY) {
        below = *path ? mark_below(moved, name) : NULL;
        if (row->how == MERGE_RECURSE)
            return below && mark_object(row->of, member, NULL, path, below);
        if (row->how == MERGE_LIST_DEEP)
            return below && mark_element(row, member, path, below);
        if (below)
            return mark_object(NULL, member, NULL, path, below);
    }
    if (json_is_true(json_object_get(moved, name)))
        return false;
    json_object_set_new(moved, name, json_true());
    return true;
}

/* A patch of replicas that says nothing of minAvailable changes it (template/instantiate). */
static void mark_minimums(const json_t *spec, json_t *moved)
{
    json_t *tasks = json_object_get(moved, "tasks"), *task;
    const char *index;

    json_object_foreach(tasks, index, task)
    {
        const json_t *its =
            json_array_get(json_object_get(spec, "tasks"), strtoul(index, NULL, 10));

        if (!json_object_get(task, "replicas"))
            continue;
        if (json_object_get(its, "minAvailable"))
            json_object_set_new(task, "minAvailable", json_true());
        if (json_object_get(spec, "minAvailable"))
            json_object_set_new(moved, "minAvailable", json_true());
    }
}

bool template_split_mark(const json_t *spec, const char *field, json_t *moved)
{
    if (!mark_object(merge_job_rows, spec, NULL, field, moved))
        return false;
    mark_minimums(spec, moved);
    return true;
}

static json_t *split_object(const struct merge_row *rows, const json_t *object, const json_t *moved,
                            json_t **out_patch);

/* Elements without a name are found by their place, for which the patch needs all of them. */
static bool all_named(const struct merge_row *row, const json_t *list)
{
    const json_t *element;
    size_t i;

    json_array_foreach(list, i, element)
    {
        if (!json_object_get(element, row->keys[0].member))
            return false;
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the tables */
static json_t *split_list(const struct merge_row *row, const json_t *list, const json_t *moved,
                          json_t **out_patch)
{
    const char *key = row->keys[0].member;
    const bool named = all_named(row, list);
    json_t *kept = json_array(), *patch = json_array();
    json_t *element;
    size_t i;

    json_array_foreach(unconst(list), i, element)
    {
        char index[24];
        json_t *its = NULL, *mark, *name = json_object_get(element, key);

        snprintf(index, sizeof index, "%zu", i);
        mark = json_object_get(moved, index);
        json_array_append_new(kept, split_object(row->of, element, mark, &its));
        if (name && (json_object_size(its) || !named)) {
            scoped(json) json_t *rest = its;

            its = json_object();
            json_object_set(its, key, name);
            json_object_update(its, rest);
        }
        if (json_object_size(its) || !named)
            json_array_append(patch, its);
        json_decref(its);
    }
    *out_patch = patch;
    return kept;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the tables */
static json_t *split_object(const struct merge_row *rows, const json_t *object, const json_t *moved,
                            json_t **out_patch)
{
    json_t *kept = json_object(), *value;
    const char *name;

    *out_patch = json_object();
    json_object_foreach(unconst(object), name, value)
    {
        const struct merge_row *row = merge_row_of(rows, name);
        json_t *mark = json_object_get(moved, name), *patch = NULL;

        if (json_is_true(mark)) {
            json_object_set(*out_patch, name, value);
        } else if (!json_object_size(mark)) {
            json_object_set(kept, name, value);
        } else {
            json_object_set_new(kept, name,
                                row->how == MERGE_LIST_DEEP
                                    ? split_list(row, value, mark, &patch)
                                    : split_object(row->of, value, mark, &patch));
            if (json_object_size(patch) || json_array_size(patch))
                json_object_set(*out_patch, name, patch);
            json_decref(patch);
        }
    }
    return kept;
}

json_t *template_split(const json_t *spec, const json_t *moved, json_t **out_patch)
{
    return split_object(merge_job_rows, spec, moved, out_patch);
}
