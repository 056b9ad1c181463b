/*
 * Tests which pods actions kill, which they leave, and what they do not touch.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static void check_phase(struct job_fixture *fixture, const char *job, const char *want)
{
    check_str(job, job_fixture_phase(fixture, job), want);
}

static struct job_fixture *running_pods(void)
{
    return job_fixture_new(&(struct job_fixture_options){.run_pods = true});
}

static char *uid_of(struct job_fixture *fixture, const char *pod)
{
    const struct object *object = job_fixture_get(fixture, &kind_pod, pod);

    return mem_strdup(object ? object_uid(object) : "");
}

/* Creates a Command with a target in annotations (O-67). */
static void command_at(struct job_fixture *fixture, const char *annotations, const char *action)
{
    scoped_str yaml =
        mem_printf("{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, "
                   "namespace: default, annotations: {%s}},\n"
                   "action: %s, target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: "
                   "j, uid: %s}}",
                   annotations, action, object_uid(job_fixture_get(fixture, &kind_job, "j")));

    job_fixture_apply(fixture, yaml);
}

struct target_case {
    const char *name, *annotations, *action;
    const char *deleted;
    int retries;
};

/* covers: job.md POD-28 POD-29 PRT-08; see O-21 O-50 O-67 */
static void a_command_takes_what_it_names_and_nothing_else(void **unused)
{
    static const struct target_case cases[] = {
        {"a task is restarted", "volcano.sh/task-spec: a", "RestartTask", "j-a-1 j-a-0", 1},
        {"a pod is restarted", "volcano.sh/pod-name: j-a-1", "RestartPod", "j-a-1", 1},
        {"a task that does not exist", "volcano.sh/task-spec: nobody", "RestartTask", "", 0},
        {"a pod that does not exist", "volcano.sh/pod-name: j-a-7", "RestartPod", "", 0},
        {"a partition of a task without partitions",
         "volcano.sh/task-spec: a, volcano.sh/partition-id: '0'", "RestartPartition", "", 0},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        const struct target_case *c = &cases[i];
        struct job_fixture *fixture = running_pods();
        scoped_str other = NULL;
        scoped_str after = NULL;

        job_fixture_job_simple(fixture, "j", "a*2 b*1", "");
        other = uid_of(fixture, "j-b-0");
        fixture->deleted[0] = '\0';
        command_at(fixture, c->annotations, c->action);
        job_fixture_check_order(c->name, fixture->deleted, c->deleted);
        check_int(c->name, job_fixture_job(fixture, "j")->retry_count, c->retries);
        check_str(c->name, job_fixture_phase(fixture, "j"), "Running");
        check_int(c->name, job_fixture_job(fixture, "j")->running, 3);
        check_int(c->name, job_fixture_count(fixture, &kind_command), 0);
        after = uid_of(fixture, "j-b-0");
        check_str(c->name, after, other);
        job_fixture_free(fixture);
    }
}

/* covers: job.md POL-24; see 10.1 */
static void a_pod_on_its_way_out_is_part_of_the_restart_of_its_task(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});

    job_fixture_job_simple(fixture, "j", "t*3",
                           "policies: [{events: [PodEvicted, PodFailed], action: RestartTask}]");
    /* A user deletes this pod, which takes its time. */
    job_fixture_delete(fixture, &kind_pod, "j-t-2");
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    job_fixture_let_go(fixture);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->running, 3);
    job_fixture_free(fixture);
}

/* covers: job.md POD-30 */
static void a_full_kill_takes_pods_and_what_plugins_made(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*2", "plugins: {svc: [], env: []}");
    assert_int_equal(job_fixture_count(fixture, &kind_service), 1);
    command_at(fixture, "a: b", "AbortJob");
    check_phase(fixture, "j", "Aborted");
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_service), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_config_map), 0);
    job_fixture_free(fixture);
}

/* covers: see O-75 */
static void pods_of_one_batch_are_one_event(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*2", "");
    command_at(fixture, "a: b", "AbortJob");
    assert_false(job_fixture_has_event(fixture, "FailedDelete"));
    assert_int_equal(job_fixture_count_events(fixture, "SuccessfulCreate"), 1);
    assert_int_equal(job_fixture_count_events(fixture, "SuccessfulDelete"), 1);
    job_fixture_free(fixture);
}

/* covers: job.md POD-22; see O-48 */
static void a_late_deletion_never_hits_the_next_pod_of_the_name(void **unused)
{
    struct job_fixture *fixture = running_pods();
    scoped_str successor = NULL;
    scoped_str after = NULL;

    job_fixture_job_simple(fixture, "j", "t*1", "maxRetry: 9");
    faulty_expect(fixture->cluster, .ops = FAULTY_REMOVE, .kind = &kind_pod, .times = 1,
                  .way = FAULTY_DELAY, .delay_ms = 5000);
    command_at(fixture, "volcano.sh/pod-name: j-t-0",
               "RestartPod");                        /* the deletion of the pod is on its way */
    job_fixture_delete(fixture, &kind_pod, "j-t-0"); /* a user deletes the pod before that */
    successor = uid_of(fixture, "j-t-0");
    assert_string_not_equal(successor, "");
    job_fixture_advance(fixture, 60000);
    after = uid_of(fixture, "j-t-0");
    assert_string_equal(after, successor);
    check_phase(fixture, "j", "Running");
    job_fixture_free(fixture);
}

/* covers: job.md POD-10 */
static void missing_pods_are_made(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*6", "");
    job_fixture_stop_controller(fixture);
    for (int i = 2; i < 6; i++) {
        scoped_str name = mem_printf("j-t-%d", i);

        job_fixture_delete(fixture, &kind_pod, name);
    }
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 2);
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 6);
    assert_int_equal(job_fixture_job(fixture, "j")->running, 6);
    job_fixture_free(fixture);
}

static void remove_in_foreground(struct job_fixture *fixture, const char *name)
{
    const struct cluster_removal how = {.grace_s = -1, .propagation = PROPAGATE_FOREGROUND};

    cluster_remove(fixture->backend, NULL, &kind_job, "default", name, &how);
    job_fixture_settle(fixture);
}

/* covers: job.md ST-48; see 17.4 */
static void a_job_that_is_being_deleted_is_left_alone(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});
    unsigned writes;

    job_fixture_job_simple(fixture, "j", "t*3",
                           "policies: [{event: \"*\", action: RestartJob}, {exitCode: 3, action: "
                           "AbortJob}]");
    remove_in_foreground(fixture, "j");
    assert_true(object_deleting(job_fixture_get(fixture, &kind_job, "j")));
    writes = fixture->job_writes;
    fixture->created[0] = '\0';
    job_fixture_pod_failed(fixture, "j-t-0", 3);
    job_fixture_let_one_go(fixture, "j-t-1");
    job_fixture_advance(fixture, 60000);
    check_str("phases", fixture->phases, "Pending Running");
    assert_int_equal(fixture->job_writes, writes);
    assert_string_equal(fixture->created, "");
    job_fixture_let_go(fixture);
    assert_null(job_fixture_get(fixture, &kind_job, "j"));
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 0);
    job_fixture_free(fixture);
}

/* The answer to the creation of a pod or PodGroup comes when its job has ended. covers: see 20.5;
 * reliability.md P-10 */
static void what_comes_late_to_a_job_at_rest_is_taken_away(void **unused)
{
    static const struct kind *const kinds[] = {&kind_pod, &kind_pod_group};

    for (size_t i = 0; i < countof(kinds); i++) {
        struct job_fixture *fixture = running_pods();

        faulty_expect(fixture->cluster, .ops = FAULTY_CREATE, .kind = kinds[i], .times = 1,
                      .way = FAULTY_DELAY, .delay_ms = 5000);
        job_fixture_job_simple(fixture, "j", "t*1", "");
        job_fixture_stop_controller(fixture); /* stops while the creation is under way */
        job_fixture_start_controller(fixture);
        command_at(fixture, "a: b", "TerminateJob");
        job_fixture_advance(fixture, 60000);
        check_phase(fixture, "j", "Terminated");
        check_int(kinds[i]->name, job_fixture_count(fixture, &kind_pod), 0);
        check_int(kinds[i]->name, job_fixture_count(fixture, &kind_pod_group), 0);
        job_fixture_free(fixture);
    }
}

/* Another writer has changed the status, as when two controllers both think that they lead. covers:
 * see reliability.md SEC-37 */
static void the_stored_status_wins_over_the_remembered_one(void **unused)
{
    struct job_fixture *fixture = running_pods();
    struct job_status other;

    job_fixture_job_simple(fixture, "j", "t*2",
                           "policies: [{event: PodFailed, action: RestartTask}]");
    other = *job_fixture_job(fixture, "j");
    other.retry_count = 1;
    cluster_update_status(fixture->backend, NULL, job_fixture_get(fixture, &kind_job, "j"),
                          job_status_blob(&other));
    job_fixture_settle(fixture);
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 2);
    job_fixture_free(fixture);
}

/* The answer to a mark comes while a status with new counters is being written. covers: see O-29 */
static void a_restart_is_decided_behind_the_write_in_flight(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*3",
                           "maxRetry: 9;policies: [{event: PodFailed, action: RestartTask}]");
    faulty_expect(fixture->cluster, .ops = FAULTY_UPDATE, .kind = &kind_pod, .times = 1,
                  .way = FAULTY_DELAY, .delay_ms = 1000);
    faulty_expect(fixture->cluster, .ops = FAULTY_STATUS, .kind = &kind_job, .times = 1,
                  .way = FAULTY_DELAY, .delay_ms = 5000);
    job_fixture_report(fixture, "j-t-1", POD_SUCCEEDED, 0, 0);
    job_fixture_advance(fixture, 1); /* the new counters are written 20 ms later */
    job_fixture_report(fixture, "j-t-0", POD_FAILED, 1, 0);
    job_fixture_advance(fixture, 60000);
    check_phase(fixture, "j", "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    assert_int_equal(job_fixture_job(fixture, "j")->running, 3);
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_takes_what_it_names_and_nothing_else),
        cmocka_unit_test(a_pod_on_its_way_out_is_part_of_the_restart_of_its_task),
        cmocka_unit_test(a_full_kill_takes_pods_and_what_plugins_made),
        cmocka_unit_test(pods_of_one_batch_are_one_event),
        cmocka_unit_test(a_late_deletion_never_hits_the_next_pod_of_the_name),
        cmocka_unit_test(missing_pods_are_made),
        cmocka_unit_test(a_job_that_is_being_deleted_is_left_alone),
        cmocka_unit_test(what_comes_late_to_a_job_at_rest_is_taken_away),
        cmocka_unit_test(the_stored_status_wins_over_the_remembered_one),
        cmocka_unit_test(a_restart_is_decided_behind_the_write_in_flight),
    };
    static void (*const spared[])(void **state) = {
        pods_of_one_batch_are_one_event, /* with a fault, a refused write would be one event more */
        NULL,
    };

    return job_tests_with_faults(tests, countof(tests), spared);
}
