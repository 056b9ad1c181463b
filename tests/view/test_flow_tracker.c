/*
 * The two feeders of a view agree: a flow is followed by a tracker while it runs, and then read from
 * the store.
 */
#include "tests/unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "tests/support/flow_fixture.h"
#include "view/flow_tracker.h"

struct seen {
    struct buf steps, flows; /* "a:Pending a:Running …" */
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

static void seen_release(struct seen *seen)
{
    buf_release(&seen->steps);
    buf_release(&seen->flows);
}

/* What both views say of each step, in one text. */
static char *text_of(const struct flow_view *view)
{
    scoped(buf) struct buf text = {0};

    flow_view_write_counts(view, &text);
    for (uint32_t i = 0; i < view->n_steps; i++) {
        const struct flow_view_step *step = &view->steps[i];

        buf_printf(&text, "; %s%s %s x%d", flow_view_step_critical(step) ? "*" : "", step->name,
                   flow_view_step_state(step), (int)step->attempts);
    }
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
    flow_fixture_end(fixture, "f-a", 1, NULL);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_end(fixture, "f-a", 0, NULL);
    flow_fixture_end(fixture, "f-l-0", 0, NULL);
    flow_fixture_end(fixture, "f-l-1", 0, NULL);
    flow_fixture_end(fixture, "f-b", 1, NULL);
    flow_fixture_advance(fixture, 1000);
    check_views(fixture, tracker,
                "2 of 4 steps completed, 1 failed; *a Completed x2; *l Completed x2; *b Failed x1; "
                "c Not run x0");
    check_has("iterations are steps", seen.steps.data, "l:Running");
    check_has("with names", seen.steps.data, "l-1:Completed");
    check_has("the flow", seen.flows.data, "Failed");
    check_int("finished once", seen.finished, 1);
    flow_tracker_free(tracker);
    seen_release(&seen);
}

/* A tracker that begins late knows the attempts that came before it. */
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
    flow_fixture_end(fixture, "f-a", 0, NULL);
    flow_fixture_advance(fixture, 1000);
    check_views(fixture, tracker, "1 of 1 step completed; a Completed x2");
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
    check_views(fixture, tracker, "1 of 2 steps completed; a Completed x1; b Skipped x0");
    flow_tracker_free(tracker);
    seen_release(&seen);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_and_the_store_tell_the_same),
        cmocka_unit_test(attempts_before_the_tracker_count),
        cmocka_unit_test(skipped_steps_are_known_at_the_end),
        cmocka_unit_test(a_deleted_job_stops_its_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
