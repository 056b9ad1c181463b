/*
 * Tests steps that serve those that depend on them (`until: dependents`), with restarts at any point.
 *
 * covers: everyday.md EVD-267 EVD-268 EVD-269 EVD-270 EVD-271 EVD-272 EVD-273 EVD-274 EVD-275
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/flow_fixture.h"

#define DB         "{name: db, jobTemplateName: t, until: dependents"
#define USER(name) "{name: " name ", jobTemplateName: t, dependsOn: {targets: [db]}"
#define TWO_USERS  "flows: [" DB "}, " USER("u") "}, " USER("v") "}]"
#define FIXTURE    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL)

static const char *at(struct flow_fixture *fixture, const char *path)
{
    flow_fixture_advance(fixture, 1000); /* statuses are collected for a moment */
    return flow_fixture_at(fixture, "f", path);
}

static void count(void *arg, const struct object *object)
{
    ++*(int *)arg;
}

/* Checks how many jobs were told to complete. The fixture plays the job controller. */
static void check_told(struct flow_fixture *fixture, const char *what, int wanted)
{
    int told = 0;

    flow_fixture_advance(fixture, 1000);
    store_each(fixture->store, &kind_command, NULL, count, &told);
    check_int(what, told, wanted);
}

static void run_db(struct flow_fixture *fixture)
{
    flow_fixture_phase(fixture, "f-db", JOB_RUNNING);
    flow_fixture_ready(fixture, "f-db");
}

/* EVD-267 */
static void play(bool restarts)
{
    FIXTURE;

    flow_fixture_spec(fixture, "f", "t", TWO_USERS);
    flow_fixture_phase(fixture, "f-db", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-db", "main", 0, POD_RUNNING, NULL);
    flow_fixture_restart_if(fixture, restarts);
    check_str("not ready", flow_fixture_created(fixture), "f-db");
    check_str("reason", at(fixture, "nodes/0/reason"), "UntilDependents");
    check_str("message", at(fixture, "nodes/0/message"),
              "its pods are not ready; 0 of 2 steps that depend on it have ended");
    flow_fixture_ready(fixture, "f-db");
    flow_fixture_restart_if(fixture, restarts);
    check_str("ready", flow_fixture_created(fixture), "f-db f-u f-v");
    flow_fixture_complete(fixture, "f-u");
    flow_fixture_restart_if(fixture, restarts);
    check_str("message", at(fixture, "nodes/0/message"),
              "1 of 2 steps that depend on it has ended");
    check_told(fixture, "one still uses it", 0);
    flow_fixture_complete(fixture, "f-v");
    flow_fixture_restart_if(fixture, restarts);
    check_told(fixture, "nobody uses it", 1);
    check_str("flow", at(fixture, "state/phase"), "Running");
    flow_fixture_phase(fixture, "f-db", JOB_COMPLETING);
    flow_fixture_restart_if(fixture, restarts);
    flow_fixture_phase(fixture, "f-db", JOB_COMPLETED);
    check_str("flow", at(fixture, "state/phase"), "Succeed");
    check_told(fixture, "told once", 1);
    check_str("jobs", flow_fixture_created(fixture), "f-db f-u f-v");
}

static void it_runs_as_long_as_it_is_used(void **state)
{
    play(false);
    play(true);
}

/* EVD-268: a user that fails or is skipped has ended, too. */
static void users_end_in_any_way(void **state)
{
    FIXTURE;

    flow_fixture_spec(fixture, "f", "t",
                      "failurePolicy: continue, flows: [" DB
                      "}, {name: x, jobTemplateName: t}, " USER(
                          "u") "}, {name: v, jobTemplateName: t, dependsOn: {targets: [db, x]}}]");
    run_db(fixture);
    flow_fixture_end(fixture, "f-x", 1, NULL);
    check_told(fixture, "u uses it", 0);
    flow_fixture_end(fixture, "f-u", 1, NULL);
    check_told(fixture, "nobody uses it", 1);
    flow_fixture_phase(fixture, "f-db", JOB_COMPLETED);
    check_str("flow", at(fixture, "state/phase"), "Failed");
}

/* EVD-269: a flow that starts nothing more keeps it for what runs, not for what will never run. */
static void a_failed_flow_ends_it(void **state)
{
    FIXTURE;

    flow_fixture_spec(
        fixture, "f", "t",
        "flows: [" DB "}, {name: x, jobTemplateName: t}, " USER(
            "u") "}, {name: v, jobTemplateName: t, dependsOn: {targets: [u]}}, {name: "
                 "w, jobTemplateName: t, dependsOn: {targets: [db, v]}}]");
    run_db(fixture);
    flow_fixture_phase(fixture, "f-u", JOB_RUNNING);
    flow_fixture_end(fixture, "f-x", 1, NULL);
    check_str("flow", at(fixture, "state/phase"), "Failed");
    check_told(fixture, "u uses it", 0);
    flow_fixture_restart(fixture);
    flow_fixture_phase(fixture, "f-u", JOB_COMPLETED);
    check_told(fixture, "w never runs", 1);
}

/* EVD-270: while it is tried again, users that have not begun wait; others go on. */
static void users_wait_for_the_next_attempt(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        FIXTURE;

        flow_fixture_spec(
            fixture, "f", "t",
            "flows: [{name: a, jobTemplateName: t}, " DB
            ", retry: {maxRetry: 1, backoffSeconds: 1}}, " USER(
                "u") "}, {name: v, jobTemplateName: t, dependsOn: {targets: [db, a]}}]");
        run_db(fixture);
        flow_fixture_phase(fixture, "f-u", JOB_RUNNING);
        flow_fixture_end(fixture, "f-db", 1, NULL);
        flow_fixture_restart_if(fixture, restarts);
        flow_fixture_complete(fixture, "f-a");
        check_str("v waits", flow_fixture_created(fixture), "f-a f-db f-u");
        flow_fixture_advance(fixture, 5000);
        flow_fixture_restart_if(fixture, restarts);
        check_str("again", flow_fixture_created(fixture), "f-a f-db f-u f-db");
        check_str("v waits", at(fixture, "nodes/3/phase"), "Waiting");
        run_db(fixture);
        check_str("v runs", flow_fixture_created(fixture), "f-a f-db f-u f-db f-v");
        flow_fixture_phase(fixture, "f-u", JOB_COMPLETED);
        check_told(fixture, "v uses it", 0);
        flow_fixture_complete(fixture, "f-v");
        check_told(fixture, "nobody uses it", 1);
    }
}

/* EVD-271: its last failure fails the flow; users that have not begun never do. */
static void its_failure_fails_the_flow(void **state)
{
    FIXTURE;

    flow_fixture_spec(
        fixture, "f", "t",
        "failurePolicy: continue, flows: [{name: a, jobTemplateName: t}, " DB
        "}, " USER("u") "}, {name: v, jobTemplateName: t, dependsOn: {targets: [db, a]}}]");
    run_db(fixture);
    flow_fixture_phase(fixture, "f-u", JOB_RUNNING);
    flow_fixture_end(fixture, "f-db", 1, NULL);
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_phase(fixture, "f-u", JOB_COMPLETED);
    check_str("flow", at(fixture, "state/phase"), "Failed");
    check_str("jobs", flow_fixture_created(fixture), "f-a f-db f-u");
    check_told(fixture, "it has ended", 0);
}

/* EVD-272: a retry or rerun of a user starts it again, and no other user. */
static void it_runs_again_with_a_user(void **state)
{
    static const struct {
        const char *key, *created;
    } cases[] = {{NULL, "f-db f-u f-v f-db f-v"},
                 {"volcano.sh/jobFlowRetryOnly", "f-db f-u f-v f-db f-v"},
                 {"volcano.sh/jobFlowRetryFrom", "f-db f-u f-v f-db f-v"}};

    for (size_t i = 0; i < countof(cases); i++) {
        FIXTURE;

        flow_fixture_spec(fixture, "f", "t", TWO_USERS);
        run_db(fixture);
        flow_fixture_complete(fixture, "f-u");
        flow_fixture_end(fixture, "f-v", 1, NULL);
        check_told(fixture, "nobody uses it", 1);
        flow_fixture_phase(fixture, "f-db", JOB_COMPLETED);
        check_str("flow", at(fixture, "state/phase"), "Failed");
        if (cases[i].key)
            flow_fixture_annotate(fixture, "f", cases[i].key, "v");
        flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowRetry", "1");
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart(fixture);
        run_db(fixture);
        check_str("jobs", flow_fixture_created(fixture), cases[i].created);
        flow_fixture_complete(fixture, "f-v");
        check_told(fixture, "told; the first Command has gone with its job", 1);
        flow_fixture_phase(fixture, "f-db", JOB_COMPLETED);
        check_str("flow", at(fixture, "state/phase"), "Succeed");
    }
}

/* EVD-273: it takes no place of maxRunningJobs from its users. */
static void it_leaves_its_users_room(void **state)
{
    FIXTURE;

    flow_fixture_spec(fixture, "f", "t", "scheduling: {maxRunningJobs: 1}, " TWO_USERS);
    run_db(fixture);
    check_str("one user", flow_fixture_created(fixture), "f-db f-u");
    flow_fixture_complete(fixture, "f-u");
    check_str("the other", flow_fixture_created(fixture), "f-db f-u f-v");
}

/* EVD-274: a loop uses it until its last iteration has ended, also when the loop has failed before. */
static void a_loop_is_a_user(void **state)
{
    FIXTURE;

    flow_fixture_spec(fixture, "f", "t", "flows: [" DB "}, " USER("l") ", for: {items: [p, q]}}]");
    run_db(fixture);
    flow_fixture_phase(fixture, "f-l-1", JOB_RUNNING);
    flow_fixture_end(fixture, "f-l-0", 1, NULL);
    check_str("the loop", at(fixture, "nodes/1/phase"), "Failed");
    check_told(fixture, "the other uses it", 0);
    flow_fixture_phase(fixture, "f-l-1", JOB_COMPLETED);
    check_told(fixture, "nobody uses it", 1);
}

/* EVD-275: a server that uses another one; a job that is deleted by hand; one that ends by itself. */
static void servers_use_servers(void **state)
{
    FIXTURE;

    flow_fixture_spec(
        fixture, "f", "t",
        "flows: [" DB "}, {name: api, jobTemplateName: t, until: dependents, dependsOn: "
        "{targets: [db]}}, {name: u, jobTemplateName: t, dependsOn: {targets: [api]}}]");
    run_db(fixture);
    check_str("api", flow_fixture_created(fixture), "f-db f-api");
    flow_fixture_phase(fixture, "f-api", JOB_RUNNING);
    flow_fixture_ready(fixture, "f-api");
    flow_fixture_complete(fixture, "f-u");
    check_told(fixture, "api", 1);
    flow_fixture_phase(fixture, "f-api", JOB_COMPLETED);
    check_told(fixture, "db", 2);
    flow_fixture_phase(fixture, "f-db", JOB_COMPLETED);
    check_str("flow", at(fixture, "state/phase"), "Succeed");
}

static void a_deleted_job_is_made_again(void **state)
{
    FIXTURE;

    flow_fixture_spec(fixture, "f", "t", TWO_USERS);
    run_db(fixture);
    flow_fixture_phase(fixture, "f-u", JOB_RUNNING);
    flow_fixture_delete(fixture, &kind_job, "f-db", REGISTRY_BACKGROUND);
    check_str("jobs", flow_fixture_created(fixture), "f-db f-u f-v f-db");
    flow_fixture_complete(fixture, "f-v");
    flow_fixture_phase(fixture, "f-u", JOB_COMPLETED);
    check_told(fixture, "nobody uses it", 1);
}

static void one_that_ends_by_itself_has_completed(void **state)
{
    FIXTURE;

    flow_fixture_spec(fixture, "f", "t", TWO_USERS);
    flow_fixture_complete(fixture, "f-db");
    check_str("jobs", flow_fixture_created(fixture), "f-db f-u f-v");
    flow_fixture_complete(fixture, "f-u");
    flow_fixture_complete(fixture, "f-v");
    check_str("flow", at(fixture, "state/phase"), "Succeed");
    check_told(fixture, "it has ended", 0);
}

/* An answer that arrives before the pods of the server are seen again. */
static void a_question_stays_open_over_a_restart(void **state)
{
    FIXTURE;
    char command[512];

    flow_fixture_spec(fixture, "f", "t",
                      "flows: [" DB "}, {name: gate, approve: {}, dependsOn: {targets: [db]}}]");
    run_db(fixture);
    check_str("it asks", at(fixture, "nodes/1/reason"), "WaitingForApproval");
    flow_fixture_pod(fixture, "f-db", "main", 0, POD_RUNNING, NULL); /* not ready for a moment */
    flow_fixture_restart(fixture);
    snprintf(command, sizeof command,
             "apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {name: c}\n"
             "action: ApproveStep\nmessage: '{\"step\": \"gate\"}'\n"
             "target: {apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, name: f, uid: %s}\n",
             object_uid(flow_fixture_get(fixture, &kind_job_flow, "f")));
    flow_fixture_apply(fixture, command);
    flow_fixture_settle(fixture);
    check_str("the answer counts", at(fixture, "nodes/1/phase"), "Completed");
    check_int("no answer is lost", flow_fixture_events(fixture, "NothingToApprove"), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_as_long_as_it_is_used),
        cmocka_unit_test(users_end_in_any_way),
        cmocka_unit_test(a_failed_flow_ends_it),
        cmocka_unit_test(users_wait_for_the_next_attempt),
        cmocka_unit_test(its_failure_fails_the_flow),
        cmocka_unit_test(it_runs_again_with_a_user),
        cmocka_unit_test(it_leaves_its_users_room),
        cmocka_unit_test(a_loop_is_a_user),
        cmocka_unit_test(servers_use_servers),
        cmocka_unit_test(a_deleted_job_is_made_again),
        cmocka_unit_test(one_that_ends_by_itself_has_completed),
        cmocka_unit_test(a_question_stays_open_over_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
