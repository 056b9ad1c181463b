#pragma once
/*
 * How many iterations loops with `until` may have beyond their maxIterations.
 *
 * A loop whose condition never came true has failed. A manual retry continues it, with as many
 * iterations again. The budget is part of status.nodes[].iterations, and of the graph, where every
 * iteration is a vertex.
 */
#include "flow/model/flow_model.h"

/* Each function returns an array [spec->steps.count] of further iterations (owned); NULL when no
 * loop has any. */

/** Returns the budgets that a stored status shows. */
uint32_t *iteration_budget_stored(const struct jobflow_spec *spec, const json_t *status);
/** Returns the budgets of a graph, for the steps of a spec that may be another one. */
uint32_t *iteration_budget_kept(const struct jobflow_spec *spec, const struct flow_graph *graph);
/** Returns the budgets of the model, with as many iterations again for each loop that has used up
 * its own; NULL when none has. */
uint32_t *iteration_budget_renewed(const struct flow_model *m);
