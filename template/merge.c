/*
 * The merge. Recursion is bounded by the depth of the tables (template/merge_rows.h). Values below
 * the tables are shared by reference, except where directives and nulls have to be taken out.
 */
#include "template/merge.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "template/merge_rows.h"

static const char directive_key[] = "$patch";
static const char retain_key[] = "$retainKeys";

enum directive { MERGE, DELETE, SUBSTITUTE, UNKNOWN_DIRECTIVE };

static enum directive directive_of(const json_t *value)
{
    const char *text = json_string_value(json_object_get(value, directive_key));

    if (!json_object_get(value, directive_key))
        return MERGE;
    if (text && (strcmp(text, "merge") == 0 || strcmp(text, "add") == 0))
        return MERGE; /* the names were checked: what is added has no match */
    if (text && strcmp(text, "delete") == 0)
        return DELETE;
    if (text && strcmp(text, "replace") == 0)
        return SUBSTITUTE;
    return UNKNOWN_DIRECTIVE;
}

static bool is_directive(const char *member)
{
    return strcmp(member, directive_key) == 0 || strcmp(member, retain_key) == 0;
}

/* Removes const, because jansson's readers and reference counts take no const. */
static json_t *unconst(const json_t *value)
{
    return (json_t *)(uintptr_t)value; /* NOLINT(performance-no-int-to-ptr) */
}

/* Returns whether a value is free of nulls and directives, so that it can be shared. */
/* NOLINTNEXTLINE(misc-no-recursion): the reader of documents bounds their depth */
static bool is_clean(const json_t *value)
{
    const char *member;
    json_t *child;
    size_t i;

    if (json_is_object(value)) {
        json_object_foreach(unconst(value), member, child)
        {
            if (json_is_null(child) || is_directive(member) || !is_clean(child))
                return false;
        }
    }
    json_array_foreach(value, i, child)
    {
        if (!is_clean(child))
            return false;
    }
    return true;
}

/* Returns a value of the patch as it goes into the result, without nulls and directives; owned. */
/* NOLINTNEXTLINE(misc-no-recursion): the reader of documents bounds their depth */
static json_t *clean(const json_t *value)
{
    const char *member;
    json_t *child, *out;
    size_t i;

    if (is_clean(value))
        return json_incref(unconst(value));
    if (json_is_array(value)) {
        out = json_array();
        json_array_foreach(value, i, child)
        {
            if (directive_of(child) != DELETE)
                json_array_append_new(out, clean(child));
        }
        return out;
    }
    out = json_object();
    json_object_foreach(unconst(value), member, child)
    {
        if (!json_is_null(child) && !is_directive(member) && directive_of(child) != DELETE)
            json_object_set_new_nocheck(out, member, clean(child));
    }
    return out;
}

static json_t *merge_object(const struct merge_row *rows, const json_t *from, const json_t *patch,
                            const char *path, struct error *err);

static bool unknown_directive(const json_t *value, const char *path, struct error *err)
{
    return error_set(err, ERR_INVALID, path, "$patch %s is none of merge, add, replace, delete",
                     json_string_value(json_object_get(value, directive_key))
                         ? json_string_value(json_object_get(value, directive_key))
                         : "(not a string)");
}

static json_t *merge_by_key(const json_t *from, const json_t *patch)
{
    json_t *out = json_is_object(from) ? json_copy(unconst(from)) : json_object();
    const char *member;
    json_t *value;

    json_object_foreach(unconst(patch), member, value)
    {
        if (!json_is_null(value) && !is_directive(member))
            json_object_set_new_nocheck(out, member, clean(value));
    }
    return out;
}

/* Returns the value of a key as text. Numbers are accepted too, for containerPort. */
static const char *key_text(const json_t *element, const struct merge_key *key, struct buf *scratch)
{
    const json_t *value = json_object_get(element, key->member);

    if (json_is_string(value))
        return json_string_value(value);
    if (!json_is_integer(value))
        return key->absent;
    buf_clear(scratch);
    buf_int(scratch, json_integer_value(value));
    return scratch->data;
}

static bool agree(const json_t *a, const json_t *b, const struct merge_key *key)
{
    scoped(buf) struct buf a_number = {0};
    scoped(buf) struct buf b_number = {0};
    const char *a_text = key_text(a, key, &a_number), *b_text = key_text(b, key, &b_number);

    return a_text && b_text && strcmp(a_text, b_text) == 0;
}

/* Returns whether an element has only the first key, and the row lets that key decide alone. */
static bool only_first_key(const struct merge_row *row, const json_t *element)
{
    return row->first_key_is_enough && json_object_get(element, row->keys[0].member) &&
           !json_object_get(element, row->keys[1].member) &&
           !json_object_get(element, row->keys[2].member);
}

static bool matches(const struct merge_row *row, const json_t *element, const json_t *patch)
{
    for (size_t k = 0; k < countof(row->keys) && row->keys[k].member; k++)
        if (!agree(element, patch, &row->keys[k]))
            return false;
    return true;
}

static bool has_name(const struct merge_row *row, const json_t *element)
{
    return row->keys[0].absent || json_object_get(element, row->keys[0].member);
}

#define NO_MATCH SIZE_MAX

/* Returns the position of the template's element that a patch element names. */
static size_t find_match(const struct merge_row *row, const json_t *list, const json_t *patch)
{
    const struct merge_key instead = {row->instead, NULL};
    bool by_instead = row->instead && !json_object_get(patch, row->keys[0].member);
    json_t *element;
    size_t i;

    json_array_foreach(list, i, element)
    {
        if (by_instead ? agree(element, patch, &instead) : matches(row, element, patch))
            return i;
    }
    if (!only_first_key(row, patch))
        return NO_MATCH;
    json_array_foreach(list, i, element)
    {
        if (agree(element, patch, &row->keys[0]))
            return i;
    }
    return NO_MATCH;
}

/* One element of the patch and its position in the result. */
struct placed {
    const json_t *patch;
    size_t index; /* position in the template's list; NO_MATCH = the element is appended */
};

static bool place(const struct merge_row *row, const json_t *from, const json_t *patch, size_t at,
                  const char *path, struct placed *out, struct error *err)
{
    const json_t *element = json_array_get(patch, at);
    size_t had = json_array_size(from);
    scoped(buf) struct buf where = {0};

    out->patch = element;
    if (!json_is_object(element)) {
        buf_printf(&where, "%s[%zu]", path, at);
        return error_set(err, ERR_INVALID, where.data, "must be an object");
    }
    if (has_name(row, element) || (row->instead && json_object_get(element, row->instead))) {
        out->index = find_match(row, from, element);
        return true;
    }
    if ((had == 1 && at == 0) || had == json_array_size(patch)) {
        out->index = at;
        return true;
    }
    buf_printf(&where, "%s[%zu].%s", path, at, row->keys[0].member);
    return error_set(err, ERR_INVALID, where.data,
                     "is missing: the template has %zu elements here, so it cannot be told which "
                     "one is meant; name it",
                     had);
}

/* Returns the element that replaces `from` (NULL: a new element). An element that was matched
 * without naming the first key keeps its name. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the tables */
static json_t *merge_element(const struct merge_row *row, const json_t *from, const json_t *patch,
                             const char *path, struct error *err)
{
    const char *key = row->keys[0].member;
    json_t *name = json_object_get(from, key), *out, *named;

    if (from && row->how == MERGE_LIST_DEEP && directive_of(patch) == MERGE)
        return merge_object(row->of, from, patch, path, err);
    out = clean(patch);
    if (!name || json_object_get(out, key))
        return out;
    named = json_copy(out);
    json_decref(out);
    json_object_set_nocheck(named, key, name);
    return named;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the tables */
static json_t *merge_list(const struct merge_row *row, const json_t *from, const json_t *patch,
                          const char *path, struct error *err)
{
    size_t had = json_array_size(from), count = json_array_size(patch);
    /* Array of owned elements; NULL = deleted. */
    json_t **kept = mem_array(had + 1, sizeof(json_t *));
    scoped(json) json_t *added = json_array();
    bool ok = true;
    json_t *out = NULL;

    for (size_t i = 0; i < had; i++)
        kept[i] = json_incref(json_array_get(from, i));
    for (size_t at = 0; ok && at < count; at++) {
        scoped(buf) struct buf where = {0};
        struct placed to = {0};
        enum directive directive;
        json_t *element = NULL;

        buf_printf(&where, "%s[%zu]", path, at);
        ok = place(row, from, patch, at, path, &to, err);
        if (!ok)
            break;
        directive = directive_of(to.patch);
        if (directive == UNKNOWN_DIRECTIVE) {
            ok = unknown_directive(to.patch, where.data, err);
        } else if (directive == DELETE) {
            if (to.index != NO_MATCH)
                json_decref(take(kept[to.index]));
        } else {
            const json_t *old = to.index != NO_MATCH ? kept[to.index] : NULL;

            element = merge_element(row, old, to.patch, where.data, err);
            ok = element != NULL;
            if (ok && to.index != NO_MATCH) {
                json_decref(kept[to.index]);
                kept[to.index] = element;
            } else if (ok) {
                json_array_append_new(added, element);
            }
        }
    }
    if (ok) {
        out = json_array();
        for (size_t i = 0; i < had; i++)
            if (kept[i])
                json_array_append(out, kept[i]);
        json_array_extend(out, added);
    }
    for (size_t i = 0; i < had; i++)
        json_decref(kept[i]);
    mem_free(kept);
    return out;
}

/* Returns the new value of one member (owned), or NULL with `err`. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the tables */
static json_t *merge_member(const struct merge_row *row, const json_t *from, const json_t *patch,
                            const char *path, struct error *err)
{
    enum directive directive = directive_of(patch);

    if (directive == UNKNOWN_DIRECTIVE) {
        unknown_directive(patch, path, err);
        return NULL;
    }
    if (directive == SUBSTITUTE)
        return clean(patch);
    if (row->how == MERGE_BY_KEY && json_is_object(patch))
        return merge_by_key(from, patch);
    if (row->how == MERGE_RECURSE && json_is_object(patch))
        return merge_object(row->of, from, patch, path, err);
    if ((row->how == MERGE_LIST || row->how == MERGE_LIST_DEEP) && json_is_array(patch))
        return merge_list(row, from, patch, path, err);
    return clean(patch);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the tables */
static json_t *merge_object(const struct merge_row *rows, const json_t *from, const json_t *patch,
                            const char *path, struct error *err)
{
    json_t *out = json_is_object(from) ? json_copy(unconst(from)) : json_object();
    const char *member;
    json_t *value;

    json_object_foreach(unconst(patch), member, value)
    {
        scoped(buf) struct buf where = {0};
        json_t *merged;

        if (json_is_null(value) || is_directive(member))
            continue;
        if (directive_of(value) == DELETE) {
            json_object_del(out, member);
            continue;
        }
        buf_printf(&where, "%s.%s", path, member);
        merged = merge_member(merge_row_of(rows, member), json_object_get(from, member), value,
                              where.data, err);
        if (!merged) {
            json_decref(out);
            return NULL;
        }
        json_object_set_new_nocheck(out, member, merged);
    }
    return out;
}

json_t *template_merge(const json_t *spec, const json_t *patch, const char *path, struct error *err)
{
    if (!json_is_object(patch))
        return json_incref(unconst(spec));
    return merge_object(merge_job_rows, spec, patch, path, err);
}
