/*
 * Warnings about Jobs that are valid but probably mistaken. Ref: spec/job.md O-13, O-52.
 */
#include "tests/api/types/kinds/admission_fixture.h"

#define TEMPLATE(restart)                                                                          \
    "template: {spec: {restartPolicy: " restart                                                    \
    ", containers: [{name: main, image: x, command: [run]}]}}"
#define TASK(name, more) "{name: " name ", replicas: 2, " more TEMPLATE("Never") "}"
#define JOB(spec)                                                                                  \
    "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: default}, " \
    "spec: {" spec "}}"

static const struct {
    const char *name, *yaml;
    const char *field; /* field of the expected warning; NULL: no warning at all */
    const char *text;
} cases[] = {
    {"nothing to say",
     JOB("minSuccess: 2, policies: [{event: PodFailed, action: RestartJob}], "
         "tasks: [" TASK("a", "") "]"),
     NULL, NULL},
    {"more successes than pods", JOB("minSuccess: 3, tasks: [" TASK("a", "") "]"),
     "spec.minSuccess", "there are 2 replicas in all tasks: the job can only fail"},
    {"no pods at all", JOB("tasks: [{name: a, replicas: 0, " TEMPLATE("Never") "}]"), "spec.tasks",
     "stays Running, without a pod, until it is scaled up"},
    {"an unknown iteration",
     JOB("tasks: [" TASK("a", "") ", " TASK("b", "dependsOn: {name: [a], iteration: some}, ") "]"),
     "spec.tasks[1].dependsOn.iteration", "\"some\" is neither \"any\" nor \"all\" and means all"},
    {"the other name of an iteration",
     JOB("tasks: [" TASK("a", "") ", " TASK("b", "") ", " TASK(
         "c", "dependsOn: {name: [a, b], iteration: iterationany}, ") "]"),
     NULL, NULL},
    {"a task that is not waited for",
     JOB("tasks: [" TASK("a", "minAvailable: 0, ") ", " TASK("b", "dependsOn: {name: [a]}, ") "]"),
     "spec.tasks[1].dependsOn.name[0]", "minAvailable of task a is 0"},
    {"an event of the job at a task",
     JOB("tasks: [" TASK("a", "policies: [{event: Unknown, action: RestartTask}], ") "]"),
     "spec.tasks[0].policies[0]", "move the policy to the job's policies"},
    {"a target that the event does not name",
     JOB("policies: [{events: [PodFailed, JobUpdated], action: RestartPod}], tasks: [" TASK(
         "a", "") "]"),
     "spec.policies[0]",
     "JobUpdated is an event of the whole job and names no pod that RestartPod"},
    {"partitions that are not there",
     JOB("policies: [{event: PodFailed, action: RestartPartition}], tasks: [" TASK("a", "") "]"),
     "spec.policies[0].action", "RestartPartition does nothing without a partitionPolicy"},
    {"partitions of another task",
     JOB("policies: [{event: PodFailed, action: RestartPartition}], tasks: [" TASK(
         "a", "") ", " TASK("b", "partitionPolicy: {totalPartitions: 2, partitionSize: 1}, ") "]"),
     NULL, NULL},
    {"restarts that cannot be",
     JOB("tasks: [" TASK("a", "policies: [{event: TaskFailed, action: RestartTask}], ") "]"),
     "spec.tasks[0].policies[0]", "restartPolicy Never allows none: use PodFailed"},
    {"an exit code that decides nothing",
     JOB("policies: [{exitCode: 3, action: RestartJob}], tasks: [{name: a, replicas: 1, " TEMPLATE(
         "OnFailure") "}]"),
     "spec.policies[0].exitCode", "set restartPolicy Never"},
    {"an exit code of one task of two",
     JOB("policies: [{exitCode: 3, action: RestartJob}], tasks: [" TASK(
         "b", "") ", {name: a, replicas: 1, " TEMPLATE("OnFailure") "}]"),
     NULL, NULL},
    {"no time to be pending",
     JOB("policies: [{event: PodPending, action: AbortJob, timeout: 0s}], tasks: [" TASK("a",
                                                                                         "") "]"),
     "spec.policies[0].timeout", "AbortJob follows as soon as one is made"},
    {"a budget of one",
     JOB("maxRetry: 1, tasks: [" TASK("a",
                                      "policies: [{event: PodFailed, action: RestartPod}], ") "]"),
     "spec.maxRetry", "the first one ends the job as Failed; N allows N-1"},
    {"a budget of one and nothing to spend it on",
     JOB("maxRetry: 1, policies: [{event: PodFailed, action: AbortJob}], tasks: [" TASK("a",
                                                                                        "") "]"),
     NULL, NULL},
    {"a class that is not there", JOB("priorityClassName: high, tasks: [" TASK("a", "") "]"),
     "spec.priorityClassName", "there is no PriorityClass \"high\""},
};

/* covers: see job.md O-13 */
static void probable_mistakes_are_accepted_with_a_warning(void **unused)
{
    for (size_t i = 0; i < countof(cases); i++) {
        struct admission_fixture fixture;
        struct object *job;

        fixture_init(&fixture);
        job = fixture_admit(&fixture, cases[i].yaml, NULL);
        if (!job) {
            print_findings(&fixture.errors);
            check_fail("%s: refused", cases[i].name);
        }
        object_unref(job);
        if (!cases[i].field)
            check_int(cases[i].name, (int)fixture.warnings.count, 0);
        else if (!has_finding(&fixture.warnings, cases[i].field, cases[i].text))
            check_fail("%s: no such warning (%zu others: %s)", cases[i].name,
                       fixture.warnings.count,
                       fixture.warnings.count ? fixture.warnings.items[0].message : "");
        else
            check_int(cases[i].name, (int)fixture.warnings.count, 1);
        fixture_release(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probable_mistakes_are_accepted_with_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
