#include "tests/unit.h"

#include "tests/support/api.h"

/* The API in process, case by case of the specification. */

#define FLOWS "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
#define CMS   "/api/v1/namespaces/default/configmaps"
#define PODS  "/api/v1/namespaces/default/pods"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

static const char template_a[] =
    "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"JobTemplate\","
    "\"metadata\":{\"name\":\"a\"},\"spec\":{\"tasks\":[{\"name\":\"t\",\"replicas\":1,"
    "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\","
    "\"image\":\"x\",\"command\":[\"true\"]}]}}}]}}";

#define FLOW(name, more)                                                                           \
    "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"JobFlow\",\"metadata\":{\"name\":"    \
    "\"" name "\"" more "},\"spec\":{\"flows\":[{\"name\":\"a\"}]}}"

static void make_template(struct api_rig *rig)
{
    scoped(tap) struct api_tap tap = {0};

    check_int("template",
              api_request(rig, &tap, "POST",
                          "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobtemplates",
                          .body = template_a),
              201);
}

static void make_config_map(struct api_rig *rig, const char *name, const char *labels)
{
    scoped(tap) struct api_tap tap = {0};
    scoped_str body = mem_printf("{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}}}", name, labels);

    check_int(name, api_request(rig, &tap, "POST", CMS, .body = body), 201);
}

#define check_at(tap, path, want)                                                                  \
    do {                                                                                           \
        scoped_str at_ = api_tap_at((tap), (path));                                                \
        check_str((path), at_, (want));                                                            \
    } while (0)

#define check_event(tap, n, path, want)                                                            \
    do {                                                                                           \
        scoped_str event_ = api_tap_event((tap), (n), (path));                                     \
        check_str((path), event_, (want));                                                         \
    } while (0)

/* ---- plain requests and their refusals ---- */

struct exchange {
    const char *name, *method, *target, *body;
    int status;
    const char *has; /* a part of the answer */
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
    {"a member twice", "POST", CMS, "{\"metadata\":{\"name\":\"d\",\"name\":\"d\"}}", 400, NULL},
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
    {"a match nobody knows", "GET", CMS "?resourceVersionMatch=Foo&resourceVersion=1", NULL, 422,
     "Unsupported value: \\\"Foo\\\""},
    {"initial events of a list", "GET", CMS "?sendInitialEvents=true", NULL, 422,
     "sendInitialEvents is forbidden for list"},
    {"initial events without a match", "GET", CMS "?watch=1&sendInitialEvents=true", NULL, 422,
     "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
    {"a table of foos", "GET", CMS "?includeObject=Foo", NULL, 400,
     "must be 'Metadata', 'Object', 'None', or empty", .accept = TABLE},
    {"a policy nobody knows", "DELETE", CMS "/n1?propagationPolicy=Zap", NULL, 422,
     "Unsupported value: \\\"Zap\\\""},
    {"two policies", "DELETE", CMS "/n1",
     "{\"propagationPolicy\":\"Orphan\",\"orphanDependents\":true}", 422, "cannot be both set"},
    {"another uid", "DELETE", CMS "/n1", "{\"preconditions\":{\"uid\":\"zz\"}}", 409,
     "the UID in the precondition (zz) does not match"},
    {"another revision", "DELETE", CMS "/n1", "{\"preconditions\":{\"resourceVersion\":\"1\"}}",
     409, "the ResourceVersion in the precondition (1)"},
    {"a validation nobody knows", "POST", CMS "?fieldValidation=Zap", "{}", 422, "fieldValidation"},
};

static void requests_are_answered_as_kubernetes_does(void **state)
{
    scoped(tap) struct api_tap tap = {0};
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    for (size_t i = 0; i < countof(exchanges); i++) {
        const struct exchange *c = &exchanges[i];

        check_int(c->name,
                  api_request(&rig, &tap, c->method, c->target, .body = c->body,
                              .accept = c->accept, .content_type = c->content_type),
                  c->status);
        check(c->name, tap.ended);
        check_has(c->name, tap.body.data, c->has ? c->has : "");
        if (c->status >= 400) {
            scoped(json) json_t *doc = api_tap_json(&tap);

            check_str(c->name, json_string_value(json_object_get(doc, "kind")), "Status");
            check_int(c->name, json_integer_value(json_object_get(doc, "code")), c->status);
        }
    }
    api_rig_stop(&rig);
}

/* covers: kube-api.md 41 42 43 45 */
static void unknown_fields_are_refused_warned_about_or_ignored(void **state)
{
    static const char body[] = FLOW("f", ",\"bogus\":1");
    scoped(tap) struct api_tap tap = {0};
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    make_template(&rig);
    check_int(
        "strict",
        api_request(&rig, &tap, "POST", FLOWS "?fieldValidation=Strict&dryRun=All", .body = body),
        400);
    check_has("strict", tap.body.data, "strict decoding error: unknown field");
    check_int("warn", api_request(&rig, &tap, "POST", FLOWS "?dryRun=All", .body = body), 201);
    check_has("warn", tap.headers.data, "Warning: 299 - \"unknown field ");
    check("pruned", !strstr(tap.body.data, "bogus"));
    check_int(
        "ignore",
        api_request(&rig, &tap, "POST", FLOWS "?fieldValidation=Ignore&dryRun=All", .body = body),
        201);
    check_int("ignore", tap.headers.len, 0);
    check_int("dry", api_request(&rig, &tap, "GET", FLOWS "/f"), 404);
    api_rig_stop(&rig);
}

/* covers: kube-api.md 93 95 96 100 101 */
static void updates_and_patches_keep_what_is_not_theirs(void **state)
{
    scoped(tap) struct api_tap tap = {0};
    scoped_str revision = NULL;
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    make_template(&rig);
    check_int("create", api_request(&rig, &tap, "POST", FLOWS, .body = FLOW("f", "")), 201);
    check_at(&tap, "metadata.generation", "1");
    revision = api_tap_at(&tap, "metadata.resourceVersion");
    check_int("nothing",
              api_request(&rig, &tap, "PATCH", FLOWS "/f", .body = "{}",
                          .content_type = "application/merge-patch+json"),
              200);
    check_at(&tap, "metadata.resourceVersion", revision);
    check_int("status",
              api_request(&rig, &tap, "PATCH", FLOWS "/f/status",
                          .body = "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":{\"state\":{"
                                  "\"phase\":\"Running\"}}}",
                          .content_type = "application/merge-patch+json"),
              200);
    check_at(&tap, "status.state.phase", "Running");
    check_at(&tap, "metadata.labels", NULL);
    check_at(&tap, "metadata.generation", "1");
    check_int("main",
              api_request(&rig, &tap, "PATCH", FLOWS "/f",
                          .body = "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":null}",
                          .content_type = "application/merge-patch+json"),
              200);
    check_at(&tap, "status.state.phase", "Running");
    check_at(&tap, "metadata.labels.a", "b");
    check_int(
        "stale",
        api_request(&rig, &tap, "PUT", FLOWS "/f", .body = FLOW("f", ",\"resourceVersion\":\"1\"")),
        409);
    check_has("stale", tap.body.data, "the object has been modified; please apply your changes");
    api_rig_stop(&rig);
}

/* covers: kube-api.md 114 116 120 */
static void deletes_say_what_is_left(void **state)
{
    scoped(tap) struct api_tap tap = {0};
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    make_config_map(&rig, "a", "\"x\":\"1\"");
    make_config_map(&rig, "b", "\"x\":\"1\"");
    make_config_map(&rig, "c", "");
    check_int("dry", api_request(&rig, &tap, "DELETE", CMS "/a?dryRun=All"), 200);
    check_int("there", api_request(&rig, &tap, "GET", CMS "/a"), 200);
    check_int("delete", api_request(&rig, &tap, "DELETE", CMS "/c"), 200);
    check_at(&tap, "kind", "Status");
    check_at(&tap, "status", "Success");
    check_at(&tap, "details.kind", "configmaps");
    check_int("twice", api_request(&rig, &tap, "DELETE", CMS "/c"), 404);
    check_int("some", api_request(&rig, &tap, "DELETE", CMS "?labelSelector=x%3D1"), 200);
    check_at(&tap, "kind", "ConfigMapList");
    check_at(&tap, "items.1.metadata.name", "b");
    check_int("gone", api_request(&rig, &tap, "GET", CMS "/b"), 404);
    check_int("held",
              api_request(&rig, &tap, "POST", CMS,
                          .body = "{\"metadata\":{\"name\":\"h\",\"finalizers\":[\"x.io/f\"]}}"),
              201);
    check_int("held", api_request(&rig, &tap, "DELETE", CMS "/h"), 200);
    check_at(&tap, "kind", "ConfigMap");
    check_at(&tap, "metadata.deletionGracePeriodSeconds", "0");
    check_int("let go",
              api_request(&rig, &tap, "PATCH", CMS "/h",
                          .body = "{\"metadata\":{\"finalizers\":null}}",
                          .content_type = "application/merge-patch+json"),
              200);
    check_int("gone", api_request(&rig, &tap, "GET", CMS "/h"), 404);
    api_rig_stop(&rig);
}

/* ---- lists ---- */

/* covers: kube-api.md 71 72 78 79 */
static void lists_come_in_pages(void **state)
{
    scoped(tap) struct api_tap tap = {0};
    scoped_str revision = NULL;
    const char *const names[] = {"a", "b", "c"};
    struct api_rig rig;
    char *next = NULL;

    api_rig_start(&rig, &(const struct api_rig_options){.watch_window = 10});
    for (size_t i = 0; i < countof(names); i++)
        make_config_map(&rig, names[i], "");
    for (size_t i = 0; i < countof(names); i++) {
        scoped_str target =
            mem_printf(CMS "?limit=1%s%s", next ? "&continue=" : "", next ? next : "");

        check_int("page", api_request(&rig, &tap, "GET", target), 200);
        check_at(&tap, "items.0.metadata.name", names[i]);
        check_at(&tap, "items.1", NULL);
        check_at(&tap, "items.0.kind", NULL);
        check_at(&tap, "metadata.remainingItemCount", i == 0 ? "2" : i == 1 ? "1" : NULL);
        if (!revision)
            revision = api_tap_at(&tap, "metadata.resourceVersion");
        check_at(&tap, "metadata.resourceVersion", revision); /* that of the first page */
        mem_free(next);
        next = api_tap_at(&tap, "metadata.continue");
    }
    check_str("the end", next, NULL);
    check_int("first", api_request(&rig, &tap, "GET", CMS "?limit=1"), 200);
    next = api_tap_at(&tap, "metadata.continue");
    for (int i = 0; i < 20; i++) { /* the window moves on */
        scoped_str name = mem_printf("d%d", i);

        make_config_map(&rig, name, "");
    }

    scoped_str late = mem_printf(CMS "?limit=1&continue=%s", next);

    check_int("late", api_request(&rig, &tap, "GET", late), 410);
    check_at(&tap, "reason", "Expired");
    mem_free(next);
    next = api_tap_at(&tap, "metadata.continue");

    scoped_str anyway = mem_printf(CMS "?limit=1&continue=%s", next);

    check_int("anyway", api_request(&rig, &tap, "GET", anyway), 200);
    check_at(&tap, "items.0.metadata.name", "b");
    mem_free(next);
    api_rig_stop(&rig);
}

static void a_list_waits_for_a_slow_reader(void **state)
{
    scoped(tap) struct api_tap tap = {0};
    struct api_rig rig;
    size_t before;

    api_rig_start(&rig, NULL);
    for (int i = 0; i < 600; i++) {
        scoped_str name = mem_printf("c%03d", i);

        make_config_map(&rig, name, "");
    }
    tap.backlog = 1 << 20;
    check_int("begin", api_request(&rig, &tap, "GET", CMS), 200);
    before = tap.body.len;
    check("not all", !tap.ended && before < 200000);
    tap.backlog = 0;
    api_drained(tap.stream);
    loop_settle(rig.loop);
    check("all", tap.ended);
    check_at(&tap, "items.599.metadata.name", "c599");
    api_rig_stop(&rig);
}

/* covers: kube-api.md 61 62 63 76 77 */
static void tables_have_the_columns_of_their_kind(void **state)
{
    scoped(tap) struct api_tap tap = {0};
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    make_template(&rig);
    check_int("create", api_request(&rig, &tap, "POST", FLOWS, .body = FLOW("f", "")), 201);
    check_int("status",
              api_request(&rig, &tap, "PATCH", FLOWS "/f/status",
                          .body = "{\"status\":{\"state\":{\"phase\":\"Running\"}}}",
                          .content_type = "application/merge-patch+json"),
              200);
    loop_advance(rig.loop, 65000);
    check_int("table", api_request(&rig, &tap, "GET", FLOWS, .accept = TABLE), 200);
    check_at(&tap, "kind", "Table");
    check_at(&tap, "columnDefinitions.0.name", "Name");
    check_at(&tap, "columnDefinitions.0.format", "name");
    check_at(&tap, "columnDefinitions.1.name", "Status");
    check_at(&tap, "rows.0.cells", "[\"f\",\"Running\",\"65s\"]");
    check_at(&tap, "rows.0.object.kind", "PartialObjectMetadata");
    check_at(&tap, "rows.0.object.metadata.namespace", "default");
    check_int("bare", api_request(&rig, &tap, "GET", FLOWS "?includeObject=None", .accept = TABLE),
              200);
    check_at(&tap, "rows.0.object", NULL);
    check_int("full",
              api_request(&rig, &tap, "GET", FLOWS "/f?includeObject=Object", .accept = TABLE),
              200);
    check_at(&tap, "rows.0.object.spec.flows.0.name", "a");
    check_int("partial",
              api_request(&rig, &tap, "GET", FLOWS,
                          .accept = "application/json;as=PartialObjectMetadataList;"
                                    "g=meta.k8s.io;v=v1"),
              200);
    check_at(&tap, "kind", "PartialObjectMetadataList");
    check_at(&tap, "items.0.metadata.name", "f");
    check_at(&tap, "items.0.spec", NULL);
    check_int("job",
              api_request(&rig, &tap, "GET",
                          "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs",
                          .accept = TABLE),
              200);
    check_at(&tap, "columnDefinitions.5.name", "QUEUE");
    check_at(&tap, "columnDefinitions.5.priority", "1");
    check_int("queues",
              api_request(&rig, &tap, "GET", "/apis/scheduling.volcano.sh/v1beta1/queues",
                          .accept = TABLE),
              200);
    check_at(&tap, "rows.0.cells", "[\"default\",\"root\"]");
    api_rig_stop(&rig);
}

struct pod_case {
    const char *name, *status, *cell; /* STATUS */
};

/* clang-format off */
static const struct pod_case pods[] = {
    {"pending",   "{\"phase\":\"Pending\"}", "Pending"},
    {"evicted",   "{\"phase\":\"Failed\",\"reason\":\"Evicted\"}", "Evicted"},
    {"running",   "{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\",\"ready\":true,\"state\":{\"running\":{}}}]}", "Running"},
    {"crashing",  "{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}}}]}", "CrashLoopBackOff"},
    {"done",      "{\"phase\":\"Succeeded\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\"}}}]}", "Completed"},
    {"exit code", "{\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":3}}}]}", "ExitCode:3"},
    {"signal",    "{\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":137,\"signal\":9}}}]}", "Signal:9"},
    {"init",      "{\"phase\":\"Pending\",\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{\"running\":{}}}],\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":\"PodInitializing\"}}}]}", "Init:0/1"},
    {"init fails", "{\"phase\":\"Pending\",\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{\"terminated\":{\"exitCode\":1,\"reason\":\"Error\"}}}]}", "Init:Error"},
};
/* clang-format on */

static const char pod_body[] =
    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"initContainers\":[{\"name\":\"i\",\"image\":\"x\","
    "\"command\":[\"true\"]}],\"containers\":[{\"name\":\"c\",\"image\":\"x\",\"command\":["
    "\"true\"]}]}}";

/* covers: kube-api.md 63 */
static void the_status_of_a_pod_is_one_word(void **state)
{
    for (size_t i = 0; i < countof(pods); i++) {
        scoped(tap) struct api_tap tap = {0};
        scoped_str patch = mem_printf("{\"status\":%s}", pods[i].status);
        struct api_rig rig;

        api_rig_start(&rig, NULL);
        check_int("create", api_request(&rig, &tap, "POST", PODS, .body = pod_body), 201);
        check_int(pods[i].name,
                  api_request(&rig, &tap, "PATCH", PODS "/p/status", .body = patch,
                              .content_type = "application/merge-patch+json"),
                  200);
        check_int("get", api_request(&rig, &tap, "GET", PODS "/p", .accept = TABLE), 200);
        check_at(&tap, "rows.0.cells.2", pods[i].cell);
        api_rig_stop(&rig);
    }
}

/* ---- watches ---- */

/* covers: kube-api.md 12 80 81 83 */
static void a_watch_tells_what_is_there_and_what_changes(void **state)
{
    scoped(tap) struct api_tap watch = {0}, picky = {0}, tap = {0};
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    make_config_map(&rig, "a", "\"x\":\"1\"");
    check_int("watch", api_request(&rig, &watch, "GET", CMS "?watch=True"), 200);
    check_int("picky", api_request(&rig, &picky, "GET", CMS "?watch=1&labelSelector=x%3D1"), 200);
    check_event(&watch, 0, "metadata.name", "ADDED a");
    check_event(&watch, 0, "kind", "ADDED ConfigMap");
    check_int("change",
              api_request(&rig, &tap, "PATCH", CMS "/a",
                          .body = "{\"metadata\":{\"labels\":{\"x\":\"2\"}}}",
                          .content_type = "application/merge-patch+json"),
              200);
    check_event(&watch, 1, "metadata.labels.x", "MODIFIED 2");
    check_event(&picky, 1, "metadata.labels.x", "DELETED 1"); /* as it was … */

    scoped_str revision = api_tap_at(&tap, "metadata.resourceVersion");
    scoped_str deleted = mem_printf("DELETED %s", revision);

    check_event(&picky, 1, "metadata.resourceVersion", deleted); /* … by the change's revision */
    check_int("back",
              api_request(&rig, &tap, "PATCH", CMS "/a",
                          .body = "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}",
                          .content_type = "application/merge-patch+json"),
              200);
    check_event(&picky, 2, "metadata.name", "ADDED a");
    check_int("delete", api_request(&rig, &tap, "DELETE", CMS "/a"), 200);
    check_event(&watch, 3, "metadata.name", "DELETED a");
    check_event(&picky, 3, "metadata.name", "DELETED a");
    check_int("no more", api_tap_lines(&watch), 4);

    scoped_str from = mem_printf(CMS "?watch=1&resourceVersion=%s", revision);

    check_int("from", api_request(&rig, &watch, "GET", from), 200);
    check_event(&watch, 0, "metadata.name", "MODIFIED a");
    check_event(&watch, 1, "metadata.name", "DELETED a");
    check_int("one object", api_request(&rig, &watch, "GET", CMS "/b?watch=1"), 200);
    make_config_map(&rig, "c", "");
    make_config_map(&rig, "b", "");
    check_event(&watch, 0, "metadata.name", "ADDED b");
    check_int("only it", api_tap_lines(&watch), 1);
    check_int("no watch", api_request(&rig, &tap, "GET", CMS "?watch=0"), 200);
    check("ended", tap.ended);
    api_rig_stop(&rig);
}

/* covers: kube-api.md 82 92 */
static void a_watch_from_before_the_window_is_told_so(void **state)
{
    scoped(tap) struct api_tap watch = {0};
    struct api_rig rig;

    api_rig_start(&rig, &(const struct api_rig_options){.watch_window = 5});
    for (int i = 0; i < 20; i++) {
        scoped_str name = mem_printf("c%d", i);

        make_config_map(&rig, name, "");
    }
    check_int("status", api_request(&rig, &watch, "GET", CMS "?watch=1&resourceVersion=1"), 200);
    check("ended", watch.ended);
    check_event(&watch, 0, "code", "ERROR 410");
    check_event(&watch, 0, "reason", "ERROR Expired");
    api_rig_stop(&rig);
}

/* covers: kube-api.md 84 85 86 89 */
static void bookmarks_tables_and_ends(void **state)
{
    scoped(tap) struct api_tap watch = {0};
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    make_config_map(&rig, "a", "");
    check_int("list",
              api_request(&rig, &watch, "GET",
                          CMS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                              "allowWatchBookmarks=true&timeoutSeconds=100"),
              200);
    check_event(&watch, 0, "metadata.name", "ADDED a");
    check_event(&watch, 1, "metadata.annotations",
                "BOOKMARK {\"k8s.io/initial-events-end\":"
                "\"true\"}");
    make_config_map(&rig, "b", "");
    check_event(&watch, 2, "metadata.name", "ADDED b");
    loop_advance(rig.loop, 61000);
    check_event(&watch, 3, "kind", "BOOKMARK ConfigMap");
    check_int("nothing new, no bookmark", api_tap_lines(&watch), 4);
    make_config_map(&rig, "c", "");
    loop_advance(rig.loop, 40000);
    check("ended in time", watch.ended);
    check_event(&watch, 5, "kind", "BOOKMARK ConfigMap");

    check_int("table", api_request(&rig, &watch, "GET", CMS "?watch=1", .accept = TABLE), 200);
    check_event(&watch, 0, "columnDefinitions.0.name", "ADDED Name");
    check_event(&watch, 1, "columnDefinitions", "ADDED null");
    check_event(&watch, 1, "rows.0.cells.0", "ADDED b");
    loop_advance(rig.loop, (int64_t)29 * 60 * 1000);
    check("half an hour at least", !watch.ended);
    loop_advance(rig.loop, (int64_t)31 * 60 * 1000);
    check("an hour at most", watch.ended);
    api_rig_stop(&rig);
}

/* covers: kube-api.md 91; reliability.md L-27 */
static void a_watch_that_is_not_read_ends(void **state)
{
    scoped(tap) struct api_tap slow = {0}, good = {0};
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    check_int("slow", api_request(&rig, &slow, "GET", CMS "?watch=1"), 200);
    check_int("good", api_request(&rig, &good, "GET", CMS "?watch=1"), 200);
    slow.backlog = 5 << 20;
    make_config_map(&rig, "a", "");
    check("ended", slow.ended);
    check_event(&slow, 1, "code", "ERROR 410");
    make_config_map(&rig, "b", "");
    check_event(&good, 1, "metadata.name", "ADDED b");
    api_rig_stop(&rig);
}

static void a_request_may_be_taken_back_at_any_time(void **state)
{
    struct api_rig rig;

    api_rig_start(&rig, NULL);
    for (int settled = 0; settled < 2; settled++) {
        static const char *const targets[] = {CMS, CMS "?watch=1", CMS "/x", "/healthz"};

        for (size_t i = 0; i < countof(targets); i++) {
            const struct api_request request = {.method = API_GET, .target = targets[i]};
            struct api_tap tap = {0};

            make_config_map(&rig, settled ? "b" : "a", "");
            api_tap_start(&rig, &tap, "GET", CMS "?watch=1", &(const struct api_ask){0});
            tap.stream = (api_cancel(tap.stream), api_handle(rig.api, &request, &tap.answer));
            if (settled)
                loop_settle(rig.loop);
            if (tap.stream)
                api_cancel(take(tap.stream));
            loop_settle(rig.loop);
            api_tap_release(&tap);
            api_request(&rig, &tap, "DELETE", settled ? CMS "/b" : CMS "/a");
            api_tap_release(&tap);
        }
    }
    api_rig_stop(&rig);
}

/* ---- logs ---- */

struct fake_log {
    const char *text; /* all that was ever written */
    struct log_query last;
};

static bool read_fake(void *ctx, const struct object *pod, const struct log_query *query,
                      int64_t *offset, struct buf *out, struct error *err)
{
    struct fake_log *log = ctx;

    log->last = *query;
    if (query->previous)
        return error_set(err, ERR_NOT_FOUND, "", "no earlier run");
    buf_str(out, log->text + *offset);
    *offset = (int64_t)strlen(log->text);
    return true;
}

static void set_pod(struct api_rig *rig, const char *status)
{
    scoped(tap) struct api_tap tap = {0};
    scoped_str patch = mem_printf("{\"status\":%s}", status);

    check_int("status",
              api_request(rig, &tap, "PATCH", PODS "/p/status", .body = patch,
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
    scoped(tap) struct api_tap tap = {0};
    struct api_rig rig;

    api_rig_start(&rig, &(const struct api_rig_options){.logs = &logs});
    check_int("no pod", api_request(&rig, &tap, "GET", PODS "/p/log"), 404);
    check_int("create", api_request(&rig, &tap, "POST", PODS, .body = pod_body), 201);
    check_int("logs", api_request(&rig, &tap, "GET", PODS "/p/log"), 200);
    check_str("text", tap.body.data, "one\n");
    check_str("type", tap.content_type, "text/plain");
    set_pod(&rig, RUNNING);
    check_int("all flags",
              api_request(&rig, &tap, "GET",
                          PODS "/p/log?container=c&tailLines=2&limitBytes=10&timestamps=true&"
                               "sinceSeconds=60"),
              200);
    check_int("tail", log.last.tail_lines, 2);
    check_int("limit", log.last.limit_bytes, 10);
    check("stamps", log.last.timestamps);
    check_int("since", log.last.since_ms, loop_wall_ms(rig.loop) - 60000);
    check_int("follow", api_request(&rig, &tap, "GET", PODS "/p/log?follow=true"), 200);
    check("goes on", !tap.ended && api_is_endless(tap.stream));
    log.text = "one\ntwo\n";
    loop_advance(rig.loop, 200);
    check_str("more", tap.body.data, "one\ntwo\n");
    log.text = "one\ntwo\nlast\n";
    set_pod(&rig, OVER);
    loop_advance(rig.loop, 200);
    check("ended", tap.ended);
    check_str("last words", tap.body.data, "one\ntwo\nlast\n");
    set_pod(&rig, RUNNING);
    log.text = "a";
    check_int("again", api_request(&rig, &tap, "GET", PODS "/p/log?follow=true"), 200);
    log.text = "a and b";
    api_free(take(rig.api));
    check("ended", tap.ended);
    check_str("said when all ends", tap.body.data, "a and b");
    api_rig_stop(&rig);
}

static const struct exchange log_refusals[] = {
    {"unknown container", "GET", PODS "/p/log?container=z", NULL, 400,
     "container z is not valid for pod p"},
    {"an init container", "GET", PODS "/p/log?container=i", NULL, 200, ""},
    {"not started", "GET", PODS "/p/log?container=c", NULL, 400,
     "container \\\"c\\\" in pod \\\"p\\\" is waiting to start: ContainerCreating"},
    {"no previous", "GET", PODS "/p/log?container=c&previous=true", NULL, 400,
     "previous terminated container \\\"c\\\" in pod \\\"p\\\" not found"},
    {"both since", "GET", PODS "/p/log?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z", NULL, 422,
     "at most one of `sinceTime` or `sinceSeconds` may be specified"},
    {"negative tail", "GET", PODS "/p/log?tailLines=-1", NULL, 422,
     "tailLines: Invalid value: -1: must be greater than or equal to 0"},
    {"no seconds", "GET", PODS "/p/log?sinceSeconds=0", NULL, 422, "must be greater than 0"},
    {"no bytes", "GET", PODS "/p/log?limitBytes=0", NULL, 422, "must be greater than 0"},
    {"no number", "GET", PODS "/p/log?tailLines=x", NULL, 400, "invalid syntax"},
    {"no time", "GET", PODS "/p/log?sinceTime=noon", NULL, 400, NULL},
};

static void log_requests_are_checked(void **state)
{
    struct fake_log log = {.text = ""};
    const struct api_logs logs = {read_fake, &log};
    scoped(tap) struct api_tap tap = {0};
    struct api_rig rig;

    api_rig_start(&rig, &(const struct api_rig_options){.logs = &logs});
    check_int("create", api_request(&rig, &tap, "POST", PODS, .body = pod_body), 201);
    set_pod(&rig, "{\"phase\":\"Pending\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{"
                  "\"waiting\":{\"reason\":\"ContainerCreating\"}}}]}");
    for (size_t i = 0; i < countof(log_refusals); i++) {
        const struct exchange *c = &log_refusals[i];

        check_int(c->name, api_request(&rig, &tap, c->method, c->target), c->status);
        check_has(c->name, tap.body.data ? tap.body.data : "", c->has ? c->has : "");
    }
    api_rig_stop(&rig);
    api_rig_start(&rig, NULL);
    check_int("create", api_request(&rig, &tap, "POST", PODS, .body = pod_body), 201);
    check_int("nowhere", api_request(&rig, &tap, "GET", PODS "/p/log"), 503);
    api_rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered_as_kubernetes_does),
        cmocka_unit_test(unknown_fields_are_refused_warned_about_or_ignored),
        cmocka_unit_test(updates_and_patches_keep_what_is_not_theirs),
        cmocka_unit_test(deletes_say_what_is_left),
        cmocka_unit_test(lists_come_in_pages),
        cmocka_unit_test(a_list_waits_for_a_slow_reader),
        cmocka_unit_test(tables_have_the_columns_of_their_kind),
        cmocka_unit_test(the_status_of_a_pod_is_one_word),
        cmocka_unit_test(a_watch_tells_what_is_there_and_what_changes),
        cmocka_unit_test(a_watch_from_before_the_window_is_told_so),
        cmocka_unit_test(bookmarks_tables_and_ends),
        cmocka_unit_test(a_watch_that_is_not_read_ends),
        cmocka_unit_test(a_request_may_be_taken_back_at_any_time),
        cmocka_unit_test(logs_are_read_and_followed_to_the_end),
        cmocka_unit_test(log_requests_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
