/*
 * Tests which jobs a flow creates, when, and what blocks a creation.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "template/job_meta.h"
#include "tests/support/flow_fixture.h"

/* covers: jobflow.md 42 43 44 46 54 */
static void root_is_created_with_an_event(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    const struct object *job, *flow;

    flow_fixture_run(fixture, "f", "a");
    job = flow_fixture_get(fixture, &kind_job, "f-a");
    flow = flow_fixture_get(fixture, &kind_job_flow, "f");
    check("created", job && flow);
    if (!job || !flow)
        return;
    check_str("owner", meta_controller(job->meta)->uid, object_uid(flow));
    check_str("template", meta_label(job->meta, LABEL_CREATED_BY_TEMPLATE), "default.a");
    check_int("one event", flow_fixture_events(fixture, "Created"), 1);
    check_str("its text", flow_fixture_event_text(fixture, "Created"), "create a job named f-a!");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("no second job", fixture->created.data, "f-a");
    check_int("no second event", flow_fixture_events(fixture, "Created"), 1);
}

/* covers: jobflow.md 47 48 */
static void dependent_waits_for_completed(void **state)
{
    static const enum job_phase earlier[] = {JOB_PENDING, JOB_RUNNING, JOB_COMPLETING};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a");
    for (size_t i = 0; i < countof(earlier); i++) {
        flow_fixture_phase(fixture, "f-a", earlier[i]);
        check(job_phase_text(earlier[i]), !flow_fixture_has_job(fixture, "f-b"));
    }
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    check("created", flow_fixture_has_job(fixture, "f-b"));
}

/* covers: jobflow.md 49 106 */
static void dependent_of_a_failure_is_not_created(void **state)
{
    static const enum job_phase ends[] = {JOB_FAILED,      JOB_TERMINATED, JOB_ABORTED,
                                          JOB_TERMINATING, JOB_ABORTING,   JOB_RESTARTING};

    for (size_t i = 0; i < countof(ends); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_run(fixture, "f", "a, b<-a");
        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_phase(fixture, "f-a", ends[i]);
        flow_fixture_advance(fixture, 60000);
        check(job_phase_text(ends[i]), !flow_fixture_has_job(fixture, "f-b"));
    }
}

/* covers: jobflow.md 50 56 */
static void all_targets_are_needed(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b, c<-a+b");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_phase(fixture, "f-b", JOB_RUNNING);
    check("waits", !flow_fixture_has_job(fixture, "f-c"));
    flow_fixture_phase(fixture, "f-b", JOB_COMPLETED);
    check_str("once", fixture->created.data, "f-a f-b f-c");
}

/* covers: jobflow.md 51 */
static void targets_may_come_later_in_the_list(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "b<-a, a");
    check_str("a alone", fixture->created.data, "f-a");
    flow_fixture_complete(fixture, "f-a");
    check_str("then b", fixture->created.data, "f-a f-b");
}

/* covers: jobflow.md 21 52 */
static void empty_and_repeated_targets(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b c d");
    flow_fixture_apply(fixture,
                       "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                       "spec: {flows: [{name: a}, {name: b, dependsOn: {targets: []}},\n"
                       "  {name: c, dependsOn: {}}, {name: d, dependsOn: {targets: [a, a]}}]}\n");
    check_str("at once", fixture->created.data, "f-a f-b f-c");
    flow_fixture_complete(fixture, "f-a");
    check_str("named twice is needed once", fixture->created.data, "f-a f-b f-c f-d");
}

/* covers: jobflow.md 53; see 5.4 order */
static void steps_start_in_list_order(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "c, a, b, z<-b, y<-a, x<-c");
    check_str("roots", fixture->created.data, "f-c f-a f-b");
    flow_fixture_phase_soon(fixture, "f-b", JOB_COMPLETED);
    flow_fixture_phase_soon(fixture, "f-c", JOB_COMPLETED);
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    check_str("all that became ready in one turn", fixture->created.data,
              "f-c f-a f-b f-z f-y f-x");
}

/* covers: jobflow.md 55 */
static void any_target_is_enough(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a1 a2 b");
    flow_fixture_apply(fixture,
                       "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                       "spec: {flows: [{name: a1}, {name: a2},\n"
                       "  {name: b, dependsOn: {strategy: any, targets: [a1, a2]}}]}\n");
    flow_fixture_phase(fixture, "f-a1", JOB_RUNNING);
    check("waits for one", !flow_fixture_has_job(fixture, "f-b"));
    flow_fixture_complete(fixture, "f-a2");
    check("one is enough", flow_fixture_has_job(fixture, "f-b"));
    flow_fixture_phase(fixture, "f-a1", JOB_COMPLETED);
    check_str("once", fixture->created.data, "f-a1 f-a2 f-b");
    flow_fixture_complete(fixture, "f-b");
    check_str("ends", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* covers: jobflow.md 57; see jobflow.md section 11 row 5 and 6 */
static void template_changes_reach_later_jobs_only(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    char before[24];

    flow_fixture_templates(fixture, "t");
    flow_fixture_apply(fixture,
                       "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                       "spec: {flows: [{name: a, jobTemplateName: t},\n"
                       "  {name: b, jobTemplateName: t, dependsOn: {targets: [a]}}]}\n");
    snprintf(before, sizeof before, "%s",
             meta_annotation(flow_fixture_get(fixture, &kind_job, "f-a")->meta,
                             ANNOTATION_TEMPLATE_REVISION));
    flow_fixture_apply(
        fixture, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: t}\n"
                 "spec: {tasks: [{name: main, replicas: 7, template: {spec: {containers: "
                 "[{name: c, image: i, command: [c]}]}}}]}\n");
    flow_fixture_complete(fixture, "f-a");
    check_int("as it was",
              job_spec_of(flow_fixture_get(fixture, &kind_job, "f-a"))->tasks.items[0].replicas, 1);
    check_int("as it is",
              job_spec_of(flow_fixture_get(fixture, &kind_job, "f-b"))->tasks.items[0].replicas, 7);
    check("the version is told",
          strcmp(before, meta_annotation(flow_fixture_get(fixture, &kind_job, "f-b")->meta,
                                         ANNOTATION_TEMPLATE_REVISION)) != 0);
}

/* covers: jobflow.md 58 59 60; see jobflow.md section 11 rows 1 to 4 */
static void missing_template_holds_up_its_step_alone(void **state)
{
    static const int64_t waits_ms[] = {10000, 600000};

    for (size_t i = 0; i < countof(waits_ms); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_templates(fixture, "x z");
        flow_fixture_flow(fixture, "f", "x, y, z", NULL);
        check_str("the others start", fixture->created.data, "f-x f-z");
        flow_fixture_advance(fixture, waits_ms[i]);
        check_str("why", flow_fixture_at(fixture, "f", "nodes/1/reason"), "TemplateNotFound");
        check_str("as a phase", flow_fixture_at(fixture, "f", "nodes/1/phase"), "Blocked");
        check_str("in the conditions", flow_fixture_at(fixture, "f", "conditions/f-y/phase"),
                  "Blocked");
        check_str("of the flow", flow_fixture_at(fixture, "f", "state/reason"), "TemplateNotFound");
        check_int("one warning", flow_fixture_events(fixture, "TemplateNotFound"), 1);
        check_str("counted once", flow_fixture_at(fixture, "f", "stepCounts/blocked"), "1");
        check_str("not among those that wait", flow_fixture_at(fixture, "f", "stepCounts/waiting"),
                  "");
        flow_fixture_templates(fixture, "y");
        check("at once", flow_fixture_has_job(fixture, "f-y"));
        flow_fixture_advance(fixture, 1000);
        check_str("no reason any more", flow_fixture_at(fixture, "f", "nodes/1/reason"), "");
        check_str("nor of the flow", flow_fixture_at(fixture, "f", "state/reason"), "");
    }
}

/* covers: see section 11 row 4 */
static void deleted_template_holds_up_what_is_not_created(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_delete(fixture, &kind_job_template, "b", REGISTRY_BACKGROUND);
    flow_fixture_delete(fixture, &kind_job_template, "a", REGISTRY_BACKGROUND);
    flow_fixture_complete(fixture, "f-a");
    check("waits", !flow_fixture_has_job(fixture, "f-b"));
    flow_fixture_templates(fixture, "b");
    check("goes on", flow_fixture_has_job(fixture, "f-b"));
}

/* covers: jobflow.md 61; see jobflow.md section 11 row 13 */
static void flows_share_templates_not_jobs(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_flow(fixture, "g", "a, b<-a", NULL);
    flow_fixture_complete(fixture, "f-a");
    check_str("each its own", fixture->created.data, "f-a g-a f-b");
    flow_fixture_advance(fixture, 1000);
    check_str("listed apart", flow_fixture_at(fixture, "g", "completedJobs"), "");
}

/* covers: jobflow.md 62; reliability.md INV-F3 INV-F10; see jobflow.md section 11 row 15 */
static void taken_name_is_waited_for(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "c b-c");
    flow_fixture_flow(fixture, "a-b", "c", NULL);
    flow_fixture_phase(fixture, "a-b-c", JOB_RUNNING);
    flow_fixture_flow(fixture, "a", "b-c", NULL);
    flow_fixture_advance(fixture, 60000);
    check_str("why", flow_fixture_at(fixture, "a", "nodes/0/reason"), "JobNameConflict");
    check_has("whose", flow_fixture_at(fixture, "a", "nodes/0/message"), "belongs to JobFlow a-b");
    check_int("one warning", flow_fixture_events(fixture, "JobNameConflict"), 1);
    flow_fixture_phase(fixture, "a-b-c", JOB_COMPLETED);
    check_str("the first is undisturbed", flow_fixture_at(fixture, "a-b", "state/phase"),
              "Succeed");
    check_str("the second does not count it", flow_fixture_at(fixture, "a", "state/phase"),
              "Pending");
    flow_fixture_delete(fixture, &kind_job, "a-b-c", REGISTRY_BACKGROUND);
    check_str("free at once", fixture->created.data, "a-b-c a-b-c");
    check_str("and now its own",
              meta_controller(flow_fixture_get(fixture, &kind_job, "a-b-c")->meta)->name, "a");
}

/* covers: see section 11 row 16 */
static void job_made_by_hand_is_foreign(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_apply(fixture,
                       "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: f-a}\n"
                       "spec: {tasks: [{name: m, replicas: 1, template: {spec: {containers: "
                       "[{name: c, image: i, command: [c]}]}}}]}\n");
    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_complete(fixture, "f-a");
    check_str("nothing of ours", fixture->created.data, "f-a");
    check_str("why", flow_fixture_at(fixture, "f", "nodes/0/reason"), "JobNameConflict");
}

/* covers: jobflow.md 63; see jobflow.md section 11 row 8 */
static void jobs_of_a_former_flow_are_not_taken_over(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped_str old_uid = NULL;

    flow_fixture_run(fixture, "f", "a, b<-a");
    flow_fixture_complete(fixture, "f-a");
    old_uid = mem_strdup(object_uid(flow_fixture_get(fixture, &kind_job, "f-a")));
    flow_fixture_delete(fixture, &kind_job_flow, "f", REGISTRY_BACKGROUND);
    flow_fixture_flow(fixture, "f", "a, b<-a", NULL);
    flow_fixture_advance(fixture, 1000);
    check("a new job", flow_fixture_has_job(fixture, "f-a"));
    check("not the old one",
          strcmp(old_uid, object_uid(flow_fixture_get(fixture, &kind_job, "f-a"))) != 0);
    check("nothing is met yet", !flow_fixture_has_job(fixture, "f-b"));
}

/* covers: jobflow.md 65; see jobflow.md section 11 row 17 */
static void long_names_give_valid_labels(void **state)
{
    static const char flow[] = "a-flow-with-a-name-that-fills-nearly-all-there-is";
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    const struct object *job;

    flow_fixture_apply(fixture,
                       "apiVersion: v1\nkind: Namespace\nmetadata: {name: a-namespace-of-its-own}\n"
                       "---\napiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\n"
                       "metadata: {name: a, namespace: a-namespace-of-its-own}\n"
                       "spec: {tasks: [{name: m, replicas: 1, template: {spec: {containers: "
                       "[{name: c, image: i, command: [c]}]}}}]}\n"
                       "---\napiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
                       "metadata: {name: a-flow-with-a-name-that-fills-nearly-all-there-is, "
                       "namespace: a-namespace-of-its-own}\nspec: {flows: [{name: a}]}\n");
    job = store_get(fixture->store, &kind_job, "a-namespace-of-its-own",
                    "a-flow-with-a-name-that-fills-nearly-all-there-is-a");
    check("created", job != NULL);
    if (!job)
        return;
    check("label", strlen(meta_label(job->meta, LABEL_CREATED_BY_FLOW)) <= 63);
    check_has("annotation", meta_annotation(job->meta, LABEL_CREATED_BY_FLOW), flow);
}

/* covers: jobflow.md 66 */
static void thousand_roots_are_created_once_each(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped(buf) struct buf yaml = {0};
    size_t blanks = 0;

    flow_fixture_templates(fixture, "t");
    buf_str(&yaml, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                   "spec: {flows: [");
    for (int i = 0; i < 1000; i++)
        buf_printf(&yaml, "{name: s%d, jobTemplateName: t},", i);
    buf_str(&yaml, "]}\n");
    flow_fixture_apply(fixture, yaml.data);
    for (const char *c = fixture->created.data; *c; c++)
        blanks += *c == ' ';
    check_int("jobs", blanks + 1, 1000);
    check_int("bodies",
              flow_fixture_get(fixture, &kind_job, "f-s0")->body ==
                  flow_fixture_get(fixture, &kind_job, "f-s999")->body,
              1);
}

/* covers: jobflow.md 85 87; see jobflow.md section 11 row 25 */
static void refused_job_waits_with_the_reason(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b");
    flow_fixture_apply(
        fixture, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
                 "metadata: {name: f, annotations: {flow.volcano.sh/allow-updates: \"true\"}}\n"
                 "spec: {flows: [{name: a, patch: {spec: {minAvailable: 9}}}, {name: b}]}\n");
    check_str("b is not held up", fixture->created.data, "f-b");
    flow_fixture_advance(fixture, 200000);
    check_str("why", flow_fixture_at(fixture, "f", "nodes/0/reason"), "AdmissionDenied");
    check_has("in words", flow_fixture_at(fixture, "f", "nodes/0/message"), "minAvailable");
    check_int("one warning", flow_fixture_events(fixture, "AdmissionDenied"), 1);
    flow_fixture_apply(
        fixture, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
                 "metadata: {name: f, annotations: {flow.volcano.sh/allow-updates: \"true\"}}\n"
                 "spec: {flows: [{name: a, patch: {spec: {minAvailable: 1}}}, {name: b}]}\n");
    check_str("fixed by the spec", fixture->created.data, "f-b f-a");
}

/* covers: jobflow.md 85 */
static void unmatched_patch_blocks_with_its_path(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_apply(fixture,
                       "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                       "spec: {flows: [{name: t, patch: {spec: {tasks: [{replicas: 2}]}}}]}\n");
    flow_fixture_apply(
        fixture, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: t}\n"
                 "spec: {tasks: [{name: m, replicas: 1, template: {spec: {containers: "
                 "[{name: c, image: i, command: [c]}]}}}, {name: o, replicas: 1, template: {spec: "
                 "{containers: [{name: c, image: i, command: [c]}]}}}]}\n");
    check("not created", !flow_fixture_has_job(fixture, "f-t"));
    flow_fixture_advance(fixture, 1000);
    check_str("phase", flow_fixture_at(fixture, "f", "nodes/0/phase"), "Blocked");
    check_has("where", flow_fixture_at(fixture, "f", "nodes/0/message"),
              "spec.flows[0].patch.spec.tasks[0].name");
}

/* covers: jobflow.md 86 156 */
static void two_flows_patch_one_template(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped_str before = NULL;

    flow_fixture_templates(fixture, "t");
    before = mem_strdup(flow_fixture_get(fixture, &kind_job_template, "t")->body->text);
    flow_fixture_apply(
        fixture, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                 "spec: {flows: [{name: t, patch: {spec: {tasks: [{name: main, replicas: 2}]}}}]}\n"
                 "---\n"
                 "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: g}\n"
                 "spec: {flows: [{name: x, jobTemplateName: t, patch: {jobSpec: {tasks: "
                 "[{replicas: 3}]}}}]}\n");
    check_int("f",
              job_spec_of(flow_fixture_get(fixture, &kind_job, "f-t"))->tasks.items[0].replicas, 2);
    check_int("g",
              job_spec_of(flow_fixture_get(fixture, &kind_job, "g-x"))->tasks.items[0].replicas, 3);
    check_str("unchanged", flow_fixture_get(fixture, &kind_job_template, "t")->body->text, before);
    flow_fixture_advance(fixture, 1000);
    check_has("both are listed", flow_fixture_get(fixture, &kind_job_template, "t")->status->text,
              "[\"f-t\",\"g-x\"]");
}

/* covers: jobflow.md 64 88 103 111 */
static void upstream_mode_ignores_probes_and_patches(void **state)
{
    const struct flow_options upstream = {.upstream_compat = true};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(&upstream);

    flow_fixture_templates(fixture, "a b");
    flow_fixture_apply(
        fixture, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\n"
                 "spec: {flows: [{name: a}, {name: b, patch: {jobSpec: {maxRetry: 9}}, dependsOn: "
                 "{targets: [a], probe: {taskStatusList: [{taskName: main, phase: Running}]}}}]}\n"
                 "---\napiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: e}\n"
                 "spec: {flows: []}\n");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "main", 0, POD_RUNNING, NULL);
    check("the probe is not there", !flow_fixture_has_job(fixture, "f-b"));
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETING);
    flow_fixture_advance(fixture, 1000);
    check_str("Completing is in no list", flow_fixture_at(fixture, "f", "completedJobs"), "");
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    check("completion counts", flow_fixture_has_job(fixture, "f-b"));
    check("the patch is not there",
          job_spec_of(flow_fixture_get(fixture, &kind_job, "f-b"))->max_retry != 9);
    check_str("an empty flow stays", flow_fixture_at(fixture, "e", "state/phase"), "Pending");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_is_created_with_an_event),
        cmocka_unit_test(dependent_waits_for_completed),
        cmocka_unit_test(dependent_of_a_failure_is_not_created),
        cmocka_unit_test(all_targets_are_needed),
        cmocka_unit_test(targets_may_come_later_in_the_list),
        cmocka_unit_test(empty_and_repeated_targets),
        cmocka_unit_test(steps_start_in_list_order),
        cmocka_unit_test(any_target_is_enough),
        cmocka_unit_test(template_changes_reach_later_jobs_only),
        cmocka_unit_test(missing_template_holds_up_its_step_alone),
        cmocka_unit_test(deleted_template_holds_up_what_is_not_created),
        cmocka_unit_test(flows_share_templates_not_jobs),
        cmocka_unit_test(taken_name_is_waited_for),
        cmocka_unit_test(job_made_by_hand_is_foreign),
        cmocka_unit_test(jobs_of_a_former_flow_are_not_taken_over),
        cmocka_unit_test(long_names_give_valid_labels),
        cmocka_unit_test(thousand_roots_are_created_once_each),
        cmocka_unit_test(refused_job_waits_with_the_reason),
        cmocka_unit_test(unmatched_patch_blocks_with_its_path),
        cmocka_unit_test(two_flows_patch_one_template),
        cmocka_unit_test(upstream_mode_ignores_probes_and_patches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
