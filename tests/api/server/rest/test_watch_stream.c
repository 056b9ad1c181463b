/* Tests watches against the API in this process: their events, their start and their end. */
#include "tests/unit.h"

#include "tests/support/api_objects.h"

#define CMS   "/api/v1/namespaces/default/configmaps"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

/* covers: kube-api.md 12 80 81 83 */
static void a_watch_sends_the_present_state_and_then_changes(void **state)
{
    scoped(capture) struct api_capture watch = {0}, picky = {0}, capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    api_make_config_map(&fixture, "a", "\"x\":\"1\"");
    check_int("watch", api_send(&fixture, &watch, "GET", CMS "?watch=True"), 200);
    check_int("picky", api_send(&fixture, &picky, "GET", CMS "?watch=1&labelSelector=x%3D1"), 200);
    check_event(&watch, 0, "metadata.name", "ADDED a");
    check_event(&watch, 0, "kind", "ADDED ConfigMap");
    check_int("change",
              api_send(&fixture, &capture, "PATCH", CMS "/a",
                       .body = "{\"metadata\":{\"labels\":{\"x\":\"2\"}}}",
                       .content_type = "application/merge-patch+json"),
              200);
    check_event(&watch, 1, "metadata.labels.x", "MODIFIED 2");
    /* The event DELETED has the old content. */
    check_event(&picky, 1, "metadata.labels.x", "DELETED 1");

    scoped_str revision = api_capture_at(&capture, "metadata.resourceVersion");
    scoped_str deleted = mem_printf("DELETED %s", revision);

    check_event(&picky, 1, "metadata.resourceVersion",
                deleted); /* the event has the revision of the change */
    check_int("back",
              api_send(&fixture, &capture, "PATCH", CMS "/a",
                       .body = "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}",
                       .content_type = "application/merge-patch+json"),
              200);
    check_event(&picky, 2, "metadata.name", "ADDED a");
    check_int("delete", api_send(&fixture, &capture, "DELETE", CMS "/a"), 200);
    check_event(&watch, 3, "metadata.name", "DELETED a");
    check_event(&picky, 3, "metadata.name", "DELETED a");
    check_int("no more", api_capture_lines(&watch), 4);

    scoped_str from = mem_printf(CMS "?watch=1&resourceVersion=%s", revision);

    check_int("from", api_send(&fixture, &watch, "GET", from), 200);
    check_event(&watch, 0, "metadata.name", "MODIFIED a");
    check_event(&watch, 1, "metadata.name", "DELETED a");
    check_int("one object", api_send(&fixture, &watch, "GET", CMS "/b?watch=1"), 200);
    api_make_config_map(&fixture, "c", "");
    api_make_config_map(&fixture, "b", "");
    check_event(&watch, 0, "metadata.name", "ADDED b");
    check_int("only it", api_capture_lines(&watch), 1);
    check_int("no watch", api_send(&fixture, &capture, "GET", CMS "?watch=0"), 200);
    check("ended", capture.ended);
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 82 92 */
static void a_watch_from_before_the_window_gets_410(void **state)
{
    scoped(capture) struct api_capture watch = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, &(const struct api_fixture_options){.watch_window = 5});
    for (int i = 0; i < 20; i++) {
        scoped_str name = mem_printf("c%d", i);

        api_make_config_map(&fixture, name, "");
    }
    check_int("status", api_send(&fixture, &watch, "GET", CMS "?watch=1&resourceVersion=1"), 200);
    check("ended", watch.ended);
    check_event(&watch, 0, "code", "ERROR 410");
    check_event(&watch, 0, "reason", "ERROR Expired");
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 84 85 86 89 */
static void watches_have_bookmarks_tables_and_ends(void **state)
{
    scoped(capture) struct api_capture watch = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    api_make_config_map(&fixture, "a", "");
    check_int("list",
              api_send(&fixture, &watch, "GET",
                       CMS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                           "allowWatchBookmarks=true&timeoutSeconds=100"),
              200);
    check_event(&watch, 0, "metadata.name", "ADDED a");
    check_event(&watch, 1, "metadata.annotations",
                "BOOKMARK {\"k8s.io/initial-events-end\":"
                "\"true\"}");
    api_make_config_map(&fixture, "b", "");
    check_event(&watch, 2, "metadata.name", "ADDED b");
    loop_advance(fixture.loop, 61000);
    check_event(&watch, 3, "kind", "BOOKMARK ConfigMap");
    check_int("nothing new, no bookmark", api_capture_lines(&watch), 4);
    api_make_config_map(&fixture, "c", "");
    loop_advance(fixture.loop, 40000);
    check("ended in time", watch.ended);
    check_event(&watch, 5, "kind", "BOOKMARK ConfigMap");

    check_int("table", api_send(&fixture, &watch, "GET", CMS "?watch=1", .accept = TABLE), 200);
    check_event(&watch, 0, "columnDefinitions.0.name", "ADDED Name");
    check_event(&watch, 1, "columnDefinitions", "ADDED null");
    check_event(&watch, 1, "rows.0.cells.0", "ADDED b");
    loop_advance(fixture.loop, (int64_t)29 * 60 * 1000);
    check("half an hour at least", !watch.ended);
    loop_advance(fixture.loop, (int64_t)31 * 60 * 1000);
    check("an hour at most", watch.ended);
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 91; reliability.md L-27 */
static void a_watch_that_is_not_read_ends(void **state)
{
    scoped(capture) struct api_capture slow = {0}, good = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int("slow", api_send(&fixture, &slow, "GET", CMS "?watch=1"), 200);
    check_int("good", api_send(&fixture, &good, "GET", CMS "?watch=1"), 200);
    slow.backlog = 5 << 20;
    api_make_config_map(&fixture, "a", "");
    check("ended", slow.ended);
    check_event(&slow, 1, "code", "ERROR 410");
    api_make_config_map(&fixture, "b", "");
    check_event(&good, 1, "metadata.name", "ADDED b");
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_sends_the_present_state_and_then_changes),
        cmocka_unit_test(a_watch_from_before_the_window_gets_410),
        cmocka_unit_test(watches_have_bookmarks_tables_and_ends),
        cmocka_unit_test(a_watch_that_is_not_read_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
