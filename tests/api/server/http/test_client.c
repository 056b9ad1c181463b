/*
 * The API client (api/client) against this server, without sockets and in virtual time.
 *
 * covers: kube-api.md 135 136 137
 */
#include "tests/unit.h"

#include "api/client/elector.h"
#include "api/client/mirror.h"
#include "tests/support/api.h"

#define CM "/api/v1/namespaces/default/configmaps"

/* A transport that calls the API in this process. */

struct inside {
    struct transport base;
    struct api_fixture *fixture;
    struct carried *first; /* list of exchanges in flight */
    struct task task;      /* ends exchanges outside of their callbacks */
    bool cut_off;          /* no exchange gets a response */
};

struct carried {
    struct api_response answer;
    struct api_stream *stream;
    struct inside *inside;
    struct exchange *exchange; /* exchange of the client; NULL: it was cancelled */
    struct carried *next;
};

static struct carried *carried_of(const struct api_response *answer)
{
    return container_of((struct api_response *)(size_t)answer, struct carried, answer);
}

static void on_head(struct api_response *answer, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    if (carried_of(answer)->exchange)
        carried_of(answer)->exchange->status = status;
}

static void on_data(struct api_response *answer, const void *bytes, size_t len)
{
    struct exchange *exchange = carried_of(answer)->exchange;

    if (exchange)
        exchange->data(exchange, bytes, len);
}

static void forget(struct carried *carried)
{
    struct carried **at = &carried->inside->first;

    while (*at != carried)
        at = &(*at)->next;
    *at = carried->next;
    if (carried->stream)
        api_cancel(carried->stream);
    mem_free(carried);
}

static void end(struct carried *carried, const struct error *err)
{
    struct exchange *exchange = carried->exchange;

    forget(carried);
    if (!exchange)
        return;
    exchange->carrier = NULL;
    exchange->done(exchange, err);
}

static void on_end(struct api_response *answer)
{
    carried_of(answer)->stream = NULL;
    end(carried_of(answer), NULL);
}

static size_t on_backlog(const struct api_response *answer)
{
    return 0;
}

static void start(struct transport *transport, struct exchange *exchange)
{
    struct inside *inside = container_of(transport, struct inside, base);
    const struct api_request request = {
        .method = api_method_of(exchange->method),
        .target = exchange->target,
        .body = exchange->body,
        .body_len = exchange->body_len,
    };
    struct carried *carried = mem_alloc(sizeof *carried);

    *carried = (struct carried){.answer = {on_head, on_data, on_end, on_backlog},
                                .inside = inside,
                                .exchange = exchange,
                                .next = inside->first};
    inside->first = carried;
    exchange->carrier = carried;
    if (inside->cut_off)
        loop_post(inside->fixture->loop, &inside->task);
    else
        carried->stream = api_handle(inside->fixture->api, &request, &carried->answer);
}

/* Returns the next exchange to end: a cancelled one or, while cut off, any. */
static struct carried *next_to_end(const struct inside *inside)
{
    for (struct carried *one = inside->first; one; one = one->next)
        if (inside->cut_off || !one->exchange)
            return one;
    return NULL;
}

static void on_task(struct task *task)
{
    static const struct error broken = {.code = ERR_UNAVAILABLE, .message = "connection reset"};
    struct inside *inside = container_of(task, struct inside, task);
    struct carried *carried;

    while ((carried = next_to_end(inside)))
        end(carried, &broken);
}

static void cut_off(struct inside *inside, bool is)
{
    inside->cut_off = is;
    loop_post(inside->fixture->loop, &inside->task);
    loop_settle(inside->fixture->loop);
}

/* Cancels an exchange. It may be called from a callback of the server, so the exchange ends in a
 * task. */
static void cancel(struct transport *transport, struct exchange *exchange)
{
    struct inside *inside = container_of(transport, struct inside, base);
    struct carried *carried = exchange->carrier;

    exchange->carrier = NULL;
    carried->exchange = NULL;
    loop_post(inside->fixture->loop, &inside->task);
}

static bool refused(struct transport *transport)
{
    return false;
}

static const struct transport_ops ops = {start, cancel, refused};

struct fixture {
    struct api_fixture api;
    struct inside inside[2];
    struct remote *remote[2];
    struct api_capture capture;
};

static void fixture_start(struct fixture *fixture, const struct api_fixture_options *options)
{
    api_fixture_start(&fixture->api, options);
    for (int i = 0; i < 2; i++) {
        fixture->inside[i] =
            (struct inside){.base = {&ops}, .fixture = &fixture->api, .task = {.run = on_task}};
        fixture->remote[i] = remote_new(fixture->api.loop, &fixture->inside[i].base, NULL);
    }
}

static void fixture_stop(struct fixture *fixture)
{
    loop_settle(fixture->api.loop);
    for (int i = 0; i < 2; i++)
        remote_free(fixture->remote[i]);
    api_capture_release(&fixture->capture);
    api_fixture_stop(&fixture->api);
}

static void ask(struct fixture *fixture, int status, const char *method, const char *target,
                const char *body)
{
    check_int(target, api_send(&fixture->api, &fixture->capture, method, target, .body = body),
              status);
}

struct watched {
    struct mirror mirror;
    struct buf events;
    int failed;
};

static void on_changed(struct mirror *mirror, enum mirror_change change, const struct object *old,
                       const struct object *object)
{
    static const char signs[] = {'+', '~', '-'};
    struct watched *watched = container_of(mirror, struct watched, mirror);

    buf_printf(&watched->events, "%c%s ", signs[change], object_name(object));
}

static void on_failed(struct mirror *mirror, const struct error *err)
{
    container_of(mirror, struct watched, mirror)->failed++;
}

static void check_events(const char *name, struct watched *watched, const char *want)
{
    check_str(name, watched->events.data ? watched->events.data : "", want);
    buf_clear(&watched->events);
}

static void what_happens_on_the_server_is_mirrored(void **state)
{
    struct watched watched = {
        .mirror = {
            .kind = &kind_config_map, .ns = "default", .changed = on_changed, .failed = on_failed}};
    struct fixture fixture = {0};

    fixture_start(&fixture, NULL);
    ask(&fixture, 201, "POST", CM, "{\"metadata\":{\"name\":\"a\"}}");
    ask(&fixture, 201, "POST", CM, "{\"metadata\":{\"name\":\"b\"}}");
    mirror_start(&watched.mirror, fixture.remote[0]);
    loop_settle(fixture.api.loop);
    check_events("list", &watched, "+a +b ");
    ask(&fixture, 200, "PUT", CM "/a", "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}");
    ask(&fixture, 200, "DELETE", CM "/b", NULL);
    ask(&fixture, 201, "POST", CM, "{\"metadata\":{\"name\":\"c\"}}");
    check_events("changes", &watched, "~a -b +c ");
    /* In three hours watches end and resume, and bookmarks arrive. */
    loop_advance(fixture.api.loop, INT64_C(3) * 3600000);
    ask(&fixture, 200, "DELETE", CM "/c", NULL);
    check_events("hours later", &watched, "-c ");
    check_int("nothing went wrong", watched.failed, 0);
    mirror_stop(&watched.mirror);
    buf_release(&watched.events);
    fixture_stop(&fixture);
}

static void a_mirror_that_has_fallen_behind_finds_its_way_back(void **state)
{
    const struct api_fixture_options options = {.watch_window = 5};
    struct watched watched = {
        .mirror = {
            .kind = &kind_config_map, .ns = "default", .changed = on_changed, .failed = on_failed}};
    struct fixture fixture = {0};

    fixture_start(&fixture, &options);
    ask(&fixture, 201, "POST", CM, "{\"metadata\":{\"name\":\"a\"}}");
    ask(&fixture, 201, "POST", CM, "{\"metadata\":{\"name\":\"b\"}}");
    mirror_start(&watched.mirror, fixture.remote[0]);
    loop_settle(fixture.api.loop);
    check_events("list", &watched, "+a +b ");
    cut_off(&fixture.inside[0], true);
    ask(&fixture, 200, "DELETE", CM "/b", NULL);
    for (int i = 0; i < 20; i++) /* more changes than the server keeps for watches */
        ask(&fixture, 200, "PUT", CM "/a",
            i % 2 ? "{\"metadata\":{\"name\":\"a\"}}"
                  : "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}");
    ask(&fixture, 201, "POST", CM, "{\"metadata\":{\"name\":\"c\"}}");
    loop_advance(fixture.api.loop, 60000);
    check_events("cut off", &watched, "");
    check("not reached", watched.failed > 1);
    cut_off(&fixture.inside[0], false);
    loop_advance(fixture.api.loop, 60000);
    check_events("as it is, and what vanished", &watched, "~a +c -b ");
    mirror_stop(&watched.mirror);
    buf_release(&watched.events);
    fixture_stop(&fixture);
}

struct candidate {
    struct elector elector;
    bool leads;
};

static void on_leads(struct elector *elector)
{
    container_of(elector, struct candidate, elector)->leads = true;
}

static void on_lost(struct elector *elector, const char *why)
{
    container_of(elector, struct candidate, elector)->leads = false;
}

static void of_two_candidates_one_leads(void **state)
{
    struct candidate candidates[2] = {0};
    struct fixture fixture = {0};
    scoped_str renewed = NULL;
    scoped_str holder = NULL;
    int leader;

    fixture_start(&fixture, NULL);
    for (int i = 0; i < 2; i++) {
        candidates[i].elector = (struct elector){.remote = fixture.remote[i],
                                                 .ns = "default",
                                                 .name = "leader",
                                                 .identity = i ? "two" : "one",
                                                 .leads = on_leads,
                                                 .lost = on_lost};
        elector_start(&candidates[i].elector);
    }
    loop_advance(fixture.api.loop, 60000);
    check_int("one leads", candidates[0].leads + candidates[1].leads, 1);
    ask(&fixture, 200, "GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/leader",
        NULL);
    holder = api_capture_at(&fixture.capture, "spec.holderIdentity");
    renewed = api_capture_at(&fixture.capture, "spec.renewTime");
    check_str("it holds the lease", holder, candidates[0].leads ? "one" : "two");
    check_int("a MicroTime", strlen(renewed), strlen("2026-01-01T00:00:00.000000Z"));
    leader = candidates[1].leads;
    cut_off(&fixture.inside[leader], true);
    loop_advance(fixture.api.loop, 12000);
    check("it has stopped", !candidates[leader].leads && !candidates[!leader].leads);
    loop_advance(fixture.api.loop, 12000);
    check("the other leads", candidates[!leader].leads && !candidates[leader].leads);
    for (int i = 0; i < 2; i++)
        elector_stop(&candidates[i].elector);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happens_on_the_server_is_mirrored),
        cmocka_unit_test(a_mirror_that_has_fallen_behind_finds_its_way_back),
        cmocka_unit_test(of_two_candidates_one_leads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
