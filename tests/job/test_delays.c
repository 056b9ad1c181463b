/*
 * Tests several delayed actions at once: which of them an action, another event or a new pod
 * cancels. Ref: spec/job.md 7.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static struct job_fixture *new_fixture(void)
{
    return job_fixture_new(&(struct job_fixture_options){0});
}

static void check_retries(struct job_fixture *fixture, int want)
{
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, want);
}

/* covers: job.md DLY-04 */
static void the_timer_of_a_pod_dies_with_it(void **unused)
{
    struct job_fixture *fixture = new_fixture();

    job_fixture_job_simple(fixture, "j", "t*2",
                           "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]");
    job_fixture_pod(fixture, "j-t-1", POD_RUNNING);
    job_fixture_advance(fixture, 1000);
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_pod_failed(fixture, "j-t-0", 1); /* the new pod fails, too */
    job_fixture_advance(fixture, 20000);
    check_str("phase", fixture->phases, "Pending Running");
    job_fixture_free(fixture);
}

/* covers: job.md DLY-11 */
static void timers_of_two_pods_are_independent(void **unused)
{
    struct job_fixture *fixture = new_fixture();

    job_fixture_job_simple(
        fixture, "j", "t*2",
        "maxRetry: 9;policies: [{event: PodPending, action: RestartPod, timeout: 5s}]");
    job_fixture_advance(fixture, 3000);
    job_fixture_delete(fixture, &kind_pod, "j-t-1"); /* the deadline of this pod begins anew */
    job_fixture_advance(fixture, 2100);
    check_retries(fixture, 1);
    job_fixture_advance(fixture, 3000);
    check_retries(fixture, 2);
    job_fixture_free(fixture);
}

#define PARTITIONED(name)                                                                          \
    "{name: " name ", replicas: 2, partitionPolicy: {totalPartitions: 2, partitionSize: 1},\n"     \
    "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, command: "        \
    "[run]}]}}}"

/* covers: job.md DLY-12 */
static void timers_of_equal_partitions_of_two_tasks_are_independent(void **unused)
{
    struct job_fixture *fixture = new_fixture();

    job_fixture_apply(
        fixture,
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
        "metadata: {name: j, namespace: default}\n"
        "spec: {maxRetry: 20, tasks: [" PARTITIONED("a") ",\n" PARTITIONED(
            "b") "],\n"
                 "policies: [{event: PodPending, action: RestartPartition, timeout: 5s}]}");
    job_fixture_pod(fixture, "j-a-1", POD_RUNNING);
    job_fixture_pod(fixture, "j-b-1", POD_RUNNING);
    job_fixture_advance(fixture, 3000);
    job_fixture_delete(fixture, &kind_pod, "j-b-0");
    job_fixture_advance(fixture, 2100);
    check_retries(fixture, 1); /* partition 0 of task a has restarted */
    job_fixture_pod(fixture, "j-a-0", POD_RUNNING);
    job_fixture_advance(fixture, 3000);
    check_retries(fixture, 2); /* partition 0 of task b has restarted */
    job_fixture_free(fixture);
}

/* The actions are due in the same moment, and none is lost because another one restarts. covers:
 * see DLY-10 DLY-11 */
static void timers_of_one_moment_are_all_answered(void **unused)
{
    static const struct {
        const char *action;
        int retries;
    } rows[] = {{"RestartPod", 4}, {"RestartTask", 2}, {"RestartJob", 1}};

    for (size_t i = 0; i < countof(rows); i++) {
        struct job_fixture *fixture = new_fixture();
        scoped_str extra = mem_printf(
            "maxRetry: 9;policies: [{event: PodPending, action: %s, timeout: 5s}]", rows[i].action);

        job_fixture_job_simple(fixture, "j", "a*2 b*2", extra);
        job_fixture_advance(fixture, 5100);
        check_int(rows[i].action, job_fixture_job(fixture, "j")->retry_count, rows[i].retries);
        job_fixture_free(fixture);
    }
}

/* covers: job.md DLY-13 */
static void restarting_a_pod_leaves_a_pending_restart_of_the_job(void **unused)
{
    struct job_fixture *fixture = new_fixture();

    job_fixture_job_simple(
        fixture, "j", "t*2",
        "maxRetry: 9;policies: [{event: PodPending, action: RestartJob, timeout: "
        "10s}, {event: PodFailed, action: RestartPod}]");
    job_fixture_pod(fixture, "j-t-1", POD_RUNNING);
    job_fixture_advance(fixture, 3000);
    job_fixture_pod_failed(fixture, "j-t-1", 1);
    job_fixture_pod(fixture, "j-t-1", POD_RUNNING);
    check_retries(fixture, 1);
    job_fixture_advance(fixture, 7100);
    check_retries(fixture, 2);
    assert_int_equal(job_fixture_job(fixture, "j")->version, 1);
    job_fixture_free(fixture);
}

/* covers: job.md DLY-14 */
static void restarting_the_job_cancels_pending_restarts_of_pods(void **unused)
{
    struct job_fixture *fixture = new_fixture();

    job_fixture_job_simple(
        fixture, "j", "t*2",
        "maxRetry: 9;policies: [{event: PodPending, action: RestartPod, timeout: "
        "10s}, {exitCode: 3, action: RestartJob}]");
    job_fixture_pod(fixture, "j-t-1", POD_RUNNING);
    job_fixture_advance(fixture, 3000);
    job_fixture_pod_failed(fixture, "j-t-1", 3);
    check_retries(fixture, 1);
    job_fixture_advance(fixture, 7500); /* by now the first timer would be due */
    check_retries(fixture, 1);
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_advance(fixture, 20000);
    check_retries(fixture, 1);
    job_fixture_free(fixture);
}

/* covers: job.md DLY-18; see O-23 */
static void a_timer_waits_for_the_decision_under_way(void **unused)
{
    struct job_fixture *fixture = new_fixture();

    job_fixture_job_simple(fixture, "j", "t*2",
                           "policies: [{event: PodPending, action: AbortJob, timeout: 5s}, {event: "
                           "PodFailed, action: RestartPod}]");
    job_fixture_pod(fixture, "j-t-1", POD_RUNNING);
    job_fixture_advance(fixture, 4800);
    faulty_expect(fixture->cluster, .ops = FAULTY_STATUS, .kind = &kind_job, .times = 1,
                  .way = FAULTY_DELAY, .delay_ms = 500);
    job_fixture_pod_failed(fixture, "j-t-1", 1);
    check_str("the restart is still being stored", fixture->phases, "Pending");
    job_fixture_advance(fixture, 300); /* meanwhile the timer is due */
    check_str("and nothing else happens", fixture->phases, "Pending");
    job_fixture_advance(fixture, 1000);
    check_str("until it is", fixture->phases, "Pending Restarting Pending Aborting Aborted");
    job_fixture_free(fixture);
}

/* covers: job.md DLY-19 */
static void two_policies_for_one_pod_have_timers_of_their_own(void **unused)
{
    static const char policies[] =
        "maxRetry: 9;minAvailable: 1;policies: [{event: PodPending, action: RestartPod, timeout: "
        "5s}, {event: PodFailed, action: AbortJob, timeout: 10s}]";
    struct job_fixture *fixture = new_fixture();

    job_fixture_job_simple(fixture, "j", "t*2", policies);
    job_fixture_pod(fixture, "j-t-1", POD_RUNNING);
    job_fixture_advance(fixture, 2000);
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    job_fixture_advance(fixture, 9000); /* the failure has cancelled the first timer */
    check_retries(fixture, 0);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_advance(fixture, 1500);
    check_str("phase", job_fixture_phase(fixture, "j"), "Aborted");
    job_fixture_free(fixture);

    fixture = new_fixture();
    job_fixture_job_simple(fixture, "j", "t*2", policies);
    job_fixture_pod(fixture, "j-t-1", POD_RUNNING);
    job_fixture_advance(fixture, 2000);
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_pod(fixture, "j-t-0", POD_RUNNING); /* now both actions are cancelled */
    job_fixture_advance(fixture, 60000);
    check_retries(fixture, 0);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_free(fixture);
}

/* An eviction in an earlier epoch has armed an action. Pods of the next epoch do not cause it.
 * covers: see O-24 O-26 */
static void an_eviction_is_of_its_epoch(void **unused)
{
    struct job_fixture *fixture = new_fixture();

    job_fixture_job_simple(
        fixture, "j", "t*2",
        "maxRetry: 9;policies: [{event: PodEvicted, action: RestartJob, timeout: "
        "10s}]");
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_advance(fixture, 10100);
    check_retries(fixture, 1);
    job_fixture_advance(fixture, 15000);
    job_fixture_restart(fixture);
    job_fixture_settle(fixture);
    check_retries(fixture, 1);
    job_fixture_free(fixture);
}

/* The slot has been scaled away, so the end of its pod triggers no action. covers: see O-24 */
static void an_eviction_from_a_slot_that_was_scaled_away_is_over(void **unused)
{
    struct job_fixture *fixture = new_fixture();

    job_fixture_job_simple(fixture, "j", "t*3",
                           "policies: [{event: PodEvicted, action: AbortJob, timeout: 10s}]");
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_delete(fixture, &kind_pod, "j-t-2");
    job_fixture_patch(
        fixture, &kind_job, "j",
        "{\"spec\":{\"minAvailable\":2,\"tasks\":[{\"name\":\"t\",\"replicas\":2,"
        "\"minAvailable\":2,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
        "\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}");
    job_fixture_advance(fixture, 20000);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_free(fixture);
}

/* covers: see job.md 7.1 clean-up */
static void one_restart_of_a_task_answers_for_all_its_pods(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*3",
                           "policies: [{event: PodFailed, action: RestartTask, timeout: 2s}]");
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    job_fixture_pod_failed(fixture, "j-t-1", 1);
    job_fixture_advance(fixture, 10000);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_restart_of_a_task_answers_for_all_its_pods),
        cmocka_unit_test(the_timer_of_a_pod_dies_with_it),
        cmocka_unit_test(timers_of_two_pods_are_independent),
        cmocka_unit_test(timers_of_equal_partitions_of_two_tasks_are_independent),
        cmocka_unit_test(timers_of_one_moment_are_all_answered),
        cmocka_unit_test(restarting_a_pod_leaves_a_pending_restart_of_the_job),
        cmocka_unit_test(restarting_the_job_cancels_pending_restarts_of_pods),
        cmocka_unit_test(a_timer_waits_for_the_decision_under_way),
        cmocka_unit_test(two_policies_for_one_pod_have_timers_of_their_own),
        cmocka_unit_test(an_eviction_is_of_its_epoch),
        cmocka_unit_test(an_eviction_from_a_slot_that_was_scaled_away_is_over),
    };
    return job_tests_with_faults(tests, countof(tests), NULL);
}
