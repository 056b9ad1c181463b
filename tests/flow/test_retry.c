/*
 * Tests the manual retry of a failed flow, with restarts in between.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/flow_fixture.h"

static void ask_retry(struct flow_fixture *fixture, const char *value)
{
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, value);
    flow_fixture_settle(fixture);
}

/* Half of the runs have no restarts, the others have one after every change. */
/* covers: jobflow.md 173; see DC-06 */
static void retry_runs_failed_steps_again_and_keeps_completed_ones(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b, c<-a+b, d<-c", NULL);
        flow_fixture_complete(fixture, "f-a");
        flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
        flow_fixture_phase(fixture, "f-b", JOB_FAILED);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        if (run < 2) {
            ask_retry(fixture, "1");
        } else {
            flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY,
                                  "1"); /* retried while the controller is stopped, or at once */
            flow_fixture_restart(fixture);
        }
        flow_fixture_restart_if(fixture, run % 2);
        check_str("b again", flow_fixture_created(fixture), "f-a f-b f-b");
        check_str("a second attempt", flow_fixture_attempt(fixture, "f-b"), "2");
        check_str("runs", flow_fixture_at(fixture, "f", "state/phase"), "Running");
        check_str("no reason", flow_fixture_at(fixture, "f", "state/reason"), "");
        check_str("not over", flow_fixture_at(fixture, "f", "completionTime"), "");
        check_str("acted on", flow_fixture_at(fixture, "f", "observedRetry"), "1");
        flow_fixture_complete(fixture, "f-b");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_complete(fixture, "f-c");
        flow_fixture_complete(fixture, "f-d");
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
        check_str("each once", flow_fixture_created(fixture), "f-a f-b f-b f-c f-d");
        check_str("phases", fixture->phases.data,
                  "f:Pending f:Running f:Failed f:Running f:Succeed");
        check_str("first attempt", flow_fixture_at(fixture, "f", "nodes/1/attempts/0/phase"),
                  "Failed");
        check_str("its number", flow_fixture_at(fixture, "f", "nodes/1/attempts/0/attempt"), "1");
        check_str("second attempt", flow_fixture_at(fixture, "f", "nodes/1/attempts/1/phase"),
                  "Completed");
        check_str("no more", flow_fixture_at(fixture, "f", "nodes/1/attempts/2"), "");
        check_str("history goes on",
                  flow_fixture_at(fixture, "f", "jobStatusList/1/runningHistories/1/state"),
                  "Failed");
        check_str("history goes on",
                  flow_fixture_at(fixture, "f", "jobStatusList/1/runningHistories/4/state"),
                  "Completed");
        check_int("told as a retry", flow_fixture_events(fixture, "Retried"), 1);
        check_int("not as a loss", flow_fixture_events(fixture, "Recreated"), 0);
    }
}

/* covers: jobflow.md 173; see the jobs may be gone already */
static void retry_needs_no_jobs(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a, b<-a", NULL);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    flow_fixture_advance(fixture, 1000);
    ask_retry(fixture, "x");
    check_str("again", flow_fixture_created(fixture), "f-a f-a");
    check_str("a second attempt", flow_fixture_attempt(fixture, "f-a"), "2");
    check_str("the first is known", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/phase"),
              "Failed");
}

/* covers: jobflow.md 173 */
static void only_a_new_value_on_a_failed_flow_counts(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a", NULL);
    ask_retry(fixture, "early");
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_restart(fixture);
    check_str("asked too early", flow_fixture_created(fixture), "f-a");
    check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    ask_retry(fixture, "early");
    flow_fixture_advance(fixture, 1000);
    check_str("not new", flow_fixture_created(fixture), "f-a");
    ask_retry(fixture, "one");
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_restart(fixture);
    check_str("once", flow_fixture_created(fixture), "f-a f-a");
    ask_retry(fixture, "two");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_advance(fixture, 1000);
    check_str("and once more", flow_fixture_attempt(fixture, "f-a"), "3");
    ask_retry(fixture, "three");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("never a success", flow_fixture_created(fixture), "f-a f-a f-a");
    check_str("success stays", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* covers: jobflow.md 173; see --jobflow-compat=upstream: stored, not acted on */
static void upstream_knows_no_retry(void **state)
{
    const struct flow_options options = {.upstream_compat = true};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(&options);

    flow_fixture_run_f(fixture, "a", NULL);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    ask_retry(fixture, "1");
    flow_fixture_advance(fixture, 1000);
    check_str("no", flow_fixture_created(fixture), "f-a");
    check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
}

/* covers: jobflow.md 173; see running jobs of a failed flow are the retried flow's */
static void retry_leaves_running_jobs_alone(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a, b, c<-b", NULL);
    flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    ask_retry(fixture, "1");
    flow_fixture_advance(fixture, 1000);
    check_str("a alone", flow_fixture_created(fixture), "f-a f-b f-a");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_phase(fixture, "f-b", JOB_COMPLETED);
    flow_fixture_complete(fixture, "f-c");
    flow_fixture_advance(fixture, 1000);
    check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* covers: jobflow.md 172 173; see jobs on their way to Terminated would fail the flow again */
static void retry_waits_for_terminating_jobs(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run_f(fixture, "a, b, c<-a+b", "failurePolicy: abort");
        flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
        flow_fixture_phase(fixture, "f-a", JOB_FAILED);
        flow_fixture_phase(fixture, "f-b", JOB_TERMINATING);
        ask_retry(fixture, "1");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_advance(fixture, 5000);
        check_str("waits", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        flow_fixture_phase(fixture, "f-b", JOB_TERMINATED);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_advance(fixture, 1000);
        check_str("runs", flow_fixture_at(fixture, "f", "state/phase"), "Running");
        check_str("both again", flow_fixture_created(fixture), "f-a f-b f-a f-b");
    }
}

/* covers: jobflow.md 116 173 */
static void retried_flow_keeps_its_retain_policy(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a, b", "jobRetainPolicy: delete");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_phase(fixture, "f-b", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    ask_retry(fixture, "1");
    check("a is kept meanwhile", flow_fixture_has_job(fixture, "f-a"));
    flow_fixture_complete(fixture, "f-b");
    flow_fixture_advance(fixture, 1000);
    check("gone", !flow_fixture_has_job(fixture, "f-a") && !flow_fixture_has_job(fixture, "f-b"));
}

/* Adds a finalizer to a job or removes it. It keeps the job, as ending pods do. */
static void hold(struct flow_fixture *fixture, const char *job, bool on)
{
    const struct object *now = flow_fixture_get(fixture, &kind_job, job);
    const char *finalizers[8];
    struct meta draft = *now->meta;
    struct error_list errors = {0};
    uint32_t count = 0;

    for (uint32_t i = 0; i < draft.n_finalizers; i++)
        if (strcmp(draft.finalizers[i], "test/hold") != 0)
            finalizers[count++] = draft.finalizers[i];
    if (on)
        finalizers[count++] = "test/hold";
    draft.finalizers = finalizers;
    draft.n_finalizers = count;
    registry_update_object(fixture->registry, object_with_meta(now, meta_new(&draft)), NULL,
                           &errors);
    error_list_release(&errors);
    flow_fixture_settle(fixture);
}

/* covers: jobflow.md 173; see half of the old jobs are gone when the engine dies */
static void restart_while_old_jobs_go(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a, b, c<-a+b", NULL);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_phase(fixture, "f-b", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    hold(fixture, "f-b", true);
    ask_retry(fixture, "1");
    check("a is gone", !flow_fixture_has_job(fixture, "f-a"));
    check("b is not", flow_fixture_has_job(fixture, "f-b"));
    flow_fixture_advance(fixture, 60000);
    check_str("not yet", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("nor after a restart", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check_str("none yet", flow_fixture_created(fixture), "f-a f-b");
    hold(fixture, "f-b", false);
    flow_fixture_advance(fixture, 1000);
    check_str("both together", flow_fixture_created(fixture), "f-a f-b f-a f-b");
    check_str("with its record", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/phase"),
              "Failed");
    check_str("with its record", flow_fixture_at(fixture, "f", "nodes/1/attempts/0/phase"),
              "Failed");
    check_str("second attempts", flow_fixture_attempt(fixture, "f-a"), "2");
}

/* covers: jobflow.md 173; see what a failed target had shown its dependents counts no more */
static void probes_look_at_the_new_attempt(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b c");
    flow_fixture_apply(
        fixture, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                 "spec: {flows: [{name: a}, {name: b}, {name: c, dependsOn: {targets: [a, b],\n"
                 "  probe: {taskStatusList: [{taskName: main, phase: Running}]}}}]}\n");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "main", 0, POD_RUNNING, NULL);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    ask_retry(fixture, "1");
    flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-b", "main", 0, POD_RUNNING, NULL);
    check("a does not run yet", !flow_fixture_has_job(fixture, "f-c"));
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "main", 0, POD_RUNNING, NULL);
    check("now it does", flow_fixture_has_job(fixture, "f-c"));
}

/* covers: jobflow.md 173; see DC-05 */
static void large_flow_is_retried(void **state)
{
    enum { STEPS = 1200 };

    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        scoped(buf) struct buf yaml = {0};
        size_t jobs = 1;

        flow_fixture_templates(fixture, "t");
        buf_str(&yaml, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
                       "metadata: {name: f}\nspec: {failurePolicy: continue, flows: [");
        for (int i = 0; i < STEPS; i++)
            buf_printf(&yaml, "{name: s%d, jobTemplateName: t},", i);
        buf_str(&yaml, "{name: end, jobTemplateName: t, dependsOn: {targets: [s0, s1]}}]}\n");
        flow_fixture_apply(fixture, yaml.data);
        flow_fixture_settle(fixture);
        for (int i = 0; i < STEPS; i++) {
            char name[32];

            snprintf(name, sizeof name, "f-s%d", i);
            flow_fixture_phase_soon(fixture, name, i % 3 ? JOB_COMPLETED : JOB_FAILED);
        }
        flow_fixture_advance(fixture, 5000);
        check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_has("how many", flow_fixture_at(fixture, "f", "state/message"), "399 more failed");
        ask_retry(fixture, "1");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_advance(fixture, 5000);
        for (int i = 0; i < STEPS; i += 3) {
            char name[32];

            snprintf(name, sizeof name, "f-s%d", i);
            check_str(name, flow_fixture_attempt(fixture, name), "2");
            flow_fixture_phase_soon(fixture, name, JOB_COMPLETED);
        }
        flow_fixture_settle(fixture);
        flow_fixture_complete(fixture, "f-end");
        flow_fixture_advance(fixture, 5000);
        check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
        for (const char *c = flow_fixture_created(fixture); *c; c++)
            jobs += *c == ' ';
        check_int("no job too many", jobs, STEPS + STEPS / 3 + 1);
        check_str("the record", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/phase"),
                  "Failed");
    }
}

enum { WIDE = 40 };

static void make_wide_flow(struct flow_fixture *fixture, const char *policy)
{
    scoped(buf) struct buf yaml = {0};

    flow_fixture_templates(fixture, "t");
    buf_printf(&yaml,
               "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
               "spec: {failurePolicy: %s, flows: [",
               policy);
    for (int i = 0; i < WIDE; i++) {
        buf_printf(&yaml, "{name: s%d, jobTemplateName: t", i);
        if (i >= 7)
            buf_printf(&yaml, ", dependsOn: {targets: [s%d, s%d]}", i / 2, i - 7);
        buf_str(&yaml, "},");
    }
    buf_str(&yaml, "]}\n");
    flow_fixture_apply(fixture, yaml.data);
}

/* Does one thing to one unfinished job; returns how many failures that causes. */
static size_t happen(struct flow_fixture *fixture, const char *name, struct dice *dice)
{
    bool fails = dice_roll(dice, 8) == 0;
    enum job_phase end = fails ? JOB_FAILED : JOB_COMPLETED;

    switch (dice_roll(dice, 5)) {
    case 0: /* the job ends while no controller runs */
        flow_fixture_stop(fixture);
        flow_fixture_phase(fixture, name, end);
        flow_fixture_start(fixture);
        break;
    case 1:
        flow_fixture_restart(fixture);
        return 0;
    case 2:
        flow_fixture_phase(fixture, name, JOB_RUNNING);
        return 0;
    default:
        flow_fixture_phase(fixture, name, end);
        break;
    }
    return fails;
}

/* covers: jobflow.md 128 171 173; reliability.md P-05 P-12 */
static void restarts_at_any_moment_lose_and_double_nothing(void **state)
{
    static const char *const policies[] = {"stop", "continue"};

    for (size_t run = 0; run < 10; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        struct dice dice = {run};
        char name[JOB_NAME_ROOM];
        size_t jobs = 1, failures = 0, retries = 0;

        make_wide_flow(fixture, policies[run % 2]);
        for (int turn = 0; turn < 5000; turn++) {
            const char *phase = flow_fixture_at(fixture, "f", "state/phase");
            bool found;

            if (strcmp(phase, "Succeed") == 0)
                break;
            found = flow_fixture_pick_unfinished(fixture, &dice, name);
            if (strcmp(phase, "Failed") == 0 && (!found || dice_roll(&dice, 4) == 0)) {
                char value[24];

                snprintf(value, sizeof value, "%zu", ++retries);
                flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, value);
                if (dice_roll(&dice, 2))
                    flow_fixture_restart(fixture);
                flow_fixture_settle(fixture);
            } else if (found) {
                failures += happen(fixture, name, &dice);
            } else {
                flow_fixture_advance(fixture, 1000);
            }
        }
        flow_fixture_advance(fixture, 5000);
        check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
        for (const char *c = flow_fixture_created(fixture); *c; c++)
            jobs += *c == ' ';
        check("something failed", failures > 0);
        check_int("a job for each failure and each success", jobs, WIDE + failures);
    }
}

static const struct cluster_ops *real;
static struct cluster_ops faulty;
static int faults_left;

struct bad_answer {
    struct task task;
    struct cluster_call *call;
};

static void give_bad_answer(struct task *task)
{
    struct bad_answer *answer = container_of(task, struct bad_answer, task);
    struct error err = {0};

    error_set(&err, ERR_UNAVAILABLE, "", "made up by the test");
    answer->call->done(answer->call, NULL, &err);
    mem_free(answer);
}

static void answer_badly(struct cluster *c, struct cluster_call *call)
{
    struct bad_answer *answer = mem_alloc(sizeof *answer);

    faults_left--;
    answer->task.run = give_bad_answer;
    answer->call = call;
    loop_post(c->loop, &answer->task);
}

static void faulty_remove(struct cluster *c, struct cluster_call *call, const struct kind *kind,
                          const char *ns, const char *name, const struct cluster_removal *how)
{
    if (kind == &kind_job && faults_left)
        answer_badly(c, call);
    else
        real->remove(c, call, kind, ns, name, how);
}

static void faulty_create(struct cluster *c, struct cluster_call *call, struct object *draft)
{
    if (draft->kind == &kind_command && faults_left) {
        object_unref(draft);
        answer_badly(c, call);
    } else {
        real->create(c, call, draft);
    }
}

static void break_cluster(struct flow_fixture *fixture, int faults)
{
    real = fixture->cluster->ops;
    faulty = *real;
    faulty.remove = faulty_remove;
    faulty.create = faulty_create;
    faults_left = faults;
    fixture->cluster->ops = &faulty;
}

/* covers: jobflow.md 172 173; reliability.md P-05 */
static void orders_are_given_until_they_arrive(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run_f(fixture, "a, b", "failurePolicy: abort");
    break_cluster(fixture, 5);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 60000);
    check_int("told in the end", (intmax_t)store_count(fixture->store, &kind_command, NULL), 1);
    flow_fixture_phase(fixture, "f-b", JOB_TERMINATED);
    flow_fixture_advance(fixture, 1000);
    faults_left = 5;
    ask_retry(fixture, "1");
    check_str("not yet", flow_fixture_created(fixture), "f-a f-b");
    flow_fixture_advance(fixture, 60000);
    check_str("in the end", flow_fixture_created(fixture), "f-a f-b f-a f-b");
    fixture->cluster->ops = real;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retry_runs_failed_steps_again_and_keeps_completed_ones),
        cmocka_unit_test(retry_needs_no_jobs),
        cmocka_unit_test(only_a_new_value_on_a_failed_flow_counts),
        cmocka_unit_test(upstream_knows_no_retry),
        cmocka_unit_test(retry_leaves_running_jobs_alone),
        cmocka_unit_test(retry_waits_for_terminating_jobs),
        cmocka_unit_test(retried_flow_keeps_its_retain_policy),
        cmocka_unit_test(restart_while_old_jobs_go),
        cmocka_unit_test(probes_look_at_the_new_attempt),
        cmocka_unit_test(large_flow_is_retried),
        cmocka_unit_test(restarts_at_any_moment_lose_and_double_nothing),
        cmocka_unit_test(orders_are_given_until_they_arrive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
