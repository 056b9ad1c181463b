/* The API in process: lists in pages, and the tables they may be asked for as. */
#include "tests/unit.h"

#include "tests/support/api_objects.h"

#define FLOWS "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
#define CMS   "/api/v1/namespaces/default/configmaps"
#define PODS  "/api/v1/namespaces/default/pods"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
/* covers: kube-api.md 71 72 78 79 */
static void lists_come_in_pages(void **state)
{
    scoped(tap) struct api_tap tap = {0};
    scoped_str revision = NULL;
    const char *const names[] = {"a", "b", "c"};
    struct api_rig rig;
    char *next = NULL;

    api_rig_start(&rig, &(const struct api_rig_options){.watch_window = 10});
    for (size_t i = 0; i < countof(names); i++)
        api_make_config_map(&rig, names[i], "");
    for (size_t i = 0; i < countof(names); i++) {
        scoped_str target =
            mem_printf(CMS "?limit=1%s%s", next ? "&continue=" : "", next ? next : "");

        check_int("page", api_request(&rig, &tap, "GET", target), 200);
        check_at(&tap, "items.0.metadata.name", names[i]);
        check_at(&tap, "items.1", NULL);
        check_at(&tap, "items.0.kind", NULL);
        check_at(&tap, "metadata.remainingItemCount", i == 0 ? "2" : i == 1 ? "1" : NULL);
        if (!revision)
            revision = api_tap_at(&tap, "metadata.resourceVersion");
        check_at(&tap, "metadata.resourceVersion", revision); /* that of the first page */
        mem_free(next);
        next = api_tap_at(&tap, "metadata.continue");
    }
    check_str("the end", next, NULL);
    check_int("first", api_request(&rig, &tap, "GET", CMS "?limit=1"), 200);
    next = api_tap_at(&tap, "metadata.continue");
    for (int i = 0; i < 20; i++) { /* the window moves on */
        scoped_str name = mem_printf("d%d", i);

        api_make_config_map(&rig, name, "");
    }

    scoped_str late = mem_printf(CMS "?limit=1&continue=%s", next);

    check_int("late", api_request(&rig, &tap, "GET", late), 410);
    check_at(&tap, "reason", "Expired");
    mem_free(next);
    next = api_tap_at(&tap, "metadata.continue");

    scoped_str anyway = mem_printf(CMS "?limit=1&continue=%s", next);

    check_int("anyway", api_request(&rig, &tap, "GET", anyway), 200);
    check_at(&tap, "items.0.metadata.name", "b");
    mem_free(next);
    api_rig_stop(&rig);
}

static void a_list_waits_for_a_slow_reader(void **state)
{
    scoped(tap) struct api_tap tap = {0};
    struct api_rig rig;
    size_t before;

    api_rig_start(&rig, NULL);
    for (int i = 0; i < 600; i++) {
        scoped_str name = mem_printf("c%03d", i);

        api_make_config_map(&rig, name, "");
    }
    tap.backlog = 1 << 20;
    check_int("begin", api_request(&rig, &tap, "GET", CMS), 200);
    before = tap.body.len;
    check("not all", !tap.ended && before < 200000);
    tap.backlog = 0;
    api_drained(tap.stream);
    loop_settle(rig.loop);
    check("all", tap.ended);
    check_at(&tap, "items.599.metadata.name", "c599");
    api_rig_stop(&rig);
}

/* covers: kube-api.md 61 62 63 76 77 */
static void tables_have_the_columns_of_their_kind(void **state)
{
    scoped(tap) struct api_tap tap = {0};
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    api_make_template(&rig);
    check_int("create", api_request(&rig, &tap, "POST", FLOWS, .body = API_FLOW("f", "")), 201);
    check_int("status",
              api_request(&rig, &tap, "PATCH", FLOWS "/f/status",
                          .body = "{\"status\":{\"state\":{\"phase\":\"Running\"}}}",
                          .content_type = "application/merge-patch+json"),
              200);
    loop_advance(rig.loop, 65000);
    check_int("table", api_request(&rig, &tap, "GET", FLOWS, .accept = TABLE), 200);
    check_at(&tap, "kind", "Table");
    check_at(&tap, "columnDefinitions.0.name", "Name");
    check_at(&tap, "columnDefinitions.0.format", "name");
    check_at(&tap, "columnDefinitions.1.name", "Status");
    check_at(&tap, "rows.0.cells", "[\"f\",\"Running\",\"65s\",0,0,\"\"]");
    check_at(&tap, "columnDefinitions.3.name", "Completed");
    check_at(&tap, "columnDefinitions.3.priority", "1");
    check_at(&tap, "rows.0.object.kind", "PartialObjectMetadata");
    check_at(&tap, "rows.0.object.metadata.namespace", "default");
    check_int("bare", api_request(&rig, &tap, "GET", FLOWS "?includeObject=None", .accept = TABLE),
              200);
    check_at(&tap, "rows.0.object", NULL);
    check_int("full",
              api_request(&rig, &tap, "GET", FLOWS "/f?includeObject=Object", .accept = TABLE),
              200);
    check_at(&tap, "rows.0.object.spec.flows.0.name", "a");
    check_int("partial",
              api_request(&rig, &tap, "GET", FLOWS,
                          .accept = "application/json;as=PartialObjectMetadataList;"
                                    "g=meta.k8s.io;v=v1"),
              200);
    check_at(&tap, "kind", "PartialObjectMetadataList");
    check_at(&tap, "items.0.metadata.name", "f");
    check_at(&tap, "items.0.spec", NULL);
    check_int("job",
              api_request(&rig, &tap, "GET",
                          "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs",
                          .accept = TABLE),
              200);
    check_at(&tap, "columnDefinitions.5.name", "QUEUE");
    check_at(&tap, "columnDefinitions.5.priority", "1");
    check_int("queues",
              api_request(&rig, &tap, "GET", "/apis/scheduling.volcano.sh/v1beta1/queues",
                          .accept = TABLE),
              200);
    check_at(&tap, "rows.0.cells", "[\"default\",\"root\"]");
    api_rig_stop(&rig);
}

struct pod_case {
    const char *name, *status, *cell; /* STATUS */
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
        scoped(tap) struct api_tap tap = {0};
        scoped_str patch = mem_printf("{\"status\":%s}", pods[i].status);
        struct api_rig rig;

        api_rig_start(&rig, NULL);
        check_int("create", api_request(&rig, &tap, "POST", PODS, .body = api_pod_body), 201);
        check_int(pods[i].name,
                  api_request(&rig, &tap, "PATCH", PODS "/p/status", .body = patch,
                              .content_type = "application/merge-patch+json"),
                  200);
        check_int("get", api_request(&rig, &tap, "GET", PODS "/p", .accept = TABLE), 200);
        check_at(&tap, "rows.0.cells.2", pods[i].cell);
        api_rig_stop(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_come_in_pages),
        cmocka_unit_test(a_list_waits_for_a_slow_reader),
        cmocka_unit_test(tables_have_the_columns_of_their_kind),
        cmocka_unit_test(the_status_of_a_pod_is_one_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
