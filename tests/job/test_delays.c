/*
 * Delayed actions side by side: which of them an action, another event or a new pod makes void.
 * Ref: spec/job.md 7.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static struct stage *new_stage(void)
{
    return stage_new(&(struct stage_options){0});
}

static void check_retries(struct stage *stage, int want)
{
    assert_int_equal(stage_job(stage, "j")->retry_count, want);
}

/* covers: job.md DLY-04 */
static void the_timer_of_a_pod_dies_with_it(void **unused)
{
    struct stage *stage = new_stage();

    stage_job_simple(stage, "j", "t*2",
                     "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]");
    stage_pod(stage, "j-t-1", POD_RUNNING);
    stage_advance(stage, 1000);
    stage_delete(stage, &kind_pod, "j-t-0");
    stage_pod_failed(stage, "j-t-0", 1); /* the new one */
    stage_advance(stage, 20000);
    check_str("phase", stage->phases, "Pending Running");
    stage_free(stage);
}

/* covers: job.md DLY-11 */
static void timers_of_two_pods_are_independent(void **unused)
{
    struct stage *stage = new_stage();

    stage_job_simple(
        stage, "j", "t*2",
        "maxRetry: 9;policies: [{event: PodPending, action: RestartPod, timeout: 5s}]");
    stage_advance(stage, 3000);
    stage_delete(stage, &kind_pod, "j-t-1"); /* its deadline starts again */
    stage_advance(stage, 2100);
    check_retries(stage, 1);
    stage_advance(stage, 3000);
    check_retries(stage, 2);
    stage_free(stage);
}

#define PARTITIONED(name)                                                                          \
    "{name: " name ", replicas: 2, partitionPolicy: {totalPartitions: 2, partitionSize: 1},\n"     \
    "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, command: "        \
    "[run]}]}}}"

/* covers: job.md DLY-12 */
static void timers_of_equal_partitions_of_two_tasks_are_independent(void **unused)
{
    struct stage *stage = new_stage();

    stage_apply(stage,
                "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
                "metadata: {name: j, namespace: default}\n"
                "spec: {maxRetry: 20, tasks: [" PARTITIONED("a") ",\n" PARTITIONED(
                    "b") "],\n"
                         "policies: [{event: PodPending, action: RestartPartition, timeout: 5s}]}");
    stage_pod(stage, "j-a-1", POD_RUNNING);
    stage_pod(stage, "j-b-1", POD_RUNNING);
    stage_advance(stage, 3000);
    stage_delete(stage, &kind_pod, "j-b-0");
    stage_advance(stage, 2100);
    check_retries(stage, 1); /* partition 0 of a */
    stage_pod(stage, "j-a-0", POD_RUNNING);
    stage_advance(stage, 3000);
    check_retries(stage, 2); /* partition 0 of b */
    stage_free(stage);
}

/* Due in the same moment, none is lost because another one restarts. covers: see DLY-10 DLY-11 */
static void timers_of_one_moment_are_all_answered(void **unused)
{
    static const struct {
        const char *action;
        int retries;
    } rows[] = {{"RestartPod", 4}, {"RestartTask", 2}, {"RestartJob", 1}};

    for (size_t i = 0; i < countof(rows); i++) {
        struct stage *stage = new_stage();
        scoped_str extra = mem_printf(
            "maxRetry: 9;policies: [{event: PodPending, action: %s, timeout: 5s}]", rows[i].action);

        stage_job_simple(stage, "j", "a*2 b*2", extra);
        stage_advance(stage, 5100);
        check_int(rows[i].action, stage_job(stage, "j")->retry_count, rows[i].retries);
        stage_free(stage);
    }
}

/* covers: job.md DLY-13 */
static void restarting_a_pod_leaves_a_pending_restart_of_the_job(void **unused)
{
    struct stage *stage = new_stage();

    stage_job_simple(stage, "j", "t*2",
                     "maxRetry: 9;policies: [{event: PodPending, action: RestartJob, timeout: "
                     "10s}, {event: PodFailed, action: RestartPod}]");
    stage_pod(stage, "j-t-1", POD_RUNNING);
    stage_advance(stage, 3000);
    stage_pod_failed(stage, "j-t-1", 1);
    stage_pod(stage, "j-t-1", POD_RUNNING);
    check_retries(stage, 1);
    stage_advance(stage, 7100);
    check_retries(stage, 2);
    assert_int_equal(stage_job(stage, "j")->version, 1);
    stage_free(stage);
}

/* covers: job.md DLY-14 */
static void restarting_the_job_cancels_pending_restarts_of_pods(void **unused)
{
    struct stage *stage = new_stage();

    stage_job_simple(stage, "j", "t*2",
                     "maxRetry: 9;policies: [{event: PodPending, action: RestartPod, timeout: "
                     "10s}, {exitCode: 3, action: RestartJob}]");
    stage_pod(stage, "j-t-1", POD_RUNNING);
    stage_advance(stage, 3000);
    stage_pod_failed(stage, "j-t-1", 3);
    check_retries(stage, 1);
    stage_advance(stage, 7500); /* the first timer would be due */
    check_retries(stage, 1);
    stage_pods(stage, POD_RUNNING);
    stage_advance(stage, 20000);
    check_retries(stage, 1);
    stage_free(stage);
}

/* covers: job.md DLY-18; see O-23 */
static void a_timer_waits_for_the_decision_under_way(void **unused)
{
    struct stage *stage = new_stage();

    stage_job_simple(stage, "j", "t*2",
                     "policies: [{event: PodPending, action: AbortJob, timeout: 5s}, {event: "
                     "PodFailed, action: RestartPod}]");
    stage_pod(stage, "j-t-1", POD_RUNNING);
    stage_advance(stage, 4800);
    faulty_expect(stage->cluster, .ops = FAULTY_STATUS, .kind = &kind_job, .times = 1,
                  .way = FAULTY_DELAY, .delay_ms = 500);
    stage_pod_failed(stage, "j-t-1", 1);
    check_str("the restart is still being stored", stage->phases, "Pending");
    stage_advance(stage, 300); /* the timer is due meanwhile */
    check_str("and nothing else happens", stage->phases, "Pending");
    stage_advance(stage, 1000);
    check_str("until it is", stage->phases, "Pending Restarting Pending Aborting Aborted");
    stage_free(stage);
}

/* covers: job.md DLY-19 */
static void two_policies_for_one_pod_have_timers_of_their_own(void **unused)
{
    static const char policies[] =
        "maxRetry: 9;minAvailable: 1;policies: [{event: PodPending, action: RestartPod, timeout: "
        "5s}, {event: PodFailed, action: AbortJob, timeout: 10s}]";
    struct stage *stage = new_stage();

    stage_job_simple(stage, "j", "t*2", policies);
    stage_pod(stage, "j-t-1", POD_RUNNING);
    stage_advance(stage, 2000);
    stage_pod_failed(stage, "j-t-0", 1);
    stage_advance(stage, 9000); /* the first was cancelled by the failure */
    check_retries(stage, 0);
    check_str("phase", stage_phase(stage, "j"), "Running");
    stage_advance(stage, 1500);
    check_str("phase", stage_phase(stage, "j"), "Aborted");
    stage_free(stage);

    stage = new_stage();
    stage_job_simple(stage, "j", "t*2", policies);
    stage_pod(stage, "j-t-1", POD_RUNNING);
    stage_advance(stage, 2000);
    stage_pod_failed(stage, "j-t-0", 1);
    stage_delete(stage, &kind_pod, "j-t-0");
    stage_pod(stage, "j-t-0", POD_RUNNING); /* both are over */
    stage_advance(stage, 60000);
    check_retries(stage, 0);
    check_str("phase", stage_phase(stage, "j"), "Running");
    stage_free(stage);
}

/* What an eviction of an earlier epoch armed is not remembered by the pods of the next. covers:
 * see O-24 O-26 */
static void an_eviction_is_of_its_epoch(void **unused)
{
    struct stage *stage = new_stage();

    stage_job_simple(stage, "j", "t*2",
                     "maxRetry: 9;policies: [{event: PodEvicted, action: RestartJob, timeout: "
                     "10s}]");
    stage_pods(stage, POD_RUNNING);
    stage_delete(stage, &kind_pod, "j-t-0");
    stage_advance(stage, 10100);
    check_retries(stage, 1);
    stage_advance(stage, 15000);
    stage_restart(stage);
    stage_settle(stage);
    check_retries(stage, 1);
    stage_free(stage);
}

/* Nobody wants the slot any more: that its pod is gone is no reason for anything. covers: see O-24
 */
static void an_eviction_from_a_slot_that_was_scaled_away_is_over(void **unused)
{
    struct stage *stage = new_stage();

    stage_job_simple(stage, "j", "t*3",
                     "policies: [{event: PodEvicted, action: AbortJob, timeout: 10s}]");
    stage_pods(stage, POD_RUNNING);
    stage_delete(stage, &kind_pod, "j-t-2");
    stage_patch(stage, &kind_job, "j",
                "{\"spec\":{\"minAvailable\":2,\"tasks\":[{\"name\":\"t\",\"replicas\":2,"
                "\"minAvailable\":2,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
                "\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}");
    stage_advance(stage, 20000);
    check_str("phase", stage_phase(stage, "j"), "Running");
    stage_free(stage);
}

/* covers: see job.md 7.1 clean-up */
static void one_restart_of_a_task_answers_for_all_its_pods(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*3",
                     "policies: [{event: PodFailed, action: RestartTask, timeout: 2s}]");
    stage_pods(stage, POD_RUNNING);
    stage_pod_failed(stage, "j-t-0", 1);
    stage_pod_failed(stage, "j-t-1", 1);
    stage_advance(stage, 10000);
    assert_int_equal(stage_job(stage, "j")->retry_count, 1);
    stage_free(stage);
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
