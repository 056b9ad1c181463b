#pragma once
/*
 * The cells of table rows: the columns of kinds whose cells are computed, and fast paths for
 * columns that other kinds declare by path.
 */
#include "api/types/object.h"

/* The row being written. The documents are parsed when the first cell needs them. */
struct cell_row {
    const struct object *object;
    int64_t now_ms;
    json_t *body, *status; /* documents of the object, owned; NULL until needed */
};
void cell_row_release(struct cell_row *row);
SCOPED_DEFINE(cell_row, struct cell_row, cell_row_release)
const json_t *cell_body(struct cell_row *row);
const json_t *cell_status(struct cell_row *row);

typedef void (*cell_fn)(struct jsonw *w, struct cell_row *row); /* writes one JSON value */

struct cell_column {
    const char *title;
    const char *type;      /* string, integer, boolean, date */
    int priority;          /* 1: only with -o wide */
    cell_fn write;         /* writes the cell; NULL: the cell is the text at `path` */
    const char *path;      /* dotted path in the object */
    const char *otherwise; /* what is shown instead of an absent or empty text */
};

/** Columns of a kind, ended by a zero row; NULL when the kind declares printer columns
 * (api/types/kind.h). */
const struct cell_column *cells_of(const struct kind *kind);
extern const struct cell_column cells_pod[], cells_event[], cells_endpoints[],
    cells_endpoint_slice[];
/** The fast path for a column declared by `path`: a cell from decoded forms, without parsing the
 * document. NULL when there is none. */
cell_fn cell_of_path(const struct kind *kind, const char *path);

void cell_name(struct jsonw *w, struct cell_row *row);
void cell_age(struct jsonw *w, struct cell_row *row);
void cell_none(struct jsonw *w, struct cell_row *row); /* writes "<none>" */
/** Writes the time since `at_ms`: "12s"; "<unknown>" for 0. */
void cell_write_age(struct jsonw *w, int64_t at_ms, int64_t now_ms);
/* Writes a text; shows `otherwise` instead of NULL and "". */
void cell_write_or(struct jsonw *w, const char *text, const char *otherwise);
