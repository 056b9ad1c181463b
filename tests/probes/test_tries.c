/*
 * Single tries against real servers on the loopback.
 */
#include "tests/unit.h"

#include "tests/support/peer.h"

#include "probes/try.h"

struct outcome {
    struct probe_try attempt;
    struct loop *loop;
    int calls;
    bool passed;
};

static void on_done(struct probe_try *attempt, bool passed)
{
    struct outcome *outcome = container_of(attempt, struct outcome, attempt);

    outcome->calls++;
    outcome->passed = passed;
    loop_stop(outcome->loop);
}

struct http_case {
    const char *name;
    struct probe_http entry;
    const char *answer; /* NULL: never */
    bool passes;
    const char *asked; /* must be part of the request */
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

static bool ask(struct loop *loop, struct probe_http_client *client, const struct http_case *c,
                struct peer *peer, struct outcome *outcome)
{
    struct probe_address address;

    *outcome = (struct outcome){.attempt.done = on_done, .loop = loop};
    check("address", probe_address_of("127.0.0.1", peer_port(peer), NULL, &address, NULL));
    if (!probe_http_start(client, &outcome->attempt, &c->entry, &address))
        return false;
    check_int("never inside the call", outcome->calls, 0);
    loop_run(loop);
    check_int("once", outcome->calls, 1);
    return true;
}

static void status_decides(void **state)
{
    struct loop *loop = loop_new(clock_real());
    struct probe_http_client *client = probe_http_client_new(loop);

    for (size_t i = 0; i < countof(cases); i++) {
        struct peer *peer = peer_new(loop, cases[i].answer);
        struct outcome outcome;

        check(cases[i].name, ask(loop, client, &cases[i], peer, &outcome));
        check_int(cases[i].name, outcome.passed, cases[i].passes);
        if (cases[i].asked)
            check_has(cases[i].name, peer_received(peer), cases[i].asked);
        peer_free(peer);
    }
    probe_http_client_free(client);
    loop_settle(loop);
    loop_free(loop);
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
    struct loop *loop = loop_new(clock_real());
    struct probe_http_client *client = probe_http_client_new(loop);

    for (size_t i = 0; i < countof(floods); i++) {
        const struct http_case c = {floods[i].name, {.timeout_s = 20}, NULL, false, NULL};
        scoped(buf) struct buf text = {0};
        struct outcome outcome;
        struct peer *peer;

        buf_str(&text, floods[i].head);
        for (int n = 0; n < 400000; n++)
            buf_char(&text, floods[i].filler);
        peer = peer_new(loop, text.data);
        peer_keep_open(peer);
        check(floods[i].name, ask(loop, client, &c, peer, &outcome));
        check_int(floods[i].name, outcome.passed, floods[i].passes);
        peer_free(peer);
    }
    probe_http_client_free(client);
    loop_settle(loop);
    loop_free(loop);
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
    struct loop *loop = loop_new(clock_real());
    struct probe_http_client *client = probe_http_client_new(loop);
    struct peer *peer = peer_new(loop, "HTTP/1.1 200 OK\r\n\r\n");

    memset(long_path, 'a', sizeof long_path - 1);
    for (size_t i = 0; i < countof(bad); i++) {
        const struct http_case c = {"bad", bad[i], NULL, false, NULL};
        struct outcome outcome;

        check(bad[i].header_name ? bad[i].header_name : "path",
              !ask(loop, client, &c, peer, &outcome));
    }
    check_str("nothing was sent", peer_received(peer), "");
    peer_free(peer);
    probe_http_client_free(client);
    loop_settle(loop);
    loop_free(loop);
}

/* covers: reliability.md SEC-14 */
static void proxy_of_the_environment_is_not_used(void **state)
{
    static const struct http_case c = {"proxy", {0}, NULL, true, NULL};
    struct loop *loop = loop_new(clock_real());
    struct probe_http_client *client = probe_http_client_new(loop);
    struct peer *peer = peer_new(loop, "HTTP/1.1 204 No Content\r\n\r\n");
    struct outcome outcome;

    setenv("http_proxy", "http://127.0.0.1:1/", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1/", 1);
    check("asked", ask(loop, client, &c, peer, &outcome));
    check("the peer itself", outcome.passed);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    peer_free(peer);
    probe_http_client_free(client);
    loop_settle(loop);
    loop_free(loop);
}

static void tcp_opens_or_not(void **state)
{
    static const struct probe_tcp entry = {.timeout_s = 1};
    struct loop *loop = loop_new(clock_real());
    struct peer *peer = peer_new(loop, NULL);
    struct outcome outcome = {.attempt.done = on_done, .loop = loop};
    struct probe_address address;

    check("address", probe_address_of("127.0.0.1", peer_port(peer), NULL, &address, NULL));
    check("starts", probe_tcp_start(loop, &outcome.attempt, &entry, &address));
    loop_run(loop);
    check("opens", outcome.passed);
    peer_free(peer);
    loop_settle(loop);
    check("starts", probe_tcp_start(loop, &outcome.attempt, &entry, &address));
    loop_run(loop);
    check_int("twice", outcome.calls, 2);
    check("nobody listens", !outcome.passed);
    loop_settle(loop);
    loop_free(loop);
}

static void cancelled_tries_are_silent(void **state)
{
    static const struct probe_http http = {0};
    static const struct probe_tcp tcp = {0};
    struct loop *loop = loop_new(clock_real());
    struct probe_http_client *client = probe_http_client_new(loop);
    struct peer *peer = peer_new(loop, NULL);
    struct outcome a = {.attempt.done = on_done, .loop = loop}, b = a;
    struct probe_address address;

    check("address", probe_address_of("127.0.0.1", peer_port(peer), NULL, &address, NULL));
    check("starts", probe_http_start(client, &a.attempt, &http, &address));
    check("starts", probe_tcp_start(loop, &b.attempt, &tcp, &address));
    probe_http_cancel(&a.attempt);
    probe_tcp_cancel(&b.attempt);
    probe_tcp_cancel(&b.attempt);
    loop_settle(loop);
    check_int("none", a.calls + b.calls, 0);
    peer_free(peer);
    probe_http_client_free(client);
    loop_settle(loop);
    loop_free(loop);
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
