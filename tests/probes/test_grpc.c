/*
 * Tests probes/http_grpc against servers that write their frames of HTTP/2 by hand.
 */
#include "tests/unit.h"

#include <arpa/inet.h>

#include "base/buf.h"
#include "tests/support/probe_fixture.h"

enum frame_type { FRAME_DATA, FRAME_HEADERS, FRAME_SETTINGS = 4 };
enum { END_STREAM = 1, END_HEADERS = 4, ACK = 1 };

static void frame(struct buf *out, enum frame_type type, int flags, int stream, const void *bytes,
                  size_t len)
{
    uint32_t on = htonl((uint32_t)stream);

    buf_char(out, (char)(len >> 16));
    buf_char(out, (char)(len >> 8));
    buf_char(out, (char)len);
    buf_char(out, (char)type);
    buf_char(out, (char)flags);
    buf_add(out, &on, sizeof on);
    if (len)
        buf_add(out, bytes, len);
}

/* Writes a literal header field that is not indexed. */
static void header(struct buf *out, const char *name, const char *value)
{
    buf_char(out, 0);
    buf_char(out, (char)strlen(name));
    buf_str(out, name);
    buf_char(out, (char)strlen(value));
    buf_str(out, value);
}

struct grpc_case {
    const char *name;
    const char *message; /* bytes of the DATA frame, [7]; NULL = the response has only trailers */
    const char *status;  /* value of the trailer grpc-status */
    bool passes;
};

#define SERVING_IS(status) "\0\0\0\0\2\x08" status

static const struct grpc_case cases[] = {
    {"serving", SERVING_IS("\1"), "0", true},
    {"not serving", SERVING_IS("\2"), "0", false},
    {"unknown", SERVING_IS("\0"), "0", false},
    {"serving, and a failure behind it", SERVING_IS("\1"), "2", false},
    {"no such service", NULL, "5", false},
    {"no such service", NULL, "12", false},
};

static void put_answer(const struct grpc_case *c, struct buf *out)
{
    scoped(buf) struct buf head = {0}, trailers = {0};

    buf_char(&head, (char)0x88); /* the encoded header ":status 200" */
    header(&head, "content-type", "application/grpc");
    header(c->message ? &trailers : &head, "grpc-status", c->status);
    frame(out, FRAME_SETTINGS, 0, 0, NULL, 0);
    frame(out, FRAME_SETTINGS, ACK, 0, NULL, 0);
    frame(out, FRAME_HEADERS, END_HEADERS | (c->message ? 0 : END_STREAM), 1, head.data, head.len);
    if (!c->message)
        return;
    frame(out, FRAME_DATA, 0, 1, c->message, 7);
    frame(out, FRAME_HEADERS, END_HEADERS | END_STREAM, 1, trailers.data, trailers.len);
}

static bool ask(struct probe_fixture *fixture, struct canned_server *peer, int32_t timeout_s)
{
    const struct probe_grpc entry = {"name.of.service", timeout_s};
    const struct probe_address address = probe_fixture_address(peer);
    struct probe_outcome outcome = probe_outcome_of(fixture);

    check("begun", probe_grpc_start(fixture->client, &outcome.attempt, &entry, &address));
    return probe_outcome_wait(&outcome);
}

static void the_answer_decides(void **state)
{
    scoped(probe_fixture) struct probe_fixture *fixture = probe_fixture_new();

    for (size_t i = 0; i < countof(cases); i++) {
        struct canned_server *peer = canned_server_new(fixture->loop, NULL);
        scoped(buf) struct buf answer = {0};

        put_answer(&cases[i], &answer);
        canned_server_set_answer_bytes(peer, answer.data, answer.len, "\x0fname.of.service");
        canned_server_keep_open(peer);
        check_int(cases[i].name, ask(fixture, peer, 30), cases[i].passes);
        canned_server_free(peer);
    }
}

/* covers: reliability.md L-33 */
static void others_do_not_pass(void **state)
{
    static const struct {
        const char *name, *answer;
    } others[] = {
        {"never answers", NULL},
        {"a web server", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nSERVING"},
        {"none at all", "hello\r\n"},
    };
    scoped(probe_fixture) struct probe_fixture *fixture = probe_fixture_new();

    for (size_t i = 0; i < countof(others); i++) {
        struct canned_server *peer = canned_server_new(fixture->loop, others[i].answer);

        check(others[i].name, !ask(fixture, peer, 1));
        canned_server_free(peer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_decides),
        cmocka_unit_test(others_do_not_pass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
