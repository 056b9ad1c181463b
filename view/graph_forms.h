#pragma once
/*
 * The forms in which a flow's graph is shown. Each prints one flow.
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

/** Boxes and lines, or where they do not fit a table by layers. */
void graph_text(const struct graph_form *form);
/** Graphviz. */
void graph_dot(const struct graph_form *form);
/** A picture; TOO_LARGE beyond what can be laid out. */
bool graph_svg(const struct graph_form *form, struct error *err);
/** Everything known, for programs; owned. */
json_t *graph_json(const struct flow_view *view);

/* ---- shared ---- */

/** What graph_text prints when boxes do not fit. */
void graph_table(const struct graph_form *form);
/** "Running 1m3s", "Completed 12s", "Waiting"; "" without a state. */
void graph_state(const struct flow_view_step *step, int64_t now_ms, struct buf *out);
/** Below text forms: the critical path, and the expected end. */
void graph_legend(const struct graph_form *form);
