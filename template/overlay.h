#pragma once
/*
 * Overlays on a template's spec that are no patch of a step: the scheduling that a flow sets for
 * all its jobs, and the variables that a loop sets for each iteration.
 *
 * Scheduling is applied before the step's patch, which may change it; the variables are applied
 * after the patch. Ref: spec/jobflow.md 6.3, 13.5, 13.7.
 */
#include "api/types/kinds/jobflow/jobflow.h"

/** Sets the flow's scheduling. `spec` is consumed and not changed; the result is owned. A plugin of
 * the template takes precedence over a plugin of the flow with the same name. */
json_t *overlay_scheduling(json_t *spec, const struct flow_scheduling *scheduling);

/** Sets VC_FLOW_ITEM and VC_FLOW_INDEX in every container that does not have the variable. `spec`
 * is consumed and not changed; the result is owned. */
json_t *overlay_iteration(json_t *spec, const char *item, const char *index);
