/* Tests what the attempts of a step say of pods that are gone: the logs that the node has kept. */
#include "tests/unit.h"

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/pod/pod_log.h"
#include "tests/support/flow_fixture.h"

/* Keeps the log of a pod as the node does: with the job while it exists, and with the flow. */
static void keep_log(struct flow_fixture *fixture, const char *job, const char *job_uid,
                     int attempt, const char *pod, const char *uid)
{
    const struct object *flow = flow_fixture_get(fixture, &kind_job_flow, "f");
    const struct object *stored = flow_fixture_get(fixture, &kind_job, job);
    const struct pod_log log = {.pod = pod,
                                .uid = uid,
                                .job = job,
                                .job_uid = job_uid ? job_uid : object_uid(stored),
                                .flow = "f",
                                .step = "a",
                                .attempt = attempt,
                                .start_ms = 1700000000000,
                                .end_ms = 1700000005000,
                                .complete = true};
    const struct owner_ref owners[] = {
        {"flow.volcano.sh/v1alpha1", "JobFlow", "f", object_uid(flow), false, false},
        {"batch.volcano.sh/v1alpha1", "Job", job, stored ? object_uid(stored) : "", false, false}};
    scoped_str name = pod_log_name(pod, uid);

    cluster_create(
        fixture->cluster, NULL,
        object_new(&kind_pod_log,
                   meta_new(&(const struct meta){.namespace = "default",
                                                 .name = name,
                                                 .uid = "",
                                                 .deletion_grace_s = -1,
                                                 .owners = owners,
                                                 .n_owners = stored && !job_uid ? 2 : 1}),
                   blob_intern("{}", 2), pod_log_blob(&log)));
    flow_fixture_settle(fixture);
}

#define ATTEMPT(n, member) "nodes/0/attempts/" #n "/" member

/* Pods that a policy or a deadline ended are deleted before their job ends. */
static void the_record_of_an_attempt_names_logs_of_deleted_pods(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    keep_log(fixture, "f-a", NULL, 1, "f-a-main-0", "replaced");
    keep_log(fixture, "f-a", NULL, 1, "f-a-main-0", "last");
    keep_log(fixture, "f-a", NULL, 1, "f-a-main-1", "other");
    flow_fixture_end_pod(fixture, "f-a", "main", 1, 3, NULL);
    flow_fixture_phase(fixture, "f-a", JOB_TERMINATED);
    flow_fixture_advance(fixture, 1000);
    check_str("the newest pod of a name",
              flow_fixture_at(fixture, "f", ATTEMPT(0, "logs/f-a-main-0")), "last");
    check("a pod that exists",
          strcmp(flow_fixture_at(fixture, "f", ATTEMPT(0, "logs/f-a-main-1")), "other") != 0);
    check_str("only its exit code is known", flow_fixture_at(fixture, "f", ATTEMPT(0, "exitCodes")),
              "{\"main\":[3]}");
}

static void an_unfinished_job_that_is_deleted_leaves_its_logs_in_the_record(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "main", 0, POD_RUNNING, NULL);
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    flow_fixture_advance(fixture, 1000);
    check("the first attempt", *flow_fixture_at(fixture, "f", ATTEMPT(0, "logs/f-a-main-0")));
    check_str("another follows", flow_fixture_at(fixture, "f", "nodes/0/attempt"), "2");
}

/* The controllers have stopped when the job is deleted, as after an interrupt. */
static void attempts_that_ended_without_a_controller_are_completed_from_their_logs(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped_str job_uid = NULL;

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_advance(fixture, 1000);
    job_uid = mem_strdup(object_uid(flow_fixture_get(fixture, &kind_job, "f-a")));
    flow_fixture_stop(fixture);
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    keep_log(fixture, "f-a", job_uid, 1, "f-a-main-0", "one");
    keep_log(fixture, "f-a", "another job", 2, "f-a-main-0",
             "two"); /* this pod began after the last write */
    flow_fixture_start(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("first", flow_fixture_at(fixture, "f", ATTEMPT(0, "logs/f-a-main-0")), "one");
    check_str("its end", flow_fixture_at(fixture, "f", ATTEMPT(0, "endTime")),
              "2023-11-14T22:13:25Z");
    check_str("second", flow_fixture_at(fixture, "f", ATTEMPT(1, "logs/f-a-main-0")), "two");
    check_str("its job", flow_fixture_at(fixture, "f", ATTEMPT(1, "uid")), "another job");
    check_str("the next one is the third", flow_fixture_at(fixture, "f", "nodes/0/attempt"), "3");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("the same after a restart", flow_fixture_at(fixture, "f", "nodes/0/attempt"), "3");
    check_str("all are kept", flow_fixture_at(fixture, "f", ATTEMPT(2, "attempt")), "3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_of_an_attempt_names_logs_of_deleted_pods),
        cmocka_unit_test(an_unfinished_job_that_is_deleted_leaves_its_logs_in_the_record),
        cmocka_unit_test(attempts_that_ended_without_a_controller_are_completed_from_their_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
