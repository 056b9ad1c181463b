/*
 * Tests conditions in a flow that is retried by hand, with restarts in between.
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

static void ask_retry(struct flow_fixture *fixture, const char *value)
{
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, value);
    flow_fixture_settle(fixture);
}

/* covers: jobflow.md 185 */
static void a_final_step_is_judged_anew(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        bool fails_again = run / 2;

        flow_fixture_spec(fixture, "f", "load page tidy",
                          "flows: [{name: load}, {name: page, when: always, if: {terms: [{target: "
                          "load, phases: [Failed]}]}}, {name: tidy, when: always}]");
        flow_fixture_end(fixture, "f-load", 1, NULL);
        flow_fixture_end(fixture, "f-page", 0, NULL);
        flow_fixture_end(fixture, "f-tidy", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        ask_retry(fixture, "1");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_end(fixture, "f-load", fails_again, NULL);
        flow_fixture_restart_if(fixture, run % 2);
        check_str("created", flow_fixture_created(fixture),
                  fails_again ? "f-load f-page f-tidy f-load f-page f-tidy"
                              : "f-load f-page f-tidy f-load f-tidy");
        if (fails_again)
            flow_fixture_end(fixture, "f-page", 0, NULL);
        flow_fixture_end(fixture, "f-tidy", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        check_str("ends", flow_fixture_at(fixture, "f", "state/phase"),
                  fails_again ? "Failed" : "Succeed");
        check_str("skipped", flow_fixture_at(fixture, "f", "skippedJobs"),
                  fails_again ? "" : "[\"f-page\"]");
    }
}

/* covers: jobflow.md 186 */
static void what_ran_because_of_a_failure_is_judged_anew(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        bool fails_again = run / 2;

        /* The step note runs after the failure of a, sum after note; c is chosen by b alone. */
        flow_fixture_spec(
            fixture, "f", "a b note sum c d other",
            "failurePolicy: continue, flows: [{name: a}, {name: b}, {name: note, dependsOn: "
            "{targets: [a]}, if: {terms: [{target: a, output: {key: k, operator: Exists}}]}}, "
            "{name: sum, dependsOn: {targets: [b, note]}}, {name: pick, dependsOn: {targets: [b]}, "
            "switch: {cases: [{name: one, if: {terms: [{target: b, phases: [Completed]}]}, flows: "
            "[c]}], default: [d]}}, {name: c}, {name: d}, {name: other, dependsOn: {targets: [c, "
            "d]}}]");
        flow_fixture_end(fixture, "f-a", 1, "k=1");
        flow_fixture_end(fixture, "f-b", 0, NULL);
        flow_fixture_end(fixture, "f-c", 0, NULL);
        flow_fixture_end(fixture, "f-note", 0, NULL);
        flow_fixture_end(fixture, "f-sum", 0, NULL);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_end(fixture, "f-other", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("fails", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        ask_retry(fixture, "1");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_end(fixture, "f-a", fails_again, fails_again ? "k=1" : NULL);
        flow_fixture_restart_if(fixture, run % 2);
        if (fails_again) {
            flow_fixture_end(fixture, "f-note", 0, NULL);
            flow_fixture_end(fixture, "f-sum", 0, NULL);
        } else {
            flow_fixture_end(fixture, "f-sum", 0, NULL);
        }
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        check_str("created", flow_fixture_created(fixture),
                  fails_again ? "f-a f-b f-note f-c f-other f-sum f-a f-note f-sum"
                              : "f-a f-b f-note f-c f-other f-sum f-a f-sum");
        check_str("ends", flow_fixture_at(fixture, "f", "state/phase"),
                  fails_again ? "Failed" : "Succeed");
    }
}

/* covers: jobflow.md 186 */
static void a_loop_that_is_judged_anew_has_no_more_iterations(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(
            fixture, "f", "a b",
            "failurePolicy: continue, flows: [{name: a, for: {maxIterations: 1, until: {terms: "
            "[{target: a, output: {key: k, operator: Gt, values: [\"1\"]}}]}}}, {name: b, "
            "dependsOn: {targets: [a]}, if: {terms: [{target: a, output: {key: k, operator: "
            "Exists}}]}, for: {maxIterations: 1, until: {terms: [{target: b, output: {key: k, "
            "operator: Gt, values: [\"1\"]}}]}}}]");
        flow_fixture_end(fixture, "f-a-0", 0, "k=1");
        flow_fixture_end(fixture, "f-b-0", 0, "k=1");
        flow_fixture_advance(fixture, 1000);
        check_str("both are used up", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        flow_fixture_restart_if(fixture, run);
        ask_retry(fixture, "1");
        flow_fixture_restart_if(fixture, run);
        flow_fixture_end(fixture, "f-a-1", 0, "k=2");
        flow_fixture_end(fixture, "f-b-0", 0, "k=1");
        flow_fixture_advance(fixture, 1000);
        check_str("created", flow_fixture_created(fixture), "f-a-0 f-b-0 f-a-1 f-b-0");
        check_str("ends", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_final_step_is_judged_anew),
        cmocka_unit_test(what_ran_because_of_a_failure_is_judged_anew),
        cmocka_unit_test(a_loop_that_is_judged_anew_has_no_more_iterations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
