/* Tests lists in pages and as Tables, against the API in this process. */
#include "tests/unit.h"

#include "tests/support/api_objects.h"

#define FLOWS "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
#define CMS   "/api/v1/namespaces/default/configmaps"
#define PODS  "/api/v1/namespaces/default/pods"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
/* covers: kube-api.md 71 72 78 79 */
static void lists_come_in_pages(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str revision = NULL;
    const char *const names[] = {"a", "b", "c"};
    struct api_fixture fixture;
    char *next = NULL;

    api_fixture_start(&fixture, &(const struct api_fixture_options){.watch_window = 10});
    for (size_t i = 0; i < countof(names); i++)
        api_make_config_map(&fixture, names[i], "");
    for (size_t i = 0; i < countof(names); i++) {
        scoped_str target =
            mem_printf(CMS "?limit=1%s%s", next ? "&continue=" : "", next ? next : "");

        check_int("page", api_send(&fixture, &capture, "GET", target), 200);
        check_at(&capture, "items.0.metadata.name", names[i]);
        check_at(&capture, "items.1", NULL);
        check_at(&capture, "items.0.kind", NULL);
        check_at(&capture, "metadata.remainingItemCount", i == 0 ? "2" : i == 1 ? "1" : NULL);
        if (!revision)
            revision = api_capture_at(&capture, "metadata.resourceVersion");
        check_at(&capture, "metadata.resourceVersion",
                 revision); /* all pages have the revision of the first page */
        mem_free(next);
        next = api_capture_at(&capture, "metadata.continue");
    }
    check_str("the end", next, NULL);
    check_int("first", api_send(&fixture, &capture, "GET", CMS "?limit=1"), 200);
    next = api_capture_at(&capture, "metadata.continue");
    /* So many changes that the watch window loses the revision of the first page. */
    for (int i = 0; i < 20; i++) {
        scoped_str name = mem_printf("d%d", i);

        api_make_config_map(&fixture, name, "");
    }

    scoped_str late = mem_printf(CMS "?limit=1&continue=%s", next);

    check_int("late", api_send(&fixture, &capture, "GET", late), 410);
    check_at(&capture, "reason", "Expired");
    mem_free(next);
    next = api_capture_at(&capture, "metadata.continue");

    scoped_str anyway = mem_printf(CMS "?limit=1&continue=%s", next);

    check_int("anyway", api_send(&fixture, &capture, "GET", anyway), 200);
    check_at(&capture, "items.0.metadata.name", "b");
    mem_free(next);
    api_fixture_stop(&fixture);
}

static void a_list_waits_for_a_slow_client(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;
    size_t before;

    api_fixture_start(&fixture, NULL);
    for (int i = 0; i < 600; i++) {
        scoped_str name = mem_printf("c%03d", i);

        api_make_config_map(&fixture, name, "");
    }
    capture.backlog = 1 << 20;
    check_int("begin", api_send(&fixture, &capture, "GET", CMS), 200);
    before = capture.body.len;
    check("not all", !capture.ended && before < 200000);
    capture.backlog = 0;
    api_drained(capture.stream);
    loop_settle(fixture.loop);
    check("all", capture.ended);
    check_at(&capture, "items.599.metadata.name", "c599");
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 61 62 63 76 77 */
static void tables_have_the_columns_of_their_kind(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    api_make_template(&fixture);
    check_int("create", api_send(&fixture, &capture, "POST", FLOWS, .body = API_FLOW("f", "")),
              201);
    check_int("status",
              api_send(&fixture, &capture, "PATCH", FLOWS "/f/status",
                       .body = "{\"status\":{\"state\":{\"phase\":\"Running\"}}}",
                       .content_type = "application/merge-patch+json"),
              200);
    loop_advance(fixture.loop, 65000);
    check_int("table", api_send(&fixture, &capture, "GET", FLOWS, .accept = TABLE), 200);
    check_at(&capture, "kind", "Table");
    check_at(&capture, "columnDefinitions.0.name", "Name");
    check_at(&capture, "columnDefinitions.0.format", "name");
    check_at(&capture, "columnDefinitions.1.name", "Status");
    check_at(&capture, "rows.0.cells", "[\"f\",\"Running\",\"65s\",0,0,\"\"]");
    check_at(&capture, "columnDefinitions.3.name", "Completed");
    check_at(&capture, "columnDefinitions.3.priority", "1");
    check_at(&capture, "rows.0.object.kind", "PartialObjectMetadata");
    check_at(&capture, "rows.0.object.metadata.namespace", "default");
    check_int("bare",
              api_send(&fixture, &capture, "GET", FLOWS "?includeObject=None", .accept = TABLE),
              200);
    check_at(&capture, "rows.0.object", NULL);
    check_int("full",
              api_send(&fixture, &capture, "GET", FLOWS "/f?includeObject=Object", .accept = TABLE),
              200);
    check_at(&capture, "rows.0.object.spec.flows.0.name", "a");
    check_int("partial",
              api_send(&fixture, &capture, "GET", FLOWS,
                       .accept = "application/json;as=PartialObjectMetadataList;"
                                 "g=meta.k8s.io;v=v1"),
              200);
    check_at(&capture, "kind", "PartialObjectMetadataList");
    check_at(&capture, "items.0.metadata.name", "f");
    check_at(&capture, "items.0.spec", NULL);
    check_int("job",
              api_send(&fixture, &capture, "GET",
                       "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs", .accept = TABLE),
              200);
    check_at(&capture, "columnDefinitions.5.name", "QUEUE");
    check_at(&capture, "columnDefinitions.5.priority", "1");
    check_int("queues",
              api_send(&fixture, &capture, "GET", "/apis/scheduling.volcano.sh/v1beta1/queues",
                       .accept = TABLE),
              200);
    check_at(&capture, "rows.0.cells", "[\"default\",\"root\"]");
    api_fixture_stop(&fixture);
}

struct pod_case {
    const char *name, *status, *cell; /* the pod's status, and the cell STATUS of the table */
};

/* clang-format off */
static const struct pod_case pods[] = {
    {"pending",   "{\"phase\":\"Pending\"}", "Pending"},
    {"evicted",   "{\"phase\":\"Failed\",\"reason\":\"Evicted\"}", "Evicted"},
    {"running",   "{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\",\"ready\":true,\"state\":{\"running\":{}}}]}", "Running"},
    {"crashing",  "{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}}}]}", "CrashLoopBackOff"},
    {"done",      "{\"phase\":\"Succeeded\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\"}}}]}", "Completed"},
    {"exit code", "{\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":3}}}]}", "ExitCode:3"},
    {"signal",    "{\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":137,\"signal\":9}}}]}", "Signal:9"},
    {"init",      "{\"phase\":\"Pending\",\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{\"running\":{}}}],\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":\"PodInitializing\"}}}]}", "Init:0/1"},
    {"init fails", "{\"phase\":\"Pending\",\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{\"terminated\":{\"exitCode\":1,\"reason\":\"Error\"}}}]}", "Init:Error"},
};
/* clang-format on */

/* covers: kube-api.md 63 */
static void the_status_of_a_pod_is_one_word(void **state)
{
    for (size_t i = 0; i < countof(pods); i++) {
        scoped(capture) struct api_capture capture = {0};
        scoped_str patch = mem_printf("{\"status\":%s}", pods[i].status);
        struct api_fixture fixture;

        api_fixture_start(&fixture, NULL);
        check_int("create", api_send(&fixture, &capture, "POST", PODS, .body = api_pod_body), 201);
        check_int(pods[i].name,
                  api_send(&fixture, &capture, "PATCH", PODS "/p/status", .body = patch,
                           .content_type = "application/merge-patch+json"),
                  200);
        check_int("get", api_send(&fixture, &capture, "GET", PODS "/p", .accept = TABLE), 200);
        check_at(&capture, "rows.0.cells.2", pods[i].cell);
        api_fixture_stop(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_come_in_pages),
        cmocka_unit_test(a_list_waits_for_a_slow_client),
        cmocka_unit_test(tables_have_the_columns_of_their_kind),
        cmocka_unit_test(the_status_of_a_pod_is_one_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
