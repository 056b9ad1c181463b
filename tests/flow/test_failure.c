/*
 * Tests the effect of a failed step on the others, with restarts in between.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/command.h"
#include "tests/support/flow_fixture.h"

/* Half of the runs have no restarts, the others have one after every change. */
/* covers: jobflow.md 171 */
static void continue_runs_what_does_not_depend_on_the_failure(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b, c<-a, d<-b, e<-d+c", "failurePolicy: continue");
        flow_fixture_phase(fixture, "f-a", JOB_FAILED);
        flow_fixture_advance(fixture, run < 2 ? 0 : 1000);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_advance(fixture, 1000);
        check_str("goes on", flow_fixture_at(fixture, "f", "state/phase"), "Running");
        check_str("and says so", flow_fixture_at(fixture, "f", "state/reason"), "JobFailed");
        flow_fixture_complete(fixture, "f-b");
        flow_fixture_restart_if(fixture, run % 2);
        check_str("d starts", flow_fixture_created(fixture), "f-a f-b f-d");
        check_str("not over", flow_fixture_at(fixture, "f", "state/phase"), "Running");
        flow_fixture_complete(fixture, "f-d");
        flow_fixture_restart_if(fixture, run % 2);
        check_str("over", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_has("why", flow_fixture_at(fixture, "f", "state/message"), "f-a is Failed");
        check_str("c and e never", flow_fixture_created(fixture), "f-a f-b f-d");
        check_str("phases", fixture->phases.data, "f:Pending f:Running f:Failed");
    }
}

/* covers: jobflow.md 171 */
static void continue_ends_at_once_when_nothing_is_left(void **state)
{
    static const struct {
        const char *name, *steps, *want;
    } cases[] = {
        {"alone", "a", "Failed"},
        {"all wait for it", "a, b<-a, c<-b", "Failed"},
        {"another is pending", "a, b", "Running"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, cases[i].steps, "failurePolicy: continue");
        flow_fixture_phase(fixture, "f-a", JOB_TERMINATED);
        flow_fixture_advance(fixture, 1000);
        check_str(cases[i].name, flow_fixture_at(fixture, "f", "state/phase"), cases[i].want);
    }
}

/* covers: jobflow.md 171; see a step without its template may still run */
static void continue_waits_for_a_blocked_step(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a, late", "failurePolicy: continue");
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    check_str("waits", flow_fixture_at(fixture, "f", "state/phase"), "Running");
    flow_fixture_templates(fixture, "late");
    flow_fixture_complete(fixture, "f-late");
    flow_fixture_advance(fixture, 1000);
    check_str("over", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
}

/* covers: jobflow.md 171; see the annotation in place of the field */
static void annotation_wins_over_the_field(void **state)
{
    static const struct {
        const char *extra, *annotation;
        bool upstream, goes_on;
    } cases[] = {
        {NULL, "continue", false, true},
        {"failurePolicy: abort", "continue", false, true},
        {"failurePolicy: continue", "stop", false, false},
        {"failurePolicy: stop", NULL, false, false},
        {"failurePolicy: continue", NULL, true, false},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        const struct flow_options options = {.upstream_compat = cases[i].upstream};
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(&options);

        flow_fixture_run_f(fixture, "a, b, c<-b", cases[i].extra);
        if (cases[i].annotation)
            flow_fixture_annotate(fixture, "f", ANNOTATION_FAILURE_POLICY, cases[i].annotation);
        flow_fixture_phase(fixture, "f-a", JOB_FAILED);
        flow_fixture_complete(fixture, "f-b");
        check_int("c", flow_fixture_has_job(fixture, "f-c"), cases[i].goes_on);
    }
}

static int count_commands(struct flow_fixture *fixture)
{
    return (int)store_count(fixture->store, &kind_command, NULL);
}

static const struct object *termination_of(struct flow_fixture *fixture, const char *job)
{
    char name[64];

    snprintf(name, sizeof name, "terminate-%s",
             object_uid(flow_fixture_get(fixture, &kind_job, job)));
    return flow_fixture_get(fixture, &kind_command, name);
}

/* covers: jobflow.md 172 */
static void abort_terminates_what_runs(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        const struct object *command;

        flow_fixture_run_f(fixture, "a, b, c, d, e<-d", "failurePolicy: abort");
        flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
        flow_fixture_phase(fixture, "f-c", JOB_PENDING);
        flow_fixture_complete(fixture, "f-d");
        flow_fixture_phase(fixture, "f-e", JOB_RESTARTING);
        flow_fixture_phase_soon(fixture, "f-a", JOB_FAILED);
        if (run % 2)
            flow_fixture_stop(fixture); /* the controller stops before it has decided anything */
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_settle(fixture);
        check_str("failed at once", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_int("b, c and e are told", count_commands(fixture), 3);
        command = termination_of(fixture, "f-b");
        check("b is told", command != NULL);
        check_str("to end", command_of(command)->action, "TerminateJob");
        check_str("by its uid", command_of(command)->target.uid,
                  object_uid(flow_fixture_get(fixture, &kind_job, "f-b")));
        flow_fixture_restart_if(fixture, run % 2);
        check_int("once each", count_commands(fixture), 3);
        flow_fixture_phase(fixture, "f-b", JOB_TERMINATING);
        flow_fixture_phase(fixture, "f-b", JOB_TERMINATED);
        flow_fixture_phase(fixture, "f-c", JOB_TERMINATED);
        flow_fixture_phase(fixture, "f-e", JOB_TERMINATED);
        flow_fixture_advance(fixture, 1000);
        check_str("all are told of", flow_fixture_at(fixture, "f", "terminatedJobs"),
                  "[\"f-b\",\"f-c\",\"f-e\"]");
        check_has("the first failure stays the reason",
                  flow_fixture_at(fixture, "f", "state/message"), "f-a is Failed");
    }
}

/* covers: jobflow.md 172; see a command used up without effect */
static void abort_tells_a_job_again_in_a_new_phase(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    const struct object *command;

    flow_fixture_run_f(fixture, "a, b", "failurePolicy: abort");
    flow_fixture_phase(fixture, "f-b", JOB_RESTARTING);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    command = termination_of(fixture, "f-b");
    flow_fixture_delete(fixture, &kind_command, object_name(command), REGISTRY_BACKGROUND);
    flow_fixture_advance(fixture, 60000);
    check_int("not without need", count_commands(fixture), 0);
    flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
    check_int("again", count_commands(fixture), 1);
}

/* covers: jobflow.md 172; see a policy that comes when the flow has failed already */
static void abort_may_be_decided_later(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a, b", NULL);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    check_int("goes on", count_commands(fixture), 0);
    flow_fixture_annotate(fixture, "f", ANNOTATION_FAILURE_POLICY, "abort");
    flow_fixture_settle(fixture);
    check_int("told", count_commands(fixture), 1);
}

static void a_person_may_abort_a_flow(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b<-a, c, zzz", "failurePolicy: continue");
        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_complete(fixture, "f-c");
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_ABORT, "please");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_settle(fixture);
        check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_str("and says why", flow_fixture_at(fixture, "f", "state/reason"), "Aborted");
        check("a is told to end", termination_of(fixture, "f-a") != NULL);
        check_int("no other command", count_commands(fixture), 1);
        flow_fixture_phase(fixture, "f-a", JOB_TERMINATED);
        flow_fixture_templates(fixture, "zzz");
        check_str("nothing starts any more", flow_fixture_created(fixture), "f-a f-c");
    }
}

static void an_abort_may_come_before_the_first_job(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_flow(fixture, "f", "a", NULL);
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_ABORT, "please");
    flow_fixture_settle(fixture);
    check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    flow_fixture_templates(fixture, "a");
    check_str("nothing starts", flow_fixture_created(fixture), "");
}

static void an_aborted_flow_may_be_retried(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a, b<-a", NULL);
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_ABORT, "please");
    flow_fixture_settle(fixture);
    flow_fixture_phase(fixture, "f-a", JOB_TERMINATED);
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_ABORT, "");
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
    flow_fixture_advance(fixture, 1000);
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_complete(fixture, "f-b");
    check_str("done", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continue_runs_what_does_not_depend_on_the_failure),
        cmocka_unit_test(continue_ends_at_once_when_nothing_is_left),
        cmocka_unit_test(continue_waits_for_a_blocked_step),
        cmocka_unit_test(annotation_wins_over_the_field),
        cmocka_unit_test(abort_terminates_what_runs),
        cmocka_unit_test(abort_tells_a_job_again_in_a_new_phase),
        cmocka_unit_test(abort_may_be_decided_later),
        cmocka_unit_test(a_person_may_abort_a_flow),
        cmocka_unit_test(an_abort_may_come_before_the_first_job),
        cmocka_unit_test(an_aborted_flow_may_be_retried),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
