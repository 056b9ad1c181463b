/*
 * Tests that both ways to fill a flow_view agree: a tracker follows the flow while it runs, and
 * then the view is read from the stored flow.
 */
#include "tests/unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "tests/support/flow_fixture.h"
#include "view/flow_tracker.h"

struct seen {
    struct buf steps, flows; /* states as the tracker told them: "a:Pending a:Running …" */
    char counts[200];        /* counts of the flow when it came to its last phase */
    int finished;
};

static void on_step(void *ctx, const struct flow_view_step *step, enum view_state before)
{
    struct seen *seen = ctx;

    if (step->state != before)
        buf_printf(&seen->steps, "%s%s:%s", seen->steps.len ? " " : "", step->name,
                   flow_view_step_state(step));
}

static void on_flow(void *ctx, const struct flow_view *flow, enum flow_phase before)
{
    struct seen *seen = ctx;

    scoped(buf) struct buf counts = {0};

    flow_view_write_counts(flow, &counts);
    snprintf(seen->counts, sizeof seen->counts, "%s", counts.data);
    if (flow->phase != before)
        buf_printf(&seen->flows, "%s%s", seen->flows.len ? " " : "", flow_phase_text(flow->phase));
}

static void on_finished(void *ctx)
{
    ((struct seen *)ctx)->finished++;
}

static struct flow_tracker *follow(struct flow_fixture *fixture, struct seen *seen)
{
    const struct flow_tracker_events events = {on_step, on_flow, on_finished, seen};
    struct flow_tracker *tracker = flow_tracker_new(fixture->loop, fixture->store, &events);

    flow_tracker_add(tracker, flow_fixture_get(fixture, &kind_job_flow, "f"));
    assert_true(flow_tracker_start(tracker, NULL));
    return tracker;
}

/* Ends a job that ran for some time, to the millisecond. */
static void end(struct flow_fixture *fixture, const char *job, enum job_phase phase,
                int64_t after_ms)
{
    struct job_status status = {.phase = phase, .running_duration_ns = after_ms * 1000000};

    flow_fixture_phase(fixture, job, JOB_RUNNING);
    flow_fixture_advance(fixture, after_ms);
    status.transition_ms = loop_wall_ms(fixture->loop);
    flow_fixture_status(fixture, job, &status);
}

static void seen_release(struct seen *seen)
{
    buf_release(&seen->steps);
    buf_release(&seen->flows);
}

/* Returns as one text what a view has for each step. */
static char *text_of(const struct flow_view *view)
{
    scoped(buf) struct buf text = {0};

    flow_view_write_counts(view, &text);
    for (uint32_t i = 0; i < view->n_steps; i++) {
        const struct flow_view_step *step = &view->steps[i];

        buf_printf(&text, "; %s%s %s x%d", flow_view_step_critical(step) ? "*" : "", step->name,
                   flow_view_step_state(step), (int)step->attempts);
        if (flow_view_step_over(step) && step->attempts)
            buf_char(&text, ' ');
        if (flow_view_step_over(step))
            flow_view_step_took(step, 0, &text);
        if (step->loops)
            buf_char(&text, ' ');
        flow_view_step_progress(step, &text);
    }
    if (view->path_len) {
        buf_str(&text, "; path ");
        flow_view_write_ms(view->path_ms, &text);
    }
    buf_str(&text, " of ");
    flow_view_took(view, 0, &text);
    return buf_take(&text);
}

/* Compares the tracker's view with one of the stored flow, and both with `want`. */
static void check_views(struct flow_fixture *fixture, struct flow_tracker *tracker,
                        const char *want)
{
    scoped(json) json_t *doc = object_to_json(flow_fixture_get(fixture, &kind_job_flow, "f"));
    scoped(flow_view) struct flow_view *stored = flow_view_from_document(doc, NULL);
    scoped_str by_run = NULL;
    scoped_str by_store = NULL;

    assert_non_null(stored);
    flow_tracker_complete(tracker);
    flow_view_take_path(stored);
    by_run = text_of(flow_tracker_flows(tracker));
    by_store = text_of(stored);
    check_str("of the run", by_run, want);
    check_str("of the store", by_store, want);
}

static void a_run_and_the_store_tell_the_same(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct seen seen = {0};
    struct flow_tracker *tracker;

    flow_fixture_spec(fixture, "f", "a b c l",
                      "flows: [{name: a, retry: {maxRetry: 2, backoffSeconds: 0}}, {name: l, for: "
                      "{items: [p, q], parallelism: 1}, dependsOn: {targets: [a]}}, {name: b, "
                      "dependsOn: {targets: [l]}}, {name: c, dependsOn: {targets: [b]}}]");
    tracker = follow(fixture, &seen);
    end(fixture, "f-a", JOB_FAILED, 100);
    flow_fixture_advance(fixture, 1000);
    end(fixture, "f-a", JOB_COMPLETED, 2100);
    end(fixture, "f-l-0", JOB_COMPLETED, 610);
    end(fixture, "f-l-1", JOB_COMPLETED, 720);
    end(fixture, "f-b", JOB_FAILED, 130);
    flow_fixture_advance(fixture, 1000);
    check_views(fixture, tracker,
                "2 of 4 steps completed, 1 failed, 1 not run; *a Completed x2 2.10s; *l Completed "
                "x2 1.33s 2/2; *b Failed x1 0.13s; c Not run x0; path 3.56s of 4.66s");
    check_has("iterations are steps", seen.steps.data, "l:Running");
    check_has("with names", seen.steps.data, "l-1:Completed");
    check_has("the flow", seen.flows.data, "Failed");
    check_int("finished once", seen.finished, 1);
    flow_tracker_free(tracker);
    seen_release(&seen);
}

/* A tracker that starts while a flow runs counts the attempts that were made before. */
static void attempts_before_the_tracker_count(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct seen seen = {0};
    struct flow_tracker *tracker;

    flow_fixture_spec(fixture, "f", "a",
                      "flows: [{name: a, retry: {maxRetry: 2, backoffSeconds: 0}}]");
    flow_fixture_end(fixture, "f-a", 1, NULL);
    flow_fixture_advance(fixture, 1000);
    tracker = follow(fixture, &seen);
    end(fixture, "f-a", JOB_COMPLETED, 400);
    flow_fixture_advance(fixture, 1000);
    check_views(fixture, tracker,
                "1 of 1 step completed; a Completed x2 0.40s; path 0.40s of 1.40s");
    flow_tracker_free(tracker);
    seen_release(&seen);
}

/* A step that ran before a manual retry, and is skipped by it, is not shown as completed. */
static void a_step_may_have_started_before_the_tracker(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct seen seen = {0};
    struct flow_tracker *tracker;
    int64_t started_ms;

    flow_fixture_spec(fixture, "f", "a", "flows: [{name: a}]");
    flow_fixture_advance(fixture, 3000);
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    started_ms = loop_wall_ms(fixture->loop);
    flow_fixture_advance(fixture, 5000);
    tracker = follow(fixture, &seen);
    check_int("started", flow_tracker_flows(tracker)->steps[0].started_ms, started_ms);
    check("made before", flow_tracker_flows(tracker)->steps[0].created_ms <= started_ms - 3000);
    flow_tracker_free(tracker);
    seen_release(&seen);
}

static void skipped_steps_are_known_at_the_end(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct seen seen = {0};
    struct flow_tracker *tracker;

    flow_fixture_spec(
        fixture, "f", "a b",
        "flows: [{name: a}, {name: b, dependsOn: {targets: [a]}, if: {terms: [{target: a, "
        "phases: [Failed]}]}}]");
    tracker = follow(fixture, &seen);
    flow_fixture_end(fixture, "f-a", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    check_str("at the end of the flow", seen.counts, "1 of 2 steps completed, 1 skipped");
    check_views(fixture, tracker,
                "1 of 2 steps completed, 1 skipped; a Completed x1 0s; b Skipped x0; path 0.00s of "
                "0.00s");
    flow_tracker_free(tracker);
    seen_release(&seen);
}

/* The reason of a failed loop disappears when the loop is retried. */
static void a_retry_may_skip_what_ran_before(void **state)
{
    for (int late = 0; late < 2; late++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        struct seen seen = {0};
        struct flow_tracker *tracker = NULL;
        scoped_str text = NULL;

        flow_fixture_spec(fixture, "f", "a p",
                          "flows: [{name: a}, {name: p, dependsOn: {targets: [a]}, if: {terms: "
                          "[{target: a, phases: [Failed]}]}}]");
        if (!late)
            tracker = follow(fixture, &seen);
        flow_fixture_end(fixture, "f-a", 1, NULL);
        flow_fixture_end(fixture, "f-p", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        if (late)
            tracker = follow(fixture, &seen);
        flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
        flow_fixture_advance(fixture, 1000);
        flow_fixture_end(fixture, "f-a", 0, NULL);
        flow_fixture_advance(fixture, 1000);
        flow_tracker_complete(tracker);
        text = text_of(flow_tracker_flows(tracker));
        check_has("counts", text, "1 of 2 steps completed, 1 skipped");
        check_has("the failed step", text, "a Completed x2");
        check_has("the handler", text, "p Skipped x1");
        flow_tracker_free(tracker);
        seen_release(&seen);
    }
}

static void a_deleted_job_stops_its_step(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct seen seen = {0};
    struct flow_tracker *tracker;

    flow_fixture_templates(fixture, "a");
    flow_fixture_flow(fixture, "f", "a", NULL);
    tracker = follow(fixture, &seen);
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    check_int("at work", (long)flow_tracker_active_count(tracker), 1);
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    check_has("stopped", seen.steps.data, "a:Stopped");
    flow_tracker_free(tracker);
    seen_release(&seen);
}

static void check_loop(struct flow_fixture *fixture, struct flow_tracker *tracker, const char *want)
{
    scoped(json) json_t *doc = object_to_json(flow_fixture_get(fixture, &kind_job_flow, "f"));
    scoped(flow_view) struct flow_view *stored = flow_view_from_document(doc, NULL);
    const struct flow_view_step *loop = &flow_tracker_flows(tracker)->steps[0];
    scoped(buf) struct buf by_run = {0}, by_store = {0};

    flow_view_step_progress(loop, &by_run);
    flow_view_step_progress(&stored->steps[0], &by_store);
    check_str("of the run", by_run.data, want);
    check_str("of the store", by_store.data, want);
}

static void loops_tell_how_far_they_have_come(void **state)
{
    static const struct {
        const char *loop, *message, *at_first, *later;
    } cases[] = {
        {"range: {end: 4}, parallelism: 2", "", "0/4", "1/4"},
        {"maxIterations: 500, until: {terms: [{target: l, output: {key: x, operator: Exists}}]}",
         "", "0/500", "1/500"},
        {"itemsFrom: {target: s, key: x}, maxIterations: 9", "x=[1,2,3]", "0/3", "1/3"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        struct seen seen = {0};
        struct flow_tracker *tracker;
        scoped_str spec = mem_printf("flows: [{name: l, jobTemplateName: t, dependsOn: {targets: "
                                     "[s]}, for: {%s}}, {name: s, jobTemplateName: t}]",
                                     cases[i].loop);

        flow_fixture_spec(fixture, "f", "t", spec);
        tracker = follow(fixture, &seen);
        flow_fixture_end(fixture, "f-s", 0, cases[i].message);
        flow_fixture_advance(fixture, 1000);
        check_loop(fixture, tracker, cases[i].at_first);
        end(fixture, "f-l-0", JOB_COMPLETED, 100);
        flow_fixture_advance(fixture, 1000);
        check_loop(fixture, tracker, cases[i].later);
        flow_tracker_free(tracker);
        seen_release(&seen);
    }
}

/* The flow has failed, and no iteration is running. */
static void what_was_told_of_a_loop_goes_with_its_cause(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct seen seen = {0};
    struct flow_tracker *tracker;
    scoped(buf) struct buf failed = {0}, again = {0};
    const struct flow_view_step *loop;

    flow_fixture_spec(fixture, "f", "t",
                      "flows: [{name: l, jobTemplateName: t, for: {items: [p]}}]");
    tracker = follow(fixture, &seen);
    loop = &flow_tracker_flows(tracker)->steps[0];
    end(fixture, "f-l-0", JOB_FAILED, 100);
    flow_fixture_advance(fixture, 1000);
    flow_view_step_reason(loop, &failed);
    check_has("failed", failed.data, "IterationFailed: iteration l-0 is Failed");
    flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowRetry", "1");
    flow_fixture_advance(fixture, 1000);
    flow_view_step_reason(loop, &again);
    check_str("at work again", flow_view_step_state(loop), "Running");
    check_str("without a reason", again.data, NULL);
    flow_tracker_free(tracker);
    seen_release(&seen);
}

/* Its flow has failed, and no iteration is at work. */
static void a_loop_that_does_not_go_on_is_stopped(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct seen seen = {0};
    struct flow_tracker *tracker;

    flow_fixture_spec(
        fixture, "f", "t",
        "flows: [{name: l, jobTemplateName: t, for: {items: [p, q], parallelism: 1}}, "
        "{name: a, jobTemplateName: t}]");
    tracker = follow(fixture, &seen);
    flow_fixture_phase(fixture, "f-l-0", JOB_RUNNING);
    end(fixture, "f-a", JOB_FAILED, 100);
    end(fixture, "f-l-0", JOB_COMPLETED, 100);
    flow_fixture_advance(fixture, 1000);
    check_views(fixture, tracker,
                "0 of 2 steps completed, 1 failed, 1 stopped; l Stopped x1 1/2; a Failed x1 0.10s; "
                "path 0.10s of 0.10s");
    flow_tracker_free(tracker);
    seen_release(&seen);
}

/* The status tells the end of loops and switches later than jobs tell of the steps behind them. */
static void what_is_behind_a_loop_or_switch_is_told_after_its_end(void **state)
{
    static const struct {
        const char *spec, *job, *told;
        int exit_code;
    } cases[] = {
        {"flows: [{name: l, run: x, for: {items: [p, q]}}, {name: b, run: x, dependsOn: {targets: "
         "[l]}}]",
         "f-b", "l-1:Completed l:Completed b:Running", 0},
        {"flows: [{name: l, run: x, for: {items: [p, q]}}, {name: r, dependsOn: {targets: [l]}, "
         "switch: {cases: [{name: c, if: {terms: [{target: l, phases: [Failed]}]}, flows: [a]}], "
         "default: [b]}}, {name: a, run: x}, {name: b, run: x}]",
         "f-b", "l-1:Completed l:Completed r:Completed b:Running", 0},
        {"flows: [{name: l, run: x, for: {items: [p, q]}}, {name: m, run: x, for: {items: [p]}, "
         "dependsOn: {targets: [l]}}]",
         "f-m-0", "l-1:Completed l:Completed m:Running m-0:Running", 0},
        {"flows: [{name: l, run: x, for: {items: [p, q]}}, {name: b, run: x, when: always}]", "f-b",
         "l-1:Completed l:Completed b:Running", 0},
        {"flows: [{name: l, run: x, for: {items: [p, q]}}, {name: b, run: x, when: always}]", "f-b",
         "l-1:Failed l:Failed b:Running", 1},
        {"flows: [{name: l, run: x, for: {items: [p, q]}}, {name: b, run: x, dependsOn: {targets: "
         "[l]}, if: {terms: [{target: l, phases: [Failed]}]}}]",
         "f-b", "l-1:Failed l:Failed b:Running", 1},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        struct seen seen = {0};
        struct flow_tracker *tracker;
        size_t told;

        flow_fixture_spec(fixture, "f", "t", cases[i].spec);
        tracker = follow(fixture, &seen);
        flow_fixture_end(fixture, "f-l-0", 0, NULL);
        flow_fixture_end(fixture, "f-l-1", cases[i].exit_code, NULL);
        flow_fixture_phase(fixture, cases[i].job, JOB_RUNNING);
        check_has(cases[i].spec, seen.steps.data, cases[i].told);
        told = seen.steps.len;
        flow_fixture_advance(fixture, 1000);
        check_has("the status changes nothing of it", seen.steps.data, cases[i].told);
        check("nor says it again", !strstr(seen.steps.data + told, "l:"));
        flow_tracker_free(tracker);
        seen_release(&seen);
    }
}

static void a_step_that_fails_without_a_job_is_told(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct seen seen = {0};
    struct flow_tracker *tracker;

    flow_fixture_spec(fixture, "f", "t",
                      "flows: [{name: a, run: x}, {name: b, run: x, dependsOn: {targets: [a]}, "
                      "env: [{name: X, value: $(steps.a.outputs.k)}]}]");
    tracker = follow(fixture, &seen);
    flow_fixture_end(fixture, "f-a", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    check_has("told", seen.steps.data, "a:Completed b:Failed");
    flow_tracker_free(tracker);
    seen_release(&seen);
}

/* A switch that is decided anew between two statuses was not seen to wait. */
static void a_switch_that_chooses_anew_is_told_again(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    struct seen seen = {0};
    struct flow_tracker *tracker;
    scoped(buf) struct buf why = {0};

    flow_fixture_spec(fixture, "f", "t",
                      "flows: [{name: a, run: x}, {name: r, dependsOn: {targets: [a]}, switch: "
                      "{cases: [{name: good, if: {terms: [{target: a, output: {key: k, operator: "
                      "Exists}}]}, flows: [b]}], default: [c]}}, {name: b, run: x}, {name: c, run: "
                      "x}]");
    tracker = follow(fixture, &seen);
    flow_fixture_end(fixture, "f-a", 0, NULL);
    flow_fixture_end(fixture, "f-c", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    flow_view_step_reason(&flow_tracker_flows(tracker)->steps[1], &why);
    check_str("first", why.data, "chose the default");
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY_FROM, "a");
    flow_fixture_annotate(fixture, "f", ANNOTATION_FLOW_RETRY, "1");
    flow_fixture_advance(fixture, 1000);
    flow_fixture_end(fixture, "f-a", 0, "k=1");
    flow_fixture_end(fixture, "f-b", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    buf_clear(&why);
    flow_view_step_reason(&flow_tracker_flows(tracker)->steps[1], &why);
    check_str("then", why.data, "chose good");
    flow_tracker_free(tracker);
    seen_release(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_and_the_store_tell_the_same),
        cmocka_unit_test(attempts_before_the_tracker_count),
        cmocka_unit_test(a_step_may_have_started_before_the_tracker),
        cmocka_unit_test(skipped_steps_are_known_at_the_end),
        cmocka_unit_test(a_retry_may_skip_what_ran_before),
        cmocka_unit_test(a_deleted_job_stops_its_step),
        cmocka_unit_test(loops_tell_how_far_they_have_come),
        cmocka_unit_test(what_was_told_of_a_loop_goes_with_its_cause),
        cmocka_unit_test(a_loop_that_does_not_go_on_is_stopped),
        cmocka_unit_test(what_is_behind_a_loop_or_switch_is_told_after_its_end),
        cmocka_unit_test(a_step_that_fails_without_a_job_is_told),
        cmocka_unit_test(a_switch_that_chooses_anew_is_told_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
