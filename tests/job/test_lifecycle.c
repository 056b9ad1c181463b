/*
 * Tests the annotations that say how long a job and its objects live: lives-with, lifetime,
 * at-most-once, on-preempt, below-minimum, priority.
 */
#include "tests/unit.h"

#include "api/types/kinds/job/lifecycle.h"
#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

/* A job with one annotation, given as YAML, and one task of so many pods. `more` are lines of its
 * spec. */
static void add_job(struct job_fixture *fixture, const char *annotation, int pods, const char *more)
{
    static const char format[] =
        "apiVersion: batch.volcano.sh/v1alpha1\n"
        "kind: Job\n"
        "metadata:\n"
        "  name: j\n"
        "  namespace: default\n"
        "  annotations: {%s}\n"
        "spec:\n"
        "%s"
        "  tasks:\n"
        "  - name: t\n"
        "    replicas: %d\n"
        "    template: {spec: {restartPolicy: Never, containers: [{name: c, command: [x]}]}}\n";
    scoped_str yaml = mem_printf(format, annotation, more, pods);

    job_fixture_apply(fixture, yaml);
}

static struct job_fixture *job_with(const char *annotation, int pods, const char *more)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    add_job(fixture, annotation, pods, more);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    return fixture;
}

static void check_end(struct job_fixture *fixture, const char *phase, const char *reason)
{
    check_str("phase", job_fixture_phase(fixture, "j"), phase);
    check_str("reason", job_fixture_job(fixture, "j")->reason, reason);
}

static const struct kind *const living[] = {&kind_config_map, &kind_secret, &kind_service,
                                            &kind_pvc};

static void add_objects(struct job_fixture *fixture)
{
    job_fixture_apply(
        fixture,
        "apiVersion: v1\nkind: ConfigMap\n"
        "metadata: {name: o, namespace: default, annotations: {submit.flow.volcano.sh/lives-with: "
        "j}}\n"
        "---\napiVersion: v1\nkind: Secret\n"
        "metadata: {name: o, namespace: default, annotations: {submit.flow.volcano.sh/lives-with: "
        "j}}\n"
        "---\napiVersion: v1\nkind: Service\n"
        "metadata: {name: o, namespace: default, annotations: {submit.flow.volcano.sh/lives-with: "
        "j}}\n"
        "spec: {clusterIP: None, selector: {a: b}}\n"
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\n"
        "metadata: {name: o, namespace: default, annotations: {submit.flow.volcano.sh/lives-with: "
        "j}}\n"
        "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n");
}

static void check_objects(struct job_fixture *fixture, bool there)
{
    if (!there && job_fixture_has_fault()) /* a removal that failed is tried again */
        job_fixture_advance(fixture, 1000);
    for (size_t i = 0; i < countof(living); i++)
        check_int(living[i]->name, job_fixture_get(fixture, living[i], "o") != NULL, there);
}

static void end_by_command(struct job_fixture *fixture, const char *action)
{
    scoped_str yaml = mem_printf("apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\n"
                                 "metadata: {name: c-%s, namespace: default}\naction: %s\n"
                                 "target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: "
                                 "j, uid: %s}\n",
                                 action[0] == 'A'   ? "a"
                                 : action[0] == 'R' ? "r"
                                                    : "t",
                                 action, object_uid(job_fixture_get(fixture, &kind_job, "j")));

    job_fixture_apply(fixture, yaml);
}

/* covers: armada-submit.md S-110 */
static void objects_go_with_the_end_of_their_job(void **unused)
{
    static const char *const ends[] = {"Completed", "Failed", "Terminated", ""};

    for (size_t i = 0; i < countof(ends); i++) {
        struct job_fixture *fixture = job_with("", 1, "");

        add_objects(fixture);
        check_objects(fixture, true);
        if (i == 0)
            job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
        else if (i == 1)
            job_fixture_pod_failed(fixture, "j-t-0", 1);
        else if (i == 2)
            end_by_command(fixture, "TerminateJob");
        else
            job_fixture_delete(fixture, &kind_job, "j");
        check_str("phase", job_fixture_phase(fixture, "j"), ends[i]);
        check_objects(fixture, false);
        job_fixture_free(fixture);
    }
}

/* covers: armada-submit.md S-111 */
static void objects_stay_while_their_job_is_aborted(void **unused)
{
    struct job_fixture *fixture = job_with("", 1, "");

    add_objects(fixture);
    end_by_command(fixture, "AbortJob");
    check_str("phase", job_fixture_phase(fixture, "j"), "Aborted");
    check_objects(fixture, true);
    job_fixture_restart(fixture);
    end_by_command(fixture, "ResumeJob");
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    check_objects(fixture, false);
    job_fixture_free(fixture);
}

/* An object made after the end of a job waits for the next job of the name; one that an earlier
 * process left behind is deleted. */
static void objects_that_outlived_their_job_are_found(void **unused)
{
    struct job_fixture *fixture = job_with("", 1, "");

    add_objects(fixture);
    job_fixture_advance(fixture, 2000);
    job_fixture_patch(fixture, &kind_config_map, "o",
                      "{\"metadata\":{\"annotations\":{\"submit.flow.volcano.sh/lives-with\":"
                      "null}}}");
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    assert_non_null(job_fixture_get(fixture, &kind_config_map, "o"));
    job_fixture_stop_controller(fixture);
    job_fixture_patch(fixture, &kind_config_map, "o",
                      "{\"metadata\":{\"annotations\":{\"submit.flow.volcano.sh/lives-with\":"
                      "\"j\"}}}");
    job_fixture_start_controller(fixture);
    assert_null(job_fixture_get(fixture, &kind_config_map, "o"));
    job_fixture_advance(fixture, 2000);
    add_objects(fixture);
    job_fixture_restart(fixture);
    check_objects(fixture, true);
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-110 */
static void objects_of_the_next_job_stay_when_an_ended_one_is_deleted(void **unused)
{
    struct job_fixture *fixture = job_with("", 1, "");

    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    job_fixture_advance(fixture, 2000);
    add_objects(fixture);
    job_fixture_delete(fixture, &kind_job, "j");
    check_objects(fixture, true);
    add_job(fixture, "", 1, "");
    check_objects(fixture, true);
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    check_objects(fixture, false);
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-72 S-73 */
static void a_lifetime_begins_when_the_job_runs(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){0});

    add_job(fixture, "submit.flow.volcano.sh/lifetime: '2'", 1, "");
    add_objects(fixture);
    job_fixture_advance(fixture, 5000);
    check_str("phase", job_fixture_phase(fixture, "j"), "Pending");
    job_fixture_pod(fixture, "j-t-0", POD_RUNNING);
    job_fixture_advance(fixture, 1900);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_advance(fixture, 200);
    check_end(fixture, "Terminated", "LifetimeExpired");
    check_objects(fixture, false);
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-74 */
static void a_lifetime_that_is_over_while_no_process_runs_ends_the_job(void **unused)
{
    struct job_fixture *fixture = job_with("submit.flow.volcano.sh/lifetime: '5'", 1, "");

    job_fixture_advance(fixture, 1000);
    job_fixture_stop_controller(fixture);
    job_fixture_advance(fixture, 8000);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_start_controller(fixture);
    check_end(fixture, "Terminated", "LifetimeExpired");
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-114 S-115 */
static void one_clock_runs_over_restarts_of_the_job(void **unused)
{
    struct job_fixture *fixture =
        job_with("submit.flow.volcano.sh/lifetime: '3'", 1,
                 "  maxRetry: 10\n  policies: [{event: PodFailed, action: RestartJob}]\n");

    for (int i = 0; i < 2; i++) {
        job_fixture_advance(fixture, 1000);
        job_fixture_pod_failed(fixture, "j-t-0", 1);
        check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    }
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 1100);
    check_end(fixture, "Terminated", "LifetimeExpired");
    job_fixture_free(fixture);
}

static void a_lifetime_may_be_changed(void **unused)
{
    struct job_fixture *fixture = job_with("submit.flow.volcano.sh/lifetime: '2'", 1, "");

    job_fixture_patch(
        fixture, &kind_job, "j",
        "{\"metadata\":{\"annotations\":{\"submit.flow.volcano.sh/lifetime\":\"4\"}}}");
    job_fixture_advance(fixture, 3000);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_advance(fixture, 1100);
    check_str("phase", job_fixture_phase(fixture, "j"), "Terminated");
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-72 S-115 */
static void a_lifetime_that_a_running_job_gets_counts_from_its_start(void **unused)
{
    struct job_fixture *fixture =
        job_with("", 1, "  maxRetry: 10\n  policies: [{event: PodFailed, action: RestartJob}]\n");

    job_fixture_advance(fixture, 1000);
    job_fixture_patch(
        fixture, &kind_job, "j",
        "{\"metadata\":{\"annotations\":{\"submit.flow.volcano.sh/lifetime\":\"3\"}}}");
    job_fixture_advance(fixture, 1000);
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_restart(fixture);
    job_fixture_advance(fixture, 900);
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_advance(fixture, 200);
    check_end(fixture, "Terminated", "LifetimeExpired");
    job_fixture_free(fixture);
}

#define ONCE "submit.flow.volcano.sh/at-most-once: 'true'"

/* covers: armada-submit.md S-76 */
static void a_lost_pod_of_a_job_that_runs_at_most_once_is_not_made_again(void **unused)
{
    struct job_fixture *fixture = job_with(ONCE, 2, "");

    job_fixture_delete(fixture, &kind_pod, "j-t-1");
    check_end(fixture, "Failed", "RunLost");
    job_fixture_check_order("created", fixture->created, "j-t-0 j-t-1");
    job_fixture_free(fixture);
}

static void a_pod_that_was_collected_is_not_made_again(void **unused)
{
    struct job_fixture *fixture = job_with(ONCE, 2, "");

    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    job_fixture_delete(fixture, &kind_pod, "j-t-0");
    check_end(fixture, "Failed", "RunLost");
    job_fixture_check_order("created", fixture->created, "j-t-0 j-t-1");
    job_fixture_free(fixture);
}

static void report_lost(struct job_fixture *fixture, const char *reason)
{
    const struct pod_status status = {.phase = POD_FAILED, .reason = reason};

    cluster_update_status(fixture->backend, NULL, job_fixture_get(fixture, &kind_pod, "j-t-0"),
                          pod_status_blob(&status));
    job_fixture_settle(fixture);
}

/* covers: armada-submit.md S-77 */
static void an_unknown_outcome_fails_a_job_that_runs_at_most_once(void **unused)
{
    struct job_fixture *fixture = job_with(ONCE, 2, "");

    report_lost(fixture, "SupervisorLost");
    check_end(fixture, "Failed", "RunLost");
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-80 */
static void a_failure_ends_the_job_after_one_run(void **unused)
{
    struct job_fixture *fixture = job_with("", 1, "");

    job_fixture_pod_failed(fixture, "j-t-0", 1);
    check_str("phase", job_fixture_phase(fixture, "j"), "Failed");
    check_has("message", job_fixture_job(fixture, "j")->message, "exit code 1");
    check_str("created", fixture->created, "j-t-0");
    job_fixture_free(fixture);
}

static void a_job_that_runs_at_most_once_is_not_resumed(void **unused)
{
    struct job_fixture *fixture = job_with(ONCE, 1, "");

    end_by_command(fixture, "AbortJob");
    check_str("phase", job_fixture_phase(fixture, "j"), "Aborted");
    end_by_command(fixture, "ResumeJob");
    check_str("phase", job_fixture_phase(fixture, "j"), "Aborted");
    assert_true(job_fixture_has_event(fixture, "ExecuteAction"));
    job_fixture_free(fixture);
}

/* Deletes a pod as the scheduler does when it evicts the pod. */
static void evict(struct job_fixture *fixture, const char *pod)
{
    job_fixture_patch(fixture, &kind_pod, pod,
                      "{\"metadata\":{\"annotations\":{\"submit.flow.volcano.sh/evicted\":\"for "
                      "another\"}}}");
    job_fixture_delete(fixture, &kind_pod, pod);
}

/* covers: armada-submit.md S-70 */
static void a_preempted_job_ends_if_it_says_so(void **unused)
{
    static const char *const annotations[] = {"submit.flow.volcano.sh/on-preempt: fail", ONCE};

    for (size_t i = 0; i < countof(annotations); i++) {
        struct job_fixture *fixture = job_with(annotations[i], 2, "");

        evict(fixture, "j-t-0");
        check_end(fixture, "Terminated", "Preempted");
        check_has("message", job_fixture_job(fixture, "j")->message, "for another");
        job_fixture_check_order("created", fixture->created, "j-t-0 j-t-1");
        job_fixture_free(fixture);
    }
}

static void a_preempted_job_waits_for_its_turn_otherwise(void **unused)
{
    struct job_fixture *fixture = job_with("", 1, "");

    evict(fixture, "j-t-0");
    job_fixture_check_order("created", fixture->created, "j-t-0 j-t-0");
    check_str("phase", job_fixture_phase(fixture, "j"), "Running");
    job_fixture_free(fixture);
}

/* covers: armada-submit.md S-44 S-45 S-47 */
static void a_task_below_its_minimum_ends_the_job(void **unused)
{
    static const struct {
        int minimum, failures;
        const char *phase;
    } cases[] = {{2, 1, "Running"}, {2, 2, "Failed"}, {3, 1, "Failed"}};

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_fixture *fixture =
            job_fixture_new(&(struct job_fixture_options){.run_pods = true});
        scoped_str yaml = mem_printf(
            "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
            "metadata: {name: j, namespace: default, annotations: "
            "{submit.flow.volcano.sh/below-minimum: fail}}\n"
            "spec:\n  minAvailable: %d\n  tasks:\n"
            "  - name: t\n    replicas: 3\n    minAvailable: %d\n"
            "    template: {spec: {restartPolicy: Never, containers: [{name: c, command: "
            "[x]}]}}\n",
            cases[i].minimum, cases[i].minimum);

        job_fixture_apply(fixture, yaml);
        job_fixture_pod_failed(fixture, "j-t-0", 1);
        if (cases[i].failures > 1)
            job_fixture_pod_failed(fixture, "j-t-1", 1);
        check_str("phase", job_fixture_phase(fixture, "j"), cases[i].phase);
        if (strcmp(cases[i].phase, "Failed") == 0) {
            check_str("reason", job_fixture_job(fixture, "j")->reason, "BelowMinMember");
        } else {
            job_fixture_pod(fixture, "j-t-1", POD_SUCCEEDED);
            job_fixture_pod(fixture, "j-t-2", POD_SUCCEEDED);
            check_str("phase", job_fixture_phase(fixture, "j"), "Completed");
        }
        job_fixture_free(fixture);
    }
}

static const char *group_priority(struct job_fixture *fixture)
{
    scoped_str name = mem_printf("j-%s", object_uid(job_fixture_get(fixture, &kind_job, "j")));
    const struct object *group = job_fixture_get(fixture, &kind_pod_group, name);

    return group ? meta_annotation(group->meta, ANNOTATION_PRIORITY) : NULL;
}

static void the_number_of_a_waiting_job_may_be_changed(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.hold_groups = true});

    add_job(fixture, "submit.flow.volcano.sh/priority: '9'", 1, "");
    check_str("priority", group_priority(fixture), "9");
    job_fixture_patch(
        fixture, &kind_job, "j",
        "{\"metadata\":{\"annotations\":{\"submit.flow.volcano.sh/priority\":\"0\"}}}");
    check_str("priority", group_priority(fixture), "0");
    assert_int_equal(fixture->group_creations, 1);
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_go_with_the_end_of_their_job),
        cmocka_unit_test(objects_stay_while_their_job_is_aborted),
        cmocka_unit_test(objects_that_outlived_their_job_are_found),
        cmocka_unit_test(objects_of_the_next_job_stay_when_an_ended_one_is_deleted),
        cmocka_unit_test(a_lifetime_begins_when_the_job_runs),
        cmocka_unit_test(a_lifetime_that_is_over_while_no_process_runs_ends_the_job),
        cmocka_unit_test(one_clock_runs_over_restarts_of_the_job),
        cmocka_unit_test(a_lifetime_may_be_changed),
        cmocka_unit_test(a_lifetime_that_a_running_job_gets_counts_from_its_start),
        cmocka_unit_test(a_lost_pod_of_a_job_that_runs_at_most_once_is_not_made_again),
        cmocka_unit_test(a_pod_that_was_collected_is_not_made_again),
        cmocka_unit_test(an_unknown_outcome_fails_a_job_that_runs_at_most_once),
        cmocka_unit_test(a_failure_ends_the_job_after_one_run),
        cmocka_unit_test(a_job_that_runs_at_most_once_is_not_resumed),
        cmocka_unit_test(a_preempted_job_ends_if_it_says_so),
        cmocka_unit_test(a_preempted_job_waits_for_its_turn_otherwise),
        cmocka_unit_test(a_task_below_its_minimum_ends_the_job),
        cmocka_unit_test(the_number_of_a_waiting_job_may_be_changed),
    };

    static void (*const spared[])(void **state) = {
        objects_of_the_next_job_stay_when_an_ended_one_is_deleted,
        objects_that_outlived_their_job_are_found, /* they count what happens in a given time */
        a_lifetime_begins_when_the_job_runs,
        a_lifetime_that_is_over_while_no_process_runs_ends_the_job,
        one_clock_runs_over_restarts_of_the_job,
        a_lifetime_may_be_changed,
        a_lifetime_that_a_running_job_gets_counts_from_its_start,
        NULL,
    };

    return job_tests_with_faults(tests, countof(tests), spared);
}
