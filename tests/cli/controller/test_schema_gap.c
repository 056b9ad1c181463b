/*
 * Tests what is said of a definition that drops members of the status. covers: cluster.md CLU-205
 */
#include "tests/unit.h"

#include <string.h>

#include "api/types/kinds/crd_document.h"
#include "api/types/text/json_text.h"
#include "cli/controller/schema_gap.h"

/* Returns a definition of JobFlows whose status has this schema. Owned. */
static json_t *with_status(const char *schema)
{
    scoped_str text = mem_printf(
        "{\"spec\":{\"versions\":[{\"name\":\"v1alpha0\"},{\"name\":\"v1alpha1\",\"schema\":{"
        "\"openAPIV3Schema\":{\"properties\":{\"spec\":{},\"status\":%s}}}}]}}",
        schema);

    return json_read(text, strlen(text));
}

static void a_definition_of_this_program_drops_nothing(void **state)
{
    static const enum crd_form forms[] = {CRD_SERVED, CRD_CLUSTER};

    for (size_t i = 0; i < countof(forms); i++) {
        scoped(json) json_t *definition = crd_document(&kind_job_flow, forms[i]);
        scoped(buf) struct buf gap = {0};

        check_int("nothing is missing", (int)schema_gap(&kind_job_flow, definition, 3, &gap), 0);
    }
}

static void what_is_missing_is_named_and_counted(void **state)
{
    scoped(json) json_t *definition =
        with_status("{\"properties\":{\"state\":{},\"completedJobs\":{}}}");
    scoped(json) json_t *open = with_status("{\"x-kubernetes-preserve-unknown-fields\":true}");
    scoped(buf) struct buf gap = {0}, none = {0}, all = {0};
    size_t missing = schema_gap(&kind_job_flow, definition, 2, &gap);
    size_t whole = schema_gap(&kind_job_flow, definition, 1000, &all);
    scoped_str rest = mem_printf(" and %zu more", missing - 2);

    check("members are missing", missing > 2);
    check_has("two are named, the others counted", gap.data, rest);
    check_int("the number is the same", (int)whole, (int)missing);
    check_has("what a restart needs", all.data, "status.nodes");
    check("what is there is not named", !strstr(all.data, "status.state,"));
    check_int("an open status keeps all", (int)schema_gap(&kind_job_flow, open, 2, &none), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition_of_this_program_drops_nothing),
        cmocka_unit_test(what_is_missing_is_named_and_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
