/*
 * Tests failures that other steps handle: how the flow ends, what it says, and what a manual retry
 * makes of them, with restarts in between.
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

#define IF_FAILED(target) "if: {terms: [{target: " target ", phases: [Failed, Terminated]}]}"
#define EXTRACT_PAGE                                                                               \
    "flows: [{name: a}, {name: b, dependsOn: {targets: [a]}}, {name: p, dependsOn: {targets: "     \
    "[a]}, " IF_FAILED("a") "}]"

enum { JOBS_MAX = 6 };

/* The cases. A message that is NULL is not compared. */
static const struct {
    const char *spec;
    struct {
        const char *job;
        int code;
    } ends[JOBS_MAX];
    const char *phase, *reason, *message;
} cases[] = {
    /* clang-format off */
    {EXTRACT_PAGE, {{"f-a", 1}, {"f-p", 0}}, "Failed", "HandledFailure", "failed: a; handled by: p"},
    {"handledFailures: fail, " EXTRACT_PAGE, {{"f-a", 1}, {"f-p", 0}}, "Failed", "HandledFailure", "failed: a; handled by: p"},
    {"handledFailures: succeed, " EXTRACT_PAGE, {{"f-a", 1}, {"f-p", 0}}, "Succeed", "", ""},
    {"failurePolicy: continue, " EXTRACT_PAGE, {{"f-a", 1}, {"f-p", 0}}, "Failed", "HandledFailure", "failed: a; handled by: p"},
    {EXTRACT_PAGE, {{"f-a", 0}, {"f-b", 0}}, "Succeed", "", ""},
    {EXTRACT_PAGE, {{"f-a", 1}, {"f-p", 1}}, "Failed", "JobFailed", NULL},
    {"handledFailures: succeed, " EXTRACT_PAGE, {{"f-a", 1}, {"f-p", 1}}, "Failed", "JobFailed", NULL},
    {"flows: [{name: a, failurePolicy: ignore}, {name: p, dependsOn: {targets: [a]}, " IF_FAILED("a") "}]",
     {{"f-a", 1}, {"f-p", 0}}, "Succeed", "", ""},
    {"flows: [{name: a}, {name: b}, {name: p, dependsOn: {targets: [a, b]}, if: {strategy: any, terms: [{target: a, phases: [Failed]}, {target: b, phases: [Failed]}]}}, {name: q, dependsOn: {targets: [b]}, " IF_FAILED("b") "}]",
     {{"f-a", 1}, {"f-b", 1}, {"f-q", 0}, {"f-p", 0}}, "Failed", "HandledFailure", "failed: a, b; handled by: p, q"},
    {"flows: [{name: a}, {name: b}, {name: p, dependsOn: {targets: [a, b], strategy: any}, if: {strategy: any, terms: [{target: a, phases: [Failed]}, {target: b, phases: [Failed]}]}}]",
     {{"f-b", 0}, {"f-a", 1}}, "Failed", "JobFailed", NULL},
    {"flows: [{name: a, for: {items: [u, v]}}, {name: p, dependsOn: {targets: [a]}, " IF_FAILED("a") "}]",
     {{"f-a-0", 0}, {"f-a-1", 1}, {"f-p", 0}}, "Failed", "HandledFailure", "failed: a; handled by: p"},
    {"flows: [{name: a}, {name: p, dependsOn: {targets: [a], probe: {taskStatusList: [{taskName: main, phase: Failed}]}}}]",
     {{"f-a", 1}, {"f-p", 0}}, "Failed", "HandledFailure", "failed: a; handled by: p"},
    {"flows: [{name: a}, {name: p, dependsOn: {targets: [a]}, " IF_FAILED("a") "}, {name: z, when: always, if: {terms: [{target: p, phases: [Completed]}]}}]",
     {{"f-a", 1}, {"f-p", 0}, {"f-z", 0}}, "Failed", "HandledFailure", "failed: a; handled by: p"},
    /* clang-format on */
};

/* Runs with an odd number restart the controller after every change. */
/* covers: jobflow.md 159 187 188; see DC-25 */
static void the_flow_tells_of_failures_that_were_handled(void **state)
{
    for (size_t run = 0; run < 2 * countof(cases); run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        const size_t row = run / 2;

        flow_fixture_spec(fixture, "f", "a b p q z", cases[row].spec);
        for (size_t i = 0; i < JOBS_MAX && cases[row].ends[i].job; i++) {
            check(cases[row].spec, flow_fixture_has_job(fixture, cases[row].ends[i].job));
            flow_fixture_end(fixture, cases[row].ends[i].job, cases[row].ends[i].code, NULL);
            flow_fixture_advance(fixture, 1000);
            flow_fixture_restart_if(fixture, run % 2);
        }
        check_str(cases[row].spec, flow_fixture_at(fixture, "f", "state/phase"), cases[row].phase);
        check_str(cases[row].spec, flow_fixture_at(fixture, "f", "state/reason"),
                  cases[row].reason);
        if (cases[row].message)
            check_str(cases[row].spec, flow_fixture_at(fixture, "f", "state/message"),
                      cases[row].message);
    }
}

/* covers: see DC-25: final steps know the end of their flow */
static void final_steps_know_that_the_flow_fails(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a p z",
                      "flows: [{name: a}, {name: p, dependsOn: {targets: [a]}, " IF_FAILED(
                          "a") "}, {name: z, when: always, patch: {spec: {tasks: [{name: main, "
                               "template: {metadata: {labels: {end: $(flow.phase)}}}}]}}}]");
    flow_fixture_end(fixture, "f-a", 1, NULL);
    flow_fixture_end(fixture, "f-p", 0, NULL);
    check_has("its phase", flow_fixture_get(fixture, &kind_job, "f-z")->body->text,
              "\"end\":\"Failed\"");
}

/* covers: jobflow.md 189 */
static void a_retry_runs_handled_failures_again(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        bool fails_again = run / 2;

        flow_fixture_spec(fixture, "f", "a b p", EXTRACT_PAGE);
        flow_fixture_end(fixture, "f-a", 1, NULL);
        flow_fixture_end(fixture, "f-p", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_end(fixture, "f-a", fails_again, NULL);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_end(fixture, fails_again ? "f-p" : "f-b", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        check_str("created", flow_fixture_created(fixture),
                  fails_again ? "f-a f-p f-a f-p" : "f-a f-p f-a f-b");
        check_str("skipped", flow_fixture_at(fixture, "f", "skippedJobs"),
                  fails_again ? "[\"f-b\"]" : "[\"f-p\"]");
        check_str("ends", flow_fixture_at(fixture, "f", "state/phase"),
                  fails_again ? "Failed" : "Succeed");
        check_str("why", flow_fixture_at(fixture, "f", "state/message"),
                  fails_again ? "failed: a; handled by: p" : "");
    }
}

/* covers: see jobflow.md 13.4: the retry of a flow whose handler still runs */
static void a_retry_waits_for_the_end_of_handlers(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(
            fixture, "f", "a b p",
            "flows: [{name: a}, {name: b}, {name: p, dependsOn: {targets: [a]}, " IF_FAILED(
                "a") "}]");
        flow_fixture_end(fixture, "f-a", 1, NULL);
        flow_fixture_end(fixture, "f-b", 1, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run);
        check_str("p runs", flow_fixture_created(fixture), "f-a f-b f-p");
        flow_fixture_end(fixture, "f-p", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("then a and b", flow_fixture_created(fixture), "f-a f-b f-p f-a f-b");
        flow_fixture_end(fixture, "f-a", 0, NULL);
        flow_fixture_end(fixture, "f-b", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("ends", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
        check_str("p", flow_fixture_at(fixture, "f", "skippedJobs"), "[\"f-p\"]");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flow_tells_of_failures_that_were_handled),
        cmocka_unit_test(final_steps_know_that_the_flow_fails),
        cmocka_unit_test(a_retry_runs_handled_failures_again),
        cmocka_unit_test(a_retry_waits_for_the_end_of_handlers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
