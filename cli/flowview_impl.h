#pragma once
/*
 * Between cli/flowview*.c: what is known of a flow's steps while a view is made of them, from
 * documents (flowview_load.c) or from text (flowview_text.c).
 */
#include "api/types/nameindex.h"
#include "cli/flowview.h"

struct flowview_edges {
    struct dag_edge *items;
    size_t count, cap;
};

struct flowview_load {
    struct flowview *view;
    struct name_index names;
    struct flowview_edges edges;
    uint32_t *seen; /* [n_steps] target → the step it was last a target of, plus 1 */
    struct error *err;
};

/** A view of `steps` (consumed); `doc` (kept) names the flow. */
struct flowview *flowview_begin(struct flowview_load *load, json_t *doc,
                                struct flowview_step *steps, uint32_t n_steps, struct error *err);
/** Step `i` has its name. */
bool flowview_load_name(struct flowview_load *load, uint32_t i);
/** … and names a target. */
bool flowview_load_target(struct flowview_load *load, uint32_t i, size_t at, const char *name,
                          size_t len);
/** The steps and their targets are there: switches, the order, the states. Ends the loading, also
 * when it had failed (`ok`); the view, or NULL. */
struct flowview *flowview_finish(struct flowview_load *load, bool ok);

/* flowview_states.c */
void flowview_load_states(struct flowview_load *load);
