/*
 * Pods, their order, their number, and what they wait for.
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

/* A job with tasks in YAML flow style. */
static void apply_job(struct stage *stage, const char *spec)
{
    scoped_str yaml = mem_printf("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job,\n"
                                 "metadata: {name: j, namespace: default}, spec: {%s}}",
                                 spec);

    stage_apply(stage, yaml);
}

#define TEMPLATE                                                                                   \
    "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, command: "        \
    "[run]}]}}"

/* covers: job.md POD-12 */
static void a_slot_is_refilled_when_its_pod_is_gone(void **unused)
{
    struct stage *stage =
        stage_new(&(struct stage_options){.run_pods = true, .slow_deletion = true});
    scoped_str before = NULL;

    stage_job_simple(stage, "j", "t*2", "minAvailable: 1");
    before = mem_strdup(object_uid(stage_get(stage, &kind_pod, "j-t-1")));
    stage_delete(stage, &kind_pod, "j-t-1");
    assert_int_equal(stage_job(stage, "j")->terminating, 1);
    assert_string_equal(object_uid(stage_get(stage, &kind_pod, "j-t-1")), before);
    stage_let_go(stage);
    assert_string_not_equal(object_uid(stage_get(stage, &kind_pod, "j-t-1")), before);
    assert_int_equal(stage_job(stage, "j")->terminating, 0);
    assert_int_equal(stage_job(stage, "j")->running, 2);
    stage_free(stage);
}

/* covers: job.md POD-19; see O-42 */
static void a_name_taken_by_a_stranger_is_waited_for(void **unused)
{
    struct stage *stage = running_pods();

    stage_apply(stage, "{apiVersion: v1, kind: Pod, metadata: {name: j-t-0, namespace: default},\n"
                       "spec: {containers: [{name: main, image: x, command: [run]}]}}");
    stage_job_simple(stage, "j", "t*2", "");
    check_phase(stage, "j", "Pending");
    assert_string_equal(stage_job(stage, "j")->reason, "PodNameConflict");
    assert_true(stage_has_event(stage, "FailedCreate"));
    stage_delete(stage, &kind_pod, "j-t-0");
    stage_let_go(stage);
    check_phase(stage, "j", "Running");
    stage_free(stage);
}

/* covers: job.md WQ-05 */
static void a_job_made_again_under_its_name_gets_all_its_pods(void **unused)
{
    struct stage *stage =
        stage_new(&(struct stage_options){.run_pods = true, .slow_deletion = true});

    for (int i = 0; i < 5; i++) {
        stage_job_simple(stage, "j", "t*2", "");
        stage_let_go(stage); /* of the job before */
        stage_advance(stage, 200);
        check_phase(stage, "j", "Running");
        stage_delete(stage, &kind_job, "j");
    }
    stage_free(stage);
}

/* covers: job.md POD-25 */
static void a_missing_claim_is_waited_for(void **unused)
{
    struct stage *stage = running_pods();

    apply_job(stage, "volumes: [{mountPath: /data, volumeClaimName: c}], tasks: [{name: t, "
                     "replicas: 1, " TEMPLATE "}]");
    stage_advance(stage, 600000);
    check_phase(stage, "j", "Pending");
    assert_string_equal(stage_job(stage, "j")->reason, "PVCNotFound");
    stage_apply(
        stage,
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default},\n"
        "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    check_phase(stage, "j", "Running");
    stage_free(stage);
}

/* covers: job.md POD-26 */
static void a_claim_is_made_once_and_named_in_the_spec(void **unused)
{
    struct stage *stage = running_pods();
    const struct job_spec *spec;
    const struct job_status *status;

    apply_job(stage,
              "volumes: [{mountPath: /data, volumeClaim: {accessModes: [ReadWriteOnce],\n"
              "resources: {requests: {storage: 1Gi}}}}], tasks: [{name: t, replicas: 1, " TEMPLATE
              "}]");
    check_phase(stage, "j", "Running");
    spec = job_spec_of(stage_get(stage, &kind_job, "j"));
    assert_int_equal(strncmp(spec->volumes.items[0].claim_name, "j-pvc-", 6), 0);
    assert_non_null(stage_get(stage, &kind_pvc, spec->volumes.items[0].claim_name));
    assert_int_equal(stage_count(stage, &kind_pvc), 1);
    status = stage_job(stage, "j");
    assert_int_equal(status->controlled.count, 1);
    assert_string_equal(status->controlled.items[0].value, spec->volumes.items[0].claim_name);
    stage_restart(stage);
    stage_settle(stage);
    assert_int_equal(stage_count(stage, &kind_pvc), 1);
    stage_free(stage);
}

/* covers: job.md POD-27 */
static void a_claim_that_exists_is_used_as_it_is(void **unused)
{
    struct stage *stage = running_pods();
    const struct job_status *status;
    int64_t revision;

    stage_apply(stage,
                "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: mine, namespace: "
                "default},\n"
                "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    revision = stage_get(stage, &kind_pvc, "mine")->revision;
    apply_job(stage, "volumes: [{mountPath: /data, volumeClaimName: mine}], tasks: [{name: t, "
                     "replicas: 1, " TEMPLATE "}]");
    check_phase(stage, "j", "Running");
    assert_string_equal(job_spec_of(stage_get(stage, &kind_job, "j"))->volumes.items[0].claim_name,
                        "mine");
    assert_int_equal(stage_get(stage, &kind_pvc, "mine")->revision, revision);
    assert_int_equal(stage_count(stage, &kind_pvc), 1);
    status = stage_job(stage, "j");
    assert_int_equal(status->controlled.count, 1);
    assert_string_equal(status->controlled.items[0].key, "volume-pvc-mine");
    stage_free(stage);
}

/* covers: job.md PRT-11; see O-07 */
static void partitions_are_counted_when_nobody_says_how_many(void **unused)
{
    struct stage *stage = running_pods();
    const struct job_partition *partition;

    apply_job(stage,
              "tasks: [{name: t, replicas: 8, partitionPolicy: {partitionSize: 4}, " TEMPLATE "}]");
    partition = job_spec_of(stage_get(stage, &kind_job, "j"))->tasks.items[0].partition;
    assert_int_equal(partition->total, 2);
    check_phase(stage, "j", "Running");
    stage_free(stage);
}

/* covers: job.md ADM-38; see O-11 */
static void volumes_may_fall_back_to_empty_directories(void **unused)
{
    struct stage *stage = running_pods();
    scoped(json) json_t *body = NULL;

    stage_apply(stage, "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, "
                       "namespace: default,\n"
                       "annotations: {volcano.sh/volume-fallback: emptyDir}}, spec: {\n"
                       "volumes: [{mountPath: /a}, {mountPath: /b, volumeClaimName: missing}],\n"
                       "tasks: [{name: t, replicas: 1, " TEMPLATE "}]}}");
    check_phase(stage, "j", "Running");
    body = object_body_json(stage_get(stage, &kind_pod, "j-t-0"));
    assert_int_equal(json_array_size(json_object_get(json_object_get(body, "spec"), "volumes")), 2);
    assert_non_null(json_object_get(
        json_array_get(json_object_get(json_object_get(body, "spec"), "volumes"), 1), "emptyDir"));
    assert_int_equal(stage_job(stage, "j")->controlled.count, 2);
    stage_free(stage);
}

/* covers: job.md DEP-04 DEP-10 DEP-11 DEP-13; see O-57 O-58 */
static void a_chain_of_tasks_starts_one_after_the_other(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});
    scoped_str group = NULL;

    apply_job(stage, "tasks: [{name: c, replicas: 2, dependsOn: {name: [b]}, " TEMPLATE "},\n"
                     "{name: b, replicas: 1, dependsOn: {name: [a]}, " TEMPLATE
                     "}, {name: a, replicas: 1, " TEMPLATE "}]");
    stage_check_order("pods", stage->created, "j-a-0");
    group = mem_printf("j-%s", object_uid(stage_get(stage, &kind_job, "j")));
    assert_int_equal(podgroup_spec_of(stage_get(stage, &kind_pod_group, group))->min_member, 1);
    stage_not_ready(stage, "j-a-0"); /* running, not ready */
    stage_check_order("pods", stage->created, "j-a-0");
    stage_pod(stage, "j-a-0", POD_RUNNING);
    stage_check_order("pods", stage->created, "j-a-0 j-b-0");
    stage_pod(stage, "j-b-0", POD_RUNNING);
    stage_check_order("pods", stage->created, "j-a-0 j-b-0 j-c-0 j-c-1");
    stage_pod(stage, "j-a-0", POD_FAILED);
    assert_int_equal(stage_count(stage, &kind_pod), 4);
    stage_pods(stage, POD_RUNNING);
    check_phase(stage, "j", "Running");
    stage_free(stage);
}

struct needs_case {
    const char *name, *depends, *created;
};

/* covers: job.md DEP-01 DEP-05 DEP-06 DEP-07 DEP-14 */
static void any_or_all_of_several_tasks(void **unused)
{
    static const struct needs_case cases[] = {
        {"any of two", "{name: [a, b], iteration: any}", "j-a-0 j-b-0 j-c-0"},
        {"IterationAny", "{name: [a, b], iteration: IterationAny}", "j-a-0 j-b-0 j-c-0"},
        {"all of two", "{name: [a, b], iteration: all}", "j-a-0 j-b-0"},
        {"absent", "{name: [a, b]}", "j-a-0 j-b-0"},
        {"any of one", "{name: [b], iteration: any}", "j-a-0 j-b-0"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct stage *stage = stage_new(&(struct stage_options){0});
        scoped_str spec = mem_printf("tasks: [{name: a, replicas: 1, " TEMPLATE
                                     "}, {name: b, replicas: 1, " TEMPLATE
                                     "},\n{name: c, replicas: 1, dependsOn: %s, " TEMPLATE "}]",
                                     cases[i].depends);

        apply_job(stage, spec);
        stage_pod(stage, "j-a-0", POD_SUCCEEDED);
        stage_check_order(cases[i].name, stage->created, cases[i].created);
        stage_free(stage);
    }
}

/* covers: job.md DEP-08 DEP-09 */
static void readiness_counts_up_to_the_minimum(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    apply_job(stage, "tasks: [{name: a, replicas: 3, minAvailable: 1, " TEMPLATE
                     "}, {name: z, replicas: 1, minAvailable: 0, " TEMPLATE "},\n"
                     "{name: b, replicas: 1, dependsOn: {name: [a]}, " TEMPLATE
                     "}, {name: c, replicas: 1, dependsOn: {name: [z]}, " TEMPLATE "}]");
    assert_non_null(stage_get(stage, &kind_pod, "j-c-0"));
    assert_null(stage_get(stage, &kind_pod, "j-b-0"));
    stage_pod(stage, "j-a-1", POD_RUNNING);
    assert_non_null(stage_get(stage, &kind_pod, "j-b-0"));
    stage_free(stage);
}

static void resize(struct stage *stage, int replicas)
{
    scoped_str patch = mem_printf("{\"spec\":{\"minAvailable\":%d,\"tasks\":[{\"name\":\"t\","
                                  "\"replicas\":%d,\"minAvailable\":%d,"
                                  "\"maxRetry\":3,\"template\":{\"spec\":{\"restartPolicy\":"
                                  "\"Never\",\"containers\":[{\"name\":\"main\","
                                  "\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}",
                                  replicas, replicas, replicas);

    stage_patch(stage, &kind_job, "j", patch);
}

/* covers: job.md SCL-01 SCL-02 SCL-04 SCL-05 PG-05 */
static void a_job_is_scaled_up_and_down(void **unused)
{
    struct stage *stage = running_pods();
    scoped_str group = NULL;
    scoped(json) json_t *hosts = NULL;

    stage_job_simple(
        stage, "j", "t*5",
        "minAvailable: 1;plugins: {svc: []};policies: [{event: PodEvicted, action: RestartJob}]");
    check_phase(stage, "j", "Running");
    stage->deleted[0] = '\0';
    resize(stage, 2);
    stage_advance(stage, 500);
    stage_check_order("pods", stage->deleted, "j-t-4 j-t-3 j-t-2");
    assert_int_equal(stage_count(stage, &kind_pod), 2);
    assert_int_equal(stage_job(stage, "j")->retry_count, 0);
    assert_int_equal(stage_job(stage, "j")->min_available, 2);
    group = mem_printf("j-%s", object_uid(stage_get(stage, &kind_job, "j")));
    assert_int_equal(podgroup_spec_of(stage_get(stage, &kind_pod_group, group))->min_member, 2);
    hosts = object_body_json(stage_get(stage, &kind_config_map, "j-svc"));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(hosts, "data"), "t.host")),
        "j-t-0.j\nj-t-1.j");
    check_phase(stage, "j", "Running");
    stage_free(stage);
}

/* covers: job.md SCL-03 */
static void to_zero_and_back(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "j", "t*2", "");
    resize(stage, 0);
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_count(stage, &kind_pod), 0);
    resize(stage, 2);
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_job(stage, "j")->running, 2);
    stage_free(stage);
}

/* covers: job.md SCL-06 SCL-09 */
static void
growing_beyond_what_runs_is_pending_again_and_a_finished_job_grows_no_more(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){0});

    stage_job_simple(stage, "j", "t*2", "");
    stage_pods(stage, POD_RUNNING);
    resize(stage, 4);
    check_phase(stage, "j", "Pending");
    stage_pods(stage, POD_SUCCEEDED);
    check_phase(stage, "j", "Completed");
    resize(stage, 6);
    assert_int_equal(stage_count(stage, &kind_pod), 4);
    check_phase(stage, "j", "Completed");
    stage_free(stage);
}

/* covers: job.md PG-18 PG-19 */
static void a_podgroup_deleted_by_hand_is_made_again(void **unused)
{
    struct stage *stage = running_pods();
    scoped_str group = NULL;

    stage_job_simple(stage, "j", "t*1", "");
    group = mem_printf("j-%s", object_uid(stage_get(stage, &kind_job, "j")));
    stage_delete(stage, &kind_pod_group, group);
    assert_non_null(stage_get(stage, &kind_pod_group, group));
    check_phase(stage, "j", "Running");
    assert_int_equal(stage_count(stage, &kind_pod), 1);
    stage_free(stage);
}

static void make_open_queue(struct stage *stage)
{
    static const char open[] = "{\"state\":\"Open\"}";

    stage_apply(stage, "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: "
                       "q}, spec: {weight: 1}}");
    cluster_update_status(stage->backend, NULL, stage_get(stage, &kind_queue, "q"),
                          blob_new(open, sizeof open - 1));
    stage_settle(stage);
}

/* covers: see 9.2 */
static void a_missing_queue_is_waited_for(void **unused)
{
    struct stage *stage = running_pods();

    make_open_queue(stage);
    stage_stop_controller(stage);
    stage_job_simple(stage, "j", "t*1", "queue: q");
    stage_delete(stage, &kind_queue, "q");
    stage_start_controller(stage);
    stage_settle(stage);
    check_phase(stage, "j", "Pending");
    assert_string_equal(stage_job(stage, "j")->reason, "QueueNotFound");
    stage_advance(stage, 600000);
    check_phase(stage, "j", "Pending");
    make_open_queue(stage);
    check_phase(stage, "j", "Running");
    stage_free(stage);
}

/* covers: job.md WQ-02; see O-41 */
static void a_big_job_does_not_hold_up_small_ones(void **unused)
{
    struct stage *stage = running_pods();

    stage_job_simple(stage, "big", "t*2000", "");
    stage_job_simple(stage, "small", "t*1", "");
    check_phase(stage, "small", "Running");
    stage_settle(stage);
    check_phase(stage, "big", "Running");
    assert_int_equal(stage_job(stage, "big")->running, 2000);
    stage_delete(stage, &kind_job, "big");
    stage_free(stage);
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
