/*
 * Jobs from creation to their end, on the embedded cluster.
 */
#include "tests/unit.h"

#include "tests/support/job_world.h"

#include "api/types/pod.h"

static void check_phase(struct world *world, const char *job, const char *want)
{
    check_str(job, world_phase(world, job), want);
}

/* covers: job.md ST-35 ST-12 ST-38 ST-43 POD-11 PG-06 */
static void a_job_of_one_pod_runs_and_completes(void **unused)
{
    struct world *world = world_new(&(struct world_options){.hold_groups = true});
    unsigned writes;

    world_job_simple(world, "j", "t*1", "");
    check_phase(world, "j", "Pending");
    assert_int_equal(world_job(world, "j")->min_available, 1);
    assert_int_equal(world_job(world, "j")->conditions.count, 1);
    assert_int_equal(world_count(world, &kind_pod), 0); /* not admitted */

    world_group_phase(world, PODGROUP_INQUEUE);
    assert_int_equal(world_count(world, &kind_pod), 1);
    assert_int_equal(world_job(world, "j")->pending, 1);
    world_pod(world, "j-t-0", POD_RUNNING);
    check_phase(world, "j", "Running");
    assert_int_equal(world_job(world, "j")->running, 1);
    world_pod(world, "j-t-0", POD_SUCCEEDED);
    check_phase(world, "j", "Completed");
    assert_int_equal(world_job(world, "j")->succeeded, 1);
    assert_int_equal(world_job(world, "j")->running, 0);
    assert_int_equal(world_count(world, &kind_pod_group), 0);
    assert_int_equal(world_count(world, &kind_pod), 1);
    assert_string_equal(world->phases, "Pending Running Completed");

    writes = world->job_writes;
    for (int i = 0; i < 100; i++)
        world_patch(world, &kind_pod, "j-t-0",
                    i % 2 ? "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}"
                          : "{\"metadata\":{\"labels\":{\"x\":\"2\"}}}");
    assert_int_equal(world->job_writes, writes);
    world_free(world);
}

/* covers: job.md ST-01 ST-02 ST-10 ST-24 PG-06 */
static void restart_kills_all_and_starts_over(void **unused)
{
    struct world *world =
        world_new(&(struct world_options){.run_pods = true, .slow_deletion = true});
    const struct object *pod;

    world_job_simple(world, "j", "t*2", "policies: [{event: PodFailed, action: RestartJob}]");
    check_phase(world, "j", "Running");
    world_pod_failed(world, "j-t-0", 3);
    check_phase(world, "j", "Restarting");
    assert_int_equal(world_job(world, "j")->terminating, 1); /* the failed pod is gone at once */
    assert_int_equal(world_job(world, "j")->retry_count, 1);
    assert_int_equal(world_job(world, "j")->version, 1);
    pod = world_get(world, &kind_pod, "j-t-1");
    assert_string_equal(meta_annotation(pod->meta, ANNOTATION_OUT_OF_SYNC), "true");
    assert_string_equal(world_job(world, "j")->reason, "PodFailed");
    check_has("message", world_job(world, "j")->message, "j-t-0 with exit code 3");
    world_let_go(world);
    check_phase(world, "j", "Running");
    assert_string_equal(world->phases, "Pending Running Restarting Pending Running");
    assert_int_equal(world->group_deletions, 1);
    assert_int_equal(world->group_creations, 2);
    pod = world_get(world, &kind_pod, "j-t-1");
    assert_string_equal(meta_annotation(pod->meta, ANNOTATION_JOB_VERSION), "1");
    world_free(world);
}

/* covers: job.md ST-23 ST-36 */
static void the_last_permitted_restart_fails_the_job_and_keeps_what_ended(void **unused)
{
    struct world *world = world_new(&(struct world_options){.run_pods = true});

    world_job_simple(world, "j", "bad*1 good*1",
                     "maxRetry: 2;policies: [{event: PodFailed, action: RestartJob}]");
    world_pod_failed(world, "j-bad-0", 1);
    check_phase(world, "j", "Running");
    assert_int_equal(world_job(world, "j")->retry_count, 1);
    world_pod_failed(world, "j-bad-0", 1);
    check_phase(world, "j", "Failed");
    assert_int_equal(world_job(world, "j")->retry_count, 2);
    assert_non_null(world_get(world, &kind_pod, "j-bad-0"));
    assert_null(world_get(world, &kind_pod, "j-good-0"));
    assert_int_equal(world_job(world, "j")->failed, 1);
    assert_int_equal(world_count(world, &kind_pod_group), 0);
    world_free(world);
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
        struct world *world =
            world_new(&(struct world_options){.run_pods = true, .slow_deletion = true});
        scoped_str policy =
            mem_printf("policies: [{event: PodFailed, action: %s}]", cases[i].action);

        world_job_simple(world, "j", "t*4", policy);
        world_pod(world, "j-t-0", POD_SUCCEEDED);
        world_pod_failed(world, "j-t-1", 1);
        check_phase(world, "j", cases[i].on_the_way);
        check_int(cases[i].action, world_job(world, "j")->terminating, 2);
        check_int(cases[i].action, world_job(world, "j")->succeeded, 1);
        check_int(cases[i].action, world_job(world, "j")->failed, 1);
        check_int(cases[i].action, world_job(world, "j")->version, 1);
        world_let_go(world);
        check_phase(world, "j", cases[i].at_the_end);
        check_int(cases[i].action, world_job(world, "j")->terminating, 0);
        check_int(cases[i].action, world_job(world, "j")->succeeded, 1);
        check_int(cases[i].action, world_job(world, "j")->failed, 1);
        check_int(cases[i].action, world_job(world, "j")->version, 1);
        check_int(cases[i].action, world_count(world, &kind_pod), 2);
        check_int(cases[i].action, world_count(world, &kind_pod_group), 0);
        world_free(world);
    }
}

/* covers: job.md ST-17; O-38 */
static void enough_successes_complete_the_job_early(void **unused)
{
    struct world *world =
        world_new(&(struct world_options){.run_pods = true, .slow_deletion = true});

    world_job_simple(world, "j", "short*3 endless*2", "minSuccess: 2;minAvailable: 1");
    world_pod(world, "j-short-0", POD_SUCCEEDED);
    check_phase(world, "j", "Running");
    world_pod(world, "j-short-2", POD_SUCCEEDED);
    check_phase(world, "j", "Completed");
    assert_string_equal(world_job(world, "j")->reason, "PodsReleasing");
    assert_int_equal(world_job(world, "j")->terminating, 3);
    world_let_go(world);
    assert_string_equal(world_job(world, "j")->reason, "MinSuccessReached");
    assert_int_equal(world_job(world, "j")->terminating, 0);
    assert_int_equal(world_job(world, "j")->succeeded, 2);
    assert_int_equal(world_count(world, &kind_pod), 2);
    world_free(world);
}

/* covers: job.md ST-37 POL-17 */
static void a_completed_task_completes_the_job(void **unused)
{
    struct world *world = world_new(&(struct world_options){.run_pods = true});

    world_job_simple(world, "j", "main*2 side*1",
                     "maxRetry: 1;policies: [{event: TaskCompleted, action: CompleteJob}]");
    world_pod(world, "j-main-0", POD_SUCCEEDED);
    check_phase(world, "j", "Running");
    world_pod(world, "j-main-1", POD_SUCCEEDED);
    check_phase(world, "j", "Completed");
    assert_int_equal(world_job(world, "j")->retry_count, 0);
    assert_null(world_get(world, &kind_pod, "j-side-0"));
    assert_non_null(world_get(world, &kind_pod, "j-main-0"));
    assert_string_equal(world->phases, "Pending Running Completing Completed");
    world_free(world);
}

/* covers: job.md ST-44 */
static void a_kill_decided_before_a_crash_is_finished_after_it(void **unused)
{
    struct world *world = world_new(&(struct world_options){.run_pods = true});
    struct job_status stored;

    world_job_simple(world, "j", "t*3", "policies: [{event: PodFailed, action: RestartJob}]");
    world_stop_controller(world);
    /* as if the process had died right after the decision */
    stored = *world_job(world, "j");
    stored.phase = JOB_RESTARTING;
    stored.version = 1;
    stored.retry_count = 1;
    cluster_update_status(world->backend, NULL, world_get(world, &kind_job, "j"),
                          job_status_blob(&stored));
    loop_settle(world->loop);
    world_start_controller(world);
    world_settle(world);
    check_phase(world, "j", "Running");
    assert_int_equal(world_job(world, "j")->retry_count, 1);
    assert_int_equal(world_job(world, "j")->version, 1);
    assert_string_equal(
        meta_annotation(world_get(world, &kind_pod, "j-t-2")->meta, ANNOTATION_JOB_VERSION), "1");
    assert_int_equal(world->group_deletions, 1);
    world_free(world);
}

/* covers: job.md ST-45 */
static void an_unknown_pod_is_waited_for(void **unused)
{
    struct world *world =
        world_new(&(struct world_options){.run_pods = true, .slow_deletion = true});

    world_job_simple(world, "j", "t*2", "policies: [{event: TaskFailed, action: CompleteJob}]");
    world_pod(world, "j-t-0", POD_UNKNOWN);
    assert_int_equal(world_job(world, "j")->unknown, 1);
    world_pod_restarts(world, "j-t-1", 3);
    check_phase(world, "j", "Completing");
    world_let_go(world);
    check_phase(world, "j", "Completed");
    world_free(world);
}

/* covers: job.md ST-47 */
static void counters_do_not_move_the_transition_time(void **unused)
{
    struct world *world = world_new(&(struct world_options){.run_pods = true});
    int64_t before;

    world_job_simple(world, "j", "t*3", "minAvailable: 1");
    before = world_job(world, "j")->transition_ms;
    world_advance(world, 5000);
    world_pod(world, "j-t-0", POD_SUCCEEDED);
    assert_int_equal(world_job(world, "j")->succeeded, 1);
    assert_int_equal(world_job(world, "j")->transition_ms, before);
    world_free(world);
}

/* covers: job.md POD-32; reliability.md INV-J8 */
static void a_deleted_job_leaves_nothing(void **unused)
{
    static const char *const phases[] = {"Pending", "Running", "Completed"};

    for (size_t i = 0; i < countof(phases); i++) {
        struct world *world = world_new(&(struct world_options){
            .hold_groups = i == 0, .run_pods = true, .finish_pods = i == 2});

        world_job_simple(world, "j", "t*2", "plugins: {svc: [], env: []}");
        check_phase(world, "j", phases[i]);
        world_delete(world, &kind_job, "j");
        world_settle(world);
        check_phase(world, "j", "");
        check_int(phases[i], world_count(world, &kind_pod), 0);
        check_int(phases[i], world_count(world, &kind_pod_group), 0);
        check_int(phases[i], world_count(world, &kind_config_map), 0);
        check_int(phases[i], world_count(world, &kind_service), 0);
        world_free(world);
    }
}

/* covers: job.md DEP-12; job-plugins.md 1.1 */
static void a_plugin_of_another_version_fails_the_job_with_its_name(void **unused)
{
    struct world *world = world_new(&(struct world_options){.run_pods = true});

    world_job_simple(world, "j", "t*1", "plugins: {ssh: []}");
    check_phase(world, "j", "Failed");
    assert_string_equal(world_job(world, "j")->reason, "PluginError");
    check_has("message", world_job(world, "j")->message,
              "plugin \"ssh\" is not supported by this version");
    assert_int_equal(world_count(world, &kind_pod), 0);
    world_free(world);
}

/* covers: reliability.md INV-J10; job.md POD-24 POD-23 */
static void task_counts_add_up(void **unused)
{
    struct world *world = world_new(&(struct world_options){.run_pods = true});
    const struct job_status *status;

    world_job_simple(world, "j", "a*2 b*3", "minAvailable: 1");
    world_pod(world, "j-a-0", POD_SUCCEEDED);
    world_pod(world, "j-b-1", POD_FAILED);
    world_pod(world, "j-b-2", POD_UNKNOWN);
    status = world_job(world, "j");
    assert_int_equal(status->succeeded, 1);
    assert_int_equal(status->failed, 1);
    assert_int_equal(status->running, 2);
    assert_int_equal(status->unknown, 1);
    assert_int_equal(status->task_counts.count, 2);
    assert_int_equal(status->task_counts.items[0].by_phase[POD_SUCCEEDED], 1);
    assert_int_equal(status->task_counts.items[0].by_phase[POD_RUNNING], 1);
    assert_int_equal(status->task_counts.items[1].by_phase[POD_RUNNING], 1);
    assert_int_equal(status->task_counts.items[1].by_phase[POD_FAILED], 1);
    world_free(world);
}

static void many_jobs_of_one_template_complete(void **unused)
{
    struct world *world = world_new(&(struct world_options){.run_pods = true, .finish_pods = true});

    for (int i = 0; i < 50; i++) {
        scoped_str name = mem_printf("j%d", i);

        world_job_simple(world, name, "t*1", "");
    }
    for (int i = 0; i < 50; i++) {
        scoped_str name = mem_printf("j%d", i);

        check_phase(world, name, "Completed");
        check_int(name, world_job(world, name)->succeeded, 1);
    }
    world_free(world);
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
        cmocka_unit_test(a_plugin_of_another_version_fails_the_job_with_its_name),
        cmocka_unit_test(task_counts_add_up),
        cmocka_unit_test(many_jobs_of_one_template_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
