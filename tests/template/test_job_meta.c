/*
 * Tests the metadata of generated jobs.
 */
#include "tests/unit.h"

#include "api/types/labels.h"
#include "template/job_meta.h"

static struct object *make(const struct kind *kind, const char *name)
{
    const struct kv label = {"team", "a"};
    const struct meta draft = {.namespace = "default",
                               .name = name,
                               .uid = "uid-of-it",
                               .deletion_grace_s = -1,
                               .labels = &label,
                               .n_labels = 1,
                               .annotations = &label,
                               .n_annotations = 1};
    struct object *object = object_new(kind, meta_new(&draft), blob_new("{}", 2), NULL);

    object->revision = 7;
    return object;
}

static struct meta *meta_of(const char *flow_name, const char *template_name, unsigned attempt)
{
    scoped(object) struct object *flow = make(&kind_job_flow, flow_name);
    scoped(object) struct object *template = make(&kind_job_template, template_name);
    const struct template_job job = {flow, template, "step", "jobflow-step", "default", attempt};

    return template_job_meta(&job);
}

/* covers: jobflow.md 42 43 44 45; see jobflow.md section 11 row 6 */
static void job_is_named_labelled_and_owned(void **state)
{
    scoped(meta) struct meta *m = meta_of("jobflow", "jobtemplate", 1);

    check_str("name", m->name, "jobflow-step");
    check_str("namespace", m->namespace, "default");
    check_int("labels", m->n_labels, 2);
    check_str("template label", meta_label(m, LABEL_CREATED_BY_TEMPLATE), "default.jobtemplate");
    check_str("flow label", meta_label(m, LABEL_CREATED_BY_FLOW), "default.jobflow");
    check_str("template annotation", meta_annotation(m, LABEL_CREATED_BY_TEMPLATE),
              "default.jobtemplate");
    check_str("flow annotation", meta_annotation(m, LABEL_CREATED_BY_FLOW), "default.jobflow");
    check_str("step", meta_annotation(m, ANNOTATION_FLOW_STEP), "step");
    check_str("template version", meta_annotation(m, ANNOTATION_TEMPLATE_REVISION), "7");
    check_str("no attempt for the first", meta_annotation(m, ANNOTATION_FLOW_ATTEMPT), NULL);
    check_str("template's own labels stay there", meta_label(m, "team"), NULL);
    check_str("template's own annotations stay there", meta_annotation(m, "team"), NULL);
    check_int("owners", m->n_owners, 1);
    check_str("owner api", m->owners[0].api_version, "flow.volcano.sh/v1alpha1");
    check_str("owner kind", m->owners[0].kind, "JobFlow");
    check_str("owner name", m->owners[0].name, "jobflow");
    check_str("owner uid", m->owners[0].uid, "uid-of-it");
    check("owner controls", m->owners[0].controller && m->owners[0].block_owner_deletion);
}

static void later_attempts_say_so(void **state)
{
    scoped(meta) struct meta *m = meta_of("jobflow", "jobtemplate", 3);

    check_str("attempt", meta_annotation(m, ANNOTATION_FLOW_ATTEMPT), "3");
}

/* covers: jobflow.md 65 */
static void long_label_values_are_cut(void **state)
{
    static const char *const names[] = {
        /* 63 characters together with "ns." */
        "a23456789012345678901234567890123456789012345678901234567890",
        /* 64 characters together with "ns." */
        "a234567890123456789012345678901234567890123456789012345678901",
        /* the last character kept would be no letter */
        "a2345678901234567890123456789012345678901234567-.-90123456789012345",
    };

    for (size_t i = 0; i < countof(names); i++) {
        char value[TEMPLATE_LABEL_MAX + 1], twice[TEMPLATE_LABEL_MAX + 1];
        struct error err = {0};

        template_label_value("ns", names[i], value);
        template_label_value("ns", names[i], twice);
        check_ok(names[i], label_value_valid(value, &err), err);
        check_str("the same each time", value, twice);
        if (i == 0)
            check_str("fits", value + 3, names[0]);
        else
            check("cut", strncmp(value + 3, names[i], 40) == 0 && strlen(value) <= 63);
    }
    {
        scoped(meta) struct meta *m =
            meta_of("a23456789012345678901234567890123456789012345678901234567890123", "t", 1);

        check_has("the annotation has it all", meta_annotation(m, LABEL_CREATED_BY_FLOW),
                  "default.a23456789012345678901234567890123456789012345678901234567890123");
    }
}

/* covers: jobflow.md 139 */
static void template_is_read_from_the_first_dot(void **state)
{
    static const struct {
        const char *value, *name;
    } cases[] = {
        {"test.jobtemplate", "jobtemplate"},
        {"test.a.b", "a.b"},
        {"nodot", NULL},
        {"test.", NULL},
        {"other.a", NULL},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        const struct kv label = {LABEL_CREATED_BY_TEMPLATE, cases[i].value};
        const struct meta draft = {
            .namespace = "test", .name = "j", .uid = "", .labels = &label, .n_labels = 1};
        scoped(object) struct object *job =
            object_new(&kind_job, meta_new(&draft), blob_new("{}", 2), NULL);
        const char *name = NULL;
        const char *found = template_of_job(job, &name);

        check_str(cases[i].value, found, cases[i].name ? cases[i].value : NULL);
        check_str(cases[i].value, name, cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job_is_named_labelled_and_owned),
        cmocka_unit_test(later_attempts_say_so),
        cmocka_unit_test(long_label_values_are_cut),
        cmocka_unit_test(template_is_read_from_the_first_dot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
