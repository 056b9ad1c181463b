/*
 * Tests policies at work: at once and delayed, also across restarts of the process.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static void check_phase(struct job_fixture *fixture, const char *job, const char *want)
{
    check_str(job, job_fixture_phase(fixture, job), want);
}

static struct job_fixture *running_pods(void)
{
    return job_fixture_new(&(struct job_fixture_options){.run_pods = true});
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
        {"PodEvicted restarts the job", "policies: [{event: PodEvicted, action: RestartJob}]",
         "Pending Running Restarting Pending Running", 1},
        {"* restarts the job", "policies: [{event: \"*\", action: RestartJob}]",
         "Pending Running Restarting Pending Running", 1},
        {"PodEvicted terminates the job",
         "policies: [{events: [PodEvicted, PodFailed], action: TerminateJob}]",
         "Pending Running Terminating Terminated", 0},
        {"PodEvicted aborts the job", "policies: [{event: PodEvicted, action: AbortJob}]",
         "Pending Running Aborting Aborted", 0},
        {"PodEvicted restarts the task", "policies: [{event: PodEvicted, action: RestartTask}]",
         "Pending Running Restarting Pending Running", 1},
        {"without a policy the job goes on", "", "Pending Running", 0},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_fixture *fixture = running_pods();

        job_fixture_job_simple(fixture, "j", "t*2", cases[i].policies);
        job_fixture_delete(fixture, &kind_pod, "j-t-0");
        job_fixture_settle(fixture);
        if (i !=
            5) /* without a policy the running job goes on, or is Pending until the pod is back */
            check_str(cases[i].name, fixture->phases, cases[i].phases);
        check_int(cases[i].name, job_fixture_job(fixture, "j")->retry_count, cases[i].retries);
        job_fixture_free(fixture);
    }
}

/* covers: job.md POL-14 */
static void an_exit_code_decides(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*2",
                           "policies: [{exitCode: 3, action: RestartJob}];minAvailable: 1");
    job_fixture_pod_failed(fixture, "j-t-0", 4);
    check_phase(fixture, "j", "Running");
    job_fixture_pod_failed(fixture, "j-t-1", 3);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    job_fixture_free(fixture);
}

/* covers: job.md POL-18 */
static void container_restarts_use_up_a_task(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1",
                           "policies: [{event: TaskFailed, action: TerminateJob}]");
    job_fixture_pod_restarts(fixture, "j-t-0", 2);
    check_phase(fixture, "j", "Running");
    job_fixture_pod_restarts(fixture, "j-t-0", 4);
    check_phase(fixture, "j", "Terminated");
    job_fixture_free(fixture);
}

/* covers: job.md POL-21 POL-22 POL-23 */
static void an_unknown_gang_restarts_the_job_again_and_again(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1", "policies: [{event: Unknown, action: RestartJob}]");
    job_fixture_group_phase(fixture, PODGROUP_UNKNOWN);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    check_phase(fixture, "j", "Running");
    job_fixture_group_phase(fixture, PODGROUP_UNKNOWN);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 2);
    job_fixture_free(fixture);

    fixture = running_pods();
    job_fixture_job_simple(fixture, "j", "t*1",
                           "policies: [{event: Unknown, action: RestartTask}]");
    job_fixture_group_phase(fixture, PODGROUP_UNKNOWN);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 0);
    check_phase(fixture, "j", "Running");
    assert_true(job_fixture_has_event(fixture, "ExecuteAction"));
    job_fixture_free(fixture);
}

/* covers: job.md POL-25 */
static void an_evicted_pod_that_exits_is_only_evicted(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});

    job_fixture_job_simple(
        fixture, "j", "t*1",
        "policies: [{event: PodFailed, action: TerminateJob}, {event: PodEvicted, "
        "action: RestartJob}]");
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_pod_failed(fixture, "j-t-0", 143);
    check_phase(fixture, "j", "Running");
    job_fixture_let_go(fixture);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    assert_null(strstr(fixture->phases, "Terminating"));
    job_fixture_free(fixture);
}

/* covers: job.md POL-26 POL-27 */
static void what_happened_while_down_is_seen_before_the_first_sync(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1",
                           "policies: [{event: PodFailed, action: RestartJob}]");
    job_fixture_stop_controller(fixture);
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);

    fixture = running_pods();
    job_fixture_job_simple(fixture, "j", "t*1 other*1",
                           "policies: [{event: TaskCompleted, action: CompleteJob}]");
    job_fixture_stop_controller(fixture);
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    check_phase(fixture, "j", "Completed");
    job_fixture_free(fixture);
}

/* covers: see O-15 */
static void a_pod_lost_while_down_is_an_eviction(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*3",
                           "policies: [{event: PodEvicted, action: RestartJob}]");
    job_fixture_stop_controller(fixture);
    job_fixture_delete(fixture, &kind_pod, "j-t-1");
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);
}

static void a_restart_of_the_process_alone_changes_nothing(void **unused)
{
    struct job_fixture *fixture = running_pods();
    unsigned writes;

    job_fixture_job_simple(fixture, "j", "t*3",
                           "policies: [{event: \"*\", action: RestartJob, timeout: 5s}]");
    writes = fixture->job_writes;
    for (int i = 0; i < 5; i++) {
        job_fixture_restart(fixture);
        job_fixture_advance(fixture, 10000);
    }
    assert_int_equal(fixture->job_writes, writes);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 0);
    job_fixture_free(fixture);
}

/* covers: job.md POD-31 POL-06; reliability.md INV-J6 */
static void a_restarted_pod_leaves_the_others_and_the_services_alone(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});
    scoped_str service = NULL;
    scoped_str other = NULL;

    job_fixture_job_simple(fixture, "j", "t*3",
                           "plugins: {svc: []};policies: [{event: PodFailed, action: RestartPod}]");
    check_phase(fixture, "j", "Running");
    service = mem_strdup(object_uid(job_fixture_get(fixture, &kind_service, "j")));
    other = mem_strdup(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-1")));
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    job_fixture_let_go(fixture);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->version, 0);
    assert_string_equal(object_uid(job_fixture_get(fixture, &kind_service, "j")), service);
    assert_string_equal(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-1")), other);
    assert_int_equal(fixture->group_deletions, 0);
    job_fixture_free(fixture);
}

/* covers: job.md PRT-07 */
static void a_partition_restarts_alone(void **unused)
{
    struct job_fixture *fixture = running_pods();
    scoped_str first = NULL;
    scoped_str last = NULL;

    job_fixture_apply(fixture,
                      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, "
                      "namespace: default}, spec: {\n"
                      "policies: [{event: PodEvicted, action: RestartPartition}], tasks: [{name: "
                      "t, replicas: 4,\n"
                      "partitionPolicy: {totalPartitions: 2, partitionSize: 2},\n"
                      "template: {spec: {restartPolicy: Never, containers: [{name: main, image: "
                      "x, command: [run]}]}}}]}}");
    check_phase(fixture, "j", "Running");
    first = mem_strdup(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-0")));
    last = mem_strdup(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-3")));
    job_fixture_delete(fixture, &kind_pod, "j-t-2");
    job_fixture_settle(fixture);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    assert_string_equal(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-0")), first);
    assert_string_not_equal(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-3")), last);
    job_fixture_free(fixture);
}

/* covers: job.md DLY-01 DLY-02 DLY-16 DLY-20 DLY-21 */
static void a_pod_that_stays_pending_aborts_the_job(void **unused)
{
    static const char policy[] = "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]";
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*2", policy);
    job_fixture_advance(fixture, 4700);
    check_phase(fixture, "j", "Pending");
    job_fixture_advance(fixture, 600);
    check_phase(fixture, "j", "Aborted");
    job_fixture_free(fixture);

    fixture = job_fixture_new(&(struct job_fixture_options){0});
    job_fixture_job_simple(fixture, "j", "t*2", policy);
    job_fixture_advance(fixture, 2000);
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 20000);
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);

    fixture = job_fixture_new(&(struct job_fixture_options){0});
    job_fixture_job_simple(fixture, "j", "t*1 u*1", policy);
    job_fixture_pod(fixture, "j-u-0", POD_RUNNING);
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED); /* the pod succeeds without having run */
    job_fixture_advance(fixture, 20000);
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);
}

/* covers: job.md DLY-17 */
static void a_deadline_survives_a_restart_of_the_process(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*1",
                           "policies: [{event: PodPending, action: AbortJob, timeout: 4s}]");
    job_fixture_advance(fixture, 2000);
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 1700);
    check_phase(fixture, "j", "Pending");
    job_fixture_advance(fixture, 600);
    check_phase(fixture, "j", "Aborted");
    job_fixture_free(fixture);
}

/* covers: job.md DLY-03 */
static void a_new_pod_has_a_new_deadline(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*1",
                           "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]");
    job_fixture_advance(fixture, 3000);
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_advance(fixture, 3000);
    check_phase(fixture, "j", "Pending");
    job_fixture_advance(fixture, 3000);
    check_phase(fixture, "j", "Aborted");
    job_fixture_free(fixture);
}

/* covers: job.md DLY-05 DLY-06 */
static void an_eviction_is_forgiven_when_the_pod_runs_again(void **unused)
{
    static const char policy[] =
        "policies: [{event: PodEvicted, action: RestartJob, timeout: 10s}]";
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*1", policy);
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    /* The replacement is created at once. */
    assert_non_null(job_fixture_get(fixture, &kind_pod, "j-t-0"));
    job_fixture_advance(fixture, 3000);
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_advance(fixture, 20000);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 0);

    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_advance(fixture, 9000);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 0);
    job_fixture_advance(fixture, 2000);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    job_fixture_free(fixture);
}

/* covers: see O-26 */
static void an_eviction_timer_survives_a_restart_of_the_process(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*1",
                           "policies: [{event: PodEvicted, action: RestartJob, timeout: 10s}]");
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_advance(fixture, 6000);
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 2500);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 0);
    job_fixture_advance(fixture, 2500);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    job_fixture_free(fixture);
}

/* covers: job.md DLY-07 DLY-08 */
static void a_ladder_of_policies_escalates(void **unused)
{
    static const char ladder[] = "policies: [{event: PodFailed, action: RestartPod}, "
                                 "{event: PodEvicted, action: RestartJob, timeout: 10s}]";
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*1", ladder);
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    job_fixture_pods(fixture, POD_RUNNING); /* the replacement of the failed pod runs */
    job_fixture_advance(fixture, 60000);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);

    job_fixture_pod_failed(fixture, "j-t-0", 1); /* this time the replacement stays pending */
    job_fixture_advance(fixture, 9000);
    assert_int_equal(job_fixture_job(fixture, "j")->version, 0);
    job_fixture_advance(fixture, 2000);
    assert_int_equal(job_fixture_job(fixture, "j")->version, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 3);
    job_fixture_free(fixture);
}

/* covers: job.md DLY-09 */
static void the_first_of_two_timers_restarts_once(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*2",
                           "policies: [{event: PodPending, action: RestartJob, timeout: 5s}]");
    job_fixture_advance(fixture, 5100);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_advance(fixture, 20000);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    job_fixture_free(fixture);
}

/* covers: job.md DLY-10 */
static void timers_of_different_tasks_are_independent(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(
        fixture, "j", "a*1 b*1",
        "maxRetry: 9;policies: [{event: PodPending, action: RestartTask, timeout: 5s}]");
    job_fixture_advance(fixture, 3000);
    job_fixture_delete(fixture, &kind_pod, "j-b-0"); /* the deadline of b begins anew */
    job_fixture_advance(fixture, 2500);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1); /* task a has restarted */
    job_fixture_advance(fixture, 2600);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 2); /* task b has restarted */
    job_fixture_free(fixture);
}

/* covers: job.md DLY-15 */
static void a_timer_never_hits_the_next_job_of_the_name(void **unused)
{
    static const char policy[] = "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]";
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*1", policy);
    job_fixture_advance(fixture, 3000);
    job_fixture_delete(fixture, &kind_job, "j");
    job_fixture_job_simple(fixture, "j", "t*1", policy);
    job_fixture_advance(fixture, 3000);
    check_phase(fixture, "j", "Pending");
    job_fixture_free(fixture);
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
