/*
 * Tests following a collection: lists, watches, and changes missed between them. covers:
 * kube-api.md 135
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/client/mirror.h"
#include "tests/support/scripted_server.h"

/* The server: its objects, its answers to watches, and the requests it got. */
struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct scripted_server *scripted;
    struct remote *remote;
    struct mirror mirror;
    const char *items[4]; /* the objects that the server lists, as "name uid revision" */
    int revision;         /* revision of the next list */
    int list_status;      /* status of the answers to lists, at first 200 */
    int watch_status;     /* status of the answers to watches; 200: the watch stays open */
    int pages; /* number of pages: each has one item, and the second answers `page_status` once */
    int page_status;
    struct buf told;
    int synced, failed;
};

static void write_object(const char *item, struct buf *out)
{
    char name[32], uid[32], revision[32];

    check_int(item, sscanf(item, "%31s %31s %31s", name, uid, revision), 3);
    buf_printf(out,
               "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"%s\","
               "\"resourceVersion\":\"%s\"},\"data\":{}}",
               name, uid, revision);
}

static void write_page(struct fixture *fixture, size_t from, size_t n, const char *next,
                       struct buf *out)
{
    buf_printf(out,
               "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"%d\",\"continue\":"
               "\"%s\"},\"items\":[",
               fixture->revision, next);
    for (size_t i = from; i < from + n && i < countof(fixture->items) && fixture->items[i]; i++) {
        if (i > from)
            buf_char(out, ',');
        write_object(fixture->items[i], out);
    }
    buf_str(out, "]}");
}

static void serve_list(struct fixture *fixture, struct scripted_exchange *ask)
{
    bool goes_on = strstr(ask->target, "continue=next") != NULL;

    ask->status = goes_on && fixture->page_status ? fixture->page_status : fixture->list_status;
    if (ask->status != 200) {
        fixture->page_status = 0;
        buf_printf(&ask->text, "{\"kind\":\"Status\",\"code\":%d,\"message\":\"no\"}", ask->status);
    } else if (fixture->pages > 1 && strstr(ask->target, "limit=")) {
        write_page(fixture, goes_on, 1, goes_on ? "" : "next", &ask->text);
    } else {
        write_page(fixture, 0, countof(fixture->items), "", &ask->text);
    }
}

static void serve(void *ctx, struct scripted_exchange *ask)
{
    struct fixture *fixture = ctx;

    if (!strstr(ask->target, "watch=true")) {
        serve_list(fixture, ask);
        return;
    }
    ask->status = fixture->watch_status;
    ask->stays_open = fixture->watch_status == 200;
    if (ask->status >= 300)
        buf_printf(&ask->text, "{\"kind\":\"Status\",\"message\":\"no\"}");
}

static void on_changed(struct mirror *mirror, enum mirror_change change, const struct object *old,
                       const struct object *object)
{
    static const char signs[] = {'+', '~', '-'};
    struct fixture *fixture = container_of(mirror, struct fixture, mirror);

    check("old", (old == NULL) == (change == MIRROR_ADDED));
    buf_printf(&fixture->told, "%c%s@%d ", signs[change], object_name(object),
               (int)object->revision);
}

static void on_synced(struct mirror *mirror)
{
    container_of(mirror, struct fixture, mirror)->synced++;
}

static void on_failed(struct mirror *mirror, const struct error *err)
{
    container_of(mirror, struct fixture, mirror)->failed++;
}

static struct fixture *fixture_new(void)
{
    struct fixture *fixture = mem_alloc(sizeof *fixture);

    fixture->clock = clock_virtual_new(1767225600000, 7);
    fixture->loop = loop_new(fixture->clock);
    fixture->scripted = scripted_new(fixture->loop, serve, fixture);
    fixture->remote = remote_new(fixture->loop, scripted_transport(fixture->scripted), NULL);
    fixture->revision = 10;
    fixture->list_status = fixture->watch_status = 200;
    fixture->items[0] = "a ua 3";
    fixture->items[1] = "b ub 5";
    fixture->mirror = (struct mirror){
        .kind = &kind_config_map, .changed = on_changed, .synced = on_synced, .failed = on_failed};
    buf_str(&fixture->told, "");
    return fixture;
}

static struct fixture *fixture_following(void)
{
    struct fixture *fixture = fixture_new();

    mirror_start(&fixture->mirror, fixture->remote);
    loop_settle(fixture->loop);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    mirror_stop(&fixture->mirror);
    remote_free(fixture->remote);
    scripted_free(fixture->scripted);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    buf_release(&fixture->told);
    mem_free(fixture);
}

/* Checks which callbacks were made since the last check. */
static void check_told(const char *name, struct fixture *fixture, const char *want)
{
    check_str(name, fixture->told.data, want);
    buf_clear(&fixture->told);
}

static void say(struct fixture *fixture, const char *type, const char *item)
{
    scoped(buf) struct buf text = {0};

    buf_printf(&text, "{\"type\":\"%s\",\"object\":", type);
    write_object(item, &text);
    buf_str(&text, "}\n");
    scripted_send(fixture->scripted, text.data);
}

static const char *last_request(const struct fixture *fixture)
{
    const char *log = scripted_requests(fixture->scripted), *last = log;

    for (const char *at = log; *at; at++)
        if (*at == '\n' && at[1])
            last = at + 1;
    return strchr(last, ' ') + 1;
}

static size_t requests(const struct fixture *fixture)
{
    size_t n = 0;

    for (const char *at = scripted_requests(fixture->scripted); *at; at++)
        n += *at == '\n';
    return n;
}

#define GONE                                                                                       \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\","     \
    "\"message\":\"too old resource version: 10 (90)\"}}\n"
#define BROKEN_INSIDE                                                                              \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500,\"message\":\"etcd\"}}\n"

static void a_list_and_then_what_changes(void **state)
{
    struct fixture *fixture = fixture_following();

    check_told("the list", fixture, "+a@3 +b@5 ");
    check_int("synced", fixture->synced, 1);
    check("synced", mirror_is_synced(&fixture->mirror));
    check_has("from there on", last_request(fixture),
              "GET /api/v1/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=10&"
              "timeoutSeconds=");
    say(fixture, "ADDED", "c uc 11");
    say(fixture, "MODIFIED", "a ua 12");
    say(fixture, "MODIFIED", "a ua 12");
    say(fixture, "DELETED", "b ub 13");
    check_told("changes, and no version twice", fixture, "+c@11 ~a@12 -b@13 ");
    fixture_free(fixture);
}

/* covers: cluster.md CLU-046; see also a_watch_that_ends_at_once_is_no_watch */
static void a_watch_goes_on_where_the_last_one_ended(void **state)
{
    struct fixture *fixture = fixture_following();

    say(fixture, "MODIFIED", "a ua 12");
    say(fixture, "BOOKMARK", "x ux 40");
    check_told("a bookmark is no change", fixture, "+a@3 +b@5 ~a@12 ");
    scripted_end(fixture->scripted, SCRIPTED_COMPLETE);
    loop_settle(fixture->loop);
    check_has("at once", last_request(fixture),
              "watch=true&allowWatchBookmarks=true&resourceVersion=40&");
    scripted_end(fixture->scripted, SCRIPTED_BROKEN);
    check_int("told", fixture->failed, 1);
    check("not at once", !scripted_has_open(fixture->scripted));
    loop_advance(fixture->loop, 2000);
    check_has("but soon", last_request(fixture), "resourceVersion=40&");
    check("watching", scripted_has_open(fixture->scripted));
    check_told("nothing twice", fixture, "");
    fixture_free(fixture);
}

/* covers: cluster.md CLU-048; see also fuzz_watch.c */
static void events_may_be_cut_at_every_byte(void **state)
{
    static const char events[] =
        "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"namespace\":\"default\",\"name\":\"a\","
        "\"uid\":\"ua\",\"resourceVersion\":\"12\",\"annotations\":{\"k\":\"}\\\"{\"}}}}\n"
        "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"namespace\":\"default\",\"name\":\"b\","
        "\"uid\":\"ub\",\"resourceVersion\":\"13\"}}}\n";

    for (size_t at = 0; at < sizeof events; at++) {
        struct fixture *fixture = fixture_following();

        scripted_send_bytes(fixture->scripted, events, at);
        scripted_send_bytes(fixture->scripted, events + at, sizeof events - 1 - at);
        check_told("both", fixture, "+a@3 +b@5 ~a@12 -b@13 ");
        fixture_free(fixture);
    }
}

static void events_come_in_any_pieces(void **state)
{
    struct fixture *fixture = fixture_following();

    check_told("list", fixture, "+a@3 +b@5 ");
    scripted_send(fixture->scripted,
                  "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"namespace\":\"defa");
    check_told("half", fixture, "");
    scripted_send(
        fixture->scripted,
        "ult\",\"name\":\"a\",\"uid\":\"ua\",\"resourceVersion\":\"12\"}}}\n{\"type\":\"DELETED\","
        "\"object\":{\"metadata\":{\"namespace\":\"default\",\"name\":\"b\",\"uid\":\"ub\","
        "\"resourceVersion\":\"13\"}}}");
    check_told("both", fixture, "-a@12 -b@13 ");
    fixture_free(fixture);
}

static void what_vanished_is_told_when_the_server_has_forgotten(void **state)
{
    struct fixture *fixture = fixture_following();

    check_told("list", fixture, "+a@3 +b@5 ");
    fixture->items[0] = "b ub2 80"; /* object a is gone, b was created again, c is new */
    fixture->items[1] = "c uc 85";
    fixture->revision = 90;
    scripted_send(fixture->scripted, GONE);
    loop_settle(fixture->loop);
    check_told("in their last known state", fixture, "-b@5 +b@80 +c@85 -a@3 ");
    check_int("synced again", fixture->synced, 2);
    check_has("the newest list", scripted_requests(fixture->scripted),
              "GET /api/v1/configmaps?limit=500\n");
    check_has("goes on", last_request(fixture), "resourceVersion=90&");
    fixture_free(fixture);
}

static void an_http_410_says_the_same(void **state)
{
    struct fixture *fixture = fixture_new();

    fixture->watch_status = 410;
    mirror_start(&fixture->mirror, fixture->remote);
    loop_settle(fixture->loop);
    fixture->watch_status = 200;
    fixture->items[1] = NULL;
    fixture->revision = 20;
    loop_advance(fixture->loop, 5000);
    check_told("listed again", fixture, "+a@3 +b@5 -b@5 ");
    check("watching", scripted_has_open(fixture->scripted));
    fixture_free(fixture);
}

static void a_server_that_always_forgets_is_not_asked_without_end(void **state)
{
    struct fixture *fixture = fixture_new();

    fixture->watch_status = 410;
    mirror_start(&fixture->mirror, fixture->remote);
    loop_advance(fixture->loop, 10000);
    check("waits grow", requests(fixture) < 16);
    fixture_free(fixture);
}

static void long_lists_come_in_pages(void **state)
{
    struct fixture *fixture = fixture_new();

    fixture->pages = 2;
    mirror_start(&fixture->mirror, fixture->remote);
    loop_settle(fixture->loop);
    check_has("first", scripted_requests(fixture->scripted), "?limit=500&resourceVersion=0\n");
    check_has("second", scripted_requests(fixture->scripted), "?limit=500&continue=next\n");
    check_told("both", fixture, "+a@3 +b@5 ");
    check_int("complete once", fixture->synced, 1);
    fixture_free(fixture);
}

/* covers: cluster.md CLU-045 */
static void a_list_that_expires_between_pages_is_read_as_a_whole(void **state)
{
    struct fixture *fixture = fixture_new();

    fixture->pages = 2;
    fixture->page_status = 410;
    mirror_start(&fixture->mirror, fixture->remote);
    loop_settle(fixture->loop);
    check_has("without pages, the newest", scripted_requests(fixture->scripted),
              " GET /api/v1/configmaps\n");
    check_told("nothing twice", fixture, "+a@3 +b@5 ");
    check_int("complete once", fixture->synced, 1);
    fixture_free(fixture);
}

static void a_list_after_the_first_is_not_of_an_older_state(void **state)
{
    struct fixture *fixture = fixture_following();

    scripted_send(fixture->scripted, "nonsense"); /* after such text the watch is not reliable */
    loop_advance(fixture->loop, 2000);
    check_has("from what was seen", scripted_requests(fixture->scripted),
              "GET /api/v1/configmaps?resourceVersion=10\n");
    check("watching", scripted_has_open(fixture->scripted));
    check_told("the same", fixture, "+a@3 +b@5 ");
    fixture_free(fixture);
}

static void a_kind_not_installed_is_looked_for_at_times(void **state)
{
    struct fixture *fixture = fixture_new();

    fixture->list_status = 404;
    mirror_start(&fixture->mirror, fixture->remote);
    loop_advance(fixture->loop, 29000);
    check_int("once", requests(fixture), 1);
    check_int("told", fixture->failed, 1);
    fixture->list_status = 200;
    loop_advance(fixture->loop, 1001);
    check_told("there it is", fixture, "+a@3 +b@5 ");
    fixture_free(fixture);
}

static void what_may_not_be_listed_is_tried_again(void **state)
{
    struct fixture *fixture = fixture_new();

    fixture->list_status = 403;
    mirror_start(&fixture->mirror, fixture->remote);
    loop_advance(fixture->loop, 60000);
    check("less and less", requests(fixture) > 3 && requests(fixture) < 12);
    fixture->list_status = 200;
    loop_advance(fixture->loop, 30000);
    check_int("synced", fixture->synced, 1);
    fixture_free(fixture);
}

static void a_watch_that_ends_at_once_is_no_watch(void **state)
{
    struct fixture *fixture = fixture_following();

    for (int i = 0; i < 20; i++) {
        if (scripted_has_open(fixture->scripted))
            scripted_end(fixture->scripted, SCRIPTED_COMPLETE);
        loop_advance(fixture->loop, 500);
    }
    check("waits grow", requests(fixture) < 10);
    fixture_free(fixture);
}

static void an_internal_error_of_a_watch_is_no_reason_to_list(void **state)
{
    struct fixture *fixture = fixture_following();
    const char *list;

    scripted_send(fixture->scripted, BROKEN_INSIDE);
    loop_advance(fixture->loop, 2000);
    check_has("watches on", last_request(fixture), "watch=true");
    for (int i = 0; i < 40; i++) { /* retry until a watch is open again */
        if (scripted_has_open(fixture->scripted))
            scripted_send(fixture->scripted, BROKEN_INSIDE);
        loop_advance(fixture->loop, 5000);
    }
    list = strstr(scripted_requests(fixture->scripted), "configmaps?resourceVersion=10\n");
    check("lists in the end", list != NULL);
    fixture_free(fixture);
}

static void a_dead_peer_is_noticed(void **state)
{
    struct fixture *fixture = fixture_following();
    size_t before = requests(fixture);

    loop_advance(fixture->loop, 299000);
    check_int("it may say nothing", requests(fixture), before);
    loop_advance(fixture->loop, 360000); /* longer than the watch timeout plus its grace time */
    check("asked again", requests(fixture) > before);
    check_told("no list was needed", fixture, "+a@3 +b@5 ");
    fixture_free(fixture);
}

static void an_event_beyond_the_bound_ends_the_watch(void **state)
{
    struct fixture *fixture = fixture_new();
    scoped(buf) struct buf text = {0};

    fixture->mirror.event_bytes_max = 1000;
    mirror_start(&fixture->mirror, fixture->remote);
    loop_settle(fixture->loop);
    buf_str(&text, "{\"type\":\"ADDED\",\"object\":{\"x\":\"");
    for (int i = 0; i < 1000; i++)
        buf_char(&text, 'x');
    scripted_send(fixture->scripted, text.data);
    check_int("told", fixture->failed, 1);
    check("closed", !scripted_has_open(fixture->scripted));
    fixture_free(fixture);
}

static void what_is_stopped_says_nothing(void **state)
{
    struct fixture *fixture = fixture_following();

    check_told("list", fixture, "+a@3 +b@5 ");
    mirror_stop(&fixture->mirror);
    check("closed", !scripted_has_open(fixture->scripted));
    loop_advance(fixture->loop, 3600000);
    check_told("nothing", fixture, "");
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_and_then_what_changes),
        cmocka_unit_test(a_watch_goes_on_where_the_last_one_ended),
        cmocka_unit_test(events_may_be_cut_at_every_byte),
        cmocka_unit_test(events_come_in_any_pieces),
        cmocka_unit_test(what_vanished_is_told_when_the_server_has_forgotten),
        cmocka_unit_test(an_http_410_says_the_same),
        cmocka_unit_test(a_server_that_always_forgets_is_not_asked_without_end),
        cmocka_unit_test(long_lists_come_in_pages),
        cmocka_unit_test(a_list_that_expires_between_pages_is_read_as_a_whole),
        cmocka_unit_test(a_list_after_the_first_is_not_of_an_older_state),
        cmocka_unit_test(a_kind_not_installed_is_looked_for_at_times),
        cmocka_unit_test(what_may_not_be_listed_is_tried_again),
        cmocka_unit_test(a_watch_that_ends_at_once_is_no_watch),
        cmocka_unit_test(an_internal_error_of_a_watch_is_no_reason_to_list),
        cmocka_unit_test(a_dead_peer_is_noticed),
        cmocka_unit_test(an_event_beyond_the_bound_ends_the_watch),
        cmocka_unit_test(what_is_stopped_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
