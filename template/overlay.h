#pragma once
/*
 * What a flow says of all its jobs, and a loop of its iterations, laid over a template's spec.
 *
 * Neither is a patch of a step: the flow's scheduling comes before it and may be changed by it, the
 * iteration's variables come after it. Ref: spec/jobflow.md 6.3, 13.5, 13.7.
 */
#include "api/types/kinds/jobflow/jobflow.h"

/** `spec` is consumed and not changed; the result is owned. A template's plugin wins over one of
 * the same name. */
json_t *overlay_scheduling(json_t *spec, const struct flow_scheduling *scheduling);

/** VC_FLOW_ITEM and VC_FLOW_INDEX for every container that has none of the name. The same. */
json_t *overlay_iteration(json_t *spec, const char *item, const char *index);
