#pragma once
/*
 * Between the files of view/ that fill a flow_view: flow_document.c and flow_text.c read the spec,
 * flow_status.c the status, flow_edges.c what steps wait for.
 */
#include "view/flow_view.h"

/* Initializes a step of spec.flows that has no flow yet and owns nothing. */
static inline void step_init(struct flow_view_step *step)
{
    step->expected_start_ms = step->expected_end_ms = step->ran_ms = -1;
}

/**
 * Makes a view of `steps` (consumed), whose names stay valid; `doc` (a reference is kept, may be
 * NULL) names the flow. NULL with INVALID when a step's name is missing or used twice; the steps
 * are freed.
 */
struct flow_view *flow_view_make(json_t *doc, struct flow_view_step *steps, uint32_t n_steps,
                                 struct error *err);
