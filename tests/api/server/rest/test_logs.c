/* Tests pod logs through the API in this process. A fake runtime has one fixed text. */
#include "tests/unit.h"

#include "tests/support/api_objects.h"

#define PODS "/api/v1/namespaces/default/pods"

struct fake_log {
    const char *text; /* text that the program has written so far */
    struct log_query last;
    char uid[64]; /* uid of the pod whose log was read last */
};

static bool read_fake(void *ctx, const char *uid, const struct log_query *query, int64_t *offset,
                      struct buf *out, struct error *err)
{
    struct fake_log *log = ctx;

    log->last = *query;
    snprintf(log->uid, sizeof log->uid, "%s", uid);
    if (query->previous)
        return error_set(err, ERR_NOT_FOUND, "", "no earlier run");
    buf_str(out, log->text + *offset);
    *offset = (int64_t)strlen(log->text);
    return true;
}

static void set_pod(struct api_fixture *fixture, const char *status)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str patch = mem_printf("{\"status\":%s}", status);

    check_int("status",
              api_send(fixture, &capture, "PATCH", PODS "/p/status", .body = patch,
                       .content_type = "application/merge-patch+json"),
              200);
}

#define RUNNING                                                                                    \
    "{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"running\":{}}}]}"
#define OVER                                                                                       \
    "{\"phase\":\"Succeeded\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{"  \
    "\"exitCode\":0}}}]}"

/* covers: kube-api.md 122 123 124 */
static void logs_are_read_and_followed_to_the_end(void **state)
{
    struct fake_log log = {.text = "one\n"};
    const struct api_logs logs = {read_fake, &log};
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, &(const struct api_fixture_options){.logs = &logs});
    check_int("no pod", api_send(&fixture, &capture, "GET", PODS "/p/log"), 404);
    check_int("create", api_send(&fixture, &capture, "POST", PODS, .body = api_pod_body), 201);
    check_int("logs", api_send(&fixture, &capture, "GET", PODS "/p/log"), 200);
    check_str("text", capture.body.data, "one\n");
    check_str("type", capture.content_type, "text/plain");
    set_pod(&fixture, RUNNING);
    check_int("all flags",
              api_send(&fixture, &capture, "GET",
                       PODS "/p/log?container=c&tailLines=2&limitBytes=10&timestamps=true&"
                            "sinceSeconds=60"),
              200);
    check_int("tail", log.last.tail_lines, 2);
    check_int("limit", log.last.limit_bytes, 10);
    check("stamps", log.last.timestamps);
    check_int("since", log.last.since_ms, loop_wall_ms(fixture.loop) - 60000);
    check_int("follow", api_send(&fixture, &capture, "GET", PODS "/p/log?follow=true"), 200);
    check("goes on", !capture.ended && api_is_long_running(capture.stream));
    log.text = "one\ntwo\n";
    loop_advance(fixture.loop, 200);
    check_str("more", capture.body.data, "one\ntwo\n");
    log.text = "one\ntwo\nlast\n";
    set_pod(&fixture, OVER);
    loop_advance(fixture.loop, 200);
    check("ended", capture.ended);
    check_str("last words", capture.body.data, "one\ntwo\nlast\n");
    set_pod(&fixture, RUNNING);
    log.text = "a";
    check_int("again", api_send(&fixture, &capture, "GET", PODS "/p/log?follow=true"), 200);
    log.text = "a and b";
    api_free(take(fixture.api));
    check("ended", capture.ended);
    check_str("sent at the end", capture.body.data, "a and b");
    api_fixture_stop(&fixture);
}

struct asked {
    const char *name, *target;
    int status;
    const char *has; /* a part of the response; NULL: any response will do */
};

static const struct asked asked[] = {
    {"unknown container", PODS "/p/log?container=z", 400, "container z is not valid for pod p"},
    {"an init container", PODS "/p/log?container=i", 200, ""},
    {"not started", PODS "/p/log?container=c", 400,
     "container \\\"c\\\" in pod \\\"p\\\" is waiting to start: ContainerCreating"},
    {"no previous", PODS "/p/log?container=c&previous=true", 400,
     "previous terminated container \\\"c\\\" in pod \\\"p\\\" not found"},
    {"both since", PODS "/p/log?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z", 422,
     "at most one of `sinceTime` or `sinceSeconds` may be specified"},
    {"negative tail", PODS "/p/log?tailLines=-1", 422,
     "tailLines: Invalid value: -1: must be greater than or equal to 0"},
    {"no seconds", PODS "/p/log?sinceSeconds=0", 422, "must be greater than 0"},
    {"no bytes", PODS "/p/log?limitBytes=0", 422, "must be greater than 0"},
    {"no number", PODS "/p/log?tailLines=x", 400, "invalid syntax"},
    {"no time", PODS "/p/log?sinceTime=noon", 400, NULL},
};

static void log_requests_are_checked(void **state)
{
    struct fake_log log = {.text = ""};
    const struct api_logs logs = {read_fake, &log};
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, &(const struct api_fixture_options){.logs = &logs});
    check_int("create", api_send(&fixture, &capture, "POST", PODS, .body = api_pod_body), 201);
    set_pod(&fixture, "{\"phase\":\"Pending\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{"
                      "\"waiting\":{\"reason\":\"ContainerCreating\"}}}]}");
    for (size_t i = 0; i < countof(asked); i++) {
        const struct asked *c = &asked[i];

        check_int(c->name, api_send(&fixture, &capture, "GET", c->target), c->status);
        check_has(c->name, capture.body.data ? capture.body.data : "", c->has ? c->has : "");
    }
    api_fixture_stop(&fixture);
    api_fixture_start(&fixture, NULL);
    check_int("create", api_send(&fixture, &capture, "POST", PODS, .body = api_pod_body), 201);
    check_int("nowhere", api_send(&fixture, &capture, "GET", PODS "/p/log"), 503);
    api_fixture_stop(&fixture);
}

#define LOGS "/apis/jobflow.dev/v1/namespaces/default/podlogs"

/* Creates a ConfigMap that plays the part of the Job to which kept logs belong. Returns its uid,
 * owned. */
static char *make_owner(struct api_fixture *fixture)
{
    api_make_config_map(fixture, "j", "");
    return mem_strdup(object_uid(store_get(fixture->store, &kind_config_map, "default", "j")));
}

/* Stores the kept log of a pod `p` with an init container. */
static void keep_log(struct api_fixture *fixture, const char *uid, const char *owner)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str body = mem_printf(
        "{\"apiVersion\":\"jobflow.dev/v1\",\"kind\":\"PodLog\",\"metadata\":{\"name\":\"p.%s\","
        "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"j\","
        "\"uid\":\"%s\"}]},\"status\":{\"pod\":\"p\",\"uid\":\"%s\",\"containers\":[{\"name\":"
        "\"i\",\"init\":true},{\"name\":\"c\"}]}}",
        uid, owner, uid);

    check_int("keep", api_send(fixture, &capture, "POST", LOGS, .body = body), 201);
}

static const struct asked kept_asked[] = {
    {"a container", LOGS "/p.one/log?container=c", 200, "kept"},
    {"followed to its end", LOGS "/p.one/log?container=c&follow=true", 200, "kept"},
    {"no container", LOGS "/p.one/log", 400,
     "a container name must be specified for the log of pod p, choose one of: [i c]"},
    {"unknown container", LOGS "/p.one/log?container=z", 400,
     "container z is not valid for the log of pod p, choose one of: [i c]"},
    {"unknown log", LOGS "/p.three/log?container=c", 404, "podlogs.jobflow.dev"},
};

static void the_log_of_a_pod_that_is_gone_is_read_from_its_pod_log(void **state)
{
    struct fake_log log = {.text = "kept"};
    const struct api_logs logs = {read_fake, &log};
    scoped(capture) struct api_capture capture = {0};
    scoped_str owner = NULL;
    struct api_fixture fixture;

    api_fixture_start(&fixture, &(const struct api_fixture_options){.logs = &logs});
    owner = make_owner(&fixture);
    keep_log(&fixture, "one", owner);
    for (size_t i = 0; i < countof(kept_asked); i++) {
        const struct asked *c = &kept_asked[i];

        check_int(c->name, api_send(&fixture, &capture, "GET", c->target), c->status);
        check_has(c->name, capture.body.data, c->has);
        check(c->name, c->status != 200 || (capture.ended && strcmp(log.uid, "one") == 0));
    }
    api_fixture_stop(&fixture);
}

/* kubectl logs --previous reads the log of an earlier pod of this name. */
static void the_previous_log_may_be_of_the_pod_that_had_the_name_before(void **state)
{
    struct fake_log log = {.text = "kept"};
    const struct api_logs logs = {read_fake, &log};
    scoped(capture) struct api_capture capture = {0};
    scoped_str owner = NULL;
    scoped_str body = NULL;
    struct api_fixture fixture;

    api_fixture_start(&fixture, &(const struct api_fixture_options){.logs = &logs});
    owner = make_owner(&fixture);
    body = mem_printf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                      "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
                      "\"j\",\"uid\":\"%s\",\"controller\":true}]},\"spec\":{\"containers\":[{"
                      "\"name\":\"c\",\"image\":\"i\",\"command\":[\"true\"]}]}}",
                      owner);
    check_int("pod", api_send(&fixture, &capture, "POST", PODS, .body = body), 201);
    check_int("none", api_send(&fixture, &capture, "GET", PODS "/p/log?previous=true"), 400);
    keep_log(&fixture, "one", owner);
    keep_log(&fixture, "two", owner);
    check_int("one", api_send(&fixture, &capture, "GET", PODS "/p/log?previous=true"), 200);
    check_str("text", capture.body.data, "kept");
    check_str("the newest", log.uid, "two");
    check_int("none of this container",
              api_send(&fixture, &capture, "GET", PODS "/p/log?previous=true&container=z"), 400);
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_are_read_and_followed_to_the_end),
        cmocka_unit_test(log_requests_are_checked),
        cmocka_unit_test(the_log_of_a_pod_that_is_gone_is_read_from_its_pod_log),
        cmocka_unit_test(the_previous_log_may_be_of_the_pod_that_had_the_name_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
