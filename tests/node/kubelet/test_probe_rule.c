/*
 * Tests the timing and thresholds of a probe.
 */
#include "tests/unit.h"

#include "api/types/text/json_text.h"
#include "node/kubelet/probe_rule.h"

static void absent_and_zero_mean_the_defaults(void **state)
{
    scoped(json) json_t *none = json_object();
    scoped(json) json_t *given = json_pack(
        "{s:i,s:i,s:i,s:i,s:i,s:i}", "initialDelaySeconds", 2, "periodSeconds", 3, "timeoutSeconds",
        4, "successThreshold", 5, "failureThreshold", 6, "terminationGracePeriodSeconds", 0);
    struct probe_rule rule = probe_rule_of(none);

    check_int("initial", rule.initial_ms, 0);
    check_int("period", rule.period_ms, 10000);
    check_int("timeout", rule.timeout_ms, 1000);
    check_int("passes", rule.passes, 1);
    check_int("failures", rule.failures, 3);
    check_int("grace", rule.grace_s, -1);
    rule = probe_rule_of(given);
    check_int("initial", rule.initial_ms, 2000);
    check_int("period", rule.period_ms, 3000);
    check_int("timeout", rule.timeout_ms, 4000);
    check_int("passes", rule.passes, 5);
    check_int("failures", rule.failures, 6);
    check_int("a grace of none is a grace", rule.grace_s, 0);
}

/* Cases of tries as '+' (passed) and '-' (failed). After each try comes the state: good 'G' or bad
 * 'B', in lower case when the try did not count as a change. */
static const struct {
    const char *name;
    bool good;
    int passes, failures;
    const char *tries, *states;
} cases[] = {
    {"one pass is enough", false, 1, 3, "+", "G"},
    {"a second one says nothing new", false, 1, 3, "++", "Gg"},
    {"three failures in a row", true, 1, 3, "---", "ggB"},
    {"a pass between starts anew", true, 1, 3, "--+--+---",
     "gggggg"
     "ggB"},
    {"bad is told again each time", true, 1, 2, "-----", "gBbBb"},
    {"several passes", false, 3, 1, "++-+++", "bbBbbG"},
};

static void a_threshold_of_equal_tries_changes_the_state(void **state)
{
    for (size_t c = 0; c < countof(cases); c++) {
        struct probe_streak streak = {.good = cases[c].good};
        const struct probe_rule rule = {.passes = cases[c].passes, .failures = cases[c].failures};

        for (size_t i = 0; cases[c].tries[i]; i++) {
            bool told = probe_streak_count(&streak, &rule, cases[c].tries[i] == '+');
            char now = streak.good ? (told ? 'G' : 'g') : (told ? 'B' : 'b');

            check_int(cases[c].name, now, cases[c].states[i]);
        }
    }
}

static void the_first_try_waits_for_the_rest_of_the_delay(void **state)
{
    const struct probe_rule rule = {.initial_ms = 5000};

    check_int("just started", probe_first_ms(&rule, 0), 5000);
    check_int("some time ago", probe_first_ms(&rule, 4000), 1000);
    check_int("long ago", probe_first_ms(&rule, 60000), 0);
    check_int("the clock went back", probe_first_ms(&rule, -100), 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_and_zero_mean_the_defaults),
        cmocka_unit_test(a_threshold_of_equal_tries_changes_the_state),
        cmocka_unit_test(the_first_try_waits_for_the_rest_of_the_delay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
