/*
 * Reads the timing and thresholds of a probe, and counts its tries. Defaults are those of
 * Kubernetes.
 */
#include "node/kubelet/probe_rule.h"

enum {
    PERIOD_S = 10,
    TIMEOUT_S = 1,
    PASSES = 1,
    FAILURES = 3,
    MS_PER_S = 1000,
};

/* Returns a number of the probe. An absent number and 0 both mean the default, as in Kubernetes. */
static int64_t number(const json_t *probe, const char *member, int64_t otherwise)
{
    int64_t value = json_integer_value(json_object_get(probe, member));

    return value > 0 ? value : otherwise;
}

struct probe_rule probe_rule_of(const json_t *probe)
{
    const json_t *grace = json_object_get(probe, "terminationGracePeriodSeconds");

    return (struct probe_rule){
        .initial_ms = number(probe, "initialDelaySeconds", 0) * MS_PER_S,
        .period_ms = number(probe, "periodSeconds", PERIOD_S) * MS_PER_S,
        .timeout_ms = number(probe, "timeoutSeconds", TIMEOUT_S) * MS_PER_S,
        .passes = (int32_t)number(probe, "successThreshold", PASSES),
        .failures = (int32_t)number(probe, "failureThreshold", FAILURES),
        .grace_s = grace ? json_integer_value(grace) : -1,
    };
}

bool probe_streak_count(struct probe_streak *streak, const struct probe_rule *rule, bool passed)
{
    if (streak->passed != passed)
        streak->length = 0;
    streak->passed = passed;
    if (++streak->length < (passed ? rule->passes : rule->failures))
        return false;
    streak->length = 0;

    bool turned = !passed || !streak->good;

    streak->good = passed;
    return turned;
}

int64_t probe_first_ms(const struct probe_rule *rule, int64_t ran_ms)
{
    return ran_ms < rule->initial_ms ? rule->initial_ms - (ran_ms > 0 ? ran_ms : 0) : 0;
}
