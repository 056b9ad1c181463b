/*
 * Tests flows whose status Volcano's own controller has written: results of jobs that are gone count
 * and do not run again. covers: cluster.md CLU-011 CLU-012
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

#define ENTRY(name, state)                                                                         \
    "{\"name\":\"" name "\",\"state\":\"" state                                                    \
    "\",\"startTimestamp\":\"2023-11-14T22:00:00Z\",\"endTimestamp\":\"2023-11-14T22:01:00Z\","    \
    "\"restartCount\":0,\"runningHistories\":[]}"

/* Stores the status of flow `f`, which has no jobs, as another controller would, and starts ours. */
static void import(struct flow_fixture *fixture, const char *status)
{
    struct error_list errors = {0};

    flow_fixture_templates(fixture, "a b c d");
    flow_fixture_stop(fixture);
    flow_fixture_flow(fixture, "f", "a, b, c<-a+b, d<-c", NULL);
    registry_update_status(fixture->registry, flow_fixture_get(fixture, &kind_job_flow, "f"),
                           blob_new(status, strlen(status)), NULL, &errors);
    check_int("status", (int)errors.count, 0);
    flow_fixture_settle(fixture);
    flow_fixture_start(fixture);
    flow_fixture_advance(fixture, 2000);
}

static const char *phase_of(struct flow_fixture *fixture)
{
    return flow_phase_text(jobflow_phase_of(flow_fixture_get(fixture, &kind_job_flow, "f")));
}

static void completed_steps_without_jobs_do_not_run_again(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    import(fixture,
           "{\"completedJobs\":[\"f-a\",\"f-b\"],\"jobStatusList\":[" ENTRY(
               "f-a", "Completed") "," ENTRY("f-b", "Completed") "],\"conditions\":{},\"state\":{"
                                                                 "\"phase\":\"Running\"}}");
    check_str("only what is left", fixture->created.data, "f-c");
    flow_fixture_complete(fixture, "f-c");
    flow_fixture_complete(fixture, "f-d");
    flow_fixture_advance(fixture, 2000);
    check_str("created", fixture->created.data, "f-c f-d");
    check_str("phase", phase_of(fixture), "Succeed");
}

static void a_failed_step_without_its_job_fails_the_flow(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    import(fixture, "{\"failedJobs\":[\"f-a\"],\"jobStatusList\":[" ENTRY(
                        "f-a", "Failed") "],\"state\":{\"phase\":\"Running\"}}");
    check_str("phase", phase_of(fixture), "Failed");
    check("the step is not run again", !flow_fixture_has_job(fixture, "f-a"));
}

static void a_step_that_was_at_work_runs_again_when_its_job_is_gone(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    import(fixture,
           "{\"runningJobs\":[\"f-a\"],\"jobStatusList\":[" ENTRY("f-a", "Running") "," ENTRY(
               "f-b", "Completed") "],\"state\":{\"phase\":\"Running\"}}");
    check_str("created", fixture->created.data, "f-a");
}

static void an_ended_flow_stays_as_it_is(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    static const char status[] =
        "{\"completedJobs\":[\"f-a\",\"f-b\",\"f-c\",\"f-d\"],\"state\":{\"phase\":\"Succeed\"}}";

    import(fixture, status);
    flow_fixture_advance(fixture, 60000);
    check_str("nothing is created", fixture->created.data ? fixture->created.data : "", "");
    check_str("status", flow_fixture_get(fixture, &kind_job_flow, "f")->status->text, status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completed_steps_without_jobs_do_not_run_again),
        cmocka_unit_test(a_failed_step_without_its_job_fails_the_flow),
        cmocka_unit_test(a_step_that_was_at_work_runs_again_when_its_job_is_gone),
        cmocka_unit_test(an_ended_flow_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
