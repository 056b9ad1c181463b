/*
 * Evaluates retry policies. A policy that is absent gives upstream's behaviour: no retry.
 */
#include "flow/model/retry_policy.h"

#include <string.h>

enum { BACKOFF_S = 10, FACTOR = 2, MAX_BACKOFF_S = 300 };

bool exit_code_matches(const struct exit_code_rule *rule, int32_t code)
{
    const json_t *value;
    bool found = false;
    size_t i;

    json_array_foreach(rule->values, i, value)
    {
        json_int_t wanted = json_integer_value(value);

        found |= rule->op == CODE_GT   ? code > wanted
                 : rule->op == CODE_LT ? code < wanted
                                       : code == wanted;
    }
    return found != (rule->op == CODE_NOT_IN);
}

static bool phase_is_listed(const struct flow_retry *retry, enum job_phase phase)
{
    if (!retry || !retry->phases.count)
        return phase == JOB_FAILED || phase == JOB_TERMINATED;
    for (size_t i = 0; i < retry->phases.count; i++)
        if (strcmp(retry->phases.items[i], job_phase_text(phase)) == 0)
            return true;
    return false;
}

static bool code_is_listed(const struct exit_code_rule *rule, const struct job_results *results)
{
    int32_t code;
    bool known = rule->task ? job_results_exit_code(results, rule->task, &code)
                            : job_results_failure_code(results, &code);

    if (!known)
        return rule->op == CODE_NOT_IN;
    return exit_code_matches(rule, code);
}

bool retry_policy_allows(const struct jobflow_spec *spec, const struct flow_step *step,
                         enum job_phase phase, const struct job_results *results, int retries)
{
    const struct flow_retry *retry = step->retry;
    int32_t most = retry && retry->max_retry.set ? retry->max_retry.value : spec->max_retry;

    if (phase != JOB_FAILED && phase != JOB_TERMINATED && phase != JOB_ABORTED)
        return false;
    return retries < most && phase_is_listed(retry, phase) &&
           (!retry || !retry->exit_codes || code_is_listed(retry->exit_codes, results));
}

int64_t retry_policy_delay_ms(const struct flow_step *step, unsigned retry)
{
    const struct flow_retry *policy = step->retry;
    int64_t delay_s = policy && policy->backoff_s.set ? policy->backoff_s.value : BACKOFF_S;
    int64_t factor = policy && policy->factor.set ? policy->factor.value : FACTOR;
    int64_t most_s =
        policy && policy->max_backoff_s.set ? policy->max_backoff_s.value : MAX_BACKOFF_S;

    for (unsigned i = 1; i < retry && delay_s < most_s && factor > 1 && delay_s; i++)
        delay_s *= factor;
    return (delay_s < most_s ? delay_s : most_s) * 1000;
}
