/*
 * Jobs from creation to their end, on the embedded cluster.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static void check_phase(struct stage *stage, const char *job, const char *want)
{
    check_str(job, stage_phase(stage, job), want);
}

/* covers: job.md ST-35 ST-12 ST-38 ST-43 POD-11 PG-06 */
static void a_job_of_one_pod_runs_and_completes(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.hold_groups = true});
    unsigned writes;

    stage_job_simple(stage, "j", "t*1", "");
    check_phase(stage, "j", "Pending");
    assert_int_equal(stage_job(stage, "j")->min_available, 1);
    assert_int_equal(stage_job(stage, "j")->conditions.count, 1);
    assert_int_equal(stage_count(stage, &kind_pod), 0); /* not admitted */

    stage_group_phase(stage, PODGROUP_INQUEUE);
    assert_int_equal(stage_count(stage, &kind_pod), 1);
    assert_int_equal(stage_job(stage, "j")->pending, 1);
    stage_pod(stage, "j-t-0", POD_RUNNING);
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_job(stage, "j")->running, 1);
    stage_pod(stage, "j-t-0", POD_SUCCEEDED);
    check_phase(stage, "j", "Completed");
    assert_int_equal(stage_job(stage, "j")->succeeded, 1);
    assert_int_equal(stage_job(stage, "j")->running, 0);
    assert_int_equal(stage_count(stage, &kind_pod_group), 0);
    assert_int_equal(stage_count(stage, &kind_pod), 1);
    assert_string_equal(stage->phases, "Pending Running Completed");

    writes = stage->job_writes;
    for (int i = 0; i < 100; i++)
        stage_patch(stage, &kind_pod, "j-t-0",
                    i % 2 ? "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}"
                          : "{\"metadata\":{\"labels\":{\"x\":\"2\"}}}");
    assert_int_equal(stage->job_writes, writes);
    stage_free(stage);
}

/* covers: job.md ST-01 ST-02 ST-10 ST-24 PG-06 */
static void restart_kills_all_and_starts_over(void **unused)
{
    struct stage *stage =
        stage_new(&(struct stage_options){.run_pods = true, .slow_deletion = true});
    const struct object *pod;

    stage_job_simple(stage, "j", "t*2", "policies: [{event: PodFailed, action: RestartJob}]");
    check_phase(stage, "j", "Running");
    stage_pod_failed(stage, "j-t-0", 3);
    check_phase(stage, "j", "Restarting");
    assert_int_equal(stage_job(stage, "j")->terminating, 1); /* the failed pod is gone at once */
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    assert_int_equal(stage_job(stage, "j")->version, 1);
    pod = stage_get(stage, &kind_pod, "j-t-1");
    assert_string_equal(meta_annotation(pod->meta, ANNOTATION_OUT_OF_SYNC), "true");
    assert_string_equal(stage_job(stage, "j")->reason, "PodFailed");
    check_has("message", stage_job(stage, "j")->message, "j-t-0 with exit code 3");
    stage_let_go(stage);
    check_phase(stage, "j", "Running");
    assert_string_equal(stage->phases, "Pending Running Restarting Pending Running");
    assert_int_equal(stage->group_deletions, 1);
    assert_int_equal(stage->group_creations, 2);
    pod = stage_get(stage, &kind_pod, "j-t-1");
    assert_string_equal(meta_annotation(pod->meta, ANNOTATION_JOB_VERSION), "1");
    stage_free(stage);
}

/* covers: job.md ST-23 ST-36 */
static void the_last_permitted_restart_fails_the_job_and_keeps_what_ended(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});

    stage_job_simple(stage, "j", "bad*1 good*1",
                     "maxRetry: 2;policies: [{event: PodFailed, action: RestartJob}]");
    stage_pod_failed(stage, "j-bad-0", 1);
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    stage_pod_failed(stage, "j-bad-0", 1);
    check_phase(stage, "j", "Failed");
    assert_int_equal(stage_job(stage, "j")->retry_count, 2);
    assert_non_null(stage_get(stage, &kind_pod, "j-bad-0"));
    assert_null(stage_get(stage, &kind_pod, "j-good-0"));
    assert_int_equal(stage_job(stage, "j")->failed, 1);
    assert_int_equal(stage_count(stage, &kind_pod_group), 0);
    stage_free(stage);
}

struct end_case {
    const char *action, *on_the_way, *at_the_end;
};

/* covers: job.md ST-03 ST-04 ST-05 ST-11 ST-31 ST-33 POL-15 */
static void abort_terminate_complete_keep_finished_pods(void **unused)
{
    static const struct end_case cases[] = {{"AbortJob", "Aborting", "Aborted"},
                                            {"TerminateJob", "Terminating", "Terminated"},
                                            {"CompleteJob", "Completing", "Completed"}};

    for (size_t i = 0; i < countof(cases); i++) {
        struct stage *stage =
            stage_new(&(struct stage_options){.run_pods = true, .slow_deletion = true});
        scoped_str policy =
            mem_printf("policies: [{event: PodFailed, action: %s}]", cases[i].action);

        stage_job_simple(stage, "j", "t*4", policy);
        stage_pod(stage, "j-t-0", POD_SUCCEEDED);
        stage_pod_failed(stage, "j-t-1", 1);
        check_phase(stage, "j", cases[i].on_the_way);
        check_int(cases[i].action, stage_job(stage, "j")->terminating, 2);
        check_int(cases[i].action, stage_job(stage, "j")->succeeded, 1);
        check_int(cases[i].action, stage_job(stage, "j")->failed, 1);
        check_int(cases[i].action, stage_job(stage, "j")->version, 1);
        stage_let_go(stage);
        check_phase(stage, "j", cases[i].at_the_end);
        check_int(cases[i].action, stage_job(stage, "j")->terminating, 0);
        check_int(cases[i].action, stage_job(stage, "j")->succeeded, 1);
        check_int(cases[i].action, stage_job(stage, "j")->failed, 1);
        check_int(cases[i].action, stage_job(stage, "j")->version, 1);
        check_int(cases[i].action, stage_count(stage, &kind_pod), 2);
        check_int(cases[i].action, stage_count(stage, &kind_pod_group), 0);
        stage_free(stage);
    }
}

/* covers: job.md ST-17; see O-38 */
static void enough_successes_complete_the_job_early(void **unused)
{
    struct stage *stage =
        stage_new(&(struct stage_options){.run_pods = true, .slow_deletion = true});

    stage_job_simple(stage, "j", "short*3 endless*2", "minSuccess: 2;minAvailable: 1");
    stage_pod(stage, "j-short-0", POD_SUCCEEDED);
    check_phase(stage, "j", "Running");
    stage_pod(stage, "j-short-2", POD_SUCCEEDED);
    check_phase(stage, "j", "Completed");
    assert_string_equal(stage_job(stage, "j")->reason, "PodsReleasing");
    assert_int_equal(stage_job(stage, "j")->terminating, 3);
    stage_let_go(stage);
    assert_string_equal(stage_job(stage, "j")->reason, "MinSuccessReached");
    assert_int_equal(stage_job(stage, "j")->terminating, 0);
    assert_int_equal(stage_job(stage, "j")->succeeded, 2);
    assert_int_equal(stage_count(stage, &kind_pod), 2);
    stage_free(stage);
}

/* covers: job.md ST-37 POL-17 */
static void a_completed_task_completes_the_job(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});

    stage_job_simple(stage, "j", "main*2 side*1",
                     "maxRetry: 1;policies: [{event: TaskCompleted, action: CompleteJob}]");
    stage_pod(stage, "j-main-0", POD_SUCCEEDED);
    check_phase(stage, "j", "Running");
    stage_pod(stage, "j-main-1", POD_SUCCEEDED);
    check_phase(stage, "j", "Completed");
    assert_int_equal(stage_job(stage, "j")->retry_count, 0);
    assert_null(stage_get(stage, &kind_pod, "j-side-0"));
    assert_non_null(stage_get(stage, &kind_pod, "j-main-0"));
    assert_string_equal(stage->phases, "Pending Running Completing Completed");
    stage_free(stage);
}

/* covers: job.md ST-44 */
static void a_kill_decided_before_a_crash_is_finished_after_it(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});
    struct job_status stored;

    stage_job_simple(stage, "j", "t*3", "policies: [{event: PodFailed, action: RestartJob}]");
    stage_stop_controller(stage);
    /* as if the process had died right after the decision */
    stored = *stage_job(stage, "j");
    stored.phase = JOB_RESTARTING;
    stored.version = 1;
    stored.retry_count = 1;
    cluster_update_status(stage->backend, NULL, stage_get(stage, &kind_job, "j"),
                          job_status_blob(&stored));
    loop_settle(stage->loop);
    stage_start_controller(stage);
    stage_settle(stage);
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    assert_int_equal(stage_job(stage, "j")->version, 1);
    assert_string_equal(
        meta_annotation(stage_get(stage, &kind_pod, "j-t-2")->meta, ANNOTATION_JOB_VERSION), "1");
    assert_int_equal(stage->group_deletions, 1);
    stage_free(stage);
}

/* covers: job.md ST-45 */
static void an_unknown_pod_is_waited_for(void **unused)
{
    struct stage *stage =
        stage_new(&(struct stage_options){.run_pods = true, .slow_deletion = true});

    stage_job_simple(stage, "j", "t*2", "policies: [{event: TaskFailed, action: CompleteJob}]");
    stage_pod(stage, "j-t-0", POD_UNKNOWN);
    assert_int_equal(stage_job(stage, "j")->unknown, 1);
    stage_pod_restarts(stage, "j-t-1", 3);
    check_phase(stage, "j", "Completing");
    stage_let_go(stage);
    check_phase(stage, "j", "Completed");
    stage_free(stage);
}

/* covers: job.md ST-47 */
static void counters_do_not_move_the_transition_time(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});
    int64_t before;

    stage_job_simple(stage, "j", "t*3", "minAvailable: 1");
    before = stage_job(stage, "j")->transition_ms;
    stage_advance(stage, 5000);
    stage_pod(stage, "j-t-0", POD_SUCCEEDED);
    assert_int_equal(stage_job(stage, "j")->succeeded, 1);
    assert_int_equal(stage_job(stage, "j")->transition_ms, before);
    stage_free(stage);
}

/* covers: job.md POD-32; reliability.md INV-J8 */
static void a_deleted_job_leaves_nothing(void **unused)
{
    static const char *const phases[] = {"Pending", "Running", "Completed"};

    for (size_t i = 0; i < countof(phases); i++) {
        struct stage *stage = stage_new(&(struct stage_options){
            .hold_groups = i == 0, .run_pods = true, .finish_pods = i == 2});

        stage_job_simple(stage, "j", "t*2", "plugins: {svc: [], env: []}");
        check_phase(stage, "j", phases[i]);
        stage_delete(stage, &kind_job, "j");
        stage_settle(stage);
        check_phase(stage, "j", "");
        check_int(phases[i], stage_count(stage, &kind_pod), 0);
        check_int(phases[i], stage_count(stage, &kind_pod_group), 0);
        check_int(phases[i], stage_count(stage, &kind_config_map), 0);
        check_int(phases[i], stage_count(stage, &kind_service), 0);
        stage_free(stage);
    }
}

/* covers: job.md DEP-12; see 1.1 */
static void a_job_with_an_unknown_plugin_fails_with_its_name(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});

    stage_job_simple(stage, "j", "t*1", "plugins: {other: []}");
    check_phase(stage, "j", "Failed");
    assert_string_equal(stage_job(stage, "j")->reason, "PluginError");
    check_has("message", stage_job(stage, "j")->message, "unable to find job plugin: other");
    assert_int_equal(stage_count(stage, &kind_pod), 0);
    stage_free(stage);
}

/* covers: reliability.md INV-J10; job.md POD-24 POD-23 */
static void task_counts_add_up(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});
    const struct job_status *status;

    stage_job_simple(stage, "j", "a*2 b*3", "minAvailable: 1");
    stage_pod(stage, "j-a-0", POD_SUCCEEDED);
    stage_pod(stage, "j-b-1", POD_FAILED);
    stage_pod(stage, "j-b-2", POD_UNKNOWN);
    status = stage_job(stage, "j");
    assert_int_equal(status->succeeded, 1);
    assert_int_equal(status->failed, 1);
    assert_int_equal(status->running, 2);
    assert_int_equal(status->unknown, 1);
    assert_int_equal(status->task_counts.count, 2);
    assert_int_equal(status->task_counts.items[0].by_phase[POD_SUCCEEDED], 1);
    assert_int_equal(status->task_counts.items[0].by_phase[POD_RUNNING], 1);
    assert_int_equal(status->task_counts.items[1].by_phase[POD_RUNNING], 1);
    assert_int_equal(status->task_counts.items[1].by_phase[POD_FAILED], 1);
    stage_free(stage);
}

/* Task b goes, and what is left has failed already: the scaling itself is the job's end. */
static void a_job_that_a_scaling_ends_shows_the_minimum_it_was_judged_by(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});

    stage_job_simple(stage, "j", "a*1 b*2", "minAvailable: 3");
    stage_pod(stage, "j-a-0", POD_FAILED);
    check_phase(stage, "j", "Running");
    stage_scale(stage, "j", 1, 0, 1);
    check_phase(stage, "j", "Failed");
    assert_string_equal(stage_job(stage, "j")->reason, "TaskMinAvailableMissed");
    assert_int_equal(stage_job(stage, "j")->min_available, 1);
    stage_free(stage);
}

static void many_jobs_of_one_template_complete(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true, .finish_pods = true});

    for (int i = 0; i < 50; i++) {
        scoped_str name = mem_printf("j%d", i);

        stage_job_simple(stage, name, "t*1", "");
    }
    for (int i = 0; i < 50; i++) {
        scoped_str name = mem_printf("j%d", i);

        check_phase(stage, name, "Completed");
        check_int(name, stage_job(stage, name)->succeeded, 1);
    }
    stage_free(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_of_one_pod_runs_and_completes),
        cmocka_unit_test(restart_kills_all_and_starts_over),
        cmocka_unit_test(the_last_permitted_restart_fails_the_job_and_keeps_what_ended),
        cmocka_unit_test(abort_terminate_complete_keep_finished_pods),
        cmocka_unit_test(enough_successes_complete_the_job_early),
        cmocka_unit_test(a_completed_task_completes_the_job),
        cmocka_unit_test(a_kill_decided_before_a_crash_is_finished_after_it),
        cmocka_unit_test(an_unknown_pod_is_waited_for),
        cmocka_unit_test(counters_do_not_move_the_transition_time),
        cmocka_unit_test(a_deleted_job_leaves_nothing),
        cmocka_unit_test(a_job_with_an_unknown_plugin_fails_with_its_name),
        cmocka_unit_test(task_counts_add_up),
        cmocka_unit_test(a_job_that_a_scaling_ends_shows_the_minimum_it_was_judged_by),
        cmocka_unit_test(many_jobs_of_one_template_complete),
    };
    return job_tests_with_faults(tests, countof(tests), NULL);
}
