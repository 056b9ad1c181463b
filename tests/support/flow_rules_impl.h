#pragma once
/*
 * Shared by tests/support/flow_rules*.c: what the rules of flows use of the rules of steps.
 */
#include "tests/support/flow_rules.h"

/** Evaluates every step in order. */
void rule_judge_steps(struct rules *rules);
bool rule_has_failed(enum rule_end end);
bool rule_any_made(const struct rule_step *step);
/** Whether the items of the loop are unknown or too many. */
bool rule_items_are_refused(const struct rules *rules, uint32_t step);
/** Iterations that certainly exist. */
uint32_t rule_sure_iterations(const struct rules *rules, uint32_t step);
enum rule_end rule_end_of_loop(const struct rules *rules, uint32_t step);
/** 13.3: whether the condition of `handler` may handle the failure of `failed`. */
bool rule_may_rescue(const struct rules *rules, uint32_t handler, uint32_t failed);
