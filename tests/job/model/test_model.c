/*
 * Tests the record of a job: slots, partitions, readiness, and counters that follow every pod.
 */
#include "tests/unit.h"

#include "api/types/kinds/job/job.h"
#include "job/model/model.h"
#include "job/model/names.h"
#include "job/objects/pod.h"
#include "tests/support/manifest.h"

struct record {
    struct job_spec_cache *cache;
    struct object *job;
    struct job_model model;
    int64_t revision;
};

static struct record record_new(const char *tasks)
{
    scoped_str yaml = mem_printf("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
                                 "metadata: {name: j, namespace: test, uid: u-1}\n"
                                 "spec: {tasks: [%s]}\n"
                                 "status: {state: {phase: Running}}\n",
                                 tasks);
    struct record record = {job_spec_cache_new(NULL), manifest_raw(yaml), {0}, 1};

    job_model_init(&record.model, record.job, job_compiled_spec_get(record.cache, record.job),
                   NULL);
    return record;
}

static void record_free(struct record *record)
{
    job_model_release(&record->model);
    job_spec_cache_free(record->cache);
    object_unref(record->job);
}

#define TASK(name, extra)                                                                          \
    "{name: " name ", " extra                                                                      \
    ", template: {spec: {containers: [{name: main, image: x, command: [run]}]}}}"

/* Returns a pod as the job controller would build it, in the given state. */
static struct object *pod_at(struct record *record, uint32_t task, int32_t index,
                             enum pod_phase phase, bool ready, bool deleting)
{
    struct container_status container = {.name = "main", .ready = ready};
    scoped(object) struct object *draft =
        job_pod_build(&record->model, (struct slot_id){task, index});
    struct meta meta = *draft->meta;
    struct object *pod;

    meta.uid = "p";
    if (deleting)
        meta.deleted_at_ms = 1;
    pod = object_new(
        &kind_pod, meta_new(&meta), blob_ref(draft->body),
        pod_status_blob(&(struct pod_status){.phase = phase, .containers = {&container, 1}}));
    pod->revision = ++record->revision;
    return pod;
}

static enum job_event put(struct record *record, const struct object *pod)
{
    struct pod_facts facts;
    struct slot_id at;

    assert_true(job_pod_facts(pod, &facts));
    assert_true(job_model_locate(&record->model, pod, &at));
    return job_model_set_pod(&record->model, at, pod, &facts);
}

static enum job_event put_new(struct record *record, uint32_t task, int32_t index,
                              enum pod_phase phase, bool ready, bool deleting)
{
    scoped(object) struct object *pod = pod_at(record, task, index, phase, ready, deleting);

    return put(record, pod);
}

static int pods_of(const struct record *record)
{
    int sum = 0;

    for (int c = SLOT_PENDING; c < SLOT_CLASS_N; c++)
        sum += record->model.totals[c];
    return sum;
}

/* covers: job.md POD-13 POD-15 POD-16 WQ-06 WQ-07 */
static void a_pod_is_in_the_record_once(void **unused)
{
    struct record record = record_new(TASK("t", "replicas: 2"));
    scoped(object) struct object *old = pod_at(&record, 0, 0, POD_PENDING, false, false);
    const struct slot_id first = {0, 0}, second = {0, 1};

    assert_int_equal(put(&record, old), EVENT_POD_PENDING);
    assert_int_equal(put(&record, old), EVENT_NONE); /* the same version again is no event */
    assert_int_equal(pods_of(&record), 1);
    assert_int_equal(put_new(&record, 0, 0, POD_RUNNING, true, false), EVENT_POD_RUNNING);
    assert_int_equal(record.model.totals[SLOT_RUNNING], 1);
    assert_int_equal(put(&record, old), EVENT_NONE); /* an older version is no event */
    assert_int_equal(record.model.totals[SLOT_RUNNING], 1);
    assert_int_equal(put_new(&record, 0, 1, POD_PENDING, false, false), EVENT_POD_PENDING);
    assert_int_equal(put_new(&record, 0, 1, POD_FAILED, false, false), EVENT_POD_FAILED);
    assert_int_equal(record.model.totals[SLOT_FAILED], 1);

    assert_int_equal(job_model_set_pod(&record.model, first, NULL, NULL), EVENT_POD_EVICTED);
    assert_int_equal(job_model_set_pod(&record.model, first, NULL, NULL),
                     EVENT_OUT_OF_SYNC); /* this pod is not known */
    assert_int_equal(job_model_set_pod(&record.model, second, NULL, NULL), EVENT_POD_EVICTED);
    assert_int_equal(pods_of(&record), 0);
    assert_int_equal(record.model.vacant, 2);
    record_free(&record);
}

/* covers: job.md POD-14 */
static void a_pod_on_its_way_out_is_in_the_record(void **unused)
{
    struct record record = record_new(TASK("t", "replicas: 2"));

    put_new(&record, 0, 0, POD_RUNNING, true, true); /* under deletion when it is first seen */
    put_new(&record, 0, 1, POD_RUNNING, true, false);
    put_new(&record, 0, 1, POD_RUNNING, true, true); /* under deletion later */
    assert_int_equal(record.model.totals[SLOT_TERMINATING], 2);
    assert_int_equal(pods_of(&record), 2);
    assert_int_equal(record.model.vacant, 0);
    record_free(&record);
}

struct place_case {
    const char *name, *annotation, *value, *pod_name;
};

/* covers: job.md WQ-08 */
static void a_pod_is_known_by_task_version_and_name(void **unused)
{
    static const struct place_case cases[] = {
        {"a pod of another task is unknown", LABEL_TASK_SPEC, "other", "j-t-0"},
        {"a pod without a task is unknown", LABEL_TASK_SPEC, NULL, "j-t-0"},
        {"a pod without a version is unknown", ANNOTATION_JOB_VERSION, NULL, "j-t-0"},
        {"a pod whose name has no index is unknown", NULL, NULL, "stranger"},
    };
    struct record record = record_new(TASK("t", "replicas: 2"));
    scoped(object) struct object *known = pod_at(&record, 0, 0, POD_PENDING, false, false);

    assert_int_equal(put(&record, known), EVENT_POD_PENDING);
    for (size_t i = 0; i < countof(cases); i++) {
        const struct place_case *c = &cases[i];
        struct kv annotations[32];
        struct meta meta = *known->meta;
        scoped(object) struct object *pod = NULL;
        struct pod_facts facts;
        struct slot_id at;

        meta.name = c->pod_name;
        meta.annotations = annotations;
        meta.n_annotations = 0;
        for (uint32_t a = 0; a < known->meta->n_annotations; a++) {
            struct kv row = known->meta->annotations[a];

            if (c->annotation && strcmp(row.key, c->annotation) == 0)
                row.value = c->value;
            if (row.value)
                annotations[meta.n_annotations++] = row;
        }
        pod = object_new(&kind_pod, meta_new(&meta), blob_ref(known->body), NULL);
        check(c->name, !job_pod_facts(pod, &facts) || !job_model_locate(&record.model, pod, &at));
    }
    record_free(&record);
}

struct ready_case {
    const char *name;
    enum pod_phase phase;
    bool ready;
    bool want;
};

/* covers: job.md DEP-01 DEP-02 DEP-03 */
static void readiness_of_what_a_task_depends_on(void **unused)
{
    static const struct ready_case cases[] = {
        {"a running pod with ready containers is ready", POD_RUNNING, true, true},
        {"a running pod with a container that is not ready is not ready", POD_RUNNING, false,
         false},
        {"a succeeded pod is ready", POD_SUCCEEDED, false, true},
        {"a pending pod is not ready", POD_PENDING, false, false},
        {"a failed pod is not ready", POD_FAILED, false, false},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct record record = record_new(TASK("task1", "replicas: 1, minAvailable: 1") ", " TASK(
            "task2", "replicas: 1, dependsOn: {name: [task1]}"));

        check("before", !record.model.tasks[1].unlocked);
        put_new(&record, 0, 0, cases[i].phase, cases[i].ready, false);
        check_int(cases[i].name, job_model_task_ready(&record.model, 0), cases[i].want);
        check_int(cases[i].name, record.model.tasks[1].unlocked, cases[i].want);
        record_free(&record);
    }
}

static int partition_label(const struct object *pod)
{
    const char *text = meta_label(pod->meta, LABEL_PARTITION_ID);

    return text ? (int)strtol(text, NULL, 10) : -1;
}

/* Partitions are not stored beside the slots: index and size say which pod belongs to which, and
 * the label on the pod says the same. covers: job.md PRT-04 PRT-05 PRT-06 PRT-10 */
static void partitions_follow_from_the_slots(void **unused)
{
    struct record record = record_new(
        TASK("t", "replicas: 6, partitionPolicy: {totalPartitions: 3, partitionSize: 2}") ", " TASK(
            "plain", "replicas: 1"));
    struct object *again;

    for (int32_t i = 2; i < 5; i++) { /* two pods of partition 1, one of partition 2 */
        scoped(object) struct object *pod = pod_at(&record, 0, i, POD_RUNNING, true, false);

        put(&record, pod);
        check_int("label", partition_label(pod), i / 2);
        check_int("label", partition_label(pod), job_partition_of(i, 2));
    }
    assert_int_equal(record.model.tasks[0].by_class[SLOT_RUNNING], 3);
    put_new(&record, 1, 0, POD_RUNNING, true, false);
    assert_int_equal(partition_label(record.model.tasks[1].slots[0].pod), -1);

    /* The last pod of partition 2 goes. Its slots are vacant again, and nothing else remembers
     * it. */
    job_model_set_pod(&record.model, (struct slot_id){0, 4}, NULL, NULL);
    assert_int_equal(record.model.tasks[0].vacant, 4);
    /* The Job object changes. The slots stay as they are. */
    again = object_with_meta(record.job, meta_ref(record.job->meta));
    job_model_set_spec(&record.model, again, job_compiled_spec_get(record.cache, again));
    assert_int_equal(record.model.tasks[0].by_class[SLOT_RUNNING], 2);
    assert_int_equal(record.model.tasks[0].vacant, 4);
    object_unref(again);
    record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_is_in_the_record_once),
        cmocka_unit_test(a_pod_on_its_way_out_is_in_the_record),
        cmocka_unit_test(a_pod_is_known_by_task_version_and_name),
        cmocka_unit_test(readiness_of_what_a_task_depends_on),
        cmocka_unit_test(partitions_follow_from_the_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
