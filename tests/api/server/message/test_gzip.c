#include "tests/unit.h"

#include <zlib.h>

#include "api/server/message/gzip.h"
#include "tests/support/http_fixture.h"

/* Tests the gzip coding of responses, whole and in chunks. */

#define CMS CM

static void gzip_is_used_only_if_named_exactly(void **state)
{
    static const struct {
        const char *header;
        bool accepted;
    } cases[] = {
        {NULL, false},      {"", false},           {"gzip", true},      {"deflate, gzip", true},
        {"GZIP ,br", true}, {"gzip;q=1.0", false}, {"identity", false}, {"xgzip", false},
        {",,gzip,", true},  {"gzip2, gzi", false},
    };

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].header ? cases[i].header : "none", gzip_is_accepted(cases[i].header),
                  cases[i].accepted);
}

/* Decodes the gzip coding. The result is owned. */
static char *decoded(const struct buf *coded, size_t *out_len)
{
    z_stream z = {.next_in = (Bytef *)coded->data, .avail_in = (uInt)coded->len};
    size_t room = 64 << 20;
    char *text = mem_alloc(room);

    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_out = (Bytef *)text;
    z.avail_out = (uInt)room;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    *out_len = z.total_out;
    inflateEnd(&z);
    return text;
}

static void fill(struct api_fixture *fixture, size_t objects)
{
    scoped_str text = mem_alloc(1024);

    memset(text, 'x', 1023);
    for (size_t i = 0; i < objects; i++) {
        scoped(capture) struct api_capture capture = {0};
        scoped_str body =
            mem_printf("{\"metadata\":{\"name\":\"c%zu\"},\"data\":{\"a\":\"%s\"}}", i, text);

        check_int("made", api_send(fixture, &capture, "POST", CMS, .body = body), 201);
    }
}

/* covers: kube-api.md 10 */
static void long_responses_are_coded_if_accepted(void **state)
{
    static const struct {
        const char *name, *method, *target, *accept_encoding;
        bool coded;
    } cases[] = {
        {"a long list", "GET", CMS, "gzip", true},
        {"a document", "GET", "/openapi/v2", "gzip", true},
        {"a short list", "GET", CMS "?limit=10", "gzip", false},
        {"asked for as it is", "GET", CMS, "identity", false},
        {"not asked", "GET", CMS, NULL, false},
        {"a head", "HEAD", CMS, "gzip", false},
    };
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    fill(&fixture, 400);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(capture) struct api_capture plain = {0}, capture = {0};
        const char *headers;

        check_int(cases[i].name, api_send(&fixture, &plain, cases[i].method, cases[i].target), 200);
        check_int(cases[i].name,
                  api_send(&fixture, &capture, cases[i].method, cases[i].target,
                           .accept_encoding = cases[i].accept_encoding),
                  200);
        headers = capture.headers.data ? capture.headers.data : "";
        check(cases[i].name, capture.ended);
        check_int(cases[i].name, strstr(headers, "Content-Encoding: gzip\n") != NULL,
                  cases[i].coded);
        check_int(cases[i].name, strstr(headers, "Vary: Accept-Encoding\n") != NULL,
                  cases[i].coded);
        if (cases[i].coded) {
            size_t len;
            scoped_str text = decoded(&capture.body, &len);

            check_int(cases[i].name, len, plain.body.len);
            check(cases[i].name, memcmp(text, plain.body.data, len) == 0);
            check(cases[i].name, capture.body.len < len / 4);
        } else {
            check_int(cases[i].name, capture.body.len, plain.body.len);
        }
    }
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 9 */
static void bodies_have_their_limit(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    size_t size = (3 << 20) + 1;
    scoped_str body = mem_alloc(size + 1);
    struct api_fixture fixture;

    memset(body, ' ', size);
    memcpy(body, "{}", 2);
    api_fixture_start(&fixture, NULL);
    check_int("one too many", api_send(&fixture, &capture, "POST", CMS, .body = body), 413);
    check_has("one too many", capture.body.data,
              "\"message\":\"Request entity too large: limit is 3145728\"");
    body[size - 1] = '\0';
    check_int("as many as may be", api_send(&fixture, &capture, "POST", CMS, .body = body), 422);
    api_fixture_stop(&fixture);
}

/* Joins the chunks from `at` on and checks that nothing follows the last one. */
static void join_chunks(const char *at, struct buf *out)
{
    for (size_t n; (n = strtoul(at, NULL, 16));) {
        at = strstr(at, "\r\n");
        assert_non_null(at);
        buf_add(out, at + 2, n);
        at += 2 + n + 2;
    }
    at = strstr(at, "\r\n");
    assert_non_null(at);
    check_str("the end", at, "\r\n\r\n");
}

/* The coder produces no output for many of the pieces that it gets. They must not become chunks,
 * because an empty chunk ends the response. */
static void a_list_that_compresses_well_is_complete(void **state)
{
    scoped(buf) struct buf coded = {0};
    scoped_str text = NULL;
    struct http_fixture http;
    size_t len;
    const char *body;

    http_fixture_start(&http);
    fill(&http.fixture, 3000);
    http_fixture_put(&http, "GET " CM " HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n");
    loop_settle(http.fixture.loop);
    http_fixture_read(&http);
    body = strstr(http.in.data, "\r\n\r\n");
    assert_non_null(body);
    check_has("in pieces", http.in.data, "Transfer-Encoding: chunked");
    join_chunks(body + 4, &coded);
    text = decoded(&coded, &len);
    check_has("the last", text + len - 2000, "\"name\":\"c999\"");
    http_fixture_stop(&http);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_is_used_only_if_named_exactly),
        cmocka_unit_test(long_responses_are_coded_if_accepted),
        cmocka_unit_test(a_list_that_compresses_well_is_complete),
        cmocka_unit_test(bodies_have_their_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
