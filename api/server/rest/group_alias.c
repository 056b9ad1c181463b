/*
 * Renames the members of documents and patches between the stored kind and its alias, by a table of
 * names for each alias.
 */
#include "api/server/rest/group_alias.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "base/timefmt.h"

/* clang-format off */
static const struct group_alias_member event_members[] = {
    {"involvedObject",     "regarding"},
    {"message",            "note"},
    {"source",             "deprecatedSource"},
    {"firstTimestamp",     "deprecatedFirstTimestamp"},
    {"lastTimestamp",      "deprecatedLastTimestamp"},
    {"count",              "deprecatedCount"},
    {"reportingComponent", "reportingController"},
    {0},
};

const struct group_alias group_aliases[] = {
    {"events.k8s.io", "v1", &kind_event, event_members},
    {0},
};
/* clang-format on */

const struct group_alias *group_alias_find(const char *group, const char *version,
                                           const char *plural)
{
    for (const struct group_alias *alias = group_aliases; alias->group; alias++)
        if (strcmp(alias->group, group) == 0 && strcmp(alias->version, version) == 0 &&
            strcmp(alias->kind->plural, plural) == 0)
            return alias;
    return NULL;
}

void group_alias_api_version(const struct group_alias *alias, struct buf *out)
{
    buf_printf(out, "%s/%s", alias->group, alias->version);
}

static const char *shown_name(const struct group_alias *alias, const char *stored)
{
    for (const struct group_alias_member *member = alias->members; member->stored; member++)
        if (strcmp(member->stored, stored) == 0)
            return member->shown;
    return stored;
}

/* Returns the stored name of the member that is shown as `shown`, which is the first step of a path
 * and need not be terminated. */
static const char *stored_name(const struct group_alias *alias, const char *shown, size_t len)
{
    for (const struct group_alias_member *member = alias->members; member->stored; member++)
        if (strlen(member->shown) == len && strncmp(member->shown, shown, len) == 0)
            return member->stored;
    return NULL;
}

/* Sets eventTime, without which clients of events.k8s.io do not read an event. Core events may have
 * only firstTimestamp or lastTimestamp, to the second. */
static void fill_event_time(const json_t *doc, json_t *shown)
{
    static const char *const places[] = {"firstTimestamp", "lastTimestamp"};
    const char *time = json_string_value(json_object_get(doc, "eventTime"));
    int64_t ms;
    char text[TIME_TEXT_MAX];

    for (size_t i = 0; !time && i < countof(places); i++)
        time = json_string_value(json_object_get(doc, places[i]));
    if (!time)
        time = doc_text(doc, "metadata.creationTimestamp");
    if (!time || !time_parse(time, &ms, NULL) || json_object_get(shown, "eventTime"))
        return;
    time_format_micro(ms * 1000000, text);
    json_object_set_new(shown, "eventTime", json_string(text));
}

void group_alias_write(const struct group_alias *alias, const struct object *object,
                       struct buf *out)
{
    scoped(json) json_t *doc = object_to_json(object), *shown = json_object();
    scoped(buf) struct buf version = {0};
    const char *key;
    json_t *value;

    group_alias_api_version(alias, &version);
    json_object_foreach(doc, key, value)
    {
        json_object_set(shown, shown_name(alias, key), value);
    }
    json_object_set_new(shown, "apiVersion", json_string(version.data));
    if (alias->kind == &kind_event)
        fill_event_time(doc, shown);
    json_text(shown, out);
}

void group_alias_to_stored(const struct group_alias *alias, json_t *doc)
{
    for (const struct group_alias_member *member = alias->members; member->stored; member++) {
        json_t *value = json_object_get(doc, member->shown);

        if (value) {
            json_object_set(doc, member->stored, value);
            json_object_del(doc, member->shown);
        }
    }
    if (json_object_get(doc, "apiVersion"))
        json_object_set_new(doc, "apiVersion", json_string(kind_api_version(alias->kind)));
}

static void rename_pointer(const struct group_alias *alias, json_t *operation, const char *member)
{
    const char *path = json_string_value(json_object_get(operation, member));
    size_t len = path && *path == '/' ? strcspn(path + 1, "/") : 0;
    const char *stored = len ? stored_name(alias, path + 1, len) : NULL;

    if (stored)
        json_object_set_new(operation, member, json_sprintf("/%s%s", stored, path + 1 + len));
}

void group_alias_patch_to_stored(const struct group_alias *alias, json_t *operations)
{
    json_t *operation;
    size_t i;

    json_array_foreach(operations, i, operation)
    {
        rename_pointer(alias, operation, "path");
        rename_pointer(alias, operation, "from");
    }
}
