#pragma once
/*
 * The forms in which `graph` shows a flow: text for a terminal, a table, SVG, Graphviz, JSON
 * and columns.
 * Each function prints one view, which must be linked.
 */
#include <stdio.h>

#include "base/term.h"
#include "view/flow_view.h"

struct graph_form {
    const struct flow_view *view;
    const struct term *term;
    int columns; /* largest width in columns; 0 = any */
    int64_t now_ms;
    FILE *out;
};

/** Draws boxes and lines; prints a table by layers when they do not fit. */
void graph_text(const struct graph_form *form);
/** Prints input for Graphviz. */
void graph_dot(const struct graph_form *form);
/** Prints an SVG picture. False with TOO_LARGE beyond the limits of layout.h, with UNAVAILABLE
 * without igraph. */
bool graph_svg(const struct graph_form *form, struct error *err);
/** Returns all members of the view that programs may need; owned. */
json_t *graph_json(const struct flow_view *view);
/** Adds to the JSON of a view where its boxes and lines are drawn ("layout"), or why that is not
 * known ("layoutMissing"). Layers go from left to right; y grows downwards. */
void graph_positions(const struct flow_view *view, json_t *out);

/** Appends the steps and edges of a view as columns (base/encoding/columns.h), for the page: the
 * members of the header are listed at the top of graph_columns.c. */
void graph_columns(const struct flow_view *view, struct buf *out);

/* Functions that several forms share. */

/** Prints the table that replaces boxes that do not fit. */
void graph_table(const struct graph_form *form);
/** Appends "Running 1m3s", "Completed 12.30s" or "Waiting"; nothing for a step without a state. */
void graph_state(const struct flow_view_step *step, int64_t now_ms, struct buf *out);
/** Prints the critical path and its duration, below a text form. */
void graph_legend(const struct graph_form *form);
