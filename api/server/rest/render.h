#pragma once
/*
 * Objects and lists of them in the form the client takes: whole, as a Table, or their metadata.
 */
#include "api/server/rest/internal.h"
#include "api/server/rest/table/table.h"

struct render {
    const struct kind *kind;
    const struct group_alias *alias; /* how objects are shown; NULL: as they are */
    enum media_form form;
    struct table table;
};

/** BAD_REQUEST for a bad includeObject. */
bool render_init(struct render *render, const struct api_call *call, struct error *err);

/** One object as a document of its own; `definitions` of a Table's columns. */
void render_object(const struct render *render, const struct object *object, bool definitions,
                   struct buf *out);

/** Append the version objects are shown in. */
void render_api_version(const struct render *render, struct buf *out);

/* A list is its beginning, its items with commas between them, and its end. */
void render_list_begin(const struct render *render, const struct table_head *head, struct buf *out);
void render_list_item(const struct render *render, const struct object *object, struct buf *out);
void render_list_end(const struct render *render, struct buf *out);
