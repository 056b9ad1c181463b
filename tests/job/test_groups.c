/*
 * Tests a job and its PodGroup: why it waits, the legacy name, and which Commands are for which of
 * them.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static const struct object *group_of(struct job_fixture *fixture, const char *job)
{
    scoped_str name =
        mem_printf("%s-%s", job, object_uid(job_fixture_get(fixture, &kind_job, job)));

    return job_fixture_get(fixture, &kind_pod_group, name);
}

static void set_group_status(struct job_fixture *fixture, const char *status)
{
    cluster_update_status(fixture->backend, NULL, group_of(fixture, "j"),
                          blob_new(status, strlen(status)));
    job_fixture_settle(fixture);
}

#define CONDITION(type, second, message)                                                           \
    "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"r\",\"message\":\"" message           \
    "\",\"lastTransitionTime\":\"2023-11-14T22:13:" second "Z\"}"
#define PENDING(conditions) "{\"phase\":\"Pending\",\"conditions\":[" conditions "]}"

/* covers: job.md PG-08 */
static void a_job_says_what_its_podgroup_waits_for(void **unused)
{
    static const struct {
        const char *name, *status, *message; /* `message`: what the job says; NULL = nothing */
    } cases[] = {
        {"a PodGroup without conditions gives no reason", PENDING(""), NULL},
        {"an unschedulable PodGroup gives the reason",
         PENDING(CONDITION("Unschedulable", "20", "needs 2 cpu")), "needs 2 cpu"},
        {"Unschedulable counts when newer than Scheduled",
         PENDING(CONDITION("Scheduled", "20", "fine") "," CONDITION("Unschedulable", "30", "late")),
         "late"},
        {"Unschedulable does not count when older than Scheduled",
         PENDING(CONDITION("Unschedulable", "20", "past") "," CONDITION("Scheduled", "30", "fine")),
         NULL},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_fixture *fixture =
            job_fixture_new(&(struct job_fixture_options){.hold_groups = true});
        const struct job_status *job;

        job_fixture_job_simple(fixture, "j", "t*1", "");
        set_group_status(fixture, cases[i].status);
        job = job_fixture_job(fixture, "j");
        check_int(cases[i].name, job_fixture_has_event(fixture, "PodGroupPending"),
                  cases[i].message != NULL);
        check_str(cases[i].name, job->reason ? job->reason : "",
                  cases[i].message ? "PodGroupPending" : "");
        if (cases[i].message)
            check_str(cases[i].name, job->message, cases[i].message);
        job_fixture_free(fixture);
    }
}

static void what_a_job_waited_for_is_forgotten_when_it_goes_on(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.hold_groups = true});

    job_fixture_job_simple(fixture, "j", "t*1", "");
    set_group_status(fixture, PENDING(CONDITION("Unschedulable", "20", "needs 2 cpu")));
    check_str("waits", job_fixture_job(fixture, "j")->reason, "PodGroupPending");
    job_fixture_group_phase(fixture, PODGROUP_INQUEUE);
    check_int("goes on", (int)job_fixture_count(fixture, &kind_pod), 1);
    check_str("no reason",
              job_fixture_job(fixture, "j")->reason ? job_fixture_job(fixture, "j")->reason : "",
              "");
    job_fixture_free(fixture);
}

/* covers: job.md PG-07 */
static void a_podgroup_of_the_legacy_name_goes_with_the_job(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});
    scoped_str yaml = NULL;

    job_fixture_stop_controller(fixture);
    job_fixture_job_simple(fixture, "j", "t*1", "policies: [{event: PodFailed, action: AbortJob}]");
    yaml = mem_printf("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: "
                      "{name: j, namespace: default, ownerReferences: [{apiVersion: "
                      "batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: %s, controller: true}]}"
                      ", spec: {minMember: 1}}",
                      object_uid(job_fixture_get(fixture, &kind_job, "j")));
    job_fixture_apply(fixture, yaml);
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    check_str("it is used", job_fixture_phase(fixture, "j"), "Running");
    check_int("and no second one made", (int)job_fixture_count(fixture, &kind_pod_group), 1);
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    check_str("ended", job_fixture_phase(fixture, "j"), "Aborted");
    check_int("it is gone", (int)job_fixture_count(fixture, &kind_pod_group), 0);
    job_fixture_free(fixture);
}

/* covers: job.md CMD-01 CMD-10; see tests/node/scheduler/test_scheduler.c for the queue's half */
static void a_command_for_a_queue_is_not_the_jobs_business(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    job_fixture_job_simple(fixture, "default", "t*1", ""); /* the job has the name of the queue */
    job_fixture_apply(fixture,
                      "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, "
                      "namespace: default}, action: CloseQueue, target: {apiVersion: "
                      "scheduling.volcano.sh/v1beta1, kind: Queue, name: default, uid: \"\"}}");
    assert_non_null(job_fixture_get(fixture, &kind_command, "c"));
    assert_false(job_fixture_has_event(fixture, "CommandIssued"));
    check_str("untouched", job_fixture_phase(fixture, "default"), "Running");
    job_fixture_apply(fixture,
                      "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: d, "
                      "namespace: default}, action: AbortJob, target: {apiVersion: "
                      "batch.volcano.sh/v1alpha1, kind: Job, name: default, uid: \"\"}}");
    assert_null(job_fixture_get(fixture, &kind_command, "d"));
    assert_true(job_fixture_has_event(fixture, "CommandIssued"));
    job_fixture_free(fixture);
}

/* A pod that succeeded before is kept, and its task waits all the same: were it counted, the group
 * would wait for pods that are created only when the group has started. covers: see O-57 O-61 */
static void a_resumed_gang_waits_for_no_task_that_waits(void **unused)
{
    static const char task[] =
        "template: {spec: {containers: [{name: c, image: i, command: [c]}]}}";
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});
    scoped_str job = mem_printf(
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: "
        "default, "
        "annotations: {volcano.sh/keep-succeeded: 'true'}}, spec: {minAvailable: 4, policies: "
        "[{event: PodFailed, action: AbortJob}], tasks: [{name: a, replicas: 2, %s}, {name: b, "
        "replicas: 2, dependsOn: {name: [a]}, %s}]}}",
        task, task);
    scoped_str resume = NULL;
    scoped_str group = NULL;

    job_fixture_apply(fixture, job);
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_pods(fixture, POD_RUNNING); /* the pods of task b run, too */
    job_fixture_pod(fixture, "j-a-1", POD_SUCCEEDED);
    job_fixture_pod(fixture, "j-b-0", POD_SUCCEEDED);
    job_fixture_pod_failed(fixture, "j-a-0", 1);
    check_str("aborted", job_fixture_phase(fixture, "j"), "Aborted");
    resume = mem_printf("{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, "
                        "namespace: default}, action: ResumeJob, target: {apiVersion: "
                        "batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: %s}}",
                        object_uid(job_fixture_get(fixture, &kind_job, "j")));
    job_fixture_apply(fixture, resume);
    check("the other is made again", job_fixture_get(fixture, &kind_pod, "j-a-0") != NULL);
    check("b waits", !job_fixture_get(fixture, &kind_pod, "j-b-1"));
    group = mem_printf("j-%s", object_uid(job_fixture_get(fixture, &kind_job, "j")));
    check_has("without b", job_fixture_get(fixture, &kind_pod_group, group)->body->text,
              "\"minMember\":2,\"minTaskMember\":{\"a\":2}");
    job_fixture_free(fixture);
}

/* The PodGroup has no new version: only some pods are replaced. covers: see O-57 */
static void a_gang_waits_for_no_pod_that_cannot_be_created(void **unused)
{
    static const char task[] =
        "template: {spec: {containers: [{name: c, image: i, command: [c]}]}}";
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});
    scoped_str job =
        mem_printf("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, "
                   "namespace: default}, "
                   "spec: {minAvailable: 4, policies: [{event: PodFailed, action: RestartPod}], "
                   "tasks: [{name: "
                   "a, replicas: 2, %s}, {name: b, replicas: 2, dependsOn: {name: [a]}, %s}]}}",
                   task, task);
    scoped_str group = NULL;

    job_fixture_apply(fixture, job);
    group = mem_printf("j-%s", object_uid(job_fixture_get(fixture, &kind_job, "j")));
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_pods(fixture, POD_RUNNING); /* the pods of task b run, too */
    check_has("all", job_fixture_get(fixture, &kind_pod_group, group)->body->text,
              "\"minMember\":4");
    job_fixture_pod_failed(fixture, "j-a-0", 1);
    check_has("b is complete", job_fixture_get(fixture, &kind_pod_group, group)->body->text,
              "\"minMember\":4");
    job_fixture_pod_failed(fixture, "j-b-1", 1);
    check("it waits for a", !job_fixture_get(fixture, &kind_pod, "j-b-1"));
    check_has("without b", job_fixture_get(fixture, &kind_pod_group, group)->body->text,
              "\"minMember\":2,");
    job_fixture_pod(fixture, "j-a-0", POD_RUNNING);
    check("made again", job_fixture_get(fixture, &kind_pod, "j-b-1") != NULL);
    check_has("all again", job_fixture_get(fixture, &kind_pod_group, group)->body->text,
              "\"minMember\":4");
    job_fixture_free(fixture);
}

/* A success is kept when its pod is deleted. The scheduler sees only the pods that are there, so the
 * group does not ask for that one. covers: see O-61 */
static void a_gang_does_not_ask_for_successes_without_pods(void **unused)
{
    static const char job[] =
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: "
        "default, "
        "annotations: {volcano.sh/keep-succeeded: 'true'}}, spec: {minAvailable: 3, policies: "
        "[{event: PodFailed, action: RestartPod}], tasks: [{name: a, replicas: 3, template: {spec: "
        "{containers: [{name: c, image: i, command: [c]}]}}}]}}";
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});
    scoped_str group = NULL;

    job_fixture_apply(fixture, job);
    group = mem_printf("j-%s", object_uid(job_fixture_get(fixture, &kind_job, "j")));
    job_fixture_pods(fixture, POD_RUNNING);
    job_fixture_pod(fixture, "j-a-0", POD_SUCCEEDED);
    job_fixture_delete(fixture, &kind_pod, "j-a-0");
    check("it is kept", !job_fixture_get(fixture, &kind_pod, "j-a-0"));
    job_fixture_pod_failed(fixture, "j-a-1", 1);
    check("made again", job_fixture_get(fixture, &kind_pod, "j-a-1") != NULL);
    check_has("the group", job_fixture_get(fixture, &kind_pod_group, group)->body->text,
              "\"minMember\":2,\"minTaskMember\":{\"a\":2}");
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_gang_waits_for_no_task_that_waits),
        cmocka_unit_test(a_gang_waits_for_no_pod_that_cannot_be_created),
        cmocka_unit_test(a_gang_does_not_ask_for_successes_without_pods),
        cmocka_unit_test(a_job_says_what_its_podgroup_waits_for),
        cmocka_unit_test(what_a_job_waited_for_is_forgotten_when_it_goes_on),
        cmocka_unit_test(a_podgroup_of_the_legacy_name_goes_with_the_job),
        cmocka_unit_test(a_command_for_a_queue_is_not_the_jobs_business),
    };

    return job_tests_with_faults(tests, countof(tests), NULL);
}
