/*
 * Tables. A kind has either columns whose cells are computed (cells.h) or printer columns that are
 * declared by path in its row of the table of kinds.
 */
#include "api/server/rest/table/table.h"

#include <string.h>

#include "api/server/rest/table/cells.h"
#include "api/types/text/doc.h"
#include "base/timefmt.h"

static void write_definition(struct jsonw *w, const char *name, const char *type, int priority,
                             const char *description)
{
    jsonw_open(w);
    jsonw_member_str(w, "name", name);
    jsonw_member_str(w, "type", type);
    jsonw_member_str(w, "format", strcmp(name, "Name") == 0 ? "name" : "");
    jsonw_member_str(w, "description", description ? description : "");
    jsonw_member_int(w, "priority", priority);
    jsonw_close(w);
}

static void write_definitions(struct jsonw *w, const struct kind *kind)
{
    const struct cell_column *cells = cells_of(kind);

    for (const struct cell_column *cell = cells; cell && cell->title; cell++)
        write_definition(w, cell->title, cell->type, cell->priority, NULL);
    if (cells)
        return;
    write_definition(w, "Name", "string", 0, "The name of the object.");
    if (!kind->columns)
        write_definition(w, "Age", "date", 0, "Time since the object was created.");
    for (const struct column *column = kind->columns; column && column->title; column++)
        write_definition(w, column->title, column->type, column->priority, column->description);
}

/* Returns the value at a dotted path of the object, or NULL. */
static const json_t *value_at(struct cell_row *row, const char *path)
{
    static const char status[] = "status.";
    const size_t n = sizeof status - 1;

    return strncmp(path, status, n) == 0 ? doc_at(cell_status(row), path + n)
                                         : doc_at(cell_body(row), path);
}

static void write_value(struct jsonw *w, const struct column *column, const json_t *value,
                        int64_t now_ms)
{
    int64_t at_ms;

    if (json_is_string(value) && strcmp(column->type, "date") == 0 &&
        time_parse(json_string_value(value), &at_ms, NULL))
        cell_write_age(w, at_ms, now_ms);
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
    scoped(cell_row) struct cell_row row = {.object = object, .now_ms = now_ms};
    const struct cell_column *cells = cells_of(object->kind);

    for (const struct cell_column *cell = cells; cell && cell->title; cell++)
        if (cell->write)
            cell->write(w, &row);
        else
            cell_write_or(w, json_string_value(value_at(&row, cell->path)), cell->otherwise);
    if (cells)
        return;
    cell_name(w, &row);
    if (!object->kind->columns)
        cell_age(w, &row);
    for (const struct column *column = object->kind->columns; column && column->title; column++) {
        cell_fn write = cell_of_path(object->kind, column->path);

        if (write)
            write(w, &row);
        else
            write_value(w, column, value_at(&row, column->path), now_ms);
    }
}

static void write_meta_version(struct jsonw *w, const struct table *table)
{
    char version[32];

    snprintf(version, sizeof version, "meta.k8s.io/%s", table->version);
    jsonw_member_str(w, "apiVersion", version);
}

void table_write_partial(const struct table *table, const struct object *object, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "PartialObjectMetadata");
    write_meta_version(&w, table);
    object_write_meta(object, &w);
    jsonw_close(&w);
}

void table_row(const struct table *table, const struct object *object, struct buf *out)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(out);

    jsonw_open(&w);
    jsonw_member_open_list(&w, "cells");
    write_cells(&w, object, table->now_ms);
    jsonw_close_list(&w);
    if (table->include == TABLE_OBJECT_FULL)
        object_write(object, &text);
    else if (table->include == TABLE_OBJECT_METADATA)
        table_write_partial(table, object, &text);
    if (text.len)
        jsonw_member_raw(&w, "object", text.data, text.len);
    jsonw_close(&w);
}

void table_begin(const struct table *table, const struct table_head *head, struct buf *out)
{
    struct jsonw w = jsonw_to(out);
    char revision[24];

    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "Table");
    write_meta_version(&w, table);
    jsonw_member_open(&w, "metadata");
    snprintf(revision, sizeof revision, "%lld", (long long)head->revision);
    jsonw_member_str(&w, "resourceVersion", revision);
    jsonw_member_str_opt(&w, "continue", head->continue_token);
    jsonw_member_int_opt(&w, "remainingItemCount", head->remaining);
    jsonw_close(&w);
    jsonw_key(&w, "columnDefinitions");
    if (head->columns == TABLE_COLUMNS) {
        jsonw_open_list(&w);
        write_definitions(&w, table->kind);
        jsonw_close_list(&w);
    } else {
        jsonw_raw(&w, "null", 4);
    }
    jsonw_member_open_list(&w, "rows");
}

void table_end(struct buf *out)
{
    buf_str(out, "]}");
}
