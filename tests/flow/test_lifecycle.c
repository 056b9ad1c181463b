/*
 * Tests retention, deletion, restarts, jobs that are removed, specs that change.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/flow_fixture.h"

/* covers: jobflow.md 115 116; reliability.md INV-F9 */
static void delete_policy_removes_the_jobs(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "g", "a");
    flow_fixture_templates(fixture, "b");
    flow_fixture_flow(fixture, "f", "a, b<-a", "jobRetainPolicy: delete");
    flow_fixture_complete(fixture, "f-a");
    check("kept while it runs", flow_fixture_has_job(fixture, "f-a"));
    flow_fixture_complete(fixture, "f-b");
    flow_fixture_advance(fixture, 1000);
    check_str("ended", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check("gone", !flow_fixture_has_job(fixture, "f-a") && !flow_fixture_has_job(fixture, "f-b"));
    check("not the other flow's", flow_fixture_has_job(fixture, "g-a"));
    check_str("the record stays", flow_fixture_at(fixture, "f", "completedJobs"),
              "[\"f-a\",\"f-b\"]");
    check_str("none came back", flow_fixture_created(fixture), "g-a f-a f-b");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("nor after a restart", flow_fixture_created(fixture), "g-a f-a f-b");
}

/* covers: jobflow.md 117 */
static void delete_policy_does_not_miss_what_is_gone(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b");
    flow_fixture_flow(fixture, "f", "a, b<-a", "jobRetainPolicy: delete");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    flow_fixture_complete(fixture, "f-b");
    flow_fixture_advance(fixture, 60000);
    check("gone", !flow_fixture_has_job(fixture, "f-b"));
    check_str("ended", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* covers: jobflow.md 118 119 */
static void other_policies_and_ends_keep_the_jobs(void **state)
{
    static const struct {
        const char *policy;
        enum job_phase end;
    } cases[] = {
        {NULL, JOB_COMPLETED},
        {"jobRetainPolicy: retain", JOB_COMPLETED},
        {"jobRetainPolicy: delete", JOB_FAILED},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_templates(fixture, "a");
        flow_fixture_flow(fixture, "f", "a", cases[i].policy);
        flow_fixture_phase(fixture, "f-a", cases[i].end);
        flow_fixture_advance(fixture, 60000);
        check(cases[i].policy ? cases[i].policy : "none", flow_fixture_has_job(fixture, "f-a"));
    }
}

/* covers: jobflow.md 120 */
static void policy_may_change_after_the_end(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_advance(fixture, 1000);
    check("kept", flow_fixture_has_job(fixture, "f-a"));
    flow_fixture_flow(fixture, "f", "a", "jobRetainPolicy: delete");
    flow_fixture_advance(fixture, 1000);
    check("gone", !flow_fixture_has_job(fixture, "f-a"));
}

/* covers: jobflow.md 121 */
static void background_deletion_takes_the_jobs_along(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_delete(fixture, &kind_job_flow, "f", REGISTRY_BACKGROUND);
    flow_fixture_advance(fixture, 1000);
    check("flow", !flow_fixture_get(fixture, &kind_job_flow, "f"));
    check("job", !flow_fixture_has_job(fixture, "f-a"));
    check_str("none made meanwhile", flow_fixture_created(fixture), "f-a");
}

/* Adds a finalizer to a job. It keeps the job, as the job controller's does while pods end. */
static void add_finalizer(struct flow_fixture *fixture, const char *job)
{
    const struct object *now = flow_fixture_get(fixture, &kind_job, job);
    static const char *const finalizer = "test/hold";
    struct meta draft = *now->meta;
    struct error_list errors = {0};

    draft.finalizers = &finalizer;
    draft.n_finalizers = 1;
    registry_update_object(fixture->registry, object_with_meta(now, meta_new(&draft)), NULL,
                           &errors);
    error_list_release(&errors);
    flow_fixture_settle(fixture);
}

/* covers: jobflow.md 122; reliability.md INV-F4; see jobflow.md section 11 row 7 */
static void foreground_deletion_creates_nothing_more(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b, c, d<-a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    add_finalizer(fixture, "f-a");
    flow_fixture_delete(fixture, &kind_job_flow, "f", REGISTRY_FOREGROUND);
    check_str("phase", flow_fixture_at(fixture, "f", "state/phase"), "Terminating");
    check("b is gone", !flow_fixture_has_job(fixture, "f-b"));
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    flow_fixture_advance(fixture, 10000);
    check_str("nothing new", flow_fixture_created(fixture), "f-a f-b f-c");
    check_str("phase", flow_fixture_at(fixture, "f", "state/phase"), "Terminating");
}

/* covers: jobflow.md 122 */
static void finished_flow_shows_that_it_is_being_deleted(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_advance(fixture, 1000);
    add_finalizer(fixture, "f-a");
    flow_fixture_delete(fixture, &kind_job_flow, "f", REGISTRY_FOREGROUND);
    flow_fixture_advance(fixture, 1000);
    check_str("phase", flow_fixture_at(fixture, "f", "state/phase"), "Terminating");
}

/* covers: jobflow.md 123 */
static void orphaned_jobs_stay(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_delete(fixture, &kind_job_flow, "f", REGISTRY_ORPHAN);
    flow_fixture_advance(fixture, 1000);
    check("flow", !flow_fixture_get(fixture, &kind_job_flow, "f"));
    check("job", flow_fixture_has_job(fixture, "f-a"));
    check_int("without owner", flow_fixture_get(fixture, &kind_job, "f-a")->meta->n_owners, 0);
}

/* covers: jobflow.md 124; reliability.md INV-F1; see jobflow.md section 11 row 9; see DC-06 */
static void unfinished_job_deleted_by_hand_is_made_again(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    check_str("at once", flow_fixture_created(fixture), "f-a f-a");
    check_int("said", flow_fixture_events(fixture, "Recreated"), 1);
    check_str(
        "a further attempt",
        meta_annotation(flow_fixture_get(fixture, &kind_job, "f-a")->meta, ANNOTATION_FLOW_ATTEMPT),
        "2");
    flow_fixture_complete(fixture, "f-a");
    check("goes on", flow_fixture_has_job(fixture, "f-b"));
    flow_fixture_advance(fixture, 1000);
    check_str("both are recorded", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/phase"),
              "Running");
    check_str("both are recorded", flow_fixture_at(fixture, "f", "nodes/0/attempts/1/phase"),
              "Completed");
    flow_fixture_restart(fixture);
    flow_fixture_complete(fixture, "f-b");
    flow_fixture_advance(fixture, 1000);
    check_str("after a restart too", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/attempt"),
              "1");
    check_str("after a restart too", flow_fixture_at(fixture, "f", "nodes/0/attempts/1/attempt"),
              "2");
}

/* covers: jobflow.md 124 */
static void job_lost_while_the_controller_was_down_is_made_again(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_stop(fixture);
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    flow_fixture_start(fixture);
    check_str("made again", flow_fixture_created(fixture), "f-a f-b f-a");
    check_str(
        "a further attempt",
        meta_annotation(flow_fixture_get(fixture, &kind_job, "f-a")->meta, ANNOTATION_FLOW_ATTEMPT),
        "2");
}

/* covers: jobflow.md 125; reliability.md P-05; see jobflow.md section 11 row 10 */
static void completed_job_deleted_by_hand_stays_completed(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a, c<-a+b");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    check_str("not again", flow_fixture_created(fixture), "f-a f-b");
    check_str("recorded at once", flow_fixture_at(fixture, "f", "nodes/0/phase"), "Completed");
    check_str("with its history", flow_fixture_at(fixture, "f", "jobStatusList/0/state"),
              "Completed");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("nor after a restart", flow_fixture_created(fixture), "f-a f-b");
    check_str("still listed", flow_fixture_at(fixture, "f", "completedJobs"), "[\"f-a\"]");
    check_str("still described", flow_fixture_at(fixture, "f", "conditions/f-a/phase"),
              "Completed");
    check_str("attempt kept", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/phase"),
              "Completed");
    flow_fixture_complete(fixture, "f-b");
    flow_fixture_complete(fixture, "f-c");
    check_str("reaches its end", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* covers: jobflow.md 126; see jobflow.md section 11 row 11 */
static void jobs_that_vanish_when_done_run_once(void **state)
{
    static const char *const jobs[] = {"f-a", "f-b", "f-c"};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a, c<-b");
    for (size_t i = 0; i < countof(jobs); i++) {
        flow_fixture_phase_soon(fixture, jobs[i], JOB_RUNNING);
        flow_fixture_phase_soon(fixture, jobs[i], JOB_COMPLETED);
        /* The job runs, completes and is deleted in one turn. */
        flow_fixture_delete(fixture, &kind_job, jobs[i], REGISTRY_BACKGROUND);
    }
    check_str("once each", flow_fixture_created(fixture), "f-a f-b f-c");
    check_str("ended", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* covers: jobflow.md 127; reliability.md INV-F4; see jobflow.md section 11 row 12 */
static void succeeded_flow_never_runs_again(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_complete(fixture, "f-b");
    flow_fixture_advance(fixture, 1000);
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    flow_fixture_stop(fixture);
    flow_fixture_delete(fixture, &kind_job, "f-b", REGISTRY_BACKGROUND);
    flow_fixture_start(fixture);
    flow_fixture_advance(fixture, 60000);
    check_str("nothing", flow_fixture_created(fixture), "f-a f-b");
    check_str("still so", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* covers: jobflow.md 105 127; see with a restart between */
static void failed_flow_catches_up_after_a_restart(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b, c<-b");
    flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_stop(fixture);
    flow_fixture_phase(fixture, "f-b", JOB_COMPLETED);
    flow_fixture_start(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("b is told", flow_fixture_at(fixture, "f", "completedJobs"), "[\"f-b\"]");
    check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check_str("the reason stays", flow_fixture_at(fixture, "f", "state/reason"), "JobFailed");
    check("nothing new", !flow_fixture_has_job(fixture, "f-c"));
}

/* Creates a flow of a hundred steps in a mixed shape: step i waits for i/2 and i-7. */
static void make_wide_flow(struct flow_fixture *fixture)
{
    scoped(buf) struct buf yaml = {0};

    flow_fixture_templates(fixture, "t");
    buf_str(&yaml, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                   "spec: {flows: [");
    for (int i = 0; i < 100; i++) {
        buf_printf(&yaml, "{name: s%d, jobTemplateName: t", i);
        if (i >= 7)
            buf_printf(&yaml, ", dependsOn: {targets: [s%d, s%d]}", i / 2, i - 7);
        buf_str(&yaml, "},");
    }
    buf_str(&yaml, "]}\n");
    flow_fixture_apply(fixture, yaml.data);
}

/* covers: jobflow.md 128; reliability.md P-05 P-06 P-12 INV-F1 INV-F2; see jobflow.md section 11
 * row 26 */
static void restarts_at_any_moment_change_nothing(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct dice dice = {42};
    char name[JOB_NAME_ROOM];
    size_t jobs = 1;

    make_wide_flow(fixture);
    for (int turn = 0; turn < 100000; turn++) {
        if (!flow_fixture_pick_unfinished(fixture, &dice, name))
            break;
        switch (dice_roll(&dice, 8)) {
        case 0:
            flow_fixture_stop(fixture); /* the job ends while no controller runs */
            flow_fixture_phase(fixture, name, JOB_COMPLETED);
            flow_fixture_start(fixture);
            break;
        case 1:
            flow_fixture_restart(fixture);
            break;
        case 2:
            flow_fixture_advance(fixture, dice_roll(&dice, 300));
            break;
        case 3: /* the job is completed and deleted at once */
            flow_fixture_phase_soon(fixture, name, JOB_COMPLETED);
            flow_fixture_delete(fixture, &kind_job, name, REGISTRY_BACKGROUND);
            break;
        case 4:
            flow_fixture_phase(fixture, name, JOB_RUNNING);
            break;
        default:
            flow_fixture_phase(fixture, name, JOB_COMPLETED);
            break;
        }
    }
    flow_fixture_advance(fixture, 5000);
    check_str("ended", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    for (const char *c = flow_fixture_created(fixture); *c; c++)
        jobs += *c == ' ';
    check_int("each job once", jobs, 100);
}

/* covers: jobflow.md 129; see jobflow.md section 11 row 21 */
static void removed_step_does_not_count(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b, c");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
    flow_fixture_flow(fixture, "f", "b, c", NULL);
    flow_fixture_complete(fixture, "f-b");
    flow_fixture_complete(fixture, "f-c");
    flow_fixture_advance(fixture, 1000);
    check_str("ended", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check_str("not listed", flow_fixture_at(fixture, "f", "completedJobs"), "[\"f-b\",\"f-c\"]");
    check_str("not described", flow_fixture_at(fixture, "f", "conditions/f-a"), "");
    check_str("but remembered", flow_fixture_at(fixture, "f", "jobStatusList/2/name"), "f-a");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("after a restart too", flow_fixture_at(fixture, "f", "jobStatusList/2/name"), "f-a");
}

/* covers: jobflow.md 11 130; see jobflow.md section 11 row 20 */
static void added_step_starts_at_once(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_templates(fixture, "c d");
    flow_fixture_flow(fixture, "f", "d<-b, c<-a, a, b<-a", NULL);
    check_str("its target is met", flow_fixture_created(fixture), "f-a f-b f-c");
    flow_fixture_complete(fixture, "f-b");
    check_str("and later the other's", flow_fixture_created(fixture), "f-a f-b f-c f-d");
    flow_fixture_advance(fixture, 1000);
    check_str("in the new order", flow_fixture_at(fixture, "f", "completedJobs"),
              "[\"f-a\",\"f-b\"]");
    check_str("generation", flow_fixture_at(fixture, "f", "observedGeneration"), "2");
}

static void lists_of_templates_are_written_at_the_same_moments(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    int waited_ms = 0;

    flow_fixture_templates(fixture, "a b");
    flow_fixture_flow(fixture, "f", "a", NULL);
    flow_fixture_advance(fixture, 30);
    flow_fixture_flow(fixture, "g", "b", NULL);
    while (!flow_fixture_get(fixture, &kind_job_template, "a")->status && waited_ms++ < 1000)
        flow_fixture_advance(fixture, 1);
    check_has("the first", flow_fixture_get(fixture, &kind_job_template, "a")->status->text, "f-a");
    check_has("with it", flow_fixture_get(fixture, &kind_job_template, "b")->status->text, "g-b");
}

/* covers: jobflow.md 137 138 140; see jobflow.md section 9 */
static void template_lists_its_jobs(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_advance(fixture, 2000);
    flow_fixture_flow(fixture, "e", "a", NULL);
    flow_fixture_advance(fixture, 2000);
    check_has("by creation", flow_fixture_get(fixture, &kind_job_template, "a")->status->text,
              "{\"jobDependsOnList\":[\"f-a\",\"e-a\"]}");
    {
        int64_t revision = flow_fixture_get(fixture, &kind_job_template, "a")->revision;

        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_restart(fixture);
        flow_fixture_advance(fixture, 10000);
        check_int("written when different",
                  flow_fixture_get(fixture, &kind_job_template, "a")->revision, revision);
    }
    flow_fixture_delete(fixture, &kind_job_flow, "f", REGISTRY_BACKGROUND);
    flow_fixture_delete(fixture, &kind_job_flow, "e", REGISTRY_BACKGROUND);
    flow_fixture_advance(fixture, 2000);
    check_str("empty in the end", flow_fixture_get(fixture, &kind_job_template, "a")->status->text,
              "{}");
}

/* covers: jobflow.md 139 */
static void template_with_a_dot_is_tracked(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a.b");
    flow_fixture_apply(fixture,
                       "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                       "spec: {flows: [{name: x, jobTemplateName: a.b}]}\n");
    flow_fixture_advance(fixture, 2000);
    check_has("listed", flow_fixture_get(fixture, &kind_job_template, "a.b")->status->text, "f-x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delete_policy_removes_the_jobs),
        cmocka_unit_test(delete_policy_does_not_miss_what_is_gone),
        cmocka_unit_test(other_policies_and_ends_keep_the_jobs),
        cmocka_unit_test(policy_may_change_after_the_end),
        cmocka_unit_test(background_deletion_takes_the_jobs_along),
        cmocka_unit_test(foreground_deletion_creates_nothing_more),
        cmocka_unit_test(finished_flow_shows_that_it_is_being_deleted),
        cmocka_unit_test(orphaned_jobs_stay),
        cmocka_unit_test(unfinished_job_deleted_by_hand_is_made_again),
        cmocka_unit_test(job_lost_while_the_controller_was_down_is_made_again),
        cmocka_unit_test(completed_job_deleted_by_hand_stays_completed),
        cmocka_unit_test(jobs_that_vanish_when_done_run_once),
        cmocka_unit_test(succeeded_flow_never_runs_again),
        cmocka_unit_test(failed_flow_catches_up_after_a_restart),
        cmocka_unit_test(restarts_at_any_moment_change_nothing),
        cmocka_unit_test(removed_step_does_not_count),
        cmocka_unit_test(added_step_starts_at_once),
        cmocka_unit_test(template_lists_its_jobs),
        cmocka_unit_test(lists_of_templates_are_written_at_the_same_moments),
        cmocka_unit_test(template_with_a_dot_is_tracked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
