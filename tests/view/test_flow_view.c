/*
 * Tests the model of a flow for people: states, expected times, the critical path; and the layout
 * of boxes.
 */
#include "tests/unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "view/flow_view.h"
#include "view/graph/layout.h"

#define FLOW(steps) "{\"metadata\":{\"name\":\"f\"},\"spec\":{\"flows\":[" steps "]}}"
#define RUN(steps, status)                                                                         \
    "{\"metadata\":{\"name\":\"f\"},\"spec\":{\"flows\":[" steps "]},\"status\":{" status "}}"
#define STEP(name, targets) "{\"name\":\"" name "\",\"dependsOn\":{\"targets\":[" targets "]}}"
#define ANY(name, targets)                                                                         \
    "{\"name\":\"" name "\",\"dependsOn\":{\"strategy\":\"any\",\"targets\":[" targets "]}}"

enum { NOON_MS = 43200 * 1000 };

static struct flow_view *view_of_text(const char *text, struct error *err)
{
    scoped(buf) struct buf bytes = {0};

    struct flow_view *view;

    buf_str(&bytes, text);
    view = flow_view_from_text(&bytes, err);
    if (view && flow_view_link(view, err))
        return view;
    flow_view_free(view);
    return NULL;
}

static void check_same(const struct flow_view *a, const struct flow_view *b)
{
    check_int("steps", a->n_steps, b->n_steps);
    check_int("layers", a->n_layers, b->n_layers);
    check_int("edges", (long)dag_edges(&a->dag), (long)dag_edges(&b->dag));
    for (uint32_t i = 0; i < a->n_steps; i++) {
        const struct flow_view_step *x = &a->steps[i], *y = &b->steps[i];

        check_str("name", x->name, y->name);
        check_str("template", x->template ? x->template : "", y->template ? y->template : "");
        check_int("state", x->state, y->state);
        check_int("any", x->any, y->any);
        check_int("loops", x->loops, y->loops);
        check_int("layer", x->layer, y->layer);
        check("spec", json_equal((json_t *)(size_t)flow_view_step_spec(x),
                                 (json_t *)(size_t)flow_view_step_spec(y)));
    }
}

/* Returns a view made from the text, and checks that a view from the document is the same. */
static struct flow_view *view_of(const char *text)
{
    json_t *doc = json_loads(text, 0, NULL);
    struct error err = {0};
    scoped(flow_view) struct flow_view *view = flow_view_from_document(doc, &err);
    struct flow_view *same = view_of_text(text, &err);

    check_ok("view", view && same, err);
    check_same(same, view);
    json_decref(doc);
    return same;
}

static json_t *templates(void)
{
    return json_loads(
        "{\"a\":{\"spec\":{\"runningEstimate\":\"1m\"}},\"b\":{\"spec\":{"
        "\"runningEstimate\":\"10m\"}},\"c\":{\"spec\":{\"runningEstimate\":\"30s\"}},"
        "\"d\":{\"spec\":{}}}",
        0, NULL);
}

static void expect(struct flow_view *view, const char *past, int64_t now_ms)
{
    json_t *known = templates(), *samples = past ? json_loads(past, 0, NULL) : NULL;

    flow_view_estimate(view, known, samples);
    flow_view_expect(view, now_ms);
    json_decref(known);
    json_decref(samples);
}

static const char *path_of(const struct flow_view *view)
{
    static char text[256];
    size_t len = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < view->path_listed; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? " " : "",
                                view->steps[view->path[i]].name);
    return text;
}

static const struct {
    const char *name, *doc, *field, *says;
} broken[] = {
    {"unknown target", FLOW(STEP("a", "\"x\"")), "spec.flows[0].dependsOn.targets[0]", "no step x"},
    {"cycle", FLOW(STEP("a", "\"b\"") "," STEP("b", "\"a\"")), "spec.flows", "a -> b -> a"},
    {"itself", FLOW(STEP("a", "\"a\"")), "spec.flows", "a -> a"},
    {"twice", FLOW(STEP("a", "") "," STEP("a", "")), "spec.flows[1].name", "duplicated"},
    {"no name", FLOW("{}"), "spec.flows[0].name", "Required"},
};

static void what_is_no_flow_is_refused_at_its_field(void **state)
{
    for (size_t i = 0; i < countof(broken); i++) {
        json_t *doc = json_loads(broken[i].doc, 0, NULL);
        struct error err = {0};

        assert_null(flow_view_from_document(doc, &err));
        check_str(broken[i].name, err.field, broken[i].field);
        check_has(broken[i].name, err.message, broken[i].says);
        err = (struct error){0};
        assert_null(view_of_text(broken[i].doc, &err));
        check_str(broken[i].name, err.field, broken[i].field);
        json_decref(doc);
    }
}

static void a_view_of_text_is_linked_when_asked(void **state)
{
    scoped(buf) struct buf text = {0}, unknown = {0};
    scoped(flow_view) struct flow_view *view = NULL, *loose = NULL;
    struct error err = {0};

    buf_str(&text, RUN(STEP("a", "") "," STEP("b", "\"a\""),
                       "\"state\":{\"phase\":\"Running\"},\"results\":{\"completed\":\"AQ==\"}"));
    view = flow_view_from_text(&text, &err);
    check_ok("view", view, err);
    check("not yet", !view->order);
    check_int("its states are known", view->steps[0].state, VIEW_COMPLETED);
    check_int("and its names", (long)flow_view_find(view, "b"), 1);
    check("linked", flow_view_link(view, &err) && flow_view_link(view, &err));
    check_int("once", (long)dag_edges(&view->targets), 1);

    buf_str(&unknown, FLOW(STEP("a", "") "," STEP("b", "\"a\",\"x\"")));
    loose = flow_view_from_text(&unknown, &err);
    check("an unknown target", loose && !flow_view_link(loose, &err));
    check_str("is named", err.field, "spec.flows[1].dependsOn.targets[1]");
    check_int("its steps wait for nothing", (long)dag_edges(&loose->targets), 0);
}

static void layers_are_the_longest_ways(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(FLOW(
        STEP("a", "") "," STEP("b", "\"a\"") "," STEP("c", "\"a\",\"b\",\"a\"") "," STEP("d", "")));

    check_int("layers", view->n_layers, 3);
    check_int("a", view->steps[0].layer, 0);
    check_int("c", view->steps[2].layer, 2);
    check_int("d", view->steps[3].layer, 0);
    check_int("each edge once", (long)dag_edges(&view->dag), 3);
}

static void final_steps_lie_behind_all_others(void **state)
{
    scoped(flow_view) struct flow_view *view =
        view_of(FLOW("{\"name\":\"clean\",\"when\":\"always\"}," STEP("a", "") "," STEP(
            "b", "\"a\"") ",{\"name\":\"tell\",\"when\":\"always\",\"dependsOn\":{\"targets\":["
                          "\"clean\"]}}"));

    check_int("layers", view->n_layers, 4);
    check_int("b", view->steps[2].layer, 1);
    check_int("clean", view->steps[0].layer, 2);
    check_int("tell", view->steps[3].layer, 3);
}

static void the_critical_path_is_the_longest_by_estimates(void **state)
{
    scoped(flow_view) struct flow_view *view =
        view_of(FLOW(STEP("a", "") "," STEP("b", "") "," STEP("c", "\"a\",\"b\"")));

    expect(view, NULL, 0);
    check_str("path", path_of(view), "b c");
    check_int("length", (long)view->path_ms, 630 * 1000);
    check("known", view->path_known);
    check_int("c begins", (long)view->steps[2].expected_start_ms, 600 * 1000);
}

static void any_target_lets_a_step_begin(void **state)
{
    scoped(flow_view) struct flow_view *view =
        view_of(FLOW(STEP("a", "") "," STEP("b", "") "," ANY("c", "\"a\",\"b\"")));

    expect(view, NULL, 0);
    check_int("c begins with the first", (long)view->steps[2].expected_start_ms, 60 * 1000);
    check_str("b ends last", path_of(view), "b");
}

static void what_nobody_estimates_is_unknown(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(FLOW(STEP("d", "") "," STEP("a", "\"d\"")));

    expect(view, NULL, 0);
    check("path not known", !view->path_known);
    check_int("a's start is not known", (long)view->steps[1].expected_start_ms, -1);
    check_str("but its way is", path_of(view), "d a");
}

static void past_jobs_estimate_where_no_template_does(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(FLOW(STEP("d", "") "," STEP("a", "\"d\"")));

    expect(view, "{\"d\":[10000,30000],\"a\":[1]}", 0);
    check_int("mean", (long)view->steps[0].estimate_ms, 20000);
    check_int("source", view->steps[0].estimated, ESTIMATE_PAST);
    check_int("the template wins", (long)view->steps[1].estimate_ms, 60000);
}

static void a_loop_takes_its_rounds(void **state)
{
    scoped(flow_view) struct flow_view *view =
        view_of(FLOW("{\"name\":\"a\",\"for\":{\"items\":[1,2,3,4,5],\"parallelism\":2}}"));

    expect(view, NULL, 0);
    check_int("three rounds", (long)view->steps[0].estimate_ms, 180000);
}

#define AT(clock) "\"1970-01-01T" clock "Z\""

static void a_running_flow_is_expected_to_end(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(RUN(
        STEP("a", "") "," STEP("b", "\"a\"") "," STEP("c", "\"b\""),
        "\"state\":{\"phase\":\"Running\"},\"nodes\":["
        "{\"name\":\"a\",\"phase\":\"Completed\",\"attempt\":1,\"attempts\":[{\"startTime\":" AT(
            "11:50:00") ",\"endTime\":" AT("11:58:00") "}]},"
                                                       "{\"name\":\"b\",\"phase\":\"Running\","
                                                       "\"attempt\":1,\"attempts\":[{"
                                                       "\"startTime\":" AT("11:58:00") "}]}]"));

    expect(view, NULL, NOON_MS);
    check_int("c waits", view->steps[2].state, VIEW_WAITING);
    check("a is settled", flow_view_step_over(&view->steps[0]));
    check("b runs", flow_view_step_active(&view->steps[1]));
    check_int("a took", (long)flow_view_step_ms(&view->steps[0], NOON_MS), 480 * 1000);
    check_int("b ends in 8 min", (long)view->steps[1].expected_end_ms, NOON_MS + 480 * 1000);
    check_int("c after it", (long)view->steps[2].expected_end_ms, NOON_MS + 510 * 1000);
    check_str("path", path_of(view), "a b c");
}

static void results_of_large_flows_stand_in_bitmaps(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(
        RUN(STEP("a", "") "," STEP("b", "") "," STEP("c", ""),
            "\"state\":{\"phase\":\"Failed\"},\"results\":{\"completed\":\"AQ==\",\"failed\":"
            "\"BA==\"}"));

    check_int("a", view->steps[0].state, VIEW_COMPLETED);
    check_int("b", view->steps[1].state, VIEW_WAITING);
    check_int("c", view->steps[2].state, VIEW_FAILED);
}

static void those_at_work_may_stand_in_bitmaps_too(void **state)
{
    scoped(flow_view) struct flow_view *view =
        view_of(RUN(STEP("a", "") "," STEP("b", "") "," STEP("c", "") "," STEP("d", "\"a\""),
                    "\"state\":{\"phase\":\"Running\"},\"results\":{\"running\":\"AQ==\","
                    "\"pending\":\"Ag==\",\"unknown\":\"BA==\"}"));

    check_int("a", view->steps[0].state, VIEW_RUNNING);
    check_int("b", view->steps[1].state, VIEW_PENDING);
    check_int("c", view->steps[2].state, VIEW_UNKNOWN);
    check_int("d", view->steps[3].state, VIEW_WAITING);
    check("at work", flow_view_step_active(&view->steps[0]) &&
                         flow_view_step_active(&view->steps[1]) &&
                         flow_view_step_active(&view->steps[2]));
}

static void the_path_of_a_large_flow_is_told_by_its_status(void **state)
{
    scoped(flow_view) struct flow_view *view =
        view_of(RUN(STEP("a", "") "," STEP("b", "\"a\"") "," STEP("c", "\"b\""),
                    "\"state\":{\"phase\":\"Succeed\"},\"results\":{\"completed\":\"Bw==\"},"
                    "\"criticalPath\":{\"steps\":9,\"duration\":\"1m5s\",\"ends\":["
                    "{\"name\":\"a\"},{\"name\":\"gone\"},{\"name\":\"c\"}]}"));
    scoped(flow_view) struct flow_view *none =
        view_of(RUN(STEP("a", ""), "\"state\":{\"phase\":\"Succeed\"}"));

    check("told", flow_view_take_path(view));
    check_str("the steps that are there", path_of(view), "a c");
    check_int("of", (long)view->path_len, 9);
    check_int("time", (long)view->path_ms, 65000);
    check("marked",
          view->steps[0].path_place == 1 && !view->steps[1].path_place && view->path_known);
    check("not told", !flow_view_take_path(none));
}

/* The end of step a is not stored, so the path begins with the steps that run. Once the time has
 * been fetched, it is known. */
static void the_path_of_a_large_flow_half_way_begins_with_what_is_known(void **state)
{
    static const char doc[] =
        RUN(STEP("a", "") "," STEP("b", "\"a\"") "," STEP("c", "\"b\""),
            "\"state\":{\"phase\":\"Running\"},\"results\":{\"completed\":\"AQ==\"},\"nodes\":[{"
            "\"name\":\"b\",\"phase\":\"Running\",\"attempts\":[{\"attempt\":1,"
            "\"startTime\":\"1970-01-01T11:59:00Z\"}]}]");
    scoped(flow_view) struct flow_view *view = view_of(doc), *asked = view_of(doc);
    json_t *item = json_loads("{\"name\":\"a\",\"startTime\":\"1970-01-01T11:58:00Z\","
                              "\"endTime\":\"1970-01-01T11:59:00Z\"}",
                              0, NULL);

    expect(view, NULL, NOON_MS);
    check_str("from b on", path_of(view), "b c");
    check("cut", view->path_cut);
    flow_view_take_step(asked, item);
    expect(asked, NULL, NOON_MS);
    check_str("all of it", path_of(asked), "a b c");
    check("not cut", !asked->path_cut);
    json_decref(item);
}

/* A loop has no job of its own, so its times are those of its iterations. */
static void a_loop_begins_and_ends_with_its_iterations(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(
        RUN("{\"name\":\"l\",\"for\":{\"items\":[\"x\",\"y\"]}}," STEP("b", "\"l\""),
            "\"state\":{\"phase\":\"Running\"},\"nodes\":[{\"name\":\"l\",\"phase\":\"Completed\"},"
            "{\"name\":\"l-0\",\"step\":\"l\",\"phase\":\"Completed\",\"attempts\":[{"
            "\"startTime\":\"1970-01-01T00:00:10Z\",\"endTime\":\"1970-01-01T00:00:20Z\"}]},"
            "{\"name\":\"l-1\",\"step\":\"l\",\"phase\":\"Completed\",\"attempts\":[{"
            "\"startTime\":\"1970-01-01T00:00:20Z\",\"endTime\":\"1970-01-01T00:00:35Z\"}]}]"));

    check_int("began", (long)view->steps[0].created_ms, 10000);
    check_int("ended", (long)view->steps[0].ended_ms, 35000);
}

static void iterations_have_bits_behind_their_loop(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(
        RUN("{\"name\":\"a\",\"for\":{\"items\":[1,2]}}," STEP("b", "\"a\"") "," STEP("c", ""),
            "\"state\":{\"phase\":\"Running\"},\"nodes\":[{\"name\":\"a\",\"phase\":"
            "\"Completed\"}],\"results\":{\"completed\":\"Dw==\",\"skipped\":\"EA==\"}"));

    check_int("the loop", view->steps[0].state, VIEW_COMPLETED);
    check_int("behind it", view->steps[1].state, VIEW_COMPLETED);
    check_int("the last", view->steps[2].state, VIEW_SKIPPED);
}

/* In the status of a large flow, a bit of a job that has no entry counts as one attempt. A loop has
 * the attempts of its iterations. */
static void attempts_of_a_large_flow_are_counted_by_bits(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(
        RUN("{\"name\":\"a\",\"for\":{\"items\":[1,2]}}," STEP("b", "\"a\"") "," STEP("c", ""),
            "\"state\":{\"phase\":\"Running\"},\"nodes\":[{\"name\":\"a\",\"phase\":"
            "\"Completed\"},{\"name\":\"a-0\",\"step\":\"a\",\"iteration\":0,\"attempt\":3,"
            "\"phase\":\"Completed\"}],"
            "\"results\":{\"completed\":\"Dw==\",\"skipped\":\"EA==\"}"));

    check_int("three of one iteration, one of the other", view->steps[0].attempts, 4);
    check_int("a step", view->steps[1].attempts, 1);
    check_int("a skipped one", view->steps[2].attempts, 0);
}

static void a_step_that_waits_when_its_flow_ends_was_not_run(void **state)
{
    static const char nodes[] = "\"nodes\":[{\"name\":\"a\",\"phase\":\"Failed\"}]";
    scoped_str text = mem_printf(
        RUN(STEP("a", "") "," STEP("b", "\"a\""), "\"state\":{\"phase\":\"Failed\"},%s"), nodes);
    scoped_str at_work = mem_printf(
        RUN(STEP("a", "") "," STEP("b", "\"a\""), "\"state\":{\"phase\":\"Running\"},%s"), nodes);
    scoped(flow_view) struct flow_view *over = view_of(text), *running = view_of(at_work);
    const struct flow_view_counts counts = flow_view_count(over);

    check_str("over", flow_view_step_state(&over->steps[1]), "Not run");
    check_str("as stored", view_state_text((enum view_state)over->steps[1].state), "Waiting");
    check_str("at work", flow_view_step_state(&running->steps[1]), "Waiting");
    check_int("failed", counts.failed, 1);
    check_int("waiting", counts.waiting, 1);
}

/* The same status is read twice, and each time the one before it is freed. */
static void a_reason_is_that_of_the_newest_status(void **state)
{
    static const char status[] = "{\"nodes\":[{\"name\":\"b\",\"phase\":\"Failed\","
                                 "\"reason\":\"MissingOutput\",\"message\":\"%s\"}]}";
    scoped(flow_view) struct flow_view *view =
        view_of(RUN(STEP("a", "") "," STEP("b", "\"a\""), "\"state\":{\"phase\":\"Running\"}"));

    for (int round = 0; round < 2; round++) {
        scoped_str text = mem_printf(status, round ? "no output x" : "no output");
        scoped(json) json_t *read = json_loads(text, 0, NULL);
        scoped(buf) struct buf why = {0};

        flow_view_complete(view, read);
        flow_view_step_reason(&view->steps[1], &why);
        check_str("reason", why.data,
                  round ? "MissingOutput: no output x" : "MissingOutput: no output");
    }
    scoped(json) json_t *none = json_loads("{}", 0, NULL);

    flow_view_complete(view, none);
    check("none", !view->steps[1].reason && !view->steps[1].message);
}

static void durations_are_finer_than_stored_times(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(
        RUN(STEP("a", ""),
            "\"state\":{\"phase\":\"Succeed\"},\"startTime\":" AT(
                "11:50:00") ","
                            "\"completionTime\":" AT(
                                "11:50:04") ",\"duration\":\"3.22s\","
                                            "\"conditions\":{\"f-a\":{\"phase\":\"Completed\","
                                            "\"runningDuration\":\"1.25s\"}},"
                                            "\"nodes\":[{\"name\":\"a\",\"phase\":\"Completed\","
                                            "\"attempt\":1,\"attempts\":[{"
                                            "\"startTime\":" AT("11:50:00") ",\"endTime\":" AT(
                                                "11:50:03") "}]}]"));
    scoped(buf) struct buf step = {0}, flow = {0};

    flow_view_step_took(&view->steps[0], NOON_MS, &step);
    flow_view_took(view, NOON_MS, &flow);
    check_str("the step", step.data, "1.25s");
    check_str("the flow", flow.data, "3.22s");
}

static void a_final_step_comes_after_the_last_of_the_others(void **state)
{
    scoped(flow_view) struct flow_view *view =
        view_of(FLOW("{\"name\":\"c\",\"when\":\"always\"}," STEP("a", "") "," STEP("b", "")));

    expect(view, NULL, 0);
    check_str("path", path_of(view), "b c");
    check_int("c begins", (long)view->steps[0].expected_start_ms, 600 * 1000);
}

static const struct {
    const char *name, *text;
    uint32_t steps;
} odd_texts[] = {
    {"blanks", "{ \"metadata\": {}, \"spec\": {\"flows\": [ {\"name\": \"a\"} ] } }", 1},
    {"escapes in a name", FLOW("{\"name\":\"\\u0061b\"}"), 1},
    {"no steps", FLOW(""), 0},
    {"no list of steps", "{\"metadata\":{},\"spec\":{}}", 0},
    {"null", "{\"metadata\":{},\"spec\":{\"flows\":null}}", 0},
    {"another spec first",
     "{\"metadata\":{\"annotations\":{\"spec\":\"{\\\"flows\\\":[1]}\"}},"
     "\"spec\":{\"flows\":[{\"name\":\"a\"}]}}",
     1},
};

static void text_that_is_not_compact_is_read_all_the_same(void **state)
{
    for (size_t i = 0; i < countof(odd_texts); i++) {
        scoped(flow_view) struct flow_view *view = view_of(odd_texts[i].text);

        check_int(odd_texts[i].name, view->n_steps, odd_texts[i].steps);
    }
}

static void what_is_no_json_is_refused(void **state)
{
    static const char *const texts[] = {"", "{", "{\"spec\":{\"flows\":[{\"name\":\"a\"}", "[]x",
                                        "{\"spec\":{\"flows\":[{\"name\":\"a\"}]}}}"};

    for (size_t i = 0; i < countof(texts); i++) {
        struct error err = {0};

        assert_null(view_of_text(texts[i], &err));
        check_int(texts[i], err.code, ERR_BAD_REQUEST);
    }
}

static void marks_say_what_a_step_has(void **state)
{
    scoped(flow_view) struct flow_view *view = view_of(
        FLOW("{\"name\":\"a\",\"if\":{},\"for\":{\"range\":{\"start\":0,\"end\":10,\"step\":3}}},"
             "{\"name\":\"s\",\"switch\":{\"cases\":[{\"flows\":[\"a\"]}]}}"));
    scoped(buf) struct buf a = {0}, s = {0};

    flow_view_step_marks(&view->steps[0], &a);
    flow_view_step_marks(&view->steps[1], &s);
    check_str("a", a.data, "if, for 4");
    check_str("s", s.data, "switch");
    check("a switch makes no job", view->steps[1].template == NULL);
    check_int("a waits for it", view->steps[0].layer, 1);
}

static void a_range_may_go_down(void **state)
{
    scoped(flow_view) struct flow_view *view =
        view_of(FLOW("{\"name\":\"a\",\"for\":{\"range\":{\"start\":10,\"end\":0,\"step\":-5}}}"));
    scoped(buf) struct buf marks = {0};

    flow_view_step_marks(&view->steps[0], &marks);
    check_str("a", marks.data, "for 2");
}

/* In drawings of random graphs, boxes of a row keep their distance, and lines go from one row to
 * the next. */
static void boxes_keep_their_distance(void **state)
{
    unsigned chance = 1;

    for (int round = 0; round < 40; round++) {
        enum { N = 24, GAP = 2, WAYPOINT = 3 };
        struct dag_edge edges[N * N];
        uint32_t layers[N] = {0};
        int widths[N];
        size_t count = 0;
        struct dag dag;

        for (uint32_t to = 0; to < N; to++) {
            widths[to] = 3 + (int)(to * 7 % 11);
            for (uint32_t from = 0; from < to; from++) {
                chance = chance * 1103515245 + 12345;
                if (chance >> 16 & 7)
                    continue;
                edges[count++] = (struct dag_edge){from, to};
                if (layers[to] <= layers[from])
                    layers[to] = layers[from] + 1;
            }
        }
        dag_init(&dag, N, edges, count);

        scoped(layout) struct layout *layout =
            layout_new(&dag, layers, widths, WAYPOINT, GAP, NULL);
        size_t steps = 0;

        assert_non_null(layout);
        for (uint32_t k = 0; k < layout->n_layers; k++)
            for (uint32_t i = layout->first[k]; i < layout->first[k + 1]; i++) {
                const struct layout_box *box = &layout->boxes[i];

                steps += box->vertex != UINT32_MAX;
                check_int("layer", box->layer, (int)k);
                check("within", box->center >= box->width / 2 &&
                                    box->center + box->width / 2 < layout->columns);
                if (box->vertex != UINT32_MAX)
                    check_int("layer of the step", (int)layers[box->vertex], (int)k);
                if (i > layout->first[k])
                    check("distance", box->center - box->width / 2 >
                                          box[-1].center + box[-1].width / 2 + GAP - 1);
            }
        check_int("every step", (long)steps, N);
        for (size_t l = 0; l < layout->n_lines; l++) {
            const struct layout_line *line = &layout->lines[l];
            const struct layout_box *from = &layout->boxes[line->from];
            const struct layout_box *to = &layout->boxes[line->to];

            check("a line goes one row down", to->layer == from->layer + 1);
            check("it is a part of an edge", layers[line->source] < layers[line->target]);
            check("which begins where it does",
                  from->vertex == line->source || from->vertex == UINT32_MAX);
            check("or ends", to->vertex == line->target || to->vertex == UINT32_MAX);
            check("within its rows",
                  layers[line->source] <= from->layer && to->layer <= layers[line->target]);
        }
        dag_release(&dag);
    }
}

/* Volcano's own controller writes a list of jobs, and neither nodes nor bitmaps. */
static void a_status_of_volcano_tells_the_states_of_steps(void **state)
{
    static const char text[] = RUN(
        "{\"name\":\"a\"}," STEP("b", "\"a\"") "," STEP("c", "\"b\""),
        "\"state\":{\"phase\":\"Running\"},\"jobStatusList\":[{\"name\":\"f-a\",\"state\":"
        "\"Completed\",\"startTimestamp\":\"1970-01-01T12:00:00Z\",\"endTimestamp\":"
        "\"1970-01-01T12:00:07Z\",\"restartCount\":2,\"runningHistories\":[]},{\"name\":\"f-b\","
        "\"state\":\"Running\",\"startTimestamp\":\"1970-01-01T12:00:07Z\"},{\"name\":\"x\","
        "\"state\":\"Failed\"},{\"name\":5}]");
    scoped(flow_view) struct flow_view *view = view_of(text);

    check_int("a", view->steps[0].state, VIEW_COMPLETED);
    check_int("began", view->steps[0].created_ms, NOON_MS);
    check_int("ended", view->steps[0].ended_ms, NOON_MS + 7000);
    check_int("restarts", view->steps[0].restarts, 2);
    check_int("b", view->steps[1].state, VIEW_RUNNING);
    check_int("c", view->steps[2].state, VIEW_WAITING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_status_of_volcano_tells_the_states_of_steps),
        cmocka_unit_test(what_is_no_flow_is_refused_at_its_field),
        cmocka_unit_test(a_view_of_text_is_linked_when_asked),
        cmocka_unit_test(layers_are_the_longest_ways),
        cmocka_unit_test(final_steps_lie_behind_all_others),
        cmocka_unit_test(the_critical_path_is_the_longest_by_estimates),
        cmocka_unit_test(any_target_lets_a_step_begin),
        cmocka_unit_test(what_nobody_estimates_is_unknown),
        cmocka_unit_test(past_jobs_estimate_where_no_template_does),
        cmocka_unit_test(a_loop_takes_its_rounds),
        cmocka_unit_test(a_running_flow_is_expected_to_end),
        cmocka_unit_test(results_of_large_flows_stand_in_bitmaps),
        cmocka_unit_test(those_at_work_may_stand_in_bitmaps_too),
        cmocka_unit_test(the_path_of_a_large_flow_is_told_by_its_status),
        cmocka_unit_test(the_path_of_a_large_flow_half_way_begins_with_what_is_known),
        cmocka_unit_test(a_loop_begins_and_ends_with_its_iterations),
        cmocka_unit_test(iterations_have_bits_behind_their_loop),
        cmocka_unit_test(attempts_of_a_large_flow_are_counted_by_bits),
        cmocka_unit_test(a_step_that_waits_when_its_flow_ends_was_not_run),
        cmocka_unit_test(a_reason_is_that_of_the_newest_status),
        cmocka_unit_test(durations_are_finer_than_stored_times),
        cmocka_unit_test(a_final_step_comes_after_the_last_of_the_others),
        cmocka_unit_test(text_that_is_not_compact_is_read_all_the_same),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(marks_say_what_a_step_has),
        cmocka_unit_test(a_range_may_go_down),
        cmocka_unit_test(boxes_keep_their_distance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
