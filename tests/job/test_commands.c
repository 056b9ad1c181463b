/*
 * Commands and the end of a job's life: suspend, resume, refuse, time to live.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static void check_phase(struct stage *stage, const char *job, const char *want)
{
    check_str(job, stage_phase(stage, job), want);
}

static void command_saying(struct stage *stage, const char *uid, const char *action,
                           const char *more)
{
    scoped_str yaml =
        mem_printf("{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, "
                   "namespace: default},\n"
                   "action: %s, target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: "
                   "j, uid: %s}%s%s}",
                   action, uid, *more ? ", " : "", more);

    stage_apply(stage, yaml);
}

static void command_for(struct stage *stage, const char *uid, const char *action)
{
    command_saying(stage, uid, action, "");
}

static void command(struct stage *stage, const char *action)
{
    command_for(stage, object_uid(stage_get(stage, &kind_job, "j")), action);
}

static struct stage *running_pods(void)
{
    return stage_new(&(struct stage_options){.run_pods = true});
}

/* covers: job.md CMD-02 CMD-03 CMD-05 CMD-06 */
static void commands_do_what_they_say(void **unused)
{
    static const struct {
        const char *action, *phases;
    } rows[] = {
        {"AbortJob", "Pending Running Aborting Aborted"},
        {"TerminateJob", "Pending Running Terminating Terminated"},
        {"CompleteJob", "Pending Running Completing Completed"},
        {"RestartJob", "Pending Running Restarting Pending Running"},
        {"ResumeJob", "Pending Running"},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct stage *stage = running_pods();

        stage_job_simple(stage, "j", "t*2", "");
        command(stage, rows[i].action);
        check_str(rows[i].action, stage->phases, rows[i].phases);
        check_int(rows[i].action, stage_count(stage, &kind_command), 0);
        check(rows[i].action, stage_has_event(stage, "CommandIssued"));
        stage_free(stage);
    }
}

static void a_job_says_why_the_command_was_given(void **unused)
{
    static const struct {
        const char *message, *want;
    } rows[] = {
        {"", "TerminateJob after CommandIssued by command c"},
        {"message: the disk is full", "TerminateJob after CommandIssued: the disk is full"}};

    for (size_t i = 0; i < countof(rows); i++) {
        struct stage *stage = running_pods();

        stage_job_simple(stage, "j", "t*1", "");
        command_saying(stage, object_uid(stage_get(stage, &kind_job, "j")), "TerminateJob",
                       rows[i].message);
        check_str(rows[i].want, job_status_of(stage_get(stage, &kind_job, "j"))->message,
                  rows[i].want);
        stage_free(stage);
    }
}

/* covers: job.md CMD-04 */
static void a_pending_job_is_suspended_without_pods(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.hold_groups = true});

    stage_job_simple(stage, "j", "t*2", "");
    command(stage, "AbortJob");
    check_phase(stage, "j", "Aborted");
    assert_string_equal(stage->created, "");
    assert_int_equal(stage_count(stage, &kind_pod_group), 0);
    stage_free(stage);
}

/* covers: job.md ST-28 ST-29 ST-39 */
static void suspending_and_resuming_is_no_failure(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*2", "maxRetry: 3");
    for (int i = 1; i <= 5; i++) {
        command(stage, "AbortJob");
        check_phase(stage, "j", "Aborted");
        command(stage, "ResumeJob");
        check_phase(stage, "j", "Running");
        assert_int_equal(stage_job(stage, "j")->retry_count, i);
    }
    stage_free(stage);
}

/* covers: job.md ST-40; see O-35 */
static void resuming_runs_failed_work_again_and_keeps_what_succeeded(void **unused)
{
    struct stage *stage = running_pods();
    scoped_str kept = NULL;
    scoped_str lost = NULL;

    stage_job_simple(stage, "j", "t*3", "policies: [{event: PodFailed, action: AbortJob}]");
    stage_pod(stage, "j-t-0", POD_SUCCEEDED);
    kept = mem_strdup(object_uid(stage_get(stage, &kind_pod, "j-t-0")));
    lost = mem_strdup(object_uid(stage_get(stage, &kind_pod, "j-t-1")));
    stage_pod_failed(stage, "j-t-1", 1);
    check_phase(stage, "j", "Aborted");
    stage_restart(stage); /* the record of a job at rest is made again */
    command(stage, "ResumeJob");
    check_phase(stage, "j", "Running");
    assert_string_equal(object_uid(stage_get(stage, &kind_pod, "j-t-0")), kept);
    assert_string_not_equal(object_uid(stage_get(stage, &kind_pod, "j-t-1")), lost);
    assert_int_equal(stage_job(stage, "j")->succeeded, 1);
    assert_int_equal(stage_job(stage, "j")->running, 2);
    stage_pods(stage, POD_SUCCEEDED);
    check_phase(stage, "j", "Completed");
    assert_int_equal(stage_job(stage, "j")->succeeded, 3);
    stage_free(stage);
}

/* covers: job.md ST-30 ST-42; see O-33 */
static void an_aborted_job_can_be_ended_for_good(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*1", "");
    command(stage, "AbortJob");
    command(stage, "RestartJob");
    check_phase(stage, "j", "Aborted");
    command(stage, "TerminateJob");
    check_phase(stage, "j", "Terminated");
    command(stage, "ResumeJob");
    check_phase(stage, "j", "Terminated");
    stage_free(stage);
}

/* covers: job.md CMD-07 */
static void a_command_for_an_earlier_job_is_refused(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*1", "");
    command_for(stage, "another", "AbortJob");
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_count(stage, &kind_command), 0);
    assert_true(stage_has_event(stage, "CommandRejected"));
    stage_free(stage);
}

/* covers: job.md CMD-08 */
static void a_command_that_was_executed_is_not_executed_again(void **unused)
{
    struct stage *stage = running_pods();
    struct job_status stored;
    struct str_pair done = {"command-uid", NULL};

    stage_job_simple(stage, "j", "t*1", "");
    stage_stop_controller(stage);
    command(stage, "RestartJob");
    done.value = object_uid(stage_get(stage, &kind_command, "c"));
    stored = *stage_job(stage, "j"); /* as if the process had died between decision and deletion */
    stored.controlled.items = &done;
    stored.controlled.count = 1;
    cluster_update_status(stage->backend, NULL, stage_get(stage, &kind_job, "j"),
                          job_status_blob(&stored));
    loop_settle(stage->loop);
    stage_start_controller(stage);
    stage_settle(stage);
    assert_int_equal(stage_job(stage, "j")->retry_count, 0);
    assert_int_equal(stage_count(stage, &kind_command), 0);
    stage_free(stage);
}

/* covers: see O-68 */
static void a_command_waits_a_while_for_its_job(void **unused)
{
    struct stage *stage = running_pods();

    command_for(stage, "''", "AbortJob");
    assert_int_equal(stage_count(stage, &kind_command), 1);
    stage_advance(stage, 5000);
    stage_job_simple(stage, "j", "t*1", "");
    check_phase(stage, "j", "Aborted");
    assert_int_equal(stage_count(stage, &kind_command), 0);
    stage_free(stage);

    stage = running_pods();
    command_for(stage, "''", "AbortJob");
    stage_advance(stage, 31000);
    assert_int_equal(stage_count(stage, &kind_command), 0);
    stage_free(stage);
}

/* covers: job.md GC-01 GC-02 GC-03 GC-08 GC-09 */
static void finished_jobs_are_deleted_after_their_time(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*1", "ttlSecondsAfterFinished: 10");
    stage_advance(stage, 60000);
    check_phase(stage, "j", "Running");
    stage_pod(stage, "j-t-0", POD_SUCCEEDED);
    stage_advance(stage, 5000);
    stage_restart(stage);
    stage_advance(stage, 3500);
    check_phase(stage, "j", "Completed");
    stage_advance(stage, 2000);
    check_phase(stage, "j", "");
    assert_int_equal(stage_count(stage, &kind_pod), 0);
    stage_free(stage);

    stage = running_pods();
    stage_job_simple(stage, "j", "t*1", "ttlSecondsAfterFinished: 0");
    stage_pod(stage, "j-t-0", POD_FAILED);
    check_phase(stage, "j", "");
    stage_job_simple(stage, "j", "t*1", "");
    stage_pod(stage, "j-t-0", POD_SUCCEEDED);
    stage_advance(stage, 1000000);
    check_phase(stage, "j", "Completed");
    stage_free(stage);
}

/* covers: job.md GC-04 */
static void an_aborted_job_is_never_collected(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*1", "ttlSecondsAfterFinished: 1");
    command(stage, "AbortJob");
    stage_advance(stage, 100000);
    check_phase(stage, "j", "Aborted");
    stage_free(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_do_what_they_say),
        cmocka_unit_test(a_job_says_why_the_command_was_given),
        cmocka_unit_test(a_pending_job_is_suspended_without_pods),
        cmocka_unit_test(suspending_and_resuming_is_no_failure),
        cmocka_unit_test(resuming_runs_failed_work_again_and_keeps_what_succeeded),
        cmocka_unit_test(an_aborted_job_can_be_ended_for_good),
        cmocka_unit_test(a_command_for_an_earlier_job_is_refused),
        cmocka_unit_test(a_command_that_was_executed_is_not_executed_again),
        cmocka_unit_test(a_command_waits_a_while_for_its_job),
        cmocka_unit_test(finished_jobs_are_deleted_after_their_time),
        cmocka_unit_test(an_aborted_job_is_never_collected),
    };
    static void (*const spared[])(void **state) = {
        a_command_that_was_executed_is_not_executed_again, /* plans its own */
        NULL,
    };

    return job_tests_with_faults(tests, countof(tests), spared);
}
