/*
 * Tests how the job controller builds pods.
 */
#include "tests/unit.h"

#include "api/types/kinds/job/job.h"
#include "job/model/names.h"
#include "job/objects/pod.h"
#include "tests/support/manifest.h"

struct bench {
    struct job_spec_cache *cache;
    struct object *job;
    struct job_model model;
};

static struct bench set_up_with(struct object *job, const struct job_schedulers *schedulers)
{
    struct bench bench = {job_spec_cache_new(schedulers), job};

    job_model_init(&bench.model, job, job_compiled_spec_get(bench.cache, job), NULL);
    return bench;
}

static struct bench set_up(struct object *job)
{
    return set_up_with(job, NULL);
}

static void tear_down(struct bench *bench)
{
    job_model_release(&bench->model);
    job_spec_cache_free(bench->cache);
    object_unref(bench->job);
}

static struct object *build(struct bench *bench, uint32_t task, int32_t index)
{
    return job_pod_build(&bench->model, (struct slot_id){task, index});
}

#define HEAD         "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
#define CONTAINERS   "containers: [{name: main, image: busybox, command: [\"true\"]}]"
#define PLAIN(extra) HEAD "metadata: {name: test-job, namespace: test, uid: u-1" extra "}\n"

static const char simple_job[] =
    PLAIN("") "spec:\n"
              "  queue: default\n"
              "  tasks:\n"
              "  - name: test-task\n"
              "    replicas: 3\n"
              "    template: {metadata: {labels: {app: x, volcano.sh/job-name: wrong}, "
              "annotations: {note: hi}},\n"
              "      spec: {restartPolicy: Never, " CONTAINERS "}}\n"
              "status: {version: 1, retryCount: 2, state: {phase: Running}}\n";

/* covers: job.md POD-01; see O-05 */
static void names_labels_and_annotations(void **unused)
{
    static const struct kv labels[] = {
        {"app", "x"},
        {"volcano.sh/task-index", "0"},
        {"volcano.sh/job-name", "test-job"},
        {"volcano.sh/task-spec", "test-task"},
        {"volcano.sh/job-namespace", "test"},
        {"volcano.sh/queue-name", "default"},
        {"volcano.sh/partition-id", NULL},
    };
    static const struct kv annotations[] = {
        {"note", "hi"},
        {"volcano.sh/task-index", "0"},
        {"volcano.sh/task-spec", "test-task"},
        {"scheduling.k8s.io/group-name", "test-job-u-1"},
        {"scheduling.volcano.sh/group-name", "test-job-u-1"},
        {"volcano.sh/job-name", "test-job"},
        {"volcano.sh/queue-name", "default"},
        {"volcano.sh/job-version", "1"},
        {"volcano.sh/template-uid", "test-job-test-task"},
        {"volcano.sh/pod-template-key", "test-job-test-task"},
        {"volcano.sh/job-retry-count", "2"},
        {"volcano.sh/numa-topology-policy", NULL},
    };
    struct bench bench = set_up(manifest_raw(simple_job));
    scoped(object) struct object *pod = build(&bench, 0, 0);
    const struct owner_ref *owner = meta_controller(pod->meta);

    assert_string_equal(object_name(pod), "test-job-test-task-0");
    assert_string_equal(object_namespace(pod), "test");
    assert_string_equal(owner->uid, "u-1");
    assert_string_equal(owner->kind, "Job");
    assert_true(owner->block_owner_deletion);
    assert_int_equal(pod->meta->n_labels, 6);
    for (size_t i = 0; i < countof(labels); i++)
        check_str(labels[i].key, meta_label(pod->meta, labels[i].key), labels[i].value);
    for (size_t i = 0; i < countof(annotations); i++)
        check_str(annotations[i].key, meta_annotation(pod->meta, annotations[i].key),
                  annotations[i].value);
    tear_down(&bench);
}

static void equal_pods_share_their_body(void **unused)
{
    struct bench one = set_up(manifest_raw(simple_job));
    scoped(object) struct object *a = build(&one, 0, 0);
    scoped(object) struct object *b = build(&one, 0, 2);

    assert_ptr_equal(a->body, b->body);
    tear_down(&one);
}

static const char *text_in_spec(const struct object *pod, const char *key)
{
    static char text[64];
    scoped(json) json_t *body = object_body_json(pod);
    const char *value = json_string_value(json_object_get(json_object_get(body, "spec"), key));

    snprintf(text, sizeof text, "%s", value ? value : "");
    return text;
}

/* covers: job.md POD-02 POD-03 */
static void scheduler_and_priority_of_the_template_come_first(void **unused)
{
    struct bench bench = set_up(
        manifest_raw(PLAIN("") "spec:\n"
                               "  schedulerName: volcano\n"
                               "  priorityClassName: low\n"
                               "  tasks:\n"
                               "  - {name: a, replicas: 1, template: {spec: {" CONTAINERS "}}}\n"
                               "  - {name: b, replicas: 1, template: {spec: {schedulerName: own, "
                               "priorityClassName: high, " CONTAINERS "}}}\n"));
    scoped(object) struct object *a = build(&bench, 0, 0);
    scoped(object) struct object *b = build(&bench, 1, 0);

    assert_string_equal(text_in_spec(a, "schedulerName"), "volcano");
    assert_string_equal(text_in_spec(a, "priorityClassName"), "low");
    assert_string_equal(text_in_spec(b, "schedulerName"), "own");
    assert_string_equal(text_in_spec(b, "priorityClassName"), "high");
    tear_down(&bench);
}

/* see CLU-019, which covers the events and a real server */
static void a_scheduler_that_the_cluster_lacks_is_replaced(void **unused)
{
    static const struct job_schedulers kube = {"default-scheduler", "volcano"};
    static const struct {
        const char *job, *template, *pod;
        bool lacks;
    } rows[] = {
        {"", "", "default-scheduler", false},
        {"schedulerName: volcano, ", "", "default-scheduler", true},
        {"", "schedulerName: volcano, ", "default-scheduler", true},
        {"schedulerName: own, ", "schedulerName: volcano, ", "default-scheduler", true},
        {"schedulerName: own, ", "", "own", false},
        {"schedulerName: volcano, ", "schedulerName: own, ", "own", true},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str yaml =
            mem_printf(PLAIN("") "spec: {%stasks: [{name: a, replicas: 1, template: {spec: "
                                 "{%s" CONTAINERS "}}}]}\n",
                       rows[i].job, rows[i].template);
        struct bench bench = set_up_with(manifest_raw(yaml), &kube);
        scoped(object) struct object *pod = build(&bench, 0, 0);

        assert_string_equal(text_in_spec(pod, "schedulerName"), rows[i].pod);
        assert_int_equal(bench.model.compiled->lacking != NULL, rows[i].lacks);
        tear_down(&bench);
    }
}

struct volume_case {
    const char *name, *volumes;
    size_t pod_volumes, mounts;
};

/* covers: job.md POD-04 POD-05 POD-06; see O-54 */
static void a_claim_is_one_volume_and_each_path_a_mount(void **unused)
{
    static const struct volume_case cases[] = {
        {"two claims are two volumes and two mounts",
         "[{mountPath: /a, volumeClaimName: c1}, {mountPath: /b, volumeClaimName: c2}]", 2, 2},
        {"one claim twice at one path is one mount",
         "[{mountPath: /a, volumeClaimName: c1}, {mountPath: /a, volumeClaimName: c1}]", 1, 1},
        {"one claim at two paths is one volume and two mounts",
         "[{mountPath: /a, volumeClaimName: c1}, {mountPath: /b, volumeClaimName: c1}]", 1, 2},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str yaml = mem_printf(PLAIN("") "spec:\n  volumes: %s\n"
                                               "  tasks: [{name: t, replicas: 1, template: {spec: "
                                               "{initContainers: [{name: first}], "
                                               "containers: [{name: c1}, {name: c2}]}}}]\n",
                                     cases[i].volumes);
        struct bench bench = set_up(manifest_raw(yaml));
        scoped(object) struct object *pod = build(&bench, 0, 0);
        scoped(json) json_t *body = object_body_json(pod);
        json_t *spec = json_object_get(body, "spec"), *container;
        size_t c;

        check_int(cases[i].name, json_array_size(json_object_get(spec, "volumes")),
                  cases[i].pod_volumes);
        json_array_foreach(json_object_get(spec, "containers"), c, container)
            check_int(cases[i].name, json_array_size(json_object_get(container, "volumeMounts")),
                      cases[i].mounts);
        check_int(cases[i].name,
                  json_array_size(json_object_get(
                      json_array_get(json_object_get(spec, "initContainers"), 0), "volumeMounts")),
                  0);
        tear_down(&bench);
    }
}

/* covers: job.md POD-07 POD-08 POD-09 */
static void annotations_of_the_job_that_pods_inherit(void **unused)
{
    struct bench bench = set_up(
        manifest_raw(PLAIN(", labels: {volcano.sh/preemptable: \"true\"}, annotations: "
                           "{volcano.sh/preemptable: "
                           "\"false\", "
                           "volcano.sh/cooldown-time: 60s, volcano.sh/revocable-zone: rz1, "
                           "volcano.sh/jdb-min-available: \"1\", "
                           "volcano.sh/jdb-max-unavailable: \"2\", volcano.sh/job-forwarding: "
                           "\"true\"}") "spec:\n  tasks: [{name: t, replicas: 1, topologyPolicy: "
                                        "restricted, template: {spec: {" CONTAINERS "}}}]\n"));
    scoped(object) struct object *pod = build(&bench, 0, 0);
    static const struct kv want[] = {
        {"volcano.sh/preemptable", "false"},
        {"volcano.sh/cooldown-time", "60s"},
        {"volcano.sh/revocable-zone", "rz1"},
        {"volcano.sh/jdb-min-available", "1"},
        {"volcano.sh/jdb-max-unavailable", NULL},
        {"volcano.sh/job-forwarding", "true"},
        {"volcano.sh/numa-topology-policy", "restricted"},
    };

    for (size_t i = 0; i < countof(want); i++)
        check_str(want[i].key, meta_annotation(pod->meta, want[i].key), want[i].value);
    check_str("label", meta_label(pod->meta, "volcano.sh/preemptable"), "true");
    check_str("label", meta_label(pod->meta, "volcano.sh/job-forwarding"), "true");
    tear_down(&bench);
}

/* covers: job.md PRT-01 PRT-02 PRT-03 */
static void the_partition_of_an_index(void **unused)
{
    static const struct {
        int32_t index, size, want;
    } rows[] = {{0, 2, 0}, {1, 2, 0}, {2, 2, 1}, {3, 2, 1}, {10, 5, 2}, {0, 1, 0}, {5, 0, 0}};
    struct bench bench;
    struct object *pod;

    for (size_t i = 0; i < countof(rows); i++)
        assert_int_equal(job_partition_of(rows[i].index, rows[i].size), rows[i].want);
    bench =
        set_up(manifest_raw(PLAIN("") "spec:\n  tasks: [{name: t, replicas: 4, partitionPolicy: "
                                      "{totalPartitions: 2, partitionSize: 2}, "
                                      "template: {spec: {" CONTAINERS "}}}]\n"));
    pod = build(&bench, 0, 3);
    assert_string_equal(meta_label(pod->meta, "volcano.sh/partition-id"), "1");
    assert_string_equal(meta_label(pod->meta, "volcano.sh/task-partition-id"), "1");
    object_unref(pod);
    tear_down(&bench);
}

static void a_mark_is_added_once(void **unused)
{
    struct bench bench = set_up(manifest_raw(simple_job));
    scoped(object) struct object *pod = build(&bench, 0, 0);
    scoped(object) struct object *marked = job_pod_marked(pod);

    assert_string_equal(meta_annotation(marked->meta, ANNOTATION_OUT_OF_SYNC), "true");
    assert_ptr_equal(marked->body, pod->body);
    assert_null(job_pod_marked(marked));
    tear_down(&bench);
}

/* covers: see O-P06 O-P07 O-P08 */
static void plugins_add_variables_volumes_and_names(void **unused)
{
    struct bench bench = set_up(manifest_admitted(PLAIN(
        "") "spec:\n"
            "  plugins: {svc: [], env: []}\n"
            "  tasks: [{name: mpi-worker, replicas: 2, template: {spec: {restartPolicy: Never,\n"
            "    initContainers: [{name: first, command: [a]}],\n"
            "    containers: [{name: c, command: [a], env: [{name: OWN, value: x}],\n"
            "      volumeMounts: [{name: mine, mountPath: /data}]}], volumes: [{name: mine, "
            "emptyDir: {}}]}}}]\n"));
    scoped(object) struct object *pod = build(&bench, 0, 1);
    scoped(json) json_t *body = object_body_json(pod);
    json_t *spec = json_object_get(body, "spec");
    json_t *env = json_object_get(json_array_get(json_object_get(spec, "containers"), 0), "env");
    json_t *first = json_array_get(json_object_get(spec, "initContainers"), 0);
    static const char *const names[] = {"OWN", "VK_TASK_INDEX", "VC_TASK_INDEX",
                                        "VC_MPI_WORKER_HOSTS", "VC_MPI_WORKER_NUM"};

    assert_int_equal(json_array_size(env), countof(names));
    for (size_t i = 0; i < countof(names); i++)
        check_str("env", json_string_value(json_object_get(json_array_get(env, i), "name")),
                  names[i]);
    check_str("index", json_string_value(json_object_get(json_array_get(env, 1), "value")), "1");
    assert_int_equal(json_array_size(json_object_get(first, "env")), 4);
    assert_int_equal(json_array_size(json_object_get(first, "volumeMounts")), 1);
    assert_int_equal(json_array_size(json_object_get(spec, "volumes")), 2);
    check_str("hostname", json_string_value(json_object_get(spec, "hostname")),
              "test-job-mpi-worker-1");
    check_str("subdomain", json_string_value(json_object_get(spec, "subdomain")), "test-job");
    tear_down(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_labels_and_annotations),
        cmocka_unit_test(equal_pods_share_their_body),
        cmocka_unit_test(scheduler_and_priority_of_the_template_come_first),
        cmocka_unit_test(a_scheduler_that_the_cluster_lacks_is_replaced),
        cmocka_unit_test(a_claim_is_one_volume_and_each_path_a_mount),
        cmocka_unit_test(annotations_of_the_job_that_pods_inherit),
        cmocka_unit_test(the_partition_of_an_index),
        cmocka_unit_test(a_mark_is_added_once),
        cmocka_unit_test(plugins_add_variables_volumes_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
