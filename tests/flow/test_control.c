/*
 * Tests conditions, switches, handled failures and skipped steps, with a restart at any point.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/flow_fixture.h"

enum { STEPS_MAX = 8 };

/* How a job ends: with an exit code and a termination message. */
struct end {
    const char *job;
    int code;
    const char *message;
};

struct control_case {
    const char *name;
    const char *spec;
    struct end ends[STEPS_MAX];
    const char *created; /* names of the created jobs, in order */
    const char *phase;   /* phase in which the flow ends */
    const char *skipped; /* expected skippedJobs of the status */
};

#define IF(terms)               "if: {terms: [" terms "]}"
#define ON(name, targets, more) "{name: " name ", dependsOn: {targets: [" targets "]}, " more "}"
#define GOOD                    "{target: a, output: {key: accuracy, operator: Gt, values: [\"0.9\"]}}"
#define FAILS                   "{target: a, phases: [Failed, Terminated]}"
#define GRADE(name, grade, steps)                                                                  \
    "{name: " name ", if: {terms: [{target: a, output: {key: grade, values: [" grade               \
    "]}}]}, flows: [" steps "]}"
#define SWITCH(more)                                                                               \
    "flows: [{name: a}, " ON(                                                                      \
        "r", "a",                                                                                  \
        "switch: {cases: [" GRADE("good", "A, B", "b") ", " GRADE(                                 \
            "poor", "C", "c") "], default: [d]}") ", {name: b}, {name: c}, {name: d}" more "]"

#define LIST(more)                                                                                 \
    "flows: [{name: a}, " ON("b", "a",                                                             \
                             "for: {itemsFrom: {target: a, key: l}, maxIterations: 4" more "}")

/* clang-format off */
static const struct control_case cases[] = {
    {"true runs", "flows: [{name: a}, " ON("b", "a", IF(GOOD)) "]",
     {{"f-a", 0, "accuracy=0.95"}, {"f-b"}}, "f-a f-b", "Succeed", ""},
    {"false is skipped", "flows: [{name: a}, " ON("b", "a", IF(GOOD)) "]",
     {{"f-a", 0, "loss=1\naccuracy=0.5\n"}}, "f-a", "Succeed", "[\"f-b\"]"},
    {"no output is false", "flows: [{name: a}, " ON("b", "a", IF(GOOD)) "]",
     {{"f-a", 0, NULL}}, "f-a", "Succeed", "[\"f-b\"]"},
    {"no number is false", "flows: [{name: a}, " ON("b", "a", IF(GOOD)) "]",
     {{"f-a", 0, "accuracy=high"}}, "f-a", "Succeed", "[\"f-b\"]"},
    {"not turns a term", "flows: [{name: a}, " ON("b", "a", IF("{target: a, not: true, output: {key: x, operator: Exists}}")) "]",
     {{"f-a", 0, NULL}, {"f-b"}}, "f-a f-b", "Succeed", ""},
    {"any of two terms", "flows: [{name: a}, " ON("b", "a", "if: {strategy: any, terms: [" GOOD ", {target: a, phases: [Completed]}]}") "]",
     {{"f-a", 0, NULL}, {"f-b"}}, "f-a f-b", "Succeed", ""},
    {"exit code of a failure", "flows: [{name: a}, " ON("b", "a", IF("{target: a, exitCode: {operator: In, values: [3, 4]}}")) "]",
     {{"f-a", 4, NULL}, {"f-b"}}, "f-a f-b", "Failed", ""},
    {"another exit code", "flows: [{name: a}, " ON("b", "a", IF("{target: a, exitCode: {operator: In, values: [3, 4]}}")) "]",
     {{"f-a", 5, NULL}}, "f-a", "Failed", "[\"f-b\"]"},
    {"pods of a task", "flows: [{name: a}, " ON("b", "a", IF("{target: a, taskStatus: {taskName: main, phase: Failed}}")) "]",
     {{"f-a", 1, NULL}, {"f-b"}}, "f-a f-b", "Failed", ""},
    {"159: a failure is handled", "flows: [{name: a}, " ON("c", "a", IF(FAILS)) "]",
     {{"f-a", 1, NULL}, {"f-c"}}, "f-a f-c", "Failed", ""},
    {"160: nothing to handle", "flows: [{name: a}, " ON("c", "a", IF(FAILS)) "]",
     {{"f-a", 0, NULL}}, "f-a", "Succeed", "[\"f-c\"]"},
    {"what rescues fails itself", "flows: [{name: a}, " ON("c", "a", IF(FAILS)) "]",
     {{"f-a", 1, NULL}, {"f-c", 1, NULL}}, "f-a f-c", "Failed", ""},
    {"only an output is no rescue", "flows: [{name: a}, " ON("c", "a", IF(GOOD)) "]",
     {{"f-a", 1, NULL}}, "f-a", "Failed", "[\"f-c\"]"},
    {"behind a handled failure nothing runs", "flows: [{name: a}, " ON("b", "a", "") ", " ON("c", "a", IF(FAILS)) ", " ON("d", "b", "") "]",
     {{"f-a", 1, NULL}, {"f-c"}}, "f-a f-c", "Failed", "[\"f-b\",\"f-d\"]"},
    {"a distant rescue", "flows: [{name: a}, " ON("b", "a", "") ", " ON("c", "b", IF(FAILS)) "]",
     {{"f-a", 1, NULL}, {"f-c"}}, "f-a f-c", "Failed", "[\"f-b\"]"},
    {"the flow waits for the rescue's other target", "flows: [{name: a}, {name: x}, " ON("c", "a, x", IF(FAILS)) "]",
     {{"f-a", 1, NULL}, {"f-x"}, {"f-c"}}, "f-a f-x f-c", "Failed", ""},
    {"ignored failure", "flows: [{name: a, failurePolicy: ignore}, " ON("b", "a", "") "]",
     {{"f-a", 1, NULL}, {"f-b"}}, "f-a f-b", "Succeed", ""},
    {"one skipped, one completed: a join runs", "flows: [{name: a}, " ON("b", "a", IF(GOOD)) ", " ON("c", "a, b", "") "]",
     {{"f-a", 0, NULL}, {"f-c"}}, "f-a f-c", "Succeed", "[\"f-b\"]"},
    {"all skipped: a join is", "flows: [{name: a}, " ON("b", "a", IF(GOOD)) ", " ON("c", "b", "") ", " ON("d", "c", "") "]",
     {{"f-a", 0, NULL}}, "f-a", "Succeed", "[\"f-b\",\"f-c\",\"f-d\"]"},
    {"a skipped target satisfies no any", "flows: [{name: a}, " ON("b", "a", IF(GOOD)) ", {name: c, dependsOn: {targets: [b], strategy: any}}]",
     {{"f-a", 0, NULL}}, "f-a", "Succeed", "[\"f-b\",\"f-c\"]"},
    {"asking whether one was skipped", "flows: [{name: a}, " ON("b", "a", IF(GOOD)) ", " ON("c", "b", IF("{target: b, phases: [Skipped]}")) "]",
     {{"f-a", 0, NULL}, {"f-c"}}, "f-a f-c", "Succeed", "[\"f-b\"]"},
    {"skipped with its target though true", "flows: [{name: a}, " ON("b", "a", IF(GOOD)) ", " ON("c", "b", IF("{target: a, output: {key: x, operator: Exists}}")) "]",
     {{"f-a", 0, "x=1"}}, "f-a", "Succeed", "[\"f-b\",\"f-c\"]"},
    {"a parameter decides", "parameters: [{name: mode, default: full}], flows: [{name: a, " IF("{parameter: {name: mode, values: [full]}}") "}, {name: b, " IF("{parameter: {name: mode, operator: NotIn, values: [full]}}") "}]",
     {{"f-a"}}, "f-a", "Succeed", "[\"f-b\"]"},
    {"a value wins over its default", "parameters: [{name: mode, default: full, value: quick}], flows: [{name: a, " IF("{parameter: {name: mode, values: [full]}}") "}]",
     {{0}}, "", "Succeed", "[\"f-a\"]"},
    {"a value that is a parameter", "parameters: [{name: least, default: \"0.4\"}], flows: [{name: a}, " ON("b", "a", IF("{target: a, output: {key: accuracy, operator: Gt, values: [$(params.least)]}}")) "]",
     {{"f-a", 0, "accuracy=0.5"}, {"f-b"}}, "f-a f-b", "Succeed", ""},
    {"161: no case matches", SWITCH(""), {{"f-a", 0, "grade=D"}, {"f-d"}}, "f-a f-d", "Succeed", "[\"f-b\",\"f-c\"]"},
    {"the first case", SWITCH(""), {{"f-a", 0, "grade=B"}, {"f-b"}}, "f-a f-b", "Succeed", "[\"f-c\",\"f-d\"]"},
    {"the second case", SWITCH(""), {{"f-a", 0, "grade=C"}, {"f-c"}}, "f-a f-c", "Succeed", "[\"f-b\",\"f-d\"]"},
    {"162: a join runs once", SWITCH(", " ON("e", "b, c, d", "")), {{"f-a", 0, "grade=C"}, {"f-c"}, {"f-e"}}, "f-a f-c f-e", "Succeed", "[\"f-b\",\"f-d\"]"},
    {"a chosen step has targets, too", "flows: [{name: a}, {name: x}, " ON("r", "a", "switch: {default: [b]}") ", " ON("b", "x", "") "]",
     {{"f-a"}, {"f-x"}, {"f-b"}}, "f-a f-x f-b", "Succeed", ""},
    {"no match and no default", "flows: [{name: a}, " ON("r", "a", "switch: {cases: [" GRADE("good", "A", "b") "]}") ", {name: b}]",
     {{"f-a", 0, NULL}}, "f-a", "Succeed", "[\"f-b\"]"},
    {"a skipped switch skips all", "flows: [{name: a}, " ON("r", "a", IF(GOOD) ", switch: {default: [b]}") ", {name: b}, " ON("c", "b", "") "]",
     {{"f-a", 0, NULL}}, "f-a", "Succeed", "[\"f-b\",\"f-c\"]"},
    {"items that were put out", LIST("") ", " ON("c", "b", "") "]",
     {{"f-a", 0, "l=x, y"}, {"f-b-0"}, {"f-b-1"}, {"f-c"}}, "f-a f-b-0 f-b-1 f-c", "Succeed", ""},
    {"a JSON list, one after the other", LIST(", parallelism: 1") "]",
     {{"f-a", 0, "l=[\"a,b\", 2, {\"k\": null}]"}, {"f-b-0"}, {"f-b-1"}, {"f-b-2"}}, "f-a f-b-0 f-b-1 f-b-2", "Succeed", ""},
    {"as many as it may have", LIST("") "]",
     {{"f-a", 0, "l=1,2,3,4"}, {"f-b-0"}, {"f-b-1"}, {"f-b-2"}, {"f-b-3"}}, "f-a f-b-0 f-b-1 f-b-2 f-b-3", "Succeed", ""},
    {"one more", LIST("") ", " ON("c", "b", "") "]", {{"f-a", 0, "l=1,2,3,4,5"}}, "f-a", "Failed", ""},
    {"an empty list", LIST("") ", " ON("c", "b", "") "]", {{"f-a", 0, "l="}, {"f-c"}}, "f-a f-c", "Succeed", ""},
    {"an empty JSON list", LIST("") "]", {{"f-a", 0, "l=[]"}}, "f-a", "Succeed", ""},
    {"no such output", LIST("") "]", {{"f-a", 0, "k=1"}}, "f-a", "Failed", ""},
    {"a broken list", LIST("") "]", {{"f-a", 0, "l=[1,"}}, "f-a", "Failed", ""},
    {"an iteration fails, the rest is skipped", LIST(", parallelism: 1") ", " ON("c", "b", "") "]",
     {{"f-a", 0, "l=1,2,3"}, {"f-b-0"}, {"f-b-1", 1, NULL}}, "f-a f-b-0 f-b-1", "Failed", "[\"f-b-2\"]"},
    {"of a skipped step there are none", "flows: [{name: x}, " ON("a", "x", IF("{target: x, phases: [Failed]}")) ", {name: d, dependsOn: {targets: [x]}}, "
     ON("b", "a, d", "for: {itemsFrom: {target: a, key: l}, maxIterations: 4}") ", " ON("c", "b", "") "]",
     {{"f-x"}, {"f-d"}, {"f-c"}}, "f-x f-d f-c", "Succeed", "[\"f-a\"]"},
    {"broken lists may be handled", LIST("") ", " ON("c", "b", IF("{target: b, phases: [Failed]}")) "]", {{"f-a", 0, "l=["}, {"f-c"}}, "f-a f-c", "Failed", ""},
};
/* clang-format on */

/* Odd runs restart after every change, the others at one point. */
static void run_case(const struct control_case *c, size_t run)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    char what[128];

    snprintf(what, sizeof what, "%s, run %zu", c->name, run);
    flow_fixture_spec(fixture, "f", "a b c d e x", c->spec);
    for (size_t i = 0; i < STEPS_MAX && c->ends[i].job; i++) {
        if (!flow_fixture_has_job(fixture, c->ends[i].job))
            break; /* this job does not exist, so the rows behind it are not for this run */
        flow_fixture_end(fixture, c->ends[i].job, c->ends[i].code, c->ends[i].message);
        if (run == 1 || run == i + 2)
            flow_fixture_restart(fixture);
    }
    flow_fixture_advance(fixture, 1000);
    if (run == 1)
        flow_fixture_restart(fixture);
    check_str(what, fixture->created.data ? fixture->created.data : "", c->created);
    check_str(what, flow_fixture_at(fixture, "f", "state/phase"), c->phase);
    check_str(what, flow_fixture_at(fixture, "f", "skippedJobs"), c->skipped);
}

/* covers: jobflow.md 157 158 159 160 161 162; see 13.3 */
static void conditions_decide(void **state)
{
    for (size_t i = 0; i < countof(cases); i++)
        for (size_t run = 0; run < 5; run++)
            run_case(&cases[i], run);
}

/* covers: jobflow.md 157; see DC-06 and the status of each step */
static void the_status_tells_outputs_cases_and_codes(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a b c d", SWITCH(""));
    flow_fixture_end(fixture, "f-a", 0, "grade=C\nnote=a=b c\nbad key=1\ngrade=A\n");
    flow_fixture_advance(fixture, 1000);
    check_str("outputs", flow_fixture_at(fixture, "f", "nodes/0/outputs"),
              "{\"grade\":\"C\",\"note\":\"a=b c\"}");
    check_str("exit codes", flow_fixture_at(fixture, "f", "nodes/0/attempts/0/exitCodes"),
              "{\"main\":[0]}");
    check("log name", *flow_fixture_at(fixture, "f", "nodes/0/attempts/0/logs/f-a-main-0"));
    check_str("case", flow_fixture_at(fixture, "f", "nodes/1/case"), "poor");
    check_str("a switch has no job", flow_fixture_at(fixture, "f", "nodes/1/jobs"), "");
    check_str("its phase", flow_fixture_at(fixture, "f", "nodes/1/phase"), "Completed");
    check_str("skipped", flow_fixture_at(fixture, "f", "nodes/2/phase"), "Skipped");
    check_str("condition", flow_fixture_at(fixture, "f", "conditions/f-b/phase"), "Skipped");
    check_str("count", flow_fixture_at(fixture, "f", "stepCounts/skipped"), "2");
    check_str("jobs in all", flow_fixture_at(fixture, "f", "stepCounts/total"), "4");
    check_str("no condition of a switch", flow_fixture_at(fixture, "f", "conditions/f-r"), "");
}

/* One event for each skipped step says why it was skipped (12.1). */
static void skipped_steps_are_told_of(void **state)
{
    static const struct {
        const char *spec, *end, *says;
        int code, times;
    } skips[] = {
        {"flows: [{name: a}, " ON("b", "a", IF(GOOD)) "]", "f-a",
         "step b is skipped: its condition is false", 0, 1},
        {"flows: [{name: a}, " ON("b", "a", IF(GOOD)) ", " ON("c", "b", "") ", {name: d}]", "f-a",
         "step b is skipped: its condition is false", 0, 2},
        {SWITCH(""), "f-a", "step b is skipped: the switch chose another", 0, 2},
        {"flows: [{name: a}, " ON("b", "a", "") ", " ON("c", "a", IF(FAILS)) "]", "f-a",
         "step b is skipped: what it waits for has failed", 1, 1},
        {"flows: [{name: a}, " ON("b", "a", "") "]", "f-a", "", 0, 0},
    };

    for (size_t i = 0; i < countof(skips); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a b c d", skips[i].spec);
        flow_fixture_end(fixture, skips[i].end, skips[i].code, NULL);
        flow_fixture_advance(fixture, 5000);
        check_str(skips[i].spec, flow_fixture_event_text(fixture, "Skipped"), skips[i].says);
        flow_fixture_restart(fixture);
        flow_fixture_advance(fixture, 5000);
        check_int(skips[i].spec, flow_fixture_events(fixture, "Skipped"), skips[i].times);
    }
}

static const char *queue_of(struct flow_fixture *fixture, const char *job)
{
    const struct object *object = flow_fixture_get(fixture, &kind_job, job);

    return object ? job_spec_of(object)->queue : "none";
}

/* covers: see jobflow.md 13.3, DC-17 */
static void outputs_and_parameters_go_into_patches(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    const struct object *job;

    flow_fixture_apply(fixture, "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
                                "metadata: {name: red}\nspec: {weight: 1}\n");
    flow_fixture_spec(
        fixture, "f", "a b",
        "parameters: [{name: count, default: \"3\"}], flows: [{name: a}, " ON(
            "b", "a",
            "patch: {spec: {queue: $(steps.a.outputs.q), tasks: [{name: main, replicas: "
            "$(params.count), template: {spec: {containers: [{name: c, args: [\"$(nodes.a.outputs."
            "q)-$(flow.name)\", \"$$(params.count)\", \"$(HOME)\"]}]}}}]}}") "]");
    flow_fixture_end(fixture, "f-a", 0, "q=red");
    check_str("queue", queue_of(fixture, "f-b"), "red");
    job = flow_fixture_get(fixture, &kind_job, "f-b");
    assert_non_null(job);
    check_int("a number", job_spec_of(job)->tasks.items[0].replicas, 3);
    check("texts", strstr(job->body->text, "\"red-f\",\"$$(params.count)\",\"$(HOME)\""));
}

/* covers: see jobflow.md 13.3: an output that is not there */
static void a_step_that_refers_to_a_missing_output_fails(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(
            fixture, "f", "a b c",
            "flows: [{name: a}, " ON(
                "b", "a", "patch: {spec: {queue: $(steps.a.outputs.q)}}") ", " ON("c", "b",
                                                                                  "") "]");
        flow_fixture_end(fixture, "f-a", 0, NULL);
        if (run)
            flow_fixture_restart(fixture);
        flow_fixture_advance(fixture, 1000);
        check("no job", !flow_fixture_has_job(fixture, "f-b"));
        check_str("the flow fails", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_str("reason", flow_fixture_at(fixture, "f", "state/reason"), "MissingOutput");
        check_str("of the step", flow_fixture_at(fixture, "f", "nodes/1/reason"), "MissingOutput");
        check_has("why", flow_fixture_at(fixture, "f", "nodes/1/message"),
                  "step a has no output q");
        check_str("no attempt", flow_fixture_at(fixture, "f", "nodes/1/attempt"), "");
        check_int("no warning of a wait", flow_fixture_events(fixture, "AdmissionDenied"), 0);
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
        flow_fixture_advance(fixture, 1000);
        check_str("a retry looks again", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    }
}

static void a_step_fails_when_an_output_does_not_fit_where_a_number_stands(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a b",
                      "flows: [{name: a}, " ON(
                          "b", "a", "patch: {spec: {minAvailable: $(steps.a.outputs.n)}}") "]");
    flow_fixture_end(fixture, "f-a", 0, "n=many");
    flow_fixture_advance(fixture, 1000);
    check("no job", !flow_fixture_has_job(fixture, "f-b"));
    check_str("the flow fails", flow_fixture_at(fixture, "f", "state/reason"), "InvalidOutput");
    check_has("why", flow_fixture_at(fixture, "f", "nodes/1/message"),
              "minAvailable: \"many\", which $(steps.a.outputs.n) stands for, is no integer");
    check_int("no warning of a wait", flow_fixture_events(fixture, "AdmissionDenied"), 0);
}

static void a_missing_output_may_be_handled_like_any_failure(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(
        fixture, "f", "a b c",
        "flows: [{name: a}, " ON(
            "b", "a", "patch: {spec: {queue: $(steps.a.outputs.q)}}") ", {name: c, dependsOn: "
                                                                      "{targets: [b]}, if: {terms: "
                                                                      "[{target: b, phases: "
                                                                      "[Failed]}]}}]");
    flow_fixture_end(fixture, "f-a", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    check("the handler runs", flow_fixture_has_job(fixture, "f-c"));
    flow_fixture_end(fixture, "f-c", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("ends", flow_fixture_at(fixture, "f", "state/message"), "failed: b; handled by: c");
}

/* covers: see jobflow.md 13.3: judged only when all have been asked */
static void unrelated_steps_go_on_while_a_failure_is_judged(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a b c x",
                      "handledFailures: succeed, flows: [{name: a}, {name: x}, " ON(
                          "b", "x", "") ", " ON("c", "a, b", IF(FAILS)) "]");
    flow_fixture_end(fixture, "f-a", 1, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("runs", flow_fixture_at(fixture, "f", "state/phase"), "Running");
    flow_fixture_end(fixture, "f-x", 0, NULL);
    flow_fixture_restart(fixture);
    check("unrelated", flow_fixture_has_job(fixture, "f-b"));
    flow_fixture_end(fixture, "f-b", 0, NULL);
    check("rescue", flow_fixture_has_job(fixture, "f-c"));
    flow_fixture_end(fixture, "f-c", 0, NULL);
    check_str("ends well", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
}

/* covers: see jobflow.md 13.0 rule 4 */
static void upstream_knows_no_conditions(void **state)
{
    const struct flow_options upstream = {.upstream_compat = true};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(&upstream);

    flow_fixture_spec(
        fixture, "f", "a b c r",
        "handledFailures: succeed, maxRetry: 3, suspend: true, activeDeadlineSeconds: 1, flows: "
        "[{name: a, when: "
        "always}, " ON("b", "a", IF(GOOD)) ", " ON("c", "b", "for: {items: [u, v]}") "]");
    flow_fixture_end(fixture, "f-a", 0, NULL);
    flow_fixture_end(fixture, "f-b", 0, NULL);
    flow_fixture_advance(fixture, 5000);
    check_str("as if nothing were there", fixture->created.data, "f-a f-b f-c");
    flow_fixture_end(fixture, "f-c", 1, NULL);
    flow_fixture_advance(fixture, 60000);
    check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check_str("once", fixture->created.data, "f-a f-b f-c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_decide),
        cmocka_unit_test(the_status_tells_outputs_cases_and_codes),
        cmocka_unit_test(skipped_steps_are_told_of),
        cmocka_unit_test(outputs_and_parameters_go_into_patches),
        cmocka_unit_test(a_step_that_refers_to_a_missing_output_fails),
        cmocka_unit_test(a_step_fails_when_an_output_does_not_fit_where_a_number_stands),
        cmocka_unit_test(a_missing_output_may_be_handled_like_any_failure),
        cmocka_unit_test(unrelated_steps_go_on_while_a_failure_is_judged),
        cmocka_unit_test(upstream_knows_no_conditions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
