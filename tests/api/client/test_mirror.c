/* Following a collection: lists, watches, and what happened while nobody looked. covers:
 * kube-api.md 135 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/client/mirror.h"
#include "tests/support/scripted_server.h"

/* The server: what it lists, how it answers watches, and what its clients hear. */
struct rig {
    struct clock *clock;
    struct loop *loop;
    struct scripted_server *scripted;
    struct remote *remote;
    struct mirror mirror;
    const char *items[4]; /* "name uid revision" */
    int revision;         /* of the next list */
    int list_status;      /* 200 */
    int watch_status;     /* 200: it stays open */
    int pages;            /* of one item each; the second answers `page_status` once */
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

static void write_page(struct rig *rig, size_t from, size_t n, const char *next, struct buf *out)
{
    buf_printf(out,
               "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"%d\",\"continue\":"
               "\"%s\"},\"items\":[",
               rig->revision, next);
    for (size_t i = from; i < from + n && i < countof(rig->items) && rig->items[i]; i++) {
        if (i > from)
            buf_char(out, ',');
        write_object(rig->items[i], out);
    }
    buf_str(out, "]}");
}

static void serve_list(struct rig *rig, struct scripted_exchange *ask)
{
    bool goes_on = strstr(ask->target, "continue=next") != NULL;

    ask->status = goes_on && rig->page_status ? rig->page_status : rig->list_status;
    if (ask->status != 200) {
        rig->page_status = 0;
        buf_printf(&ask->text, "{\"kind\":\"Status\",\"code\":%d,\"message\":\"no\"}", ask->status);
    } else if (rig->pages > 1 && strstr(ask->target, "limit=")) {
        write_page(rig, goes_on, 1, goes_on ? "" : "next", &ask->text);
    } else {
        write_page(rig, 0, countof(rig->items), "", &ask->text);
    }
}

static void serve(void *ctx, struct scripted_exchange *ask)
{
    struct rig *rig = ctx;

    if (!strstr(ask->target, "watch=true")) {
        serve_list(rig, ask);
        return;
    }
    ask->status = rig->watch_status;
    ask->stays_open = rig->watch_status == 200;
    if (ask->status >= 300)
        buf_printf(&ask->text, "{\"kind\":\"Status\",\"message\":\"no\"}");
}

static void on_changed(struct mirror *mirror, enum mirror_change change, const struct object *old,
                       const struct object *object)
{
    static const char signs[] = {'+', '~', '-'};
    struct rig *rig = container_of(mirror, struct rig, mirror);

    check("old", (old == NULL) == (change == MIRROR_ADDED));
    buf_printf(&rig->told, "%c%s@%d ", signs[change], object_name(object), (int)object->revision);
}

static void on_synced(struct mirror *mirror)
{
    container_of(mirror, struct rig, mirror)->synced++;
}

static void on_failed(struct mirror *mirror, const struct error *err)
{
    container_of(mirror, struct rig, mirror)->failed++;
}

static struct rig *rig_new(void)
{
    struct rig *rig = mem_alloc(sizeof *rig);

    rig->clock = clock_virtual_new(1767225600000, 7);
    rig->loop = loop_new(rig->clock);
    rig->scripted = scripted_new(rig->loop, serve, rig);
    rig->remote = remote_new(rig->loop, scripted_transport(rig->scripted), NULL);
    rig->revision = 10;
    rig->list_status = rig->watch_status = 200;
    rig->items[0] = "a ua 3";
    rig->items[1] = "b ub 5";
    rig->mirror = (struct mirror){
        .kind = &kind_config_map, .changed = on_changed, .synced = on_synced, .failed = on_failed};
    buf_str(&rig->told, "");
    return rig;
}

static struct rig *rig_following(void)
{
    struct rig *rig = rig_new();

    mirror_start(&rig->mirror, rig->remote);
    loop_settle(rig->loop);
    return rig;
}

static void rig_free(struct rig *rig)
{
    mirror_stop(&rig->mirror);
    remote_free(rig->remote);
    scripted_free(rig->scripted);
    loop_free(rig->loop);
    clock_free(rig->clock);
    buf_release(&rig->told);
    mem_free(rig);
}

/* What was told since the last look. */
static void check_told(const char *name, struct rig *rig, const char *want)
{
    check_str(name, rig->told.data, want);
    buf_clear(&rig->told);
}

static void say(struct rig *rig, const char *type, const char *item)
{
    scoped(buf) struct buf text = {0};

    buf_printf(&text, "{\"type\":\"%s\",\"object\":", type);
    write_object(item, &text);
    buf_str(&text, "}\n");
    scripted_send(rig->scripted, text.data);
}

static const char *last_request(const struct rig *rig)
{
    const char *log = scripted_requests(rig->scripted), *last = log;

    for (const char *at = log; *at; at++)
        if (*at == '\n' && at[1])
            last = at + 1;
    return strchr(last, ' ') + 1;
}

static size_t requests(const struct rig *rig)
{
    size_t n = 0;

    for (const char *at = scripted_requests(rig->scripted); *at; at++)
        n += *at == '\n';
    return n;
}

#define GONE                                                                                       \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\","     \
    "\"message\":\"too old resource version: 10 (90)\"}}\n"
#define BROKEN_INSIDE                                                                              \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500,\"message\":\"etcd\"}}\n"

/* ---- the usual way ---- */

static void a_list_and_then_what_changes(void **state)
{
    struct rig *rig = rig_following();

    check_told("the list", rig, "+a@3 +b@5 ");
    check_int("synced", rig->synced, 1);
    check("synced", mirror_is_synced(&rig->mirror));
    check_has("from there on", last_request(rig),
              "GET /api/v1/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=10&"
              "timeoutSeconds=");
    say(rig, "ADDED", "c uc 11");
    say(rig, "MODIFIED", "a ua 12");
    say(rig, "MODIFIED", "a ua 12");
    say(rig, "DELETED", "b ub 13");
    check_told("changes, and no version twice", rig, "+c@11 ~a@12 -b@13 ");
    rig_free(rig);
}

static void a_watch_goes_on_where_the_last_one_ended(void **state)
{
    struct rig *rig = rig_following();

    say(rig, "MODIFIED", "a ua 12");
    say(rig, "BOOKMARK", "x ux 40");
    check_told("a bookmark is no change", rig, "+a@3 +b@5 ~a@12 ");
    scripted_end(rig->scripted, SCRIPTED_COMPLETE);
    loop_settle(rig->loop);
    check_has("at once", last_request(rig),
              "watch=true&allowWatchBookmarks=true&resourceVersion=40&");
    scripted_end(rig->scripted, SCRIPTED_BROKEN);
    check_int("told", rig->failed, 1);
    check("not at once", !scripted_has_open(rig->scripted));
    loop_advance(rig->loop, 2000);
    check_has("but soon", last_request(rig), "resourceVersion=40&");
    check("watching", scripted_has_open(rig->scripted));
    check_told("nothing twice", rig, "");
    rig_free(rig);
}

static void events_come_in_any_pieces(void **state)
{
    struct rig *rig = rig_following();

    check_told("list", rig, "+a@3 +b@5 ");
    scripted_send(rig->scripted,
                  "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"namespace\":\"defa");
    check_told("half", rig, "");
    scripted_send(
        rig->scripted,
        "ult\",\"name\":\"a\",\"uid\":\"ua\",\"resourceVersion\":\"12\"}}}\n{\"type\":\"DELETED\","
        "\"object\":{\"metadata\":{\"namespace\":\"default\",\"name\":\"b\",\"uid\":\"ub\","
        "\"resourceVersion\":\"13\"}}}");
    check_told("both", rig, "-a@12 -b@13 ");
    rig_free(rig);
}

/* ---- what vanished while nobody looked ---- */

static void what_vanished_is_told_when_the_server_has_forgotten(void **state)
{
    struct rig *rig = rig_following();

    check_told("list", rig, "+a@3 +b@5 ");
    rig->items[0] = "b ub2 80"; /* a is gone, b was made anew, c is new */
    rig->items[1] = "c uc 85";
    rig->revision = 90;
    scripted_send(rig->scripted, GONE);
    loop_settle(rig->loop);
    check_told("in their last known state", rig, "-b@5 +b@80 +c@85 -a@3 ");
    check_int("synced again", rig->synced, 2);
    check_has("the newest list", scripted_requests(rig->scripted),
              "GET /api/v1/configmaps?limit=500\n");
    check_has("goes on", last_request(rig), "resourceVersion=90&");
    rig_free(rig);
}

static void an_http_410_says_the_same(void **state)
{
    struct rig *rig = rig_new();

    rig->watch_status = 410;
    mirror_start(&rig->mirror, rig->remote);
    loop_settle(rig->loop);
    rig->watch_status = 200;
    rig->items[1] = NULL;
    rig->revision = 20;
    loop_advance(rig->loop, 5000);
    check_told("listed again", rig, "+a@3 +b@5 -b@5 ");
    check("watching", scripted_has_open(rig->scripted));
    rig_free(rig);
}

static void a_server_that_always_forgets_is_not_asked_without_end(void **state)
{
    struct rig *rig = rig_new();

    rig->watch_status = 410;
    mirror_start(&rig->mirror, rig->remote);
    loop_advance(rig->loop, 10000);
    check("waits grow", requests(rig) < 16);
    rig_free(rig);
}

/* ---- lists ---- */

static void long_lists_come_in_pages(void **state)
{
    struct rig *rig = rig_new();

    rig->pages = 2;
    mirror_start(&rig->mirror, rig->remote);
    loop_settle(rig->loop);
    check_has("first", scripted_requests(rig->scripted), "?limit=500&resourceVersion=0\n");
    check_has("second", scripted_requests(rig->scripted), "?limit=500&continue=next\n");
    check_told("both", rig, "+a@3 +b@5 ");
    check_int("complete once", rig->synced, 1);
    rig_free(rig);
}

static void a_list_that_expires_between_pages_is_read_as_a_whole(void **state)
{
    struct rig *rig = rig_new();

    rig->pages = 2;
    rig->page_status = 410;
    mirror_start(&rig->mirror, rig->remote);
    loop_settle(rig->loop);
    check_has("without pages, the newest", scripted_requests(rig->scripted),
              " GET /api/v1/configmaps\n");
    check_told("nothing twice", rig, "+a@3 +b@5 ");
    check_int("complete once", rig->synced, 1);
    rig_free(rig);
}

static void a_list_after_the_first_is_not_of_an_older_state(void **state)
{
    struct rig *rig = rig_following();

    scripted_send(rig->scripted, "nonsense"); /* the watch cannot be trusted */
    loop_advance(rig->loop, 2000);
    check_has("from what was seen", scripted_requests(rig->scripted),
              "GET /api/v1/configmaps?resourceVersion=10\n");
    check("watching", scripted_has_open(rig->scripted));
    check_told("the same", rig, "+a@3 +b@5 ");
    rig_free(rig);
}

static void a_kind_not_installed_is_looked_for_at_times(void **state)
{
    struct rig *rig = rig_new();

    rig->list_status = 404;
    mirror_start(&rig->mirror, rig->remote);
    loop_advance(rig->loop, 29000);
    check_int("once", requests(rig), 1);
    check_int("told", rig->failed, 1);
    rig->list_status = 200;
    loop_advance(rig->loop, 1001);
    check_told("there it is", rig, "+a@3 +b@5 ");
    rig_free(rig);
}

static void what_may_not_be_listed_is_tried_again(void **state)
{
    struct rig *rig = rig_new();

    rig->list_status = 403;
    mirror_start(&rig->mirror, rig->remote);
    loop_advance(rig->loop, 60000);
    check("less and less", requests(rig) > 3 && requests(rig) < 12);
    rig->list_status = 200;
    loop_advance(rig->loop, 30000);
    check_int("synced", rig->synced, 1);
    rig_free(rig);
}

/* ---- watches that do not work ---- */

static void a_watch_that_ends_at_once_is_no_watch(void **state)
{
    struct rig *rig = rig_following();

    for (int i = 0; i < 20; i++) {
        if (scripted_has_open(rig->scripted))
            scripted_end(rig->scripted, SCRIPTED_COMPLETE);
        loop_advance(rig->loop, 500);
    }
    check("waits grow", requests(rig) < 10);
    rig_free(rig);
}

static void an_internal_error_of_a_watch_is_no_reason_to_list(void **state)
{
    struct rig *rig = rig_following();
    const char *list;

    scripted_send(rig->scripted, BROKEN_INSIDE);
    loop_advance(rig->loop, 2000);
    check_has("watches on", last_request(rig), "watch=true");
    for (int i = 0; i < 40; i++) { /* but not for ever */
        if (scripted_has_open(rig->scripted))
            scripted_send(rig->scripted, BROKEN_INSIDE);
        loop_advance(rig->loop, 5000);
    }
    list = strstr(scripted_requests(rig->scripted), "configmaps?resourceVersion=10\n");
    check("lists in the end", list != NULL);
    rig_free(rig);
}

static void a_dead_peer_is_noticed(void **state)
{
    struct rig *rig = rig_following();
    size_t before = requests(rig);

    loop_advance(rig->loop, 299000);
    check_int("it may say nothing", requests(rig), before);
    loop_advance(rig->loop, 360000); /* beyond the time the server was given, and a little more */
    check("asked again", requests(rig) > before);
    check_told("no list was needed", rig, "+a@3 +b@5 ");
    rig_free(rig);
}

static void an_event_beyond_the_bound_ends_the_watch(void **state)
{
    struct rig *rig = rig_new();
    scoped(buf) struct buf text = {0};

    rig->mirror.event_bytes_max = 1000;
    mirror_start(&rig->mirror, rig->remote);
    loop_settle(rig->loop);
    buf_str(&text, "{\"type\":\"ADDED\",\"object\":{\"x\":\"");
    for (int i = 0; i < 1000; i++)
        buf_char(&text, 'x');
    scripted_send(rig->scripted, text.data);
    check_int("told", rig->failed, 1);
    check("closed", !scripted_has_open(rig->scripted));
    rig_free(rig);
}

static void what_is_stopped_says_nothing(void **state)
{
    struct rig *rig = rig_following();

    check_told("list", rig, "+a@3 +b@5 ");
    mirror_stop(&rig->mirror);
    check("closed", !scripted_has_open(rig->scripted));
    loop_advance(rig->loop, 3600000);
    check_told("nothing", rig, "");
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_and_then_what_changes),
        cmocka_unit_test(a_watch_goes_on_where_the_last_one_ended),
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
