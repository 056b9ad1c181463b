#pragma once
/*
 * Decides whether a step whose job has ended is tried again, and when: pure functions. Ref:
 * spec/jobflow.md 13.4.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "probes/results.h"

/** Returns whether the step has another attempt after its job ended in `phase`. `retries` is how
 * often it was retried already. `results` may be NULL; an unknown exit code is none of those that a
 * rule lists. */
bool retry_policy_allows(const struct jobflow_spec *spec, const struct flow_step *step,
                         enum job_phase phase, const struct job_results *results, int retries);

/** Returns the wait before the `retry`-th retry, from 1. */
int64_t retry_policy_delay_ms(const struct flow_step *step, unsigned retry);

/** Returns whether the rule holds for the exit code. */
bool exit_code_matches(const struct exit_code_rule *rule, int32_t code);
