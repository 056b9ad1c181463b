/*
 * Tests how long loops took, and how long the critical path is.
 */
#include "tests/unit.h"

#include "api/types/kinds/job/job.h"
#include "tests/support/flow_fixture.h"

#define LOOP "flows: [{name: l, jobTemplateName: t, for: {items: [p, q], parallelism: 1}}"

/* Ends a job that ran for some time, to the millisecond. */
static void end(struct flow_fixture *fixture, const char *job, enum job_phase phase,
                int64_t after_ms)
{
    struct job_status status = {.phase = phase, .running_duration_ns = after_ms * 1000000};

    flow_fixture_phase(fixture, job, JOB_RUNNING);
    flow_fixture_advance(fixture, after_ms);
    status.transition_ms = loop_wall_ms(fixture->loop);
    flow_fixture_status(fixture, job, &status);
}

static void a_loop_takes_as_long_as_its_iterations(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t", LOOP "]");
    end(fixture, "f-l-0", JOB_COMPLETED, 610);
    check_str("not over", flow_fixture_at(fixture, "f", "nodes/0/duration"), "");
    end(fixture, "f-l-1", JOB_COMPLETED, 720);
    flow_fixture_advance(fixture, 5000);
    check_str("over", flow_fixture_at(fixture, "f", "nodes/0/duration"), "1.33s");
    check_str("path", flow_fixture_at(fixture, "f", "criticalPath/duration"), "1.33s");
    flow_fixture_restart(fixture);
    flow_fixture_annotate(fixture, "f", "a", "b");
    flow_fixture_advance(fixture, 5000);
    check_str("after a restart", flow_fixture_at(fixture, "f", "nodes/0/duration"), "1.33s");
}

/* The time before the retry belongs to no attempt. */
static void a_retried_loop_begins_anew(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t", LOOP "]");
    end(fixture, "f-l-0", JOB_COMPLETED, 500);
    end(fixture, "f-l-1", JOB_FAILED, 500);
    flow_fixture_advance(fixture, 60000);
    check_str("failed", flow_fixture_at(fixture, "f", "nodes/0/duration"), "1s");
    flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowRetry", "1");
    flow_fixture_advance(fixture, 1000);
    check_str("at work", flow_fixture_at(fixture, "f", "nodes/0/duration"), "");
    end(fixture, "f-l-1", JOB_COMPLETED, 250);
    flow_fixture_advance(fixture, 5000);
    check_str("phase", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check_str("duration", flow_fixture_at(fixture, "f", "nodes/0/duration"), "1.25s");
}

static void of_a_loop_that_began_before_a_restart_nothing_is_told(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t", LOOP "]");
    end(fixture, "f-l-0", JOB_COMPLETED, 2100);
    flow_fixture_restart(fixture);
    end(fixture, "f-l-1", JOB_COMPLETED, 2100);
    flow_fixture_advance(fixture, 5000);
    check_str("phase", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check_str("duration", flow_fixture_at(fixture, "f", "nodes/0/duration"), "");
    check_str("the path has whole seconds", flow_fixture_at(fixture, "f", "criticalPath/duration"),
              "4s");
}

static void a_path_is_the_sum_of_its_steps(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t",
                      LOOP ", {name: a, jobTemplateName: t, dependsOn: {targets: [l]}}]");
    end(fixture, "f-l-0", JOB_COMPLETED, 300);
    end(fixture, "f-l-1", JOB_COMPLETED, 300);
    end(fixture, "f-a", JOB_COMPLETED, 450);
    flow_fixture_advance(fixture, 5000);
    check_str("duration", flow_fixture_at(fixture, "f", "duration"), "1.05s");
    check_str("path", flow_fixture_at(fixture, "f", "criticalPath/duration"), "1.05s");
    check_str("steps", flow_fixture_at(fixture, "f", "criticalPath/steps"), "2");
}

/* The step `use` begins while `serve` runs, so their times overlap. */
static void moments_of_two_steps_count_once(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t",
                      "flows: [{name: serve, jobTemplateName: t}, {name: use, jobTemplateName: t, "
                      "dependsOn: {targets: [serve], probe: {taskStatusList: [{taskName: main, "
                      "phase: Running}]}}}]");
    flow_fixture_phase(fixture, "f-serve", JOB_RUNNING);
    flow_fixture_advance(fixture, 3000);
    flow_fixture_pod(fixture, "f-serve", "main", 0, POD_RUNNING, NULL);
    assert_true(flow_fixture_has_job(fixture, "f-use"));
    end(fixture, "f-serve", JOB_COMPLETED, 9000);
    end(fixture, "f-use", JOB_COMPLETED, 20000);
    flow_fixture_advance(fixture, 5000);
    check_str("phase", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check_str("steps", flow_fixture_at(fixture, "f", "criticalPath/steps"), "2");
    check_str("the flow", flow_fixture_at(fixture, "f", "duration"), "32s");
    check_str("the path", flow_fixture_at(fixture, "f", "criticalPath/duration"), "23s");
}

/* Jobs of a failed flow that go on do not make it longer. */
static void what_ends_after_the_flow_is_not_on_its_path(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t",
                      "flows: [{name: bad, jobTemplateName: t}, {name: slow, jobTemplateName: t}]");
    flow_fixture_phase(fixture, "f-slow", JOB_RUNNING);
    end(fixture, "f-bad", JOB_FAILED, 700);
    end(fixture, "f-slow", JOB_COMPLETED, 9000);
    flow_fixture_advance(fixture, 5000);
    check_str("the flow", flow_fixture_at(fixture, "f", "duration"), "700ms");
    check_str("the path", flow_fixture_at(fixture, "f", "criticalPath/duration"), "700ms");
    check_str("its end", flow_fixture_at(fixture, "f", "criticalPath/ends/0/name"), "bad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_takes_as_long_as_its_iterations),
        cmocka_unit_test(a_retried_loop_begins_anew),
        cmocka_unit_test(of_a_loop_that_began_before_a_restart_nothing_is_told),
        cmocka_unit_test(a_path_is_the_sum_of_its_steps),
        cmocka_unit_test(moments_of_two_steps_count_once),
        cmocka_unit_test(what_ends_after_the_flow_is_not_on_its_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
