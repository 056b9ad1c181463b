#pragma once
/*
 * Functions shared by tests/support/flow_rules*.c: the rules of single steps that the rules of the
 * whole flow use.
 */
#include "tests/support/flow_rules.h"

/** Evaluates every step in order. */
void rule_judge_steps(struct rules *rules);
bool rule_has_failed(enum rule_end end);
/** Returns whether a job was created since the step last began. */
bool rule_any_made(const struct rule_step *step);
/** Returns whether the items of the loop are unknown or too many. */
bool rule_items_are_refused(const struct rules *rules, uint32_t step);
/** Returns the number of iterations that certainly exist. */
uint32_t rule_sure_iterations(const struct rules *rules, uint32_t step);
enum rule_end rule_end_of_loop(const struct rules *rules, uint32_t step);
/** Returns whether the condition of `handler` may handle the failure of `failed` (13.3). */
bool rule_may_rescue(const struct rules *rules, uint32_t handler, uint32_t failed);
