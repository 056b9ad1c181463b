/*
 * Tests the pods of jobs: their order, their number, and what they wait for.
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

/* Creates a job with tasks in YAML flow style. */
static void apply_job(struct job_fixture *fixture, const char *spec)
{
    scoped_str yaml = mem_printf("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job,\n"
                                 "metadata: {name: j, namespace: default}, spec: {%s}}",
                                 spec);

    job_fixture_apply(fixture, yaml);
}

#define TEMPLATE                                                                                   \
    "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, command: "        \
    "[run]}]}}"

/* covers: job.md POD-12 */
static void a_slot_is_refilled_when_its_pod_is_gone(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});
    scoped_str before = NULL;

    job_fixture_job_simple(fixture, "j", "t*2", "minAvailable: 1");
    before = mem_strdup(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-1")));
    job_fixture_delete(fixture, &kind_pod, "j-t-1");
    assert_int_equal(job_fixture_job(fixture, "j")->terminating, 1);
    assert_string_equal(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-1")), before);
    job_fixture_let_go(fixture);
    assert_string_not_equal(object_uid(job_fixture_get(fixture, &kind_pod, "j-t-1")), before);
    assert_int_equal(job_fixture_job(fixture, "j")->terminating, 0);
    assert_int_equal(job_fixture_job(fixture, "j")->running, 2);
    job_fixture_free(fixture);
}

/* covers: job.md POD-19; see O-42 */
static void a_name_taken_by_a_stranger_is_waited_for(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_apply(fixture,
                      "{apiVersion: v1, kind: Pod, metadata: {name: j-t-0, namespace: default},\n"
                      "spec: {containers: [{name: main, image: x, command: [run]}]}}");
    job_fixture_job_simple(fixture, "j", "t*2", "");
    check_phase(fixture, "j", "Pending");
    assert_string_equal(job_fixture_job(fixture, "j")->reason, "PodNameConflict");
    assert_true(job_fixture_has_event(fixture, "FailedCreate"));
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    job_fixture_let_go(fixture);
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);
}

/* covers: job.md WQ-05 */
static void a_job_made_again_under_its_name_gets_all_its_pods(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});

    for (int i = 0; i < 5; i++) {
        job_fixture_job_simple(fixture, "j", "t*2", "");
        job_fixture_let_go(fixture); /* the pods of the previous job go away */
        job_fixture_advance(fixture, 200);
        check_phase(fixture, "j", "Running");
        job_fixture_delete(fixture, &kind_job, "j");
    }
    job_fixture_free(fixture);
}

/* covers: job.md POD-25 */
static void a_missing_claim_is_waited_for(void **unused)
{
    struct job_fixture *fixture = running_pods();

    apply_job(fixture, "volumes: [{mountPath: /data, volumeClaimName: c}], tasks: [{name: t, "
                       "replicas: 1, " TEMPLATE "}]");
    job_fixture_advance(fixture, 600000);
    check_phase(fixture, "j", "Pending");
    assert_string_equal(job_fixture_job(fixture, "j")->reason, "PVCNotFound");
    job_fixture_apply(
        fixture,
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default},\n"
        "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);
}

/* covers: job.md POD-26 */
static void a_claim_is_made_once_and_named_in_the_spec(void **unused)
{
    struct job_fixture *fixture = running_pods();
    const struct job_spec *spec;
    const struct job_status *status;

    apply_job(fixture,
              "volumes: [{mountPath: /data, volumeClaim: {accessModes: [ReadWriteOnce],\n"
              "resources: {requests: {storage: 1Gi}}}}], tasks: [{name: t, replicas: 1, " TEMPLATE
              "}]");
    check_phase(fixture, "j", "Running");
    spec = job_spec_of(job_fixture_get(fixture, &kind_job, "j"));
    assert_int_equal(strncmp(spec->volumes.items[0].claim_name, "j-pvc-", 6), 0);
    assert_non_null(job_fixture_get(fixture, &kind_pvc, spec->volumes.items[0].claim_name));
    assert_int_equal(job_fixture_count(fixture, &kind_pvc), 1);
    status = job_fixture_job(fixture, "j");
    assert_int_equal(status->controlled.count, 1);
    assert_string_equal(status->controlled.items[0].value, spec->volumes.items[0].claim_name);
    job_fixture_restart(fixture);
    job_fixture_settle(fixture);
    assert_int_equal(job_fixture_count(fixture, &kind_pvc), 1);
    job_fixture_free(fixture);
}

/* covers: job.md POD-27 */
static void a_claim_that_exists_is_used_as_it_is(void **unused)
{
    struct job_fixture *fixture = running_pods();
    const struct job_status *status;
    int64_t revision;

    job_fixture_apply(
        fixture, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: mine, namespace: "
                 "default},\n"
                 "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    revision = job_fixture_get(fixture, &kind_pvc, "mine")->revision;
    apply_job(fixture, "volumes: [{mountPath: /data, volumeClaimName: mine}], tasks: [{name: t, "
                       "replicas: 1, " TEMPLATE "}]");
    check_phase(fixture, "j", "Running");
    assert_string_equal(
        job_spec_of(job_fixture_get(fixture, &kind_job, "j"))->volumes.items[0].claim_name, "mine");
    assert_int_equal(job_fixture_get(fixture, &kind_pvc, "mine")->revision, revision);
    assert_int_equal(job_fixture_count(fixture, &kind_pvc), 1);
    status = job_fixture_job(fixture, "j");
    assert_int_equal(status->controlled.count, 1);
    assert_string_equal(status->controlled.items[0].key, "volume-pvc-mine");
    job_fixture_free(fixture);
}

/* covers: job.md PRT-11; see O-07 */
static void partitions_are_counted_when_nobody_says_how_many(void **unused)
{
    struct job_fixture *fixture = running_pods();
    const struct job_partition *partition;

    apply_job(fixture,
              "tasks: [{name: t, replicas: 8, partitionPolicy: {partitionSize: 4}, " TEMPLATE "}]");
    partition = job_spec_of(job_fixture_get(fixture, &kind_job, "j"))->tasks.items[0].partition;
    assert_int_equal(partition->total, 2);
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);
}

/* covers: job.md ADM-38; see O-11 */
static void volumes_may_fall_back_to_empty_directories(void **unused)
{
    struct job_fixture *fixture = running_pods();
    scoped(json) json_t *body = NULL;

    job_fixture_apply(fixture,
                      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, "
                      "namespace: default,\n"
                      "annotations: {volcano.sh/volume-fallback: emptyDir}}, spec: {\n"
                      "volumes: [{mountPath: /a}, {mountPath: /b, volumeClaimName: missing}],\n"
                      "tasks: [{name: t, replicas: 1, " TEMPLATE "}]}}");
    check_phase(fixture, "j", "Running");
    body = object_body_json(job_fixture_get(fixture, &kind_pod, "j-t-0"));
    assert_int_equal(json_array_size(json_object_get(json_object_get(body, "spec"), "volumes")), 2);
    assert_non_null(json_object_get(
        json_array_get(json_object_get(json_object_get(body, "spec"), "volumes"), 1), "emptyDir"));
    assert_int_equal(job_fixture_job(fixture, "j")->controlled.count, 2);
    job_fixture_free(fixture);
}

/* covers: job.md DEP-04 DEP-10 DEP-11 DEP-13; see O-57 O-58 */
static void a_chain_of_tasks_starts_one_after_the_other(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});
    scoped_str group = NULL;

    apply_job(fixture, "tasks: [{name: c, replicas: 2, dependsOn: {name: [b]}, " TEMPLATE "},\n"
                       "{name: b, replicas: 1, dependsOn: {name: [a]}, " TEMPLATE
                       "}, {name: a, replicas: 1, " TEMPLATE "}]");
    job_fixture_check_order("pods", fixture->created, "j-a-0");
    group = mem_printf("j-%s", object_uid(job_fixture_get(fixture, &kind_job, "j")));
    assert_int_equal(podgroup_spec_of(job_fixture_get(fixture, &kind_pod_group, group))->min_member,
                     1);
    job_fixture_not_ready(fixture, "j-a-0"); /* the pod runs and is not ready */
    job_fixture_check_order("pods", fixture->created, "j-a-0");
    job_fixture_pod(fixture, "j-a-0", POD_RUNNING);
    job_fixture_check_order("pods", fixture->created, "j-a-0 j-b-0");
    job_fixture_pod(fixture, "j-b-0", POD_RUNNING);
    job_fixture_check_order("pods", fixture->created, "j-a-0 j-b-0 j-c-0 j-c-1");
    job_fixture_pod(fixture, "j-a-0", POD_FAILED);
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 4);
    job_fixture_pods(fixture, POD_RUNNING);
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);
}

struct needs_case {
    const char *name, *depends, *created;
};

/* covers: job.md DEP-01 DEP-05 DEP-06 DEP-07 DEP-14 */
static void any_or_all_of_several_tasks(void **unused)
{
    static const struct needs_case cases[] = {
        {"one of two tasks is enough with iteration any", "{name: [a, b], iteration: any}",
         "j-a-0 j-b-0 j-c-0"},
        {"IterationAny means the same as any", "{name: [a, b], iteration: IterationAny}",
         "j-a-0 j-b-0 j-c-0"},
        {"both tasks are needed with iteration all", "{name: [a, b], iteration: all}",
         "j-a-0 j-b-0"},
        {"both tasks are needed without iteration", "{name: [a, b]}", "j-a-0 j-b-0"},
        {"the only task is needed with iteration any", "{name: [b], iteration: any}",
         "j-a-0 j-b-0"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});
        scoped_str spec = mem_printf("tasks: [{name: a, replicas: 1, " TEMPLATE
                                     "}, {name: b, replicas: 1, " TEMPLATE
                                     "},\n{name: c, replicas: 1, dependsOn: %s, " TEMPLATE "}]",
                                     cases[i].depends);

        apply_job(fixture, spec);
        job_fixture_pod(fixture, "j-a-0", POD_SUCCEEDED);
        job_fixture_check_order(cases[i].name, fixture->created, cases[i].created);
        job_fixture_free(fixture);
    }
}

/* covers: job.md DEP-08 DEP-09 */
static void readiness_counts_up_to_the_minimum(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    apply_job(fixture, "tasks: [{name: a, replicas: 3, minAvailable: 1, " TEMPLATE
                       "}, {name: z, replicas: 1, minAvailable: 0, " TEMPLATE "},\n"
                       "{name: b, replicas: 1, dependsOn: {name: [a]}, " TEMPLATE
                       "}, {name: c, replicas: 1, dependsOn: {name: [z]}, " TEMPLATE "}]");
    assert_non_null(job_fixture_get(fixture, &kind_pod, "j-c-0"));
    assert_null(job_fixture_get(fixture, &kind_pod, "j-b-0"));
    job_fixture_pod(fixture, "j-a-1", POD_RUNNING);
    assert_non_null(job_fixture_get(fixture, &kind_pod, "j-b-0"));
    job_fixture_free(fixture);
}

static void resize(struct job_fixture *fixture, int replicas)
{
    scoped_str patch = mem_printf("{\"spec\":{\"minAvailable\":%d,\"tasks\":[{\"name\":\"t\","
                                  "\"replicas\":%d,\"minAvailable\":%d,"
                                  "\"maxRetry\":3,\"template\":{\"spec\":{\"restartPolicy\":"
                                  "\"Never\",\"containers\":[{\"name\":\"main\","
                                  "\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}",
                                  replicas, replicas, replicas);

    job_fixture_patch(fixture, &kind_job, "j", patch);
}

/* covers: job.md SCL-01 SCL-02 SCL-04 SCL-05 PG-05 */
static void a_job_is_scaled_up_and_down(void **unused)
{
    struct job_fixture *fixture = running_pods();
    scoped_str group = NULL;
    scoped(json) json_t *hosts = NULL;

    job_fixture_job_simple(
        fixture, "j", "t*5",
        "minAvailable: 1;plugins: {svc: []};policies: [{event: PodEvicted, action: RestartJob}]");
    check_phase(fixture, "j", "Running");
    fixture->deleted[0] = '\0';
    resize(fixture, 2);
    job_fixture_advance(fixture, 500);
    job_fixture_check_order("pods", fixture->deleted, "j-t-4 j-t-3 j-t-2");
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 2);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 0);
    assert_int_equal(job_fixture_job(fixture, "j")->min_available, 2);
    group = mem_printf("j-%s", object_uid(job_fixture_get(fixture, &kind_job, "j")));
    assert_int_equal(podgroup_spec_of(job_fixture_get(fixture, &kind_pod_group, group))->min_member,
                     2);
    hosts = object_body_json(job_fixture_get(fixture, &kind_config_map, "j-svc"));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(hosts, "data"), "t.host")),
        "j-t-0.j\nj-t-1.j");
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);
}

/* covers: job.md SCL-03 */
static void to_zero_and_back(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*2", "");
    resize(fixture, 0);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 0);
    resize(fixture, 2);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->running, 2);
    job_fixture_free(fixture);
}

/* covers: job.md SCL-06 SCL-09 */
static void
growing_beyond_what_runs_is_pending_again_and_a_finished_job_grows_no_more(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    job_fixture_job_simple(fixture, "j", "t*2", "");
    job_fixture_pods(fixture, POD_RUNNING);
    resize(fixture, 4);
    check_phase(fixture, "j", "Pending");
    job_fixture_pods(fixture, POD_SUCCEEDED);
    check_phase(fixture, "j", "Completed");
    resize(fixture, 6);
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 4);
    check_phase(fixture, "j", "Completed");
    job_fixture_free(fixture);
}

/* covers: job.md PG-18 PG-19 */
static void a_podgroup_deleted_by_hand_is_made_again(void **unused)
{
    struct job_fixture *fixture = running_pods();
    scoped_str group = NULL;

    job_fixture_job_simple(fixture, "j", "t*1", "");
    group = mem_printf("j-%s", object_uid(job_fixture_get(fixture, &kind_job, "j")));
    job_fixture_delete(fixture, &kind_pod_group, group);
    assert_non_null(job_fixture_get(fixture, &kind_pod_group, group));
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 1);
    job_fixture_free(fixture);
}

static void make_open_queue(struct job_fixture *fixture)
{
    static const char open[] = "{\"state\":\"Open\"}";

    job_fixture_apply(fixture,
                      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: "
                      "q}, spec: {weight: 1}}");
    cluster_update_status(fixture->backend, NULL, job_fixture_get(fixture, &kind_queue, "q"),
                          blob_new(open, sizeof open - 1));
    job_fixture_settle(fixture);
}

/* covers: see 9.2 */
static void a_missing_queue_is_waited_for(void **unused)
{
    struct job_fixture *fixture = running_pods();

    make_open_queue(fixture);
    job_fixture_stop_controller(fixture);
    job_fixture_job_simple(fixture, "j", "t*1", "queue: q");
    job_fixture_delete(fixture, &kind_queue, "q");
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    check_phase(fixture, "j", "Pending");
    assert_string_equal(job_fixture_job(fixture, "j")->reason, "QueueNotFound");
    job_fixture_advance(fixture, 600000);
    check_phase(fixture, "j", "Pending");
    make_open_queue(fixture);
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);
}

/* covers: job.md WQ-02; see O-41 */
static void a_big_job_does_not_hold_up_small_ones(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "big", "t*2000", "");
    job_fixture_job_simple(fixture, "small", "t*1", "");
    check_phase(fixture, "small", "Running");
    job_fixture_settle(fixture);
    check_phase(fixture, "big", "Running");
    assert_int_equal(job_fixture_job(fixture, "big")->running, 2000);
    job_fixture_delete(fixture, &kind_job, "big");
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_is_refilled_when_its_pod_is_gone),
        cmocka_unit_test(a_name_taken_by_a_stranger_is_waited_for),
        cmocka_unit_test(a_job_made_again_under_its_name_gets_all_its_pods),
        cmocka_unit_test(a_missing_claim_is_waited_for),
        cmocka_unit_test(a_claim_is_made_once_and_named_in_the_spec),
        cmocka_unit_test(a_claim_that_exists_is_used_as_it_is),
        cmocka_unit_test(partitions_are_counted_when_nobody_says_how_many),
        cmocka_unit_test(volumes_may_fall_back_to_empty_directories),
        cmocka_unit_test(a_chain_of_tasks_starts_one_after_the_other),
        cmocka_unit_test(any_or_all_of_several_tasks),
        cmocka_unit_test(readiness_counts_up_to_the_minimum),
        cmocka_unit_test(a_job_is_scaled_up_and_down),
        cmocka_unit_test(to_zero_and_back),
        cmocka_unit_test(
            growing_beyond_what_runs_is_pending_again_and_a_finished_job_grows_no_more),
        cmocka_unit_test(a_podgroup_deleted_by_hand_is_made_again),
        cmocka_unit_test(a_missing_queue_is_waited_for),
        cmocka_unit_test(a_big_job_does_not_hold_up_small_ones),
    };
    return job_tests_with_faults(tests, countof(tests), NULL);
}
