#pragma once
/*
 * The cells of table rows: columns of the kinds whose cells are worked out, and quick ways to the
 * columns other kinds declare by path.
 */
#include "api/types/object.h"

/* One row being written. The documents are parsed when the first cell asks for them. */
struct cell_row {
    const struct object *object;
    int64_t now_ms;
    json_t *body, *status; /* owned; NULL until asked for */
};
void cell_row_release(struct cell_row *row);
SCOPED_DEFINE(cell_row, struct cell_row, cell_row_release)
const json_t *cell_body(struct cell_row *row);
const json_t *cell_status(struct cell_row *row);

typedef void (*cell_fn)(struct jsonw *w, struct cell_row *row); /* writes one JSON value */

struct cell_column {
    const char *title;
    const char *type; /* string, integer, boolean, date */
    int priority;     /* 1: only with -o wide */
    cell_fn write;
};

/** Columns of a kind, ended by a zero row, or NULL when its printer columns (types/kind.h) say it
 * all.
 */
const struct cell_column *cells_of(const struct kind *kind);
extern const struct cell_column cells_pod[], cells_event[], cells_endpoints[],
    cells_endpoint_slice[];
/** A cell that needs no document for a column declared by `path`; NULL when there is none. */
cell_fn cell_of_path(const struct kind *kind, const char *path);

void cell_name(struct jsonw *w, struct cell_row *row);
void cell_age(struct jsonw *w, struct cell_row *row);
/** The age text of a moment: "12s", "<unknown>" for 0. */
void cell_write_age(struct jsonw *w, int64_t at_ms, int64_t now_ms);
void cell_write_or(struct jsonw *w, const char *text, const char *otherwise); /* NULL and "" */

/** The text at members `first` and, unless NULL, `second`; NULL if absent. */
const char *cell_member(const json_t *doc, const char *first, const char *second);
