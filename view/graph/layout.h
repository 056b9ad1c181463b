#pragma once
/*
 * The layout of a drawn flow: the row and column of each step's box.
 *
 * Rows are the layers of the graph, from top to bottom. Edges that span several rows are cut by
 * waypoints, so every line goes from one row to the next. igraph decides the order within a row;
 * the columns are computed here, because boxes are as wide as their texts and igraph knows points
 * only.
 */
#include "base/collections/dag.h"
#include "base/error.h"

struct layout_box {
    uint32_t vertex; /* vertex of the graph; UINT32_MAX: a waypoint */
    uint32_t layer;
    int width;  /* width in columns, an odd number */
    int center; /* column of the middle */
};

struct layout_line {         /* a line between two neighbouring rows */
    uint32_t from, to;       /* numbers of the boxes at its ends */
    uint32_t source, target; /* vertices at the ends of the edge that the line is a part of */
};

struct layout {
    struct layout_box *boxes; /* the boxes by layer, from left to right, [n_boxes] */
    size_t n_boxes;
    uint32_t n_layers;
    uint32_t *first; /* first box of each layer, [n_layers + 1] */
    struct layout_line *lines;
    size_t n_lines;
    uint32_t *first_line; /* first line below each layer, [n_layers + 1] */
    int columns;          /* width of the whole drawing */
};

enum { LAYOUT_STEPS_MAX = 2000, LAYOUT_BOXES_MAX = 20000 };

/**
 * Lay out `dag` (each edge once), `layers` [vertices] as given and `widths` [vertices] as needed
 * (made odd). Waypoints take `waypoint` columns. NULL with TOO_LARGE beyond the limits above, with
 * UNAVAILABLE where igraph is not installed.
 */
struct layout *layout_new(const struct dag *dag, const uint32_t *layers, const int *widths,
                          int waypoint, int gap, struct error *err);
void layout_free(struct layout *layout); /* NULL is ignored */
SCOPED_DEFINE_PTR(layout, struct layout *, layout_free)
