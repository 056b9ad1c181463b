#include "tests/unit.h"

#include "api/server/message/accept.h"
#include "api/server/message/request_head.h"
#include "base/buf.h"

/* covers: reliability.md SEC-08 FT-18; kube-api.md 13 14 */

struct head_case {
    const char *name, *text;
    enum error_code code; /* expected error; ERR_NONE: the head is accepted */
    const char *message;
};

#define GET "GET / HTTP/1.1\r\nHost: x\r\n"

static const struct head_case cases[] = {
    {"the least", GET "\r\n", ERR_NONE, NULL},
    {"names in any case", "GET / HTTP/1.1\r\nhOsT: x\r\n\r\n", ERR_NONE, NULL},
    {"blanks around values", GET "Content-Length: \t5 \r\n\r\n", ERR_NONE, NULL},
    {"an empty value", GET "X-A:\r\n\r\n", ERR_NONE, NULL},
    {"1.0 needs no Host", "GET / HTTP/1.0\r\n\r\n", ERR_NONE, NULL},
    {"a tab in a value", GET "X-A: a\tb\r\n\r\n", ERR_NONE, NULL},
    {"chunked in any case", GET "Transfer-Encoding: Chunked\r\n\r\n", ERR_NONE, NULL},
    {"bytes beyond ASCII in a value", GET "X-A: \xc3\xa4\r\n\r\n", ERR_NONE, NULL},
    {"no Host", "GET / HTTP/1.1\r\n\r\n", ERR_BAD_REQUEST, "Host is missing"},
    {"an empty line first", "\r\nGET / HTTP/1.1\r\n\r\n", ERR_BAD_REQUEST, "line is empty"},
    {"nothing but an empty line", "\r\n\r\n", ERR_BAD_REQUEST, "line is empty"},
    {"two Hosts", GET "Host: y\r\n\r\n", ERR_BAD_REQUEST, "Host may be given only once"},
    {"the same Host twice", GET "Host: x\r\n\r\n", ERR_BAD_REQUEST, "only once"},
    {"two lengths", GET "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", ERR_BAD_REQUEST,
     "Content-Length may be given only once"},
    {"a list of lengths", GET "Content-Length: 1, 1\r\n\r\n", ERR_BAD_REQUEST, "digits"},
    {"a signed length", GET "Content-Length: +1\r\n\r\n", ERR_BAD_REQUEST, "digits"},
    {"a hexadecimal length", GET "Content-Length: 0x10\r\n\r\n", ERR_BAD_REQUEST, "digits"},
    {"no length", GET "Content-Length:\r\n\r\n", ERR_BAD_REQUEST, "a number"},
    {"a length beyond 64 bits", GET "Content-Length: 99999999999999999999\r\n\r\n", ERR_BAD_REQUEST,
     "a number"},
    {"both framings", GET "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
     ERR_BAD_REQUEST, "exclude each other"},
    {"another coding", GET "Transfer-Encoding: gzip\r\n\r\n", ERR_NOT_IMPLEMENTED, "chunked"},
    {"chunked twice", GET "Transfer-Encoding: chunked, chunked\r\n\r\n", ERR_NOT_IMPLEMENTED,
     "chunked"},
    {"identity", GET "Transfer-Encoding: identity\r\n\r\n", ERR_NOT_IMPLEMENTED, "chunked"},
    {"chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", ERR_BAD_REQUEST,
     "needs HTTP/1.1"},
    {"two credentials", GET "Authorization: a\r\nAuthorization: b\r\n\r\n", ERR_BAD_REQUEST,
     "Authorization may be given only once"},
    {"a blank before the colon", GET "X-A : b\r\n\r\n", ERR_BAD_REQUEST, "malformed"},
    {"a folded line", GET "X-A: b\r\n c\r\n\r\n", ERR_BAD_REQUEST, "malformed"},
    {"no colon", GET "nonsense\r\n\r\n", ERR_BAD_REQUEST, "malformed"},
    {"no name", GET ": b\r\n\r\n", ERR_BAD_REQUEST, "malformed"},
    {"a bare CR", GET "X-A: b\rc\r\n\r\n", ERR_BAD_REQUEST, "CR LF"},
    {"a bare LF", GET "X-A: b\nX-B: c\r\n\r\n", ERR_BAD_REQUEST, "CR LF"},
    {"a control byte", GET "X-A: b\x01\r\n\r\n", ERR_BAD_REQUEST, "control bytes"},
    {"a deleted byte", GET "X-A: b\x7f\r\n\r\n", ERR_BAD_REQUEST, "control bytes"},
    {"an absolute target", "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", ERR_BAD_REQUEST,
     "begin with /"},
    {"a tunnel", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", ERR_BAD_REQUEST, "begin with /"},
    {"the whole server", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", ERR_BAD_REQUEST, "begin with /"},
    {"impersonation", GET "impersonate-user: boss\r\n\r\n", ERR_NOT_IMPLEMENTED,
     "kubectl --as) is not supported"},
    {"impersonation of a group", GET "Impersonate-Group: g\r\n\r\n", ERR_NOT_IMPLEMENTED,
     "Impersonate-User"},
    {"no target", "GET\r\nHost: x\r\n\r\n", ERR_BAD_REQUEST, "begin with /"},
};

static void heads_that_parsers_read_differently_are_refused(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct head_case *c = &cases[i];
        struct request_head head;
        struct error err = {0};

        if (c->code == ERR_NONE) {
            check_ok(c->name, request_head_parse(c->text, strlen(c->text), &head, &err), err);
            continue;
        }
        check_error(c->name, request_head_parse(c->text, strlen(c->text), &head, &err), err,
                    c->code);
        check_has(c->name, err.message, c->message);
    }
}

static void a_nul_in_the_head_is_refused(void **state)
{
    static const char text[] = GET "X-A: a\0b\r\n\r\n";
    struct request_head head;
    struct error err = {0};

    check_error("NUL", request_head_parse(text, sizeof text - 1, &head, &err), err,
                ERR_BAD_REQUEST);
}

static void too_many_headers_are_refused(void **state)
{
    scoped(buf) struct buf text = {0};
    struct request_head head;
    struct error err = {0};

    buf_str(&text, GET);
    for (int i = 1; i < REQUEST_HEADERS_MAX; i++)
        buf_printf(&text, "X-%d: v\r\n", i);
    buf_str(&text, "\r\n");
    check_ok("at the limit", request_head_parse(text.data, text.len, &head, &err), err);
    text.len -= 2;
    buf_str(&text, "X: v\r\n\r\n");
    check_error("beyond", request_head_parse(text.data, text.len, &head, &err), err,
                ERR_HEAD_TOO_LARGE);
}

static void the_headers_that_are_used_are_found(void **state)
{
    static const char text[] = GET "accept:  a, b \r\nAccept: c\r\nContent-Type: t\r\n"
                                   "Expect: 100-continue\r\n\r\n";
    struct request_head head;

    check("parsed", request_head_parse(text, sizeof text - 1, &head, NULL));
    check_int("accept", head.accept.len, 4);
    check("accept", memcmp(head.accept.text, "a, b", 4) == 0);
    check_int("type", head.content_type.len, 1);
    check_int("expect", head.expect.len, 12);
}

static void the_end_of_a_head_is_found_however_it_arrives(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\nbody\r\n\r\n";
    size_t want = sizeof GET + 1, searched = 0;

    for (size_t len = 0; len < sizeof text; len++) {
        size_t got = request_head_length(text, len, searched);

        check_int("split", got, len < want ? 0 : want);
        if (got)
            break;
        searched = len;
    }
}

struct accept_case {
    const char *accept;
    enum accept_endpoint endpoint;
    bool refused;
    struct media want;
    enum accept_protobuf protobuf;
};

#define TABLE   "application/json;as=Table;v=v1;g=meta.k8s.io"
#define PARTIAL "application/json;as=PartialObjectMetadata"

static const struct accept_case accepts[] = {
    {NULL, ACCEPT_LIST, false, {MEDIA_JSON, "v1"}},
    {"", ACCEPT_LIST, false, {MEDIA_JSON, "v1"}},
    {"*/*", ACCEPT_PLAIN, false, {MEDIA_JSON, "v1"}},
    {"application/*", ACCEPT_PLAIN, false, {MEDIA_JSON, "v1"}},
    {"text/html", ACCEPT_LIST, true, {0}},
    {"text/html, application/json;q=0.1", ACCEPT_LIST, false, {MEDIA_JSON, "v1"}},
    {"application/vnd.kubernetes.protobuf,application/json",
     ACCEPT_ITEM,
     false,
     {MEDIA_JSON, "v1"}},
    {"application/vnd.kubernetes.protobuf,application/json",
     ACCEPT_ITEM,
     false,
     {MEDIA_JSON, "v1"},
     PROTOBUF_POSSIBLE},
    {PROTOBUF_TYPE, ACCEPT_ITEM, true, {0}},
    {PROTOBUF_TYPE, ACCEPT_ITEM, false, {MEDIA_PROTOBUF, "v1"}, PROTOBUF_POSSIBLE},
    {"text/html, " PROTOBUF_TYPE ";stream=watch",
     ACCEPT_ITEM,
     false,
     {MEDIA_PROTOBUF, "v1"},
     PROTOBUF_POSSIBLE},
    {PROTOBUF_TYPE ";as=Table;g=meta.k8s.io;v=v1", ACCEPT_LIST, true, {0}, PROTOBUF_POSSIBLE},
    {TABLE, ACCEPT_LIST, false, {MEDIA_TABLE, "v1"}},
    {"application/json; g=meta.k8s.io; v=v1beta1; as=Table",
     ACCEPT_ITEM,
     false,
     {MEDIA_TABLE, "v1beta1"}},
    {TABLE ",application/json", ACCEPT_PLAIN, false, {MEDIA_JSON, "v1"}},
    {TABLE, ACCEPT_PLAIN, true, {0}},
    {"application/json;as=Table;v=v9;g=meta.k8s.io, application/json",
     ACCEPT_LIST,
     false,
     {MEDIA_JSON, "v1"}},
    {PARTIAL ";v=v1;g=meta.k8s.io", ACCEPT_ITEM, false, {MEDIA_PARTIAL, "v1"}},
    {PARTIAL ";v=v1;g=meta.k8s.io", ACCEPT_LIST, true, {0}},
    {PARTIAL "List;v=v1;g=meta.k8s.io", ACCEPT_LIST, false, {MEDIA_PARTIAL, "v1"}},
    {"application/json;stream=watch", ACCEPT_ITEM, false, {MEDIA_JSON, "v1"}},
    {"application/json;as=Nonsense, */*", ACCEPT_LIST, false, {MEDIA_JSON, "v1"}},
    {",,;", ACCEPT_LIST, true, {0}},
};

/* covers: kube-api.md 4 5 */
static void the_first_clause_the_endpoint_can_produce_counts(void **state)
{
    for (size_t i = 0; i < countof(accepts); i++) {
        const struct accept_case *c = &accepts[i];
        const char *name = c->accept ? c->accept : "(none)";
        struct media media;
        struct error err = {0};

        if (c->refused) {
            check_error(name, accept_negotiate(c->accept, c->endpoint, c->protobuf, &media, &err),
                        err, ERR_NOT_ACCEPTABLE);
            continue;
        }
        check_ok(name, accept_negotiate(c->accept, c->endpoint, c->protobuf, &media, &err), err);
        check_int(name, media.form, c->want.form);
        check_str(name, media.version, c->want.version);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_that_parsers_read_differently_are_refused),
        cmocka_unit_test(a_nul_in_the_head_is_refused),
        cmocka_unit_test(too_many_headers_are_refused),
        cmocka_unit_test(the_headers_that_are_used_are_found),
        cmocka_unit_test(the_end_of_a_head_is_found_however_it_arrives),
        cmocka_unit_test(the_first_clause_the_endpoint_can_produce_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
