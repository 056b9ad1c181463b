/*
 * Tests single attempts of probes against real servers on the loopback address.
 */
#include "tests/unit.h"

#include "tests/support/probe_fixture.h"

struct http_case {
    const char *name;
    struct probe_http entry;
    const char *answer; /* what the server sends; NULL: nothing */
    bool passes;
    const char *asked; /* text that the request must contain */
};

static char long_path[PROBE_PATH_MAX + 2];

/* covers: jobflow.md 69 70; reliability.md SEC-14 L-30 L-33 L-34 */
static const struct http_case cases[] = {
    /* clang-format off */
    {"200",                {.path = "/healthz"}, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true, "GET /healthz HTTP/1.1\r\n"},
    {"204",                {.path = "healthz"},  "HTTP/1.1 204 No Content\r\n\r\n", true, "GET /healthz HTTP/1.1\r\n"},
    {"no path",            {0},                  "HTTP/1.1 204 No Content\r\n\r\n", true, "GET / HTTP/1.1\r\n"},
    {"a query",            {.path = "/a?b=c d"}, "HTTP/1.1 204 No Content\r\n\r\n", true, "GET /a?b=c%20d HTTP/1.1\r\n"},
    {"dots stay",          {.path = "/a/../b"},  "HTTP/1.1 204 No Content\r\n\r\n", true, "GET /a/../b HTTP/1.1\r\n"},
    {"line breaks do not", {.path = "/a\r\nX: y"}, "HTTP/1.1 204 No Content\r\n\r\n", true, "GET /a%0D%0AX:%20y HTTP/1.1\r\n"},
    {"who we are",         {0},                  "HTTP/1.1 204 No Content\r\n\r\n", true, "User-Agent: volcano-probe/1\r\n"},
    {"a header",           {.header_name = "X-Token", .header_value = "t 1"}, "HTTP/1.1 204 No Content\r\n\r\n", true, "X-Token: t 1\r\n"},
    {"an empty header",    {.header_name = "X-Empty", .header_value = ""}, "HTTP/1.1 204 No Content\r\n\r\n", true, "X-Empty:\r\n"},
    {"another host",       {.header_name = "Host", .header_value = "example.org"}, "HTTP/1.1 204 No Content\r\n\r\n", true, "Host: example.org\r\n"},
    {"399",                {0}, "HTTP/1.1 399 Odd\r\nContent-Length: 0\r\n\r\n", true, NULL},
    {"a redirect passes",  {0}, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", true, NULL},
    {"404",                {0}, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false, NULL},
    {"500",                {0}, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", false, NULL},
    {"no HTTP at all",     {0}, "hello\r\n", false, NULL},
    {"never answers",      {.timeout_s = 1}, NULL, false, NULL},
    /* clang-format on */
};

/* Makes one attempt; returns false when it was not made. */
static bool ask(struct probe_fixture *fixture, const struct http_case *c,
                struct canned_server *peer, bool *out_passed)
{
    const struct probe_address address = probe_fixture_address(peer);
    struct probe_outcome outcome = probe_outcome_of(fixture);

    if (!probe_http_start(fixture->client, &outcome.attempt, &c->entry, &address))
        return false;
    *out_passed = probe_outcome_wait(&outcome);
    return true;
}

static void status_decides(void **state)
{
    scoped(probe_fixture) struct probe_fixture *fixture = probe_fixture_new();

    for (size_t i = 0; i < countof(cases); i++) {
        struct canned_server *peer = canned_server_new(fixture->loop, cases[i].answer);
        bool passed = false;

        check(cases[i].name, ask(fixture, &cases[i], peer, &passed));
        check_int(cases[i].name, passed, cases[i].passes);
        if (cases[i].asked)
            check_has(cases[i].name, canned_server_received(peer), cases[i].asked);
        canned_server_free(peer);
    }
}

/* covers: reliability.md L-30 */
static void flood_is_cut_and_the_status_counts(void **state)
{
    static const struct {
        const char *name, *head;
        char filler;
        bool passes;
    } floods[] = {
        {"a body without end", "HTTP/1.1 200 OK\r\n\r\n", 'x', true},
        {"a body without end of a failure", "HTTP/1.1 500 No\r\n\r\n", 'x', false},
        {"a header without end", "HTTP/1.1 200 OK\r\nX: ", 'x', false},
    };
    scoped(probe_fixture) struct probe_fixture *fixture = probe_fixture_new();

    for (size_t i = 0; i < countof(floods); i++) {
        const struct http_case c = {floods[i].name, {.timeout_s = 20}, NULL, false, NULL};
        scoped(buf) struct buf text = {0};
        bool passed = false;
        struct canned_server *peer;

        buf_str(&text, floods[i].head);
        for (int n = 0; n < 400000; n++)
            buf_char(&text, floods[i].filler);
        peer = canned_server_new(fixture->loop, text.data);
        canned_server_keep_open(peer);
        check(floods[i].name, ask(fixture, &c, peer, &passed));
        check_int(floods[i].name, passed, floods[i].passes);
        canned_server_free(peer);
    }
}

/* covers: reliability.md SEC-15 L-34 */
static void bad_entries_are_not_asked(void **state)
{
    static const struct probe_http bad[] = {
        {.header_name = "Content-Length", .header_value = "1"},
        {.header_name = "transfer-encoding", .header_value = "chunked"},
        {.header_name = "Connection", .header_value = "x"},
        {.header_name = "Upgrade", .header_value = "x"},
        {.header_name = "Proxy-Connection", .header_value = "x"},
        {.header_name = "Authorization", .header_value = "x"},
        {.header_name = "X Y", .header_value = "x"},
        {.header_name = "X:", .header_value = "x"},
        {.header_name = "X", .header_value = "a\r\nY: b"},
        {.header_name = "X", .header_value = "a\nb"},
        {.path = long_path},
    };
    scoped(probe_fixture) struct probe_fixture *fixture = probe_fixture_new();
    struct canned_server *peer = canned_server_new(fixture->loop, "HTTP/1.1 200 OK\r\n\r\n");

    memset(long_path, 'a', sizeof long_path - 1);
    for (size_t i = 0; i < countof(bad); i++) {
        const struct http_case c = {"bad", bad[i], NULL, false, NULL};
        bool passed = false;

        check(bad[i].header_name ? bad[i].header_name : "path", !ask(fixture, &c, peer, &passed));
    }
    check_str("nothing was sent", canned_server_received(peer), "");
    canned_server_free(peer);
}

/* covers: reliability.md SEC-14 */
static void proxy_of_the_environment_is_not_used(void **state)
{
    static const struct http_case c = {"proxy", {0}, NULL, true, NULL};
    scoped(probe_fixture) struct probe_fixture *fixture = probe_fixture_new();
    struct canned_server *peer =
        canned_server_new(fixture->loop, "HTTP/1.1 204 No Content\r\n\r\n");
    bool passed = false;

    setenv("http_proxy", "http://127.0.0.1:1/", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1/", 1);
    check("asked", ask(fixture, &c, peer, &passed));
    check("the peer itself", passed);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    canned_server_free(peer);
}

static void tcp_opens_or_not(void **state)
{
    static const struct probe_tcp entry = {.timeout_s = 1};
    scoped(probe_fixture) struct probe_fixture *fixture = probe_fixture_new();
    struct canned_server *peer = canned_server_new(fixture->loop, NULL);
    const struct probe_address address = probe_fixture_address(peer);
    struct probe_outcome open = probe_outcome_of(fixture), closed = open;

    check("starts", probe_tcp_start(fixture->loop, &open.attempt, &entry, &address));
    check("opens", probe_outcome_wait(&open));
    canned_server_free(peer);
    loop_settle(fixture->loop);
    check("starts", probe_tcp_start(fixture->loop, &closed.attempt, &entry, &address));
    check("no listener", !probe_outcome_wait(&closed));
}

static void cancelled_tries_are_silent(void **state)
{
    static const struct probe_http http = {0};
    static const struct probe_tcp tcp = {0};
    scoped(probe_fixture) struct probe_fixture *fixture = probe_fixture_new();
    struct canned_server *peer = canned_server_new(fixture->loop, NULL);
    const struct probe_address address = probe_fixture_address(peer);
    struct probe_outcome a = probe_outcome_of(fixture), b = a;

    check("starts", probe_http_start(fixture->client, &a.attempt, &http, &address));
    check("starts", probe_tcp_start(fixture->loop, &b.attempt, &tcp, &address));
    probe_http_cancel(&a.attempt);
    probe_tcp_cancel(&b.attempt);
    probe_tcp_cancel(&b.attempt);
    loop_settle(fixture->loop);
    check_int("none", a.calls + b.calls, 0);
    canned_server_free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_decides),
        cmocka_unit_test(flood_is_cut_and_the_status_counts),
        cmocka_unit_test(bad_entries_are_not_asked),
        cmocka_unit_test(proxy_of_the_environment_is_not_used),
        cmocka_unit_test(tcp_opens_or_not),
        cmocka_unit_test(cancelled_tries_are_silent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
