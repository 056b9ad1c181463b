#pragma once
/*
 * Between view/flow_view*.c: what is known of a flow's steps while a view is made of them, from
 * documents (load.c) or from text (large_flow.c).
 */
#include "view/flow_view.h"

/**
 * A view of `steps` (consumed), which have what their entries say; `doc` (kept) names the flow.
 * NULL when a name is missing or used twice.
 */
struct flowview *flowview_make(json_t *doc, struct flowview_step *steps, uint32_t n_steps,
                               struct error *err);

/* states.c */
void flowview_load_states(struct flowview *view);
