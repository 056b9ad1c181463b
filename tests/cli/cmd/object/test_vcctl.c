/*
 * Tests the output of the vcctl verbs.
 */
#include "tests/unit.h"

#include "api/types/kind.h"
#include "cli/cmd/object/vcctl.h"

#define NOW_MS INT64_C(1767323045000) /* the time 2026-01-02T03:04:05Z in milliseconds */

/* covers: jobflow.md 144 152 */
static void tables_are_padded_to_the_longest_cell_and_four_more(void **state)
{
    static const struct {
        const struct kind *kind;
        const char *items, *want;
    } cases[] = {
        {&kind_job_flow,
         "[{\"metadata\":{\"name\":\"test-jobflow\",\"namespace\":\"default\","
         "\"creationTimestamp\":\"2025-12-30T03:04:05Z\"},\"status\":{\"state\":{\"phase\":"
         "\"Succeed\"}}}]",
         "Name            Namespace    Phase      Age    \n"
         "test-jobflow    default      Succeed    3d     \n"},
        {&kind_job_flow, "[{\"metadata\":{\"name\":\"f\",\"namespace\":\"n\"}}]",
         "Name    Namespace    Phase    Age          \n"
         "f       n                     <unknown>    \n"},
        {&kind_job_template,
         "[{\"metadata\":{\"name\":\"test-jobtemplate\",\"namespace\":\"default\"}},"
         "{\"metadata\":{\"name\":\"b\",\"namespace\":\"default\"}}]",
         "Name                Namespace    \n"
         "test-jobtemplate    default      \n"
         "b                   default      \n"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(json) json_t *items = json_loads(cases[i].items, 0, NULL);
        scoped(buf) struct buf out = {0};

        vcctl_write_table(cases[i].kind, items, NOW_MS, &out);
        check_str(cases[i].items, out.data, cases[i].want);
    }
}

/* covers: jobflow.md 149 150 152 */
static void objects_are_described_as_go_writes_them(void **state)
{
    static const char flow[] =
        "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"JobFlow\",\"metadata\":{\"name\":"
        "\"f\",\"namespace\":\"default\",\"managedFields\":[{}]}}";
    static const struct {
        const struct kind *kind;
        const char *format, *want; /* `want`: the printed text; NULL: the format is refused */
    } cases[] = {
        {&kind_job_flow, "yaml",
         "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata:\n  name: f\n  namespace: "
         "default\nspec: {}\nstatus:\n  state: {}\n"},
        {&kind_job_flow, "json",
         "{\n  \"kind\": \"JobFlow\",\n  \"apiVersion\": \"flow.volcano.sh/v1alpha1\",\n  "
         "\"metadata\": {\n    \"name\": \"f\",\n    \"namespace\": \"default\"\n  },\n  \"spec\": "
         "{},\n  \"status\": {\n    \"state\": {}\n  }\n}\n"},
        {&kind_job_template, "yaml",
         "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata:\n  name: f\n  "
         "namespace: default\nspec: {}\nstatus: {}\n"},
        {&kind_job_flow, "xml", NULL},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(json) json_t *object = json_loads(flow, 0, NULL);
        scoped(buf) struct buf out = {0};

        check(cases[i].format, vcctl_write_object(cases[i].kind, object, cases[i].format, &out) ==
                                   (cases[i].want != NULL));
        if (cases[i].want)
            check_str(cases[i].format, out.data, cases[i].want);
    }
}

/* covers: jobflow.md 153 */
static void verbs_have_upstreams_flags(void **state)
{
    static const struct {
        const char *verb, *flags[4];
    } cases[] = {
        {"create", {"file"}},
        {"get", {"name", "namespace"}},
        {"list", {"namespace"}},
        {"describe", {"name", "namespace", "format"}},
        {"delete", {"name", "namespace", "file"}},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        const struct vcctl_verb *verb = vcctl_verbs;

        while (verb->name && strcmp(verb->name, cases[i].verb) != 0)
            verb++;
        check(cases[i].verb, verb->name != NULL);
        for (size_t k = 0; k < countof(cases[i].flags) && cases[i].flags[k]; k++) {
            const struct flag *flag = verb->flags;

            while (flag->type != FLAG_END && strcmp(flag->name, cases[i].flags[k]) != 0)
                flag++;
            check(cases[i].flags[k], flag->type != FLAG_END);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_padded_to_the_longest_cell_and_four_more),
        cmocka_unit_test(objects_are_described_as_go_writes_them),
        cmocka_unit_test(verbs_have_upstreams_flags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
