#pragma once
/*
 * Blocked steps: their dependencies are satisfied, but their job could not be created.
 *
 * A blocked step waits for a change of the object that stands in the way: the missing template, or
 * the foreign job that has the name. If the cause cannot be watched the step is also retried by a
 * timer, after 5 ms at first, then after delays that double up to 30 s, without end. A change or
 * the timer makes the step ready again. The reason stays until the job exists, so a retry that
 * fails in the same way changes no status and writes no event. Ref: spec/jobflow.md 5.4.
 */
#include "base/compiler.h"
#include "flow/model/step_block.h"

/* The kind of object that a step waits for; the character begins the key it is registered under. */
enum wait_kind { WAIT_FOR_TEMPLATE = 't', WAIT_FOR_JOB = 'j' };

struct flow;
struct flow_controller;

/** Blocks a step, or blocks it again: sets reason and message, registers what it waits for, and
 * writes a Warning event if the cause is new. */
void flow_block_step(struct flow *flow, uint32_t step, enum block_reason reason, const char *format,
                     ...) PRINTF_LIKE(4, 5);
/** Makes the step wait for the job `name`, which does the same work. It is looked up again when that
 * has ended. */
void flow_wait_for_same_work(struct flow *flow, uint32_t step, const char *name);
/** Forgets why the step was blocked: its job exists, or the flow is closed. A step that is not
 * blocked is left alone. */
void flow_unblock_step(struct flow *flow, uint32_t step);
/** Makes the steps ready that wait for the object of that kind and name. O(waiters). */
void flow_wake_waiters(struct flow_controller *controller, enum wait_kind kind, const char *ns,
                       const char *name);
