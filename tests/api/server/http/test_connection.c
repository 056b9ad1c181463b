/*
 * Tests connections over a socket pair: framing, keep-alive, deadlines, watches, and the listener
 * with its unix socket.
 */
#include "tests/unit.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/server/http/listener.h"
#include "base/loop/metrics.h"
#include "tests/support/http_fixture.h"

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* covers: kube-api.md 1 2 11 */
static void a_request_is_answered_with_its_length(void **state)
{
    struct http_fixture http;
    const char *text;

    http_fixture_start(&http);
    text = http_fixture_exchange(&http, "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
    check_has("status", text, "HTTP/1.1 200 OK\r\n");
    check_has("length", text, "Content-Length: 2\r\n\r\nok");
    check_has("date", text, "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n");
    text = http_fixture_exchange(&http, "GET /version/ HTTP/1.1\r\n" HOST "\r\n");
    check_has("kept alive", text, "\"gitVersion\": \"v1.");
    check_has("json", text, "Content-Type: application/json\r\n");
    text = http_fixture_exchange(&http, "HEAD /version HTTP/1.1\r\n" HOST "\r\n");
    check_has("HEAD", text, "Content-Length: ");
    check_str("no body", strstr(text, "\r\n\r\n"), "\r\n\r\n");
    text = http_fixture_exchange(&http, "OPTIONS /api/v1/pods HTTP/1.1\r\n" HOST "\r\n");
    check_has("OPTIONS", text, "HTTP/1.1 405 ");
    check_has("METHOD", text, "\"reason\":\"MethodNotAllowed\"");
    http_fixture_stop(&http);
}

/* covers: kube-api.md 6 8 */
static void bodies_come_with_a_length_or_in_chunks(void **state)
{
    struct http_fixture http;
    const char *text;

    http_fixture_start(&http);
    text =
        http_fixture_exchange(&http, "POST " CM " HTTP/1.1\r\n" HOST
                                     "Content-Length: 27\r\n\r\n{\"metadata\":{\"name\":\"one\"}}");
    check_has("length", text, "HTTP/1.1 201 Created\r\n");
    text = http_fixture_exchange(
        &http, "POST " CM " HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
               "c\r\n{\"metadata\":\r\n8\r\n{\"name\":\r\n7\r\n\"two\"}}\r\n0\r\n\r\n");
    check_has("chunks", text, "HTTP/1.1 201 Created\r\n");
    check_has("name", text, "\"name\":\"two\"");
    text = http_fixture_exchange(&http, "POST " CM " HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
                                        "Content-Length: 27\r\n\r\n");
    check_str("go on", text, "HTTP/1.1 100 Continue\r\n\r\n");
    text = http_fixture_exchange(&http, "{\"metadata\":{\"name\":\"six\"}}");
    check_has("after", text, "HTTP/1.1 201 Created\r\n");
    http_fixture_stop(&http);
}

static void a_request_may_come_byte_by_byte(void **state)
{
    static const char text[] = "GET /livez HTTP/1.1\r\n" HOST "\r\n";
    struct http_fixture http;

    http_fixture_start(&http);
    for (const char *c = text; *c; c++)
        http_fixture_send(&http, (const char[]){*c, '\0'});
    check_has("answered", http.in.data, "200 OK");
    http_fixture_stop(&http);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    struct http_fixture http;
    const char *text, *second;

    http_fixture_start(&http);
    text = http_fixture_exchange(
        &http, "GET /healthz HTTP/1.1\r\n" HOST "\r\nGET /version HTTP/1.1\r\n" HOST
               "\r\nGET /nope HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    check_int("three", count(text, "HTTP/1.1 "), 3);
    second = strstr(text, "gitVersion");
    check("order", second && strstr(second, "404 Not Found"));
    loop_settle(http.fixture.loop);
    check("closed as asked", http.closed);
    http_fixture_stop(&http);
}

struct refusal {
    const char *name, *bytes, *status;
};

static const struct refusal refusals[] = {
    {"two framings",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
    {"another coding", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n", "501"},
    {"an unknown method", "FROB / HTTP/1.1\r\n" HOST "\r\n", "400"},
    {"a bad chunk size", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
     "400"},
    {"a chunk larger than any body",
     "POST " CM " HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
     "413"},
    {"a chunk that makes the body too large",
     "POST " CM " HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n40000000\r\n",
     "413"},
    {"a chunk that ends with other bytes",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n", "400"},
    {"a chunk size that ends with LF alone",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n", "400"},
    {"a trailer that is no header",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX Y\r\n\r\n",
     "400"},
    {"lines that end with LF alone", "GET /livez HTTP/1.1\nHost: x\n\n", "400"},
    {"no version", "GET /livez\r\n" HOST "\r\n", "400"},
    {"no Host behind an empty line", "\r\nGET /livez HTTP/1.1\r\n\r\n", "400"},
    {"no Host behind empty lines", "\r\n\r\nGET /livez HTTP/1.1\r\n\r\n", "400"},
    {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"},
    {"noise", "\x16\x03\x01\r\n\r\n", "400"},
    {"a body that is too large", "POST / HTTP/1.1\r\n" HOST "Content-Length: 3145729\r\n\r\n",
     "413"},
};

/* covers: kube-api.md 13; reliability.md SEC-08 FT-18 */
static void refused_requests_are_told_why_and_closed(void **state)
{
    for (size_t i = 0; i < countof(refusals); i++) {
        const struct refusal *c = &refusals[i];
        scoped_str status = mem_printf("HTTP/1.1 %s ", c->status);
        struct http_fixture http;
        const char *text;

        http_fixture_start(&http);
        text = http_fixture_exchange(&http, c->bytes);
        check_has(c->name, text, status);
        check_has(c->name, text, "Connection: close\r\n");
        check_has(c->name, text, "\"kind\":\"Status\"");
        check_int(c->name, count(text, "HTTP/1.1 "), 1);
        /* The server has ended its side, and drops what still comes. */
        check(c->name, !http_fixture_read(&http));
        check(c->name, write(http.fd, "more", 4) == 4 || errno == EPIPE);
        loop_advance(http.fixture.loop, 1000);
        check(c->name, http.closed);
        http_fixture_stop(&http);
    }
}

static void a_target_that_is_refused_keeps_the_connection(void **state)
{
    struct http_fixture http;

    http_fixture_start(&http);
    check_has("dots", http_fixture_exchange(&http, "GET /api/../x HTTP/1.1\r\n" HOST "\r\n"),
              " 400 ");
    check_has("next", http_fixture_exchange(&http, "GET /readyz HTTP/1.1\r\n" HOST "\r\n"),
              " 200 ");
    http_fixture_stop(&http);
}

/* covers: kube-api.md 14; reliability.md L-23 L-24 SEC-10 */
static void slow_heads_and_bodies_are_ended(void **state)
{
    struct http_fixture http;

    http_fixture_start(&http);
    for (int s = 0; s < 9; s++) { /* a byte a second does not move the deadline */
        http_fixture_send(&http, "G");
        loop_advance(http.fixture.loop, 1000);
    }
    check("still there", !http.closed && http.in.len == 0);
    loop_advance(http.fixture.loop, 1001);
    http_fixture_read(&http);
    check_has("head", http.in.data, "HTTP/1.1 408 Request Timeout\r\n");
    check("closed", http.closed);
    http_fixture_stop(&http);

    http_fixture_start(&http);
    http_fixture_send(&http, "POST " CM " HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\n");
    for (int s = 0; s < 29; s++) {
        http_fixture_send(&http, " ");
        loop_advance(http.fixture.loop, 1000);
    }
    check("body goes on", !http.closed);
    loop_advance(http.fixture.loop, 1001);
    http_fixture_read(&http);
    check_has("body", http.in.data, "HTTP/1.1 408 ");
    http_fixture_stop(&http);

    http_fixture_start(&http);
    loop_advance(http.fixture.loop, 59000);
    check("idle", !http.closed);
    loop_advance(http.fixture.loop, 1001);
    check("idle too long", http.closed);
    check_int("without a word", http.in.len, 0);
    http_fixture_stop(&http);
}

/* covers: kube-api.md 80 84 133 */
static void a_watch_goes_on_in_chunks_until_either_side_ends_it(void **state)
{
    struct http_fixture http;
    const char *text;

    http_fixture_start(&http);
    text = http_fixture_exchange(&http,
                                 "GET " CM "?watch=1&timeoutSeconds=2 HTTP/1.1\r\n" HOST "\r\n");
    check_has("head at once", text, "Transfer-Encoding: chunked\r\n\r\n");
    check_str("nothing yet", strstr(text, "\r\n\r\n"), "\r\n\r\n");
    loop_advance(http.fixture.loop, 2001);
    http_fixture_read(&http);
    check_has("last chunk", http.in.data, "\r\n\r\n0\r\n\r\n");
    check("kept alive", !http.closed);
    text = http_fixture_exchange(&http, "GET " CM "?watch=1 HTTP/1.1\r\n" HOST "\r\n");
    check_has("again", text, " 200 ");
    shutdown(http.fd, SHUT_WR);
    loop_settle(http.fixture.loop);
    check("the watch ends with its reader", http.closed);
    http_fixture_stop(&http);
}

static void a_half_closed_client_still_gets_its_response(void **state)
{
    struct http_fixture http;

    http_fixture_start(&http);
    http_fixture_put(&http, "GET " CM " HTTP/1.1\r\n" HOST "\r\n");
    shutdown(http.fd, SHUT_WR);
    loop_settle(http.fixture.loop);
    http_fixture_read(&http);
    check_has("answer", http.in.data ? http.in.data : "", "\"items\":[");
    check("closed after", http.closed);
    http_fixture_stop(&http);
}

static void make_config_maps(struct http_fixture *http, int n, size_t bytes)
{
    scoped(buf) struct buf filler = {0};

    while (filler.len < bytes)
        buf_char(&filler, 'x');
    for (int i = 0; i < n; i++) {
        scoped(capture) struct api_capture capture = {0};
        scoped_str body = mem_printf("{\"metadata\":{\"name\":\"c%03d\"},\"data\":{\"k\":\"%s\"}}",
                                     i, filler.data ? filler.data : "");

        check_int("create", api_send(&http->fixture, &capture, "POST", CM, .body = body), 201);
    }
}

/* covers: kube-api.md 91; reliability.md L-27 L-29 */
static void a_long_list_is_produced_as_it_is_read(void **state)
{
    struct http_fixture http;
    const char *text;
    bool open;

    http_fixture_start(&http);
    make_config_maps(&http, 40, 100000);
    http_fixture_put(&http, "GET " CM " HTTP/1.1\r\n" HOST "\r\n");
    loop_settle(http.fixture.loop);
    for (int i = 0; i < 1000 && (open = http_fixture_read(&http)); i++) {
        loop_settle(http.fixture.loop);
        if (http.in.len > 5 && memcmp(http.in.data + http.in.len - 5, "0\r\n\r\n", 5) == 0)
            break;
    }
    text = http.in.data;
    check_has("chunked", text, "Transfer-Encoding: chunked");
    check_int("all", count(text, "\"name\":\"c"), 40);
    check("open", open);
    http_fixture_stop(&http);
}

static void a_reader_that_stalls_is_dropped(void **state)
{
    struct http_fixture http;

    http_fixture_start(&http);
    make_config_maps(&http, 20, 100000);
    http_fixture_put(&http, "GET " CM " HTTP/1.1\r\n" HOST "\r\n");
    loop_settle(http.fixture.loop);
    check("waits", !http.closed);
    loop_advance(http.fixture.loop, 30001);
    check("dropped", http.closed);
    http_fixture_stop(&http);
}

static void one_connection_too_many_gets_503(void **state)
{
    struct http_fixture http = {.fd = -1};

    api_fixture_start(&http.fixture, NULL);
    http_fixture_open(&http);
    connection_refuse_busy(http.connection);
    loop_settle(http.fixture.loop);
    http_fixture_read(&http);
    check_has("503", http.in.data, "HTTP/1.1 503 Service Unavailable\r\n");
    loop_advance(http.fixture.loop, 1001);
    http_fixture_stop(&http);
}

static void the_api_may_stop_while_requests_are_open(void **state)
{
    struct http_fixture http;

    http_fixture_start(&http);
    http_fixture_exchange(&http, "GET " CM "?watch=1 HTTP/1.1\r\n" HOST "\r\n");
    api_free(http.fixture.api);
    http.fixture.api = NULL;
    loop_settle(http.fixture.loop);
    http_fixture_read(&http);
    check_has("last chunk", http.in.data, "\r\n\r\n0\r\n\r\n");
    http_fixture_stop(&http);
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
        return fd;
    }
    close(fd);
    return -1;
}

/* covers: reliability.md SEC-01 */
static void the_socket_is_private_and_removed_at_the_end(void **state)
{
    struct http_fixture http = {.fd = -1};
    scoped_str path = test_path("api.sock");
    struct listener *listener;
    struct error err = {0};
    struct stat info;

    api_fixture_start(&http.fixture, NULL);
    for (int life = 0; life < 2; life++) { /* the second listener finds a stale socket */
        listener = listener_new(http.fixture.loop, http.fixture.api, NULL);
        check_ok("listen", listener_add_unix(listener, path, 0600, &err), err);
        check_int("there", lstat(path, &info), 0);
        check_int("mode", info.st_mode & 07777, 0600);
        http.fd = connect_to(path);
        check("connected", http.fd >= 0);
        check_has("answered", http_fixture_exchange(&http, "GET /livez HTTP/1.1\r\n" HOST "\r\n"),
                  " 200 ");
        listener_stop(listener);
        loop_settle(http.fixture.loop);
        check("ended", !http_fixture_read(&http));
        check_int("gone", lstat(path, &info), -1);
        close(http.fd);
        close(connect_to(path));
        check_int("stale", mknod(path, S_IFREG | 0600, 0), 0);
    }
    buf_release(&http.in);
    api_fixture_stop(&http.fixture);
}

static void remaining_output_is_sent_when_the_server_stops(void **state)
{
    struct http_fixture http = {.fd = -1};
    scoped_str path = test_path("last.sock");
    struct listener *listener;
    const struct api_request create = {.method = API_POST,
                                       .target = CM,
                                       .body = "{\"metadata\":{\"name\":\"z\"}}",
                                       .body_len = 25};

    api_fixture_start(&http.fixture, NULL);
    listener = listener_new(http.fixture.loop, http.fixture.api, NULL);
    listener_add_unix(listener, path, 0600, NULL);
    http.fd = connect_to(path);
    http_fixture_exchange(&http, "GET " CM "?watch=1 HTTP/1.1\r\n" HOST "\r\n");

    struct api_capture capture = {0};

    api_capture_start(&http.fixture, &capture, "GET", "/livez",
                      &(const struct api_request_options){0});
    capture.stream = api_handle(http.fixture.api, &create, &capture.response);
    api_free(http.fixture.api);
    http.fixture.api = NULL;
    listener_stop(listener);
    loop_settle(http.fixture.loop);
    check("ended", !http_fixture_read(&http));
    check_has("last chunk", http.in.data, "0\r\n\r\n");
    close(http.fd);
    api_capture_release(&capture);
    buf_release(&http.in);
    api_fixture_stop(&http.fixture);
}

static void the_path_of_the_socket_may_be_long(void **state)
{
    struct http_fixture http = {.fd = -1};
    scoped(buf) struct buf path = {0};
    scoped_str top = test_path("d");
    struct listener *listener;
    struct error err = {0};
    struct stat info;

    buf_str(&path, top);
    for (int i = 0; i < 10; i++) {
        mkdir(path.data, 0700);
        buf_str(&path, "/a-directory-with-a-name");
    }
    mkdir(path.data, 0700);
    buf_str(&path, "/api.sock");
    check("long", path.len > 200);
    api_fixture_start(&http.fixture, NULL);
    listener = listener_new(http.fixture.loop, http.fixture.api, NULL);
    check_ok("listen", listener_add_unix(listener, path.data, 0600, &err), err);
    check_int("there", lstat(path.data, &info), 0);
    listener_stop(listener);
    loop_settle(http.fixture.loop);
    check_int("gone", lstat(path.data, &info), -1);
    buf_str(&path, "/nowhere/api.sock");
    listener = listener_new(http.fixture.loop, http.fixture.api, NULL);
    check("no directory", !listener_add_unix(listener, path.data, 0600, &err));
    listener_stop(listener);
    api_fixture_stop(&http.fixture);
}

/* The histogram of durations only has requests that end by themselves. */
static void a_watch_that_times_out_is_counted_without_its_duration(void **state)
{
    scoped(buf) struct buf text = {0};
    struct http_fixture http;

    http_fixture_start(&http);
    http_fixture_exchange(&http, "GET /livez HTTP/1.1\r\n" HOST "\r\n");
    http_fixture_exchange(&http, "GET " CM "?watch=1&timeoutSeconds=5 HTTP/1.1\r\n" HOST "\r\n");
    loop_advance(http.fixture.loop, 6000);
    http_fixture_read(&http);
    check_has("ended", http.in.data, "\r\n0\r\n\r\n");
    metrics_write(loop_metrics(http.fixture.loop), &text);
    check_has("both", text.data, "jobflow_api_requests_total{method=\"GET\",code=\"200\"} 2\n");
    check_has("one duration", text.data, "jobflow_api_request_duration_seconds_count 1\n");
    http_fixture_stop(&http);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_answered_with_its_length),
        cmocka_unit_test(bodies_come_with_a_length_or_in_chunks),
        cmocka_unit_test(a_request_may_come_byte_by_byte),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(refused_requests_are_told_why_and_closed),
        cmocka_unit_test(a_target_that_is_refused_keeps_the_connection),
        cmocka_unit_test(slow_heads_and_bodies_are_ended),
        cmocka_unit_test(a_watch_goes_on_in_chunks_until_either_side_ends_it),
        cmocka_unit_test(a_half_closed_client_still_gets_its_response),
        cmocka_unit_test(a_long_list_is_produced_as_it_is_read),
        cmocka_unit_test(a_reader_that_stalls_is_dropped),
        cmocka_unit_test(one_connection_too_many_gets_503),
        cmocka_unit_test(the_api_may_stop_while_requests_are_open),
        cmocka_unit_test(the_socket_is_private_and_removed_at_the_end),
        cmocka_unit_test(remaining_output_is_sent_when_the_server_stops),
        cmocka_unit_test(the_path_of_the_socket_may_be_long),
        cmocka_unit_test(a_watch_that_times_out_is_counted_without_its_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
