/*
 * Topics whose rows are those of a Table: lists of flows, of other objects, and of events.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "web/topic/internal.h"

static const char table_type[] = "application/json;as=Table;v=v1;g=meta.k8s.io";

/* clang-format off */
static const struct {
    const char *word, *path;
    bool namespaced;
} resources[] = {
    {"jobflows",     "/apis/flow.volcano.sh/v1alpha1",      true},
    {"jobtemplates", "/apis/flow.volcano.sh/v1alpha1",      true},
    {"flowtriggers", "/apis/flow.volcano.sh/v1alpha1",      true},
    {"cronjobs",     "/apis/batch.volcano.sh/v1alpha1",     true},
    {"jobs",         "/apis/batch.volcano.sh/v1alpha1",     true},
    {"podgroups",    "/apis/scheduling.volcano.sh/v1beta1", true},
    {"queues",       "/apis/scheduling.volcano.sh/v1beta1", false},
    {"commands",     "/apis/bus.volcano.sh/v1alpha1",       true},
    {"pods",         "/api/v1",                             true},
    {"events",       "/api/v1",                             true},
    {"nodes",        "/api/v1",                             false},
    {"namespaces",   "/api/v1",                             false},
};
/* clang-format on */

static bool refuse(struct error *err)
{
    return error_set(err, ERR_BAD_REQUEST, "", "there is no such topic");
}

/* Appends a text as a value of a query. */
static void write_encoded(const char *text, size_t len, struct buf *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";

    for (size_t i = 0; i < len; i++) {
        if (text[i] && strchr(plain, text[i]))
            buf_char(out, text[i]);
        else
            buf_printf(out, "%%%02X", (unsigned char)text[i]);
    }
}

/* Appends the path for "RESOURCE" in "NS", "*" or "". */
static bool write_path(const char *word, size_t word_len, const char *ns, size_t ns_len,
                       struct buf *out)
{
    bool all = ns_len == 0 || (ns_len == 1 && *ns == '*');

    for (size_t i = 0; i < countof(resources); i++) {
        if (strlen(resources[i].word) != word_len || memcmp(resources[i].word, word, word_len) != 0)
            continue;
        if (!all && (!resources[i].namespaced || !topic_is_name(ns, ns_len)))
            return false;
        buf_str(out, resources[i].path);
        if (!all)
            buf_printf(out, "/namespaces/%.*s", (int)ns_len, ns);
        buf_printf(out, "/%s", resources[i].word);
        return true;
    }
    return false;
}

static size_t word_at(const char *text)
{
    return strcspn(text, " ");
}

/* Appends path and selector for "[NS [SELECTOR]]". */
static bool write_list(const char *word, const char *rest, struct buf *out, struct error *err)
{
    size_t ns_len = word_at(rest);
    const char *selector = rest[ns_len] ? rest + ns_len + 1 : "";

    if (!write_path(word, word_at(word), rest, ns_len, out))
        return refuse(err);
    if (*selector) {
        buf_str(out, "?labelSelector=");
        write_encoded(selector, strlen(selector), out);
    }
    return true;
}

static bool flows_target(const char *words, struct buf *out, struct error *err)
{
    return write_list("jobflows", words, out, err);
}

static bool objects_target(const char *words, struct buf *out, struct error *err)
{
    size_t len = word_at(words);

    return write_list(words, words[len] ? words + len + 1 : "", out, err);
}

/* "NS/KIND/NAME" */
static bool events_target(const char *words, struct buf *out, struct error *err)
{
    size_t ns_len = strcspn(words, "/");
    const char *kind = words[ns_len] ? words + ns_len + 1 : "";
    size_t kind_len = strcspn(kind, "/");
    const char *name = kind[kind_len] ? kind + kind_len + 1 : "";

    if (!topic_is_name(words, ns_len) || !kind_len || !topic_is_name(name, strlen(name)) ||
        !write_path("events", 6, words, ns_len, out))
        return refuse(err);
    buf_str(out, "?fieldSelector=involvedObject.kind%3D");
    write_encoded(kind, kind_len, out);
    buf_str(out, "%2CinvolvedObject.name%3D");
    write_encoded(name, strlen(name), out);
    return true;
}

/* The first Table of a watch has the columns. */
static void take_columns(struct topic *topic, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columnDefinitions");
    scoped(buf) struct buf members = {0};

    if (json_array_size(columns) == 0)
        return;
    buf_str(&members, ",\"columns\":");
    json_text(columns, &members);
    if (topic->reset.len && strcmp(topic->reset.data, members.data) == 0)
        return;
    buf_clear(&topic->reset);
    buf_str(&topic->reset, members.data);
    topic_reset(topic);
}

static char *key_of(const json_t *row)
{
    const char *name = doc_text(row, "object.metadata.name");
    const char *ns = doc_text(row, "object.metadata.namespace");

    return name ? mem_printf("%s%s%s", ns ? ns : "", ns ? "/" : "", name) : NULL;
}

static void take_row(struct topic *topic, const char *type, json_t *row)
{
    json_t *meta = json_object_get(json_object_get(row, "object"), "metadata");
    scoped_str key = key_of(row);
    scoped(buf) struct buf text = {0};

    if (!key)
        return;
    if (strcmp(type, "DELETED") == 0) {
        topic_remove(topic, key);
        return;
    }
    json_object_del(meta, "managedFields");
    json_object_set_new(row, "key", json_string(key));
    json_text(row, &text);
    topic_set(topic, key, text.data);
}

static void take_table(struct topic *topic, const char *type, json_t *table)
{
    size_t i;
    json_t *row;

    take_columns(topic, table);
    json_array_foreach(json_object_get(table, "rows"), i, row) take_row(topic, type, row);
}

const struct topic_kind topic_flows = {
    .word = "flows",
    .member = "rows",
    .accept = table_type,
    .target = flows_target,
    .event = take_table,
};

const struct topic_kind topic_objects = {
    .word = "objects",
    .member = "rows",
    .accept = table_type,
    .target = objects_target,
    .event = take_table,
};

const struct topic_kind topic_events = {
    .word = "events",
    .member = "rows",
    .accept = table_type,
    .target = events_target,
    .event = take_table,
};
