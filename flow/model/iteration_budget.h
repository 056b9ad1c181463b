#pragma once
/*
 * How many iterations loops with `until` may have beyond their maxIterations.
 *
 * A loop whose condition never came true has failed; a manual retry goes on with it, for as many
 * iterations again. What it has been given is in status.nodes[].iterations, and in the graph, where
 * every iteration is a vertex.
 */
#include "flow/model/flow_model.h"

/* Each gives [spec->steps.count] further iterations, owned; NULL: none of any. */

/** As a status tells of them. */
uint32_t *iteration_budget_stored(const struct jobflow_spec *spec, const json_t *status);
/** Those of a graph, for the steps of a spec that may be another one. */
uint32_t *iteration_budget_kept(const struct jobflow_spec *spec, const struct flow_graph *graph);
/** Those of the record and as many again for each loop that is used up; NULL when none is. */
uint32_t *iteration_budget_renewed(const struct flow_model *m);
