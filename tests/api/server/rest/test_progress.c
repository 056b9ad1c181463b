/*
 * Tests that the watchers of the progress of one flow share what a change of it costs.
 */
#include "tests/unit.h"

#include <string.h>

#include "base/mem.h"
#include "tests/support/api.h"

#define FLOWS "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
#define JOBS  "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"

enum { WATCHERS = 8, PACE_MS = 100 };

static void make_flow(struct api_fixture *fixture, const char *name)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str body = mem_printf(
        "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"JobFlow\",\"metadata\":{\"name\":"
        "\"%s\"},\"spec\":{\"flows\":[{\"name\":\"a\"},{\"name\":\"l\",\"for\":{\"items\":[\"x\","
        "\"y\"]}},{\"name\":\"z\"}]}}",
        name);

    check_int("flow", api_send(fixture, &capture, "POST", FLOWS, .body = body), 201);
}

static void set_status(struct api_fixture *fixture, const char *name, const char *status)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str target = mem_printf(FLOWS "/%s/status", name);
    scoped_str patch = mem_printf("{\"status\":%s}", status);

    check_int("status",
              api_send(fixture, &capture, "PATCH", target, .body = patch,
                       .content_type = "application/merge-patch+json"),
              200);
}

static void make_job(struct api_fixture *fixture, const char *flow, const char *name)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str target = mem_printf(FLOWS "/%s", flow);

    api_send(fixture, &capture, "GET", target, .body = NULL);
    scoped_str uid = api_capture_at(&capture, "metadata.uid");
    scoped_str body = mem_printf(
        "{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"metadata\":{\"name\":"
        "\"%s\",\"ownerReferences\":[{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":"
        "\"JobFlow\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true}]},\"spec\":{\"tasks\":[{"
        "\"name\":\"m\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"command\":[\"x\"]}]}}}]}}",
        name, flow, uid);

    api_capture_release(&capture);
    check_int(name, api_send(fixture, &capture, "POST", JOBS, .body = body), 201);
}

/* Returns the value of a metric; -1: it is not among them. */
static int metric(struct api_fixture *fixture, const char *name)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str line = mem_printf("\n%s ", name);
    const char *at;

    api_send(fixture, &capture, "GET", "/metrics", .body = NULL);
    at = strstr(capture.body.data, line);
    return at ? atoi(at + strlen(line)) : -1;
}

static void watch(struct api_fixture *fixture, struct api_capture *captures, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        api_send(fixture, &captures[i], "GET", FLOWS "/f/progress?watch=1", .body = NULL);
        loop_advance(fixture->loop, PACE_MS);
        check_has("the present state", captures[i].body.data, "{\"ready\":true}");
        buf_clear(&captures[i].body);
    }
}

/* Each watcher is told the line, and nothing else of vertices. */
static void check_told(const char *what, struct api_capture *captures, size_t n, const char *part)
{
    for (size_t i = 0; i < n; i++) {
        check(what, captures[i].body.len > 0);
        check_has(what, captures[i].body.data, part);
        check("no reset", !strstr(captures[i].body.data, "reset"));
        buf_clear(&captures[i].body);
    }
}

static void watchers_of_one_flow_read_a_version_once(void **state)
{
    struct api_capture captures[WATCHERS] = {0};
    struct api_fixture fixture;
    int before;

    api_fixture_start(&fixture, NULL);
    make_flow(&fixture, "f");
    make_flow(&fixture, "g");
    watch(&fixture, captures, WATCHERS);
    check_int("one index", metric(&fixture, "jobflow_progress_flows"), 1);
    check_int("read once", metric(&fixture, "jobflow_progress_flow_reads_total"), 1);

    before = metric(&fixture, "jobflow_progress_flow_reads_total");
    set_status(&fixture, "f", "{\"nodes\":[{\"name\":\"l-1\",\"phase\":\"Running\"}]}");
    loop_advance(fixture.loop, PACE_MS);
    check_int("a version", metric(&fixture, "jobflow_progress_flow_reads_total"), before + 1);
    check_told("the loop and its iteration", captures, WATCHERS, "\"i\":[1,3]");

    make_job(&fixture, "f", "f-z");
    loop_advance(fixture.loop, PACE_MS);
    check_told("the step of a job", captures, WATCHERS, "\"from\":4,");
    check_int("a job is no version", metric(&fixture, "jobflow_progress_flow_reads_total"),
              before + 1);

    set_status(&fixture, "g", "{\"nodes\":[{\"name\":\"a\",\"phase\":\"Running\"}]}");
    make_job(&fixture, "g", "g-z");
    loop_advance(fixture.loop, PACE_MS);
    check_int("another flow", metric(&fixture, "jobflow_progress_flow_reads_total"), before + 1);
    for (size_t i = 0; i < WATCHERS; i++)
        check_int("nothing of another flow", (int)captures[i].body.len, 0);

    for (size_t i = 0; i < WATCHERS; i++)
        api_capture_release(&captures[i]);
    check_int("freed with the last", metric(&fixture, "jobflow_progress_flows"), 0);
    api_fixture_stop(&fixture);
}

static void a_watcher_that_comes_later_is_told_all_and_the_others_nothing(void **state)
{
    struct api_capture captures[2] = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    make_flow(&fixture, "f");
    watch(&fixture, captures, 2);
    check_int("nothing new for the first", (int)captures[0].body.len, 0);
    set_status(&fixture, "f", "{\"state\":{\"phase\":\"Failed\"}}");
    loop_advance(fixture.loop, PACE_MS);
    check_told("all steps when the flow ends", captures, 2, "\"from\":0,");
    for (size_t i = 0; i < 2; i++)
        api_capture_release(&captures[i]);
    api_fixture_stop(&fixture);
}

static void a_flow_that_is_deleted_and_made_again_begins_anew_for_each(void **state)
{
    struct api_capture captures[2] = {0};
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    make_flow(&fixture, "f");
    watch(&fixture, captures, 2);
    check_int("deleted", api_send(&fixture, &capture, "DELETE", FLOWS "/f", .body = NULL), 200);
    loop_advance(fixture.loop, PACE_MS);
    check_told("gone", captures, 2, "{\"gone\":true}\n");
    make_flow(&fixture, "f");
    loop_advance(fixture.loop, PACE_MS);
    for (size_t i = 0; i < 2; i++) {
        check_has("again", captures[i].body.data, "{\"reset\":true,");
        check_has("all of it", captures[i].body.data, "{\"ready\":true}");
        api_capture_release(&captures[i]);
    }
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watchers_of_one_flow_read_a_version_once),
        cmocka_unit_test(a_watcher_that_comes_later_is_told_all_and_the_others_nothing),
        cmocka_unit_test(a_flow_that_is_deleted_and_made_again_begins_anew_for_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
