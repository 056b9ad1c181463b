/*
 * Tests the bounds on the size of heads, bodies, chunks and framing of a request.
 */
#include "tests/unit.h"

#include <string.h>
#include <unistd.h>

#include "tests/support/http_fixture.h"

/* covers: kube-api.md 14; reliability.md L-03 L-04 */
static void a_head_that_is_too_large_is_refused(void **state)
{
    static const struct {
        const char *name, *begin;
        size_t len;
        const char *end, *status, *why;
    } cases[] = {
        /* clang-format off */
        {"a header without end",   "GET / HTTP/1.1\r\n" HOST "X: ", 70000, "",               "431", "larger than 32768 bytes"},
        {"one byte too many",      "GET / HTTP/1.1\r\n" HOST "X: ", 32768 - 3, "\r\n\r\n",   "431", "larger than 32768 bytes"},
        {"as large as it may be",  "GET / HTTP/1.1\r\n" HOST "X: ", 32768 - 4, "\r\n\r\n",   "404", "could not find"},
        {"a target without end",   "GET /", 70000, "",                                       "414", "longer than 8192 bytes"},
        {"a byte longer than it may be", "GET /", 4 + 8193, " HTTP/1.1\r\n" HOST "\r\n",       "414", "longer than 8192 bytes"},
        {"as long as it may be",   "GET /", 4 + 8192, " HTTP/1.1\r\n" HOST "\r\n",           "404", "could not find"},
        /* clang-format on */
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf head = {0};
        scoped_str status = mem_printf("HTTP/1.1 %s ", cases[i].status);
        struct http_fixture http;

        http_fixture_start(&http);
        buf_str(&head, cases[i].begin);
        while (head.len < cases[i].len)
            buf_char(&head, 'x');
        buf_str(&head, cases[i].end);
        for (size_t sent = 0; sent < head.len && !http.closed;) {
            ssize_t n = write(http.fd, head.data + sent, head.len - sent);

            if (n < 0)
                break;
            sent += (size_t)n;
            loop_settle(http.fixture.loop);
        }
        http_fixture_read(&http);
        check_has(cases[i].name, http.in.data, status);
        check_has(cases[i].name, http.in.data, cases[i].why);
        loop_advance(http.fixture.loop, 1000);
        check_int(cases[i].name, http.closed, strcmp(cases[i].status, "404") != 0);
        http_fixture_stop(&http);
    }
}

/* covers: kube-api.md 9; reliability.md L-01 */
static void a_forbidden_body_is_refused_before_it_is_read(void **state)
{
    static const struct {
        const char *name, *target, *length, *status, *why;
    } cases[] = {
        /* clang-format off */
        {"as large as it may be", CM, "3145728",  NULL,  ""},
        {"one byte more",         CM, "3145729",  "413", "Request entity too large: limit is 3145728\""},
        {"ten times as large",    CM, "31457280", "413", "limit is 3145728\""},
        {"a flow may be larger",  JF, "67108864", NULL,  ""},
        {"but not for ever",      JF, "67108865", "413", "limit is 67108864\""},
        /* clang-format on */
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str head = mem_printf("POST %s HTTP/1.1\r\n" HOST "Content-Length: %s\r\n\r\n{",
                                     cases[i].target, cases[i].length);
        scoped_str status = mem_printf("HTTP/1.1 %s ", cases[i].status ? cases[i].status : "");
        struct http_fixture http;
        const char *text;

        http_fixture_start(&http);
        text = http_fixture_exchange(&http, head);
        if (cases[i].status) {
            check_has(cases[i].name, text, status);
            check_has(cases[i].name, text, cases[i].why);
        } else {
            check_str(cases[i].name, text, "");
        }
        loop_advance(http.fixture.loop, 1000);
        check_int(cases[i].name, http.closed, cases[i].status != NULL);
        http_fixture_stop(&http);
    }
}

/* covers: reliability.md P-13 */
static void only_a_few_large_bodies_are_read_at_once(void **state)
{
    static const char head[] = "POST " JF " HTTP/1.1\r\n" HOST "Content-Length: 67108864\r\n\r\n";
    scoped_str part = mem_alloc(32769);
    size_t large = LARGE_BODIES_MAX - 1;
    struct http_fixture http;

    memset(part, ' ', 32768);
    http_fixture_start(&http);
    http.env.large_bodies = &large;
    http_fixture_exchange(&http, head);
    for (size_t sent = 0; sent < LARGE_BODY_BYTES; sent += 32768)
        http_fixture_send(&http, part);
    check_int("not yet", large, LARGE_BODIES_MAX - 1);
    http_fixture_send(&http, part);
    check_int("one more", large, LARGE_BODIES_MAX);
    check_str("is read", http.in.data ? http.in.data : "", "");
    connection_close(http.connection);
    check_int("and given back", large, LARGE_BODIES_MAX - 1);
    http_fixture_stop(&http);

    large = LARGE_BODIES_MAX;
    http_fixture_start(&http);
    http.env.large_bodies = &large;
    http_fixture_exchange(&http, head);
    for (size_t sent = 0; sent <= LARGE_BODY_BYTES; sent += 32768)
        http_fixture_send(&http, part);
    check_has("too many", http.in.data, "HTTP/1.1 429 ");
    check_int("none is given back", large, LARGE_BODIES_MAX);
    http_fixture_stop(&http);
}

static void chunks_are_counted_too(void **state)
{
    enum { CHUNK = 32 << 10, CHUNKS = 100 };
    scoped(buf) struct buf chunk = {0};
    struct http_fixture http;

    buf_printf(&chunk, "%x\r\n", CHUNK);
    for (int i = 0; i < CHUNK; i++)
        buf_char(&chunk, ' ');
    buf_str(&chunk, "\r\n");
    http_fixture_start(&http);
    http_fixture_exchange(&http,
                          "POST " CM " HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < CHUNKS - 4; i++) /* the chunks are 3 MiB together */
        http_fixture_send(&http, chunk.data);
    check_str("at the limit", http.in.data ? http.in.data : "", "");
    http_fixture_send(&http, "1\r\n \r\n");
    check_has("beyond", http.in.data, "HTTP/1.1 413 ");
    loop_advance(http.fixture.loop, 1000);
    check("closed", http.closed);
    http_fixture_stop(&http);
}

static const struct framing {
    const char *name, *bytes; /* bytes that are sent repeatedly after a head */
    size_t times;
    const char *status; /* status of the answer; NULL: the server waits for more */
} framings[] = {
    {"chunks of one byte", "1\r\n \r\n", 30000, NULL},
    {"an extension without an end", ";aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 4096, "HTTP/1.1 400 "},
};

static void framing_may_not_be_many_times_the_body(void **state)
{
    for (size_t i = 0; i < countof(framings); i++) {
        const struct framing *c = &framings[i];
        struct http_fixture http;

        http_fixture_start(&http);
        http_fixture_exchange(&http,
                              "POST " CM " HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
        if (c->status)
            http_fixture_send(&http, "1");
        for (size_t n = 0; n < c->times && !http.in.len; n++)
            http_fixture_send(&http, c->bytes);
        if (c->status)
            check_has(c->name, http.in.data ? http.in.data : "", c->status);
        else
            check_str(c->name, http.in.data ? http.in.data : "", "");
        loop_advance(http.fixture.loop, 1000);
        check(c->name, http.closed == (c->status != NULL));
        http_fixture_stop(&http);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_that_is_too_large_is_refused),
        cmocka_unit_test(a_forbidden_body_is_refused_before_it_is_read),
        cmocka_unit_test(only_a_few_large_bodies_are_read_at_once),
        cmocka_unit_test(chunks_are_counted_too),
        cmocka_unit_test(framing_may_not_be_many_times_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
