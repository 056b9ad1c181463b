#pragma once
/*
 * Whether a step that came to an end is tried again, and when; pure. Ref: spec/jobflow.md 13.4.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "probes/results.h"

/** `retries`: attempts of the step that have been tried again already. `results` may be NULL: an
 * exit code that is not known is none of those a rule names. */
bool retry_policy_allows(const struct jobflow_spec *spec, const struct flow_step *step,
                         enum job_phase phase, const struct job_results *results, int retries);

/** The wait before the `retry`-th retry, from 1. */
int64_t retry_policy_delay_ms(const struct flow_step *step, unsigned retry);

/** Whether the exit code agrees with the rule. */
bool exit_code_matches(const struct exit_code_rule *rule, int32_t code);
