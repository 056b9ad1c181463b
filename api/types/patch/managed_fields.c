/*
 * Computes managedFields. Entries are documents in time order. An update takes its fields away from
 * the other entries; an apply compares its fields with those that others own.
 */
#include "api/types/patch/managed_fields.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/text/json_text.h"

enum { UPDATERS_MAX = 10 }; /* update entries beyond this number are merged */
#define ANCIENT "ancient-changes"

static const char *const operation_names[] = {
    [MANAGED_UPDATE] = "Update",
    [MANAGED_APPLY] = "Apply",
};

static const char *text_of(const json_t *entry, const char *member)
{
    const char *text = json_string_value(json_object_get(entry, member));

    return text ? text : "";
}

static const json_t *set_of(const json_t *entry)
{
    return json_object_get(entry, "fieldsV1");
}

static bool is_writers(const json_t *entry, const struct managed_write *write)
{
    return strcmp(text_of(entry, "manager"), write->manager) == 0 &&
           strcmp(text_of(entry, "operation"), operation_names[write->operation]) == 0 &&
           strcmp(text_of(entry, "apiVersion"), write->api_version) == 0 &&
           strcmp(text_of(entry, "subresource"), write->subresource ? write->subresource : "") == 0;
}

static const json_t *writers_set(const json_t *entries, const struct managed_write *write)
{
    json_t *entry;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        if (is_writers(entry, write))
            return set_of(entry);
    }
    return NULL;
}

/* Returns a copy of the entry with another set. */
static json_t *with_set(const json_t *entry, json_t *set)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)entry);

    json_object_set_new(copy, "fieldsV1", set);
    return copy;
}

static json_t *new_entry(const struct managed_write *write, json_t *set)
{
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "manager", write->manager, "operation",
                  operation_names[write->operation], "apiVersion", write->api_version, "time",
                  write->now, "fieldsType", "FieldsV1", "fieldsV1", set);

    if (write->subresource)
        json_object_set_new(entry, "subresource", json_string(write->subresource));
    return entry;
}

/* Replaces the writer's set in the list by `set` (consumed). An empty set removes the entry. */
static void put_writers(json_t *entries, const struct managed_write *write, json_t *set)
{
    scoped(json) json_t *owned = set;
    json_t *entry;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        if (!is_writers(entry, write))
            continue;
        if (json_equal(set_of(entry), set))
            return;
        json_array_remove(entries, i);
        break;
    }
    if (!fieldset_is_empty(set))
        json_array_append_new(entries, new_entry(write, take(owned)));
}

json_t *managed_parse(const json_t *value)
{
    json_t *entry;
    size_t i;

    if (!json_is_array(value))
        return NULL;
    json_array_foreach(value, i, entry)
    {
        const char *operation = text_of(entry, "operation");

        if (!*text_of(entry, "manager") || !*text_of(entry, "apiVersion") ||
            (strcmp(operation, "Apply") != 0 && strcmp(operation, "Update") != 0) ||
            !fieldset_is_valid(set_of(entry)))
            return NULL;
    }
    return json_incref((json_t *)(uintptr_t)value);
}

json_t *managed_tracked(const json_t *doc, bool has_status, const char *subresource)
{
    static const char *const identity[] = {
        "name",         "namespace",         "uid",
        "generation",   "resourceVersion",   "creationTimestamp",
        "selfLink",     "deletionTimestamp", "deletionGracePeriodSeconds",
        "managedFields"};
    json_t *tracked, *metadata;

    if (subresource) {
        tracked = json_object();
        json_object_set(tracked, subresource, json_object_get(doc, subresource));
        return tracked;
    }
    tracked = json_copy((json_t *)(uintptr_t)doc);
    json_object_del(tracked, "apiVersion");
    json_object_del(tracked, "kind");
    if (has_status)
        json_object_del(tracked, "status");
    metadata = json_copy(json_object_get(doc, "metadata"));
    for (size_t i = 0; i < countof(identity); i++)
        json_object_del(metadata, identity[i]);
    if (json_object_size(metadata))
        json_object_set(tracked, "metadata", metadata);
    else
        json_object_del(tracked, "metadata");
    json_decref(metadata);
    return tracked;
}

/* Orders apply entries before update entries, then by time. Entries of the same second keep their
 * order. Ref: k8s.io/apimachinery pkg/util/managedfields, sortEncodedManagedFields. */
static int compare_entries(const json_t *a, const json_t *b)
{
    int order = strcmp(text_of(a, "operation"), text_of(b, "operation"));

    return order ? order : strcmp(text_of(a, "time"), text_of(b, "time"));
}

/* Sorts by insertion: entries are few, and all but the last written are in order. */
static void sort_entries(json_t *entries)
{
    for (size_t i = 1; i < json_array_size(entries); i++) {
        scoped(json) json_t *entry = json_incref(json_array_get(entries, i));
        size_t to = i;

        while (to > 0 && compare_entries(json_array_get(entries, to - 1), entry) > 0)
            to--;
        json_array_remove(entries, i);
        json_array_insert(entries, to, entry);
    }
}

/* Returns the entries with `taken` removed from all but the writer's; empty ones are dropped. */
static json_t *without(const json_t *entries, const struct managed_write *write,
                       const json_t *taken)
{
    json_t *result = json_array(), *entry, *rest;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        if (is_writers(entry, write)) {
            json_array_append(result, entry);
            continue;
        }
        rest = fieldset_difference(set_of(entry), taken);
        if (fieldset_is_empty(rest))
            json_decref(rest);
        else
            json_array_append_new(result, with_set(entry, rest));
    }
    return result;
}

static bool is_updater(const json_t *entry)
{
    return strcmp(text_of(entry, "operation"), "Update") == 0;
}

/* Returns the index of the n-th update entry, not counting the manager `but`; SIZE_MAX if there is
 * none. */
static size_t find_updater(const json_t *entries, const char *but, size_t n)
{
    json_t *entry;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        if (is_updater(entry) && (!but || strcmp(text_of(entry, "manager"), but) != 0) && n-- == 0)
            return i;
    }
    return SIZE_MAX;
}

/* Merges the oldest update entries when there are too many. The list is in time order. */
static void bound(json_t *entries, const struct managed_write *write)
{
    while (find_updater(entries, NULL, UPDATERS_MAX) != SIZE_MAX) {
        size_t first = find_updater(entries, write->manager, 0);
        size_t second = find_updater(entries, write->manager, 1);
        scoped(json) json_t *both = NULL;

        if (second == SIZE_MAX)
            return;
        both = fieldset_union(set_of(json_array_get(entries, first)),
                              set_of(json_array_get(entries, second)));
        json_array_set_new(entries, first, with_set(json_array_get(entries, first), take(both)));
        json_object_set_new(json_array_get(entries, first), "manager", json_string(ANCIENT));
        json_array_remove(entries, second);
    }
}

json_t *managed_update(const json_t *entries, const struct managed_write *write,
                       const json_t *before, const json_t *after)
{
    scoped(fieldset_changes) struct fieldset_changes changes =
        fieldset_compare(&write->at, before, after);
    scoped(json) json_t *touched = fieldset_union(changes.changed, changes.gone);
    scoped(json) json_t *own = NULL;
    const json_t *set = writers_set(entries, write);
    json_t *result;

    if (fieldset_is_empty(touched))
        return json_copy((json_t *)(uintptr_t)entries);
    result = without(entries, write, touched);
    own = fieldset_difference(set, changes.gone);
    put_writers(result, write, fieldset_union(own, changes.changed));
    bound(result, write);
    sort_entries(result);
    return result;
}

void managed_begin(const struct managed_write *write, const struct buf *fields, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    jsonw_open_list(&w);
    jsonw_open(&w);
    jsonw_member_str(&w, "manager", write->manager);
    jsonw_member_str(&w, "operation", operation_names[write->operation]);
    jsonw_member_str(&w, "apiVersion", write->api_version);
    jsonw_member_str(&w, "time", write->now);
    jsonw_member_str(&w, "fieldsType", "FieldsV1");
    jsonw_member_open(&w, "fieldsV1");
    jsonw_raw(&w, fields->data, fields->len);
    jsonw_close(&w);
    jsonw_member_str_opt(&w, "subresource", write->subresource);
    jsonw_close(&w);
    jsonw_close_list(&w);
}

struct conflicts {
    const json_t *entry;
    struct error_list *errors;
};

static void add_conflict(void *ctx, const char *path)
{
    const struct conflicts *conflicts = ctx;
    const char *sub = text_of(conflicts->entry, "subresource");
    bool updater = is_updater(conflicts->entry);

    error_list_add(conflicts->errors, ERR_CONFLICT, path, "conflict with \"%s\"%s%s%s%s%s",
                   text_of(conflicts->entry, "manager"), *sub ? " with subresource \"" : "", sub,
                   *sub ? "\"" : "", updater ? " using " : "",
                   updater ? text_of(conflicts->entry, "apiVersion") : "");
}

static int by_path(const void *a, const void *b)
{
    const struct error *one = a, *other = b;

    return strcmp(one->field, other->field);
}

/* Reports the fields of `changed` that other managers own. Returns false if any of them is not in
 * `forgiven`. */
static bool check_conflicts(const json_t *entries, const struct managed_write *write,
                            const json_t *changed, const json_t *forgiven,
                            struct error_list *errors)
{
    json_t *entry;
    size_t i, before = errors->count;

    json_array_foreach(entries, i, entry)
    {
        scoped(json) json_t *held = NULL, *left = NULL;
        size_t first = errors->count;

        if (is_writers(entry, write))
            continue;
        held = fieldset_intersection(set_of(entry), changed);
        left = fieldset_difference(held, forgiven);
        if (!fieldset_is_empty(left))
            fieldset_each(left, add_conflict, &(struct conflicts){entry, errors});
        if (errors->count > first)
            qsort(errors->items + first, errors->count - first, sizeof *errors->items, by_path);
    }
    return errors->count == before;
}

/* Returns the union of the sets of all other managers. */
static json_t *others_of(const json_t *entries, const struct managed_write *write)
{
    scoped(json) json_t *all = json_object();
    json_t *entry;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        scoped(json) json_t *so_far = take(all);

        all = is_writers(entry, write) ? take(so_far) : fieldset_union(so_far, set_of(entry));
    }
    return take(all);
}

/* Removes the fields that the writer applied before, does not apply any more, and that no other
 * manager owns. */
static void give_up(json_t *doc, const json_t *entries, const struct managed_write *write,
                    const json_t *wanted)
{
    scoped(json) json_t *others = others_of(entries, write);
    scoped(json) json_t *kept = fieldset_union(others, wanted);
    scoped(json) json_t *given_up = fieldset_difference(writers_set(entries, write), kept);

    fieldset_remove(&write->at, doc, given_up, kept);
}

bool managed_apply(const json_t *entries, const struct managed_write *write,
                   struct managed_apply *apply, struct error_list *errors)
{
    scoped(json) json_t *wanted = fieldset_of(&write->at, apply->config);
    scoped(json) json_t *doc = fieldset_merge(&write->at, apply->live, apply->config);
    scoped(fieldset_changes) struct fieldset_changes changes = {0};
    scoped(json) json_t *touched = NULL;

    give_up(doc, entries, write, wanted);
    changes = fieldset_compare(&write->at, apply->live, doc);
    if (!apply->force && !check_conflicts(entries, write, changes.changed, apply->forgiven, errors))
        return false;
    touched = fieldset_union(changes.changed, changes.gone);
    apply->out_entries = without(entries, write, touched);
    put_writers(apply->out_entries, write, take(wanted));
    sort_entries(apply->out_entries);
    apply->out_doc = take(doc);
    return true;
}

void managed_apply_release(struct managed_apply *apply)
{
    json_decref(apply->out_doc);
    json_decref(apply->out_entries);
}
