#pragma once
/*
 * Between tests/support/flow_rules*.c: what the rules of steps tell those of flows.
 */
#include "tests/support/flow_rules.h"

/** Every step, in their order. */
void rule_judge_steps(struct rules *rules);
bool rule_has_failed(enum rule_end end);
bool rule_any_made(const struct rule_step *step);
/** Nobody knows what the loop is over, or it is too much. */
bool rule_items_are_refused(const struct rules *rules, uint32_t step);
/** Iterations it has for sure. */
uint32_t rule_sure_iterations(const struct rules *rules, uint32_t step);
enum rule_end rule_end_of_loop(const struct rules *rules, uint32_t step);
/** 13.3: the condition of `rescuer` may handle the failure of `failed`. */
bool rule_may_rescue(const struct rules *rules, uint32_t rescuer, uint32_t failed);
