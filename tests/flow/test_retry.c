/*
 * Manual retry of a failed flow; with restarts in between.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/flow_fixture.h"

static void ask_retry(struct flow_bed *bed, const char *value)
{
    flow_bed_annotate(bed, "f", ANNOTATION_FLOW_RETRY, value);
    flow_bed_settle(bed);
}

static void run_flow(struct flow_bed *bed, const char *steps, const char *extra)
{
    flow_bed_templates(bed, "a b c d e");
    flow_bed_flow(bed, "f", steps, extra);
}

static const char *attempt_of(struct flow_bed *bed, const char *job)
{
    const struct object *object = flow_bed_get(bed, &kind_job, job);
    const char *attempt = object ? meta_annotation(object->meta, ANNOTATION_FLOW_ATTEMPT) : "none";

    return attempt ? attempt : "1";
}

/* Half of the runs are without restarts, the others have one after every change. */
/* covers: jobflow.md 173; see DC-06 */
static void retry_runs_failed_steps_again_and_keeps_completed_ones(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

        run_flow(bed, "a, b, c<-a+b, d<-c", NULL);
        flow_bed_complete(bed, "f-a");
        flow_bed_phase(bed, "f-b", JOB_RUNNING);
        flow_bed_phase(bed, "f-b", JOB_FAILED);
        flow_bed_advance(bed, 1000);
        flow_bed_restart_if(bed, run % 2);
        if (run < 2) {
            ask_retry(bed, "1");
        } else {
            flow_bed_annotate(bed, "f", ANNOTATION_FLOW_RETRY,
                              "1"); /* while the engine is down, or at once */
            flow_bed_restart(bed);
        }
        flow_bed_restart_if(bed, run % 2);
        check_str("b again", flow_bed_created(bed), "f-a f-b f-b");
        check_str("a second attempt", attempt_of(bed, "f-b"), "2");
        check_str("runs", flow_bed_at(bed, "f", "state/phase"), "Running");
        check_str("no reason", flow_bed_at(bed, "f", "state/reason"), "");
        check_str("not over", flow_bed_at(bed, "f", "completionTime"), "");
        check_str("acted on", flow_bed_at(bed, "f", "observedRetry"), "1");
        flow_bed_complete(bed, "f-b");
        flow_bed_restart_if(bed, run % 2);
        flow_bed_complete(bed, "f-c");
        flow_bed_complete(bed, "f-d");
        flow_bed_advance(bed, 1000);
        flow_bed_restart_if(bed, run % 2);
        check_str("succeeds", flow_bed_at(bed, "f", "state/phase"), "Succeed");
        check_str("each once", flow_bed_created(bed), "f-a f-b f-b f-c f-d");
        check_str("phases", bed->phases.data, "f:Pending f:Running f:Failed f:Running f:Succeed");
        check_str("first attempt", flow_bed_at(bed, "f", "nodes/1/attempts/0/phase"), "Failed");
        check_str("its number", flow_bed_at(bed, "f", "nodes/1/attempts/0/attempt"), "1");
        check_str("second attempt", flow_bed_at(bed, "f", "nodes/1/attempts/1/phase"), "Completed");
        check_str("no more", flow_bed_at(bed, "f", "nodes/1/attempts/2"), "");
        check_str("history goes on",
                  flow_bed_at(bed, "f", "jobStatusList/1/runningHistories/1/state"), "Failed");
        check_str("history goes on",
                  flow_bed_at(bed, "f", "jobStatusList/1/runningHistories/4/state"), "Completed");
        check_int("told as a retry", flow_bed_events(bed, "Retried"), 1);
        check_int("not as a loss", flow_bed_events(bed, "Recreated"), 0);
    }
}

/* covers: jobflow.md 173; see the jobs may be gone already */
static void retry_needs_no_jobs(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    run_flow(bed, "a, b<-a", NULL);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    flow_bed_delete(bed, &kind_job, "f-a", REGISTRY_BACKGROUND);
    flow_bed_advance(bed, 1000);
    ask_retry(bed, "x");
    check_str("again", flow_bed_created(bed), "f-a f-a");
    check_str("a second attempt", attempt_of(bed, "f-a"), "2");
    check_str("the first is known", flow_bed_at(bed, "f", "nodes/0/attempts/0/phase"), "Failed");
}

/* covers: jobflow.md 173 */
static void only_a_new_value_on_a_failed_flow_counts(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    run_flow(bed, "a", NULL);
    ask_retry(bed, "early");
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    flow_bed_restart(bed);
    check_str("asked too early", flow_bed_created(bed), "f-a");
    check_str("failed", flow_bed_at(bed, "f", "state/phase"), "Failed");
    ask_retry(bed, "early");
    flow_bed_advance(bed, 1000);
    check_str("not new", flow_bed_created(bed), "f-a");
    ask_retry(bed, "one");
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    flow_bed_restart(bed);
    check_str("once", flow_bed_created(bed), "f-a f-a");
    ask_retry(bed, "two");
    flow_bed_complete(bed, "f-a");
    flow_bed_advance(bed, 1000);
    check_str("and once more", attempt_of(bed, "f-a"), "3");
    ask_retry(bed, "three");
    flow_bed_restart(bed);
    flow_bed_advance(bed, 1000);
    check_str("never a success", flow_bed_created(bed), "f-a f-a f-a");
    check_str("success stays", flow_bed_at(bed, "f", "state/phase"), "Succeed");
}

/* covers: jobflow.md 173; see --jobflow-compat=upstream: stored, not acted on */
static void upstream_knows_no_retry(void **state)
{
    const struct flow_options options = {.upstream_compat = true};
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(&options);

    run_flow(bed, "a", NULL);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    ask_retry(bed, "1");
    flow_bed_advance(bed, 1000);
    check_str("no", flow_bed_created(bed), "f-a");
    check_str("failed", flow_bed_at(bed, "f", "state/phase"), "Failed");
}

/* covers: jobflow.md 173; see running jobs of a failed flow are the retried flow's */
static void retry_leaves_running_jobs_alone(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    run_flow(bed, "a, b, c<-b", NULL);
    flow_bed_phase(bed, "f-b", JOB_RUNNING);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    ask_retry(bed, "1");
    flow_bed_advance(bed, 1000);
    check_str("a alone", flow_bed_created(bed), "f-a f-b f-a");
    flow_bed_complete(bed, "f-a");
    flow_bed_phase(bed, "f-b", JOB_COMPLETED);
    flow_bed_complete(bed, "f-c");
    flow_bed_advance(bed, 1000);
    check_str("succeeds", flow_bed_at(bed, "f", "state/phase"), "Succeed");
}

/* covers: jobflow.md 172 173; see jobs on their way to Terminated would fail the flow again */
static void retry_waits_for_terminating_jobs(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

        run_flow(bed, "a, b, c<-a+b", "failurePolicy: abort");
        flow_bed_phase(bed, "f-b", JOB_RUNNING);
        flow_bed_phase(bed, "f-a", JOB_FAILED);
        flow_bed_phase(bed, "f-b", JOB_TERMINATING);
        ask_retry(bed, "1");
        flow_bed_restart_if(bed, run % 2);
        flow_bed_advance(bed, 5000);
        check_str("waits", flow_bed_at(bed, "f", "state/phase"), "Failed");
        flow_bed_phase(bed, "f-b", JOB_TERMINATED);
        flow_bed_restart_if(bed, run % 2);
        flow_bed_advance(bed, 1000);
        check_str("runs", flow_bed_at(bed, "f", "state/phase"), "Running");
        check_str("both again", flow_bed_created(bed), "f-a f-b f-a f-b");
    }
}

/* covers: jobflow.md 116 173 */
static void retried_flow_keeps_its_retain_policy(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    run_flow(bed, "a, b", "jobRetainPolicy: delete");
    flow_bed_complete(bed, "f-a");
    flow_bed_phase(bed, "f-b", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    ask_retry(bed, "1");
    check("a is kept meanwhile", flow_bed_has_job(bed, "f-a"));
    flow_bed_complete(bed, "f-b");
    flow_bed_advance(bed, 1000);
    check("gone", !flow_bed_has_job(bed, "f-a") && !flow_bed_has_job(bed, "f-b"));
}

/* Something that holds a job back, as pods that end do. */
static void hold(struct flow_bed *bed, const char *job, bool on)
{
    const struct object *now = flow_bed_get(bed, &kind_job, job);
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
    registry_update_object(bed->registry, object_with_meta(now, meta_new(&draft)), NULL, &errors);
    error_list_release(&errors);
    flow_bed_settle(bed);
}

/* covers: jobflow.md 173; see half of the old jobs are gone when the engine dies */
static void restart_while_old_jobs_go(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    run_flow(bed, "a, b, c<-a+b", NULL);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_phase(bed, "f-b", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    hold(bed, "f-b", true);
    ask_retry(bed, "1");
    check("a is gone", !flow_bed_has_job(bed, "f-a"));
    check("b is not", flow_bed_has_job(bed, "f-b"));
    flow_bed_advance(bed, 60000);
    check_str("not yet", flow_bed_at(bed, "f", "state/phase"), "Failed");
    flow_bed_restart(bed);
    flow_bed_advance(bed, 1000);
    check_str("nor after a restart", flow_bed_at(bed, "f", "state/phase"), "Failed");
    check_str("none yet", flow_bed_created(bed), "f-a f-b");
    hold(bed, "f-b", false);
    flow_bed_advance(bed, 1000);
    check_str("both together", flow_bed_created(bed), "f-a f-b f-a f-b");
    check_str("with its record", flow_bed_at(bed, "f", "nodes/0/attempts/0/phase"), "Failed");
    check_str("with its record", flow_bed_at(bed, "f", "nodes/1/attempts/0/phase"), "Failed");
    check_str("second attempts", attempt_of(bed, "f-a"), "2");
}

/* covers: jobflow.md 173; see what a failed target had shown its dependents counts no more */
static void probes_look_at_the_new_attempt(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_templates(bed, "a b c");
    flow_bed_apply(bed,
                   "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                   "spec: {flows: [{name: a}, {name: b}, {name: c, dependsOn: {targets: [a, b],\n"
                   "  probe: {taskStatusList: [{taskName: main, phase: Running}]}}}]}\n");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_pod(bed, "f-a", "main", 0, POD_RUNNING, NULL);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    ask_retry(bed, "1");
    flow_bed_phase(bed, "f-b", JOB_RUNNING);
    flow_bed_pod(bed, "f-b", "main", 0, POD_RUNNING, NULL);
    check("a does not run yet", !flow_bed_has_job(bed, "f-c"));
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_pod(bed, "f-a", "main", 0, POD_RUNNING, NULL);
    check("now it does", flow_bed_has_job(bed, "f-c"));
}

/* covers: jobflow.md 173; see DC-05 */
static void large_flow_is_retried(void **state)
{
    enum { STEPS = 1200 };

    for (size_t run = 0; run < 2; run++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
        scoped(buf) struct buf yaml = {0};
        size_t jobs = 1;

        flow_bed_templates(bed, "t");
        buf_str(&yaml, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
                       "metadata: {name: f}\nspec: {failurePolicy: continue, flows: [");
        for (int i = 0; i < STEPS; i++)
            buf_printf(&yaml, "{name: s%d, jobTemplateName: t},", i);
        buf_str(&yaml, "{name: end, jobTemplateName: t, dependsOn: {targets: [s0, s1]}}]}\n");
        flow_bed_apply(bed, yaml.data);
        flow_bed_settle(bed);
        for (int i = 0; i < STEPS; i++) {
            char name[32];

            snprintf(name, sizeof name, "f-s%d", i);
            flow_bed_phase_soon(bed, name, i % 3 ? JOB_COMPLETED : JOB_FAILED);
        }
        flow_bed_advance(bed, 5000);
        check_str("failed", flow_bed_at(bed, "f", "state/phase"), "Failed");
        check_has("how many", flow_bed_at(bed, "f", "state/message"), "399 more failed");
        ask_retry(bed, "1");
        flow_bed_restart_if(bed, run % 2);
        flow_bed_advance(bed, 5000);
        for (int i = 0; i < STEPS; i += 3) {
            char name[32];

            snprintf(name, sizeof name, "f-s%d", i);
            check_str(name, attempt_of(bed, name), "2");
            flow_bed_phase_soon(bed, name, JOB_COMPLETED);
        }
        flow_bed_settle(bed);
        flow_bed_complete(bed, "f-end");
        flow_bed_advance(bed, 5000);
        check_str("succeeds", flow_bed_at(bed, "f", "state/phase"), "Succeed");
        for (const char *c = flow_bed_created(bed); *c; c++)
            jobs += *c == ' ';
        check_int("no job too many", jobs, STEPS + STEPS / 3 + 1);
        check_str("the record", flow_bed_at(bed, "f", "nodes/0/attempts/0/phase"), "Failed");
    }
}

/* ---- anything at any time ---- */

enum { WIDE = 40 };

static void make_wide_flow(struct flow_bed *bed, const char *policy)
{
    scoped(buf) struct buf yaml = {0};

    flow_bed_templates(bed, "t");
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
    flow_bed_apply(bed, yaml.data);
}

/* One thing happens to one unfinished job; returns how many failures that makes. */
static size_t happen(struct flow_bed *bed, const char *name, struct dice *dice)
{
    bool fails = dice_roll(dice, 8) == 0;
    enum job_phase end = fails ? JOB_FAILED : JOB_COMPLETED;

    switch (dice_roll(dice, 5)) {
    case 0: /* while nobody looks */
        flow_bed_stop(bed);
        flow_bed_phase(bed, name, end);
        flow_bed_start(bed);
        break;
    case 1:
        flow_bed_restart(bed);
        return 0;
    case 2:
        flow_bed_phase(bed, name, JOB_RUNNING);
        return 0;
    default:
        flow_bed_phase(bed, name, end);
        break;
    }
    return fails;
}

/* covers: jobflow.md 128 171 173; reliability.md P-05 P-12 */
static void restarts_at_any_moment_lose_and_double_nothing(void **state)
{
    static const char *const policies[] = {"stop", "continue"};

    for (size_t run = 0; run < 10; run++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
        struct dice dice = {run};
        char name[JOB_NAME_ROOM];
        size_t jobs = 1, failures = 0, retries = 0;

        make_wide_flow(bed, policies[run % 2]);
        for (int turn = 0; turn < 5000; turn++) {
            const char *phase = flow_bed_at(bed, "f", "state/phase");
            bool found;

            if (strcmp(phase, "Succeed") == 0)
                break;
            found = flow_bed_pick_unfinished(bed, &dice, name);
            if (strcmp(phase, "Failed") == 0 && (!found || dice_roll(&dice, 4) == 0)) {
                char value[24];

                snprintf(value, sizeof value, "%zu", ++retries);
                flow_bed_annotate(bed, "f", ANNOTATION_FLOW_RETRY, value);
                if (dice_roll(&dice, 2))
                    flow_bed_restart(bed);
                flow_bed_settle(bed);
            } else if (found) {
                failures += happen(bed, name, &dice);
            } else {
                flow_bed_advance(bed, 1000);
            }
        }
        flow_bed_advance(bed, 5000);
        check_str("succeeds", flow_bed_at(bed, "f", "state/phase"), "Succeed");
        for (const char *c = flow_bed_created(bed); *c; c++)
            jobs += *c == ' ';
        check("something failed", failures > 0);
        check_int("a job for each failure and each success", jobs, WIDE + failures);
    }
}

/* ---- writes that fail ---- */

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

static void break_cluster(struct flow_bed *bed, int faults)
{
    real = bed->cluster->ops;
    faulty = *real;
    faulty.remove = faulty_remove;
    faulty.create = faulty_create;
    faults_left = faults;
    bed->cluster->ops = &faulty;
}

/* covers: jobflow.md 172 173; reliability.md P-05 */
static void orders_are_given_until_they_arrive(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    run_flow(bed, "a, b", "failurePolicy: abort");
    break_cluster(bed, 5);
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_advance(bed, 60000);
    check_int("told in the end", (intmax_t)store_count(bed->store, &kind_command, NULL), 1);
    flow_bed_phase(bed, "f-b", JOB_TERMINATED);
    flow_bed_advance(bed, 1000);
    faults_left = 5;
    ask_retry(bed, "1");
    check_str("not yet", flow_bed_created(bed), "f-a f-b");
    flow_bed_advance(bed, 60000);
    check_str("in the end", flow_bed_created(bed), "f-a f-b f-a f-b");
    bed->cluster->ops = real;
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
