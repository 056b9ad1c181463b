#pragma once
/*
 * Conditions with the values that they compare: "accuracy 0.9633 > 0.999 is false".
 *
 * The values are those of the flow's status: outputs, exit codes, phases and counts of pods of its
 * steps, and its parameters. So a text tells what held when the condition was evaluated, unless a
 * step has run again since.
 */
#include "view/flow_view.h"

/** Appends the terms of a condition (a document such as `if`, `until`, `switch.cases[].if`), joined
 * by "; ". `false_only`: those that do not hold, unless all do. Long lists are cut. */
void condition_write(const struct flow_view *view, const json_t *condition, bool false_only,
                     struct buf *out);
