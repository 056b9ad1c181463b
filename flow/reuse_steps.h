#pragma once
/*
 * Looks up, before a step gets its job, whether an earlier result holds, and records the result of a
 * job that has completed.
 */
#include "flow/internal.h"

/** Returns which steps of the flow may be reused. */
enum reuse_scope flow_reuse_scope(const struct flow_controller *controller,
                                  const struct object *flow);
/** Begins to look up the ready steps that are to be looked up. */
void flow_reuse_look_up(struct flow *flow);
/** Returns whether the step, whose job would be created now, waits for another job that does the
 * same. */
bool flow_reuse_waits(struct flow *flow, uint32_t step);
/** Creates the pending entry of the job that is created next. Returns its name (owned), or NULL. */
char *flow_reuse_job_created(struct flow *flow, uint32_t step, const char *job);
/** The job of the step has completed: holds the step if its result is to be recorded. */
void flow_reuse_job_completed(struct flow *flow, uint32_t step, const struct object *job);
/** Returns whether jobs must wait until the status that says which steps were reused is stored. */
bool flow_reuse_unsaved(struct flow *flow);
