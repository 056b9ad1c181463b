/*
 * Tests jobs from their creation to their end, on the embedded cluster.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static void check_phase(struct job_fixture *fixture, const char *job, const char *want)
{
    check_str(job, job_fixture_phase(fixture, job), want);
}

/* covers: job.md ST-35 ST-12 ST-38 ST-43 POD-11 PG-06 */
static void a_job_of_one_pod_runs_and_completes(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.hold_groups = true});
    unsigned writes;

    job_fixture_job_simple(fixture, "j", "t*1", "");
    check_phase(fixture, "j", "Pending");
    assert_int_equal(job_fixture_job(fixture, "j")->min_available, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->conditions.count, 1);
    /* The PodGroup is not admitted yet. */
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 0);

    job_fixture_group_phase(fixture, PODGROUP_INQUEUE);
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 1);
    assert_int_equal(job_fixture_job(fixture, "j")->pending, 1);
    job_fixture_pod(fixture, "j-t-0", POD_RUNNING);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->running, 1);
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    check_phase(fixture, "j", "Completed");
    assert_int_equal(job_fixture_job(fixture, "j")->succeeded, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->running, 0);
    assert_int_equal(job_fixture_count(fixture, &kind_pod_group), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 1);
    assert_string_equal(fixture->phases, "Pending Running Completed");

    writes = fixture->job_writes;
    for (int i = 0; i < 100; i++)
        job_fixture_patch(fixture, &kind_pod, "j-t-0",
                          i % 2 ? "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}"
                                : "{\"metadata\":{\"labels\":{\"x\":\"2\"}}}");
    assert_int_equal(fixture->job_writes, writes);
    job_fixture_free(fixture);
}

/* covers: job.md ST-01 ST-02 ST-10 ST-24 PG-06 */
static void restart_kills_all_and_starts_over(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});
    const struct object *pod;

    job_fixture_job_simple(fixture, "j", "t*2",
                           "policies: [{event: PodFailed, action: RestartJob}]");
    check_phase(fixture, "j", "Running");
    job_fixture_pod_failed(fixture, "j-t-0", 3);
    check_phase(fixture, "j", "Restarting");
    assert_int_equal(job_fixture_job(fixture, "j")->terminating,
                     1); /* the failed pod is gone at once, the other one is terminating */
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->version, 1);
    pod = job_fixture_get(fixture, &kind_pod, "j-t-1");
    assert_string_equal(meta_annotation(pod->meta, ANNOTATION_OUT_OF_SYNC), "true");
    assert_string_equal(job_fixture_job(fixture, "j")->reason, "PodFailed");
    check_has("message", job_fixture_job(fixture, "j")->message, "j-t-0 with exit code 3");
    job_fixture_let_go(fixture);
    check_phase(fixture, "j", "Running");
    assert_string_equal(fixture->phases, "Pending Running Restarting Pending Running");
    assert_int_equal(fixture->group_deletions, 1);
    assert_int_equal(fixture->group_creations, 2);
    pod = job_fixture_get(fixture, &kind_pod, "j-t-1");
    assert_string_equal(meta_annotation(pod->meta, ANNOTATION_JOB_VERSION), "1");
    job_fixture_free(fixture);
}

/* covers: job.md ST-23 ST-36 */
static void the_last_permitted_restart_fails_the_job_and_keeps_what_ended(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    job_fixture_job_simple(fixture, "j", "bad*1 good*1",
                           "maxRetry: 2;policies: [{event: PodFailed, action: RestartJob}]");
    job_fixture_pod_failed(fixture, "j-bad-0", 1);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    job_fixture_pod_failed(fixture, "j-bad-0", 1);
    check_phase(fixture, "j", "Failed");
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 2);
    assert_non_null(job_fixture_get(fixture, &kind_pod, "j-bad-0"));
    assert_null(job_fixture_get(fixture, &kind_pod, "j-good-0"));
    assert_int_equal(job_fixture_job(fixture, "j")->failed, 1);
    assert_int_equal(job_fixture_count(fixture, &kind_pod_group), 0);
    job_fixture_free(fixture);
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
        struct job_fixture *fixture =
            job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});
        scoped_str policy =
            mem_printf("policies: [{event: PodFailed, action: %s}]", cases[i].action);

        job_fixture_job_simple(fixture, "j", "t*4", policy);
        job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
        job_fixture_pod_failed(fixture, "j-t-1", 1);
        check_phase(fixture, "j", cases[i].on_the_way);
        check_int(cases[i].action, job_fixture_job(fixture, "j")->terminating, 2);
        check_int(cases[i].action, job_fixture_job(fixture, "j")->succeeded, 1);
        check_int(cases[i].action, job_fixture_job(fixture, "j")->failed, 1);
        check_int(cases[i].action, job_fixture_job(fixture, "j")->version, 1);
        job_fixture_let_go(fixture);
        check_phase(fixture, "j", cases[i].at_the_end);
        check_int(cases[i].action, job_fixture_job(fixture, "j")->terminating, 0);
        check_int(cases[i].action, job_fixture_job(fixture, "j")->succeeded, 1);
        check_int(cases[i].action, job_fixture_job(fixture, "j")->failed, 1);
        check_int(cases[i].action, job_fixture_job(fixture, "j")->version, 1);
        check_int(cases[i].action, job_fixture_count(fixture, &kind_pod), 2);
        check_int(cases[i].action, job_fixture_count(fixture, &kind_pod_group), 0);
        job_fixture_free(fixture);
    }
}

/* covers: job.md ST-17; see O-38 */
static void enough_successes_complete_the_job_early(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});

    job_fixture_job_simple(fixture, "j", "short*3 endless*2", "minSuccess: 2;minAvailable: 1");
    job_fixture_pod(fixture, "j-short-0", POD_SUCCEEDED);
    check_phase(fixture, "j", "Running");
    job_fixture_pod(fixture, "j-short-2", POD_SUCCEEDED);
    check_phase(fixture, "j", "Completed");
    assert_string_equal(job_fixture_job(fixture, "j")->reason, "PodsReleasing");
    assert_int_equal(job_fixture_job(fixture, "j")->terminating, 3);
    job_fixture_let_go(fixture);
    assert_string_equal(job_fixture_job(fixture, "j")->reason, "MinSuccessReached");
    assert_int_equal(job_fixture_job(fixture, "j")->terminating, 0);
    assert_int_equal(job_fixture_job(fixture, "j")->succeeded, 2);
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 2);
    job_fixture_free(fixture);
}

/* covers: job.md ST-37 POL-17 */
static void a_completed_task_completes_the_job(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    job_fixture_job_simple(fixture, "j", "main*2 side*1",
                           "maxRetry: 1;policies: [{event: TaskCompleted, action: CompleteJob}]");
    job_fixture_pod(fixture, "j-main-0", POD_SUCCEEDED);
    check_phase(fixture, "j", "Running");
    job_fixture_pod(fixture, "j-main-1", POD_SUCCEEDED);
    check_phase(fixture, "j", "Completed");
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 0);
    assert_null(job_fixture_get(fixture, &kind_pod, "j-side-0"));
    assert_non_null(job_fixture_get(fixture, &kind_pod, "j-main-0"));
    assert_string_equal(fixture->phases, "Pending Running Completing Completed");
    job_fixture_free(fixture);
}

/* covers: job.md ST-44 */
static void a_kill_decided_before_a_crash_is_finished_after_it(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});
    struct job_status stored;

    job_fixture_job_simple(fixture, "j", "t*3",
                           "policies: [{event: PodFailed, action: RestartJob}]");
    job_fixture_stop_controller(fixture);
    /* The process dies right after the decision to restart. */
    stored = *job_fixture_job(fixture, "j");
    stored.phase = JOB_RESTARTING;
    stored.version = 1;
    stored.retry_count = 1;
    cluster_update_status(fixture->backend, NULL, job_fixture_get(fixture, &kind_job, "j"),
                          job_status_blob(&stored));
    loop_settle(fixture->loop);
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->version, 1);
    assert_string_equal(
        meta_annotation(job_fixture_get(fixture, &kind_pod, "j-t-2")->meta, ANNOTATION_JOB_VERSION),
        "1");
    assert_int_equal(fixture->group_deletions, 1);
    job_fixture_free(fixture);
}

/* covers: job.md ST-45 */
static void an_unknown_pod_is_waited_for(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});

    job_fixture_job_simple(fixture, "j", "t*2",
                           "policies: [{event: TaskFailed, action: CompleteJob}]");
    job_fixture_pod(fixture, "j-t-0", POD_UNKNOWN);
    assert_int_equal(job_fixture_job(fixture, "j")->unknown, 1);
    job_fixture_pod_restarts(fixture, "j-t-1", 3);
    check_phase(fixture, "j", "Completing");
    job_fixture_let_go(fixture);
    check_phase(fixture, "j", "Completed");
    job_fixture_free(fixture);
}

/* covers: job.md ST-47 */
static void counters_do_not_move_the_transition_time(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});
    int64_t before;

    job_fixture_job_simple(fixture, "j", "t*3", "minAvailable: 1");
    before = job_fixture_job(fixture, "j")->transition_ms;
    job_fixture_advance(fixture, 5000);
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    assert_int_equal(job_fixture_job(fixture, "j")->succeeded, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->transition_ms, before);
    job_fixture_free(fixture);
}

/* covers: job.md POD-32; reliability.md INV-J8 */
static void a_deleted_job_leaves_nothing(void **unused)
{
    static const char *const phases[] = {"Pending", "Running", "Completed"};

    for (size_t i = 0; i < countof(phases); i++) {
        struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){
            .hold_groups = i == 0, .run_pods = true, .finish_pods = i == 2});

        job_fixture_job_simple(fixture, "j", "t*2", "plugins: {svc: [], env: []}");
        check_phase(fixture, "j", phases[i]);
        job_fixture_delete(fixture, &kind_job, "j");
        job_fixture_settle(fixture);
        check_phase(fixture, "j", "");
        check_int(phases[i], job_fixture_count(fixture, &kind_pod), 0);
        check_int(phases[i], job_fixture_count(fixture, &kind_pod_group), 0);
        check_int(phases[i], job_fixture_count(fixture, &kind_config_map), 0);
        check_int(phases[i], job_fixture_count(fixture, &kind_service), 0);
        job_fixture_free(fixture);
    }
}

/* covers: job.md DEP-12; see 1.1 */
static void a_job_with_an_unknown_plugin_fails_with_its_name(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    job_fixture_job_simple(fixture, "j", "t*1", "plugins: {other: []}");
    check_phase(fixture, "j", "Failed");
    assert_string_equal(job_fixture_job(fixture, "j")->reason, "PluginError");
    check_has("message", job_fixture_job(fixture, "j")->message,
              "unable to find job plugin: other");
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 0);
    job_fixture_free(fixture);
}

/* covers: reliability.md INV-J10; job.md POD-24 POD-23 */
static void task_counts_add_up(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});
    const struct job_status *status;

    job_fixture_job_simple(fixture, "j", "a*2 b*3", "minAvailable: 1");
    job_fixture_pod(fixture, "j-a-0", POD_SUCCEEDED);
    job_fixture_pod(fixture, "j-b-1", POD_FAILED);
    job_fixture_pod(fixture, "j-b-2", POD_UNKNOWN);
    status = job_fixture_job(fixture, "j");
    assert_int_equal(status->succeeded, 1);
    assert_int_equal(status->failed, 1);
    assert_int_equal(status->running, 2);
    assert_int_equal(status->unknown, 1);
    assert_int_equal(status->task_counts.count, 2);
    assert_int_equal(status->task_counts.items[0].by_phase[POD_SUCCEEDED], 1);
    assert_int_equal(status->task_counts.items[0].by_phase[POD_RUNNING], 1);
    assert_int_equal(status->task_counts.items[1].by_phase[POD_RUNNING], 1);
    assert_int_equal(status->task_counts.items[1].by_phase[POD_FAILED], 1);
    job_fixture_free(fixture);
}

/* Task b is removed, and what is left has failed already, so the scaling itself ends the job. */
static void a_job_that_a_scaling_ends_shows_the_minimum_it_was_judged_by(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    job_fixture_job_simple(fixture, "j", "a*1 b*2", "minAvailable: 3");
    job_fixture_pod(fixture, "j-a-0", POD_FAILED);
    check_phase(fixture, "j", "Running");
    job_fixture_scale(fixture, "j", 1, 0, 1);
    check_phase(fixture, "j", "Failed");
    assert_string_equal(job_fixture_job(fixture, "j")->reason, "TaskMinAvailableMissed");
    assert_int_equal(job_fixture_job(fixture, "j")->min_available, 1);
    job_fixture_free(fixture);
}

static void many_jobs_of_one_template_complete(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .finish_pods = true});

    for (int i = 0; i < 50; i++) {
        scoped_str name = mem_printf("j%d", i);

        job_fixture_job_simple(fixture, name, "t*1", "");
    }
    for (int i = 0; i < 50; i++) {
        scoped_str name = mem_printf("j%d", i);

        check_phase(fixture, name, "Completed");
        check_int(name, job_fixture_job(fixture, name)->succeeded, 1);
    }
    job_fixture_free(fixture);
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
