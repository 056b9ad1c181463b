/* Tests requests with a short response, case by case of the specification, against the API in this
 * process. */
#include "tests/unit.h"

#include "tests/support/api_objects.h"

#define FLOWS "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
#define CMS   "/api/v1/namespaces/default/configmaps"
#define PODS  "/api/v1/namespaces/default/pods"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
struct exchange {
    const char *name, *method, *target, *body;
    int status;
    const char *has; /* a part of the response */
    const char *accept, *content_type;
};

/* covers: kube-api.md 3 4 6 7 11 49 50 51 52 53 70 73 74 75 76 78 97 115 */
static const struct exchange exchanges[] = {
    {"no such path", "GET", "/apis/nope.io/v1/x", NULL, 404,
     "\"message\":\"the server could not find the requested resource\""},
    {"no such object", "GET", FLOWS "/x", NULL, 404,
     "\"message\":\"jobflows.flow.volcano.sh \\\"x\\\" not found\""},
    {"core kinds have no group", "GET", PODS "/x", NULL, 404, "pods \\\"x\\\" not found"},
    {"an unacceptable form", "GET", FLOWS, NULL, 406, "only the following media types",
     .accept = "text/html"},
    {"protobuf falls back", "GET", CMS, NULL, 200, "\"items\":[",
     .accept = "application/vnd.kubernetes.protobuf,application/json"},
    {"no content type means JSON", "POST", CMS, "{\"metadata\":{\"name\":\"n1\"}}", 201, "n1"},
    {"with parameters", "POST", CMS, "{\"metadata\":{\"name\":\"n2\"}}", 201, "n2",
     .content_type = "application/json; charset=utf-8"},
    {"YAML", "POST", CMS, "metadata:\n  name: n3\n", 201, "n3", .content_type = "application/yaml"},
    {"another content type", "POST", CMS, "{}", 415, "accepted media types include",
     .content_type = "text/plain"},
    {"half a body", "POST", CMS, "{\"metadata\":", 400,
     "the object provided is unrecognized (must be of type ConfigMap)"},
    {"a body that is no object", "POST", CMS, "[]", 400, "must be an object"},
    {"a member twice", "POST", CMS "?fieldValidation=Strict",
     "{\"metadata\":{\"name\":\"d\",\"name\":\"d\"}}", 400,
     "duplicate field \\\"metadata.name\\\""},
    {"OPTIONS", "OPTIONS", FLOWS, NULL, 405, "\"reason\":\"MethodNotAllowed\""},
    {"POST to an object", "POST", CMS "/n1", "{}", 405, "\"details\":{}"},
    {"DELETE of a status", "DELETE", FLOWS "/x/status", NULL, 405, NULL},
    {"create in no namespace", "POST", "/api/v1/configmaps", "{}", 405, NULL},
    {"all namespaces at once", "DELETE", "/api/v1/namespaces", NULL, 405, NULL},
    {"a namespace that is not there lists nothing", "GET", "/api/v1/namespaces/nons/configmaps",
     NULL, 200, "\"items\":[]"},
    {"but takes nothing", "POST", "/api/v1/namespaces/nons/configmaps",
     "{\"metadata\":{\"name\":\"x\"}}", 404, "namespaces \\\"nons\\\" not found"},
    {"another namespace in the body", "POST", CMS,
     "{\"metadata\":{\"name\":\"x\",\"namespace\":\"y\"}}", 400,
     "the namespace of the provided object does not match the namespace sent on the request"},
    {"another version", "POST", FLOWS,
     "{\"apiVersion\":\"flow.volcano.sh/v9\",\"kind\":\"JobFlow\"}", 400,
     "the API version in the data (flow.volcano.sh/v9) does not match the expected API version "
     "(flow.volcano.sh/v1alpha1)"},
    {"another kind", "POST", FLOWS,
     "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"Foo\"}", 422,
     "kind: Invalid value: \\\"Foo\\\": must be JobFlow"},
    {"no kind", "POST", FLOWS, "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\"}", 400,
     "Object 'Kind' is missing"},
    {"no name", "POST", CMS, "{\"metadata\":{}}", 422, "metadata.name"},
    {"a revision on create", "POST", CMS,
     "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"5\"}}", 400,
     "resourceVersion should not be set on objects to be created"},
    {"another name in the body", "PUT", CMS "/q1", "{\"metadata\":{\"name\":\"q2\"}}", 400,
     "the name of the object (q2) does not match the name on the URL (q1)"},
    {"no name in the body", "PUT", CMS "/q1", "{\"metadata\":{}}", 400,
     "the name of the object (q1 based on URL) was undeterminable: name must be provided"},
    {"a patch of no type", "PATCH", CMS "/n1", "{}", 415, "application/strategic-merge-patch+json",
     .content_type = "application/json"},
    {"a strategic patch of a custom kind", "PATCH", FLOWS "/x", "{}", 415,
     "include: application/json-patch+json, application/merge-patch+json, "
     "application/apply-patch+yaml\"",
     .content_type = "application/strategic-merge-patch+json"},
    {"a bad selector", "GET", CMS "?labelSelector=a+in+b", NULL, 400,
     "unable to parse requirement: found 'b' expected: '('"},
    {"a bad limit", "GET", CMS "?limit=x", NULL, 400,
     "strconv.ParseInt: parsing \\\"x\\\": invalid syntax"},
    {"a forged token", "GET", CMS "?continue=zz%25", NULL, 400, "continue key is not valid"},
    {"a revision of the future", "GET", CMS "?resourceVersion=99999999", NULL, 504,
     "Too large resource version: 99999999, current: "},
    {"a match without a revision", "GET", CMS "?resourceVersionMatch=Exact", NULL, 422,
     "resourceVersionMatch is forbidden unless resourceVersion is provided"},
    {"exactly nothing", "GET", CMS "?resourceVersionMatch=Exact&resourceVersion=0", NULL, 422,
     "is forbidden for resourceVersion"},
    {"an unknown match", "GET", CMS "?resourceVersionMatch=Foo&resourceVersion=1", NULL, 422,
     "Unsupported value: \\\"Foo\\\""},
    {"initial events of a list", "GET", CMS "?sendInitialEvents=true", NULL, 422,
     "sendInitialEvents is forbidden for list"},
    {"initial events without a match", "GET", CMS "?watch=1&sendInitialEvents=true", NULL, 422,
     "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
    {"a table of foos", "GET", CMS "?includeObject=Foo", NULL, 400,
     "must be 'Metadata', 'Object', 'None', or empty", .accept = TABLE},
    {"an unknown policy", "DELETE", CMS "/n1?propagationPolicy=Zap", NULL, 422,
     "Unsupported value: \\\"Zap\\\""},
    {"two policies", "DELETE", CMS "/n1",
     "{\"propagationPolicy\":\"Orphan\",\"orphanDependents\":true}", 422, "cannot be both set"},
    {"another uid", "DELETE", CMS "/n1", "{\"preconditions\":{\"uid\":\"zz\"}}", 409,
     "the UID in the precondition (zz) does not match"},
    {"another revision", "DELETE", CMS "/n1", "{\"preconditions\":{\"resourceVersion\":\"1\"}}",
     409, "the ResourceVersion in the precondition (1)"},
    {"an unknown validation", "POST", CMS "?fieldValidation=Zap", "{}", 422, "fieldValidation"},
};

static void requests_are_answered_as_kubernetes_does(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(exchanges); i++) {
        const struct exchange *c = &exchanges[i];

        check_int(c->name,
                  api_send(&fixture, &capture, c->method, c->target, .body = c->body,
                           .accept = c->accept, .content_type = c->content_type),
                  c->status);
        check(c->name, capture.ended);
        check_has(c->name, capture.body.data, c->has ? c->has : "");
        if (c->status >= 400) {
            scoped(json) json_t *doc = api_capture_json(&capture);

            check_str(c->name, json_string_value(json_object_get(doc, "kind")), "Status");
            check_int(c->name, json_integer_value(json_object_get(doc, "code")), c->status);
        }
    }
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 41 42 43 45 */
static void unknown_fields_are_refused_warned_about_or_ignored(void **state)
{
    static const char body[] = API_FLOW("f", ",\"bogus\":1");
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    api_make_template(&fixture);
    check_int("strict",
              api_send(&fixture, &capture, "POST", FLOWS "?fieldValidation=Strict&dryRun=All",
                       .body = body),
              400);
    check_has("strict", capture.body.data, "strict decoding error: unknown field");
    check_int("warn", api_send(&fixture, &capture, "POST", FLOWS "?dryRun=All", .body = body), 201);
    check_has("warn", capture.headers.data, "Warning: 299 - \"unknown field ");
    check("pruned", !strstr(capture.body.data, "bogus"));
    check_int("ignore",
              api_send(&fixture, &capture, "POST", FLOWS "?fieldValidation=Ignore&dryRun=All",
                       .body = body),
              201);
    check_int("ignore", capture.headers.len, 0);
    check_int("dry", api_send(&fixture, &capture, "GET", FLOWS "/f"), 404);
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 93 95 96 100 101 */
static void updates_and_patches_keep_other_fields(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str revision = NULL;
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    api_make_template(&fixture);
    check_int("create", api_send(&fixture, &capture, "POST", FLOWS, .body = API_FLOW("f", "")),
              201);
    check_at(&capture, "metadata.generation", "1");
    revision = api_capture_at(&capture, "metadata.resourceVersion");
    check_int("nothing",
              api_send(&fixture, &capture, "PATCH", FLOWS "/f", .body = "{}",
                       .content_type = "application/merge-patch+json"),
              200);
    check_at(&capture, "metadata.resourceVersion", revision);
    check_int("status",
              api_send(&fixture, &capture, "PATCH", FLOWS "/f/status",
                       .body = "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":{\"state\":{"
                               "\"phase\":\"Running\"}}}",
                       .content_type = "application/merge-patch+json"),
              200);
    check_at(&capture, "status.state.phase", "Running");
    check_at(&capture, "metadata.labels", NULL);
    check_at(&capture, "metadata.generation", "1");
    check_int("main",
              api_send(&fixture, &capture, "PATCH", FLOWS "/f",
                       .body = "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":null}",
                       .content_type = "application/merge-patch+json"),
              200);
    check_at(&capture, "status.state.phase", "Running");
    check_at(&capture, "metadata.labels.a", "b");
    check_int("stale",
              api_send(&fixture, &capture, "PUT", FLOWS "/f",
                       .body = API_FLOW("f", ",\"resourceVersion\":\"1\"")),
              409);
    check_has("stale", capture.body.data,
              "the object has been modified; please apply your changes");
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 114 116 120 */
static void deletes_say_what_is_left(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    api_make_config_map(&fixture, "a", "\"x\":\"1\"");
    api_make_config_map(&fixture, "b", "\"x\":\"1\"");
    api_make_config_map(&fixture, "c", "");
    check_int("dry", api_send(&fixture, &capture, "DELETE", CMS "/a?dryRun=All"), 200);
    check_int("there", api_send(&fixture, &capture, "GET", CMS "/a"), 200);
    check_int("delete", api_send(&fixture, &capture, "DELETE", CMS "/c"), 200);
    check_at(&capture, "kind", "Status");
    check_at(&capture, "status", "Success");
    check_at(&capture, "details.kind", "configmaps");
    check_int("twice", api_send(&fixture, &capture, "DELETE", CMS "/c"), 404);
    check_int("some", api_send(&fixture, &capture, "DELETE", CMS "?labelSelector=x%3D1"), 200);
    check_at(&capture, "kind", "ConfigMapList");
    check_at(&capture, "items.1.metadata.name", "b");
    check_int("gone", api_send(&fixture, &capture, "GET", CMS "/b"), 404);
    check_int("held",
              api_send(&fixture, &capture, "POST", CMS,
                       .body = "{\"metadata\":{\"name\":\"h\",\"finalizers\":[\"x.io/f\"]}}"),
              201);
    check_int("held", api_send(&fixture, &capture, "DELETE", CMS "/h"), 200);
    check_at(&capture, "kind", "ConfigMap");
    check_at(&capture, "metadata.deletionGracePeriodSeconds", "0");
    check_int("let go",
              api_send(&fixture, &capture, "PATCH", CMS "/h",
                       .body = "{\"metadata\":{\"finalizers\":null}}",
                       .content_type = "application/merge-patch+json"),
              200);
    check_int("gone", api_send(&fixture, &capture, "GET", CMS "/h"), 404);
    api_fixture_stop(&fixture);
}

static void a_request_may_be_cancelled_at_any_time(void **state)
{
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (int settled = 0; settled < 2; settled++) {
        static const char *const targets[] = {CMS, CMS "?watch=1", CMS "/x", "/healthz"};

        for (size_t i = 0; i < countof(targets); i++) {
            const struct api_request request = {.method = API_GET, .target = targets[i]};
            struct api_capture capture = {0};

            api_make_config_map(&fixture, settled ? "b" : "a", "");
            api_capture_start(&fixture, &capture, "GET", CMS "?watch=1",
                              &(const struct api_request_options){0});
            capture.stream =
                (api_cancel(capture.stream), api_handle(fixture.api, &request, &capture.response));
            if (settled)
                loop_settle(fixture.loop);
            if (capture.stream)
                api_cancel(take(capture.stream));
            loop_settle(fixture.loop);
            api_capture_release(&capture);
            api_send(&fixture, &capture, "DELETE", settled ? CMS "/b" : CMS "/a");
            api_capture_release(&capture);
        }
    }
    api_fixture_stop(&fixture);
}

#define QUEUES "/apis/scheduling.volcano.sh/v1beta1/queues"
#define QUEUE                                                                                      \
    "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\","                        \
    "\"metadata\":{\"name\":\"q\",\"namespace\":\"default\"},"                                     \
    "\"spec\":{\"weight\":1,\"reclaimable\":true}}"

static void the_namespace_of_a_cluster_scoped_object_is_cleared(void **state)
{
    static const struct exchange writes[] = {
        {"create", "POST", QUEUES, QUEUE, 201},
        {"create again", "POST", QUEUES, QUEUE, 409},
        {"a merge", "PATCH", QUEUES "/q", "{\"metadata\":{\"namespace\":\"x\"}}", 200,
         .content_type = "application/merge-patch+json"},
        {"a JSON patch", "PATCH", QUEUES "/q",
         "[{\"op\":\"add\",\"path\":\"/metadata/namespace\",\"value\":\"x\"}]", 200,
         .content_type = "application/json-patch+json"},
        {"apply", "PATCH", QUEUES "/q?fieldManager=m&force=true", QUEUE, 200,
         .content_type = "application/apply-patch+yaml"},
        {"create by apply", "PATCH", QUEUES "/q2?fieldManager=m",
         "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\","
         "\"metadata\":{\"name\":\"q2\",\"namespace\":\"x\"},\"spec\":{\"weight\":1}}",
         201, .content_type = "application/apply-patch+yaml"},
        {"a built-in kind", "POST", "/api/v1/namespaces",
         "{\"metadata\":{\"name\":\"n\",\"namespace\":\"default\"}}", 201},
        {"a strategic patch", "PATCH", "/api/v1/namespaces/n",
         "{\"metadata\":{\"namespace\":\"x\"}}", 200,
         .content_type = "application/strategic-merge-patch+json"},
        {"put", "PUT", "/api/v1/namespaces/n",
         "{\"metadata\":{\"name\":\"n\",\"namespace\":\"x\",\"labels\":{\"a\":\"b\"}}}", 200},
        {"a wrong type is still refused", "POST", QUEUES,
         "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\","
         "\"metadata\":{\"name\":\"q3\",\"namespace\":1}}",
         422, "metadata.namespace"},
    };
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(writes); i++) {
        const struct exchange *c = &writes[i];

        check_int(c->name,
                  api_send(&fixture, &capture, c->method, c->target, .body = c->body,
                           .content_type = c->content_type),
                  c->status);
        check_has(c->name, capture.body.data, c->has ? c->has : "");
        if (c->status < 400)
            check(c->name, !strstr(capture.body.data, "\"namespace\""));
    }
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered_as_kubernetes_does),
        cmocka_unit_test(unknown_fields_are_refused_warned_about_or_ignored),
        cmocka_unit_test(updates_and_patches_keep_other_fields),
        cmocka_unit_test(deletes_say_what_is_left),
        cmocka_unit_test(a_request_may_be_cancelled_at_any_time),
        cmocka_unit_test(the_namespace_of_a_cluster_scoped_object_is_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
