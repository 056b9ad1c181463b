/*
 * Admission of updates of Jobs: the fields that may change.
 * covers: job.md ADM-56 ADM-57 ADM-58 ADM-59 ADM-60 ADM-61 ADM-62 ADM-63
 */
#include "api/types/kinds/job/job.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define POD(image)                                                                                 \
    "template: {spec: {restartPolicy: Never, containers: [{name: c, image: " image                 \
    ", command: [run], resources: {requests: {cpu: 1}}}]}}"
#define TASK(name, members) "{name: " name ", maxRetry: 3, " members ", " POD("i") "}"
#define JOB(members)                                                                               \
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j, namespace: ns}\n"       \
    "spec: {schedulerName: volcano, queue: default, maxRetry: 3, " members "}\n"
#define TWO                                                                                        \
    JOB("minAvailable: 2, tasks: [" TASK("a", "replicas: 2, minAvailable: 1") "," TASK(            \
        "b", "replicas: 1, minAvailable: 1") "]")
#define GROUPS(replicas)                                                                           \
    JOB("minAvailable: 1, tasks: [" TASK(                                                          \
        "a", "replicas: " replicas                                                                 \
             ", minAvailable: 1, partitionPolicy: {totalPartitions: 2, partitionSize: 2}") "]")
#define CLAIM(name)                                                                                \
    JOB("minAvailable: 1, volumes: [{mountPath: /d" name                                           \
        ", volumeClaim: {accessModes: [ReadWriteOnce]}}], tasks: [" TASK(                          \
            "a", "replicas: 1, minAvailable: 1") "]")

struct update_case {
    struct verdict_case verdict;
    const char *old;
};

/* clang-format off */
static const struct update_case cases[] = {
    {{"56: raised", JOB("minAvailable: 5, tasks: [" TASK("a", "replicas: 4, minAvailable: 1") "," TASK("b", "replicas: 1, minAvailable: 1") "]")}, TWO},
    {{"56: lowered", JOB("minAvailable: 1, tasks: [" TASK("a", "replicas: 1, minAvailable: 1") "," TASK("b", "replicas: 0, minAvailable: 0") "]")}, TWO},
    {{"57: below minAvailable", JOB("minAvailable: 2, tasks: [" TASK("a", "replicas: 1, minAvailable: 1") "," TASK("b", "replicas: 0, minAvailable: 0") "]"),
      "spec.minAvailable", "should not be greater than total replicas"}, TWO},
    {{"57: below the task's minimum", JOB("minAvailable: 1, tasks: [" TASK("a", "replicas: 0, minAvailable: 1") "," TASK("b", "replicas: 1, minAvailable: 1") "]"),
      "spec.tasks[0].minAvailable", "greater than 'replicas'"}, TWO},
    {{"58: task added", JOB("minAvailable: 2, tasks: [" TASK("a", "replicas: 2, minAvailable: 1") "," TASK("b", "replicas: 1, minAvailable: 1") "," TASK("c", "replicas: 1, minAvailable: 1") "]"),
      "spec.tasks", "may not add or remove tasks"}, TWO},
    {{"58: task removed", JOB("minAvailable: 2, tasks: [" TASK("a", "replicas: 2, minAvailable: 1") "]"), "spec.tasks", "may not add or remove tasks"}, TWO},
    {{"58: task renamed", JOB("minAvailable: 2, tasks: [" TASK("a", "replicas: 2, minAvailable: 1") "," TASK("z", "replicas: 1, minAvailable: 1") "]"),
      "spec.tasks[1].name", "may not change fields other than"}, TWO},
    {{"60: priority class and task minimum", JOB("minAvailable: 2, priorityClassName: high, tasks: [" TASK("a", "replicas: 2, minAvailable: 2") "," TASK("b", "replicas: 1, minAvailable: 0") "]")}, TWO},
    {{"61: scaled to nothing", JOB("minAvailable: 0, tasks: [" TASK("a", "replicas: 0, minAvailable: 0") "," TASK("b", "replicas: 0, minAvailable: 0") "]")}, TWO},
    {{"62: generated claim name left out", CLAIM("")}, CLAIM(", volumeClaimName: j-pvc-0123456789ab")},
    {{"62: generated claim name kept", CLAIM(", volumeClaimName: j-pvc-0123456789ab")}, CLAIM(", volumeClaimName: j-pvc-0123456789ab")},
    {{"63: a partitioned task", GROUPS("6"), "spec.tasks[0].replicas", "'partitionSize' = 4"}, GROUPS("4")},
    {{"scaled by its author's own text, without defaults", JOB("minAvailable: 2, tasks: [" TASK("a", "replicas: 2, minAvailable: 1") ", {name: b, replicas: 3, "
      POD("i") "}]")}, TWO},
    {{"what means the same", JOB("minAvailable: 2, policies: [], plugins: {}, tasks: [" TASK("a", "replicas: 2, minAvailable: 1") ", {name: b, maxRetry: 3, replicas: 1, minAvailable: 1, "
      "template: {metadata: {}, spec: {restartPolicy: Never, containers: [{name: c, image: i, command: [run], resources: {requests: {cpu: 1000m}}}]}}}]")}, TWO},
};
/* clang-format on */

static struct object *stored(const char *yaml)
{
    scoped(json) json_t *doc = document(yaml);
    struct error_list errors = {0};
    struct object *object = object_from_json(doc, &errors);

    if (!object)
        print_findings(&errors);
    assert_non_null(object);
    return object;
}

static void updates_are_accepted_and_refused(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(object) struct object *old = stored(cases[i].old);

        check_verdict(&fixture, &cases[i].verdict, old);
    }
    fixture_release(&fixture);
}

/* Each case changes one member of a copy of a stored job. */
static void no_other_field_may_change(void **state)
{
    static const struct {
        const char *member, *json, *field;
    } changes[] = {
        {"queue", "\"other\"", "spec.queue"},
        {"maxRetry", "5", "spec.maxRetry"},
        {"minSuccess", "1", "spec.minSuccess"},
        {"ttlSecondsAfterFinished", "0", "spec.ttlSecondsAfterFinished"},
        {"schedulerName", "\"other\"", "spec.schedulerName"},
        {"plugins", "{\"svc\":[]}", "spec.plugins"},
        {"policies", "[{\"event\":\"PodFailed\",\"action\":\"AbortJob\"}]", "spec.policies"},
        {"runningEstimate", "\"1h\"", "spec.runningEstimate"},
    };
    scoped(object) struct object *old = stored(TWO);
    struct admission_fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < countof(changes); i++) {
        scoped(json) json_t *doc = document(TWO);

        json_object_set_new(json_object_get(doc, "spec"), changes[i].member,
                            json_loads(changes[i].json, JSON_DECODE_ANY, NULL));
        error_list_release(&fixture.errors);
        assert_null(admission_admit(&fixture.adm, doc, old, UNKNOWN_ERROR, &fixture.errors));
        check(changes[i].member,
              has_finding(&fixture.errors, changes[i].field, "may not change fields other than"));
    }
    fixture_release(&fixture);
}

static void each_changed_field_is_reported(void **state)
{
    static const char *const fields[] = {"spec.queue", "spec.maxRetry", "spec.tasks[0].maxRetry",
                                         "spec.tasks[1].policies"};
    scoped(object) struct object *old = stored(TWO);
    scoped(json) json_t *doc = document(TWO);
    json_t *spec = json_object_get(doc, "spec"), *tasks = json_object_get(spec, "tasks");
    struct admission_fixture fixture;

    fixture_init(&fixture);
    json_object_set_new(spec, "queue", json_string("other"));
    json_object_set_new(spec, "maxRetry", json_integer(7));
    json_object_set_new(json_array_get(tasks, 0), "maxRetry", json_integer(7));
    json_object_set_new(json_array_get(tasks, 1), "policies",
                        json_pack("[{s:s, s:s}]", "event", "PodFailed", "action", "AbortJob"));
    assert_null(admission_admit(&fixture.adm, doc, old, UNKNOWN_ERROR, &fixture.errors));
    for (size_t i = 0; i < countof(fields); i++)
        check(fields[i],
              has_finding(&fixture.errors, fields[i], "may not change fields other than"));
    check_int("and nothing else", (int64_t)fixture.errors.count, countof(fields));
    fixture_release(&fixture);
}

static void an_image_may_not_change(void **state)
{
    scoped(object) struct object *old =
        stored(JOB("minAvailable: 1, tasks: [" TASK("a", "replicas: 1, minAvailable: 1") "]"));
    struct admission_fixture fixture;
    static const struct verdict_case change = {
        "image",
        JOB("minAvailable: 1, tasks: [{name: a, maxRetry: 3, replicas: 1, minAvailable: 1, " POD(
            "other") "}]"),
        "spec.tasks[0].template", "may not change fields other than"};

    fixture_init(&fixture);
    check_verdict(&fixture, &change, old);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_accepted_and_refused),
        cmocka_unit_test(no_other_field_may_change),
        cmocka_unit_test(each_changed_field_is_reported),
        cmocka_unit_test(an_image_may_not_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
