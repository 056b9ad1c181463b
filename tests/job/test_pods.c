/*
 * Pods, their order, their number, and what they wait for.
 */
#include "tests/unit.h"

#include "tests/support/job_world.h"

#include "api/types/pod.h"

static void check_phase(struct world *world, const char *job, const char *want)
{
    check_str(job, world_phase(world, job), want);
}

static struct world *running_pods(void)
{
    return world_new(&(struct world_options){.run_pods = true});
}

/* A job with tasks in YAML flow style. */
static void apply_job(struct world *world, const char *spec)
{
    scoped_str yaml = mem_printf("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job,\n"
                                 "metadata: {name: j, namespace: default}, spec: {%s}}",
                                 spec);

    world_apply(world, yaml);
}

#define TEMPLATE                                                                                   \
    "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, command: "        \
    "[run]}]}}"

/* covers: job.md POD-12 */
static void a_slot_is_refilled_when_its_pod_is_gone(void **unused)
{
    struct world *world =
        world_new(&(struct world_options){.run_pods = true, .slow_deletion = true});
    scoped_str before = NULL;

    world_job_simple(world, "j", "t*2", "minAvailable: 1");
    before = mem_strdup(object_uid(world_get(world, &kind_pod, "j-t-1")));
    world_delete(world, &kind_pod, "j-t-1");
    assert_int_equal(world_job(world, "j")->terminating, 1);
    assert_string_equal(object_uid(world_get(world, &kind_pod, "j-t-1")), before);
    world_let_go(world);
    assert_string_not_equal(object_uid(world_get(world, &kind_pod, "j-t-1")), before);
    assert_int_equal(world_job(world, "j")->terminating, 0);
    assert_int_equal(world_job(world, "j")->running, 2);
    world_free(world);
}

/* covers: job.md POD-19 O-42 */
static void a_name_taken_by_a_stranger_is_waited_for(void **unused)
{
    struct world *world = running_pods();

    world_apply(world, "{apiVersion: v1, kind: Pod, metadata: {name: j-t-0, namespace: default},\n"
                       "spec: {containers: [{name: main, image: x, command: [run]}]}}");
    world_job_simple(world, "j", "t*2", "");
    check_phase(world, "j", "Pending");
    assert_string_equal(world_job(world, "j")->reason, "PodNameConflict");
    assert_true(world_has_event(world, "FailedCreate"));
    world_delete(world, &kind_pod, "j-t-0");
    world_let_go(world);
    check_phase(world, "j", "Running");
    world_free(world);
}

/* covers: job.md WQ-05 */
static void a_job_made_again_under_its_name_gets_all_its_pods(void **unused)
{
    struct world *world =
        world_new(&(struct world_options){.run_pods = true, .slow_deletion = true});

    for (int i = 0; i < 5; i++) {
        world_job_simple(world, "j", "t*2", "");
        world_let_go(world); /* of the job before */
        world_advance(world, 200);
        check_phase(world, "j", "Running");
        world_delete(world, &kind_job, "j");
    }
    world_free(world);
}

/* covers: job.md POD-25 */
static void a_missing_claim_is_waited_for(void **unused)
{
    struct world *world = running_pods();

    apply_job(world, "volumes: [{mountPath: /data, volumeClaimName: c}], tasks: [{name: t, "
                     "replicas: 1, " TEMPLATE "}]");
    world_advance(world, 600000);
    check_phase(world, "j", "Pending");
    assert_string_equal(world_job(world, "j")->reason, "PVCNotFound");
    world_apply(
        world,
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default},\n"
        "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    check_phase(world, "j", "Running");
    world_free(world);
}

/* covers: job.md POD-26 */
static void a_claim_is_made_once_and_named_in_the_spec(void **unused)
{
    struct world *world = running_pods();
    const struct job_spec *spec;
    const struct job_status *status;

    apply_job(world,
              "volumes: [{mountPath: /data, volumeClaim: {accessModes: [ReadWriteOnce],\n"
              "resources: {requests: {storage: 1Gi}}}}], tasks: [{name: t, replicas: 1, " TEMPLATE
              "}]");
    check_phase(world, "j", "Running");
    spec = job_spec_of(world_get(world, &kind_job, "j"));
    assert_int_equal(strncmp(spec->volumes.items[0].claim_name, "j-pvc-", 6), 0);
    assert_non_null(world_get(world, &kind_pvc, spec->volumes.items[0].claim_name));
    assert_int_equal(world_count(world, &kind_pvc), 1);
    status = world_job(world, "j");
    assert_int_equal(status->controlled.count, 1);
    assert_string_equal(status->controlled.items[0].value, spec->volumes.items[0].claim_name);
    world_restart(world);
    world_settle(world);
    assert_int_equal(world_count(world, &kind_pvc), 1);
    world_free(world);
}

/* covers: job.md ADM-38 O-11 */
static void volumes_may_fall_back_to_empty_directories(void **unused)
{
    struct world *world = running_pods();
    scoped(json) json_t *body = NULL;

    world_apply(world, "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, "
                       "namespace: default,\n"
                       "annotations: {volcano.sh/volume-fallback: emptyDir}}, spec: {\n"
                       "volumes: [{mountPath: /a}, {mountPath: /b, volumeClaimName: missing}],\n"
                       "tasks: [{name: t, replicas: 1, " TEMPLATE "}]}}");
    check_phase(world, "j", "Running");
    body = object_body_json(world_get(world, &kind_pod, "j-t-0"));
    assert_int_equal(json_array_size(json_object_get(json_object_get(body, "spec"), "volumes")), 2);
    assert_non_null(json_object_get(
        json_array_get(json_object_get(json_object_get(body, "spec"), "volumes"), 1), "emptyDir"));
    assert_int_equal(world_job(world, "j")->controlled.count, 2);
    world_free(world);
}

/* covers: job.md DEP-04 DEP-10 DEP-11 DEP-13 O-57 O-58 */
static void a_chain_of_tasks_starts_one_after_the_other(void **unused)
{
    struct world *world = world_new(&(struct world_options){0});
    scoped_str group = NULL;

    apply_job(world, "tasks: [{name: c, replicas: 2, dependsOn: {name: [b]}, " TEMPLATE "},\n"
                     "{name: b, replicas: 1, dependsOn: {name: [a]}, " TEMPLATE
                     "}, {name: a, replicas: 1, " TEMPLATE "}]");
    assert_string_equal(world->created, "j-a-0");
    group = mem_printf("j-%s", object_uid(world_get(world, &kind_job, "j")));
    assert_int_equal(podgroup_spec_of(world_get(world, &kind_pod_group, group))->min_member, 1);
    world_not_ready(world, "j-a-0"); /* running, not ready */
    assert_string_equal(world->created, "j-a-0");
    world_pod(world, "j-a-0", POD_RUNNING);
    assert_string_equal(world->created, "j-a-0 j-b-0");
    world_pod(world, "j-b-0", POD_RUNNING);
    assert_string_equal(world->created, "j-a-0 j-b-0 j-c-0 j-c-1");
    world_pod(world, "j-a-0", POD_FAILED);
    assert_int_equal(world_count(world, &kind_pod), 4);
    world_pods(world, POD_RUNNING);
    check_phase(world, "j", "Running");
    world_free(world);
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
        struct world *world = world_new(&(struct world_options){0});
        scoped_str spec = mem_printf("tasks: [{name: a, replicas: 1, " TEMPLATE
                                     "}, {name: b, replicas: 1, " TEMPLATE
                                     "},\n{name: c, replicas: 1, dependsOn: %s, " TEMPLATE "}]",
                                     cases[i].depends);

        apply_job(world, spec);
        world_pod(world, "j-a-0", POD_SUCCEEDED);
        check_str(cases[i].name, world->created, cases[i].created);
        world_free(world);
    }
}

/* covers: job.md DEP-08 DEP-09 */
static void readiness_counts_up_to_the_minimum(void **unused)
{
    struct world *world = world_new(&(struct world_options){0});

    apply_job(world, "tasks: [{name: a, replicas: 3, minAvailable: 1, " TEMPLATE
                     "}, {name: z, replicas: 1, minAvailable: 0, " TEMPLATE "},\n"
                     "{name: b, replicas: 1, dependsOn: {name: [a]}, " TEMPLATE
                     "}, {name: c, replicas: 1, dependsOn: {name: [z]}, " TEMPLATE "}]");
    assert_non_null(world_get(world, &kind_pod, "j-c-0"));
    assert_null(world_get(world, &kind_pod, "j-b-0"));
    world_pod(world, "j-a-1", POD_RUNNING);
    assert_non_null(world_get(world, &kind_pod, "j-b-0"));
    world_free(world);
}

static void resize(struct world *world, int replicas)
{
    scoped_str patch = mem_printf("{\"spec\":{\"minAvailable\":%d,\"tasks\":[{\"name\":\"t\","
                                  "\"replicas\":%d,\"minAvailable\":%d,"
                                  "\"maxRetry\":3,\"template\":{\"spec\":{\"restartPolicy\":"
                                  "\"Never\",\"containers\":[{\"name\":\"main\","
                                  "\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}",
                                  replicas, replicas, replicas);

    world_patch(world, &kind_job, "j", patch);
}

/* covers: job.md SCL-01 SCL-02 SCL-04 SCL-05 PG-05 */
static void a_job_is_scaled_up_and_down(void **unused)
{
    struct world *world = running_pods();
    scoped_str group = NULL;
    scoped(json) json_t *hosts = NULL;

    world_job_simple(
        world, "j", "t*5",
        "minAvailable: 1;plugins: {svc: []};policies: [{event: PodEvicted, action: RestartJob}]");
    check_phase(world, "j", "Running");
    world->deleted[0] = '\0';
    resize(world, 2);
    assert_string_equal(world->deleted, "j-t-4 j-t-3 j-t-2");
    assert_int_equal(world_count(world, &kind_pod), 2);
    assert_int_equal(world_job(world, "j")->retry_count, 0);
    assert_int_equal(world_job(world, "j")->min_available, 2);
    group = mem_printf("j-%s", object_uid(world_get(world, &kind_job, "j")));
    assert_int_equal(podgroup_spec_of(world_get(world, &kind_pod_group, group))->min_member, 2);
    hosts = object_body_json(world_get(world, &kind_config_map, "j-svc"));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(hosts, "data"), "t.host")),
        "j-t-0.j\nj-t-1.j");
    check_phase(world, "j", "Running");
    world_free(world);
}

/* covers: job.md SCL-03 */
static void to_zero_and_back(void **unused)
{
    struct world *world = running_pods();

    world_job_simple(world, "j", "t*2", "");
    resize(world, 0);
    check_phase(world, "j", "Running");
    assert_int_equal(world_count(world, &kind_pod), 0);
    resize(world, 2);
    check_phase(world, "j", "Running");
    assert_int_equal(world_job(world, "j")->running, 2);
    world_free(world);
}

/* covers: job.md SCL-06 SCL-09 */
static void
growing_beyond_what_runs_is_pending_again_and_a_finished_job_grows_no_more(void **unused)
{
    struct world *world = world_new(&(struct world_options){0});

    world_job_simple(world, "j", "t*2", "");
    world_pods(world, POD_RUNNING);
    resize(world, 4);
    check_phase(world, "j", "Pending");
    world_pods(world, POD_SUCCEEDED);
    check_phase(world, "j", "Completed");
    resize(world, 6);
    assert_int_equal(world_count(world, &kind_pod), 4);
    check_phase(world, "j", "Completed");
    world_free(world);
}

/* covers: job.md PG-18 PG-19 */
static void a_podgroup_deleted_by_hand_is_made_again(void **unused)
{
    struct world *world = running_pods();
    scoped_str group = NULL;

    world_job_simple(world, "j", "t*1", "");
    group = mem_printf("j-%s", object_uid(world_get(world, &kind_job, "j")));
    world_delete(world, &kind_pod_group, group);
    assert_non_null(world_get(world, &kind_pod_group, group));
    check_phase(world, "j", "Running");
    assert_int_equal(world_count(world, &kind_pod), 1);
    world_free(world);
}

static void make_open_queue(struct world *world)
{
    static const char open[] = "{\"state\":\"Open\"}";

    world_apply(world, "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: "
                       "q}, spec: {weight: 1}}");
    cluster_update_status(world->backend, NULL, world_get(world, &kind_queue, "q"),
                          blob_new(open, sizeof open - 1));
    world_settle(world);
}

/* covers: job.md 9.2 */
static void a_missing_queue_is_waited_for(void **unused)
{
    struct world *world = running_pods();

    make_open_queue(world);
    world_stop_controller(world);
    world_job_simple(world, "j", "t*1", "queue: q");
    world_delete(world, &kind_queue, "q");
    world_start_controller(world);
    world_settle(world);
    check_phase(world, "j", "Pending");
    assert_string_equal(world_job(world, "j")->reason, "QueueNotFound");
    world_advance(world, 600000);
    check_phase(world, "j", "Pending");
    make_open_queue(world);
    check_phase(world, "j", "Running");
    world_free(world);
}

/* covers: job.md WQ-02 O-41 */
static void a_big_job_does_not_hold_up_small_ones(void **unused)
{
    struct world *world = running_pods();

    world_job_simple(world, "big", "t*2000", "");
    world_job_simple(world, "small", "t*1", "");
    check_phase(world, "small", "Running");
    world_settle(world);
    check_phase(world, "big", "Running");
    assert_int_equal(world_job(world, "big")->running, 2000);
    world_delete(world, &kind_job, "big");
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_is_refilled_when_its_pod_is_gone),
        cmocka_unit_test(a_name_taken_by_a_stranger_is_waited_for),
        cmocka_unit_test(a_job_made_again_under_its_name_gets_all_its_pods),
        cmocka_unit_test(a_missing_claim_is_waited_for),
        cmocka_unit_test(a_claim_is_made_once_and_named_in_the_spec),
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
    return cmocka_run_group_tests(tests, NULL, NULL);
}
