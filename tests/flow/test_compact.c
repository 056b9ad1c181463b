/* Tests large flows: the compact status, its restoring, and what a transition costs. covers: see
 * DC-05 DC-20 */
#include "tests/unit.h"

#include <stdio.h>

#include "flow/graph/graph.h"
#include "tests/support/flow_fixture.h"

enum { STEPS = 3000, WIDTH = 100 };

/* Creates a flow in layers of WIDTH steps. Each step waits for the one above it. */
static void make_large_flow(struct flow_fixture *fixture)
{
    scoped(buf) struct buf yaml = {0};

    flow_fixture_templates(fixture, "t");
    buf_str(&yaml, "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: f}, "
                   "spec: {flows: [");
    for (int i = 0; i < STEPS; i++) {
        buf_printf(&yaml, "{name: s%d, jobTemplateName: t", i);
        if (i >= WIDTH)
            buf_printf(&yaml, ", dependsOn: {targets: [s%d]}", i - WIDTH);
        buf_str(&yaml, "},");
    }
    buf_str(&yaml, "]}}");
    flow_fixture_apply(fixture, yaml.data);
}

static void complete_layer(struct flow_fixture *fixture, int layer, bool remove)
{
    for (int i = layer * WIDTH; i < (layer + 1) * WIDTH; i++) {
        char job[32];

        snprintf(job, sizeof job, "f-s%d", i);
        flow_fixture_phase_soon(fixture, job, JOB_COMPLETED);
        if (remove)
            flow_fixture_delete(fixture, &kind_job, job, REGISTRY_BACKGROUND);
    }
    flow_fixture_settle(fixture);
}

static void status_is_bounded(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    make_large_flow(fixture);
    for (int layer = 0; layer < 3; layer++)
        complete_layer(fixture, layer, false);
    flow_fixture_phase(fixture, "f-s300", JOB_RUNNING);
    flow_fixture_advance(fixture, 2000);
    check_str("counts", flow_fixture_at(fixture, "f", "stepCounts"),
              "{\"total\":3000,\"waiting\":2600,\"running\":1,\"completed\":300,\"unknown\":99}");
    check_str("shown", flow_fixture_at(fixture, "f", "runningJobs"), "[\"f-s300\"]");
    check_str("the first", flow_fixture_at(fixture, "f", "completedJobs/99"), "f-s99");
    check_str("not all", flow_fixture_at(fixture, "f", "completedJobs/100"), "");
    check_str("what is under way", flow_fixture_at(fixture, "f", "nodes/0/name"), "s300");
    check_str("with its record", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/phase"),
              "Running");
    check("small", flow_fixture_get(fixture, &kind_job_flow, "f")->status->len < 64 << 10);
}

static void results_outlive_jobs_and_restarts(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    size_t jobs = 1;

    make_large_flow(fixture);
    for (int layer = 0; layer < STEPS / WIDTH; layer++) {
        complete_layer(fixture, layer, layer % 3 == 0);
        if (layer % 5 == 2)
            flow_fixture_restart(fixture);
    }
    flow_fixture_advance(fixture, 5000);
    check_str("ended", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    for (const char *c = fixture->created.data; *c; c++)
        jobs += *c == ' ';
    check_int("each job once", jobs, STEPS);
    check_str("counts", flow_fixture_at(fixture, "f", "stepCounts"),
              "{\"total\":3000,\"completed\":3000}");
}

static void failed_step_is_shown_with_its_reason(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    make_large_flow(fixture);
    complete_layer(fixture, 0, false);
    flow_fixture_status(fixture, "f-s150",
                        &(const struct job_status){.phase = JOB_FAILED,
                                                   .running_duration_ns = -1,
                                                   .reason = "PodFailed",
                                                   .message = "exit code 3"});
    flow_fixture_advance(fixture, 5000);
    check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check_str("listed", flow_fixture_at(fixture, "f", "failedJobs"), "[\"f-s150\"]");
    check_has("described", flow_fixture_get(fixture, &kind_job_flow, "f")->status->text,
              "exit code 3");
}

/* A job says from what it was made (13.12). covers: see jobflow.md 13.10 */
static void jobs_tell_what_their_steps_were(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped_str hash = NULL;

    make_large_flow(fixture);
    hash = mem_strdup(meta_annotation(flow_fixture_get(fixture, &kind_job, "f-s0")->meta,
                                      "volcano.sh/jobFlowSpecHash"));
    check_int("digits", strlen(hash), 16);
    check("each its own",
          strcmp(hash, meta_annotation(flow_fixture_get(fixture, &kind_job, "f-s1")->meta,
                                       "volcano.sh/jobFlowSpecHash")) != 0);
    flow_fixture_phase(fixture, "f-s0", JOB_RUNNING);
    flow_fixture_advance(fixture, 2000);
    check_str("in the status", flow_fixture_at(fixture, "f", "nodes/0/specHash"), hash);
    flow_fixture_restart(fixture);
    flow_fixture_phase(fixture, "f-s0", JOB_FAILED);
    flow_fixture_advance(fixture, 2000);
    check_str("of a failed one, after a restart", flow_fixture_at(fixture, "f", "nodes/0/specHash"),
              hash);
}

/* The number of status writes of a compact flow does not grow with its transitions. */
static void transitions_share_a_write(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    unsigned before;

    make_large_flow(fixture);
    flow_fixture_phase(fixture, "f-s0", JOB_RUNNING);
    flow_fixture_advance(fixture, 5000);
    before = fixture->flow_writes;
    complete_layer(fixture, 0, false);
    complete_layer(fixture, 1, false);
    flow_fixture_advance(fixture, 5000);
    check_int("one for two hundred", fixture->flow_writes, before + 1);
}

/* While more steps run than have entries in the status, a bitmap says which. */
static void those_at_work_are_told_when_they_are_too_many_to_be_named(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped(buf) struct buf yaml = {0};

    flow_fixture_templates(fixture, "t");
    buf_str(&yaml, "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: f}, "
                   "spec: {flows: [");
    for (int i = 0; i < 1001; i++)
        buf_printf(&yaml, "{name: s%d, jobTemplateName: t},", i);
    buf_str(&yaml, "]}}");
    flow_fixture_apply(fixture, yaml.data);
    for (int i = 0; i < 102; i++) {
        char job[32];

        snprintf(job, sizeof job, "f-s%d", i);
        flow_fixture_phase_soon(fixture, job, JOB_RUNNING);
    }
    flow_fixture_advance(fixture, 5000);
    check_str("102 of them", flow_fixture_at(fixture, "f", "results/running"),
              "////////////////Pw==");
    check_str("named are a hundred", flow_fixture_at(fixture, "f", "runningJobs/100"), "");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 5000);
    check_str("after a restart", flow_fixture_at(fixture, "f", "stepCounts/running"), "102");
    flow_fixture_phase_soon(fixture, "f-s0", JOB_COMPLETED);
    flow_fixture_phase_soon(fixture, "f-s1", JOB_COMPLETED);
    flow_fixture_advance(fixture, 5000);
    check_str("a hundred are named", flow_fixture_at(fixture, "f", "results/running"), "");
}

/* s0 is slower than the others of its layer, so the critical path goes through it. */
static void critical_path_is_told_once_the_flow_is_over(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped_str before = NULL;

    make_large_flow(fixture);
    for (int layer = 0; layer < STEPS / WIDTH; layer++) {
        char job[32];

        for (int i = layer * WIDTH + 1; i < (layer + 1) * WIDTH; i++) {
            snprintf(job, sizeof job, "f-s%d", i);
            flow_fixture_phase_soon(fixture, job, JOB_COMPLETED);
        }
        check_str("not before", flow_fixture_at(fixture, "f", "criticalPath"), "");
        flow_fixture_advance(fixture, 60000);
        snprintf(job, sizeof job, "f-s%d", layer * WIDTH);
        flow_fixture_phase(fixture, job, JOB_COMPLETED);
        if (layer == 4)
            flow_fixture_restart(fixture);
    }
    flow_fixture_advance(fixture, 5000);
    check_str("ended", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check_str("steps", flow_fixture_at(fixture, "f", "criticalPath/steps"), "30");
    check_str("first", flow_fixture_at(fixture, "f", "criticalPath/ends/0/name"), "s0");
    check_str("last", flow_fixture_at(fixture, "f", "criticalPath/ends/29/name"), "s2900");
    check_str("its time", flow_fixture_at(fixture, "f", "criticalPath/duration"), "30m0s");
    before = mem_strdup(flow_fixture_at(fixture, "f", "criticalPath"));
    flow_fixture_delete(fixture, &kind_job, "f-s0", REGISTRY_BACKGROUND);
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 5000);
    check_str("jobs may go", flow_fixture_at(fixture, "f", "criticalPath"), before);
}

/* Of a chain of 1,200 steps only the ends are named in the critical path. The path of a failed flow
 * ends with the step that ended last, and it is removed when the flow runs again. */
static void ends_of_a_long_path_are_named(void **state)
{
    enum { LONG = 1200 };
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped(buf) struct buf yaml = {0};

    flow_fixture_templates(fixture, "t");
    buf_str(&yaml, "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: f}, "
                   "spec: {flows: [{name: s0, jobTemplateName: t},");
    for (int i = 1; i < LONG; i++)
        buf_printf(&yaml, "{name: s%d, jobTemplateName: t, dependsOn: {targets: [s%d]}},", i,
                   i - 1);
    buf_str(&yaml, "]}}");
    flow_fixture_apply(fixture, yaml.data);
    for (int i = 0; i < 150; i++) {
        char job[32];

        snprintf(job, sizeof job, "f-s%d", i);
        flow_fixture_phase(fixture, job, i == 149 ? JOB_FAILED : JOB_COMPLETED);
    }
    flow_fixture_advance(fixture, 5000);
    check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check_str("steps", flow_fixture_at(fixture, "f", "criticalPath/steps"), "150");
    check_str("the first fifty", flow_fixture_at(fixture, "f", "criticalPath/ends/49/name"), "s49");
    check_str("and the last", flow_fixture_at(fixture, "f", "criticalPath/ends/50/name"), "s100");
    check_str("no more", flow_fixture_at(fixture, "f", "criticalPath/ends/100"), "");
    flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowRetry", "1");
    flow_fixture_advance(fixture, 5000);
    check_str("again", flow_fixture_at(fixture, "f", "state/phase"), "Running");
    check_str("forgotten", flow_fixture_at(fixture, "f", "criticalPath"), "");
}

/* covers: reliability.md INV-F7 */
static void unusable_graphs_are_refused(void **state)
{
    static const char *b_only[] = {"b"}, *a_only[] = {"a"}, *none[] = {"nobody"};
    struct flow_depends on_a = {.targets = {a_only, 1}}, on_b = {.targets = {b_only, 1}},
                        on_none = {.targets = {none, 1}};
    struct {
        const char *field;
        struct flow_step steps[2];
    } cases[] = {
        {"spec.flows", {{.name = "a", .depends = &on_b}, {.name = "b", .depends = &on_a}}},
        {"spec.flows", {{.name = "a", .depends = &on_a}, {.name = "b"}}},
        {"spec.flows[1].name", {{.name = "a"}, {.name = "a"}}},
        {"spec.flows[1].dependsOn.targets[0]", {{.name = "a"}, {.name = "b", .depends = &on_none}}},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        const struct jobflow_spec spec = {.steps = {cases[i].steps, 2}};
        struct error err = {0};

        check_error(cases[i].field, flow_graph_new(&spec, &err) != NULL, err, ERR_INVALID);
        check_str("field", err.field, cases[i].field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_is_bounded),
        cmocka_unit_test(results_outlive_jobs_and_restarts),
        cmocka_unit_test(failed_step_is_shown_with_its_reason),
        cmocka_unit_test(jobs_tell_what_their_steps_were),
        cmocka_unit_test(transitions_share_a_write),
        cmocka_unit_test(those_at_work_are_told_when_they_are_too_many_to_be_named),
        cmocka_unit_test(critical_path_is_told_once_the_flow_is_over),
        cmocka_unit_test(ends_of_a_long_path_are_named),
        cmocka_unit_test(unusable_graphs_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
