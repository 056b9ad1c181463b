/*
 * Tests calls with retries. covers: kube-api.md 134
 */
#include "tests/unit.h"

#include "api/client/remote.h"
#include "base/loop/metrics.h"
#include "tests/support/scripted_server.h"

/* An answer of the server. The server gives its answers in order and repeats the last one. */
struct line {
    int status, retry_after_s;
    bool sent;
    const char *text;
};

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct scripted_server *scripted;
    struct remote *remote;
    const struct line *lines;
    size_t n, at;
    struct remote_call call;
    int ended;
};

static void serve(void *ctx, struct scripted_exchange *ask)
{
    struct fixture *fixture = ctx;
    const struct line *line = &fixture->lines[fixture->at];

    fixture->at += fixture->at + 1 < fixture->n;
    ask->status = line->status;
    ask->retry_after_s = line->retry_after_s;
    ask->sent = line->sent;
    buf_str(&ask->text, line->text ? line->text : "");
}

static void on_done(struct remote_call *call)
{
    container_of(call, struct fixture, call)->ended++;
}

static struct fixture *fixture_new(const struct line *lines, size_t n,
                                   const struct remote_options *options)
{
    struct fixture *fixture = mem_alloc(sizeof *fixture);

    fixture->clock = clock_virtual_new(1767225600000, 7);
    fixture->loop = loop_new(fixture->clock);
    fixture->scripted = scripted_new(fixture->loop, serve, fixture);
    fixture->remote = remote_new(fixture->loop, scripted_transport(fixture->scripted), options);
    fixture->lines = lines;
    fixture->n = n;
    fixture->call.done = on_done;
    fixture->call.target = "/x";
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    remote_call_release(&fixture->call);
    remote_free(fixture->remote);
    scripted_free(fixture->scripted);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    mem_free(fixture);
}

static size_t count_lines(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static const struct again_case {
    const char *name, *method;
    unsigned patience;
    bool renews;
    struct line lines[3];
    size_t n;
    int status; /* status that the call ends with; 0: no answer */
    size_t asked;
} again_cases[] = {
    {"an answer is an answer", "GET", 0, false, {{200}}, 1, 200, 1},
    {"a refusal, too", "POST", 5, true, {{409}}, 1, 409, 1},
    {"busy, and says when", "GET", 0, false, {{429, 1}, {429, 1}, {200}}, 3, 200, 3},
    {"a write likewise: it was not taken", "POST", 0, false, {{503, 2}, {201}}, 2, 201, 2},
    {"busy, and does not say when", "GET", 5, false, {{503}}, 1, 503, 1},
    {"busy for hours", "GET", 0, false, {{429, 3600}}, 1, 429, 1},
    {"busy for ever", "GET", 0, false, {{429, 1}}, 1, 429, 1 + REMOTE_TRIES_MAX},
    {"other credentials", "GET", 0, true, {{401}, {200}}, 2, 200, 2},
    {"refused with them, too", "GET", 0, true, {{401}}, 1, 401, 2},
    {"there are no others", "GET", 0, false, {{401}}, 1, 401, 1},
    {"not reached, at once", "GET", 0, false, {{0}}, 1, 0, 1},
    {"not reached, patiently", "GET", 3, false, {{0}, {0}, {200}}, 3, 200, 3},
    {"never reached", "GET", 3, false, {{0}}, 1, 0, 4},
    {"a write that did not get there", "POST", 3, false, {{0}, {201}}, 2, 201, 2},
    {"a write that may have", "POST", 3, false, {{.sent = true}}, 1, 0, 1},
    {"a read that may have", "GET", 1, false, {{.sent = true}, {200}}, 2, 200, 2},
};

static void what_can_be_asked_again_without_harm_is(void **state)
{
    for (size_t i = 0; i < countof(again_cases); i++) {
        const struct again_case *c = &again_cases[i];
        struct fixture *fixture = fixture_new(c->lines, c->n, NULL);

        fixture->call.method = c->method;
        fixture->call.patience = c->patience;
        scripted_renews(fixture->scripted, c->renews);
        remote_start(fixture->remote, &fixture->call);
        /* The end of the call is never told inside remote_start. */
        check_int(c->name, fixture->ended, 0);
        check(c->name, loop_drain(fixture->loop, INT64_MAX / 4000000));
        check_int(c->name, fixture->ended, 1);
        check_int(c->name, fixture->call.status, c->status);
        check_int(c->name, count_lines(scripted_requests(fixture->scripted)), c->asked);
        check_int(c->name, fixture->call.err.code, c->status ? ERR_NONE : ERR_UNAVAILABLE);
        fixture_free(fixture);
    }
}

static void a_busy_server_is_asked_when_it_says(void **state)
{
    static const struct line lines[] = {{429, 1, .text = "early"}, {429, 1}, {200, .text = "late"}};
    struct fixture *fixture = fixture_new(lines, countof(lines), NULL);

    remote_start(fixture->remote, &fixture->call);
    loop_drain(fixture->loop, 60000);
    check_str("at its seconds", scripted_requests(fixture->scripted),
              "0 GET /x\n1000 GET /x\n2000 GET /x\n");
    check_str("only the last answer counts", fixture->call.text.data, "late");
    fixture_free(fixture);
}

static void waits_grow_and_are_bounded(void **state)
{
    static const struct line lines[] = {{0}};
    struct fixture *fixture = fixture_new(lines, 1, NULL);
    int64_t before = 0, least = 800, at;
    const char *line;

    fixture->call.patience = 20;
    remote_start(fixture->remote, &fixture->call);
    loop_drain(fixture->loop, 3600000);
    line = scripted_requests(fixture->scripted);
    check_int("tries", count_lines(line), 21);
    for (line = strchr(line, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        at = strtoll(line, NULL, 10);
        check("no sooner", at - before >= least);
        check("no later than twice that", at - before <= 2 * least || least == 30000);
        check("never longer than 30 s", at - before <= 30000);
        before = at;
        least = least * 2 < 30000 ? least * 2 : 30000;
    }
    fixture_free(fixture);
}

static void waits_begin_again_after_a_calm_time(void **state)
{
    struct clock *clock = clock_virtual_new(0, 1);
    struct backoff backoff = BACKOFF_USUAL;

    for (int i = 0; i < 10; i++)
        backoff_next_ms(&backoff, clock);
    check_int("the most", backoff_next_ms(&backoff, clock), 30000);
    clock_advance_ms(clock, 120001);
    check("as at first", backoff_next_ms(&backoff, clock) <= 1600);
    clock_free(clock);
}

static void no_more_calls_begin_than_agreed(void **state)
{
    static const struct line lines[] = {{200}};
    static const struct remote_options options = {.per_second = 10, .burst = 3};
    struct fixture *fixture = fixture_new(lines, 1, &options);
    struct remote_call calls[5] = {0};

    for (size_t i = 0; i < countof(calls); i++) {
        calls[i].target = "/y";
        remote_start(fixture->remote, &calls[i]);
    }
    loop_drain(fixture->loop, 60000);
    check_str("three at once, then ten a second", scripted_requests(fixture->scripted),
              "0 GET /y\n0 GET /y\n0 GET /y\n100 GET /y\n200 GET /y\n");
    for (size_t i = 0; i < countof(calls); i++)
        remote_call_release(&calls[i]);
    fixture_free(fixture);
}

static void each_attempt_is_counted_by_its_outcome(void **state)
{
    static const struct line lines[] = {{429, 1}, {200}};
    static const struct remote_options options = {.host = "here:1"};
    struct fixture *fixture = fixture_new(lines, 2, &options);
    struct fixture *lost = fixture_new((const struct line[]){{0}}, 1, &options);
    struct fixture *silent = fixture_new(lines, 2, NULL);
    scoped(buf) struct buf text = {0}, other = {0}, none = {0};

    remote_start(fixture->remote, &fixture->call);
    remote_start(silent->remote, &silent->call);
    lost->call.method = "POST";
    remote_start(lost->remote, &lost->call);
    loop_drain(fixture->loop, 60000);
    loop_drain(silent->loop, 60000);
    loop_drain(lost->loop, 60000);
    metrics_write(loop_metrics(fixture->loop), &text);
    check_has("busy", text.data,
              "rest_client_requests_total{method=\"GET\",code=\"429\",host=\"here:1\"} 1\n");
    check_has("done", text.data,
              "rest_client_requests_total{method=\"GET\",code=\"200\",host=\"here:1\"} 1\n");
    check_has("times", text.data,
              "rest_client_request_duration_seconds_count{verb=\"GET\",host=\"here:1\"} 2\n");
    metrics_write(loop_metrics(lost->loop), &other);
    check_has("no answer", other.data,
              "rest_client_requests_total{method=\"POST\",code=\"<error>\",host=\"here:1\"} 1\n");
    metrics_write(loop_metrics(silent->loop), &none);
    check("not counted", !none.data || !strstr(none.data, "rest_client"));
    fixture_free(fixture);
    fixture_free(lost);
    fixture_free(silent);
}

static void a_cancelled_call_is_silent(void **state)
{
    static const struct line lines[] = {{429, 1}};
    struct fixture *fixture = fixture_new(lines, 1, NULL);

    remote_start(fixture->remote, &fixture->call);
    loop_settle(fixture->loop);
    remote_cancel(&fixture->call); /* the call is cancelled while it waits for an answer */
    loop_drain(fixture->loop, 60000);
    check_int("not told", fixture->ended, 0);
    check_int("not asked again", count_lines(scripted_requests(fixture->scripted)), 1);
    fixture_free(fixture);
}

static const struct word {
    const char *name;
    struct line line;
    enum error_code code;
    const char *says;
} words[] = {
    {"a Status",
     {404,
      .text =
          "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"message\":\"pods \\\"x\\\" not found\"}"},
     ERR_NOT_FOUND,
     "pods \"x\" not found"},
    {"no Status", {403, .text = "<html>"}, ERR_FORBIDDEN, "status 403"},
    {"an unknown code", {418, .text = ""}, ERR_BAD_REQUEST, "status 418"},
    {"expired", {410, .text = "{\"reason\":\"Expired\",\"message\":\"old\"}"}, ERR_GONE, "old"},
    {"gone", {410, .text = "{\"reason\":\"Gone\",\"message\":\"old\"}"}, ERR_GONE, "old"},
};

static void a_refusal_says_why(void **state)
{
    for (size_t i = 0; i < countof(words); i++) {
        struct fixture *fixture = fixture_new(&words[i].line, 1, NULL);
        struct error err = {0};

        remote_start(fixture->remote, &fixture->call);
        loop_drain(fixture->loop, 60000);
        check_error(words[i].name, remote_ok(&fixture->call, &err), err, words[i].code);
        check_has(words[i].name, err.message, words[i].says);
        fixture_free(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_asked_again_without_harm_is),
        cmocka_unit_test(a_busy_server_is_asked_when_it_says),
        cmocka_unit_test(waits_grow_and_are_bounded),
        cmocka_unit_test(waits_begin_again_after_a_calm_time),
        cmocka_unit_test(no_more_calls_begin_than_agreed),
        cmocka_unit_test(each_attempt_is_counted_by_its_outcome),
        cmocka_unit_test(a_cancelled_call_is_silent),
        cmocka_unit_test(a_refusal_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
