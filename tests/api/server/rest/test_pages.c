#include "tests/unit.h"

#include <string.h>

#include "api/server/auth/identity.h"
#include "api/server/rest/traffic.h"
#include "tests/support/api.h"

/*
 * Tests the pages that are not resources (health, metrics, reviews, backup) and the bounds on
 * requests in flight.
 */

/* Sends a request as a given user. */
static int ask(struct api_fixture *fixture, struct api_capture *capture, const struct identity *who,
               const char *method, const char *target, const char *body)
{
    return api_send(fixture, capture, method, target, .body = body, .identity = who);
}

#define CMS "/api/v1/namespaces/default/configmaps"

/* covers: kube-api.md 33; reliability.md SEC-04 */
static void access_reviews_agree_with_authorization(void **state)
{
    static const char path[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    static const struct {
        const char *name, *spec;
        int status;
        const char *allowed; /* expected answer of the review, "true" or "false"; NULL: the review
                              * is refused */
    } cases[] = {
        {"reading",
         "{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\",\"namespace\":\"a\"}}",
         201, "true"},
        {"writing in its namespace",
         "{\"resourceAttributes\":{\"verb\":\"create\",\"group\":\"flow.volcano.sh\",\"resource\":"
         "\"jobflows\",\"namespace\":\"a\"}}",
         201, "true"},
        {"writing elsewhere",
         "{\"resourceAttributes\":{\"verb\":\"create\",\"group\":\"flow.volcano.sh\",\"resource\":"
         "\"jobflows\",\"namespace\":\"b\"}}",
         201, "false"},
        {"everywhere", "{\"resourceAttributes\":{\"verb\":\"list\",\"resource\":\"pods\"}}", 201,
         "false"},
        {"a subresource",
         "{\"resourceAttributes\":{\"verb\":\"update\",\"group\":\"flow.volcano.sh\",\"resource\":"
         "\"jobflows\",\"subresource\":\"status\",\"namespace\":\"a\"}}",
         201, "false"},
        {"a page", "{\"nonResourceAttributes\":{\"verb\":\"get\",\"path\":\"/version\"}}", 201,
         "true"},
        {"another", "{\"nonResourceAttributes\":{\"verb\":\"get\",\"path\":\"/metrics\"}}", 201,
         "false"},
        {"neither", "{}", 422, NULL},
        {"both",
         "{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"},"
         "\"nonResourceAttributes\":{\"verb\":\"get\",\"path\":\"/\"}}",
         422, NULL},
        {"no verb", "{\"resourceAttributes\":{\"resource\":\"pods\"}}", 422, NULL},
        {"no path", "{\"nonResourceAttributes\":{\"verb\":\"get\",\"path\":\"version\"}}", 422,
         NULL},
    };
    static const char *const namespaces[] = {"a"};
    scoped(identity) struct identity *editor = identity_with_role("ed", ROLE_EDITOR, namespaces, 1);
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(capture) struct api_capture capture = {0};
        scoped_str body = mem_printf("{\"spec\":%s}", cases[i].spec);
        scoped_str wanted = mem_printf("\"allowed\":%s", cases[i].allowed);

        check_int(cases[i].name, ask(&fixture, &capture, editor, "POST", path, body),
                  cases[i].status);
        if (cases[i].allowed)
            check_has(cases[i].name, capture.body.data, wanted);
    }
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 33 */
static void rules_and_names_come_from_the_same_identity(void **state)
{
    static const char *const namespaces[] = {"a"};
    scoped(identity) struct identity *viewer = identity_with_role("vi", ROLE_VIEWER, namespaces, 1);
    scoped(identity) struct identity *admin = identity_with_role("ad", ROLE_ADMIN, NULL, 0);
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    ask(&fixture, &capture, viewer, "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        "{\"spec\":{\"namespace\":\"a\"}}");
    check_has("reads", capture.body.data,
              "{\"verbs\":[\"get\",\"list\",\"watch\"],\"apiGroups\":[\"flow.volcano.sh\"],"
              "\"resources\":[\"jobflows\"]}");
    check("no secrets", !strstr(capture.body.data, "\"secrets\""));
    ask(&fixture, &capture, admin, "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        "{\"spec\":{\"namespace\":\"a\"}}");
    check_has("everything", capture.body.data, "\"verbs\":[\"*\"]");
    ask(&fixture, &capture, viewer, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        "{}");
    check_has("who", capture.body.data,
              "\"userInfo\":{\"username\":\"vi\",\"groups\":[\"jobflow:viewer:a\","
              "\"system:authenticated\"]}");
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 16; reliability.md SEC-04 */
static void a_refused_request_is_a_status_with_details(void **state)
{
    scoped(identity) struct identity *viewer = identity_with_role("vi", ROLE_VIEWER, NULL, 0);
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int("code", ask(&fixture, &capture, viewer, "DELETE", CMS "/x", NULL), 403);
    check_has("reason", capture.body.data, "\"reason\":\"Forbidden\"");
    check_has("details", capture.body.data, "\"details\":{\"name\":\"x\",\"kind\":\"configmaps\"}");
    check_int("nothing there", ask(&fixture, &capture, viewer, "GET", CMS "/x", NULL), 404);
    api_fixture_stop(&fixture);
}

static void readyz_names_the_failed_check(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int("ready", ask(&fixture, &capture, NULL, "GET", "/readyz", NULL), 200);
    check_str("short", capture.body.data, "ok");
    ask(&fixture, &capture, NULL, "GET", "/readyz?verbose", NULL);
    check_str("long", capture.body.data,
              "[+]ping ok\n[+]store ok\n[+]shutdown ok\nreadyz check passed\n");
    api_end_long_running(fixture.api);
    check_int("stopping", ask(&fixture, &capture, NULL, "GET", "/readyz", NULL), 500);
    check_has("why", capture.body.data, "[-]shutdown failed: the server is stopping\n");
    check_int("left out", ask(&fixture, &capture, NULL, "GET", "/readyz?exclude=shutdown", NULL),
              200);
    check_int("alive", ask(&fixture, &capture, NULL, "GET", "/livez", NULL), 200);
    api_fixture_stop(&fixture);
}

/* covers: reliability.md L-26 */
static void watches_are_bounded_in_total_and_by_user(void **state)
{
    enum { WATCHES = 5 };
    scoped(identity) struct identity *one = identity_with_role("one", ROLE_VIEWER, NULL, 0);
    scoped(identity) struct identity *other = identity_with_role("other", ROLE_VIEWER, NULL, 0);
    struct api_capture taps[WATCHES] = {0};
    scoped(capture) struct api_capture last = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    api_set_limits(fixture.api,
                   &(const struct traffic_limits){.watching = 4, .watching_per_user = 3});
    for (int i = 0; i < 3; i++)
        check_int("one's", ask(&fixture, &taps[i], one, "GET", CMS "?watch=1", NULL), 200);
    check_int("one too many", ask(&fixture, &last, one, "GET", CMS "?watch=1", NULL), 429);
    check_has("when again", last.headers.data, "Retry-After: 1");
    check_has("who", last.body.data, "user \\\"one\\\" has 3 watches open");
    check_int("another's", ask(&fixture, &taps[3], other, "GET", CMS "?watch=1", NULL), 200);
    check_int("all are taken", ask(&fixture, &last, other, "GET", CMS "?watch=1", NULL), 429);
    check_int("reading goes on", ask(&fixture, &last, one, "GET", CMS, NULL), 200);
    check_int("this process is not bounded",
              ask(&fixture, &taps[4], NULL, "GET", CMS "?watch=1", NULL), 200);
    api_cancel(take(taps[0].stream));
    check_int("a place is free", ask(&fixture, &taps[0], other, "GET", CMS "?watch=1", NULL), 200);
    ask(&fixture, &last, NULL, "GET", "/metrics", NULL);
    check_has("counted", last.body.data, "jobflow_api_requests_in_flight{kind=\"watching\"} 4\n");
    check_has("refused", last.body.data, "jobflow_api_requests_refused_total 2\n");
    for (size_t i = 0; i < countof(taps); i++)
        api_capture_release(&taps[i]);
    api_fixture_stop(&fixture);
}

/* covers: reliability.md L-25 */
static void requests_in_flight_are_bounded(void **state)
{
    scoped(identity) struct identity *one = identity_with_role("one", ROLE_ADMIN, NULL, 0);
    struct metrics *metrics = metrics_new();
    struct traffic traffic;
    struct traffic_user *user;
    struct error err = {0};

    traffic_init(&traffic, metrics);
    traffic_limit(&traffic, &(const struct traffic_limits){.reading = 2, .changing = 1});
    check("one", traffic_enter(&traffic, TRAFFIC_READING, one->user, &user, &err));
    check("two", traffic_enter(&traffic, TRAFFIC_READING, one->user, &user, &err));
    check("three", !traffic_enter(&traffic, TRAFFIC_READING, one->user, &user, &err));
    check_int("code", err.code, ERR_TOO_MANY);
    check("a change", traffic_enter(&traffic, TRAFFIC_CHANGING, one->user, &user, &err));
    check("another", !traffic_enter(&traffic, TRAFFIC_CHANGING, one->user, &user, &err));
    traffic_leave(&traffic, TRAFFIC_CHANGING, NULL);
    check("then", traffic_enter(&traffic, TRAFFIC_CHANGING, one->user, &user, &err));
    traffic_release(&traffic);
    metrics_free(metrics);
}

/* covers: reliability.md L-25 */
static void submissions_in_flight_are_bounded(void **state)
{
    static const char path[] = "/v1/job/status", body[] = "{\"jobIds\":[]}";
    scoped(identity) struct identity *one = identity_with_role("one", ROLE_ADMIN, NULL, 0);
    const struct api_request request = {.method = API_POST,
                                        .target = path,
                                        .identity = one,
                                        .body = body,
                                        .body_len = strlen(body)};
    scoped(capture) struct api_capture first = {0}, second = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    api_set_limits(fixture.api, &(const struct traffic_limits){.changing = 1});
    check_int("before", ask(&fixture, &first, one, "POST", path, body), 200);
    first.stream = api_handle(fixture.api, &request, &first.response);
    check_int("one too many", ask(&fixture, &second, one, "POST", path, body), 429);
    check_int("then", ask(&fixture, &second, one, "POST", path, body), 200);
    api_fixture_stop(&fixture);
}

static void metrics_count_responses_and_durations(void **state)
{
    static const struct {
        int64_t duration_ns;
        bool long_running;
    } answers[] = {{500000, false}, {2000000, false}, {900000000, false}, {60000000000, true}};
    scoped(buf) struct buf text = {0};
    struct metrics *metrics = metrics_new();
    struct traffic traffic;

    traffic_init(&traffic, metrics);
    for (size_t i = 0; i < countof(answers); i++) {
        const struct request_record record = {.method = API_GET,
                                              .method_name = "GET",
                                              .status = 200,
                                              .duration_ns = answers[i].duration_ns,
                                              .long_running = answers[i].long_running,
                                              .bytes_out = 10};

        traffic_record(&traffic, &record);
    }
    metrics_write(metrics, &text);
    check_has("answers", text.data, "jobflow_api_requests_total{method=\"GET\",code=\"200\"} 4\n");
    check_has("quick", text.data, "_bucket{le=\"0.001\"} 1\n");
    check_has("added up", text.data, "_bucket{le=\"0.0025\"} 2\n");
    check_has("slow", text.data, "_bucket{le=\"1\"} 3\n");
    check_has("watches have no duration", text.data, "_count 3\n");
    check_has("bytes", text.data, "jobflow_api_bytes_total{direction=\"out\"} 40\n");
    traffic_release(&traffic);
    metrics_free(metrics);
}

static void a_backup_needs_a_directory(void **state)
{
    scoped(identity) struct identity *editor = identity_with_role("ed", ROLE_EDITOR, NULL, 0);
    scoped_str place = test_path("place");
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int("none", ask(&fixture, &capture, NULL, "GET", "/backup", NULL), 404);
    api_enable_backups(fixture.api, place);
    check_int("for administrators", ask(&fixture, &capture, editor, "GET", "/backup", NULL), 403);
    check_int("of a store in memory", ask(&fixture, &capture, NULL, "GET", "/backup", NULL), 501);
    api_fixture_stop(&fixture);
}

/* covers: reliability.md SEC-11 */
static void exec_attach_and_port_forward_are_refused(void **state)
{
    static const struct {
        const char *method, *sub;
        int status;
    } cases[] = {
        {"GET", "exec?command=ls", 501}, {"POST", "exec?command=ls", 501}, {"POST", "attach", 501},
        {"POST", "portforward", 501},    {"GET", "proxy/x", 404},          {"GET", "proxy", 404},
    };
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str target = mem_printf("/api/v1/namespaces/default/pods/p/%s", cases[i].sub);

        check_int(cases[i].sub, ask(&fixture, &capture, NULL, cases[i].method, target, NULL),
                  cases[i].status);
        if (cases[i].status == 501)
            check_has(cases[i].sub, capture.body.data,
                      "exec, attach and port-forward are not available here");
    }
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(access_reviews_agree_with_authorization),
        cmocka_unit_test(rules_and_names_come_from_the_same_identity),
        cmocka_unit_test(a_refused_request_is_a_status_with_details),
        cmocka_unit_test(readyz_names_the_failed_check),
        cmocka_unit_test(watches_are_bounded_in_total_and_by_user),
        cmocka_unit_test(exec_attach_and_port_forward_are_refused),
        cmocka_unit_test(requests_in_flight_are_bounded),
        cmocka_unit_test(submissions_in_flight_are_bounded),
        cmocka_unit_test(metrics_count_responses_and_durations),
        cmocka_unit_test(a_backup_needs_a_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
