/*
 * Tests retry policies, final steps, gangs, limits and ends of flows, with restarts in between.
 */
#include "tests/unit.h"

#include "api/types/kinds/command.h"
#include "tests/support/flow_fixture.h"

/* covers: jobflow.md 167; see DC-06 */
static void a_step_is_tried_again_until_it_completes(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a b",
                          "flows: [{name: a, retry: {maxRetry: 2}}, {name: b, dependsOn: {targets: "
                          "[a]}}]");
        flow_fixture_end(fixture, "f-a", 3, NULL);
        flow_fixture_advance(fixture, 500);
        flow_fixture_restart_if(fixture, run);
        check_str("retrying", flow_fixture_at(fixture, "f", "conditions/f-a/phase"), "Retrying");
        check("when", *flow_fixture_at(fixture, "f", "nodes/0/nextRetryTime"));
        check("the job stays", flow_fixture_has_job(fixture, "f-a"));
        check_str("goes on", flow_fixture_at(fixture, "f", "state/phase"), "Running");
        flow_fixture_advance(fixture, 9400);
        check_str("not yet", flow_fixture_created(fixture), "f-a");
        flow_fixture_advance(fixture, 200);
        check_str("after ten seconds", flow_fixture_created(fixture), "f-a f-a");
        flow_fixture_restart_if(fixture, run);
        flow_fixture_end(fixture, "f-a", 4, NULL);
        flow_fixture_restart_if(fixture, run);
        flow_fixture_advance(fixture, 19000);
        check_str("after twenty", flow_fixture_created(fixture), "f-a f-a");
        flow_fixture_advance(fixture, 1500);
        check_str("three attempts", flow_fixture_created(fixture), "f-a f-a f-a");
        check_str("attempt",
                  meta_annotation(flow_fixture_get(fixture, &kind_job, "f-a")->meta,
                                  ANNOTATION_FLOW_ATTEMPT),
                  "3");
        flow_fixture_end(fixture, "f-a", 0, NULL);
        flow_fixture_restart_if(fixture, run);
        flow_fixture_end(fixture, "f-b", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
        check_str("phases", fixture->phases.data, "f:Pending f:Running f:Succeed");
        check_str("restarts", flow_fixture_at(fixture, "f", "jobStatusList/0/restartCount"), "2");
        check_str("first", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/exitCodes/main"),
                  "[3]");
        check_str("second", flow_fixture_at(fixture, "f", "nodes/0/attempts/1/exitCodes/main"),
                  "[4]");
        check_str("third", flow_fixture_at(fixture, "f", "nodes/0/attempts/2/exitCodes/main"),
                  "[0]");
        check_str("all", flow_fixture_at(fixture, "f", "nodes/0/attempts/3"), "");
        check_int("told", flow_fixture_events(fixture, "Retrying"), run ? 3 : 2);
    }
}

struct retry_case {
    const char *name, *spec;
    int code;
    enum job_phase phase;
    const char *created; /* jobs created within ten minutes in which every attempt ends in this
                          * phase */
};

/* clang-format off */
static const struct retry_case retries[] = {
    {"168: the flow's maxRetry", "maxRetry: 1, flows: [{name: a}]", 1, JOB_FAILED, "f-a f-a"},
    {"170: no retry", "flows: [{name: a}]", 1, JOB_FAILED, "f-a"},
    {"the step's own wins", "maxRetry: 3, flows: [{name: a, retry: {maxRetry: 0}}]", 1, JOB_FAILED, "f-a"},
    {"the flow's number, the step's wait", "maxRetry: 2, flows: [{name: a, retry: {backoffSeconds: 1}}]", 1, JOB_FAILED, "f-a f-a f-a"},
    {"terminated", "maxRetry: 1, flows: [{name: a}]", 1, JOB_TERMINATED, "f-a f-a"},
    {"a phase not listed", "maxRetry: 1, flows: [{name: a, retry: {phases: [Terminated]}}]", 1, JOB_FAILED, "f-a"},
    {"aborted when listed", "maxRetry: 1, flows: [{name: a, retry: {phases: [Aborted]}}]", 1, JOB_ABORTED, "f-a f-a"},
    {"an exit code listed", "maxRetry: 1, flows: [{name: a, retry: {exitCodes: {operator: In, values: [7, 8]}}}]", 7, JOB_FAILED, "f-a f-a"},
    {"one that is not", "maxRetry: 1, flows: [{name: a, retry: {exitCodes: {operator: NotIn, values: [2]}}}]", 2, JOB_FAILED, "f-a"},
    {"greater", "maxRetry: 1, flows: [{name: a, retry: {exitCodes: {operator: Gt, values: [127]}}}]", 137, JOB_FAILED, "f-a f-a"},
    {"no wait", "flows: [{name: a, retry: {maxRetry: 4, backoffSeconds: 0}}]", 1, JOB_FAILED, "f-a f-a f-a f-a f-a"},
};
/* clang-format on */

static void fail_until_done(struct flow_fixture *fixture, const struct retry_case *c, bool restarts)
{
    for (int i = 0; i < 60; i++) {
        const struct object *job = flow_fixture_get(fixture, &kind_job, "f-a");

        if (job && job_status_of(job)->phase == JOB_NONE) {
            flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
            flow_fixture_end_pod(fixture, "f-a", "main", 0, c->code, NULL);
            flow_fixture_phase(fixture, "f-a", c->phase);
        }
        if (restarts)
            flow_fixture_restart(fixture);
        flow_fixture_advance(fixture, 10000);
    }
}

/* covers: jobflow.md 168 170 */
static void retries_follow_the_policy(void **state)
{
    for (size_t i = 0; i < countof(retries); i++)
        for (int run = 0; run < 2; run++) {
            scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

            flow_fixture_spec(fixture, "f", "a", retries[i].spec);
            fail_until_done(fixture, &retries[i], run);
            check_str(retries[i].name, flow_fixture_created(fixture), retries[i].created);
            if (retries[i].phase != JOB_ABORTED)
                check_str(retries[i].name, flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        }
}

/* covers: jobflow.md 169 */
static void the_wait_survives_a_restart(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a",
                      "flows: [{name: a, retry: {maxRetry: 1, backoffSeconds: 60}}]");
    flow_fixture_end(fixture, "f-a", 1, NULL);
    flow_fixture_advance(fixture, 20000);
    flow_fixture_stop(fixture);
    flow_fixture_advance(fixture, 20000);
    flow_fixture_start(fixture);
    flow_fixture_advance(fixture, 18000);
    check_str("not yet", flow_fixture_created(fixture), "f-a");
    flow_fixture_advance(fixture, 3000);
    check_str("at the stored time", flow_fixture_created(fixture), "f-a f-a");
}

/* covers: see jobflow.md 13.4: the end of a flow ends its retries */
static void a_failed_flow_tries_nothing_again(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a b", "flows: [{name: a, retry: {maxRetry: 3}}, {name: b}]");
    flow_fixture_end(fixture, "f-a", 1, NULL);
    flow_fixture_advance(fixture, 500);
    flow_fixture_end(fixture, "f-b", 1, NULL);
    flow_fixture_advance(fixture, 600000);
    check_str("no more", flow_fixture_created(fixture), "f-a f-b");
    check_str("failed", flow_fixture_at(fixture, "f", "nodes/0/phase"), "Failed");
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
    flow_fixture_advance(fixture, 1000);
    check_str("both by hand", flow_fixture_created(fixture), "f-a f-b f-a f-b");
}

#define FINAL                                                                                      \
    "flows: [{name: a}, {name: b, dependsOn: {targets: [a]}}, {name: x}, {name: u, when: always, " \
    "patch: {spec: {tasks: [{name: main, template: {spec: {containers: [{name: c, args: "          \
    "[$(flow.phase)]}]}}}]}}}, {name: v, when: always, dependsOn: {targets: [u]}, if: {terms: "    \
    "[{target: a, phases: [Failed]}]}}]"

/* covers: see docs/deviations.md: final steps */
static void final_steps_run_whatever_the_end(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        bool fails = run < 2;

        flow_fixture_spec(fixture, "f", "a b x u v", FINAL);
        flow_fixture_end(fixture, "f-a", fails, NULL);
        if (!fails)
            flow_fixture_end(fixture, "f-b", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        check("not while a job runs", !flow_fixture_has_job(fixture, "f-u"));
        check_str("goes on", flow_fixture_at(fixture, "f", "state/phase"), "Running");
        flow_fixture_end(fixture, "f-x", 0, NULL);
        flow_fixture_restart_if(fixture, run % 2);
        check("then", flow_fixture_has_job(fixture, "f-u"));
        check("it is told", strstr(flow_fixture_get(fixture, &kind_job, "f-u")->body->text,
                                   fails ? "[\"Failed\"]" : "[\"Succeed\"]"));
        flow_fixture_end(fixture, "f-u", 0, NULL);
        flow_fixture_restart_if(fixture, run % 2);
        if (fails)
            flow_fixture_end(fixture, "f-v", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("its end", flow_fixture_at(fixture, "f", "state/phase"),
                  fails ? "Failed" : "Succeed");
        check_str("jobs", flow_fixture_created(fixture),
                  fails ? "f-a f-x f-u f-v" : "f-a f-x f-b f-u");
        check_str("reason", flow_fixture_at(fixture, "f", "state/reason"),
                  fails ? "JobFailed" : "");
    }
}

static void a_failed_final_step_fails_the_flow(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a u", "flows: [{name: a}, {name: u, when: always}]");
    flow_fixture_end(fixture, "f-a", 0, NULL);
    flow_fixture_end(fixture, "f-u", 1, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("fails", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check_str("why", flow_fixture_at(fixture, "f", "state/message"), "job f-u is Failed");
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
    flow_fixture_advance(fixture, 1000);
    flow_fixture_end(fixture, "f-u", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("only that again", flow_fixture_created(fixture), "f-a f-u f-u");
    check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

static const char *const roots[] = {"f-a", "f-b", "f-c", "f-d", "f-e",
                                    "f-g", "f-h", "f-i", "f-j", "f-k"};

/* covers: jobflow.md 177 */
static void so_many_jobs_at_once(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b c d e g h i j k");
    flow_fixture_flow(fixture, "f", "a, b, c, d, e, g, h, i, j, k",
                      "scheduling: {maxRunningJobs: 3}");
    for (size_t i = 0; i < countof(roots); i++) {
        int left = (int)(countof(roots) - i);

        check_int("at once", flow_fixture_unfinished(fixture, roots, countof(roots)),
                  left < 3 ? left : 3);
        flow_fixture_end(fixture, roots[i], 0, NULL);
    }
    check_str("in order", flow_fixture_created(fixture), "f-a f-b f-c f-d f-e f-g f-h f-i f-j f-k");
}

static void the_longest_path_goes_first(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b c");
    flow_fixture_apply(fixture,
                       "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\n"
                       "metadata: {name: slow}\n"
                       "spec: {runningEstimate: 1h, tasks: [{name: main, replicas: 1, template: "
                       "{spec: {containers: [{name: c, image: i}]}}}]}\n");
    flow_fixture_spec(
        fixture, "f", "a",
        "scheduling: {maxRunningJobs: 1, order: criticalPath}, flows: [{name: a}, {name: "
        "b}, {name: c, dependsOn: {targets: [b]}}, {name: d, jobTemplateName: slow}]");
    flow_fixture_end(fixture, "f-d", 0, NULL);
    flow_fixture_end(fixture, "f-b", 0, NULL);
    flow_fixture_end(fixture, "f-a", 0, NULL);
    check_str("by what is behind them", flow_fixture_created(fixture), "f-d f-b f-a f-c");
}

/* covers: jobflow.md 176 */
static void scheduling_holds_for_all_jobs(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    const struct job_spec *job;

    for (int i = 0; i < 2; i++)
        flow_fixture_apply(fixture, i ? "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
                                        "metadata: {name: research}\nspec: {weight: 1}\n"
                                      : "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
                                        "metadata: {name: prod}\nspec: {weight: 1}\n");
    flow_fixture_spec(
        fixture, "f", "a b c",
        "scheduling: {queue: research, plugins: {svc: []}}, flows: [{name: a}, {name: "
        "b, patch: {spec: {queue: prod}}}, {name: c}]");
    job = job_spec_of(flow_fixture_get(fixture, &kind_job, "f-a"));
    check_str("all", job->queue, "research");
    check_str("plugin", job->plugins.items[0].key, "svc");
    check_str("but one", job_spec_of(flow_fixture_get(fixture, &kind_job, "f-b"))->queue, "prod");
    check("one body", flow_fixture_get(fixture, &kind_job, "f-a")->body ==
                          flow_fixture_get(fixture, &kind_job, "f-c")->body);
}

/* covers: see jobflow.md 13.6: the engine's part */
static void a_gang_starts_together(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(
            fixture, "f", "a b c d x",
            "gangs: [{name: g, flows: [b, c, d], minAvailable: 2}], flows: [{name: a}, "
            "{name: x}, {name: b}, {name: c, dependsOn: {targets: [a]}}, {name: d, "
            "dependsOn: {targets: [x]}}]");
        flow_fixture_restart_if(fixture, run);
        check_str("b waits for c", flow_fixture_created(fixture), "f-a f-x");
        flow_fixture_end(fixture, "f-a", 0, NULL);
        check_str("together", flow_fixture_created(fixture), "f-a f-x f-b f-c");
        check_str("named",
                  meta_annotation(flow_fixture_get(fixture, &kind_job, "f-c")->meta,
                                  ANNOTATION_FLOW_GANG),
                  "default.f.g");
        check_str("of whom two are enough",
                  meta_annotation(flow_fixture_get(fixture, &kind_job, "f-c")->meta,
                                  ANNOTATION_FLOW_GANG_LEAST),
                  "2");
        flow_fixture_restart_if(fixture, run);
        flow_fixture_end(fixture, "f-x", 0, NULL);
        check_str("the last comes later", flow_fixture_created(fixture), "f-a f-x f-b f-c f-d");
    }
}

static void a_gang_forms_without_skipped_members(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a b c",
                      "gangs: [{name: g, flows: [b, c]}], flows: [{name: a}, {name: b}, {name: c, "
                      "dependsOn: {targets: [a]}, if: {terms: [{target: a, phases: [Failed]}]}}]");
    check_str("waits", flow_fixture_created(fixture), "f-a");
    flow_fixture_end(fixture, "f-a", 0, NULL);
    check_str("alone", flow_fixture_created(fixture), "f-a f-b");
}

#define CHAIN "flows: [{name: a}, {name: b, dependsOn: {targets: [a]}}]"

/* covers: jobflow.md 178 */
static void a_suspended_flow_starts_nothing(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a b", CHAIN);
        flow_fixture_spec(fixture, "f", "", "suspend: true, " CHAIN);
        flow_fixture_end(fixture, "f-a", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run);
        check_str("held", flow_fixture_created(fixture), "f-a");
        check_str("why", flow_fixture_at(fixture, "f", "state/reason"), "Suspended");
        check_str("goes on", flow_fixture_at(fixture, "f", "state/phase"), "Running");
        flow_fixture_spec(fixture, "f", "", "suspend: false, " CHAIN);
        check_str("at once", flow_fixture_created(fixture), "f-a f-b");
        flow_fixture_advance(fixture, 1000);
        check_str("no reason", flow_fixture_at(fixture, "f", "state/reason"), "");
    }
}

/* covers: jobflow.md 179 */
static void a_deadline_ends_the_flow(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a b", "activeDeadlineSeconds: 5, maxRetry: 3, " CHAIN);
        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_advance(fixture, 3000);
        flow_fixture_restart_if(fixture, run);
        check_str("runs", flow_fixture_at(fixture, "f", "state/phase"), "Running");
        flow_fixture_advance(fixture, 3000);
        check_str("fails", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_str("why", flow_fixture_at(fixture, "f", "state/reason"), "DeadlineExceeded");
        check_int("the job is told", (int)store_count(fixture->store, &kind_command, NULL), 1);
        flow_fixture_restart_if(fixture, run);
        flow_fixture_phase(fixture, "f-a", JOB_TERMINATED);
        flow_fixture_advance(fixture, 60000);
        check_str("no retry", flow_fixture_created(fixture), "f-a");
        check_str("still why", flow_fixture_at(fixture, "f", "state/reason"), "DeadlineExceeded");
    }
}

/* Times are stored in whole seconds. */
static void a_deadline_leaves_the_flow_its_whole_time(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_advance(fixture, 1990 - loop_wall_ms(fixture->loop) % 1000);
    flow_fixture_spec(fixture, "f", "a", "activeDeadlineSeconds: 1, flows: [{name: a}]");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_advance(fixture, 900);
    check_str("runs", flow_fixture_at(fixture, "f", "state/phase"), "Running");
    flow_fixture_advance(fixture, 200);
    check_str("is over", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
}

/* covers: jobflow.md 180 */
static void a_finished_flow_goes_after_its_time(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a", "ttlSecondsAfterFinished: 1, flows: [{name: a}]");
        flow_fixture_end(fixture, "f-a", 0, NULL);
        flow_fixture_advance(fixture, 500);
        flow_fixture_restart_if(fixture, run);
        check("there", flow_fixture_get(fixture, &kind_job_flow, "f") != NULL);
        flow_fixture_advance(fixture, 2500);
        check("gone", !flow_fixture_get(fixture, &kind_job_flow, "f"));
        check("its job, too", !flow_fixture_has_job(fixture, "f-a"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_tried_again_until_it_completes),
        cmocka_unit_test(retries_follow_the_policy),
        cmocka_unit_test(the_wait_survives_a_restart),
        cmocka_unit_test(a_failed_flow_tries_nothing_again),
        cmocka_unit_test(final_steps_run_whatever_the_end),
        cmocka_unit_test(a_failed_final_step_fails_the_flow),
        cmocka_unit_test(so_many_jobs_at_once),
        cmocka_unit_test(the_longest_path_goes_first),
        cmocka_unit_test(scheduling_holds_for_all_jobs),
        cmocka_unit_test(a_gang_starts_together),
        cmocka_unit_test(a_gang_forms_without_skipped_members),
        cmocka_unit_test(a_suspended_flow_starts_nothing),
        cmocka_unit_test(a_deadline_ends_the_flow),
        cmocka_unit_test(a_deadline_leaves_the_flow_its_whole_time),
        cmocka_unit_test(a_finished_flow_goes_after_its_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
