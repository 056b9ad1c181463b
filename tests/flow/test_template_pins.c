/*
 * Flows that run with their templates as they were when they were accepted.
 */
#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/pin.h"
#include "tests/support/flow_fixture.h"

static void template_with_replicas(struct flow_bed *bed, const char *name, int replicas)
{
    scoped_str yaml = mem_printf(
        "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobTemplate, metadata: {name: %s}, spec: "
        "{tasks: [{name: main, replicas: %d, template: {spec: {containers: [{name: c, command: "
        "[x]}]}}}]}}",
        name, replicas);

    flow_bed_apply(bed, yaml);
}

static int replicas_of(struct flow_bed *bed, const char *job)
{
    const struct object *object = flow_bed_get(bed, &kind_job, job);

    return object ? job_spec_of(object)->tasks.items[0].replicas : -1;
}

static const struct object *copy_of(struct flow_bed *bed, const char *flow, const char *template_)
{
    char name[PIN_NAME_MAX + 1];

    jobflow_pin_name(object_uid(flow_bed_get(bed, &kind_job_flow, flow)), template_, name);
    return flow_bed_get(bed, &kind_job_template, name);
}

static void a_pinned_flow_runs_with_the_templates_it_was_accepted_with(void **state)
{
    static const struct {
        const char *policy;
        bool restart;
        int later; /* replicas of the job made after the template has changed */
    } cases[] = {
        {NULL, false, 5},
        {"templatePolicy: latest", false, 5},
        {"templatePolicy: pinned", false, 2},
        {"templatePolicy: pinned", true, 2},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

        flow_bed_templates(bed, "a");
        template_with_replicas(bed, "b", 2);
        flow_bed_flow(bed, "f", "a, b<-a", cases[i].policy);
        template_with_replicas(bed, "b", 5);
        if (cases[i].restart)
            flow_bed_restart(bed);
        flow_bed_complete(bed, "f-a");
        check_int(cases[i].policy ? cases[i].policy : "absent", replicas_of(bed, "f-b"),
                  cases[i].later);
        flow_bed_complete(bed, "f-b");
        check_str("ends", flow_bed_at(bed, "f", "state/phase"), "Succeed");
    }
}

static void a_pinned_flow_survives_the_deletion_of_its_templates(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_templates(bed, "a b");
    flow_bed_flow(bed, "f", "a, b<-a", "templatePolicy: pinned");
    flow_bed_delete(bed, &kind_job_template, "b", REGISTRY_BACKGROUND);
    flow_bed_restart(bed);
    flow_bed_complete(bed, "f-a");
    check("made from the copy", flow_bed_has_job(bed, "f-b"));
    check_str("and says so by the template's name",
              meta_annotation(flow_bed_get(bed, &kind_job, "f-b")->meta, LABEL_CREATED_BY_TEMPLATE),
              "default.b");
}

static void a_template_that_comes_later_is_pinned_when_it_comes(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_templates(bed, "a");
    flow_bed_flow(bed, "f", "a, b<-a, c", "templatePolicy: pinned");
    template_with_replicas(bed, "b", 2);
    template_with_replicas(bed, "c", 3);
    check_int("a step that waited for it starts", replicas_of(bed, "f-c"), 3);
    template_with_replicas(bed, "b", 5);
    flow_bed_complete(bed, "f-a");
    check_int("as it came", replicas_of(bed, "f-b"), 2);
}

static void copies_belong_to_their_flow(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    scoped_str copy = NULL;

    flow_bed_templates(bed, "a b");
    flow_bed_flow(bed, "f", "a, b<-a", "templatePolicy: pinned");
    flow_bed_flow(bed, "g", "a", NULL);
    check("of each template one", copy_of(bed, "f", "a") && copy_of(bed, "f", "b"));
    check("of a flow that does not pin none", !copy_of(bed, "g", "a"));
    check("the body is shared",
          copy_of(bed, "f", "a")->body == flow_bed_get(bed, &kind_job_template, "a")->body);
    copy = mem_strdup(object_name(copy_of(bed, "f", "a")));
    flow_bed_delete(bed, &kind_job_flow, "f", REGISTRY_BACKGROUND);
    flow_bed_advance(bed, 1000);
    check("gone with the flow", !flow_bed_get(bed, &kind_job_template, copy));
    check("the original stays", flow_bed_get(bed, &kind_job_template, "a") != NULL);
}

static void a_copy_cannot_be_changed(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_templates(bed, "a b");
    flow_bed_flow(bed, "f", "a, b<-a", "templatePolicy: pinned");
    scoped_str yaml = mem_printf(
        "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobTemplate, metadata: {name: %s}, spec: "
        "{tasks: [{name: main, replicas: 9, template: {spec: {containers: [{name: c, command: "
        "[x]}]}}}]}}",
        object_name(copy_of(bed, "f", "b")));

    check("refused", !flow_bed_try(bed, yaml));
}

static void a_copy_that_is_deleted_is_made_anew(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    scoped_str copy = NULL;

    flow_bed_templates(bed, "a");
    template_with_replicas(bed, "b", 2);
    flow_bed_flow(bed, "f", "a, b<-a", "templatePolicy: pinned");
    copy = mem_strdup(object_name(copy_of(bed, "f", "b")));
    template_with_replicas(bed, "b", 5);
    flow_bed_delete(bed, &kind_job_template, copy, REGISTRY_BACKGROUND);
    flow_bed_complete(bed, "f-a");
    check_int("as the template is now", replicas_of(bed, "f-b"), 5);
}

static void a_retried_flow_keeps_what_it_pinned(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    template_with_replicas(bed, "a", 2);
    flow_bed_flow(bed, "f", "a", "templatePolicy: pinned");
    flow_bed_phase(bed, "f-a", JOB_FAILED);
    flow_bed_advance(bed, 1000);
    template_with_replicas(bed, "a", 5);
    flow_bed_annotate(bed, "f", ANNOTATION_FLOW_RETRY, "1");
    flow_bed_advance(bed, 1000);
    check_str("runs", flow_bed_at(bed, "f", "nodes/0/attempt"), "2");
    check_int("with the same template", replicas_of(bed, "f-a"), 2);
}

static void a_flow_may_change_its_mind(void **state)
{
    static const char *const flow =
        "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: f, annotations: "
        "{flow.volcano.sh/allow-updates: 'true'}}, spec: {templatePolicy: %s, flows: [{name: a}, "
        "{name: b, dependsOn: {targets: [a]}}]}}";
    static const struct {
        const char *from, *to;
        int replicas;
    } cases[] = {{"pinned", "latest", 5}, {"latest", "pinned", 3}};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
        scoped_str before = mem_printf(flow, cases[i].from);
        scoped_str after = mem_printf(flow, cases[i].to);

        flow_bed_templates(bed, "a");
        template_with_replicas(bed, "b", 2);
        flow_bed_apply(bed, before);
        template_with_replicas(bed, "b", 3);
        flow_bed_apply(bed, after);
        template_with_replicas(bed, "b", 5);
        flow_bed_complete(bed, "f-a");
        check_int(cases[i].to, replicas_of(bed, "f-b"), cases[i].replicas);
    }
}

/* Names a copy would have may be taken already; another's object is never run. */
static void a_foreign_object_of_the_name_is_not_taken_for_the_copy(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    scoped_str copy = NULL;

    flow_bed_flow(bed, "f", "a", "templatePolicy: pinned");
    {
        char name[PIN_NAME_MAX + 1];

        jobflow_pin_name(object_uid(flow_bed_get(bed, &kind_job_flow, "f")), "a", name);
        copy = mem_strdup(name);
    }
    template_with_replicas(bed, copy, 7);
    template_with_replicas(bed, "a", 2);
    flow_bed_advance(bed, 1000);
    check("nothing is made", !flow_bed_has_job(bed, "f-a"));
    check_str("and it says why", flow_bed_at(bed, "f", "nodes/0/reason"), "CreateFailed");
    flow_bed_delete(bed, &kind_job_template, copy, REGISTRY_BACKGROUND);
    flow_bed_advance(bed, 60000);
    check_int("until the name is free", replicas_of(bed, "f-a"), 2);
}

static void only_so_many_templates_can_be_pinned(void **state)
{
    static const struct {
        int steps;
        const char *policy;
        bool accepted;
    } cases[] = {
        {PINNED_TEMPLATES_MAX, "pinned", true},
        {PINNED_TEMPLATES_MAX + 1, "pinned", false},
        {PINNED_TEMPLATES_MAX + 1, "latest", true},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
        scoped(buf) struct buf yaml = {0};

        buf_printf(&yaml,
                   "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: f}, "
                   "spec: {templatePolicy: %s, flows: [",
                   cases[i].policy);
        for (int k = 0; k < cases[i].steps; k++)
            buf_printf(&yaml, "%s{name: s%d}", k ? ", " : "", k);
        buf_str(&yaml, "]}}");
        check(cases[i].policy, flow_bed_try(bed, yaml.data) == cases[i].accepted);
    }
}

static void names_of_copies_are_names(void **state)
{
    static const char *const uid = "7d0a3f6e-0000-4000-8000-000000000001";
    char name[PIN_NAME_MAX + 1], other[PIN_NAME_MAX + 1], longest[PIN_NAME_MAX + 1];

    jobflow_pin_name(uid, "train", name);
    check("readable", strncmp(name, "train-", 6) == 0 && strlen(name) == 6 + 16);
    jobflow_pin_name("7d0a3f6e-0000-4000-8000-000000000002", "train", other);
    check("another flow's is another", strcmp(name, other) != 0);
    memset(longest, 'x', PIN_NAME_MAX);
    longest[PIN_NAME_MAX] = '\0';
    longest[235] = '.'; /* where it is cut */
    jobflow_pin_name(uid, longest, name);
    check("fits", strlen(name) <= PIN_NAME_MAX && name[234] == 'x' && name[235] == '-');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pinned_flow_runs_with_the_templates_it_was_accepted_with),
        cmocka_unit_test(a_pinned_flow_survives_the_deletion_of_its_templates),
        cmocka_unit_test(a_template_that_comes_later_is_pinned_when_it_comes),
        cmocka_unit_test(copies_belong_to_their_flow),
        cmocka_unit_test(a_copy_cannot_be_changed),
        cmocka_unit_test(a_copy_that_is_deleted_is_made_anew),
        cmocka_unit_test(a_retried_flow_keeps_what_it_pinned),
        cmocka_unit_test(a_flow_may_change_its_mind),
        cmocka_unit_test(a_foreign_object_of_the_name_is_not_taken_for_the_copy),
        cmocka_unit_test(only_so_many_templates_can_be_pinned),
        cmocka_unit_test(names_of_copies_are_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
