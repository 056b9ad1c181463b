/*
 * Tests loops over items of the spec, over an output of a step, and until a condition holds: their
 * failures and retries, with restarts in between.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/command.h"
#include "tests/support/flow_fixture.h"

#define UNTIL_DONE                                                                                 \
    "maxIterations: 4, until: {terms: [{target: s, output: {key: done, operator: Exists}}]}"

static const char *const shards[] = {"f-s-0", "f-s-1", "f-s-2", "f-s-3", "f-s-4"};

/* covers: jobflow.md 164 */
static void a_loop_runs_its_items_a_few_at_once(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        const struct object *job;

        flow_fixture_spec(
            fixture, "f", "s b",
            "flows: [{name: s, for: {items: [eu, us, ap, sa, af], parallelism: 2}, patch: "
            "{spec: {tasks: [{name: main, template: {spec: {containers: [{name: c, args: "
            "[\"$(item):$(index)\", \"$$(item)\"]}]}}}]}}}, {name: b, dependsOn: "
            "{targets: [s]}}]");
        for (size_t i = 0; i < countof(shards); i++) {
            check_int("at once", flow_fixture_unfinished(fixture, shards, countof(shards)),
                      i + 2 <= countof(shards) ? 2 : 1);
            check("not yet", !flow_fixture_has_job(fixture, "f-b"));
            flow_fixture_end(fixture, shards[i], 0, NULL);
            flow_fixture_restart_if(fixture, run);
        }
        check_str("then the next", flow_fixture_created(fixture),
                  "f-s-0 f-s-1 f-s-2 f-s-3 f-s-4 f-b");
        job = flow_fixture_get(fixture, &kind_job, "f-s-1");
        check("item", strstr(job->body->text, "\"us:1\",\"$$(item)\""));
        check("variables", strstr(job->body->text, "\"VC_FLOW_ITEM\",\"value\":\"us\""));
        check_str("iteration", meta_annotation(job->meta, ANNOTATION_FLOW_ITERATION), "1");
        check_str("step", meta_annotation(job->meta, ANNOTATION_FLOW_STEP), "s");
        flow_fixture_end(fixture, "f-b", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
        check_str("the loop", flow_fixture_at(fixture, "f", "nodes/0/phase"), "Completed");
        check_str("an iteration", flow_fixture_at(fixture, "f", "nodes/2/item"), "us");
        check_str("jobs", flow_fixture_at(fixture, "f", "stepCounts/total"), "6");
    }
}

/* covers: see jobflow.md 13.5: items that a step before put out */
static void a_loop_runs_what_a_step_put_out(void **state)
{
    static const struct {
        const char *output, *first, *second, *reason;
    } rows[] = {
        {"l=eu, us", "\"eu:0\"", "\"us:1\"", NULL},
        {"l=[\"a, b\",{\"n\":[1]}]", "\"a, b:0\"", "\"{\\\"n\\\":[1]}:1\"", NULL},
        {"l=1,2,3,4", NULL, NULL, "TooManyItems"},
        {"l=[1", NULL, NULL, "InvalidItems"},
        {"k=1", NULL, NULL, "MissingOutput"},
    };

    for (size_t run = 0; run < 2 * countof(rows); run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        const char *reason = rows[run / 2].reason;

        flow_fixture_spec(
            fixture, "f", "a s",
            "flows: [{name: a}, {name: s, dependsOn: {targets: [a]}, for: {itemsFrom: "
            "{target: a, key: l}, maxIterations: 3, parallelism: 1}, patch: {spec: {tasks: [{name: "
            "main, template: {spec: {containers: [{name: c, args: "
            "[\"$(item):$(index)\"]}]}}}]}}}]");
        check_str("unknown ones are not counted", flow_fixture_at(fixture, "f", "stepCounts/total"),
                  "1");
        flow_fixture_end(fixture, "f-a", 0, rows[run / 2].output);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_advance(fixture, 1000);
        if (reason) {
            check_str("of the flow", flow_fixture_at(fixture, "f", "state/reason"), reason);
            check_str("of the step", flow_fixture_at(fixture, "f", "nodes/1/reason"), reason);
            flow_fixture_restart_if(fixture, run % 2);
            check_str("still", flow_fixture_at(fixture, "f", "nodes/1/reason"), reason);
            continue;
        }
        check_str("jobs", flow_fixture_created(fixture), "f-a f-s-0");
        check_str("what is still to do", flow_fixture_at(fixture, "f", "waitingJobs"),
                  "[\"f-s-1\"]");
        check("first", strstr(flow_fixture_get(fixture, &kind_job, "f-s-0")->body->text,
                              rows[run / 2].first));
        flow_fixture_end(fixture, "f-s-0", 0, NULL);
        check("second", strstr(flow_fixture_get(fixture, &kind_job, "f-s-1")->body->text,
                               rows[run / 2].second));
        flow_fixture_end(fixture, "f-s-1", 1, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("why the loop failed", flow_fixture_at(fixture, "f", "nodes/1/message"),
                  "iteration s-1 is Failed; 1 of 2 iterations failed");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
        flow_fixture_advance(fixture, 1000);
        check("with the same item",
              strstr(flow_fixture_get(fixture, &kind_job, "f-s-1")->body->text,
                     rows[run / 2].second));
        flow_fixture_end(fixture, "f-s-1", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
        check_str("those that ran", flow_fixture_at(fixture, "f", "stepCounts/total"), "3");
    }
}

/* covers: jobflow.md 165 166 */
static void a_loop_runs_until_its_condition_holds(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        bool converges = run < 2;

        flow_fixture_spec(
            fixture, "f", "s b",
            "flows: [{name: s, for: {maxIterations: 4, until: {terms: [{target: s, "
            "output: {key: loss, operator: Lt, values: [\"0.01\"]}}]}}}, {name: b, "
            "dependsOn: {targets: [s]}, patch: {spec: {tasks: [{name: main, template: "
            "{spec: {containers: [{name: c, args: [$(steps.s.outputs.loss)]}]}}}]}}}]");
        for (int i = 0; i < 4 && flow_fixture_has_job(fixture, shards[i]); i++) {
            check_int("one after the other",
                      flow_fixture_unfinished(fixture, shards, countof(shards)), 1);
            flow_fixture_end(fixture, shards[i], 0,
                             converges && i == 2 ? "loss=0.005" : "loss=0.5");
            flow_fixture_restart_if(fixture, run % 2);
        }
        flow_fixture_advance(fixture, 1000);
        check_str("jobs", flow_fixture_created(fixture),
                  converges ? "f-s-0 f-s-1 f-s-2 f-b" : "f-s-0 f-s-1 f-s-2 f-s-3");
        check_str("phase", flow_fixture_at(fixture, "f", "state/phase"),
                  converges ? "Running" : "Failed");
        check_str("what may never be is not listed", flow_fixture_at(fixture, "f", "waitingJobs"),
                  converges ? "" : "[\"f-b\"]");
        if (converges)
            check("its last output",
                  strstr(flow_fixture_get(fixture, &kind_job, "f-b")->body->text, "\"0.005\""));
        else
            check_str("why", flow_fixture_at(fixture, "f", "state/message"),
                      "the condition of step s did not hold after 4 iterations");
    }
}

/* covers: see jobflow.md 13.4: a manual retry of a loop that was used up */
static void a_used_up_loop_goes_on_after_a_retry(void **state)
{
    for (size_t run = 0; run < 4; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        bool converges = run < 2;

        flow_fixture_spec(fixture, "f", "s b",
                          "flows: [{name: s, for: {maxIterations: 2, until: {terms: [{target: s, "
                          "output: {key: loss, operator: Lt, values: [\"0.01\"]}}]}}}, {name: b, "
                          "dependsOn: {targets: [s]}}]");
        flow_fixture_end(fixture, shards[0], 0, "loss=0.5");
        flow_fixture_end(fixture, shards[1], 0, "loss=0.4");
        flow_fixture_advance(fixture, 1000);
        check_str("used up", flow_fixture_at(fixture, "f", "state/reason"), "LoopExhausted");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
        flow_fixture_advance(fixture, 1000);
        check_str("what was done stays", flow_fixture_created(fixture), "f-s-0 f-s-1 f-s-2");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_end(fixture, shards[2], 0, "loss=0.3");
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_end(fixture, shards[3], 0, converges ? "loss=0.005" : "loss=0.2");
        flow_fixture_advance(fixture, 1000);
        check_str("as many again", flow_fixture_created(fixture),
                  converges ? "f-s-0 f-s-1 f-s-2 f-s-3 f-b" : "f-s-0 f-s-1 f-s-2 f-s-3");
        check_str("phase", flow_fixture_at(fixture, "f", "state/phase"),
                  converges ? "Running" : "Failed");
        check_str("told", flow_fixture_at(fixture, "f", "nodes/0/iterations"), "4");
        if (!converges)
            check_str("why", flow_fixture_at(fixture, "f", "state/message"),
                      "the condition of step s did not hold after 4 iterations");
    }
}

/* covers: see jobflow.md 13.5: a failing iteration */
static void a_failed_iteration_fails_the_loop(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(
            fixture, "f", "s",
            "flows: [{name: s, for: {range: {start: 2, end: 10, step: 3}, parallelism: "
            "1}, retry: {maxRetry: 1, backoffSeconds: 1}}]");
        flow_fixture_end(fixture, "f-s-0", 0, NULL);
        flow_fixture_end(fixture, "f-s-1", 1, NULL);
        flow_fixture_advance(fixture, 2000);
        flow_fixture_restart_if(fixture, run);
        check_str("again", flow_fixture_created(fixture), "f-s-0 f-s-1 f-s-1");
        check("its number", strstr(flow_fixture_get(fixture, &kind_job, "f-s-1")->body->text,
                                   "\"VC_FLOW_ITEM\",\"value\":\"5\""));
        flow_fixture_end(fixture, "f-s-1", 1, NULL);
        flow_fixture_advance(fixture, 2000);
        check_str("fails", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
        check_str("the rest is skipped", flow_fixture_at(fixture, "f", "skippedJobs"),
                  "[\"f-s-2\"]");
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run);
        check_str("by hand", flow_fixture_created(fixture), "f-s-0 f-s-1 f-s-1 f-s-1");
        flow_fixture_end(fixture, "f-s-1", 0, NULL);
        flow_fixture_end(fixture, "f-s-2", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    }
}

/* covers: everyday.md EVD-246 EVD-247 EVD-248 */
static void the_outputs_of_all_iterations_are_a_list(void **state)
{
    static const struct {
        const char *loop, *reference, *outputs[3];
        const char *value, *reason; /* `value` NULL: the step fails for `reason` */
    } rows[] = {
        /* clang-format off */
        {"range: {end: 3}", "$(steps.s.*.outputs.k)", {"k=a", "k=\"b\"", "k=c"}, "[\\\"a\\\",\\\"\\\\\\\"b\\\\\\\"\\\",\\\"c\\\"]", NULL},
        {"range: {end: 3}", "$(steps.s.*.outputs.k)", {"k=a", "l=b", NULL},  "[\\\"a\\\",null,null]", NULL},
        {"range: {end: 3}", "$(steps.s.*.outputs.k)", {"l=a", NULL, NULL},   NULL, "no iteration of step s has output k"},
        {"range: {end: 3}", "$(steps.s.outputs.k)",    {"k=a", "k=b", "l=c"}, NULL, "step s has no output k"},
        {UNTIL_DONE,        "$(steps.s.*.outputs.k)", {"k=a", "k=b\ndone=1"}, "[\\\"a\\\",\\\"b\\\"]", NULL},
        /* clang-format on */
    };

    for (size_t run = 0; run < 2 * countof(rows); run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        const size_t row = run / 2;
        scoped_str spec = mem_printf("flows: [{name: s, for: {%s}}, {name: b, dependsOn: {targets: "
                                     "[s]}, patch: {spec: {tasks: [{name: main, template: {spec: "
                                     "{containers: [{name: c, args: ['<%s>']}]}}}]}}}]",
                                     rows[row].loop, rows[row].reference);
        scoped_str wanted = mem_printf("\"<%s>\"", rows[row].value ? rows[row].value : "");

        flow_fixture_spec(fixture, "f", "s b", spec);
        for (size_t i = 0; i < countof(rows[row].outputs); i++)
            if (flow_fixture_has_job(fixture, shards[i]))
                flow_fixture_end(fixture, shards[i], 0, rows[row].outputs[i]);
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_advance(fixture, 1000);
        if (rows[row].value)
            check_has(spec, flow_fixture_get(fixture, &kind_job, "f-b")->body->text, wanted);
        else
            check_has(spec, flow_fixture_at(fixture, "f", "state/message"), rows[row].reason);
    }
}

/* covers: everyday.md EVD-249 */
static void a_failed_iteration_is_null_among_the_outputs(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(
        fixture, "f", "s b",
        "flows: [{name: s, failurePolicy: ignore, for: {range: {end: 2}}}, {name: b, "
        "dependsOn: {targets: [s]}, patch: {spec: {tasks: [{name: main, template: "
        "{spec: {containers: [{name: c, args: ['<$(steps.s.*.outputs.k)>']}]}}}]}}}]");
    flow_fixture_end(fixture, "f-s-0", 1, NULL);
    flow_fixture_end(fixture, "f-s-1", 0, "k=b");
    flow_fixture_advance(fixture, 1000);
    check_has("the list", flow_fixture_get(fixture, &kind_job, "f-b")->body->text,
              "\"<[null,\\\"b\\\"]>\"");
}

/* covers: everyday.md EVD-253, EVD-254, EVD-255, EVD-256, EVD-257 */
static void a_loop_tolerates_as_many_failures_as_it_says(void **state)
{
#define FOUR "items: [a, b, c, d], parallelism: 1"
    static const struct {
        const char *loop;
        const char *ends; /* of the iterations in their order: f fails, s succeeds, d puts out what
                           * `until` waits for */
        const char *created, *reason, *message, *phase;
    } rows[] = {
        /* clang-format off */
        {FOUR ", failurePolicy: continue",                 "sfss", "f-s-0 f-s-1 f-s-2 f-s-3",     "IterationFailed",   "iteration s-1 is Failed; 1 of 4 iterations failed", "Failed"},
        {FOUR ", failurePolicy: stop",                     "sf",   "f-s-0 f-s-1",                 "IterationFailed",   "iteration s-1 is Failed; 1 of 4 iterations failed, 2 never ran", "Failed"},
        {FOUR ", maxFailures: 1",                          "sfss", "f-s-0 f-s-1 f-s-2 f-s-3 f-b", "FailuresTolerated", "iteration s-1 is Failed; 1 of 4 iterations failed, maxFailures is 1", "Succeed"},
        {FOUR ", maxFailures: 1",                          "sssf", "f-s-0 f-s-1 f-s-2 f-s-3 f-b", "FailuresTolerated", "iteration s-3 is Failed; 1 of 4 iterations failed, maxFailures is 1", "Succeed"},
        {FOUR ", maxFailures: 1",                          "fsf",  "f-s-0 f-s-1 f-s-2",           "IterationFailed",   "iteration s-0 is Failed; 2 of 4 iterations failed, 1 never ran", "Failed"},
        {FOUR ", maxFailures: 1, failurePolicy: continue", "ffss", "f-s-0 f-s-1 f-s-2 f-s-3",     "IterationFailed",   "iteration s-0 is Failed; 2 of 4 iterations failed", "Failed"},
        {FOUR ", maxFailures: 4",                          "ffff", "f-s-0 f-s-1 f-s-2 f-s-3 f-b", "FailuresTolerated", "iteration s-0 is Failed; 4 of 4 iterations failed, maxFailures is 4", "Succeed"},
        {UNTIL_DONE ", maxFailures: 2",                    "ffd",  "f-s-0 f-s-1 f-s-2 f-b",       "FailuresTolerated", "iteration s-0 is Failed; 2 of 3 iterations failed, maxFailures is 2", "Succeed"},
        {UNTIL_DONE ", maxFailures: 1",                    "ff",   "f-s-0 f-s-1",                 "IterationFailed",   "iteration s-0 is Failed; 2 of 2 iterations failed", "Failed"},
        /* clang-format on */
    };
#undef FOUR

    for (size_t run = 0; run < 2 * countof(rows); run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        const size_t row = run / 2;
        scoped_str spec = mem_printf(
            "flows: [{name: s, for: {%s}}, {name: b, dependsOn: {targets: [s]}}]", rows[row].loop);

        flow_fixture_spec(fixture, "f", "s b", spec);
        for (size_t i = 0; rows[row].ends[i]; i++) {
            const char end = rows[row].ends[i];

            check(spec, flow_fixture_has_job(fixture, shards[i]));
            flow_fixture_end(fixture, shards[i], end == 'f', end == 'd' ? "done=1" : NULL);
            flow_fixture_restart_if(fixture, run % 2);
        }
        check_str(spec, flow_fixture_created(fixture), rows[row].created);
        if (flow_fixture_has_job(fixture, "f-b"))
            flow_fixture_end(fixture, "f-b", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run % 2);
        check_str(spec, flow_fixture_at(fixture, "f", "nodes/0/reason"), rows[row].reason);
        check_str(spec, flow_fixture_at(fixture, "f", "nodes/0/message"), rows[row].message);
        check_str(spec, flow_fixture_at(fixture, "f", "state/phase"), rows[row].phase);
    }
}

/* covers: everyday.md EVD-257 */
static void failed_iterations_run_again(bool restarts)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "s b",
                      "flows: [{name: s, for: {items: [u, v], maxFailures: 1}}, {name: b, "
                      "dependsOn: {targets: [s]}}]");
    flow_fixture_end(fixture, "f-s-0", 1, NULL);
    flow_fixture_end(fixture, "f-s-1", 1, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("both", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
    flow_fixture_advance(fixture, 1000);
    flow_fixture_end(fixture, "f-s-0", 1, NULL);
    flow_fixture_end(fixture, "f-s-1", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_end(fixture, "f-b", 1, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("the dependent", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    flow_fixture_restart_if(fixture, restarts);
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "2");
    flow_fixture_advance(fixture, 1000);
    flow_fixture_end(fixture, "f-b", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("the end", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check_str("the tolerated one", flow_fixture_at(fixture, "f", "nodes/1/phase"), "Failed");
    check_str("its attempts", flow_fixture_at(fixture, "f", "nodes/1/attempt"), "2");
}

static void failed_iterations_run_again_and_tolerated_ones_do_not(void **state)
{
    failed_iterations_run_again(false);
    failed_iterations_run_again(true);
}

/* covers: everyday.md EVD-259 */
static void a_running_loop_says_how_far_it_has_come(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "s",
                      "flows: [{name: s, for: {items: [a, b, c, d], parallelism: 1, maxFailures: "
                      "2}}]");
    flow_fixture_end(fixture, "f-s-0", 0, NULL);
    flow_fixture_end(fixture, "f-s-1", 1, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("reason", flow_fixture_at(fixture, "f", "nodes/0/reason"), "Iterating");
    check_str("message", flow_fixture_at(fixture, "f", "nodes/0/message"),
              "2 of 4 iterations have ended, 1 of them failed; 1 at work");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("after a restart", flow_fixture_at(fixture, "f", "nodes/0/message"),
              "2 of 4 iterations have ended, 1 of them failed; 1 at work");
}

/* covers: jobflow.md 183 184 */
static void what_follows_a_failed_iteration(void **state)
{
    static const struct {
        const char *policy, *step, *loop, *created, *message, *phase;
    } rows[] = {
        /* clang-format off */
        {"stop",     "",                        "range: {end: 5}, parallelism: 2",  "f-s-0 f-s-1",                   "iteration s-1 is Failed; 1 of 5 iterations failed, 3 never ran", "Failed"},
        {"abort",    "",                        "range: {end: 5}, parallelism: 2",  "f-s-0 f-s-1",                   "iteration s-1 is Failed; 1 of 5 iterations failed, 3 never ran", "Failed"},
        {"continue", "",                        "range: {end: 5}, parallelism: 2",  "f-s-0 f-s-1 f-s-2 f-s-3 f-s-4", "iteration s-1 is Failed; 2 of 5 iterations failed", "Failed"},
        {"stop",     ", failurePolicy: ignore", "range: {end: 5}, parallelism: 2",  "f-s-0 f-s-1 f-s-2 f-s-3 f-s-4 f-b", "iteration s-1 is Failed; 2 of 5 iterations failed", "Running"},
        {"abort",    ", failurePolicy: ignore", "items: [a, b, c], parallelism: 1", "f-s-0 f-s-1 f-s-2 f-b",         "iteration s-1 is Failed; 1 of 3 iterations failed", "Running"},
        {"stop",     "",                        "items: [a, b, c]",                 "f-s-0 f-s-1 f-s-2",             "iteration s-1 is Failed; 1 of 3 iterations failed", "Failed"},
        {"continue", "",                        UNTIL_DONE,                         "f-s-0 f-s-1 f-s-2",             "iteration s-1 is Failed; 1 of 3 iterations failed", "Failed"},
        {"stop",     "",                        UNTIL_DONE,                         "f-s-0 f-s-1",                   "iteration s-1 is Failed; 1 of 2 iterations failed", "Failed"},
        {"stop",     ", failurePolicy: ignore", UNTIL_DONE,                         "f-s-0 f-s-1 f-s-2 f-b",         "iteration s-1 is Failed; 1 of 3 iterations failed", "Running"},
        /* clang-format on */
    };

    for (size_t run = 0; run < 2 * countof(rows); run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        const size_t row = run / 2;
        scoped_str spec = mem_printf("failurePolicy: %s, flows: [{name: s, for: {%s}%s}, {name: b, "
                                     "dependsOn: {targets: [s]}}]",
                                     rows[row].policy, rows[row].loop, rows[row].step);

        flow_fixture_spec(fixture, "f", "s b", spec);
        for (size_t i = 1; i < countof(shards); i++)
            if (flow_fixture_has_job(fixture, shards[i])) {
                flow_fixture_end(fixture, shards[i], i % 3 == 1, i == 2 ? "done=1" : NULL);
                flow_fixture_restart_if(fixture, run % 2);
                if (i == 1 && flow_fixture_has_job(fixture, shards[0]))
                    flow_fixture_end(fixture, shards[0], 0, NULL);
            } else if (i == 1) { /* without parallelism the shards run one after the other */
                flow_fixture_end(fixture, shards[0], 0, NULL);
                i--;
            }
        flow_fixture_restart_if(fixture, run % 2);
        flow_fixture_advance(fixture, 1000);
        check_str(spec, flow_fixture_created(fixture), rows[row].created);
        check_str(spec, flow_fixture_at(fixture, "f", "nodes/0/phase"), "Failed");
        check_str(spec, flow_fixture_at(fixture, "f", "nodes/0/message"), rows[row].message);
        check_str(spec, flow_fixture_at(fixture, "f", "state/phase"), rows[row].phase);
    }
}

/* covers: see jobflow.md 13.4: a manual retry of a loop that its flow has cut short */
static void a_loop_that_was_cut_short_goes_on_after_a_retry(void **state)
{
    for (size_t run = 0; run < 2; run++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        flow_fixture_spec(fixture, "f", "a s",
                          "flows: [{name: a}, {name: s, for: {range: {end: 3}, parallelism: 1}, "
                          "failurePolicy: ignore}]");
        flow_fixture_end(fixture, "f-a", 1, NULL);
        flow_fixture_end(fixture, "f-s-0", 1, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("it ends with the flow", flow_fixture_at(fixture, "f", "nodes/1/message"),
                  "iteration s-0 is Failed; 1 of 3 iterations failed, 2 never ran");
        flow_fixture_restart_if(fixture, run);
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
        flow_fixture_advance(fixture, 1000);
        flow_fixture_restart_if(fixture, run);
        flow_fixture_end(fixture, "f-a", 0, NULL);
        flow_fixture_end(fixture, "f-s-1", 0, NULL);
        flow_fixture_end(fixture, "f-s-2", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        check_str("the ignored failure stays", flow_fixture_created(fixture),
                  "f-a f-s-0 f-a f-s-1 f-s-2");
        check_str("succeeds", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_runs_its_items_a_few_at_once),
        cmocka_unit_test(a_loop_runs_what_a_step_put_out),
        cmocka_unit_test(a_loop_runs_until_its_condition_holds),
        cmocka_unit_test(a_used_up_loop_goes_on_after_a_retry),
        cmocka_unit_test(the_outputs_of_all_iterations_are_a_list),
        cmocka_unit_test(a_failed_iteration_is_null_among_the_outputs),
        cmocka_unit_test(a_failed_iteration_fails_the_loop),
        cmocka_unit_test(a_loop_tolerates_as_many_failures_as_it_says),
        cmocka_unit_test(failed_iterations_run_again_and_tolerated_ones_do_not),
        cmocka_unit_test(a_running_loop_says_how_far_it_has_come),
        cmocka_unit_test(what_follows_a_failed_iteration),
        cmocka_unit_test(a_loop_that_was_cut_short_goes_on_after_a_retry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
