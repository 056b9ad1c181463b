#pragma once
/*
 * The templates that the jobs of a flow are made from: the present ones, or, for a flow that pins
 * its templates, copies of those that existed when the flow was accepted (or, of a template that
 * was created later, when it was created).
 *
 *   MISSING ──original exists──► COPYING ──created──► THERE ──copy deleted──► MISSING
 *                                   └─────refused───► REFUSED ──reported──► MISSING
 *
 * Copies are written in the turn that opens the flow and before its first job, so flow and copies
 * are in one commit. A flow that does not pin has none of this. Ref: api/types/kinds/jobflow/pin.h.
 */
#include <stdbool.h>
#include <stdint.h>

struct flow;
struct flow_controller;
struct object;

/** Starts pinning for a flow that was opened or whose spec changed: copies the templates that
 * exist, waits for the others. Does nothing for a flow that does not pin. */
void template_pins_start(struct flow *flow);
/** Frees the entries; the copies in the store stay. */
void template_pins_stop(struct flow *flow);
/** Returns whether copies are being created. No job is created meanwhile. */
bool template_pins_copying(const struct flow *flow);
/** A template was created: flows that wait for it copy it. */
void template_pins_template_added(struct flow_controller *controller,
                                  const struct object *template);

/** Returns the template, its copy, or the inline template that the job of a step is made from:
 * borrowed until the next call, or NULL when it does not exist (yet). */
const struct object *flow_template_of(struct flow *flow, uint32_t step);
/** Returns why the copy of a step's template was refused, or NULL. The reason is returned once;
 * then the copy may be tried again. */
const char *template_pins_refusal(struct flow *flow, uint32_t step);
