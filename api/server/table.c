/*
 * Tables: printer columns by path for the kinds that declare them, worked-out cells for the others.
 */
#include "api/server/table.h"
#include "api/server/cells.h"
#include "base/timefmt.h"
#include <string.h>

static void write_definition(struct jsonw *w, const char *name, const char *type,
                             const char *format, int priority, const char *description)
{
    jsonw_open(w);
    jsonw_member_str(w, "name", name);
    jsonw_member_str(w, "type", type);
    jsonw_member_str(w, "format", format);
    jsonw_member_str(w, "description", description ? description : "");
    jsonw_member_int(w, "priority", priority);
    jsonw_close(w);
}

static void write_definitions(struct jsonw *w, const struct kind *kind)
{
    const struct cell_column *cells = cells_of(kind);

    if (cells) {
        for (; cells->title; cells++)
            write_definition(w, cells->title, cells->type,
                             strcmp(cells->title, "Name") == 0 ? "name" : "", cells->priority,
                             NULL);
        return;
    }
    write_definition(w, "Name", "string", "name", 0, "The name of the object");
    if (!kind->columns)
        write_definition(w, "Age", "date", "", 0, "Time since the object was created");
    for (const struct column *column = kind->columns; column && column->title; column++)
        write_definition(w, column->title, column->type, "", column->priority, column->description);
}

/* The value at a dotted path of the whole object; NULL when it is not there. */
static const json_t *value_at(const json_t *doc, const char *path)
{
    char member[64];

    while (doc && *path) {
        size_t n = strcspn(path, ".");

        if (n >= sizeof member)
            return NULL;
        memcpy(member, path, n);
        member[n] = '\0';
        doc = json_object_get(doc, member);
        path += n + (path[n] == '.');
    }
    return doc;
}

static void write_value(struct jsonw *w, const struct column *column, const json_t *value,
                        int64_t now_ms)
{
    int64_t at_ms;

    if (strcmp(column->type, "date") == 0)
        cell_write_age(
            w,
            json_is_string(value) && time_parse(json_string_value(value), &at_ms, NULL) ? at_ms : 0,
            now_ms);
    else if (json_is_string(value))
        jsonw_str(w, json_string_value(value));
    else if (json_is_integer(value))
        jsonw_int(w, json_integer_value(value));
    else if (json_is_boolean(value))
        jsonw_bool(w, json_is_true(value));
    else
        jsonw_raw(w, "null", 4);
}

static void write_cells(struct jsonw *w, const struct object *object, int64_t now_ms)
{
    const struct cell_column *cells = cells_of(object->kind);
    scoped(json) json_t *doc = NULL;

    if (cells) {
        for (; cells->title; cells++)
            cells->write(w, object, now_ms);
        return;
    }
    cell_name(w, object, now_ms);
    if (!object->kind->columns) {
        cell_age(w, object, now_ms);
        return;
    }
    doc = object_to_json(object);
    for (const struct column *column = object->kind->columns; column->title; column++)
        write_value(w, column, value_at(doc, column->path), now_ms);
}

static void write_row_object(struct jsonw *w, const struct object *object,
                             enum table_object include)
{
    scoped(buf) struct buf text = {0};

    if (include == TABLE_OBJECT_NONE)
        return;
    jsonw_key(w, "object");
    if (include == TABLE_OBJECT_FULL) {
        object_write(object, &text);
        jsonw_raw(w, text.data, text.len);
        return;
    }
    jsonw_open(w);
    jsonw_member_str(w, "kind", "PartialObjectMetadata");
    jsonw_member_str(w, "apiVersion", "meta.k8s.io/v1");
    jsonw_key(w, "metadata");
    object_write_meta(object, w);
    jsonw_close(w);
}

void table_write(const struct kind *kind, const struct object *const *objects, size_t n,
                 bool definitions, const struct table_options *options, struct buf *out)
{
    struct jsonw w = jsonw_to(out);
    char revision[24];

    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "Table");
    jsonw_member_str(&w, "apiVersion", "meta.k8s.io/v1");
    jsonw_member_open(&w, "metadata");
    snprintf(revision, sizeof revision, "%lld", (long long)options->revision);
    jsonw_member_str(&w, "resourceVersion", revision);
    jsonw_member_str_opt(&w, "continue", options->continue_);
    jsonw_close(&w);
    jsonw_key(&w, "columnDefinitions");
    if (definitions) {
        jsonw_open_list(&w);
        write_definitions(&w, kind);
        jsonw_close_list(&w);
    } else {
        jsonw_raw(&w, "null", 4);
    }
    jsonw_member_open_list(&w, "rows");
    for (size_t i = 0; i < n; i++) {
        jsonw_open(&w);
        jsonw_member_open_list(&w, "cells");
        write_cells(&w, objects[i], options->now_ms);
        jsonw_close_list(&w);
        write_row_object(&w, objects[i], options->include);
        jsonw_close(&w);
    }
    jsonw_close_list(&w);
    jsonw_close(&w);
}
