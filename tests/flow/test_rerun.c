/*
 * Tests reruns: flows that have ended run named steps again and keep the others. Half of the runs
 * restart the controller after every change, so that they go on from what is stored.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/flow_fixture.h"

static unsigned asked;

/* Asks for a rerun as clients do: all annotations in one write. `only` and `from` may be NULL. */
static void ask(struct flow_fixture *fixture, const char *from, const char *only)
{
    char value[16];

    snprintf(value, sizeof value, "%u", ++asked);
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY_FROM, "");
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY_ONLY, only ? only : "");
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY_FROM, from ? from : "");
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, value);
    flow_fixture_settle(fixture);
}

static const char *phase_of(struct flow_fixture *fixture)
{
    return flow_fixture_at(fixture, "f", "state/phase");
}

static const char *reason_of(struct flow_fixture *fixture)
{
    return flow_fixture_at(fixture, "f", "state/reason");
}

/* Completes the job, and lets the controller restart in every second run. */
static void complete(struct flow_fixture *fixture, const char *job, size_t run)
{
    flow_fixture_complete(fixture, job);
    flow_fixture_restart_if(fixture, run % 2);
}

static void fail_job(struct flow_fixture *fixture, const char *job, size_t run)
{
    flow_fixture_phase(fixture, job, JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_restart_if(fixture, run % 2);
}

static void end(struct flow_fixture *fixture, size_t run)
{
    flow_fixture_advance(fixture, 1000);
    flow_fixture_restart_if(fixture, run % 2);
}

static char *uid_of(struct flow_fixture *fixture, const char *job)
{
    const struct object *object = flow_fixture_get(fixture, &kind_job, job);

    return mem_strdup(object ? object_uid(object) : "none");
}

/* Completes the jobs, whose names are separated by blanks. */
static void complete_all(struct flow_fixture *fixture, const char *jobs, size_t run)
{
    scoped_str list = mem_strdup(jobs);

    for (char *rest = list, *job; (job = strtok_r(rest, " ", &rest));)
        complete(fixture, job, run);
    end(fixture, run);
}

/* covers: everyday.md EVD-192 */
static void from_runs_a_step_and_what_depends_on_it(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        scoped_str a = NULL;
        scoped_str c = NULL;

        flow_fixture_run_f(fixture, "a, b<-a, c<-a, d<-b+c", NULL);
        complete_all(fixture, "f-a f-b f-c f-d", run);
        check_str("succeeds", phase_of(fixture), "Succeed");
        a = uid_of(fixture, "f-a");
        c = uid_of(fixture, "f-c");
        ask(fixture, "b", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        check_str("runs", phase_of(fixture), "Running");
        check_str("not over", flow_fixture_at(fixture, "f", "completionTime"), "");
        check_str("b alone", flow_fixture_created(fixture), "f-a f-b f-c f-d f-b");
        check("d is gone", !flow_fixture_has_job(fixture, "f-d"));
        complete_all(fixture, "f-b f-d", run);
        check_str("succeeds again", phase_of(fixture), "Succeed");
        check_str("then d", flow_fixture_created(fixture), "f-a f-b f-c f-d f-b f-d");
        check_str("a second attempt", flow_fixture_attempt(fixture, "f-b"), "2");
        check_str("a second attempt", flow_fixture_attempt(fixture, "f-d"), "2");
        check_str("the record of the first",
                  flow_fixture_at(fixture, "f", "nodes/3/attempts/0/phase"), "Completed");
        check_str("a is the same", object_uid(flow_fixture_get(fixture, &kind_job, "f-a")), a);
        check_str("c is the same", object_uid(flow_fixture_get(fixture, &kind_job, "f-c")), c);
        check_int("told", flow_fixture_events(fixture, "Rerun"), 1);
    }
}

/* covers: everyday.md EVD-193 */
static void only_runs_nothing_else(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b<-a, c<-b", NULL);
        complete_all(fixture, "f-a f-b f-c", run);
        ask(fixture, NULL, "b");
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-b", run);
        check_str("b alone", flow_fixture_created(fixture), "f-a f-b f-c f-b");
        check_str("succeeds", phase_of(fixture), "Succeed");
        check_str("its attempt", flow_fixture_attempt(fixture, "f-b"), "2");
    }
}

/* covers: everyday.md EVD-194 */
static void a_failure_that_is_not_named_stays(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b<-a, c<-a, d<-b+c", NULL);
        complete(fixture, "f-a", run);
        complete(fixture, "f-b", run);
        fail_job(fixture, "f-c", run);
        ask(fixture, "b", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        check_str("it runs though c has failed", phase_of(fixture), "Running");
        check_str("b again", flow_fixture_created(fixture), "f-a f-b f-c f-b");
        complete_all(fixture, "f-b", run);
        check_str("d does not run", flow_fixture_created(fixture), "f-a f-b f-c f-b");
        check_str("failed", phase_of(fixture), "Failed");
        check_has("why", flow_fixture_at(fixture, "f", "state/message"),
                  "job f-c is Failed; the step is not among those that run again");
        ask(fixture, NULL, NULL); /* a plain retry after it */
        complete_all(fixture, "f-c f-d", run);
        check_str("all is well", phase_of(fixture), "Succeed");
        check_str("b stays", flow_fixture_created(fixture), "f-a f-b f-c f-b f-c f-d");
    }
}

/* covers: everyday.md EVD-194; see a new failure counts at once, with what was kept as well */
static void a_new_failure_stops_the_flow(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b, c, d<-b, e<-a", NULL);
        complete(fixture, "f-b", run);
        complete(fixture, "f-d", run);
        fail_job(fixture, "f-c", run);
        complete(fixture, "f-a", run);
        ask(fixture, "a,b", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        fail_job(fixture, "f-b", run);
        check_str("failed", phase_of(fixture), "Failed");
        check_has("the new failure", flow_fixture_at(fixture, "f", "state/message"),
                  "job f-b is Failed; 1 more failed");
    }
}

/* covers: everyday.md EVD-193; see a step that never ran is left out */
static void only_leaves_out_what_never_ran(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b<-a, c<-b", NULL);
        complete(fixture, "f-a", run);
        fail_job(fixture, "f-b", run);
        ask(fixture, NULL, "b");
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-b", run);
        check_str("c does not run", flow_fixture_created(fixture), "f-a f-b f-b");
        check_str("failed", phase_of(fixture), "Failed");
        check_str("why", reason_of(fixture), "StepsNotRun");
        check_str("which", flow_fixture_at(fixture, "f", "state/message"), "never run: c");
        ask(fixture, NULL, NULL);
        complete_all(fixture, "f-c", run);
        check_str("all is well", phase_of(fixture), "Succeed");
    }
}

/* covers: everyday.md EVD-199 */
static void of_two_requests_the_last_one_counts_once(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b<-a, c<-b", NULL);
        complete_all(fixture, "f-a f-b f-c", run);
        if (run)
            flow_fixture_stop(fixture);
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY_FROM, "a");
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "first");
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY_FROM, "c");
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "second");
        if (run)
            flow_fixture_start(fixture);
        flow_fixture_settle(fixture);
        complete_all(fixture, "f-c", run);
        check_str("c alone", flow_fixture_created(fixture), "f-a f-b f-c f-c");
        check_str("succeeds", phase_of(fixture), "Succeed");
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "second");
        end(fixture, run);
        check_str("not again", flow_fixture_created(fixture), "f-a f-b f-c f-c");
    }
}

/* covers: everyday.md EVD-201 */
static void jobs_that_are_gone_are_no_obstacle(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b<-a, c<-b", "jobRetainPolicy: delete");
        complete_all(fixture, "f-a f-b f-c", run);
        check("gone", !flow_fixture_has_job(fixture, "f-a"));
        ask(fixture, "b", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-b f-c", run);
        check_str("b and c", flow_fixture_created(fixture), "f-a f-b f-c f-b f-c");
        check_str("succeeds", phase_of(fixture), "Succeed");
        check("gone again", !flow_fixture_has_job(fixture, "f-c"));
    }
}

/* covers: everyday.md EVD-204 */
static void a_value_alone_means_what_it_meant(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a, b<-a", NULL);
    complete_all(fixture, "f-a f-b", 0);
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
    end(fixture, 0);
    check_str("a flow that succeeded is not retried", flow_fixture_created(fixture), "f-a f-b");
    check_str("nothing has changed", phase_of(fixture), "Succeed");
}

#define FLOW(spec)                                                                                 \
    "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\nspec: " spec "\n"

/* covers: everyday.md EVD-195 */
static void branches_are_decided_anew(void **state)
{
    static const char *const specs[] = {
        "{flows: [{name: a}, {name: b, dependsOn: {targets: [a]}, if: {terms: [{target: a,\n"
        "  output: {key: k, operator: In, values: [x]}}]}},\n"
        "  {name: c, dependsOn: {targets: [a]}, if: {terms: [{target: a,\n"
        "  output: {key: k, operator: NotIn, values: [x]}}]}}]}",
        "{flows: [{name: a}, {name: b}, {name: c}, {name: pick, dependsOn: {targets: [a]},\n"
        "  switch: {cases: [{name: x, flows: [b], if: {terms: [{target: a,\n"
        "  output: {key: k, operator: In, values: [x]}}]}}], default: [c]}}]}",
    };

    for (size_t run = 0; run < 2 * countof(specs); run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        scoped_str text = mem_printf(FLOW("%s"), specs[run / 2]);

        flow_fixture_templates(fixture, "a b c");
        flow_fixture_apply(fixture, text);
        flow_fixture_end(fixture, "f-a", 0, "k=x");
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-b", run);
        check_str("b was taken", flow_fixture_created(fixture), "f-a f-b");
        check_str("succeeds", phase_of(fixture), "Succeed");
        ask(fixture, "a", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_end(fixture, "f-a", 0, "k=y");
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-c", run);
        check_str("c is taken", flow_fixture_created(fixture), "f-a f-b f-a f-c");
        check("the job of b is gone", !flow_fixture_has_job(fixture, "f-b"));
        check_str("b is skipped", flow_fixture_at(fixture, "f", "nodes/1/phase"), "Skipped");
        check_str("succeeds", phase_of(fixture), "Succeed");
    }
}

/* covers: everyday.md EVD-196 */
static void one_iteration_runs_again(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_templates(fixture, "a b");
        flow_fixture_apply(fixture, FLOW("{flows: [{name: a, for: {items: [p, q, r]}},\n"
                                         "  {name: b, dependsOn: {targets: [a]}}]}"));
        complete_all(fixture, "f-a-0 f-a-1 f-a-2 f-b", run);
        check_str("succeeds", phase_of(fixture), "Succeed");
        ask(fixture, NULL, "a-1");
        flow_fixture_restart_if(fixture, run % 2);
        check_str("one", flow_fixture_created(fixture), "f-a-0 f-a-1 f-a-2 f-b f-a-1");
        complete_all(fixture, "f-a-1", run);
        check_str("succeeds again", phase_of(fixture), "Succeed");
        ask(fixture, NULL, "a-0,a-2");
        flow_fixture_restart_if(fixture, run % 2);
        fail_job(fixture, "f-a-2", run);
        check_str("the loop fails", phase_of(fixture), "Failed");
        complete(fixture, "f-a-0", run);
        ask(fixture, NULL, "a-0");
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-a-0", run);
        check_str("the other one stays failed", phase_of(fixture), "Failed");
        ask(fixture, "a-2", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-a-2 f-b", run);
        check_str("with what depends on it", flow_fixture_created(fixture),
                  "f-a-0 f-a-1 f-a-2 f-b f-a-1 f-a-0 f-a-2 f-a-0 f-a-2 f-b");
        check_str("all is well", phase_of(fixture), "Succeed");
    }
}

/* covers: everyday.md EVD-196 */
static void a_loop_with_until_begins_with_its_first_iteration(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_templates(fixture, "a");
        flow_fixture_apply(
            fixture, FLOW("{flows: [{name: a, for: {maxIterations: 3, until: {terms: [{target: "
                          "a,\n  output: {key: k, operator: In, values: [x]}}]}}}]}"));
        complete(fixture, "f-a-0", run);
        flow_fixture_end(fixture, "f-a-1", 0, "k=x");
        end(fixture, run);
        check_str("succeeds", phase_of(fixture), "Succeed");
        ask(fixture, "a", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-a-0 f-a-1 f-a-2", run);
        check_str("three more", flow_fixture_created(fixture), "f-a-0 f-a-1 f-a-0 f-a-1 f-a-2");
        check_str("its budget is used up", reason_of(fixture), "LoopExhausted");
    }
}

/* covers: everyday.md EVD-197 */
static void final_steps_run_again(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_templates(fixture, "a b z");
        flow_fixture_apply(fixture,
                           FLOW("{flows: [{name: a}, {name: b, dependsOn: {targets: [a]}},\n"
                                "  {name: z, when: always}]}"));
        complete_all(fixture, "f-a f-b f-z", run);
        check_str("succeeds", phase_of(fixture), "Succeed");
        ask(fixture, NULL, "a");
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-a f-z", run);
        check_str("a and z", flow_fixture_created(fixture), "f-a f-b f-z f-a f-z");
        check_str("succeeds", phase_of(fixture), "Succeed");
    }
}

/* covers: everyday.md EVD-197; see a failure is handled as in a first run, or stays handled */
static void handled_failures_are_handled_again(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_templates(fixture, "a b c");
        flow_fixture_apply(fixture,
                           FLOW("{handledFailures: succeed, flows: [{name: a}, {name: b, "
                                "dependsOn: {targets: [a]},\n"
                                "  if: {terms: [{target: a, phases: [Failed]}]}}, {name: c}]}"));
        complete(fixture, "f-c", run);
        flow_fixture_phase(fixture, "f-a", JOB_FAILED);
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-b", run);
        check_str("succeeds", phase_of(fixture), "Succeed");
        ask(fixture, "c", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-c", run);
        check_str("the failure stays handled", phase_of(fixture), "Succeed");
        ask(fixture, "a", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-a", run);
        check_str("nothing to handle", flow_fixture_created(fixture), "f-a f-c f-b f-c f-a");
        check_str("b is skipped", flow_fixture_at(fixture, "f", "nodes/1/phase"), "Skipped");
        check_str("succeeds", phase_of(fixture), "Succeed");
    }
}

/* covers: everyday.md EVD-197 */
static void a_gang_in_the_set_starts_together(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b<-a, c<-a", "gangs: [{name: g, flows: [b, c]}]");
        complete_all(fixture, "f-a f-b f-c", run);
        ask(fixture, "a", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        check_str("a first", flow_fixture_created(fixture), "f-a f-b f-c f-a");
        complete_all(fixture, "f-a f-b f-c", run);
        check_str("then both", flow_fixture_created(fixture), "f-a f-b f-c f-a f-b f-c");
        check_str("succeeds", phase_of(fixture), "Succeed");
    }
}

/* covers: everyday.md EVD-203; see the entry of a step is edited with the request */
static void an_edited_step_begins_again_with_what_depends_on_it(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_templates(fixture, "a b c d");
        flow_fixture_apply(fixture,
                           FLOW("{flows: [{name: a}, {name: b, dependsOn: {targets: [a]}},\n"
                                "  {name: c, dependsOn: {targets: [a]}},\n"
                                "  {name: d, dependsOn: {targets: [c]}}]}"));
        complete(fixture, "f-a", run);
        complete(fixture, "f-c", run);
        complete(fixture, "f-d", run);
        fail_job(fixture, "f-b", run);
        flow_fixture_apply(
            fixture, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f,\n"
                     "  annotations: {volcano.sh/jobFlowRetry: edited}}\n"
                     "spec: {flows: [{name: a}, {name: b, dependsOn: {targets: [a]}},\n"
                     "  {name: c, jobTemplateName: b, dependsOn: {targets: [a]}},\n"
                     "  {name: d, dependsOn: {targets: [c]}}]}\n");
        flow_fixture_settle(fixture);
        flow_fixture_restart_if(fixture, run % 2);
        complete_all(fixture, "f-b f-c f-d", run);
        check_str("b because it failed, c and d because of the edit", flow_fixture_created(fixture),
                  "f-a f-b f-c f-d f-b f-c f-d");
        check_str("succeeds", phase_of(fixture), "Succeed");
    }
}

/* covers: everyday.md EVD-202; see the record of a large flow */
static void a_large_flow_runs_its_second_half_again(void **state)
{
    enum { STEPS = 1200 };

    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        scoped(buf) struct buf yaml = {0};
        char name[32];
        size_t jobs = 1;

        flow_fixture_templates(fixture, "t");
        buf_str(&yaml, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
                       "metadata: {name: f}\nspec: {flows: [{name: mid, jobTemplateName: t},");
        for (int i = 0; i < STEPS; i++)
            buf_printf(&yaml, "{name: s%d, jobTemplateName: t%s},", i,
                       i < STEPS / 2 ? "" : ", dependsOn: {targets: [mid]}");
        buf_str(&yaml, "]}\n");
        flow_fixture_apply(fixture, yaml.data);
        flow_fixture_settle(fixture);
        flow_fixture_complete(fixture, "f-mid");
        for (int i = 0; i < STEPS; i++) {
            snprintf(name, sizeof name, "f-s%d", i);
            flow_fixture_phase_soon(fixture, name, JOB_COMPLETED);
        }
        end(fixture, run);
        flow_fixture_advance(fixture, 5000);
        check_str("succeeds", phase_of(fixture), "Succeed");
        ask(fixture, "mid", NULL);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_advance(fixture, 5000);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_complete(fixture, "f-mid");
        flow_fixture_restart_if(fixture, run % 2);
        for (int i = STEPS / 2; i < STEPS; i++) {
            snprintf(name, sizeof name, "f-s%d", i);
            check_str(name, flow_fixture_attempt(fixture, name), "2");
            flow_fixture_phase_soon(fixture, name, JOB_COMPLETED);
        }
        flow_fixture_advance(fixture, 5000);
        check_str("succeeds", phase_of(fixture), "Succeed");
        for (const char *c = flow_fixture_created(fixture); *c; c++)
            jobs += *c == ' ';
        check_int("no job too many", jobs, 1 + STEPS + 1 + STEPS / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_runs_a_step_and_what_depends_on_it),
        cmocka_unit_test(only_runs_nothing_else),
        cmocka_unit_test(a_failure_that_is_not_named_stays),
        cmocka_unit_test(a_new_failure_stops_the_flow),
        cmocka_unit_test(only_leaves_out_what_never_ran),
        cmocka_unit_test(of_two_requests_the_last_one_counts_once),
        cmocka_unit_test(jobs_that_are_gone_are_no_obstacle),
        cmocka_unit_test(a_value_alone_means_what_it_meant),
        cmocka_unit_test(branches_are_decided_anew),
        cmocka_unit_test(one_iteration_runs_again),
        cmocka_unit_test(a_loop_with_until_begins_with_its_first_iteration),
        cmocka_unit_test(final_steps_run_again),
        cmocka_unit_test(handled_failures_are_handled_again),
        cmocka_unit_test(a_gang_in_the_set_starts_together),
        cmocka_unit_test(an_edited_step_begins_again_with_what_depends_on_it),
        cmocka_unit_test(a_large_flow_runs_its_second_half_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
