#include "tests/unit.h"

#include "tests/support/api_objects.h"

/* Tests that core Events are also served under events.k8s.io. */

#define V1   "/apis/events.k8s.io/v1/namespaces/default/events"
#define CORE "/api/v1/namespaces/default/events"

static const char event[] =
    "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"e\"},"
    "\"regarding\":{\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":\"p\",\"uid\":\"u1\"},"
    "\"note\":\"said\",\"reason\":\"Because\",\"type\":\"Normal\",\"reportingController\":\"me\","
    "\"eventTime\":\"2026-01-01T00:00:00.000000Z\"}";

/* covers: kube-api.md 128 */
static void events_are_stored_once_and_served_twice(void **state)
{
    scoped(capture) struct api_capture capture = {0}, watch = {0};
    scoped_str first = NULL;
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    api_send(&fixture, &watch, "GET", V1 "?watch=1");
    check_int("made", api_send(&fixture, &capture, "POST", V1, .body = event), 201);
    check_at(&capture, "apiVersion", "events.k8s.io/v1");
    check_at(&capture, "note", "said");
    check_at(&capture, "message", NULL);
    check_int("core", api_send(&fixture, &capture, "GET", CORE "/e"), 200);
    check_at(&capture, "apiVersion", "v1");
    check_at(&capture, "message", "said");
    check_at(&capture, "involvedObject.name", "p");
    check_at(&capture, "reportingComponent", "me");
    check_at(&capture, "regarding", NULL);
    check_int("list",
              api_send(&fixture, &capture, "GET",
                       V1 "?fieldSelector=regarding.name%3Dp,reportingController%3Dme"),
              200);
    check_at(&capture, "apiVersion", "events.k8s.io/v1");
    check_at(&capture, "items.0.regarding.uid", "u1");
    check_int("none", api_send(&fixture, &capture, "GET", V1 "?fieldSelector=regarding.name%3Dq"),
              200);
    check_at(&capture, "items", "[]");
    check_int("merge",
              api_send(&fixture, &capture, "PATCH", V1 "/e", .body = "{\"note\":\"more\"}",
                       .content_type = "application/merge-patch+json"),
              200);
    check_at(&capture, "note", "more");
    check_int(
        "operations",
        api_send(&fixture, &capture, "PATCH", V1 "/e",
                 .body = "[{\"op\":\"replace\",\"path\":\"/regarding/name\",\"value\":\"q\"}]",
                 .content_type = "application/json-patch+json"),
        200);
    check_at(&capture, "regarding.name", "q");
    first = api_capture_event(&watch, 0, "note");
    check_str("watched", first, "ADDED said");
    api_fixture_stop(&fixture);
}

/* Typed clients of events.k8s.io cannot read an event without eventTime. */
static void event_time_defaults_to_the_first_timestamp(void **state)
{
    static const struct {
        const char *name, *body, *time;
    } cases[] = {
        {"first seen",
         "{\"metadata\":{\"name\":\"a\"},\"involvedObject\":{\"namespace\":\"default\"},"
         "\"firstTimestamp\":\"2026-01-02T03:04:05Z\",\"lastTimestamp\":\"2026-01-03T03:04:05Z\"}",
         "2026-01-02T03:04:05.000000Z"},
        {"last seen",
         "{\"metadata\":{\"name\":\"b\"},\"involvedObject\":{\"namespace\":\"default\"},"
         "\"lastTimestamp\":\"2026-01-03T03:04:05Z\"}",
         "2026-01-03T03:04:05.000000Z"},
        {"made", "{\"metadata\":{\"name\":\"c\"},\"involvedObject\":{\"namespace\":\"default\"}}",
         "2026-01-01T00:00:00.000000Z"},
    };
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str target = mem_printf(V1 "/%c", 'a' + (int)i);

        check_int(cases[i].name, api_send(&fixture, &capture, "POST", CORE, .body = cases[i].body),
                  201);
        check_int(cases[i].name, api_send(&fixture, &capture, "GET", target), 200);
        check_at(&capture, "eventTime", cases[i].time);
    }
    check_int("as it is", api_send(&fixture, &capture, "GET", CORE "/a"), 200);
    check_at(&capture, "eventTime", NULL);
    api_fixture_stop(&fixture);
}

static void an_event_is_in_the_namespace_of_its_object(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int(
        "elsewhere",
        api_send(
            &fixture, &capture, "POST", CORE,
            .body = "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"namespace\":\"other\"}}"),
        422);
    check_has(
        "elsewhere", capture.body.data,
        "involvedObject.namespace: Invalid value: \\\"other\\\": does not match event.namespace");
    check_int(
        "of the cluster",
        api_send(&fixture, &capture, "POST", CORE,
                 .body = "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"kind\":\"Node\"}}"),
        201);
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_stored_once_and_served_twice),
        cmocka_unit_test(event_time_defaults_to_the_first_timestamp),
        cmocka_unit_test(an_event_is_in_the_namespace_of_its_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
