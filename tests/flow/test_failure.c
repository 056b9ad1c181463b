/*
 * What a failed step means for the others; with restarts in between.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/command.h"
#include "tests/support/flow_fixture.h"

static void run_flow(struct flow_bed *bed, const char *steps, const char *extra)
{
    flow_bed_templates(bed, "a b c d e");
    flow_bed_flow(bed, "f", steps, extra);
}

/* Half of the runs are without restarts, the others have one after every change. */
/* covers: jobflow.md 171 */
static void continue_runs_what_does_not_depend_on_the_failure(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

        run_flow(bed, "a, b, c<-a, d<-b, e<-d+c", "failurePolicy: continue");
        flow_bed_phase(bed, "f-a", JOB_FAILED);
        flow_bed_advance(bed, run < 2 ? 0 : 1000);
        flow_bed_restart_if(bed, run % 2);
        flow_bed_advance(bed, 1000);
        check_str("goes on", flow_bed_at(bed, "f", "state/phase"), "Running");
        check_str("and says so", flow_bed_at(bed, "f", "state/reason"), "JobFailed");
        flow_bed_complete(bed, "f-b");
        flow_bed_restart_if(bed, run % 2);
        check_str("d starts", flow_bed_created(bed), "f-a f-b f-d");
        check_str("not over", flow_bed_at(bed, "f", "state/phase"), "Running");
        flow_bed_complete(bed, "f-d");
        flow_bed_restart_if(bed, run % 2);
        check_str("over", flow_bed_at(bed, "f", "state/phase"), "Failed");
        check_has("why", flow_bed_at(bed, "f", "state/message"), "f-a is Failed");
        check_str("c and e never", flow_bed_created(bed), "f-a f-b f-d");
        check_str("phases", bed->phases.data, "f:Pending f:Running f:Failed");
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
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

        run_flow(bed, cases[i].steps, "failurePolicy: continue");
        flow_bed_phase(bed, "f-a", JOB_TERMINATED);
        flow_bed_advance(bed, 1000);
        check_str(cases[i].name, flow_bed_at(bed, "f", "state/phase"), cases[i].want);
    }
}

/* covers: jobflow.md 171; see a step without its template may still run */
static void continue_waits_for_a_blocked_step(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    run_flow(bed, "a, late", "failurePolicy: continue");
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    check_str("waits", flow_bed_at(bed, "f", "state/phase"), "Running");
    flow_bed_templates(bed, "late");
    flow_bed_complete(bed, "f-late");
    flow_bed_advance(bed, 1000);
    check_str("over", flow_bed_at(bed, "f", "state/phase"), "Failed");
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
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(&options);

        run_flow(bed, "a, b, c<-b", cases[i].extra);
        if (cases[i].annotation)
            flow_bed_annotate(bed, "f", ANNOTATION_FAILURE_POLICY, cases[i].annotation);
        flow_bed_phase(bed, "f-a", JOB_FAILED);
        flow_bed_complete(bed, "f-b");
        check_int("c", flow_bed_has_job(bed, "f-c"), cases[i].goes_on);
    }
}

static int count_commands(struct flow_bed *bed)
{
    return (int)store_count(bed->store, &kind_command, NULL);
}

static const struct object *termination_of(struct flow_bed *bed, const char *job)
{
    char name[64];

    snprintf(name, sizeof name, "terminate-%s", object_uid(flow_bed_get(bed, &kind_job, job)));
    return flow_bed_get(bed, &kind_command, name);
}

/* covers: jobflow.md 172 */
static void abort_terminates_what_runs(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
        const struct object *command;

        run_flow(bed, "a, b, c, d, e<-d", "failurePolicy: abort");
        flow_bed_phase(bed, "f-b", JOB_RUNNING);
        flow_bed_phase(bed, "f-c", JOB_PENDING);
        flow_bed_complete(bed, "f-d");
        flow_bed_phase(bed, "f-e", JOB_RESTARTING);
        flow_bed_phase_soon(bed, "f-a", JOB_FAILED);
        if (run % 2)
            flow_bed_stop(bed); /* before anything was decided */
        flow_bed_restart_if(bed, run % 2);
        flow_bed_settle(bed);
        check_str("failed at once", flow_bed_at(bed, "f", "state/phase"), "Failed");
        check_int("b, c and e are told", count_commands(bed), 3);
        command = termination_of(bed, "f-b");
        check("b is told", command != NULL);
        check_str("to end", command_of(command)->action, "TerminateJob");
        check_str("by its uid", command_of(command)->target.uid,
                  object_uid(flow_bed_get(bed, &kind_job, "f-b")));
        flow_bed_restart_if(bed, run % 2);
        check_int("once each", count_commands(bed), 3);
        flow_bed_phase(bed, "f-b", JOB_TERMINATING);
        flow_bed_phase(bed, "f-b", JOB_TERMINATED);
        flow_bed_phase(bed, "f-c", JOB_TERMINATED);
        flow_bed_phase(bed, "f-e", JOB_TERMINATED);
        flow_bed_advance(bed, 1000);
        check_str("all are told of", flow_bed_at(bed, "f", "terminatedJobs"),
                  "[\"f-b\",\"f-c\",\"f-e\"]");
        check_has("the first failure stays the reason", flow_bed_at(bed, "f", "state/message"),
                  "f-a is Failed");
    }
}

/* covers: jobflow.md 172; see a command used up without effect */
static void abort_tells_a_job_again_in_a_new_phase(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    const struct object *command;

    run_flow(bed, "a, b", "failurePolicy: abort");
    flow_bed_phase(bed, "f-b", JOB_RESTARTING);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    command = termination_of(bed, "f-b");
    flow_bed_delete(bed, &kind_command, object_name(command), REGISTRY_BACKGROUND);
    flow_bed_advance(bed, 60000);
    check_int("not without need", count_commands(bed), 0);
    flow_bed_phase(bed, "f-b", JOB_RUNNING);
    check_int("again", count_commands(bed), 1);
}

/* covers: jobflow.md 172; see a policy that comes when the flow has failed already */
static void abort_may_be_decided_later(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    run_flow(bed, "a, b", NULL);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    check_int("goes on", count_commands(bed), 0);
    flow_bed_annotate(bed, "f", ANNOTATION_FAILURE_POLICY, "abort");
    flow_bed_settle(bed);
    check_int("told", count_commands(bed), 1);
}

static void a_person_may_abort_a_flow(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

        run_flow(bed, "a, b<-a, c, zzz", "failurePolicy: continue");
        flow_bed_phase(bed, "f-a", JOB_RUNNING);
        flow_bed_complete(bed, "f-c");
        flow_bed_annotate(bed, "f", ANNOTATION_FLOW_ABORT, "please");
        flow_bed_restart_if(bed, run % 2);
        flow_bed_settle(bed);
        check_str("failed", flow_bed_at(bed, "f", "state/phase"), "Failed");
        check_str("and says why", flow_bed_at(bed, "f", "state/reason"), "Aborted");
        check("a is told to end", termination_of(bed, "f-a") != NULL);
        check_int("nobody else", count_commands(bed), 1);
        flow_bed_phase(bed, "f-a", JOB_TERMINATED);
        flow_bed_templates(bed, "zzz");
        check_str("nothing starts any more", flow_bed_created(bed), "f-a f-c");
    }
}

static void an_abort_may_come_before_the_first_job(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_flow(bed, "f", "a", NULL);
    flow_bed_annotate(bed, "f", ANNOTATION_FLOW_ABORT, "please");
    flow_bed_settle(bed);
    check_str("failed", flow_bed_at(bed, "f", "state/phase"), "Failed");
    flow_bed_templates(bed, "a");
    check_str("nothing starts", flow_bed_created(bed), "");
}

static void an_aborted_flow_may_be_retried(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    run_flow(bed, "a, b<-a", NULL);
    flow_bed_annotate(bed, "f", ANNOTATION_FLOW_ABORT, "please");
    flow_bed_settle(bed);
    flow_bed_phase(bed, "f-a", JOB_TERMINATED);
    flow_bed_annotate(bed, "f", ANNOTATION_FLOW_ABORT, "");
    flow_bed_annotate(bed, "f", ANNOTATION_FLOW_RETRY, "1");
    flow_bed_advance(bed, 1000);
    flow_bed_complete(bed, "f-a");
    flow_bed_complete(bed, "f-b");
    check_str("done", flow_bed_at(bed, "f", "state/phase"), "Succeed");
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
