/*
 * Tests jobs whose pods are a group of Kueue: all pods are made at once, and the group takes no
 * others in.
 */
#include "tests/unit.h"

#include "job/model/names.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static struct job_fixture *set_up(void)
{
    return job_fixture_new(
        &(struct job_fixture_options){.elsewhere = true, .gang = JOB_GANG_KUEUE});
}

static const char *group_of(struct job_fixture *fixture, const char *pod)
{
    const struct object *object = job_fixture_get(fixture, &kind_pod, pod);

    return object ? strrchr(meta_label(object->meta, LABEL_KUEUE_GROUP), '-') : "no pod";
}

static void fails(struct job_fixture *fixture, const char *message)
{
    check_str("phase", job_fixture_phase(fixture, "j"), "Failed");
    check_str("reason", job_fixture_job(fixture, "j")->reason, "KueueNeedsAllPods");
    check_str("message", job_fixture_job(fixture, "j")->message, message);
}

/* covers: cluster.md CLU-017 */
static void a_job_whose_tasks_wait_for_others_fails(void **unused)
{
    struct job_fixture *fixture = set_up();

    job_fixture_apply(fixture,
                      "apiVersion: batch.volcano.sh/v1alpha1\n"
                      "kind: Job\n"
                      "metadata: {name: j, namespace: default}\n"
                      "spec:\n"
                      "  tasks:\n"
                      "  - {name: a, replicas: 1, template: {spec: {containers: [{name: c, image: "
                      "i}]}}}\n"
                      "  - {name: b, replicas: 1, dependsOn: {name: [a]}, template: {spec: "
                      "{containers: [{name: c, image: i}]}}}\n");
    job_fixture_settle(fixture);
    fails(fixture, "Kueue needs all pods of a job at once, and task b waits for others");
    check_int("pods", (int)job_fixture_count(fixture, &kind_pod), 0);
    job_fixture_free(fixture);
}

static void a_job_that_is_scaled_fails(void **unused)
{
    struct job_fixture *fixture = set_up();

    job_fixture_job_simple(fixture, "j", "t*2", "");
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_scale(fixture, "j", 0, 3, 3);
    job_fixture_settle(fixture);
    fails(fixture, "the job was scaled from 2 to 3 pods, and its group for Kueue takes no others "
                   "in");
    check_int("pods", (int)job_fixture_count(fixture, &kind_pod), 0);
    job_fixture_free(fixture);
}

static void a_job_that_loses_a_pod_begins_anew_as_another_group(void **unused)
{
    struct job_fixture *fixture = set_up();

    job_fixture_job_simple(fixture, "j", "t*2", "");
    job_fixture_pods(fixture, POD_RUNNING);
    check_str("group", group_of(fixture, "j-t-1"), "-0");
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_settle(fixture);
    check_str("group of the lost pod", group_of(fixture, "j-t-0"), "-1");
    check_str("group of the other", group_of(fixture, "j-t-1"), "-1");
    check_int("retries", job_fixture_job(fixture, "j")->retry_count, 1);
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_pods(fixture, POD_SUCCEEDED);
    check_str("phase", job_fixture_phase(fixture, "j"), "Completed");
    job_fixture_free(fixture);
}

static void a_policy_for_lost_pods_comes_first(void **unused)
{
    struct job_fixture *fixture = set_up();

    job_fixture_job_simple(fixture, "j", "t*2",
                           "policies: [{event: PodEvicted, action: AbortJob}]");
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_settle(fixture);
    check_str("phase", job_fixture_phase(fixture, "j"), "Aborted");
    job_fixture_free(fixture);
}

static void a_pod_lost_while_no_controller_ran_counts(void **unused)
{
    struct job_fixture *fixture = set_up();

    job_fixture_job_simple(fixture, "j", "t*2", "");
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_advance(fixture, 1000);
    job_fixture_stop_controller(fixture);
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    check_str("group of the lost pod", group_of(fixture, "j-t-0"), "-1");
    check_str("group of the other", group_of(fixture, "j-t-1"), "-1");
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_whose_tasks_wait_for_others_fails),
        cmocka_unit_test(a_job_that_is_scaled_fails),
        cmocka_unit_test(a_job_that_loses_a_pod_begins_anew_as_another_group),
        cmocka_unit_test(a_policy_for_lost_pods_comes_first),
        cmocka_unit_test(a_pod_lost_while_no_controller_ran_counts),
    };

    return job_tests_with_faults(tests, countof(tests), NULL);
}
