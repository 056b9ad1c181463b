/* api/server/http/connection_exchange, event_lines: many requests on one connection, one event
 * for many. */
#include "tests/unit.h"

#include <sys/socket.h>
#include <unistd.h>

#include "api/server/rest/event_lines.h"
#include "api/types/blob.h"
#include "tests/support/wire.h"

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

static uint64_t commits(const struct wire *wire)
{
    struct store_stats stats;

    store_stats(wire->rig.store, &stats);
    return stats.commits;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (; text && (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* The answers to create 0, get 0, create 1, get 1, … stand in that order. */
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
static void pipelined_changes_share_a_commit_and_are_answered_in_order(void **state)
{
    enum { N = 20 };
    scoped(buf) struct buf text = {0};
    struct wire wire;
    uint64_t before;

    wire_start(&wire);
    before = commits(&wire);
    for (int i = 0; i < N; i++) {
        add_create(&text, i);
        add_get(&text, i);
    }
    check_order(wire_exchange(&wire, text.data), N);
    check_int("commits", commits(&wire) - before, 1);
    wire_stop(&wire);
}

static void more_than_may_be_under_way_are_taken_one_after_the_other(void **state)
{
    enum { N = 300 };
    scoped(buf) struct buf text = {0};
    struct wire wire;
    uint64_t before;

    wire_start(&wire);
    before = commits(&wire);
    for (int i = 0; i < N; i++)
        add_create(&text, i);
    check_int("created", count(wire_exchange(&wire, text.data), "HTTP/1.1 201 "), N);
    check("in several commits", commits(&wire) - before > 2 && commits(&wire) - before < N / 10);
    wire_stop(&wire);
}

static void what_is_produced_piece_by_piece_is_waited_for(void **state)
{
    scoped(buf) struct buf text = {0};
    const char *list, *deleted;
    struct wire wire;

    wire_start(&wire);
    add_create(&text, 1);
    buf_str(&text, "GET " CM " HTTP/1.1\r\n" HOST "\r\n");
    buf_str(&text, "DELETE " CM "/c1 HTTP/1.1\r\n" HOST "\r\n");
    list = strstr(wire_exchange(&wire, text.data), "\"kind\":\"ConfigMapList\"");
    deleted = list ? strstr(list, "\"status\":\"Success\"") : NULL;
    check("in order", deleted != NULL);
    check("the list is of its time", list && strstr(list, "\"name\":\"c1\"") < deleted);
    wire_stop(&wire);
}

static void a_request_that_is_refused_ends_what_follows_it_alone(void **state)
{
    scoped(buf) struct buf text = {0};
    struct wire wire;
    const char *said;

    wire_start(&wire);
    add_create(&text, 1);
    add_create(&text, 2);
    buf_str(&text, "FROB / HTTP/1.1\r\n" HOST "\r\n");
    add_create(&text, 3);
    said = wire_exchange(&wire, text.data);
    check_int("those before it", count(said, "HTTP/1.1 201 "), 2);
    check_has("itself, as the last", strstr(said, "HTTP/1.1 400 "), "Connection: close");
    check_int("no more", count(said, "HTTP/1.1 "), 3);
    loop_advance(wire.rig.loop, 1001);
    check("closed", wire.closed);
    wire_stop(&wire);
}

static void all_that_was_asked_before_the_end_is_answered(void **state)
{
    enum { N = 100 };
    scoped(buf) struct buf text = {0};
    struct wire wire;

    wire_start(&wire);
    for (int i = 0; i < N; i++)
        add_create(&text, i);
    wire_put(&wire, text.data);
    shutdown(wire.fd, SHUT_WR);
    loop_settle(wire.rig.loop);
    wire_read(&wire);
    check_int("answered", count(wire.in.data, "HTTP/1.1 201 "), N);
    check("closed", wire.closed);
    wire_stop(&wire);
}

static void whoever_waits_with_his_body_is_asked_for_it_in_his_turn(void **state)
{
    scoped(buf) struct buf text = {0};
    struct wire wire;
    const char *said, *made;

    wire_start(&wire);
    add_create(&text, 1);
    buf_str(&text,
            "POST " CM " HTTP/1.1\r\n" HOST "Content-Length: 26\r\nExpect: 100-continue\r\n\r\n");
    said = wire_exchange(&wire, text.data);
    check_has("answer first", said, "HTTP/1.1 201 ");
    made = strstr(said, "\"c1\"");
    assert_non_null(made);
    check_has("then", made, "HTTP/1.1 100 Continue\r\n\r\n");
    said = wire_exchange(&wire, "{\"metadata\":{\"name\":\"c2\"}}");
    check_has("and its own", said, "HTTP/1.1 201 ");
    wire_stop(&wire);
}

/* covers: reliability.md L-23 SEC-10; see L-24 */
static void the_time_of_a_pipelined_head_begins_behind_the_answers(void **state)
{
    scoped(buf) struct buf text = {0};
    struct wire wire;

    wire_start(&wire);
    add_create(&text, 1);
    buf_str(&text, "GET /liv");
    wire_exchange(&wire, text.data);
    loop_advance(wire.rig.loop, 9900);
    check("waits", !wire.closed);
    loop_advance(wire.rig.loop, 200);
    wire_read(&wire);
    check_has("too slow", wire.in.data, "HTTP/1.1 408 ");
    check("closed", wire.closed);
    wire_stop(&wire);
}

/* covers: reliability.md L-27; see kube-api.md 90 */
static void watches_that_are_not_read_share_what_waits_for_them(void **state)
{
    enum { WATCHES = 20, EVENTS = 30, BYTES = 40000 };
    struct wire wires[WATCHES], *first = &wires[0];
    scoped(buf) struct buf filler = {0};

    wire_start(first);
    for (int i = 1; i < WATCHES; i++) {
        wires[i] = (struct wire){.rig = first->rig, .fd = -1};
        wire_open(&wires[i]);
        connection_start(wires[i].connection);
    }
    for (int i = 0; i < WATCHES; i++)
        wire_exchange(&wires[i], "GET " CM "?watch=1 HTTP/1.1\r\n" HOST "\r\n");
    while (filler.len < BYTES)
        buf_char(&filler, 'x');
    for (int i = 0; i < EVENTS; i++) {
        scoped(tap) struct api_tap tap = {0};
        scoped_str body =
            mem_printf("{\"metadata\":{\"name\":\"e%d\"},\"data\":{\"k\":\"%s\"}}", i, filler.data);

        check_int("made", api_request(&first->rig, &tap, "POST", CM, .body = body), 201);
    }
    for (int i = 0; i < WATCHES; i++) {
        do
            loop_settle(first->rig.loop);
        while (wire_read(&wires[i]) && count(wires[i].in.data, "\"type\":\"ADDED\"") < EVENTS);
        check_int("told of all", count(wires[i].in.data, "\"type\":\"ADDED\""), EVENTS);
        check("in order", strstr(wires[i].in.data, "\"e0\"") < strstr(wires[i].in.data, "\"e29\""));
    }
    for (int i = WATCHES; i-- > 0;) {
        if (i > 0) {
            connection_close(wires[i].connection);
            loop_settle(first->rig.loop);
            check("closed", wires[i].closed);
            close(wires[i].fd);
            buf_release(&wires[i].in);
        }
    }
    wire_stop(first);
}

/* ---- lines ---- */

static void a_line_is_kept_for_each_form_until_the_next_change(void **state)
{
    struct event_lines *lines = event_lines_new();
    scoped(object) struct object *object =
        object_new(&kind_config_map, meta_new(&(struct meta){.name = "a", .uid = "u"}),
                   blob_intern("{}", 2), NULL);
    struct event_key json = {object, 7, STORE_ADDED, MEDIA_JSON}, partial = json, next = json;
    scoped(blob) struct blob *one = blob_new("one", 3), *two = blob_new("two", 3);

    partial.form = MEDIA_PARTIAL;
    next.revision = 8;
    check("nothing yet", !event_lines_find(lines, &json));
    event_lines_keep(lines, &json, one);
    event_lines_keep(lines, &partial, two);
    check("json", event_lines_find(lines, &json) == one);
    check("partial", event_lines_find(lines, &partial) == two);
    check("another change", !event_lines_find(lines, &next));
    event_lines_keep(lines, &next, two);
    check("gone", !event_lines_find(lines, &json) && !event_lines_find(lines, &partial));
    check_int("given back", one->refs, 1);
    event_lines_free(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelined_changes_share_a_commit_and_are_answered_in_order),
        cmocka_unit_test(more_than_may_be_under_way_are_taken_one_after_the_other),
        cmocka_unit_test(what_is_produced_piece_by_piece_is_waited_for),
        cmocka_unit_test(a_request_that_is_refused_ends_what_follows_it_alone),
        cmocka_unit_test(all_that_was_asked_before_the_end_is_answered),
        cmocka_unit_test(whoever_waits_with_his_body_is_asked_for_it_in_his_turn),
        cmocka_unit_test(the_time_of_a_pipelined_head_begins_behind_the_answers),
        cmocka_unit_test(watches_that_are_not_read_share_what_waits_for_them),
        cmocka_unit_test(a_line_is_kept_for_each_form_until_the_next_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
