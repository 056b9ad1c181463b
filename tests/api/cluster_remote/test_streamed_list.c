/*
 * Tests lists that come as the begin of a watch. covers: cluster.md CLU-042 CLU-043 CLU-044
 */
#include "tests/unit.h"

#include "api/cluster_remote/cluster_remote.h"
#include "base/log.h"
#include "tests/support/scripted_server.h"

static const struct cluster_remote_kind kinds[] = {
    {&kind_config_map, NULL, NULL}, {&kind_service, NULL, NULL}, {0}};

#define OBJECT(name, revision)                                                                     \
    "{\"metadata\":{\"namespace\":\"default\",\"name\":\"" name "\",\"uid\":\"u" name              \
    "\",\"resourceVersion\":\"" revision "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define END(revision)                                                                              \
    EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" revision                             \
                      "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}")

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct scripted_server *scripted;
    struct remote *remote;
    struct cluster *cluster;
    struct cluster_watcher watcher;
    int refusal; /* status of the answer to a streamed list; 0: it is taken */
    unsigned synced;
    char told[256]; /* "+a ~a -a " for each change */
};

/* Streams stay open only for ConfigMaps; other kinds are empty. */
static void serve(void *ctx, struct scripted_exchange *ask)
{
    const struct fixture *fixture = ctx;
    bool is_stream = strstr(ask->target, "sendInitialEvents=true") != NULL;
    bool is_watch = strstr(ask->target, "watch=true") != NULL;

    ask->status = is_stream && fixture->refusal ? fixture->refusal : 200;
    if (ask->status != 200) {
        buf_printf(&ask->text, "{\"kind\":\"Status\",\"message\":\"no\",\"code\":%d}", ask->status);
    } else if (!is_watch) {
        buf_str(&ask->text, "{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[]}");
    } else if (strstr(ask->target, "configmaps")) {
        ask->stays_open = true;
    } else if (is_stream) {
        buf_str(&ask->text, END("5"));
    } else {
        ask->silent = true;
    }
}

static void on_synced(void *ctx)
{
    ((struct fixture *)ctx)->synced++;
}

static void on_unsupported(void *ctx, const struct error *err)
{
    fail_msg("%s", err->message);
}

static void on_changed(struct cluster_watcher *watcher, enum cluster_change change,
                       const struct object *old, const struct object *object)
{
    struct fixture *fixture = container_of(watcher, struct fixture, watcher);
    size_t len = strlen(fixture->told);

    snprintf(fixture->told + len, sizeof fixture->told - len, "%c%s ",
             change == CHANGE_ADDED     ? '+'
             : change == CHANGE_DELETED ? '-'
                                        : '~',
             object_name(object));
}

static void start(struct fixture *fixture, int refusal)
{
    struct cluster_remote_options options = {.max_in_flight = 4,
                                             .streamed_lists = true,
                                             .kinds = kinds,
                                             .synced = on_synced,
                                             .unsupported = on_unsupported,
                                             .ctx = fixture};

    *fixture = (struct fixture){.clock = clock_virtual_new(1767225600000, 7),
                                .watcher = {on_changed, &kind_config_map},
                                .refusal = refusal};
    fixture->loop = loop_new(fixture->clock);
    fixture->scripted = scripted_new(fixture->loop, serve, fixture);
    fixture->remote = remote_new(fixture->loop, scripted_transport(fixture->scripted), NULL);
    options.streams = options.calls = fixture->remote;
    fixture->cluster = cluster_remote_new(fixture->loop, &options);
    cluster_watch(fixture->cluster, &fixture->watcher);
    cluster_remote_start(fixture->cluster);
    loop_settle(fixture->loop);
}

static void stop(struct fixture *fixture)
{
    cluster_unwatch(fixture->cluster, &fixture->watcher);
    cluster_remote_free(fixture->cluster);
    remote_free(fixture->remote);
    scripted_free(fixture->scripted);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
}

static size_t count(const struct fixture *fixture, const char *word)
{
    const char *at = scripted_requests(fixture->scripted);
    size_t n = 0;

    for (; (at = strstr(at, word)); at++)
        n++;
    return n;
}

static void a_list_ends_with_its_bookmark_and_the_watch_goes_on(void **state)
{
    struct fixture fixture;

    start(&fixture, 0);
    scripted_send(fixture.scripted,
                  EVENT("ADDED", OBJECT("a", "3")) EVENT("ADDED", OBJECT("b", "4"))
                      EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"4\"}}"));
    check_int("not before its end", (int)fixture.synced, 0);
    scripted_send(fixture.scripted, END("5"));
    check_int("synced", (int)fixture.synced, 1);
    scripted_send(fixture.scripted,
                  EVENT("MODIFIED", OBJECT("a", "6")) EVENT("DELETED", OBJECT("b", "7")));
    check_str("changes", fixture.told, "+a +b ~a -b ");
    check_int("one request", (int)count(&fixture, "configmaps"), 1);
    scripted_end(fixture.scripted, SCRIPTED_COMPLETE);
    loop_settle(fixture.loop);
    check_has("it resumes", scripted_requests(fixture.scripted), "resourceVersion=7");
    stop(&fixture);
}

static void a_later_list_tells_what_has_vanished(void **state)
{
    struct fixture fixture;

    log_to(2, LOG_ERROR, LOG_TEXT);
    start(&fixture, 0);
    scripted_send(fixture.scripted,
                  EVENT("ADDED", OBJECT("a", "3")) EVENT("ADDED", OBJECT("b", "4")) END("5"));
    scripted_send(fixture.scripted,
                  EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"gone\"}"));
    loop_settle(fixture.loop);
    check_int(
        "streamed again",
        (int)count(&fixture, "configmaps?watch=true&allowWatchBookmarks=true&sendInitialEvents"),
        2);
    scripted_send(fixture.scripted, EVENT("ADDED", OBJECT("a", "3")));
    check_str("nothing yet", fixture.told, "+a +b ");
    scripted_send(fixture.scripted, END("8"));
    check_str("b has vanished", fixture.told, "+a +b -b ");
    stop(&fixture);
}

static void a_list_that_breaks_is_begun_again(void **state)
{
    struct fixture fixture;

    log_to(2, LOG_ERROR, LOG_TEXT);
    start(&fixture, 0);
    scripted_send(fixture.scripted, EVENT("ADDED", OBJECT("a", "3")) END("5"));
    scripted_send(fixture.scripted,
                  EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"gone\"}"));
    loop_settle(fixture.loop);
    scripted_end(fixture.scripted, SCRIPTED_BROKEN);
    loop_settle(fixture.loop);
    check_str("nothing is told deleted", fixture.told, "+a ");
    check_int("it waits", (int)count(&fixture, "configmaps"), 2);
    loop_advance(fixture.loop, 5000);
    check_int("again", (int)count(&fixture, "configmaps"), 3);
    scripted_send(fixture.scripted, EVENT("ADDED", OBJECT("a", "3")) END("9"));
    check_str("still there", fixture.told, "+a ");
    stop(&fixture);
}

static void a_server_that_refuses_is_asked_for_pages(void **state)
{
    static const int refusals[] = {422, 400};

    log_to(2, LOG_ERROR, LOG_TEXT);
    for (size_t i = 0; i < countof(refusals); i++) {
        struct fixture fixture;

        start(&fixture, refusals[i]);
        check_int("synced", (int)fixture.synced, 1);
        check_int("pages", (int)count(&fixture, "?limit=500"), 2);
        check("at most one request for each kind", count(&fixture, "sendInitialEvents") <= 2);
        scripted_send(fixture.scripted,
                      EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"gone\"}"));
        loop_settle(fixture.loop);
        check("it is not tried again", count(&fixture, "sendInitialEvents") <= 2);
        check_int("pages again", (int)count(&fixture, "?limit=500"), 3);
        stop(&fixture);
    }
}

static void a_server_that_cannot_tell_how_far_it_is_is_asked_for_pages(void **state)
{
    struct fixture fixture;

    log_to(2, LOG_ERROR, LOG_TEXT);
    start(&fixture, 0);
    scripted_send(fixture.scripted, EVENT("ERROR", "{\"kind\":\"Status\",\"code\":500,"
                                                   "\"message\":\"RequestWatchProgress is "
                                                   "disabled\"}"));
    loop_settle(fixture.loop);
    check_int("pages", (int)count(&fixture, "?limit=500"), 1);
    check_int("synced", (int)fixture.synced, 1);
    stop(&fixture);
}

static void a_server_that_does_not_know_streams_is_asked_for_pages(void **state)
{
    struct fixture fixture;

    start(&fixture, 0);
    scripted_send(fixture.scripted, EVENT("ADDED", OBJECT("a", "3")));
    loop_advance(fixture.loop, 29000);
    check_int("it waits", (int)count(&fixture, "?limit=500"), 0);
    loop_advance(fixture.loop, 2000);
    check_int("pages", (int)count(&fixture, "?limit=500"), 1);
    check_int("synced", (int)fixture.synced, 1);
    stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_ends_with_its_bookmark_and_the_watch_goes_on),
        cmocka_unit_test(a_later_list_tells_what_has_vanished),
        cmocka_unit_test(a_list_that_breaks_is_begun_again),
        cmocka_unit_test(a_server_that_refuses_is_asked_for_pages),
        cmocka_unit_test(a_server_that_cannot_tell_how_far_it_is_is_asked_for_pages),
        cmocka_unit_test(a_server_that_does_not_know_streams_is_asked_for_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
