/*
 * Commands and the end of a job's life: suspend, resume, refuse, time to live.
 */
#include "tests/unit.h"

#include "tests/support/job_world.h"

#include "api/types/pod.h"

static void check_phase(struct world *world, const char *job, const char *want)
{
    check_str(job, world_phase(world, job), want);
}

static void command_for(struct world *world, const char *uid, const char *action)
{
    scoped_str yaml =
        mem_printf("{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, "
                   "namespace: default},\n"
                   "action: %s, target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: "
                   "j, uid: %s}}",
                   action, uid);

    world_apply(world, yaml);
}

static void command(struct world *world, const char *action)
{
    command_for(world, object_uid(world_get(world, &kind_job, "j")), action);
}

static struct world *running_pods(void)
{
    return world_new(&(struct world_options){.run_pods = true});
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
        struct world *world = running_pods();

        world_job_simple(world, "j", "t*2", "");
        command(world, rows[i].action);
        check_str(rows[i].action, world->phases, rows[i].phases);
        check_int(rows[i].action, world_count(world, &kind_command), 0);
        check(rows[i].action, world_has_event(world, "CommandIssued"));
        world_free(world);
    }
}

/* covers: job.md CMD-04 */
static void a_pending_job_is_suspended_without_pods(void **unused)
{
    struct world *world = world_new(&(struct world_options){.hold_groups = true});

    world_job_simple(world, "j", "t*2", "");
    command(world, "AbortJob");
    check_phase(world, "j", "Aborted");
    assert_string_equal(world->created, "");
    assert_int_equal(world_count(world, &kind_pod_group), 0);
    world_free(world);
}

/* covers: job.md ST-28 ST-29 ST-39 */
static void suspending_and_resuming_is_no_failure(void **unused)
{
    struct world *world = running_pods();

    world_job_simple(world, "j", "t*2", "maxRetry: 3");
    for (int i = 1; i <= 5; i++) {
        command(world, "AbortJob");
        check_phase(world, "j", "Aborted");
        command(world, "ResumeJob");
        check_phase(world, "j", "Running");
        assert_int_equal(world_job(world, "j")->retry_count, i);
    }
    world_free(world);
}

/* covers: job.md ST-40 O-35 */
static void resuming_runs_failed_work_again_and_keeps_what_succeeded(void **unused)
{
    struct world *world = running_pods();
    scoped_str kept = NULL;
    scoped_str lost = NULL;

    world_job_simple(world, "j", "t*3", "policies: [{event: PodFailed, action: AbortJob}]");
    world_pod(world, "j-t-0", POD_SUCCEEDED);
    kept = mem_strdup(object_uid(world_get(world, &kind_pod, "j-t-0")));
    lost = mem_strdup(object_uid(world_get(world, &kind_pod, "j-t-1")));
    world_pod_failed(world, "j-t-1", 1);
    check_phase(world, "j", "Aborted");
    world_restart(world); /* the record of a job at rest is made again */
    command(world, "ResumeJob");
    check_phase(world, "j", "Running");
    assert_string_equal(object_uid(world_get(world, &kind_pod, "j-t-0")), kept);
    assert_string_not_equal(object_uid(world_get(world, &kind_pod, "j-t-1")), lost);
    assert_int_equal(world_job(world, "j")->succeeded, 1);
    assert_int_equal(world_job(world, "j")->running, 2);
    world_pods(world, POD_SUCCEEDED);
    check_phase(world, "j", "Completed");
    assert_int_equal(world_job(world, "j")->succeeded, 3);
    world_free(world);
}

/* covers: job.md ST-30 ST-42 O-33 */
static void an_aborted_job_can_be_ended_for_good(void **unused)
{
    struct world *world = running_pods();

    world_job_simple(world, "j", "t*1", "");
    command(world, "AbortJob");
    command(world, "RestartJob");
    check_phase(world, "j", "Aborted");
    command(world, "TerminateJob");
    check_phase(world, "j", "Terminated");
    command(world, "ResumeJob");
    check_phase(world, "j", "Terminated");
    world_free(world);
}

/* covers: job.md CMD-07 */
static void a_command_for_an_earlier_job_is_refused(void **unused)
{
    struct world *world = running_pods();

    world_job_simple(world, "j", "t*1", "");
    command_for(world, "another", "AbortJob");
    check_phase(world, "j", "Running");
    assert_int_equal(world_count(world, &kind_command), 0);
    assert_true(world_has_event(world, "CommandRejected"));
    world_free(world);
}

/* covers: job.md CMD-08 */
static void a_command_that_was_executed_is_not_executed_again(void **unused)
{
    struct world *world = running_pods();
    struct job_status stored;
    struct str_pair done = {"command-uid", NULL};

    world_job_simple(world, "j", "t*1", "");
    world_stop_controller(world);
    command(world, "RestartJob");
    done.value = object_uid(world_get(world, &kind_command, "c"));
    stored = *world_job(world, "j"); /* as if the process had died between decision and deletion */
    stored.controlled.items = &done;
    stored.controlled.count = 1;
    cluster_update_status(world->backend, NULL, world_get(world, &kind_job, "j"),
                          job_status_blob(&stored));
    loop_settle(world->loop);
    world_start_controller(world);
    world_settle(world);
    assert_int_equal(world_job(world, "j")->retry_count, 0);
    assert_int_equal(world_count(world, &kind_command), 0);
    world_free(world);
}

/* covers: job.md O-68 */
static void a_command_waits_a_while_for_its_job(void **unused)
{
    struct world *world = running_pods();

    command_for(world, "''", "AbortJob");
    assert_int_equal(world_count(world, &kind_command), 1);
    world_advance(world, 5000);
    world_job_simple(world, "j", "t*1", "");
    check_phase(world, "j", "Aborted");
    assert_int_equal(world_count(world, &kind_command), 0);
    world_free(world);

    world = running_pods();
    command_for(world, "''", "AbortJob");
    world_advance(world, 31000);
    assert_int_equal(world_count(world, &kind_command), 0);
    world_free(world);
}

/* covers: job.md GC-01 GC-02 GC-03 GC-08 GC-09 */
static void finished_jobs_are_deleted_after_their_time(void **unused)
{
    struct world *world = running_pods();

    world_job_simple(world, "j", "t*1", "ttlSecondsAfterFinished: 10");
    world_advance(world, 60000);
    check_phase(world, "j", "Running");
    world_pod(world, "j-t-0", POD_SUCCEEDED);
    world_advance(world, 5000);
    world_restart(world);
    world_advance(world, 3500);
    check_phase(world, "j", "Completed");
    world_advance(world, 2000);
    check_phase(world, "j", "");
    assert_int_equal(world_count(world, &kind_pod), 0);
    world_free(world);

    world = running_pods();
    world_job_simple(world, "j", "t*1", "ttlSecondsAfterFinished: 0");
    world_pod(world, "j-t-0", POD_FAILED);
    check_phase(world, "j", "");
    world_job_simple(world, "j", "t*1", "");
    world_pod(world, "j-t-0", POD_SUCCEEDED);
    world_advance(world, 1000000);
    check_phase(world, "j", "Completed");
    world_free(world);
}

/* covers: job.md GC-04 */
static void an_aborted_job_is_never_collected(void **unused)
{
    struct world *world = running_pods();

    world_job_simple(world, "j", "t*1", "ttlSecondsAfterFinished: 1");
    command(world, "AbortJob");
    world_advance(world, 100000);
    check_phase(world, "j", "Aborted");
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_do_what_they_say),
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
    return cmocka_run_group_tests(tests, NULL, NULL);
}
