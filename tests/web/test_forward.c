/*
 * What the requests of pages hold together while they are passed on. The API server behind the
 * gateway is one on a loopback port.
 */
#include "tests/unit.h"

#include "tests/support/canned_server.h"
#include "web/internal.h"

enum { HELD_MAX = 1000000, LARGE = 600000, CLIENTS = 3 };

#define FLOWS "apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
#define PODS  "api/v1/namespaces/default/pods"

/* A request of a page and its client, which reads only when the test says so. */
struct client {
    struct api_response response;
    struct loop *loop;         /* stops when the answer begins or is broken off */
    struct web_stream *stream; /* NULL: the answer has ended */
    int status;
    size_t unread, received;
    bool aborted;
    struct buf headers, body;
};

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct canned_server *api;
    char *url;
    struct client_endpoint endpoint;
    struct web_site *site;
    struct upstream *upstream;
    struct child_slots *slots;
    struct web_server *server;
    struct client clients[CLIENTS];
};

static struct client *of(struct api_response *response)
{
    return container_of(response, struct client, response);
}

static void on_head(struct api_response *response, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    of(response)->status = status;
    loop_stop(of(response)->loop);
    for (size_t i = 0; i < n_headers; i++)
        buf_printf(&of(response)->headers, "%s\n", headers[i]);
}

static void on_data(struct api_response *response, const void *bytes, size_t len)
{
    buf_add(&of(response)->body, bytes, len);
    of(response)->unread += len;
}

static void on_end(struct api_response *response)
{
    of(response)->stream = NULL;
}

static void on_abort(struct api_response *response)
{
    of(response)->stream = NULL;
    of(response)->aborted = true;
    loop_stop(of(response)->loop);
}

static size_t on_backlog(const struct api_response *response)
{
    return of((struct api_response *)(size_t)response)->unread;
}

static void start(struct fixture *f, const char *answer)
{
    struct error err = {0};

    *f = (struct fixture){.clock = clock_real()};
    f->loop = loop_new(f->clock);
    f->api = canned_server_new(f->loop, answer);
    f->url = mem_printf("http://127.0.0.1:%d", canned_server_port(f->api));
    f->endpoint = (struct client_endpoint)CLIENT_ENDPOINT_USUAL;
    f->endpoint.server = f->url;
    f->site = web_site_new(&(const struct web_site_options){.loop = f->loop,
                                                            .another_link = "",
                                                            .forward_bytes_max = HELD_MAX},
                           &err);
    f->upstream = upstream_new(
        &(const struct upstream_options){.loop = f->loop, .endpoint = f->endpoint}, &err);
    check_ok("upstream", f->upstream != NULL, err);
    f->slots = child_slots_new(f->loop);
    f->server = web_server_new(&(const struct web_server_options){.site = f->site,
                                                                  .upstream = f->upstream,
                                                                  .child_slots = f->slots,
                                                                  .endpoint = &f->endpoint});
    for (size_t i = 0; i < CLIENTS; i++)
        f->clients[i].response = (struct api_response){.head = on_head,
                                                       .data = on_data,
                                                       .end = on_end,
                                                       .abort = on_abort,
                                                       .backlog = on_backlog};
}

static void leave(struct client *client)
{
    if (client->stream)
        client->stream->ops->cancel(client->stream);
    client->stream = NULL;
}

static void stop(struct fixture *f)
{
    for (size_t i = 0; i < CLIENTS; i++) {
        leave(&f->clients[i]);
        buf_release(&f->clients[i].headers);
        buf_release(&f->clients[i].body);
    }
    web_server_free(f->server);
    upstream_free(f->upstream);
    child_slots_free(f->slots);
    web_site_free(f->site);
    canned_server_free(f->api);
    loop_free(f->loop);
    clock_free(f->clock);
    mem_free(f->url);
}

/* Starts a request with a body of this many bytes, or a GET without one. */
static struct client *ask(struct fixture *f, size_t n, const char *path, size_t body_len)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped_str target = mem_printf("/ui/api/%s", path);
    scoped(buf) struct buf body = {0};
    struct client *client = &f->clients[n];
    struct api_request http = {.method = body_len ? API_POST : API_GET,
                               .target = target,
                               .content_type = body_len ? "application/json" : NULL};
    struct web_request request = {.http = &http};
    struct error err = {0};

    for (size_t i = 0; i < body_len; i++)
        buf_char(&body, ' ');
    http.body = body.data;
    http.body_len = body.len;
    check_ok("target", request_target_parse(target, arena, &request.target, &err), err);
    buf_clear(&client->headers);
    buf_clear(&client->body);
    client->status = 0;
    client->loop = f->loop;
    client->stream = web_forward(f->server, &request, &client->response);
    return client;
}

static void wait_for_answer(struct fixture *f, const struct client *client)
{
    while (!client->status && !client->aborted)
        loop_run(f->loop);
}

/* Lets the client read what has been sent, until the answer ends. */
static void read_all(struct client *client)
{
    while (client->stream) {
        client->unread = 0;
        client->stream->ops->drained(client->stream);
    }
}

/* An answer with this many bytes, of which the last `missing` never come. */
static char *answer_of(size_t bytes, size_t missing)
{
    struct buf text = {0};

    buf_printf(&text,
               "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
               bytes);
    for (size_t i = missing; i < bytes; i++)
        buf_char(&text, 'a');
    return text.data;
}

static void check_refused(const struct client *client)
{
    check_int("status", client->status, 429);
    check_has("when to try again", client->headers.data, "Retry-After: 1\n");
    check_has("bound", client->body.data, "of 1000000 bytes in all (limit): try again later");
}

static void bodies_that_the_server_has_not_answered_are_bounded_in_all(void **state)
{
    struct fixture f;
    struct client *client;

    start(&f, NULL);
    ask(&f, 0, FLOWS, LARGE);
    client = ask(&f, 1, FLOWS, LARGE);
    wait_for_answer(&f, client);
    check_refused(client);
    check_int("held by the first", (int)f.server->forwards->held, LARGE);
    leave(&f.clients[0]);
    ask(&f, 2, FLOWS, LARGE);
    check_int("held by the third", (int)f.server->forwards->held, LARGE);
    leave(&f.clients[2]);
    check_int("held by none", (int)f.server->forwards->held, 0);
    stop(&f);
}

static void answers_that_clients_do_not_read_are_bounded_in_all(void **state)
{
    scoped_str answer = answer_of(LARGE, 0);
    struct fixture f;
    struct client *slow, *client;

    start(&f, answer);
    slow = ask(&f, 0, PODS, 0);
    wait_for_answer(&f, slow);
    check_int("passes", slow->status, 200);
    check("is not sent as a whole", slow->stream != NULL && slow->body.len < LARGE);
    client = ask(&f, 1, PODS, 0);
    wait_for_answer(&f, client);
    check_refused(client);
    read_all(slow);
    check_int("the slow client has all", (int)slow->body.len, LARGE);
    check_int("held", (int)f.server->forwards->held, 0);
    client = ask(&f, 1, PODS, 0);
    wait_for_answer(&f, client);
    check_int("there is room again", client->status, 200);
    stop(&f);
}

static void followed_logs_that_clients_do_not_read_are_bounded_in_all(void **state)
{
    scoped_str answer = answer_of(LARGE, 0);
    scoped_str log = answer_of(LARGE, 1);
    struct fixture f;
    struct client *slow, *client;

    start(&f, answer);
    slow = ask(&f, 0, PODS, 0);
    wait_for_answer(&f, slow);
    canned_server_set_answer(f.api, log);
    canned_server_keep_open(f.api);
    client = ask(&f, 1, PODS "/a/log?follow=true", 0);
    while (!client->aborted)
        loop_run(f.loop);
    check("a part has come", client->status == 200 && client->body.len > 0);
    leave(slow);
    check_int("held", (int)f.server->forwards->held, 0);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_that_the_server_has_not_answered_are_bounded_in_all),
        cmocka_unit_test(answers_that_clients_do_not_read_are_bounded_in_all),
        cmocka_unit_test(followed_logs_that_clients_do_not_read_are_bounded_in_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
