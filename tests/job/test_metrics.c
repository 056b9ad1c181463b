/*
 * What the job core counts. Ref: spec/job.md 21, O-76.
 */
#include "tests/unit.h"

#include "tests/fake/faulty.h"
#include "tests/support/figures.h"
#include "tests/support/job_fixture.h"

#define COMPLETED "volcano_job_completed_phase_count{job_name=\"default/j\",queue_name=\"default\"}"
#define FAILED    "volcano_job_failed_phase_count{job_name=\"default/j\",queue_name=\"default\"}"
#define LATENCY   "volcano_controller_job_to_pod_creation_latency_milliseconds"

/* Upstream counts in the decision, again with every conflict. */
static void a_stored_transition_is_counted_once(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});

    stage_job_simple(stage, "j", "t*2", "");
    check_no_figure(stage->loop, COMPLETED);
    faulty_expect(stage->cluster, .ops = FAULTY_ANY, .kind = &kind_job, .times = 3,
                  .way = FAULTY_REFUSE, .code = ERR_CONFLICT);
    stage_pods(stage, POD_SUCCEEDED);
    stage_advance(stage, 1000);
    check_str("end", stage_phase(stage, "j"), "Completed");
    assert_int_equal(faulty_hits(stage->cluster), 3);
    check_figure(stage->loop, COMPLETED " 1");
    check_figure(stage->loop, "jobflow_job_transitions_total{phase=\"Pending\"} 1");
    check_figure(stage->loop, "jobflow_job_transitions_total{phase=\"Completed\"} 1");
    stage_restart(stage);
    stage_advance(stage, 1000);
    check_figure(stage->loop, COMPLETED " 1");
    check_no_figure(stage->loop, FAILED);
    stage_free(stage);
}

static void a_jobs_figures_go_with_it(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});

    stage_job_simple(stage, "j", "t*1", "");
    stage_pods(stage, POD_FAILED);
    check_figure(stage->loop, FAILED " 1");
    stage_delete(stage, &kind_job, "j");
    check_no_figure(stage->loop, FAILED);
    check_figure(stage->loop, "jobflow_job_transitions_total{phase=\"Failed\"} 1");
    stage_free(stage);
}

static void pods_are_timed_from_the_jobs_creation(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true, .hold_groups = true});

    stage_job_simple(stage, "j", "t*3", "");
    stage_advance(stage, 5000);
    stage_group_phase(stage, PODGROUP_INQUEUE);
    check_figure(stage->loop, LATENCY "_count 3");
    check_figure(stage->loop, LATENCY "_bucket{le=\"50\"} 0");
    check_figure(stage->loop, LATENCY "_bucket{le=\"60000\"} 3");
    stage_free(stage);
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
