#pragma once
/*
 * Writes objects and lists of objects in the form that the client accepts: whole, as a Table, or as
 * metadata alone.
 */
#include "api/server/rest/internal.h"
#include "api/server/rest/table/table.h"

struct render {
    const struct kind *kind;
    const struct group_alias *alias; /* names under which objects are shown; NULL: as stored */
    enum media_form form;
    struct table table;
};

/** Takes the form from the call. BAD_REQUEST for a bad includeObject. */
bool render_init(struct render *render, const struct api_call *call, struct error *err);

/** Appends one object as a document of its own. A Table gets column definitions only with
 * TABLE_COLUMNS. */
void render_object(const struct render *render, const struct object *object,
                   enum table_columns columns, struct buf *out);

/** Appends the apiVersion under which objects are shown. */
void render_api_version(const struct render *render, struct buf *out);

/* A list consists of its beginning, its items with commas between them, and its end. */
void render_list_begin(const struct render *render, const struct table_head *head, struct buf *out);
void render_list_item(const struct render *render, const struct object *object, struct buf *out);
void render_list_end(const struct render *render, struct buf *out);
