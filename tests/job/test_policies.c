/*
 * Policies at work, at once and delayed, over restarts of the process too.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static void check_phase(struct stage *stage, const char *job, const char *want)
{
    check_str(job, stage_phase(stage, job), want);
}

static struct stage *running_pods(void)
{
    return stage_new(&(struct stage_options){.run_pods = true});
}

struct eviction_case {
    const char *name, *policies;
    const char *phases;
    int retries;
};

/* covers: job.md POL-10 POL-11 POL-16 POL-28 */
static void a_pod_deleted_by_a_user_is_an_eviction(void **unused)
{
    static const struct eviction_case cases[] = {
        {"restart", "policies: [{event: PodEvicted, action: RestartJob}]",
         "Pending Running Restarting Pending Running", 1},
        {"any", "policies: [{event: \"*\", action: RestartJob}]",
         "Pending Running Restarting Pending Running", 1},
        {"terminate", "policies: [{events: [PodEvicted, PodFailed], action: TerminateJob}]",
         "Pending Running Terminating Terminated", 0},
        {"abort", "policies: [{event: PodEvicted, action: AbortJob}]",
         "Pending Running Aborting Aborted", 0},
        {"task", "policies: [{event: PodEvicted, action: RestartTask}]",
         "Pending Running Restarting Pending Running", 1},
        {"none", "", "Pending Running", 0},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct stage *stage = running_pods();

        stage_job_simple(stage, "j", "t*2", cases[i].policies);
        stage_delete(stage, &kind_pod, "j-t-0");
        stage_settle(stage);
        if (i !=
            5) /* without a policy the running job goes on, or is Pending until the pod is back */
            check_str(cases[i].name, stage->phases, cases[i].phases);
        check_int(cases[i].name, stage_job(stage, "j")->retry_count, cases[i].retries);
        stage_free(stage);
    }
}

/* covers: job.md POL-14 */
static void an_exit_code_decides(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*2",
                     "policies: [{exitCode: 3, action: RestartJob}];minAvailable: 1");
    stage_pod_failed(stage, "j-t-0", 4);
    check_phase(stage, "j", "Running");
    stage_pod_failed(stage, "j-t-1", 3);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    stage_free(stage);
}

/* covers: job.md POL-18 */
static void container_restarts_use_up_a_task(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*1", "policies: [{event: TaskFailed, action: TerminateJob}]");
    stage_pod_restarts(stage, "j-t-0", 2);
    check_phase(stage, "j", "Running");
    stage_pod_restarts(stage, "j-t-0", 4);
    check_phase(stage, "j", "Terminated");
    stage_free(stage);
}

/* covers: job.md POL-21 POL-22 POL-23 */
static void an_unknown_gang_restarts_the_job_again_and_again(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*1", "policies: [{event: Unknown, action: RestartJob}]");
    stage_group_phase(stage, PODGROUP_UNKNOWN);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    check_phase(stage, "j", "Running");
    stage_group_phase(stage, PODGROUP_UNKNOWN);
    assert_int_equal(stage_job(stage, "j")->retry_count, 2);
    stage_free(stage);

    stage = running_pods();
    stage_job_simple(stage, "j", "t*1", "policies: [{event: Unknown, action: RestartTask}]");
    stage_group_phase(stage, PODGROUP_UNKNOWN);
    assert_int_equal(stage_job(stage, "j")->retry_count, 0);
    check_phase(stage, "j", "Running");
    assert_true(stage_has_event(stage, "ExecuteAction"));
    stage_free(stage);
}

/* covers: job.md POL-25 */
static void an_evicted_pod_that_exits_is_only_evicted(void **unused)
{
    struct stage *stage =
        stage_new(&(struct stage_options){.run_pods = true, .slow_deletion = true});

    stage_job_simple(stage, "j", "t*1",
                     "policies: [{event: PodFailed, action: TerminateJob}, {event: PodEvicted, "
                     "action: RestartJob}]");
    stage_delete(stage, &kind_pod, "j-t-0");
    stage_pod_failed(stage, "j-t-0", 143);
    check_phase(stage, "j", "Running");
    stage_let_go(stage);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    assert_null(strstr(stage->phases, "Terminating"));
    stage_free(stage);
}

/* covers: job.md POL-26 POL-27 */
static void what_happened_while_down_is_seen_before_the_first_sync(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*1", "policies: [{event: PodFailed, action: RestartJob}]");
    stage_stop_controller(stage);
    stage_pod_failed(stage, "j-t-0", 1);
    stage_start_controller(stage);
    stage_settle(stage);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    check_phase(stage, "j", "Running");
    stage_free(stage);

    stage = running_pods();
    stage_job_simple(stage, "j", "t*1 other*1",
                     "policies: [{event: TaskCompleted, action: CompleteJob}]");
    stage_stop_controller(stage);
    stage_pod(stage, "j-t-0", POD_SUCCEEDED);
    stage_start_controller(stage);
    stage_settle(stage);
    check_phase(stage, "j", "Completed");
    stage_free(stage);
}

/* covers: see O-15 */
static void a_pod_lost_while_down_is_an_eviction(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*3", "policies: [{event: PodEvicted, action: RestartJob}]");
    stage_stop_controller(stage);
    stage_delete(stage, &kind_pod, "j-t-1");
    stage_start_controller(stage);
    stage_settle(stage);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    check_phase(stage, "j", "Running");
    stage_free(stage);
}

static void a_restart_of_the_process_alone_changes_nothing(void **unused)
{
    struct stage *stage = running_pods();
    unsigned writes;

    stage_job_simple(stage, "j", "t*3",
                     "policies: [{event: \"*\", action: RestartJob, timeout: 5s}]");
    writes = stage->job_writes;
    for (int i = 0; i < 5; i++) {
        stage_restart(stage);
        stage_advance(stage, 10000);
    }
    assert_int_equal(stage->job_writes, writes);
    assert_int_equal(stage_job(stage, "j")->retry_count, 0);
    stage_free(stage);
}

/* covers: job.md POD-31 POL-06; reliability.md INV-J6 */
static void a_restarted_pod_leaves_the_others_and_the_services_alone(void **unused)
{
    struct stage *stage =
        stage_new(&(struct stage_options){.run_pods = true, .slow_deletion = true});
    scoped_str service = NULL;
    scoped_str other = NULL;

    stage_job_simple(stage, "j", "t*3",
                     "plugins: {svc: []};policies: [{event: PodFailed, action: RestartPod}]");
    check_phase(stage, "j", "Running");
    service = mem_strdup(object_uid(stage_get(stage, &kind_service, "j")));
    other = mem_strdup(object_uid(stage_get(stage, &kind_pod, "j-t-1")));
    stage_pod_failed(stage, "j-t-0", 1);
    stage_let_go(stage);
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    assert_int_equal(stage_job(stage, "j")->version, 0);
    assert_string_equal(object_uid(stage_get(stage, &kind_service, "j")), service);
    assert_string_equal(object_uid(stage_get(stage, &kind_pod, "j-t-1")), other);
    assert_int_equal(stage->group_deletions, 0);
    stage_free(stage);
}

/* covers: job.md PRT-07 */
static void a_partition_restarts_alone(void **unused)
{
    struct stage *stage = running_pods();
    scoped_str first = NULL;
    scoped_str last = NULL;

    stage_apply(stage, "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, "
                       "namespace: default}, spec: {\n"
                       "policies: [{event: PodEvicted, action: RestartPartition}], tasks: [{name: "
                       "t, replicas: 4,\n"
                       "partitionPolicy: {totalPartitions: 2, partitionSize: 2},\n"
                       "template: {spec: {restartPolicy: Never, containers: [{name: main, image: "
                       "x, command: [run]}]}}}]}}");
    check_phase(stage, "j", "Running");
    first = mem_strdup(object_uid(stage_get(stage, &kind_pod, "j-t-0")));
    last = mem_strdup(object_uid(stage_get(stage, &kind_pod, "j-t-3")));
    stage_delete(stage, &kind_pod, "j-t-2");
    stage_settle(stage);
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    assert_string_equal(object_uid(stage_get(stage, &kind_pod, "j-t-0")), first);
    assert_string_not_equal(object_uid(stage_get(stage, &kind_pod, "j-t-3")), last);
    stage_free(stage);
}

/* ---- delayed ---- */

/* covers: job.md DLY-01 DLY-02 DLY-16 DLY-20 DLY-21 */
static void a_pod_that_stays_pending_aborts_the_job(void **unused)
{
    static const char policy[] = "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]";
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*2", policy);
    stage_advance(stage, 4700);
    check_phase(stage, "j", "Pending");
    stage_advance(stage, 600);
    check_phase(stage, "j", "Aborted");
    stage_free(stage);

    stage = stage_new(&(struct stage_options){0});
    stage_job_simple(stage, "j", "t*2", policy);
    stage_advance(stage, 2000);
    stage_pods(stage, POD_RUNNING);
    stage_restart(stage);
    stage_advance(stage, 20000);
    check_phase(stage, "j", "Running");
    stage_free(stage);

    stage = stage_new(&(struct stage_options){0});
    stage_job_simple(stage, "j", "t*1 u*1", policy);
    stage_pod(stage, "j-u-0", POD_RUNNING);
    stage_pod(stage, "j-t-0", POD_SUCCEEDED); /* in one step */
    stage_advance(stage, 20000);
    check_phase(stage, "j", "Running");
    stage_free(stage);
}

/* covers: job.md DLY-17 */
static void a_deadline_survives_a_restart_of_the_process(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*1",
                     "policies: [{event: PodPending, action: AbortJob, timeout: 4s}]");
    stage_advance(stage, 2000);
    stage_restart(stage);
    stage_advance(stage, 1700);
    check_phase(stage, "j", "Pending");
    stage_advance(stage, 600);
    check_phase(stage, "j", "Aborted");
    stage_free(stage);
}

/* covers: job.md DLY-03 */
static void a_new_pod_has_a_new_deadline(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*1",
                     "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]");
    stage_advance(stage, 3000);
    stage_delete(stage, &kind_pod, "j-t-0");
    stage_advance(stage, 3000);
    check_phase(stage, "j", "Pending");
    stage_advance(stage, 3000);
    check_phase(stage, "j", "Aborted");
    stage_free(stage);
}

/* covers: job.md DLY-05 DLY-06 */
static void an_eviction_is_forgiven_when_the_pod_runs_again(void **unused)
{
    static const char policy[] =
        "policies: [{event: PodEvicted, action: RestartJob, timeout: 10s}]";
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*1", policy);
    stage_pods(stage, POD_RUNNING);
    stage_delete(stage, &kind_pod, "j-t-0");
    assert_non_null(stage_get(stage, &kind_pod, "j-t-0")); /* again at once */
    stage_advance(stage, 3000);
    stage_pods(stage, POD_RUNNING);
    stage_advance(stage, 20000);
    assert_int_equal(stage_job(stage, "j")->retry_count, 0);

    stage_delete(stage, &kind_pod, "j-t-0");
    stage_advance(stage, 9000);
    assert_int_equal(stage_job(stage, "j")->retry_count, 0);
    stage_advance(stage, 2000);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    stage_free(stage);
}

/* covers: see O-26 */
static void an_eviction_timer_survives_a_restart_of_the_process(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*1",
                     "policies: [{event: PodEvicted, action: RestartJob, timeout: 10s}]");
    stage_pods(stage, POD_RUNNING);
    stage_delete(stage, &kind_pod, "j-t-0");
    stage_advance(stage, 6000);
    stage_restart(stage);
    stage_advance(stage, 2500);
    assert_int_equal(stage_job(stage, "j")->retry_count, 0);
    stage_advance(stage, 2500);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    stage_free(stage);
}

/* covers: job.md DLY-07 DLY-08 */
static void a_ladder_of_policies_escalates(void **unused)
{
    static const char ladder[] = "policies: [{event: PodFailed, action: RestartPod}, "
                                 "{event: PodEvicted, action: RestartJob, timeout: 10s}]";
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*1", ladder);
    stage_pods(stage, POD_RUNNING);
    stage_pod_failed(stage, "j-t-0", 1);
    stage_pods(stage, POD_RUNNING); /* the replacement runs */
    stage_advance(stage, 60000);
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);

    stage_pod_failed(stage, "j-t-0", 1); /* and now it stays pending */
    stage_advance(stage, 9000);
    assert_int_equal(stage_job(stage, "j")->version, 0);
    stage_advance(stage, 2000);
    assert_int_equal(stage_job(stage, "j")->version, 1);
    assert_int_equal(stage_job(stage, "j")->retry_count, 3);
    stage_free(stage);
}

/* covers: job.md DLY-09 */
static void the_first_of_two_timers_restarts_once(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*2",
                     "policies: [{event: PodPending, action: RestartJob, timeout: 5s}]");
    stage_advance(stage, 5100);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    stage_pods(stage, POD_RUNNING);
    stage_advance(stage, 20000);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    stage_free(stage);
}

/* covers: job.md DLY-10 */
static void timers_of_different_tasks_are_independent(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(
        stage, "j", "a*1 b*1",
        "maxRetry: 9;policies: [{event: PodPending, action: RestartTask, timeout: 5s}]");
    stage_advance(stage, 3000);
    stage_delete(stage, &kind_pod, "j-b-0"); /* b's deadline starts again */
    stage_advance(stage, 2500);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1); /* a */
    stage_advance(stage, 2600);
    assert_int_equal(stage_job(stage, "j")->retry_count, 2); /* b */
    stage_free(stage);
}

/* covers: job.md DLY-15 */
static void a_timer_never_hits_the_next_job_of_the_name(void **unused)
{
    static const char policy[] = "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]";
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*1", policy);
    stage_advance(stage, 3000);
    stage_delete(stage, &kind_job, "j");
    stage_job_simple(stage, "j", "t*1", policy);
    stage_advance(stage, 3000);
    check_phase(stage, "j", "Pending");
    stage_free(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_deleted_by_a_user_is_an_eviction),
        cmocka_unit_test(an_exit_code_decides),
        cmocka_unit_test(container_restarts_use_up_a_task),
        cmocka_unit_test(an_unknown_gang_restarts_the_job_again_and_again),
        cmocka_unit_test(an_evicted_pod_that_exits_is_only_evicted),
        cmocka_unit_test(what_happened_while_down_is_seen_before_the_first_sync),
        cmocka_unit_test(a_pod_lost_while_down_is_an_eviction),
        cmocka_unit_test(a_restart_of_the_process_alone_changes_nothing),
        cmocka_unit_test(a_restarted_pod_leaves_the_others_and_the_services_alone),
        cmocka_unit_test(a_partition_restarts_alone),
        cmocka_unit_test(a_pod_that_stays_pending_aborts_the_job),
        cmocka_unit_test(a_deadline_survives_a_restart_of_the_process),
        cmocka_unit_test(a_new_pod_has_a_new_deadline),
        cmocka_unit_test(an_eviction_is_forgiven_when_the_pod_runs_again),
        cmocka_unit_test(an_eviction_timer_survives_a_restart_of_the_process),
        cmocka_unit_test(a_ladder_of_policies_escalates),
        cmocka_unit_test(the_first_of_two_timers_restarts_once),
        cmocka_unit_test(timers_of_different_tasks_are_independent),
        cmocka_unit_test(a_timer_never_hits_the_next_job_of_the_name),
    };
    return job_tests_with_faults(tests, countof(tests), NULL);
}
