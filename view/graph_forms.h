#pragma once
/*
 * The forms in which `graph` shows a flow: text for a terminal, a table, SVG, Graphviz and JSON.
 * Each function prints one view, which must be linked.
 */
#include <stdio.h>

#include "base/term.h"
#include "view/flow_view.h"

struct graph_form {
    const struct flow_view *view;
    const struct term *term;
    int columns; /* at most; 0 = any */
    int64_t now_ms;
    FILE *out;
};

/** Boxes and lines; a table by layers when they do not fit. */
void graph_text(const struct graph_form *form);
/** Input for Graphviz. */
void graph_dot(const struct graph_form *form);
/** A picture; false with TOO_LARGE beyond the limits of layout.h, with UNAVAILABLE without igraph.
 * */
bool graph_svg(const struct graph_form *form, struct error *err);
/** All members of the view that programs may need; owned. */
json_t *graph_json(const struct flow_view *view);

/* Parts that several forms share. */

/** The table that graph_text prints when boxes do not fit. */
void graph_table(const struct graph_form *form);
/** Append "Running 1m3s", "Completed 12.30s" or "Waiting"; nothing for a step without a state. */
void graph_state(const struct flow_view_step *step, int64_t now_ms, struct buf *out);
/** Print the critical path and its duration, below a text form. */
void graph_legend(const struct graph_form *form);
