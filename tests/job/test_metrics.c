/*
 * Tests the metrics of the job controller. Ref: spec/job.md 21, O-76.
 */
#include "tests/unit.h"

#include "tests/fake/faulty.h"
#include "tests/support/job_fixture.h"
#include "tests/support/metric_checks.h"

#define COMPLETED "volcano_job_completed_phase_count{job_name=\"default/j\",queue_name=\"default\"}"
#define FAILED    "volcano_job_failed_phase_count{job_name=\"default/j\",queue_name=\"default\"}"
#define LATENCY   "volcano_controller_job_to_pod_creation_latency_milliseconds"

/* Volcano counts a transition when it is decided, and again with every conflict. */
static void a_stored_transition_is_counted_once(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    job_fixture_job_simple(fixture, "j", "t*2", "");
    check_no_metric(fixture->loop, COMPLETED);
    faulty_expect(fixture->cluster, .ops = FAULTY_ANY, .kind = &kind_job, .times = 3,
                  .way = FAULTY_REFUSE, .code = ERR_CONFLICT);
    job_fixture_pods(fixture, POD_SUCCEEDED);
    job_fixture_advance(fixture, 1000);
    check_str("end", job_fixture_phase(fixture, "j"), "Completed");
    assert_int_equal(faulty_hits(fixture->cluster), 3);
    check_metric(fixture->loop, COMPLETED " 1");
    check_metric(fixture->loop, "jobflow_job_transitions_total{phase=\"Pending\"} 1");
    check_metric(fixture->loop, "jobflow_job_transitions_total{phase=\"Completed\"} 1");
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 1000);
    check_metric(fixture->loop, COMPLETED " 1");
    check_no_metric(fixture->loop, FAILED);
    job_fixture_free(fixture);
}

static void a_jobs_figures_go_with_it(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    job_fixture_job_simple(fixture, "j", "t*1", "");
    job_fixture_pods(fixture, POD_FAILED);
    check_metric(fixture->loop, FAILED " 1");
    job_fixture_delete(fixture, &kind_job, "j");
    check_no_metric(fixture->loop, FAILED);
    check_metric(fixture->loop, "jobflow_job_transitions_total{phase=\"Failed\"} 1");
    job_fixture_free(fixture);
}

static void pods_are_timed_from_the_jobs_creation(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .hold_groups = true});

    job_fixture_job_simple(fixture, "j", "t*3", "");
    job_fixture_advance(fixture, 5000);
    job_fixture_group_phase(fixture, PODGROUP_INQUEUE);
    check_metric(fixture->loop, LATENCY "_count 3");
    check_metric(fixture->loop, LATENCY "_bucket{le=\"50\"} 0");
    check_metric(fixture->loop, LATENCY "_bucket{le=\"60000\"} 3");
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stored_transition_is_counted_once),
        cmocka_unit_test(a_jobs_figures_go_with_it),
        cmocka_unit_test(pods_are_timed_from_the_jobs_creation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
