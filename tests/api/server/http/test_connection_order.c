/*
 * Tests pipelining: many requests on one connection (connection_exchange.c), and events shared by
 * many watches (watch_event_cache.c).
 */
#include "tests/unit.h"

#include <sys/socket.h>
#include <unistd.h>

#include "api/server/rest/watch_event_cache.h"
#include "api/types/blob.h"
#include "tests/support/http_fixture.h"

static void add_create(struct buf *out, int number)
{
    scoped_str body = mem_printf("{\"metadata\":{\"name\":\"c%d\"}}", number);

    buf_printf(out, "POST " CM " HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n%s", strlen(body),
               body);
}

static void add_get(struct buf *out, int number)
{
    buf_printf(out, "GET " CM "/c%d HTTP/1.1\r\n" HOST "\r\n", number);
}

static uint64_t commits(const struct http_fixture *http)
{
    struct store_stats stats;

    store_stats(http->fixture.store, &stats);
    return stats.commits;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (; text && (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* Checks that the responses to create 0, get 0, create 1, get 1, … come in that order. */
static void check_order(const char *text, int n)
{
    for (int i = 0; i < n; i++) {
        scoped_str name = mem_printf("\"name\":\"c%d\"", i);

        text = text ? strstr(text, "HTTP/1.1 201 Created") : NULL;
        text = text ? strstr(text, name) : NULL;
        text = text ? strstr(text, "HTTP/1.1 200 OK") : NULL;
        text = text ? strstr(text, name) : NULL;
        check(name, text != NULL);
    }
}

/* covers: reliability.md D-03 */
static void pipelined_writes_share_a_commit_and_are_answered_in_order(void **state)
{
    enum { N = 20 };
    scoped(buf) struct buf text = {0};
    struct http_fixture http;
    uint64_t before;

    http_fixture_start(&http);
    before = commits(&http);
    for (int i = 0; i < N; i++) {
        add_create(&text, i);
        add_get(&text, i);
    }
    check_order(http_fixture_exchange(&http, text.data), N);
    check_int("commits", commits(&http) - before, 1);
    http_fixture_stop(&http);
}

static void requests_beyond_the_bound_wait_for_earlier_ones(void **state)
{
    enum { N = 300 };
    scoped(buf) struct buf text = {0};
    struct http_fixture http;
    uint64_t before;

    http_fixture_start(&http);
    before = commits(&http);
    for (int i = 0; i < N; i++)
        add_create(&text, i);
    check_int("created", count(http_fixture_exchange(&http, text.data), "HTTP/1.1 201 "), N);
    check("in several commits", commits(&http) - before > 2 && commits(&http) - before < N / 10);
    http_fixture_stop(&http);
}

static void later_requests_wait_for_a_response_in_pieces(void **state)
{
    scoped(buf) struct buf text = {0};
    const char *list, *deleted;
    struct http_fixture http;

    http_fixture_start(&http);
    add_create(&text, 1);
    buf_str(&text, "GET " CM " HTTP/1.1\r\n" HOST "\r\n");
    buf_str(&text, "DELETE " CM "/c1 HTTP/1.1\r\n" HOST "\r\n");
    list = strstr(http_fixture_exchange(&http, text.data), "\"kind\":\"ConfigMapList\"");
    deleted = list ? strstr(list, "\"status\":\"Success\"") : NULL;
    check("in order", deleted != NULL);
    check("the list is of its time", list && strstr(list, "\"name\":\"c1\"") < deleted);
    http_fixture_stop(&http);
}

static void a_refused_request_drops_only_those_behind_it(void **state)
{
    scoped(buf) struct buf text = {0};
    struct http_fixture http;
    const char *said;

    http_fixture_start(&http);
    add_create(&text, 1);
    add_create(&text, 2);
    buf_str(&text, "FROB / HTTP/1.1\r\n" HOST "\r\n");
    add_create(&text, 3);
    said = http_fixture_exchange(&http, text.data);
    check_int("those before it", count(said, "HTTP/1.1 201 "), 2);
    check_has("itself, as the last", strstr(said, "HTTP/1.1 400 "), "Connection: close");
    check_int("no more", count(said, "HTTP/1.1 "), 3);
    loop_advance(http.fixture.loop, 1001);
    check("closed", http.closed);
    http_fixture_stop(&http);
}

static void all_requests_before_the_end_of_input_are_answered(void **state)
{
    enum { N = 100 };
    scoped(buf) struct buf text = {0};
    struct http_fixture http;

    http_fixture_start(&http);
    for (int i = 0; i < N; i++)
        add_create(&text, i);
    http_fixture_put(&http, text.data);
    shutdown(http.fd, SHUT_WR);
    loop_settle(http.fixture.loop);
    http_fixture_read(&http);
    check_int("answered", count(http.in.data, "HTTP/1.1 201 "), N);
    check("closed", http.closed);
    http_fixture_stop(&http);
}

static void continue_is_sent_after_the_earlier_responses(void **state)
{
    scoped(buf) struct buf text = {0};
    struct http_fixture http;
    const char *said, *made;

    http_fixture_start(&http);
    add_create(&text, 1);
    buf_str(&text,
            "POST " CM " HTTP/1.1\r\n" HOST "Content-Length: 26\r\nExpect: 100-continue\r\n\r\n");
    said = http_fixture_exchange(&http, text.data);
    check_has("answer first", said, "HTTP/1.1 201 ");
    made = strstr(said, "\"c1\"");
    assert_non_null(made);
    check_has("then", made, "HTTP/1.1 100 Continue\r\n\r\n");
    said = http_fixture_exchange(&http, "{\"metadata\":{\"name\":\"c2\"}}");
    check_has("and its own", said, "HTTP/1.1 201 ");
    http_fixture_stop(&http);
}

/* covers: reliability.md L-23 SEC-10; see L-24 */
static void the_deadline_of_a_pipelined_head_starts_after_the_responses(void **state)
{
    scoped(buf) struct buf text = {0};
    struct http_fixture http;

    http_fixture_start(&http);
    add_create(&text, 1);
    buf_str(&text, "GET /liv");
    http_fixture_exchange(&http, text.data);
    loop_advance(http.fixture.loop, 9900);
    check("waits", !http.closed);
    loop_advance(http.fixture.loop, 200);
    http_fixture_read(&http);
    check_has("too slow", http.in.data, "HTTP/1.1 408 ");
    check("closed", http.closed);
    http_fixture_stop(&http);
}

/* covers: reliability.md L-27; see kube-api.md 90 */
static void unread_watches_share_their_waiting_events(void **state)
{
    enum { WATCHES = 20, EVENTS = 30, BYTES = 40000 };
    struct http_fixture watchers[WATCHES], *first = &watchers[0];
    scoped(buf) struct buf filler = {0};

    http_fixture_start(first);
    for (int i = 1; i < WATCHES; i++) {
        watchers[i] = (struct http_fixture){.fixture = first->fixture, .fd = -1};
        http_fixture_open(&watchers[i]);
        connection_start(watchers[i].connection);
    }
    for (int i = 0; i < WATCHES; i++)
        http_fixture_exchange(&watchers[i], "GET " CM "?watch=1 HTTP/1.1\r\n" HOST "\r\n");
    while (filler.len < BYTES)
        buf_char(&filler, 'x');
    for (int i = 0; i < EVENTS; i++) {
        scoped(capture) struct api_capture capture = {0};
        scoped_str body =
            mem_printf("{\"metadata\":{\"name\":\"e%d\"},\"data\":{\"k\":\"%s\"}}", i, filler.data);

        check_int("made", api_send(&first->fixture, &capture, "POST", CM, .body = body), 201);
    }
    for (int i = 0; i < WATCHES; i++) {
        do
            loop_settle(first->fixture.loop);
        while (http_fixture_read(&watchers[i]) &&
               count(watchers[i].in.data, "\"type\":\"ADDED\"") < EVENTS);
        check_int("received all", count(watchers[i].in.data, "\"type\":\"ADDED\""), EVENTS);
        check("in order",
              strstr(watchers[i].in.data, "\"e0\"") < strstr(watchers[i].in.data, "\"e29\""));
    }
    for (int i = WATCHES; i-- > 0;) {
        if (i > 0) {
            connection_close(watchers[i].connection);
            loop_settle(first->fixture.loop);
            check("closed", watchers[i].closed);
            close(watchers[i].fd);
            buf_release(&watchers[i].in);
        }
    }
    http_fixture_stop(first);
}

static void an_event_is_cached_for_each_form_until_the_next_change(void **state)
{
    struct watch_event_cache *cache = watch_event_cache_new();
    scoped(object) struct object *object =
        object_new(&kind_config_map, meta_new(&(struct meta){.name = "a", .uid = "u"}),
                   blob_intern("{}", 2), NULL);
    struct watch_event_key json = {object, 7, STORE_ADDED, MEDIA_JSON}, partial = json, next = json;
    scoped(blob) struct blob *one = blob_new("one", 3), *two = blob_new("two", 3);

    partial.form = MEDIA_PARTIAL;
    next.revision = 8;
    check("nothing yet", !watch_event_cache_find(cache, &json));
    watch_event_cache_add(cache, &json, one);
    watch_event_cache_add(cache, &partial, two);
    check("json", watch_event_cache_find(cache, &json) == one);
    check("partial", watch_event_cache_find(cache, &partial) == two);
    check("another change", !watch_event_cache_find(cache, &next));
    watch_event_cache_add(cache, &next, two);
    check("gone",
          !watch_event_cache_find(cache, &json) && !watch_event_cache_find(cache, &partial));
    check_int("given back", one->refs, 1);
    watch_event_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelined_writes_share_a_commit_and_are_answered_in_order),
        cmocka_unit_test(requests_beyond_the_bound_wait_for_earlier_ones),
        cmocka_unit_test(later_requests_wait_for_a_response_in_pieces),
        cmocka_unit_test(a_refused_request_drops_only_those_behind_it),
        cmocka_unit_test(all_requests_before_the_end_of_input_are_answered),
        cmocka_unit_test(continue_is_sent_after_the_earlier_responses),
        cmocka_unit_test(the_deadline_of_a_pipelined_head_starts_after_the_responses),
        cmocka_unit_test(unread_watches_share_their_waiting_events),
        cmocka_unit_test(an_event_is_cached_for_each_form_until_the_next_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
