#pragma once
/*
 * The conditions of if, switch and until, and the values of references `$(…)`: pure functions of
 * the model. Ref: spec/jobflow.md 13.3.
 *
 * A step that has not ended has no phase, no exit code and no output. A term about it is false, and
 * true with `not`.
 */
#include "flow/model/flow_model.h"

/** Returns whether the condition holds now. */
bool flow_condition_holds(const struct flow_model *m, const struct flow_condition *condition);
/** Returns whether `value` is in the relation to `with`: greater or less as numbers for Gt and Lt,
 * else equal. */
bool flow_values_compare(enum value_operator op, const char *value, const char *with);
/** Returns whether a term is about how its target ended. Such a condition may handle the failure of
 * the target, and it is evaluated even if all targets were skipped. */
bool flow_term_handles(const struct flow_term *term);
bool flow_condition_handles(const struct flow_condition *condition);

/** Appends the item of an iteration: an entry of `items`, or a number of the range. */
void flow_iteration_item(const struct flow_model *m, uint32_t step, struct buf *out);

/** Returns the results of a step's last job; of a loop, those of its last iteration that has any.
 * NULL = none. */
const struct job_results *flow_results_of(const struct flow_model *m, uint32_t step);

/* The context in which references are replaced. */
struct flow_values {
    const struct flow_model *model;
    uint32_t step;          /* STEP_NONE: only references that need no step are replaced */
    const char *flow_phase; /* how the flow ends, for its final steps; NULL = not known */
    bool last_is_output;    /* the value that was asked for last is an output */
};
struct flow_ref_values;
/** Returns the values of references for api/types/schema/flow_reference; valid as long as `values`.
 */
struct flow_ref_values flow_values_of(struct flow_values *values);
