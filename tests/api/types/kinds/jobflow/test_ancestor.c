/*
 * Conditions on distant ancestors: they are found at any distance, and only steps that do not come
 * before are refused.
 * covers: see jobflow.md 13.3
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"
#include "tests/api/types/kinds/admission_fixture.h"
#include "tests/support/dice.h"

static void flow_step(json_t *flows, size_t i)
{
    json_array_append_new(flows, json_pack("{s:o}", "name", json_sprintf("s%zu", i)));
}

static void flow_edge(json_t *flows, size_t from, size_t to)
{
    json_t *step = json_array_get(flows, to);
    json_t *depends = json_object_get(step, "dependsOn");

    if (!depends) {
        depends = json_pack("{s:[]}", "targets");
        json_object_set_new(step, "dependsOn", depends);
    }
    json_array_append_new(json_object_get(depends, "targets"), json_sprintf("s%zu", from));
}

static void flow_ask(json_t *flows, size_t step, size_t wanted)
{
    json_t *at = json_array_get(flows, step), *terms;

    if (!json_object_get(at, "if"))
        json_object_set_new(at, "if", json_pack("{s:[]}", "terms"));
    terms = json_object_get(json_object_get(at, "if"), "terms");
    json_array_append_new(terms, json_pack("{s:o, s:[s]}", "target", json_sprintf("s%zu", wanted),
                                           "phases", "Completed"));
}

/* Returns steps of which step i waits for step i - 1. */
static json_t *chain_of(size_t steps)
{
    json_t *flows = json_array();

    for (size_t i = 0; i < steps; i++) {
        flow_step(flows, i);
        if (i)
            flow_edge(flows, i - 1, i);
    }
    return flows;
}

/* Admits a flow of these steps and returns whether it was accepted. `flows` is freed. */
static bool flow_admit(json_t *flows, struct admission_fixture *fixture)
{
    scoped(json) json_t *doc = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:o}}", "apiVersion",
                                         "flow.volcano.sh/v1alpha1", "kind", "JobFlow", "metadata",
                                         "name", "f", "namespace", "ns", "spec", "flows", flows);
    struct object *object;

    error_list_release(&fixture->errors);
    object = admission_admit(&fixture->adm, doc, NULL, UNKNOWN_ERROR, &fixture->errors);
    object_unref(object);
    return object != NULL;
}

static void every_step_of_a_long_chain_may_refer_to_the_first(void **state)
{
    enum { STEPS = 20000 };
    json_t *flows = chain_of(STEPS);
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture.adm.warnings = NULL;
    for (size_t i = 1; i < STEPS; i++)
        flow_ask(flows, i, 0);
    check("accepted", flow_admit(flows, &fixture));
    fixture_release(&fixture);
}

static void a_distant_step_that_is_no_ancestor_is_refused(void **state)
{
    enum { STEPS = 5000, ASKING = 200 };
    json_t *flows = chain_of(STEPS);
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture.adm.warnings = NULL;
    flow_step(flows, STEPS); /* a step without edges */
    flow_step(flows, STEPS + 1);
    flow_edge(flows, STEPS - 1, STEPS + 1);
    for (size_t i = 0; i < ASKING; i++)
        flow_ask(flows, STEPS - ASKING + i, i);
    flow_ask(flows, 4000, STEPS);
    flow_ask(flows, 4100, STEPS + 1);
    flow_ask(flows, 4200, 4200);
    check("refused", !flow_admit(flows, &fixture));
    check_int("findings", fixture.errors.count, 3);
    check("a stranger", has_finding(&fixture.errors, "spec.flows[4000].if.terms[0].target",
                                    "\"s5000\": step s4000 does not wait for it"));
    check("one that comes later",
          has_finding(&fixture.errors, "spec.flows[4100].if.terms[0].target",
                      "\"s5001\": step s4100 does not wait for it"));
    check("itself", has_finding(&fixture.errors, "spec.flows[4200].if.terms[0].target",
                                "\"s4200\": step s4200 does not wait for it"));
    fixture_release(&fixture);
}

/* The closure answers by another method the question that admission asks. */
static void answers_equal_those_of_the_transitive_closure(void **state)
{
    enum { STEPS = 3000, WORDS = (STEPS + 63) / 64, QUESTIONS = 90 };
    uint64_t(*before)[WORDS] = mem_array(STEPS, sizeof *before);
    struct dice dice = {7};
    json_t *flows = chain_of(0);
    struct admission_fixture fixture;
    size_t wrong = 0;

    fixture_init(&fixture);
    fixture.adm.warnings = NULL;
    for (size_t i = 0; i < STEPS; i++) {
        flow_step(flows, i);
        for (size_t k = 0; i > 8 && k < 2; k++) {
            size_t from = i - 2 - (size_t)dice_roll(&dice, 7);

            flow_edge(flows, from, i);
            before[i][from / 64] |= UINT64_C(1) << from % 64;
            for (size_t w = 0; w < WORDS; w++)
                before[i][w] |= before[from][w];
        }
    }
    for (size_t q = 0; q < QUESTIONS; q++) {
        size_t step = STEPS - 1 - (size_t)dice_roll(&dice, 1000);
        size_t wanted = q % 3 ? (size_t)dice_roll(&dice, 1000) : (size_t)dice_roll(&dice, 9);

        flow_ask(flows, step, wanted);
        wrong += !(before[step][wanted / 64] >> wanted % 64 & 1);
    }
    check("both answers are met", wrong > 0 && wrong < QUESTIONS);
    flow_admit(flows, &fixture);
    check_int("refused", fixture.errors.count, wrong);
    fixture_release(&fixture);
    mem_free(before);
}

static void the_finding_beyond_the_budget_names_the_alternative(void **state)
{
    enum { STEPS = 60000, FAR = 30000 };
    json_t *flows = chain_of(STEPS);
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture.adm.warnings = NULL;
    for (size_t i = FAR; i < STEPS; i++)
        flow_ask(flows, i, i - FAR);
    check("refused", !flow_admit(flows, &fixture));
    check("why", has_finding(&fixture.errors, NULL,
                             "speaks of too many steps that lie far back: name it in "
                             "dependsOn.targets"));
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_of_a_long_chain_may_refer_to_the_first),
        cmocka_unit_test(a_distant_step_that_is_no_ancestor_is_refused),
        cmocka_unit_test(answers_equal_those_of_the_transitive_closure),
        cmocka_unit_test(the_finding_beyond_the_budget_names_the_alternative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
