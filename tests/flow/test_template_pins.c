/*
 * Tests flows that pin their templates: jobs are made from the versions that existed at acceptance.
 */
#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/pin.h"
#include "tests/support/flow_fixture.h"

static void template_with_replicas(struct flow_fixture *fixture, const char *name, int replicas)
{
    scoped_str yaml = mem_printf(
        "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobTemplate, metadata: {name: %s}, spec: "
        "{tasks: [{name: main, replicas: %d, template: {spec: {containers: [{name: c, command: "
        "[x]}]}}}]}}",
        name, replicas);

    flow_fixture_apply(fixture, yaml);
}

static int replicas_of(struct flow_fixture *fixture, const char *job)
{
    const struct object *object = flow_fixture_get(fixture, &kind_job, job);

    return object ? job_spec_of(object)->tasks.items[0].replicas : -1;
}

static const struct object *copy_of(struct flow_fixture *fixture, const char *flow,
                                    const char *template)
{
    char name[PIN_NAME_MAX + 1];

    jobflow_pin_name(object_uid(flow_fixture_get(fixture, &kind_job_flow, flow)), template, name);
    return flow_fixture_get(fixture, &kind_job_template, name);
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
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_templates(fixture, "a");
        template_with_replicas(fixture, "b", 2);
        flow_fixture_flow(fixture, "f", "a, b<-a", cases[i].policy);
        template_with_replicas(fixture, "b", 5);
        if (cases[i].restart)
            flow_fixture_restart(fixture);
        flow_fixture_complete(fixture, "f-a");
        check_int(cases[i].policy ? cases[i].policy : "absent", replicas_of(fixture, "f-b"),
                  cases[i].later);
        flow_fixture_complete(fixture, "f-b");
        check_str("ends", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    }
}

static void a_pinned_flow_survives_the_deletion_of_its_templates(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b");
    flow_fixture_flow(fixture, "f", "a, b<-a", "templatePolicy: pinned");
    flow_fixture_delete(fixture, &kind_job_template, "b", REGISTRY_BACKGROUND);
    flow_fixture_restart(fixture);
    flow_fixture_complete(fixture, "f-a");
    check("made from the copy", flow_fixture_has_job(fixture, "f-b"));
    check_str("and says so by the template's name",
              meta_annotation(flow_fixture_get(fixture, &kind_job, "f-b")->meta,
                              LABEL_CREATED_BY_TEMPLATE),
              "default.b");
}

static void a_template_that_comes_later_is_pinned_when_it_comes(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a");
    flow_fixture_flow(fixture, "f", "a, b<-a, c", "templatePolicy: pinned");
    template_with_replicas(fixture, "b", 2);
    template_with_replicas(fixture, "c", 3);
    check_int("a step that waited for it starts", replicas_of(fixture, "f-c"), 3);
    template_with_replicas(fixture, "b", 5);
    flow_fixture_complete(fixture, "f-a");
    check_int("as it came", replicas_of(fixture, "f-b"), 2);
}

static void copies_belong_to_their_flow(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped_str copy = NULL;

    flow_fixture_templates(fixture, "a b");
    flow_fixture_flow(fixture, "f", "a, b<-a", "templatePolicy: pinned");
    flow_fixture_flow(fixture, "g", "a", NULL);
    check("of each template one", copy_of(fixture, "f", "a") && copy_of(fixture, "f", "b"));
    check("of a flow that does not pin none", !copy_of(fixture, "g", "a"));
    check("the body is shared", copy_of(fixture, "f", "a")->body ==
                                    flow_fixture_get(fixture, &kind_job_template, "a")->body);
    copy = mem_strdup(object_name(copy_of(fixture, "f", "a")));
    flow_fixture_delete(fixture, &kind_job_flow, "f", REGISTRY_BACKGROUND);
    flow_fixture_advance(fixture, 1000);
    check("gone with the flow", !flow_fixture_get(fixture, &kind_job_template, copy));
    check("the original stays", flow_fixture_get(fixture, &kind_job_template, "a") != NULL);
}

static void a_copy_cannot_be_changed(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b");
    flow_fixture_flow(fixture, "f", "a, b<-a", "templatePolicy: pinned");
    scoped_str yaml = mem_printf(
        "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobTemplate, metadata: {name: %s}, spec: "
        "{tasks: [{name: main, replicas: 9, template: {spec: {containers: [{name: c, command: "
        "[x]}]}}}]}}",
        object_name(copy_of(fixture, "f", "b")));

    check("refused", !flow_fixture_try(fixture, yaml));
}

static void a_copy_that_is_deleted_is_made_anew(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped_str copy = NULL;

    flow_fixture_templates(fixture, "a");
    template_with_replicas(fixture, "b", 2);
    flow_fixture_flow(fixture, "f", "a, b<-a", "templatePolicy: pinned");
    copy = mem_strdup(object_name(copy_of(fixture, "f", "b")));
    template_with_replicas(fixture, "b", 5);
    flow_fixture_delete(fixture, &kind_job_template, copy, REGISTRY_BACKGROUND);
    flow_fixture_complete(fixture, "f-a");
    check_int("as the template is now", replicas_of(fixture, "f-b"), 5);
}

static void a_retried_flow_keeps_what_it_pinned(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    template_with_replicas(fixture, "a", 2);
    flow_fixture_flow(fixture, "f", "a", "templatePolicy: pinned");
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    template_with_replicas(fixture, "a", 5);
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
    flow_fixture_advance(fixture, 1000);
    check_str("runs", flow_fixture_at(fixture, "f", "nodes/0/attempt"), "2");
    check_int("with the same template", replicas_of(fixture, "f-a"), 2);
}

static void a_flow_may_change_its_mind(void **state)
{
    static const char flow[] =
        "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: f, annotations: "
        "{flow.volcano.sh/allow-updates: 'true'}}, spec: {templatePolicy: %s, flows: [{name: a}, "
        "{name: b, dependsOn: {targets: [a]}}]}}";
    static const struct {
        const char *from, *to;
        int replicas;
    } cases[] = {{"pinned", "latest", 5}, {"latest", "pinned", 3}};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        scoped_str before = mem_printf(flow, cases[i].from);
        scoped_str after = mem_printf(flow, cases[i].to);

        flow_fixture_templates(fixture, "a");
        template_with_replicas(fixture, "b", 2);
        flow_fixture_apply(fixture, before);
        template_with_replicas(fixture, "b", 3);
        flow_fixture_apply(fixture, after);
        template_with_replicas(fixture, "b", 5);
        flow_fixture_complete(fixture, "f-a");
        check_int(cases[i].to, replicas_of(fixture, "f-b"), cases[i].replicas);
    }
}

/* The name of a copy may be taken already; a foreign object is never used. */
static void a_foreign_object_of_the_name_is_not_taken_for_the_copy(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped_str copy = NULL;

    flow_fixture_flow(fixture, "f", "a", "templatePolicy: pinned");
    {
        char name[PIN_NAME_MAX + 1];

        jobflow_pin_name(object_uid(flow_fixture_get(fixture, &kind_job_flow, "f")), "a", name);
        copy = mem_strdup(name);
    }
    template_with_replicas(fixture, copy, 7);
    template_with_replicas(fixture, "a", 2);
    flow_fixture_advance(fixture, 1000);
    check("nothing is made", !flow_fixture_has_job(fixture, "f-a"));
    check_str("and it says why", flow_fixture_at(fixture, "f", "nodes/0/reason"), "CreateFailed");
    flow_fixture_delete(fixture, &kind_job_template, copy, REGISTRY_BACKGROUND);
    flow_fixture_advance(fixture, 60000);
    check_int("until the name is free", replicas_of(fixture, "f-a"), 2);
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
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        scoped(buf) struct buf yaml = {0};

        buf_printf(&yaml,
                   "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: f}, "
                   "spec: {templatePolicy: %s, flows: [",
                   cases[i].policy);
        for (int k = 0; k < cases[i].steps; k++)
            buf_printf(&yaml, "%s{name: s%d}", k ? ", " : "", k);
        buf_str(&yaml, "]}}");
        check(cases[i].policy, flow_fixture_try(fixture, yaml.data) == cases[i].accepted);
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
    longest[235] = '.'; /* the name is cut at this dot */
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
