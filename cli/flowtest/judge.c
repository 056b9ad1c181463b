/*
 * Compares the expected result of a test with the recorded run, field by field. Fields that the
 * test does not set are not compared.
 */
#include "cli/flowtest/judge.h"

#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"

struct judging {
    const struct test_case *test;
    const struct flowtest_run *run;
    struct buf *out;
    size_t count;
};

static void differ(struct judging *j, const char *path, const char *want, const char *got)
{
    j->count++;
    buf_printf(j->out, "    %s\n      - %s\n      + %s\n", path, want, got);
}

static void compare_text(struct judging *j, const char *path, const char *want, const char *got)
{
    if (want && strcmp(want, got ? got : "") != 0)
        differ(j, path, want, got && *got ? got : "(nothing)");
}

/* Compares whole seconds, because commits take some milliseconds of simulated time. */
static void compare_time(struct judging *j, const char *path, int64_t want_ns, int64_t got_ms)
{
    int64_t want_s = (want_ns + 500000000) / 1000000000, got_s = (got_ms + 500) / 1000;
    char want[TIME_TEXT_MAX], got[TIME_TEXT_MAX] = "(never)";

    if (want_ns < 0 || (got_ms >= 0 && want_s == got_s))
        return;
    duration_format(want_ns, want);
    if (got_ms >= 0)
        duration_format(got_s * 1000000000, got);
    differ(j, path, want, got);
}

static void compare_json(struct judging *j, const char *path, const json_t *want,
                         const json_t *got);

static const json_t *named(const json_t *list, const json_t *like)
{
    const char *name = json_string_value(json_object_get(like, "name"));
    size_t i;
    json_t *item;

    json_array_foreach(list, i, item)
    {
        const char *its = json_string_value(json_object_get(item, "name"));

        if (name && its && strcmp(its, name) == 0)
            return item;
    }
    return NULL;
}

static void compare_list(struct judging *j, const char *path, const json_t *want, const json_t *got)
{
    bool by_name = true;
    size_t i;
    json_t *item;

    json_array_foreach(want, i, item) by_name =
        by_name && json_is_string(json_object_get(item, "name"));
    if (!by_name && json_array_size(want) != json_array_size(got)) {
        scoped_str wanted = mem_printf("%zu entries", json_array_size(want));
        scoped_str there = mem_printf("%zu entries", json_array_size(got));

        differ(j, path, wanted, there);
        return;
    }
    json_array_foreach(want, i, item)
    {
        scoped_str at =
            by_name ? mem_printf("%s[%s]", path, json_string_value(json_object_get(item, "name")))
                    : mem_printf("%s[%zu]", path, i);

        compare_json(j, at, item, by_name ? named(got, item) : json_array_get(got, i));
    }
}

static void compare_json(struct judging *j, const char *path, const json_t *want, const json_t *got)
{
    const char *key;
    json_t *value;

    if (json_is_object(want) && json_is_object(got)) {
        json_object_foreach((json_t *)(size_t)want, key, value)
        {
            scoped_str at = mem_printf("%s.%s", path, key);

            compare_json(j, at, value, json_object_get(got, key));
        }
    } else if (json_is_array(want) && json_is_array(got)) {
        compare_list(j, path, want, got);
    } else if (!json_equal(want, got)) {
        char *wanted = json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT);
        char *there = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

        differ(j, path, wanted ? wanted : "", there ? there : "(nothing)");
        free(wanted);
        free(there);
    }
}

static void compare_step(struct judging *j, const struct test_step *want)
{
    const struct flowtest_run_step got = flowtest_run_of(j->run, want->key);
    const struct test_step_body *body = &want->body;
    char path[128];

    snprintf(path, sizeof path, "steps.%s.phase", want->key);
    compare_text(j, path, body->phase, got.phase);
    snprintf(path, sizeof path, "steps.%s.reason", want->key);
    compare_text(j, path, body->reason, got.reason);
    snprintf(path, sizeof path, "steps.%s.start", want->key);
    compare_time(j, path, body->start_ns, got.started_ms);
    snprintf(path, sizeof path, "steps.%s.duration", want->key);
    compare_time(j, path, body->duration_ns, got.took_ms);
    if (body->attempts.set && body->attempts.value != got.attempts) {
        scoped_str wanted = mem_printf("%d", body->attempts.value);
        scoped_str there = mem_printf("%d", got.attempts);

        snprintf(path, sizeof path, "steps.%s.attempts", want->key);
        differ(j, path, wanted, there);
    }
    if (body->job) {
        snprintf(path, sizeof path, "steps.%s.job", want->key);
        compare_json(j, path, body->job, json_object_get(j->run->jobs, want->key));
    }
}

static bool lists(const struct str_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return true;
    return false;
}

static void write_names(const struct str_list *list, struct buf *out)
{
    for (size_t i = 0; i < list->count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", list->items[i]);
}

static void compare_order(struct judging *j)
{
    const struct str_list *want = &j->test->expect.order;
    scoped(buf) struct buf wanted = {0}, got = {0};
    json_t *name;
    size_t i;

    write_names(want, &wanted);
    json_array_foreach(j->run->order, i, name)
    {
        if (lists(want, json_string_value(name)))
            buf_printf(&got, "%s%s", got.len ? ", " : "", json_string_value(name));
    }
    if (want->count)
        compare_text(j, "order", wanted.data, got.data);
}

static void compare_skipped(struct judging *j)
{
    const struct str_list *want = &j->test->expect.skipped;
    scoped(buf) struct buf wanted = {0}, got = {0};
    bool same = true;

    for (uint32_t i = 0; i < j->run->view->n_steps; i++) {
        const char *name = j->run->view->steps[i].name;
        bool skipped = strcmp(j->run->steps[i].phase, "Skipped") == 0;

        same = same && skipped == lists(want, name);
        if (skipped)
            buf_printf(&got, "%s%s", got.len ? ", " : "", name);
    }
    write_names(want, &wanted);
    if (want->items && !same)
        differ(j, "skipped", wanted.len ? wanted.data : "(none)", got.len ? got.data : "(none)");
}

static void compare_not_run(struct judging *j)
{
    for (size_t i = 0; i < j->test->expect.not_run.count; i++) {
        const char *name = j->test->expect.not_run.items[i];
        const struct flowtest_run_step got = flowtest_run_of(j->run, name);

        if (got.attempts)
            differ(j, "notRun", name, got.phase);
    }
}

/* Says of an unexpected failure which step failed first in the order of the file, and why. */
static void tell_failed_step(struct judging *j)
{
    for (uint32_t i = 0; i < j->run->view->n_steps; i++) {
        const struct flow_view_step *step = &j->run->view->steps[i];
        scoped(buf) struct buf why = {0};

        if (step->state != VIEW_FAILED && step->state != VIEW_TERMINATED)
            continue;
        flow_view_step_reason(step, &why);
        buf_printf(j->out, "      because %s is %s%s%s\n", step->name, flow_view_step_state(step),
                   why.len ? ": " : "", why.len ? why.data : "");
        return;
    }
}

size_t flowtest_judge(const struct test_case *test, const struct flowtest_run *run, struct buf *out)
{
    struct judging j = {.test = test, .run = run, .out = out};

    if (run->end == FLOWTEST_RUN_STUCK)
        differ(&j, "end", "the flow is over", "it can never go on: nothing more happens");
    else if (run->end == FLOWTEST_RUN_TIMED_OUT)
        differ(&j, "end", "the flow is over", "it is not, when its time is up");
    compare_text(&j, "phase", test->expect.phase, flow_phase_text(run->view->phase));
    if (j.count && run->view->phase == FLOW_FAILED)
        tell_failed_step(&j);
    compare_text(&j, "reason", test->expect.reason, run->view->reason);
    if (run->end == FLOWTEST_RUN_OVER)
        compare_time(&j, "duration", test->expect.duration_ns, run->took_ms);
    compare_order(&j);
    compare_skipped(&j);
    compare_not_run(&j);
    for (size_t i = 0; i < test->expect.steps.count; i++)
        compare_step(&j, &test->expect.steps.items[i]);
    return j.count;
}
