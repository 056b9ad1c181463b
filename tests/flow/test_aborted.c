/*
 * Tests jobs that are aborted and resumed while their flow runs, ends, or is restarted, and
 * regressions that random walks have found near them.
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

enum { KILLED_CODE = 137 };

static void maybe_restart(struct flow_fixture *fixture, size_t run)
{
    flow_fixture_advance(fixture, 1000);
    if (run)
        flow_fixture_restart(fixture);
}

static void abort_job(struct flow_fixture *fixture, const char *job)
{
    flow_fixture_phase(fixture, job, JOB_RUNNING);
    flow_fixture_end_pod(fixture, job, "main", 0, KILLED_CODE, "k=1\n");
    flow_fixture_phase(fixture, job, JOB_ABORTED);
}

#define TRIES_ABORTED "retry: {maxRetry: 1, backoffSeconds: 60, phases: [Failed, Aborted]}"

/* covers: see jobflow.md 13.4, 13.11: a retry that did not begin was none */
static void a_job_resumed_in_its_back_off_is_the_same_attempt(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a", "flows: [{name: a, " TRIES_ABORTED "}]");
        abort_job(fixture, "f-a");
        flow_fixture_advance(fixture, 20000);
        maybe_restart(fixture, run);
        check_str("waits", flow_fixture_at(fixture, "f", "conditions/f-a/phase"), "Retrying");
        flow_fixture_phase(fixture, "f-a", JOB_RESTARTING);
        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_advance(fixture, 100000);
        maybe_restart(fixture, run);
        check_str("goes on", flow_fixture_created(fixture), "f-a");
        flow_fixture_end(fixture, "f-a", 1, NULL);
        flow_fixture_advance(fixture, 61000);
        check_str("its retry is left", flow_fixture_created(fixture), "f-a f-a");
    }
}

/* covers: see jobflow.md 13.4: the end of a flow ends its retries */
static void the_end_of_a_flow_ends_aborted_attempts(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a b", "flows: [{name: a, " TRIES_ABORTED "}, {name: b}]");
        abort_job(fixture, "f-a");
        flow_fixture_end(fixture, "f-b", 1, NULL);
        maybe_restart(fixture, run);
        flow_fixture_advance(fixture, 1000);
        check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_str("it has ended", flow_fixture_at(fixture, "f", "terminatedJobs"), "[\"f-a\"]");
        check_str("so it says", flow_fixture_at(fixture, "f", "nodes/0/phase"), "Terminated");
    }
}

/* covers: see jobflow.md 13.4: the end of a loop ends the retries of its iterations */
static void the_end_of_a_loop_ends_aborted_attempts(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a z",
                          "flows: [{name: a, for: {items: [eu, us]}, retry: {maxRetry: 1, "
                          "backoffSeconds: 60, phases: [Aborted]}}, {name: z, when: always}]");
        abort_job(fixture, "f-a-0");
        flow_fixture_end(fixture, "f-a-1", 1, NULL);
        maybe_restart(fixture, run);
        flow_fixture_advance(fixture, 1000);
        check_str("it has ended", flow_fixture_at(fixture, "f", "terminatedJobs"), "[\"f-a-0\"]");
        check_str("the end", flow_fixture_created(fixture), "f-a-0 f-a-1 f-z");
    }
}

/* covers: see jobflow.md 13.12 ending: the job may still be resumed, before and after a restart */
static void final_steps_wait_for_a_job_aborted_in_an_ending_flow(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a b z",
                          "flows: [{name: a, " TRIES_ABORTED "}, {name: b}, {name: z, when: "
                          "always}]");
        flow_fixture_end(fixture, "f-b", 1, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("decided", flow_fixture_at(fixture, "f", "ending"), "Failed");
        abort_job(fixture, "f-a");
        if (run)
            flow_fixture_restart(fixture);
        flow_fixture_advance(fixture, 100000);
        check_str("waits", flow_fixture_created(fixture), "f-a f-b");
        flow_fixture_phase(fixture, "f-a", JOB_RESTARTING);
        flow_fixture_end(fixture, "f-a", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("then the end", flow_fixture_created(fixture), "f-a f-b f-z");
        flow_fixture_end(fixture, "f-z", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_str("not stored for ever", flow_fixture_at(fixture, "f", "ending"), "");
    }
}

/* covers: see jobflow.md 13.10: a change of the spec may save a flow that was to fail */
static void a_step_added_to_an_ending_flow_may_handle_its_failure(void **state)
{
    static const char *const steps = "handledFailures: succeed, flows: [{name: a}, {name: b}, "
                                     "{name: z, when: always}";

    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        scoped_str before = mem_printf("%s]", steps);
        scoped_str after = mem_printf(
            "%s, {name: c, jobTemplateName: a, dependsOn: {targets: [a]}, if: {terms: [{target: a, "
            "phases: [Failed]}]}}]",
            steps);

        flow_fixture_spec(fixture, "f", "a b z", before);
        flow_fixture_end(fixture, "f-a", 1, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("decided", flow_fixture_at(fixture, "f", "ending"), "Failed");
        flow_fixture_spec(fixture, "f", "", after);
        maybe_restart(fixture, run);
        check_str("handled", flow_fixture_created(fixture), "f-a f-b f-c");
        flow_fixture_end(fixture, "f-b", 0, NULL);
        flow_fixture_end(fixture, "f-c", 0, NULL);
        flow_fixture_end(fixture, "f-z", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("saved", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    }
}

/* covers: see jobflow.md 13.3: outputs are those of a job that has finished */
static void what_an_aborted_job_leaves_behind_are_no_results(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(
        fixture, "f", "a b c",
        "flows: [{name: a}, {name: b}, {name: c, dependsOn: {targets: [a, b], strategy: "
        "any}, if: {terms: [{target: a, output: {key: k, operator: Exists}}]}}]");
    abort_job(fixture, "f-a");
    flow_fixture_end(fixture, "f-b", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("nothing was put out", flow_fixture_at(fixture, "f", "skippedJobs"), "[\"f-c\"]");
}

/* covers: see jobflow.md 13.4: restartCount counts the attempts beyond the first */
static void restarts_are_counted_once(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a b", "flows: [{name: a}, {name: b}]");
        flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
        maybe_restart(fixture, run);
        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_advance(fixture, 1000);
        check_str("deleted", flow_fixture_at(fixture, "f", "jobStatusList/0/restartCount"), "1");
        flow_fixture_end(fixture, "f-b", 1, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
        flow_fixture_advance(fixture, 1000);
        maybe_restart(fixture, run);
        flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
        flow_fixture_advance(fixture, 1000);
        check_str("tried again", flow_fixture_at(fixture, "f", "jobStatusList/1/restartCount"),
                  "1");
    }
}

/* covers: see jobflow.md 13.11: DeadlineExceeded, with final steps still to come */
static void a_deadline_before_anything_ran_is_remembered(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(
            fixture, "f", "a z",
            "activeDeadlineSeconds: 5, flows: [{name: a, failurePolicy: ignore}, {name: "
            "z, when: always}]");
        flow_fixture_advance(fixture, 6000);
        flow_fixture_phase(fixture, "f-a", JOB_TERMINATED);
        flow_fixture_phase(fixture, "f-z", JOB_RUNNING);
        maybe_restart(fixture, run);
        flow_fixture_advance(fixture, 1000);
        check_str("ends", flow_fixture_at(fixture, "f", "state/reason"), "DeadlineExceeded");
        flow_fixture_end(fixture, "f-z", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("ended", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_str("why", flow_fixture_at(fixture, "f", "state/reason"), "DeadlineExceeded");
    }
}

/* covers: see jobflow.md 13.6: a member may wait for a probe of another */
static void a_gang_does_not_wait_for_who_waits_for_its_probe(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        const struct object *job;

        flow_fixture_spec(
            fixture, "f", "a b c",
            "gangs: [{name: g, flows: [a, b, c]}], flows: [{name: a}, {name: b, "
            "dependsOn: {targets: [a], probe: {taskStatusList: [{taskName: main, phase: "
            "Running}]}}}, {name: c}]");
        maybe_restart(fixture, run);
        check_str("the others go", flow_fixture_created(fixture), "f-a f-c");
        job = flow_fixture_get(fixture, &kind_job, "f-a");
        check_str("the scheduler is told", meta_annotation(job->meta, ANNOTATION_FLOW_GANG_LEAST),
                  "2");
        flow_fixture_pod(fixture, "f-a", "main", 0, POD_RUNNING, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("it follows", flow_fixture_created(fixture), "f-a f-c f-b");
    }
}

/* covers: see jobflow.md 13.12: Blocked is who would start but for a reason */
static void a_flow_that_has_failed_has_no_blocked_steps(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a c", "flows: [{name: a}, {name: b}, {name: c}]");
        flow_fixture_phase(fixture, "f-c", JOB_RUNNING);
        flow_fixture_advance(fixture, 1000);
        check_str("has no template", flow_fixture_at(fixture, "f", "conditions/f-b/phase"),
                  "Blocked");
        flow_fixture_end(fixture, "f-a", 1, NULL);
        maybe_restart(fixture, run);
        flow_fixture_phase(fixture, "f-c", JOB_COMPLETED);
        flow_fixture_advance(fixture, 1000);
        check_str("will not run", flow_fixture_at(fixture, "f", "conditions/f-b/phase"), "Waiting");
        check_str("none", flow_fixture_at(fixture, "f", "stepCounts/blocked"), "");
    }
}

/* covers: reliability.md INV-F5 */
static void a_loop_behind_a_probe_goes_on_in_a_flow_that_has_failed(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(
            fixture, "f", "a b c",
            "flows: [{name: a}, {name: b, for: {items: [x]}, dependsOn: {targets: [a], "
            "probe: {taskStatusList: [{taskName: main, phase: Running}]}}}, {name: c}]");
        flow_fixture_pod(fixture, "f-a", "main", 0, POD_RUNNING, NULL);
        flow_fixture_end(fixture, "f-a", 0, NULL);
        flow_fixture_phase(fixture, "f-b-0", JOB_RUNNING);
        flow_fixture_end(fixture, "f-c", 1, NULL);
        maybe_restart(fixture, run);
        flow_fixture_end(fixture, "f-b-0", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("its end shows", flow_fixture_at(fixture, "f", "nodes/1/phase"), "Completed");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_resumed_in_its_back_off_is_the_same_attempt),
        cmocka_unit_test(the_end_of_a_flow_ends_aborted_attempts),
        cmocka_unit_test(the_end_of_a_loop_ends_aborted_attempts),
        cmocka_unit_test(final_steps_wait_for_a_job_aborted_in_an_ending_flow),
        cmocka_unit_test(a_step_added_to_an_ending_flow_may_handle_its_failure),
        cmocka_unit_test(what_an_aborted_job_leaves_behind_are_no_results),
        cmocka_unit_test(restarts_are_counted_once),
        cmocka_unit_test(a_deadline_before_anything_ran_is_remembered),
        cmocka_unit_test(a_gang_does_not_wait_for_who_waits_for_its_probe),
        cmocka_unit_test(a_flow_that_has_failed_has_no_blocked_steps),
        cmocka_unit_test(a_loop_behind_a_probe_goes_on_in_a_flow_that_has_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
