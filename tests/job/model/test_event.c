/*
 * Tests which events follow from the change of a slot.
 */
#include "tests/unit.h"

#include "api/types/kinds/job/job.h"
#include "job/model/event.h"

struct event_case {
    const char *name;
    struct pod_facts before, after;
    enum { NEW, SEEN, GONE } how;
    struct task_facts task;
    enum job_event want;
};

/* clang-format off */
#define PENDING_  .phase = POD_PENDING
#define RUNNING_  .phase = POD_RUNNING
#define DONE_     .phase = POD_SUCCEEDED
#define FAILED_   .phase = POD_FAILED
/* covers: job.md POL-19 POL-20 POL-24 POL-25 DLY-21; see 5.2 5.3 */
static const struct event_case cases[] = {
    {"a new pending pod raises PodPending", {0}, {PENDING_}, NEW, {1, 3}, EVENT_POD_PENDING},
    {"a running pod that is first seen raises PodRunning",
     {0}, {RUNNING_}, NEW, {1, 3}, EVENT_POD_RUNNING},
    {"a failed pod that is first seen raises PodFailed",
     {0}, {FAILED_, .exit_code = 3}, NEW, {1, 3}, EVENT_POD_FAILED},
    {"the last success raises TaskCompleted even when first seen",
     {0}, {DONE_}, NEW, {2, 3, 0, 2}, EVENT_TASK_COMPLETED},
    {"a change from pending to running raises PodRunning",
     {PENDING_}, {RUNNING_}, SEEN, {1, 3}, EVENT_POD_RUNNING},
    {"a change from running to failed raises PodFailed",
     {RUNNING_}, {FAILED_}, SEEN, {1, 3}, EVENT_POD_FAILED},
    {"a failed pod seen again raises nothing", {FAILED_}, {FAILED_}, SEEN, {1, 3}, EVENT_NONE},
    {"the first of two successes only syncs",
     {RUNNING_}, {DONE_}, SEEN, {2, 3, 0, 1}, EVENT_OUT_OF_SYNC},
    {"the last of two successes raises TaskCompleted",
     {RUNNING_}, {DONE_}, SEEN, {2, 3, 0, 2}, EVENT_TASK_COMPLETED},
    {"a pod that succeeds without running only syncs",
     {PENDING_}, {DONE_}, SEEN, {2, 3, 0, 1}, EVENT_OUT_OF_SYNC},
    {"a task without replicas is not completed",
     {RUNNING_}, {DONE_}, SEEN, {0, 3, 0, 1}, EVENT_OUT_OF_SYNC},
    {"a change from running to pending raises PodPending",
     {RUNNING_}, {PENDING_}, SEEN, {1, 3}, EVENT_POD_PENDING},
    {"a change from running to unknown only syncs",
     {RUNNING_}, {.phase = POD_UNKNOWN}, SEEN, {1, 3}, EVENT_OUT_OF_SYNC},
    {"restarts that reach maxRetry raise TaskFailed",
     {RUNNING_, .restarts = 2}, {RUNNING_, .restarts = 3}, SEEN, {1, 3, 3}, EVENT_TASK_FAILED},
    {"restarts below maxRetry only sync",
     {RUNNING_, .restarts = 1}, {RUNNING_, .restarts = 2}, SEEN, {1, 3, 2}, EVENT_OUT_OF_SYNC},
    {"maxRetry 0 is read as 3",      {RUNNING_, .restarts = 2}, {RUNNING_, .restarts = 3}, SEEN, {1, 0, 3}, EVENT_TASK_FAILED},
    {"with maxRetry -1 no restart raises TaskFailed",
     {RUNNING_, .restarts = 8}, {RUNNING_, .restarts = 9}, SEEN, {1, -1, 9}, EVENT_OUT_OF_SYNC},
    {"TaskFailed goes before PodRunning",
     {PENDING_, .restarts = 2}, {RUNNING_, .restarts = 3}, SEEN, {1, 3, 3}, EVENT_TASK_FAILED},
    {"TaskFailed is raised once for each restart",
     {RUNNING_, .restarts = 3}, {RUNNING_, .restarts = 3, .ready = true}, SEEN, {1, 3, 3},
     EVENT_OUT_OF_SYNC},
    {"a change of readiness only syncs",
     {RUNNING_}, {RUNNING_, .ready = true}, SEEN, {1, 3}, EVENT_OUT_OF_SYNC},
    {"a pod under deletion that fails only syncs",
     {RUNNING_, .deleting = true}, {FAILED_, .deleting = true}, SEEN, {1, 3}, EVENT_OUT_OF_SYNC},
    {"a marked pod that fails only syncs",
     {RUNNING_, .marked = true}, {FAILED_, .marked = true}, SEEN, {1, 3}, EVENT_OUT_OF_SYNC},
    {"a pod that is being marked only syncs",
     {RUNNING_}, {RUNNING_, .marked = true}, SEEN, {1, 3}, EVENT_OUT_OF_SYNC},
    {"a deleted pod raises PodEvicted", {RUNNING_}, {0}, GONE, {1, 3}, EVENT_POD_EVICTED},
    {"a marked pod that is deleted only syncs",
     {RUNNING_, .marked = true}, {0}, GONE, {1, 3}, EVENT_OUT_OF_SYNC},
    {"a failed pod that is deleted raises PodEvicted",
     {FAILED_, .deleting = true}, {0}, GONE, {1, 3}, EVENT_POD_EVICTED},
};
/* clang-format on */

static void a_change_of_a_slot_is_one_event(void **unused)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct event_case *c = &cases[i];
        enum job_event got = job_event_of(c->how == NEW ? NULL : &c->before,
                                          c->how == GONE ? NULL : &c->after, &c->task);

        check_str(c->name, job_event_text(got), job_event_text(c->want));
    }
}

static struct object *pod(const char *annotations, const char *status)
{
    scoped_str text =
        mem_printf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                   "\"annotations\":{%s}},\"spec\":{},\"status\":%s}",
                   annotations, status);
    scoped(json) json_t *doc = json_loads(text, 0, NULL);
    struct error_list errors = {0};
    struct object *object = object_from_json(doc, &errors);

    assert_int_equal(errors.count, 0);
    return object;
}

#define OURS                                                                                       \
    "\"volcano.sh/job-name\":\"j\",\"volcano.sh/task-spec\":\"t\",\"volcano.sh/"                   \
    "job-version\":\"2\""

/* covers: job.md POD-17 */
static void only_pods_with_our_annotations_count(void **unused)
{
    static const struct {
        const char *name, *annotations;
        bool want;
    } rows[] = {
        {"a pod with all annotations belongs to the job", OURS, true},
        {"a pod without a version does not belong to the job",
         "\"volcano.sh/job-name\":\"j\",\"volcano.sh/task-spec\":\"t\"", false},
        {"a version must be a number",
         "\"volcano.sh/job-name\":\"j\",\"volcano.sh/task-spec\":\"t\",\"volcano.sh/"
         "job-version\":\"2x\"",
         false},
        {"a version must fit into an int32",
         "\"volcano.sh/job-name\":\"j\",\"volcano.sh/task-spec\":\"t\",\"volcano.sh/"
         "job-version\":\"4294967296\"",
         false},
        {"a pod without a task does not belong to the job",
         "\"volcano.sh/job-name\":\"j\",\"volcano.sh/job-version\":\"2\"", false},
        {"a pod without a job name does not belong to the job",
         "\"volcano.sh/task-spec\":\"t\",\"volcano.sh/job-version\":\"2\"", false},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        scoped(object) struct object *object = pod(rows[i].annotations, "{}");
        struct pod_facts facts;

        check_int(rows[i].name, job_pod_facts(object, &facts), rows[i].want);
    }
}

#define CONTAINER(code) "{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":" #code "}}}"

/* covers: job.md POL-29 */
static void the_first_error_among_containers_is_the_exit_code(void **unused)
{
    static const struct {
        const char *name, *status;
        int want;
    } rows[] = {
        {"the only container gives the exit code",
         "{\"phase\":\"Failed\",\"containerStatuses\":[" CONTAINER(3) "]}", 3},
        {"the first container with an error gives the exit code",
         "{\"phase\":\"Failed\",\"containerStatuses\":[" CONTAINER(0) "," CONTAINER(7) "]}", 7},
        {"a container that ended well behind it changes nothing",
         "{\"phase\":\"Failed\",\"containerStatuses\":[" CONTAINER(7) "," CONTAINER(0) "]}", 7},
        {"an init container may give the exit code",
         "{\"phase\":\"Failed\",\"initContainerStatuses\":[" CONTAINER(9) "]}", 9},
        {"regular containers go before init containers",
         "{\"phase\":\"Failed\",\"initContainerStatuses\":[" CONTAINER(
             9) "],\"containerStatuses\":[" CONTAINER(4) "]}",
         4},
        {"a pod in which no container has ended has exit code 0", "{\"phase\":\"Failed\"}", 0},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        scoped(object) struct object *object = pod(OURS, rows[i].status);
        struct pod_facts facts;

        assert_true(job_pod_facts(object, &facts));
        check_int(rows[i].name, facts.exit_code, rows[i].want);
        check_int(rows[i].name, facts.version, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_a_slot_is_one_event),
        cmocka_unit_test(only_pods_with_our_annotations_count),
        cmocka_unit_test(the_first_error_among_containers_is_the_exit_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
