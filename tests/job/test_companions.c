/*
 * Tests companions: tasks that run as long as their job.
 */
#include "tests/unit.h"

#include "api/types/kinds/job/lifecycle.h"
#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

/* A job with a companion db and a task main of so many pods. `more` are lines of its spec. */
static void add_job(struct job_fixture *fixture, int mains, const char *more)
{
    static const char format[] =
        "apiVersion: batch.volcano.sh/v1alpha1\n"
        "kind: Job\n"
        "metadata:\n"
        "  name: j\n"
        "  namespace: default\n"
        "  annotations: {submit.flow.volcano.sh/keep-alive: db}\n"
        "spec:\n"
        "%s"
        "  tasks:\n"
        "  - name: main\n"
        "    replicas: %d\n"
        "    template: {spec: {restartPolicy: Never, containers: [{name: c, command: [x]}]}}\n"
        "  - name: db\n"
        "    replicas: 1\n"
        "    template: {spec: {restartPolicy: Never, containers: [{name: c, command: [x]}]}}\n";
    scoped_str yaml = mem_printf(format, more, mains);

    job_fixture_apply(fixture, yaml);
}

static void check_phase(struct job_fixture *fixture, const char *want)
{
    check_str("phase", job_fixture_phase(fixture, "j"), want);
}

static bool has_pod(struct job_fixture *fixture, const char *name)
{
    return job_fixture_get(fixture, &kind_pod, name);
}

/* covers: armada-submit.md S-63 */
static void a_companion_is_ready_before_other_pods_start_and_stops_last(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.slow_deletion = true});

    add_job(fixture, 2, "");
    check_str("created", fixture->created, "j-db-0");
    job_fixture_not_ready(fixture, "j-db-0");
    check_str("while the companion is not ready", fixture->created, "j-db-0");
    job_fixture_report(fixture, "j-db-0", POD_RUNNING, 0, 0);
    job_fixture_settle(fixture);
    job_fixture_check_order("created", fixture->created, "j-db-0 j-main-0 j-main-1");
    job_fixture_pod(fixture, "j-main-0", POD_RUNNING);
    job_fixture_pod(fixture, "j-main-1", POD_RUNNING);
    check_phase(fixture, "Running");
    job_fixture_pod(fixture, "j-main-0", POD_SUCCEEDED);
    check_str("deleted while a pod runs", fixture->deleted, "");
    job_fixture_pod(fixture, "j-main-1", POD_SUCCEEDED);
    check_str("deleted", fixture->deleted, "j-db-0");
    check_phase(fixture, "Running"); /* no final phase while the companion stops */
    job_fixture_let_go(fixture);
    check_phase(fixture, "Completed");
    check_str("phases", fixture->phases, "Pending Running Completed");
    assert_false(has_pod(fixture, "j-db-0"));
    job_fixture_free(fixture);
}

static struct job_fixture *running_job(int mains, const char *more)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    add_job(fixture, mains, more);
    check_phase(fixture, "Running");
    return fixture;
}

static void a_companion_is_always_restarted_by_its_node(void **unused)
{
    struct job_fixture *fixture = running_job(1, "");
    scoped(json) json_t *db = object_body_json(job_fixture_get(fixture, &kind_pod, "j-db-0"));
    scoped(json) json_t *main = object_body_json(job_fixture_get(fixture, &kind_pod, "j-main-0"));

    check_str("companion",
              json_string_value(json_object_get(json_object_get(db, "spec"), "restartPolicy")),
              "Always");
    check_str("other",
              json_string_value(json_object_get(json_object_get(main, "spec"), "restartPolicy")),
              "Never");
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-64 */
static void a_companion_that_ends_is_started_again_and_the_others_go_on(void **unused)
{
    struct job_fixture *fixture =
        running_job(1, "  policies: [{events: [PodFailed, PodEvicted], action: TerminateJob}]\n");

    job_fixture_pod_restarts(fixture, "j-db-0", 1);
    check_phase(fixture, "Running");
    job_fixture_pod_failed(fixture, "j-db-0", 1);
    check_phase(fixture, "Running");
    job_fixture_delete(fixture, &kind_pod, "j-db-0");
    check_phase(fixture, "Running");
    assert_true(has_pod(fixture, "j-db-0"));
    job_fixture_check_order("created", fixture->created, "j-db-0 j-main-0 j-db-0 j-db-0");
    job_fixture_pod(fixture, "j-main-0", POD_SUCCEEDED);
    check_phase(fixture, "Completed");
    assert_false(has_pod(fixture, "j-db-0"));
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-65 */
static void a_companion_that_cannot_be_kept_up_fails_the_job(void **unused)
{
    struct job_fixture *fixture = running_job(2, "");

    for (int i = 1; i <= 4; i++)
        job_fixture_pod_restarts(fixture, "j-db-0", i);
    check_phase(fixture, "Running");
    job_fixture_pod_restarts(fixture, "j-db-0", 5);
    check_phase(fixture, "Failed");
    check_str("reason", job_fixture_job(fixture, "j")->reason, "ComponentLost");
    check_has("message", job_fixture_job(fixture, "j")->message, "j-db-0");
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_pod_group), 0);
    job_fixture_free(fixture);
}

static void ends_far_apart_are_no_loss(void **unused)
{
    struct job_fixture *fixture = running_job(1, "");

    for (int i = 1; i <= 8; i++) {
        job_fixture_pod_restarts(fixture, "j-db-0", i);
        job_fixture_advance(fixture, 200000);
    }
    check_phase(fixture, "Running");
    job_fixture_free(fixture);
}

/* The other pods are stopped first, and the final phase is stored when no pod runs any more. */
static void at_every_end_companions_stop_last(void **unused)
{
    static const struct {
        const char *action, *phases;
    } ends[] = {
        {"CompleteJob", "Pending Running Completing Completed"},
        {"TerminateJob", "Pending Running Terminating Terminated"},
        {"AbortJob", "Pending Running Aborting Aborted"},
    };

    for (size_t i = 0; i < countof(ends); i++) {
        struct job_fixture *fixture =
            job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});
        scoped_str policies =
            mem_printf("  policies: [{event: PodFailed, action: %s}]\n", ends[i].action);

        add_job(fixture, 2, policies);
        job_fixture_pod_failed(fixture, "j-main-0", 1);
        check_str("deleted first", fixture->deleted, "j-main-1");
        job_fixture_let_one_go(fixture, "j-main-1");
        check_str("deleted last", fixture->deleted, "j-main-1 j-db-0");
        job_fixture_let_go(fixture);
        check_str("phases", fixture->phases, ends[i].phases);
        job_fixture_free(fixture);
    }
}

/* The pod succeeds before the job is seen to run. */
static void a_pod_that_ends_at_once_ends_the_job(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    add_job(fixture, 1, "");
    job_fixture_pod(fixture, "j-db-0", POD_RUNNING);
    job_fixture_pod(fixture, "j-main-0", POD_SUCCEEDED);
    check_phase(fixture, "Completed");
    assert_false(has_pod(fixture, "j-db-0"));
    job_fixture_free(fixture);
}

static void a_job_fails_by_its_own_pods_alone(void **unused)
{
    struct job_fixture *fixture = running_job(1, "");

    job_fixture_pod_failed(fixture, "j-main-0", 3);
    check_phase(fixture, "Failed");
    check_has("message", job_fixture_job(fixture, "j")->message, "0 of 1 pods succeeded");
    assert_false(has_pod(fixture, "j-db-0"));
    job_fixture_free(fixture);
}

/* minSuccess ends a job while pods run: those stop first, then the companion. */
static void enough_successes_stop_the_rest_before_the_companion(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});

    add_job(fixture, 2, "  minSuccess: 1\n");
    job_fixture_pod(fixture, "j-main-1", POD_SUCCEEDED);
    check_phase(fixture, "Completing");
    check_str("deleted first", fixture->deleted, "j-main-0");
    job_fixture_let_one_go(fixture, "j-main-0");
    job_fixture_let_go(fixture);
    check_phase(fixture, "Completed");
    check_str("reason", job_fixture_job(fixture, "j")->reason, "MinSuccessReached");
    job_fixture_free(fixture);
}

/* A new process takes over at each moment of the job's life. */
static void a_restart_of_the_controller_changes_nothing(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.slow_deletion = true});

    add_job(fixture, 1, "");
    job_fixture_restart(fixture);
    job_fixture_pod(fixture, "j-db-0", POD_RUNNING);
    job_fixture_restart(fixture);
    job_fixture_pod(fixture, "j-main-0", POD_RUNNING);
    job_fixture_restart(fixture);
    job_fixture_pod(fixture, "j-main-0", POD_SUCCEEDED);
    job_fixture_restart(fixture);
    check_phase(fixture, "Running");
    job_fixture_let_go(fixture);
    check_phase(fixture, "Completed");
    check_str("created", fixture->created, "j-db-0 j-main-0");
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-113 */
static void annotations_without_a_meaning_are_refused(void **unused)
{
    static const struct {
        const char *annotation, *value, *finding;
    } cases[] = {
        {"keep-alive", "db,main", "at least one task"},
        {"keep-alive", "nothing", "no task \"nothing\""},
        {"lifetime", "x", "whole number"},
        {"lifetime", "-1", "whole number"},
        {"priority", "4294967296", "whole number"},
        {"at-most-once", "yes", "supported values"},
        {"on-preempt", "stop", "supported values"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct error_list errors = {0};
        scoped_str key = mem_printf("submit.flow.volcano.sh/%s", cases[i].annotation);
        struct job_task tasks[] = {{.name = "main"}, {.name = "db"}};
        const struct job_spec spec = {.tasks = {tasks, countof(tasks)}};
        const struct kv annotation = {key, cases[i].value};
        const struct meta meta = {.annotations = &annotation, .n_annotations = 1};
        struct error err = {0};

        job_lifecycle_check(&meta, &spec, NULL, &errors);
        assert_false(error_list_ok(&errors, &err));
        check_has("field", err.field, key);
        check_has("message", err.message, cases[i].finding);
        error_list_release(&errors);
    }
}

static void a_list_of_companions_is_bounded_and_its_order_is_checked_once_a_task(void **unused)
{
    static const struct {
        size_t names; /* times that the list has "db" */
        const char *finding;
    } cases[] = {
        {1000, "task db cannot be kept alive: it depends on task main"},
        {2000, "must have at most 4096 bytes"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf list = {0};
        struct error_list errors = {0};
        const char *depends[] = {"main"};
        struct job_task tasks[] = {{.name = "main"}, {.name = "db", .depends_on = {depends, 1}}};
        const struct job_spec spec = {.tasks = {tasks, countof(tasks)}};
        struct kv annotation = {"submit.flow.volcano.sh/keep-alive", NULL};
        const struct meta meta = {.annotations = &annotation, .n_annotations = 1};

        for (size_t n = 0; n < cases[i].names; n++)
            buf_printf(&list, "%sdb", n ? "," : "");
        annotation.value = list.data;
        job_lifecycle_check(&meta, &spec, NULL, &errors);
        assert_int_equal(errors.count, 1);
        check_has("message", errors.items[0].message, cases[i].finding);
        error_list_release(&errors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_companion_is_ready_before_other_pods_start_and_stops_last),
        cmocka_unit_test(a_companion_is_always_restarted_by_its_node),
        cmocka_unit_test(a_companion_that_ends_is_started_again_and_the_others_go_on),
        cmocka_unit_test(a_companion_that_cannot_be_kept_up_fails_the_job),
        cmocka_unit_test(ends_far_apart_are_no_loss),
        cmocka_unit_test(at_every_end_companions_stop_last),
        cmocka_unit_test(a_pod_that_ends_at_once_ends_the_job),
        cmocka_unit_test(a_job_fails_by_its_own_pods_alone),
        cmocka_unit_test(enough_successes_stop_the_rest_before_the_companion),
        cmocka_unit_test(a_restart_of_the_controller_changes_nothing),
        cmocka_unit_test(annotations_without_a_meaning_are_refused),
        cmocka_unit_test(a_list_of_companions_is_bounded_and_its_order_is_checked_once_a_task),
    };

    return job_tests_with_faults(tests, countof(tests), NULL);
}
