/*
 * Tests Commands and the end of a job's life: suspend, resume, refuse, time to live.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static void check_phase(struct job_fixture *fixture, const char *job, const char *want)
{
    check_str(job, job_fixture_phase(fixture, job), want);
}

static void command_saying(struct job_fixture *fixture, const char *uid, const char *action,
                           const char *more)
{
    scoped_str yaml =
        mem_printf("{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, "
                   "namespace: default},\n"
                   "action: %s, target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: "
                   "j, uid: %s}%s%s}",
                   action, uid, *more ? ", " : "", more);

    job_fixture_apply(fixture, yaml);
}

static void command_for(struct job_fixture *fixture, const char *uid, const char *action)
{
    command_saying(fixture, uid, action, "");
}

static void command(struct job_fixture *fixture, const char *action)
{
    command_for(fixture, object_uid(job_fixture_get(fixture, &kind_job, "j")), action);
}

static struct job_fixture *running_pods(void)
{
    return job_fixture_new(&(struct job_fixture_options){.run_pods = true});
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
        struct job_fixture *fixture = running_pods();

        job_fixture_job_simple(fixture, "j", "t*2", "");
        command(fixture, rows[i].action);
        check_str(rows[i].action, fixture->phases, rows[i].phases);
        check_int(rows[i].action, job_fixture_count(fixture, &kind_command), 0);
        check(rows[i].action, job_fixture_has_event(fixture, "CommandIssued"));
        job_fixture_free(fixture);
    }
}

static void a_job_says_why_the_command_was_given(void **unused)
{
    static const struct {
        const char *message, *want;
    } rows[] = {{"", "terminated by command c"},
                {"message: the disk is full", "terminated: the disk is full"}};

    for (size_t i = 0; i < countof(rows); i++) {
        struct job_fixture *fixture = running_pods();

        job_fixture_job_simple(fixture, "j", "t*1", "");
        command_saying(fixture, object_uid(job_fixture_get(fixture, &kind_job, "j")),
                       "TerminateJob", rows[i].message);
        check_str(rows[i].want, job_status_of(job_fixture_get(fixture, &kind_job, "j"))->message,
                  rows[i].want);
        job_fixture_free(fixture);
    }
}

/* covers: job.md CMD-04 */
static void a_pending_job_is_suspended_without_pods(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.hold_groups = true});

    job_fixture_job_simple(fixture, "j", "t*2", "");
    command(fixture, "AbortJob");
    check_phase(fixture, "j", "Aborted");
    assert_string_equal(fixture->created, "");
    assert_int_equal(job_fixture_count(fixture, &kind_pod_group), 0);
    job_fixture_free(fixture);
}

/* covers: job.md ST-28 ST-29 ST-39 */
static void suspending_and_resuming_is_no_failure(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*2", "maxRetry: 3");
    for (int i = 1; i <= 5; i++) {
        command(fixture, "AbortJob");
        check_phase(fixture, "j", "Aborted");
        command(fixture, "ResumeJob");
        check_phase(fixture, "j", "Running");
        assert_int_equal(job_fixture_job(fixture, "j")->retry_count, i);
    }
    job_fixture_free(fixture);
}

/* covers: job.md ST-40; see O-35 */
static void resuming_runs_failed_work_again_and_keeps_what_succeeded(void **unused)
{
    struct job_fixture *fixture = running_pods();
    scoped_str kept = NULL;
    scoped_str lost = NULL;

    job_fixture_job_simple(fixture, "j", "t*3", "policies: [{event: PodFailed, action: AbortJob}]");
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    kept = mem_strdup(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-0")));
    lost = mem_strdup(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-1")));
    job_fixture_pod_failed(fixture, "j-t-1", 1);
    check_phase(fixture, "j", "Aborted");
    job_fixture_restart(fixture); /* a new controller makes the record of the finished job again */
    command(fixture, "ResumeJob");
    check_phase(fixture, "j", "Running");
    assert_string_equal(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-0")), kept);
    assert_string_not_equal(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-1")), lost);
    assert_int_equal(job_fixture_job(fixture, "j")->succeeded, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->running, 2);
    job_fixture_pods(fixture, POD_SUCCEEDED);
    check_phase(fixture, "j", "Completed");
    assert_int_equal(job_fixture_job(fixture, "j")->succeeded, 3);
    job_fixture_free(fixture);
}

/* covers: job.md ST-30 ST-42; see O-33 */
static void an_aborted_job_can_be_ended_for_good(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1", "");
    command(fixture, "AbortJob");
    command(fixture, "RestartJob");
    check_phase(fixture, "j", "Aborted");
    command(fixture, "TerminateJob");
    check_phase(fixture, "j", "Terminated");
    command(fixture, "ResumeJob");
    check_phase(fixture, "j", "Terminated");
    job_fixture_free(fixture);
}

/* covers: job.md CMD-07 */
static void a_command_for_an_earlier_job_is_refused(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1", "");
    command_for(fixture, "another", "AbortJob");
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_count(fixture, &kind_command), 0);
    assert_true(job_fixture_has_event(fixture, "CommandRejected"));
    job_fixture_free(fixture);
}

/* covers: job.md CMD-08 */
static void a_command_that_was_executed_is_not_executed_again(void **unused)
{
    struct job_fixture *fixture = running_pods();
    struct job_status stored;
    struct str_pair done = {"command-uid", NULL};

    job_fixture_job_simple(fixture, "j", "t*1", "");
    job_fixture_stop_controller(fixture);
    command(fixture, "RestartJob");
    done.value = object_uid(job_fixture_get(fixture, &kind_command, "c"));
    /* As if the process had died between the decision and the deletion of the Command. */
    stored = *job_fixture_job(fixture, "j");
    stored.controlled.items = &done;
    stored.controlled.count = 1;
    cluster_update_status(fixture->backend, NULL, job_fixture_get(fixture, &kind_job, "j"),
                          job_status_blob(&stored));
    loop_settle(fixture->loop);
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 0);
    assert_int_equal(job_fixture_count(fixture, &kind_command), 0);
    job_fixture_free(fixture);
}

/* covers: see O-68 */
static void a_command_waits_a_while_for_its_job(void **unused)
{
    struct job_fixture *fixture = running_pods();

    command_for(fixture, "''", "AbortJob");
    assert_int_equal(job_fixture_count(fixture, &kind_command), 1);
    job_fixture_advance(fixture, 5000);
    job_fixture_job_simple(fixture, "j", "t*1", "");
    check_phase(fixture, "j", "Aborted");
    assert_int_equal(job_fixture_count(fixture, &kind_command), 0);
    job_fixture_free(fixture);

    fixture = running_pods();
    command_for(fixture, "''", "AbortJob");
    job_fixture_advance(fixture, 31000);
    assert_int_equal(job_fixture_count(fixture, &kind_command), 0);
    job_fixture_free(fixture);
}

/* covers: job.md GC-01 GC-02 GC-03 GC-08 GC-09 */
static void finished_jobs_are_deleted_after_their_time(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1", "ttlSecondsAfterFinished: 10");
    job_fixture_advance(fixture, 60000);
    check_phase(fixture, "j", "Running");
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    job_fixture_advance(fixture, 5000);
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 3500);
    check_phase(fixture, "j", "Completed");
    job_fixture_advance(fixture, 2000);
    check_phase(fixture, "j", "");
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 0);
    job_fixture_free(fixture);

    fixture = running_pods();
    job_fixture_job_simple(fixture, "j", "t*1", "ttlSecondsAfterFinished: 0");
    job_fixture_pod(fixture, "j-t-0", POD_FAILED);
    check_phase(fixture, "j", "");
    job_fixture_job_simple(fixture, "j", "t*1", "");
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    job_fixture_advance(fixture, 1000000);
    check_phase(fixture, "j", "Completed");
    job_fixture_free(fixture);
}

/* covers: job.md GC-04 */
static void an_aborted_job_is_never_collected(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1", "ttlSecondsAfterFinished: 1");
    command(fixture, "AbortJob");
    job_fixture_advance(fixture, 100000);
    check_phase(fixture, "j", "Aborted");
    job_fixture_free(fixture);
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
        a_command_that_was_executed_is_not_executed_again, /* plans faults of its own */
        NULL,
    };

    return job_tests_with_faults(tests, countof(tests), spared);
}
