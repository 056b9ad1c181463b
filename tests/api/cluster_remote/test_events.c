/*
 * Tests Kubernetes Events on a remote cluster, which does not show them. covers: cluster.md CLU-084
 * CLU-085
 */
#include "tests/unit.h"

#include "tests/support/api_objects.h"
#include "tests/support/remote_fixture.h"

#define EVENTS "/api/v1/namespaces/default/events"

/* Returns the object that events are about; borrowed. */
static const struct object *subject(struct remote_fixture *fixture)
{
    const struct object *object;

    api_make_config_map(&fixture->api, "a", "");
    loop_settle(fixture->api.loop);
    object = cluster_get(fixture->cluster, &kind_config_map, "default", "a");
    check("subject", object != NULL);
    return object;
}

static void tell(struct remote_fixture *fixture, const struct object *about, const char *message)
{
    cluster_event(fixture->cluster, about, EVENT_NORMAL, "Tested", "test", "%s", message);
}

/* Checks the number of Events on the server, and the count of the first. */
static void check_events(const char *name, struct remote_fixture *fixture, size_t events,
                         const char *count)
{
    scoped(capture) struct api_capture capture = {0};
    scoped(json) json_t *list = NULL;

    api_send(&fixture->api, &capture, "GET", EVENTS);
    list = api_capture_json(&capture);
    check_int(name, (int)json_array_size(json_object_get(list, "items")), (int)events);
    if (count)
        check_at(&capture, "items.0.count", count);
}

static void equal_events_are_one_with_a_count(void **state)
{
    struct remote_fixture fixture;
    const struct object *about;

    remote_fixture_start(&fixture);
    about = subject(&fixture);
    for (int i = 0; i < 300; i++)
        tell(&fixture, about, "again");
    loop_advance(fixture.api.loop, 60000);
    check_events("equal", &fixture, 1, "300");
    check_int("none was read", (int)api_transport_count(fixture.transport, "GET", "/events"), 0);
    remote_fixture_stop(&fixture);
}

static void many_different_events_are_combined(void **state)
{
    struct remote_fixture fixture;
    const struct object *about;

    remote_fixture_start(&fixture);
    about = subject(&fixture);
    for (int i = 0; i < 300; i++) {
        scoped_str message = mem_printf("number %d", i);

        tell(&fixture, about, message);
    }
    loop_advance(fixture.api.loop, 10000);
    check_events("a burst, and one for the rest", &fixture, 26, NULL);
    remote_fixture_stop(&fixture);
}

static void an_event_that_was_removed_is_made_anew(void **state)
{
    struct remote_fixture fixture;
    const struct object *about;

    remote_fixture_start(&fixture);
    about = subject(&fixture);
    tell(&fixture, about, "again");
    loop_advance(fixture.api.loop, 2000);
    {
        scoped(capture) struct api_capture capture = {0};

        api_send(&fixture.api, &capture, "DELETE", EVENTS);
    }
    check_events("removed", &fixture, 0, NULL);
    tell(&fixture, about, "again");
    loop_advance(fixture.api.loop, 5000);
    check_events("made anew", &fixture, 1, "2");
    remote_fixture_stop(&fixture);
}

/* The name of an Event is a hash of its content, so the next process meets that of the last. */
static void the_count_of_an_earlier_process_goes_on(void **state)
{
    struct remote_fixture fixture;
    const struct object *about;

    remote_fixture_start(&fixture);
    about = subject(&fixture);
    for (int i = 0; i < 5; i++)
        tell(&fixture, about, "again");
    loop_advance(fixture.api.loop, 5000);
    cluster_events_release(fixture.cluster);
    tell(&fixture, about, "again");
    loop_advance(fixture.api.loop, 5000);
    check_events("goes on", &fixture, 1, "6");
    remote_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_events_are_one_with_a_count),
        cmocka_unit_test(many_different_events_are_combined),
        cmocka_unit_test(an_event_that_was_removed_is_made_anew),
        cmocka_unit_test(the_count_of_an_earlier_process_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
