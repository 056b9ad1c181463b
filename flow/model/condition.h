#pragma once
/*
 * Conditions of if, switch and until, on what the record knows; pure. Ref: spec/jobflow.md 13.3.
 *
 * A step that has not ended has no phase, no exit code and no output: terms about it are false, and
 * true with `not`.
 */
#include "flow/model/flow_model.h"

/** Whether the condition holds now. */
bool flow_condition_holds(const struct flow_model *m, const struct flow_condition *condition);
/** Whether a term speaks of how its target ended: it may turn a failure into something that was
 * expected, and it is asked even when all targets were skipped. */
bool flow_term_handles(const struct flow_term *term);
bool flow_condition_handles(const struct flow_condition *condition);

/** Append the item of an iteration: of items, of a range, or its number. */
void flow_iteration_item(const struct flow_model *m, uint32_t step, struct buf *out);

/** What the last job of a step left behind; of a loop, its last iteration's. NULL = nothing. */
const struct job_results *flow_results_of(const struct flow_model *m, uint32_t step);

/** What references of a step's patch stand for, and parameters in the values of conditions. */
struct flow_values {
    const struct flow_model *model;
    uint32_t step;
    const char *flow_phase; /* how the flow ends, for its final steps; NULL = not known */
};
struct flow_ref_values;
/** Good as long as `values`. */
struct flow_ref_values flow_values_of(struct flow_values *values);
