/*
 * Admission of large JobFlows: its cost and the limits of size.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"
#include "tests/api/types/kinds/admission_fixture.h"
#include "tests/support/cpu.h"

/* Returns a chain of steps. With `closed` the first step waits for the last one. */
static json_t *line_of(size_t steps, bool closed)
{
    json_t *flows = json_array();

    for (size_t i = 0; i < steps; i++) {
        json_t *step = json_pack("{s:o}", "name", json_sprintf("s%zu", i));

        if (i || closed)
            json_object_set_new(
                step, "dependsOn",
                json_pack("{s:[o]}", "targets", json_sprintf("s%zu", i ? i - 1 : steps - 1)));
        json_array_append_new(flows, step);
    }
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:o}}", "apiVersion", "flow.volcano.sh/v1alpha1",
                     "kind", "JobFlow", "metadata", "name", "f", "namespace", "ns", "spec", "flows",
                     flows);
}

/* The specification demands 50 ms. The test allows more, because sanitizers slow it down. */
enum { PATIENCE_MS = 1000 };

static struct object *timed_admit(struct admission_fixture *fixture, json_t *doc, int64_t *out_ms)
{
    int64_t start = cpu_us();
    struct object *object =
        admission_admit(&fixture->adm, doc, NULL, UNKNOWN_ERROR, &fixture->errors);

    *out_ms = (cpu_us() - start) / 1000;
    print_message("    admitted in %" PRId64 " ms\n", *out_ms);
    return object;
}

static void ten_thousand_steps_are_admitted_in_time(void **state)
{
    struct admission_fixture fixture;
    scoped(json) json_t *doc = line_of(10000, false);
    int64_t ms;

    fixture_init(&fixture);

    scoped(object) struct object *flow = timed_admit(&fixture, doc, &ms);

    assert_non_null(flow);
    check("time", ms < PATIENCE_MS);
    fixture_release(&fixture);
}

/* covers: jobflow.md 27 */
static void a_cycle_of_ten_thousand_steps_is_reported(void **state)
{
    struct admission_fixture fixture;
    scoped(json) json_t *doc = line_of(10000, true);
    int64_t ms;

    fixture_init(&fixture);
    assert_null(timed_admit(&fixture, doc, &ms));
    check("time", ms < PATIENCE_MS);
    check_int("findings", fixture.errors.count, 1);
    check_str("field", fixture.errors.items[0].field, "spec.flows[0].dependsOn.targets[0]");
    check_has("message", fixture.errors.items[0].message,
              "jobflow Flow is not DAG: s0 -> s1 -> s2 -> ");
    check_has("message", fixture.errors.items[0].message, "-> s0 (a cycle of 10000");
    fixture_release(&fixture);
}

/* covers: see DC-05 L-17: a step may join any number of others, the edges of the flow are bounded
 */
static void a_join_may_have_thousands_of_targets(void **state)
{
    enum { TARGETS = 2000 };
    scoped(buf) struct buf steps = {0}, targets = {0};
    scoped_str text = NULL;
    struct admission_fixture fixture;

    for (int i = 0; i < TARGETS; i++) {
        buf_printf(&steps, "{name: s%d}, ", i);
        buf_printf(&targets, "%ss%d", i ? ", " : "", i);
    }
    text =
        mem_printf("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f, "
                   "namespace: ns}\nspec: {flows: [%s{name: join, dependsOn: {targets: [%s]}}]}\n",
                   steps.data, targets.data);

    const struct verdict_case wide = {"a join of 2,000", text};

    fixture_init(&fixture);
    check_verdict(&fixture, &wide, NULL);
    fixture_release(&fixture);
}

/* covers: see DC-05 L-17 */
static void an_option_allows_larger_flows(void **state)
{
    static const struct {
        int64_t asked, steps, edges;
    } asked_for[] = {
        {0, 100000, 1000000},         {2000, 2000, 1000000},        {300000, 300000, 3000000},
        {1000000, 1000000, 10000000}, {5000000, 1000000, 10000000},
    };

    for (size_t i = 0; i < countof(asked_for); i++) {
        struct limits limits;

        limits_for_flows(&limits, asked_for[i].asked);
        check_int("steps", limits.flow_steps, asked_for[i].steps);
        check_int("edges", limits.flow_edges, asked_for[i].edges);
        check_int("the others", limits.job_tasks, limits_default.job_tasks);
    }
}

/* Patches may refer to parameters very often, so the look-up must not be linear. */
static void each_of_many_parameters_is_found(void **state)
{
    /* The stride and the count have no common divisor: every parameter is met, in no order. */
    enum { PARAMETERS = 2000, STRIDE = 777 };
    scoped(buf) struct buf text = {0};
    struct admission_fixture fixture;
    char name[16];

    fixture_init(&fixture);
    buf_str(&text, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
                   "metadata: {name: f, namespace: ns}\nspec: {flows: [{name: a}], parameters: [");
    for (int i = 0; i < PARAMETERS; i++)
        buf_printf(&text, "{name: p%d, %s: v%d}, ", i * STRIDE % PARAMETERS,
                   i % 2 ? "value" : "default", i);
    buf_str(&text, "]}\n");

    scoped(object) struct object *flow = fixture_admit(&fixture, text.data, NULL);

    assert_non_null(flow);
    for (int i = 0; i < PARAMETERS; i++) {
        scoped_str value = mem_printf("v%d", i);

        snprintf(name, sizeof name, "p%d", i * STRIDE % PARAMETERS);
        check_str(name, jobflow_parameter(jobflow_spec_of(flow), name), value);
    }
    check_str("none", jobflow_parameter(jobflow_spec_of(flow), "p"), NULL);
    check_str("none", jobflow_parameter(jobflow_spec_of(flow), "p2000"), NULL);
    fixture_release(&fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_steps_are_admitted_in_time),
        cmocka_unit_test(a_cycle_of_ten_thousand_steps_is_reported),
        cmocka_unit_test(a_join_may_have_thousands_of_targets),
        cmocka_unit_test(each_of_many_parameters_is_found),
        cmocka_unit_test(an_option_allows_larger_flows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
