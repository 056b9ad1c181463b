#pragma once
/*
 * The templates a flow is run with: as they are at the moment, or, pinned, as they were when the
 * flow was accepted (or, of a template that came later, when it came).
 *
 *   MISSING ──the original is there──► COPYING ──► THERE ──the copy was deleted──► MISSING
 *                                         └──refused──► REFUSED ──told to the step──► MISSING
 *
 * Copies are made before the first job is: the turn that takes the flow in also writes them, so
 * both are in one commit. Flows that do not pin have none of this. Ref:
 * api/types/kinds/jobflow/pin.h.
 */
#include <stdbool.h>
#include <stdint.h>

struct flow;
struct flow_controller;
struct object;

/** The flow was opened, or its spec changed: keep copies of what is there, wait for the rest. */
void template_pins_start(struct flow *flow);
/** Forget about it; the copies stay. */
void template_pins_stop(struct flow *flow);
/** Copies are on their way: no job is made before they are there. */
bool template_pins_copying(const struct flow *flow);
/** A template is there, which some flow may have waited for. */
void template_pins_template_added(struct flow_controller *controller,
                                  const struct object *template_);

/** What the jobs of a step are made from now: borrowed, or NULL when it is not there (yet). */
const struct object *flow_template_of(struct flow *flow, uint32_t step);
/** Why the copy of a step's template was refused, once; or NULL. */
const char *template_pins_refusal(struct flow *flow, uint32_t step);
