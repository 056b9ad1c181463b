/*
 * Admission of JobTemplates, which obey the rules of Jobs.
 * covers: jobflow.md 36 37 38 39 40 41
 */
#include "api/types/kinds/job/job.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define POD                 "template: {spec: {restartPolicy: Never, containers: [{name: c, command: [run]}]}}"
#define TASK(name, members) "{name: " name ", " members ", " POD "}"
#define ONE                 TASK("t", "replicas: 2")
#define NAMED(name, members)                                                                       \
    "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: " name              \
    ", namespace: ns}\nspec: {" members "}\n"
#define TEMPLATE(members) NAMED("jt", members)
#define POLICIES(list)    TEMPLATE("tasks: [" ONE "], policies: [" list "]")
#define VOLUMES(list)     TEMPLATE("tasks: [" ONE "], volumes: [" list "]")

/* clang-format off */
static const struct verdict_case cases[] = {
    {"a valid template",           TEMPLATE("tasks: [" ONE "]")},
    {"tasks without names",        TEMPLATE("tasks: [{replicas: 1, " POD "}, {replicas: 1, " POD "}]")},
    {"36: two tasks of one name",  TEMPLATE("tasks: [" ONE "," ONE "]"), "spec.tasks[1].name", "duplicated task name t"},
    {"37: minAvailable too high",  TEMPLATE("minAvailable: 3, tasks: [" ONE "]"), "spec.minAvailable",
                                   "job 'minAvailable' should not be greater than total replicas in tasks"},
    {"38: no tasks",               TEMPLATE("tasks: []"), "spec.tasks", "No task specified"},
    {"39: action CompletedJob",    POLICIES("{event: PodFailed, action: CompletedJob}"), "spec.policies[0].action", "invalid policy action"},
    {"40: event and exitCode",     POLICIES("{event: PodFailed, exitCode: 1, action: AbortJob}"), "spec.policies[0]", "must not specify event and exitCode simultaneously"},
    {"40: neither",                POLICIES("{action: AbortJob}"), "spec.policies[0]", "either event and exitCode should be specified"},
    {"40: exitCode 0",             POLICIES("{exitCode: 0, action: AbortJob}"), "spec.policies[0].exitCode", "0 is not a valid error code"},
    {"40: exit code twice",        POLICIES("{exitCode: 1, action: AbortJob}, {exitCode: 1, action: AbortJob}"), "spec.policies[1].exitCode", "duplicate exitCode 1"},
    {"40: * with another event",   POLICIES("{events: [\"*\", PodFailed], action: AbortJob}"), "spec.policies[0]", "if there's * here, no other policy should be here"},
    {"40: mountPath empty",        VOLUMES("{mountPath: \"\", volumeClaimName: a}"), "spec.volumes[0].mountPath", "at least 1 chars"},
    {"40: mountPath twice",        VOLUMES("{mountPath: /a, volumeClaimName: a}, {mountPath: /a, volumeClaimName: b}"), "spec.volumes[1].mountPath", "duplicated mountPath: /a"},
    {"41: maxRetry -1",            TEMPLATE("maxRetry: -1, tasks: [" ONE "]"), "spec.maxRetry", "greater than or equal to 0"},
    {"41: ttl -1",                 TEMPLATE("ttlSecondsAfterFinished: -1, tasks: [" ONE "]"), "spec.ttlSecondsAfterFinished", "greater than or equal to 0"},
    {"41: replicas -1",            TEMPLATE("tasks: [" TASK("t", "replicas: -1") "]"), "spec.tasks[0].replicas", "greater than or equal to 0"},
    {"a volume of nothing",        VOLUMES("{mountPath: /a}"), "spec.volumes[0]", "either VolumeClaim or VolumeClaimName"},
    {"a container of no program",  TEMPLATE("tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}]"),
                                   "spec.tasks[0].template.spec.containers[0].command", "neither command nor args"},
    {"partitions by their size",   TEMPLATE("tasks: [" TASK("t", "replicas: 4, partitionPolicy: {partitionSize: 2}") "]")},
    {"a queue may come later",     TEMPLATE("queue: later, tasks: [" ONE "]")},
    {"a reference in place of a number", TEMPLATE("tasks: [" TASK("t", "replicas: $(params.n)") "]"), "spec.tasks[0].replicas",
                                   "must be of type integer: \"string\"; a reference may stand here only in the patch of a step, and alone"},
    {"a reference among choices",  TEMPLATE("tasks: [{name: t, replicas: 1, template: {spec: {restartPolicy: $(params.p), containers: [{name: c, command: [run]}]}}}]"),
                                   "spec.tasks[0].template.spec.restartPolicy", "; a reference may stand here only in the patch of a step"},
    {"a reference as a queue",     TEMPLATE("queue: $(params.q), tasks: [" ONE "]"), "spec.queue", "; a reference may stand here only in the patch of a step"},
    {"a reference in a name",      TEMPLATE("tasks: [" TASK("t$(params.n)", "replicas: 1") "]"), "spec.tasks[0].name", "; a reference may stand here only in the patch of a step"},
    {"a reference as an argument", TEMPLATE("tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c, command: [run, $(params.n)]}]}}}]")},
    {"its parts not under spec",   "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: jt, namespace: ns}\nspec: {jobSpec: {}}\n",
                                   "spec.jobSpec", "unknown field"},
};
/* clang-format on */

static void templates_are_accepted_and_refused(void **state)
{
    check_verdicts(cases, countof(cases));
}

/* With --jobflow-compat=upstream, templates are not checked. */
static void upstream_compatibility_checks_no_template(void **state)
{
    struct admission_fixture fixture;
    static const struct verdict_case twice = {"two tasks of one name",
                                              TEMPLATE("tasks: [" ONE "," ONE "]")};

    fixture_init(&fixture);
    fixture.adm.upstream_compat = true;
    check_verdict(&fixture, &twice, NULL);
    fixture_release(&fixture);
}

static void rules_that_may_hold_later_are_warnings(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *object =
        fixture_admit(&fixture,
                      NAMED("a2345678901234567890123456789012345678901234567890123456789012",
                            "queue: later, tasks: [" ONE "]"),
                      NULL);

    assert_non_null(object);
    check("queue", has_finding(&fixture.warnings, "spec.queue", "\"later\" does not exist"));
    check("pod name", has_finding(&fixture.warnings, "metadata.name", "(66 characters)"));
    fixture_release(&fixture);
}

static void the_stored_template_is_what_was_written(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *object =
        fixture_admit(&fixture, TEMPLATE("tasks: [{replicas: 2, " POD "}]"), NULL);

    check_str("body", object ? object->body->text : NULL,
              "{\"spec\":{\"tasks\":[{\"replicas\":2,\"template\":{\"spec\":{\"restartPolicy\":"
              "\"Never\",\"containers\":[{\"name\":"
              "\"c\",\"command\":[\"run\"]}]}}}],\"queue\":\"default\",\"maxRetry\":3}}");
    check_int("replicas", job_spec_of(object)->tasks.items[0].replicas, 2);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_are_accepted_and_refused),
        cmocka_unit_test(upstream_compatibility_checks_no_template),
        cmocka_unit_test(rules_that_may_hold_later_are_warnings),
        cmocka_unit_test(the_stored_template_is_what_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
