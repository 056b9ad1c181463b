/*
 * A request whose credential ends while the request is looked at.
 *
 * covers: web.md WEB-032
 */
#include "tests/unit.h"

#include "api/server/auth/identity.h"
#include "web/site.h"

/* Packed files with an empty page: three numbers, the name and the gzipped bytes. */
static const unsigned char pack[] = {'J', 'F', 'A', '1',  11,   0,   0,   0,   20,  0,   0,   0,
                                     0,   0,   0,   0,    'i',  'n', 'd', 'e', 'x', '.', 'h', 't',
                                     'm', 'l', 0,   0x1f, 0x8b, 8,   0,   0,   0,   0,   0,   0,
                                     3,   3,   0,   0,    0,    0,   0,   0,   0,   0,   0};

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct web_site *site;
    struct identity *identity; /* NULL: the credential gives none any more */
    struct api_response response;
    int status;
    char *cookie;
    struct buf body;
};

static void on_head(struct api_response *response, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    static const char begins[] = "Set-Cookie: ";
    struct fixture *f = container_of(response, struct fixture, response);

    f->status = status;
    for (size_t i = 0; i < n_headers; i++)
        if (strncmp(headers[i], begins, sizeof begins - 1) == 0)
            f->cookie = mem_printf("%.*s", (int)strcspn(headers[i] + sizeof begins - 1, ";"),
                                   headers[i] + sizeof begins - 1);
}

static void on_data(struct api_response *response, const void *bytes, size_t len)
{
    buf_add(&container_of(response, struct fixture, response)->body, bytes, len);
}

static void on_end(struct api_response *response)
{
    loop_stop(container_of(response, struct fixture, response)->loop);
}

static bool take_token(void *ctx, const char *token, const char *peer, struct buf *credential)
{
    buf_str(credential, token);
    return true;
}

static struct identity *identity_of(void *ctx, const char *credential)
{
    return ((struct fixture *)ctx)->identity;
}

static void start(struct fixture *f)
{
    struct web_site_options options = {.signins_path = NULL,
                                       .another_link = "",
                                       .identity_of = identity_of,
                                       .take_token = take_token,
                                       .ctx = f};
    struct error err = {0};

    *f = (struct fixture){.clock = clock_virtual_new(1000, 1),
                          .response = {.head = on_head, .data = on_data, .end = on_end}};
    f->loop = loop_new(f->clock);
    options.loop = f->loop;
    options.assets = pack;
    options.assets_len = sizeof pack;
    f->site = web_site_new(&options, &err);
    check_ok("site", f->site != NULL, err);
}

static void stop(struct fixture *f)
{
    web_site_free(f->site);
    identity_unref(f->identity);
    loop_free(f->loop);
    clock_free(f->clock);
    mem_free(f->cookie);
    buf_release(&f->body);
}

static void sign_in(struct fixture *f)
{
    static const char head[] = "POST /ui/signin HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char body[] = "{\"token\":\"a\"}";
    struct http_handler *handler = web_site_handler(f->site);
    const struct api_request request = {.method = API_POST,
                                        .target = "/ui/signin",
                                        .content_type = "application/json",
                                        .body = body,
                                        .body_len = sizeof body - 1,
                                        .head = head,
                                        .head_len = sizeof head - 1};

    handler->ops->handle(handler, &request, &f->response);
    loop_run(f->loop);
    check_int("signed in", f->status, 200);
}

static void a_credential_that_has_just_ended_identifies_nobody(void **state)
{
    static const char begins[] = "{\"key\":\"";
    struct fixture f;

    start(&f);
    f.identity = identity_new("alice", NULL, 0);
    sign_in(&f);
    scoped_str head =
        mem_printf("GET /ui/v1/me HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nJobflow-Key: "
                   "%.43s\r\n\r\n",
                   f.cookie, f.body.data + sizeof begins - 1);
    const struct api_request request = {
        .method = API_GET, .target = "/ui/v1/me", .head = head, .head_len = strlen(head)};
    struct http_handler *handler = web_site_handler(f.site);
    scoped(identity) struct identity *known = handler->ops->identify(handler, &request);

    check("while it is good", known != NULL && known == f.identity);
    identity_unref(f.identity);
    f.identity = NULL;
    check("when it has ended", handler->ops->identify(handler, &request) == NULL);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_credential_that_has_just_ended_identifies_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
