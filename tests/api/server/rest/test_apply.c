#include "tests/unit.h"

#include "tests/support/api_objects.h"

/* Tests server-side apply and managedFields through the API. */

#define CM    "/api/v1/namespaces/default/configmaps/c"
#define CMS   "/api/v1/namespaces/default/configmaps"
#define POD   "/api/v1/namespaces/default/pods/p"
#define QUEUE "/apis/scheduling.volcano.sh/v1beta1/queues/q"

/* Sends a request whose body has single quotes for double ones; returns the status. */
static int ask(struct api_fixture *fixture, struct api_capture *capture, const char *method,
               const char *target, const char *type, const char *quoted)
{
    scoped_str body = mem_strdup(quoted);

    for (char *c = body; c && *c; c++)
        if (*c == '\'')
            *c = '"';
    return api_send(fixture, capture, method, target, .body = body, .content_type = type,
                    .user_agent = "tester/1.0 (linux)");
}

#define APPLY    "application/apply-patch+yaml"
#define MERGE    "application/merge-patch+json"
#define JSON6902 "application/json-patch+json"
#define CONFIG(data)                                                                               \
    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'},'data':" data "}"

/* Returns the field set that a manager owns, as text (owned); NULL if it owns nothing. */
static char *held_by(const struct api_capture *capture, const char *manager)
{
    scoped(json) json_t *doc = api_capture_json(capture);
    json_t *list = json_object_get(json_object_get(doc, "metadata"), "managedFields"), *entry;
    size_t i;

    json_array_foreach(list, i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "manager")), manager) == 0)
            return json_dumps(json_object_get(entry, "fieldsV1"), JSON_COMPACT | JSON_SORT_KEYS);
    }
    return NULL;
}

#define check_held(capture, manager, want)                                                         \
    do {                                                                                           \
        char *held_ = held_by((capture), (manager));                                               \
        check_str((manager), held_, (want));                                                       \
        free(held_);                                                                               \
    } while (0)

/* covers: kube-api.md 105 106 */
static void a_field_no_longer_applied_is_removed_unless_shared(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int(
        "new",
        ask(&fixture, &capture, "PATCH", CM "?fieldManager=m1", APPLY, CONFIG("{'a':'1','b':'2'}")),
        201);
    check_int(
        "other",
        ask(&fixture, &capture, "PATCH", CM "?fieldManager=m2", APPLY, CONFIG("{'b':'2','c':'3'}")),
        200);
    check_held(&capture, "m1", "{\"f:data\":{\"f:a\":{},\"f:b\":{}}}");
    check_held(&capture, "m2", "{\"f:data\":{\"f:b\":{},\"f:c\":{}}}");
    check_int("less",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m1", APPLY, CONFIG("{'d':'4'}")),
              200);
    check_at(&capture, "data", "{\"b\":\"2\",\"c\":\"3\",\"d\":\"4\"}");
    check_int("nothing",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m1", APPLY,
                  "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'}}"),
              200);
    check_held(&capture, "m1", NULL);
    check_at(&capture, "data", "{\"b\":\"2\",\"c\":\"3\"}");
    check_int("nothing",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m2", APPLY,
                  "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'}}"),
              200);
    check_at(&capture, "data", NULL);
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 104; see kubectl.py */
static void a_field_of_another_manager_is_a_conflict_unless_forced(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    ask(&fixture, &capture, "PATCH", CM "?fieldManager=m1", APPLY, CONFIG("{'a':'1','b':'2'}"));
    check_int("one",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m2", APPLY, CONFIG("{'a':'9'}")),
              409);
    check_at(&capture, "message", "Apply failed with 1 conflict: conflict with \"m1\": .data.a");
    check_at(&capture, "details",
             "{\"causes\":[{\"reason\":\"FieldManagerConflict\",\"message\":\"conflict with "
             "\\\"m1\\\"\",\"field\":\".data.a\"}]}");
    check_int(
        "two",
        ask(&fixture, &capture, "PATCH", CM "?fieldManager=m2", APPLY, CONFIG("{'a':'9','b':'9'}")),
        409);
    check_at(&capture, "message",
             "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .data.a\n- .data.b");
    check_int("same",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m2", APPLY, CONFIG("{'a':'1'}")),
              200);
    check_int("forced",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m2&force=true", APPLY,
                  CONFIG("{'a':'9'}")),
              200);
    check_held(&capture, "m1", "{\"f:data\":{\"f:b\":{}}}");
    check_int("taken", ask(&fixture, &capture, "PATCH", CM, MERGE, "{'data':{'a':'x'}}"), 200);
    check_held(&capture, "m2", NULL);
    check_held(&capture, "tester", "{\"f:data\":{\"f:a\":{}}}");
    check_int("updater",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m1", APPLY, CONFIG("{'a':'1'}")),
              409);
    check_at(&capture, "message",
             "Apply failed with 1 conflict: conflict with \"tester\" using v1: .data.a");
    api_fixture_stop(&fixture);
}

static void the_creator_owns_every_field_of_a_new_object(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int("made",
              ask(&fixture, &capture, "POST", CMS "?fieldManager=m", NULL,
                  "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','labels':{'l':'1'},"
                  "'annotations':{'n':'1'}},'data':{'a':'1'}}"),
              201);
    check_has("account", capture.body.data,
              "\"f:metadata\":{\"f:labels\":{\"f:l\":{},\".\":{}},\"f:annotations\":{\"f:n\":{},"
              "\".\":{}}}");
    api_fixture_stop(&fixture);
}

static void an_apply_without_a_change_writes_nothing(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    ask(&fixture, &capture, "PATCH", CM "?fieldManager=m1", APPLY, CONFIG("{'a':'1'}"));
    for (int i = 0; i < 2; i++) {
        scoped_str before = api_capture_at(&capture, "metadata.resourceVersion");

        loop_advance(fixture.loop, 5000);
        check_int(
            "again",
            ask(&fixture, &capture, "PATCH", CM "?fieldManager=m1", APPLY, CONFIG("{'a':'1'}")),
            200);
        check_at(&capture, "metadata.resourceVersion", before);
        check_at(&capture, "metadata.managedFields.0.time", "2026-01-01T00:00:00Z");
    }
    api_fixture_stop(&fixture);
}

struct refusal {
    const char *name, *target, *type, *body;
    int status;
    const char *message;
};

/* covers: kube-api.md 108 99 */
static const struct refusal refusals[] = {
    /* clang-format off */
    {"nobody", CM, APPLY, CONFIG("{}"), 422,
     "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"},
    {"managed fields", CM "?fieldManager=m", APPLY,
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','managedFields':[]}}", 400,
     "metadata.managedFields must be nil"},
    {"force of a merge", CM "?force=true", MERGE, "{}", 422,
     "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"},
    {"no version", CM "?fieldManager=m", APPLY, "{'kind':'ConfigMap','metadata':{'name':'c'}}", 400,
     "Incorrect version specified in apply patch. Specified patch version: , expected: v1"},
    {"another name", CM "?fieldManager=m", APPLY, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'d'}}", 400,
     "the name of the object (d) does not match the name on the URL (c)"},
    {"a long manager", CM "?fieldManager=mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
     "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm", APPLY, CONFIG("{}"), 422,
     "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: must have at most 128 bytes"},
    {"a dry run of some", CM "?fieldManager=m&dryRun=Some", APPLY, CONFIG("{}"), 422,
     "PatchOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: []string{\"Some\"}: supported values: \"All\""},
    {"the status of nothing", POD "/status?fieldManager=m", APPLY,
     "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'status':{}}", 404, "pods \"p\" not found"},
    {"what the schema has no place for", CM "?fieldManager=m&fieldValidation=Ignore", APPLY,
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'default','odd':1},'bogus':2}", 500,
     "failed to create typed patch object (default/c; /v1, Kind=ConfigMap): errors:\n"
     "  .bogus: field not declared in schema\n  .metadata.odd: field not declared in schema"},
    {"the same below an entry with a key", POD "?fieldManager=m", APPLY,
     "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{'containers':[{'name':'c','nope':1}]}}", 500,
     "failed to create typed patch object (default/p; /v1, Kind=Pod): .spec.containers[name=\"c\"].nope: field not declared in schema"},
    {"a key given twice", POD "?fieldManager=m", APPLY,
     "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{'containers':[{'name':'c'},{'name':'c'}]}}", 500,
     "failed to create typed patch object (default/p; /v1, Kind=Pod): .spec.containers: duplicate entries for key [name=\"c\"]"},
    {"the uid of nothing", CM "?fieldManager=m", APPLY, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','uid':'u'}}", 409,
     "Operation cannot be fulfilled on configmaps \"c\": uid mismatch: the provided object specified uid u, and no existing object was found"},
    {"no kind", CM "?fieldManager=m", APPLY, "{'apiVersion':'v1','metadata':{'name':'c'}}", 400, "invalid object type: /v1, Kind="},
    {"an unknown field", CM "?fieldValidation=Strict", MERGE, "{'bogus':1}", 404, "configmaps \"c\" not found"},
    /* clang-format on */
};

static void an_invalid_configuration_is_refused(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < countof(refusals); i++) {
        const struct refusal *c = &refusals[i];

        check_int(c->name, ask(&fixture, &capture, "PATCH", c->target, c->type, c->body),
                  c->status);
        check_at(&capture, "message", c->message);
    }
    check_int("there", ask(&fixture, &capture, "POST", CMS, NULL, CONFIG("{}")), 201);
    check_int("strict",
              ask(&fixture, &capture, "PATCH", CM "?fieldValidation=Strict", MERGE, "{'bogus':1}"),
              422);
    check_at(&capture, "message",
             "patch: Invalid value: strict decoding error: unknown field \"bogus\"");
    check_at(&capture, "details.causes.0.field", "patch");
    check_int("uid", ask(&fixture, &capture, "PATCH", CM, MERGE, "{'metadata':{'uid':'zz'}}"), 422);
    check_has("uid", capture.body.data, "field is immutable");
    check_int("applied uid",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m", APPLY,
                  "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'uid':'zz'}}"),
              422);
    check_has("uid", capture.body.data, "field is immutable");
    check_int("name", ask(&fixture, &capture, "PATCH", CM, MERGE, "{'metadata':{'name':'zz'}}"),
              400);
    api_fixture_stop(&fixture);
}

#define POD_OF(spec)                                                                               \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{'restartPolicy':'Never'"      \
    "," spec "}}"

/* covers: kube-api.md 109 */
static void containers_and_ports_merge_by_their_keys(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int("new",
              ask(&fixture, &capture, "PATCH", POD "?fieldManager=m1", APPLY,
                  POD_OF("'containers':[{'name':'c','image':'x','command':['true'],'ports':[{'"
                         "containerPort':80}]}]")),
              201);
    check_held(&capture, "m1",
               "{\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"c\\\"}\":{\".\":{},\"f:"
               "command\":{},\"f:image\":{},"
               "\"f:name\":{},\"f:ports\":{\"k:{\\\"containerPort\\\":80,\\\"protocol\\\":"
               "\\\"TCP\\\"}\":{\".\":{},"
               "\"f:containerPort\":{}}}}},\"f:restartPolicy\":{}}}");
    check_int("image",
              ask(&fixture, &capture, "PATCH", POD "?fieldManager=m2", APPLY,
                  "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','labels':{'a':'b'}},"
                  "'spec':{'containers':[{'name':'c','image':'y'}]}}"),
              409);
    check_at(
        &capture, "message",
        "Apply failed with 1 conflict: conflict with \"m1\": .spec.containers[name=\"c\"].image");
    check_int("forced",
              ask(&fixture, &capture, "PATCH", POD "?fieldManager=m2&force=1", APPLY,
                  "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','labels':{'a':'b'}},"
                  "'spec':{'containers':[{'name':'c','image':'y'}]}}"),
              200);
    check_at(&capture, "spec.containers.0.image", "y");
    check_at(&capture, "spec.containers.0.command", "[\"true\"]");
    check_at(&capture, "spec.containers.1", NULL);
    check_at(&capture, "spec.containers.0.ports.0.protocol", "TCP");
    check_int("given up",
              ask(&fixture, &capture, "PATCH", POD "?fieldManager=m2", APPLY,
                  "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'}}"),
              200);
    check_at(&capture, "metadata.labels", NULL);
    check_at(&capture, "spec.containers.0.image", NULL);
    check_at(&capture, "spec.containers.0.name", "c");
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 107; see kubectl.py for kubectl's own part */
static void client_side_apply_is_no_conflict_for_kubectl(void **state)
{
    static const char with_note[] =
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','annotations':"
        "{'kubectl.kubernetes.io/last-applied-configuration':"
        "'{\\'apiVersion\\':\\'v1\\',\\'kind\\':\\'ConfigMap\\',\\'metadata\\':{\\'name\\':\\'c\\'}"
        ",\\'data\\':{\\'a\\':\\'1\\'}}'}},"
        "'data':{'a':'1','b':'2'}}";
    scoped(capture) struct api_capture capture = {0};
    scoped_str body = mem_strdup(with_note);
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int(
        "created",
        ask(&fixture, &capture, "POST", CMS "?fieldManager=kubectl-client-side-apply", NULL, body),
        201);
    check_int(
        "its own",
        ask(&fixture, &capture, "PATCH", CM "?fieldManager=kubectl", APPLY, CONFIG("{'a':'9'}")),
        200);
    check_at(&capture, "data.a", "9");
    check_has("the note follows", capture.body.data, "\\\"data\\\":{\\\"a\\\":\\\"9\\\"}");
    check_int("not its own",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=kubectl", APPLY,
                  CONFIG("{'a':'9','b':'9'}")),
              409);
    check_int("of another manager",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m", APPLY, CONFIG("{'b':'8'}")),
              409);
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 110 */
static void managed_fields_can_be_reset_and_start_again_with_the_next_apply(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int("created", ask(&fixture, &capture, "POST", CMS, NULL, CONFIG("{'a':'1'}")), 201);
    check_held(&capture, "tester", "{\"f:data\":{\".\":{},\"f:a\":{}}}");
    check_int("closed",
              ask(&fixture, &capture, "PATCH", CM, MERGE, "{'metadata':{'managedFields':[{}]}}"),
              200);
    check_at(&capture, "metadata.managedFields", NULL);
    check_int("not kept", ask(&fixture, &capture, "PATCH", CM, MERGE, "{'data':{'b':'2'}}"), 200);
    check_at(&capture, "metadata.managedFields", NULL);
    check_int("again",
              ask(&fixture, &capture, "PATCH", CM "?fieldManager=m1", APPLY, CONFIG("{'c':'3'}")),
              200);
    check_held(&capture, "before-first-apply", "{\"f:data\":{\".\":{},\"f:a\":{},\"f:b\":{}}}");
    check_held(&capture, "m1", "{\"f:data\":{\"f:c\":{}}}");
    api_fixture_stop(&fixture);
}

static void given_managed_fields_replace_the_stored_ones(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    ask(&fixture, &capture, "POST", CMS, NULL, CONFIG("{'a':'1'}"));
    check_int("given",
              ask(&fixture, &capture, "PATCH", CM, JSON6902,
                  "[{'op':'replace','path':'/metadata/"
                  "managedFields','value':[{'manager':'m','operation':'Apply',"
                  "'apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:a':{}}}}]}]"),
              200);
    check_held(&capture, "m", "{\"f:data\":{\"f:a\":{}}}");
    check_held(&capture, "tester", NULL);
    check_int("nonsense",
              ask(&fixture, &capture, "PATCH", CM, JSON6902,
                  "[{'op':'replace','path':'/metadata/"
                  "managedFields','value':[{'manager':'m','operation':'Apply',"
                  "'apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{'data':{}}}]}]"),
              200);
    check_held(&capture, "m", "{\"f:data\":{\"f:a\":{}}}");
    api_fixture_stop(&fixture);
}

static void status_has_managed_fields_of_its_own(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    check_int(
        "new",
        ask(&fixture, &capture, "PATCH", QUEUE "?fieldManager=m1", APPLY,
            "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue','metadata':{'name':'q'},"
            "'spec':{'weight':2},'status':{'state':'Closed'}}"),
        201);
    check_held(&capture, "m1", "{\"f:spec\":{\"f:weight\":{}}}");
    check_at(&capture, "status.state", "Open");
    check_int(
        "status",
        ask(&fixture, &capture, "PATCH", QUEUE "/status?fieldManager=m2", APPLY,
            "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue','metadata':{'name':'q'},"
            "'spec':{'weight':9},'status':{'state':'Closed'}}"),
        200);
    check_held(&capture, "m2", "{\"f:status\":{\"f:state\":{}}}");
    check_at(&capture, "spec.weight", "2");
    check_at(&capture, "status.state", "Closed");
    check_at(&capture, "metadata.managedFields.1.subresource", "status");
    api_fixture_stop(&fixture);
}

static void many_updaters_are_merged(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    scoped(json) json_t *doc = NULL;
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    ask(&fixture, &capture, "POST", CMS, NULL, CONFIG("{'a':'1'}"));
    for (int i = 0; i < 14; i++) {
        scoped_str target = mem_printf(CM "?fieldManager=u%d", i);
        scoped_str body = mem_printf("{'data':{'k%d':'v'}}", i);

        check_int(target, ask(&fixture, &capture, "PATCH", target, MERGE, body), 200);
    }
    doc = api_capture_json(&capture);
    check_int("entries",
              json_array_size(json_object_get(json_object_get(doc, "metadata"), "managedFields")),
              10);
    check_held(&capture, "ancient-changes",
               "{\"f:data\":{\".\":{},\"f:a\":{},\"f:k0\":{},\"f:k1\":{},\"f:k2\":{},\"f:k3\":{},"
               "\"f:k4\":{}}}");
    api_fixture_stop(&fixture);
}

/* The list must have the order of kube-apiserver, because clients compare the lists. */
static void managers_are_sorted(void **state)
{
    static const char *const want[] = {"Apply early", "Apply late", "Update tester",
                                       "Update later"};
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    ask(&fixture, &capture, "POST", CMS, NULL, CONFIG("{'a':'1'}"));
    loop_advance(fixture.loop, 2000);
    ask(&fixture, &capture, "PATCH", CM "?fieldManager=early", APPLY, CONFIG("{'b':'1'}"));
    loop_advance(fixture.loop, 2000);
    ask(&fixture, &capture, "PATCH", CM "?fieldManager=later", MERGE, "{'data':{'c':'1'}}");
    ask(&fixture, &capture, "PATCH", CM "?fieldManager=late", APPLY, CONFIG("{'d':'1'}"));
    for (size_t i = 0; i < countof(want); i++) {
        scoped_str operation_path = mem_printf("metadata.managedFields.%zu.operation", i);
        scoped_str manager_path = mem_printf("metadata.managedFields.%zu.manager", i);
        scoped_str operation = api_capture_at(&capture, operation_path);
        scoped_str manager = api_capture_at(&capture, manager_path);
        scoped_str entry = mem_printf("%s %s", operation, manager);

        check_str(operation_path, entry, want[i]);
    }
    api_fixture_stop(&fixture);
}

/* covers: kube-api.md 94 */
static void an_update_needs_a_revision_where_a_cluster_requires_one(void **state)
{
    static const char lease[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    ask(&fixture, &capture, "POST", CMS, NULL, CONFIG("{'a':'1'}"));
    check_int("built in", ask(&fixture, &capture, "PUT", CM, NULL, CONFIG("{'a':'2'}")), 200);
    check_int("custom",
              ask(&fixture, &capture, "PUT", "/apis/scheduling.volcano.sh/v1beta1/queues/default",
                  NULL,
                  "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                  "'metadata':{'name':'default'},'spec':{'weight':2}}"),
              422);
    check_has("custom", capture.body.data,
              "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update");
    check_int("a lease that is not there",
              ask(&fixture, &capture, "PUT", lease, NULL, "{'metadata':{'name':'l'}}"), 201);
    check_int("a lease that is",
              ask(&fixture, &capture, "PUT", lease, NULL, "{'metadata':{'name':'l'}}"), 422);
    check_int("something else that is not there",
              ask(&fixture, &capture, "PUT", CMS "/x", NULL, "{'metadata':{'name':'x'}}"), 404);
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_no_longer_applied_is_removed_unless_shared),
        cmocka_unit_test(a_field_of_another_manager_is_a_conflict_unless_forced),
        cmocka_unit_test(the_creator_owns_every_field_of_a_new_object),
        cmocka_unit_test(an_apply_without_a_change_writes_nothing),
        cmocka_unit_test(an_invalid_configuration_is_refused),
        cmocka_unit_test(containers_and_ports_merge_by_their_keys),
        cmocka_unit_test(client_side_apply_is_no_conflict_for_kubectl),
        cmocka_unit_test(managed_fields_can_be_reset_and_start_again_with_the_next_apply),
        cmocka_unit_test(given_managed_fields_replace_the_stored_ones),
        cmocka_unit_test(status_has_managed_fields_of_its_own),
        cmocka_unit_test(many_updaters_are_merged),
        cmocka_unit_test(managers_are_sorted),
        cmocka_unit_test(an_update_needs_a_revision_where_a_cluster_requires_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
