/*
 * Tests create, update and patch: the fields the server owns, preconditions, the status
 * subresource. covers: kube-api.md 46 47 48 49 51 52 93 95 96 99 100 101 102; job.md WQ-10;
 * reliability.md L-11 L-20 L-21 INV-S4 INV-S8 P-02 D-08
 */
#include "tests/unit.h"

#include <fcntl.h>

#include "api/types/kinds/pod/pod.h"
#include "base/log.h"
#include "tests/support/disk.h"
#include "tests/support/registry_fixture.h"

#define CONFIG_MAP "'apiVersion':'v1','kind':'ConfigMap'"
#define JOB        "'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job'"
#define JOB_SPEC                                                                                   \
    "'spec':{'minAvailable':1,'tasks':[{'name':'t','replicas':1,'template':{'spec':{"              \
    "'containers':[{'name':'c','image':'i'}]}}}]}"

static void create_fills_in_what_the_server_owns(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *object = registry_fixture_create(
        fixture,
        "{" JOB ",'metadata':{'name':'a','namespace':'default','uid':'mine','generation':7,"
        "'creationTimestamp':'2001-01-01T00:00:00Z','selfLink':'/x'}," JOB_SPEC
        ",'status':{'state':{'phase':'Running'}}}");

    check_int("uid", strlen(object_uid(object)), CLOCK_UUID_LEN);
    check("uid is ours", strcmp(object_uid(object), "mine") != 0);
    check_int("generation", object->meta->generation, 1);
    check_int("created", object->meta->created_at_ms, 1767323045000);
    check("a status subresource starts empty", !object->status);
    check("revision", object->revision > 0);
    object = registry_fixture_create(fixture, "{" CONFIG_MAP
                                              ",'metadata':{'name':'a','namespace':'default'}}");
    check_int("no generation", object->meta->generation, 0);
}

static void names_are_generated(void **state)
{
    static const char json[] =
        "{" CONFIG_MAP ",'metadata':{'generateName':'gen-','namespace':'default'}}";
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *object = registry_fixture_create(fixture, json);

    check_int("length", strlen(object_name(object)), 9);
    check_int("prefix", strncmp(object_name(object), "gen-", 4), 0);
    check_int("alphabet", strspn(object_name(object) + 4, "bcdfghjklmnpqrstvwxz2456789"), 5);
    check_str("kept", object->meta->generate_name, "gen-");
    check("another",
          strcmp(object_name(registry_fixture_create(fixture, json)), object_name(object)) != 0);
}

struct refusal {
    const char *json;
    enum error_code code;
    const char *text;
};

static const struct refusal refusals[] = {
    {"{" CONFIG_MAP ",'metadata':{'namespace':'default'}}", ERR_INVALID,
     "name or generateName is required"},
    {"{" CONFIG_MAP ",'metadata':{'name':'Bad_Name','namespace':'default'}}", ERR_INVALID,
     "RFC 1123"},
    {"{" CONFIG_MAP ",'metadata':{'name':'a','namespace':'nons'}}", ERR_NOT_FOUND,
     "namespaces \"nons\" not found"},
    {"{" CONFIG_MAP ",'metadata':{'name':'a','namespace':'default','resourceVersion':'5'}}",
     ERR_BAD_REQUEST, "resourceVersion should not be set on objects to be created"},
    {"{" CONFIG_MAP ",'metadata':{'name':'taken','namespace':'default'}}", ERR_EXISTS,
     "configmaps \"taken\" already exists"},
    {"{'apiVersion':'v2','kind':'ConfigMap','metadata':{'name':'a','namespace':'default'}}",
     ERR_BAD_REQUEST, "ConfigMap"},
    {"{" CONFIG_MAP ",'metadata':{'name':'a','namespace':'default','labels':{'x':'b/c'}}}",
     ERR_INVALID, "b/c"},
    {"{" CONFIG_MAP ",'bogus':1,'metadata':{'name':'a','namespace':'default'}}", ERR_BAD_REQUEST,
     "bogus"},
};

static void create_refuses_with_the_reason(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    int64_t before;

    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'taken','namespace':'default'}}");
    before = store_revision(fixture->store);
    for (const struct refusal *r = refusals; r < refusals + countof(refusals); r++)
        registry_fixture_refuses(fixture, r->json, r->code, r->text);
    check_int("nothing was stored", store_revision(fixture->store), before);
}

static void a_name_is_free_when_its_object_is_gone(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);

    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'going','namespace':'default',"
                            "'finalizers':['x/y']}}");
    registry_fixture_delete_with(fixture, &kind_config_map, "going", .grace_s = -1);
    registry_fixture_refuses(fixture,
                             "{" CONFIG_MAP ",'metadata':{'name':'going','namespace':'default'}}",
                             ERR_EXISTS, "object is being deleted");
}

static void a_pod_begins_pending(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *pod = registry_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'},"
                 "'spec':{'containers':[{'name':'c','image':'i'}]}}");

    check_int("phase", pod_status_of(pod)->phase, POD_PENDING);
    check_str("text", pod->status->text, "{\"phase\":\"Pending\"}");
}

static void every_cluster_has_its_namespace_and_queues(void **state)
{
    scoped_str directory = test_path("builtins");
    scoped(registry_fixture) struct registry_fixture *fixture =
        registry_fixture_new(directory, NULL);
    int64_t revision;

    check("namespace", registry_fixture_has(fixture, &kind_namespace, "default"));
    check("root", registry_fixture_has(fixture, &kind_queue, "root"));
    check_str("open", registry_fixture_get(fixture, &kind_queue, "default")->status->text,
              "{\"state\":\"Open\"}");
    check_str("label",
              meta_label(registry_fixture_get(fixture, &kind_namespace, "default")->meta,
                         "kubernetes.io/metadata.name"),
              "default");
    revision = store_revision(fixture->store);
    registry_fixture_restart(fixture);
    check_int("made once", store_revision(fixture->store), revision);
}

static bool update(struct registry_fixture *fixture, json_t *doc, enum registry_subresource sub,
                   const struct object **out)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    bool ok;

    error_list_release(&fixture->errors);
    ok = registry_update(fixture->registry, doc, sub, &how, out, &fixture->errors);
    registry_fixture_settle(fixture);
    return ok;
}

static void of_two_updates_with_one_revision_one_wins(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *object = registry_fixture_create(
        fixture, "{" CONFIG_MAP ",'metadata':{'name':'a','namespace':'default'},'data':{'x':'0'}}");
    scoped(json) json_t *first = object_to_json(object);
    scoped(json) json_t *second = object_to_json(object);

    json_object_set_new(first, "data", registry_fixture_json("{'x':'1'}"));
    json_object_set_new(second, "data", registry_fixture_json("{'x':'2'}"));
    check("first", update(fixture, first, REGISTRY_MAIN, &object));
    check_str("data", object->body->text, "{\"data\":{\"x\":\"1\"}}");
    check("second", !update(fixture, second, REGISTRY_MAIN, NULL));
    registry_fixture_failed(
        fixture, ERR_CONFLICT,
        "configmaps \"a\": the object has been modified; please apply your changes to the "
        "latest version and try again");
}

static void an_equal_update_writes_nothing(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *object = registry_fixture_create(
        fixture,
        "{" JOB ",'metadata':{'name':'a','namespace':'default','labels':{'x':'y'}}," JOB_SPEC "}");
    scoped(json) json_t *doc = object_to_json(object);
    int64_t revision = object->revision;

    check("equal", update(fixture, doc, REGISTRY_MAIN, &object));
    check_int("revision", object->revision, revision);
    check("empty patch", registry_fixture_patch(fixture, &kind_job, "a", "{}"));
    check_int("store", store_revision(fixture->store), revision);
}

static void the_server_keeps_its_fields(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *object = registry_fixture_create(
        fixture, "{" JOB ",'metadata':{'name':'a','namespace':'default'}," JOB_SPEC "}");
    scoped_str uid = mem_strdup(object_uid(object));

    check("patch", registry_fixture_patch(
                       fixture, &kind_job, "a",
                       "{'metadata':{'generation':9,'creationTimestamp':"
                       "'2001-01-01T00:00:00Z','deletionTimestamp':'2001-01-01T00:00:00Z',"
                       "'labels':{'x':'y'}}}"));
    object = registry_fixture_get(fixture, &kind_job, "a");
    check_str("label", meta_label(object->meta, "x"), "y");
    check_int("generation", object->meta->generation, 1);
    check_int("created", object->meta->created_at_ms, 1767323045000);
    check("not deleted", !object_deleting(object));
    check("spec", registry_fixture_patch(fixture, &kind_job, "a", "{'spec':{'minAvailable':0}}"));
    check_int("generation", registry_fixture_get(fixture, &kind_job, "a")->meta->generation, 2);
    check_str("uid", object_uid(registry_fixture_get(fixture, &kind_job, "a")), uid);
    check("other uid",
          !registry_fixture_patch(fixture, &kind_job, "a", "{'metadata':{'uid':'zz'}}"));
    registry_fixture_failed(fixture, ERR_INVALID, "field is immutable");
    check("other name",
          !registry_fixture_patch(fixture, &kind_job, "a", "{'metadata':{'name':'b'}}"));
    registry_fixture_failed(fixture, ERR_BAD_REQUEST, "does not match the name on the URL (a)");
    check("other kind", !registry_fixture_patch(fixture, &kind_job, "a", "{'kind':'Pod'}"));
    registry_fixture_failed(fixture, ERR_BAD_REQUEST, "cannot change the apiVersion and kind");
    check("last label",
          registry_fixture_patch(fixture, &kind_job, "a", "{'metadata':{'labels':{'x':null}}}"));
    check_int("no labels", registry_fixture_get(fixture, &kind_job, "a")->meta->n_labels, 0);
}

static void status_and_spec_are_written_apart(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *object;

    registry_fixture_create(fixture,
                            "{" JOB ",'metadata':{'name':'a','namespace':'default'}," JOB_SPEC "}");
    check("status",
          registry_fixture_patch_status(fixture, &kind_job, "a",
                                        "{'status':{'state':{'phase':'Running'}},'spec':{"
                                        "'minAvailable':0},'metadata':{'labels':{'x':'y'}}}"));
    object = registry_fixture_get(fixture, &kind_job, "a");
    check_has("status", object->status->text, "\"Running\"");
    check_has("spec", object->body->text, "\"minAvailable\":1");
    check_int("labels", object->meta->n_labels, 0);
    check_int("generation", object->meta->generation, 1);
    check("spec", registry_fixture_patch(
                      fixture, &kind_job, "a",
                      "{'status':{'state':{'phase':'Failed'}},'spec':{'minAvailable':0}}"));
    object = registry_fixture_get(fixture, &kind_job, "a");
    check_has("status", object->status->text, "\"Running\"");
    check_has("spec", object->body->text, "\"minAvailable\":0");

    registry_fixture_create(
        fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup',"
                 "'metadata':{'name':'g','namespace':'default'},'spec':{'minMember':1}}");
    check("both at once",
          registry_fixture_patch(fixture, &kind_pod_group, "g",
                                 "{'spec':{'minMember':2},'status':{'phase':'Running'}}"));
    object = registry_fixture_get(fixture, &kind_pod_group, "g");
    check_has("group status", object->status->text, "\"Running\"");
    check_has("group spec", object->body->text, "\"minMember\":2");
}

static void a_dry_run_stores_nothing(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct registry_write how = {.dry_run = REGISTRY_DRY_RUN};
    scoped(json) json_t *doc =
        registry_fixture_json("{" CONFIG_MAP ",'metadata':{'name':'a','namespace':'default'}}");
    const struct object *object;
    int64_t before = store_revision(fixture->store);

    check("created", registry_create(fixture->registry, doc, &how, &object, &fixture->errors));
    check_int("uid", strlen(object_uid(object)), CLOCK_UUID_LEN);
    check_int("no revision", object->revision, 0);
    check("not there", !registry_fixture_has(fixture, &kind_config_map, "a"));
    check_int("store", store_revision(fixture->store), before);
    registry_fixture_settle(fixture);
}

static void custom_kinds_take_no_strategic_patch(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct registry_write how = {0};
    scoped(json) json_t *patch = registry_fixture_json("{'metadata':{'labels':{'x':'y'}}}");

    registry_fixture_create(fixture,
                            "{" JOB ",'metadata':{'name':'a','namespace':'default'}," JOB_SPEC "}");
    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'a','namespace':'default'}}");
    check("job",
          !registry_patch(fixture->registry, (struct registry_target){&kind_job, "default", "a"},
                          &(struct registry_patch){REGISTRY_PATCH_STRATEGIC, patch}, &how, NULL,
                          &fixture->errors));
    registry_fixture_failed(fixture, ERR_MEDIA_TYPE, "merge-patch+json");
    check("config map", registry_patch(fixture->registry,
                                       (struct registry_target){&kind_config_map, "default", "a"},
                                       &(struct registry_patch){REGISTRY_PATCH_STRATEGIC, patch},
                                       &how, NULL, &fixture->errors));
}

static void there_is_room_for_so_many_objects(void **state)
{
    const struct registry_options options = {
        .limits = {.kind_in_namespace = 2, .object_bytes = 1000}};
    scoped(registry_fixture) struct registry_fixture *fixture =
        registry_fixture_new(NULL, &options);
    scoped_str data = mem_alloc(2000);
    scoped_str large = NULL;

    memset(data, 'x', 1500);
    large = mem_printf(
        "{" CONFIG_MAP ",'metadata':{'name':'l','namespace':'default'},'data':{'x':'%s'}}", data);
    registry_fixture_refuses(fixture, large, ERR_TOO_LARGE, "limit is 1000");
    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'a','namespace':'default'}}");
    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'b','namespace':'default'}}");
    registry_fixture_refuses(fixture,
                             "{" CONFIG_MAP ",'metadata':{'name':'c','namespace':'default'}}",
                             ERR_FORBIDDEN, "exceeded quota");
    check("updates go on",
          registry_fixture_patch(fixture, &kind_config_map, "a", "{'data':{'x':'y'}}"));
}

static void a_full_disk_takes_deletes_only(void **state)
{
    scoped_str directory = test_path("full");
    scoped(registry_fixture) struct registry_fixture *fixture =
        registry_fixture_new(directory, NULL);

    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'a','namespace':'default'}}");
    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'b','namespace':'default'}}");
    disk_set(DISK_NO_SPACE);
    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'c','namespace':'default'}}");
    loop_advance(fixture->loop, 10);
    registry_fixture_refuses(fixture,
                             "{" CONFIG_MAP ",'metadata':{'name':'d','namespace':'default'}}",
                             ERR_STORAGE, "is full");
    check("update", !registry_fixture_patch(fixture, &kind_config_map, "a", "{'data':{'x':'y'}}"));
    registry_fixture_failed(fixture, ERR_STORAGE, "is full");
    check("delete", registry_fixture_delete_with(fixture, &kind_config_map, "a", .grace_s = -1));
    check("read", registry_fixture_has(fixture, &kind_config_map, "b"));
    disk_set(DISK_WELL);
    loop_advance(fixture->loop, 2000);
    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'d','namespace':'default'}}");
    registry_fixture_restart(fixture);
    check("all there", !registry_fixture_has(fixture, &kind_config_map, "a") &&
                           registry_fixture_has(fixture, &kind_config_map, "c") &&
                           registry_fixture_has(fixture, &kind_config_map, "d"));
}

static int install_disk(void **state)
{
    disk_install();
    log_to(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR,
           LOG_TEXT); /* the test injects a fault, whose message is not shown */
    return 0;
}

static void times_in_managed_fields_are_no_change(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    int64_t revision;

    registry_fixture_create(fixture,
                            "{" CONFIG_MAP ",'metadata':{'name':'a','namespace':'default',"
                            "'managedFields':[{'manager':'m','time':'2026-01-01T00:00:00Z'}]}}");
    revision = store_revision(fixture->store);
    check("time", registry_fixture_patch(fixture, &kind_config_map, "a",
                                         "{'metadata':{'managedFields':[{'manager':'m','time':"
                                         "'2026-01-02T00:00:00Z'}]}}"));
    check_int("no write", store_revision(fixture->store), revision);
    check("manager", registry_fixture_patch(fixture, &kind_config_map, "a",
                                            "{'metadata':{'managedFields':[{'manager':'n','time':"
                                            "'2026-01-02T00:00:00Z'}]}}"));
    check_int("a write", store_revision(fixture->store), revision + 1);
}

static void a_document_that_says_nothing_new_is_told_apart(void **state)
{
    static const struct {
        const char *label, *json;
        bool held;
    } cases[] = {
        {"as it was written",
         "{" JOB ",'metadata':{'name':'a','namespace':'default'}," JOB_SPEC "}", true},
        {"in another order, which is left to the full way",
         "{" JOB ",'metadata':{'name':'a','namespace':'default'},'spec':{'minAvailable':1,"
         "'queue':'default','maxRetry':3,'schedulerName':'volcano','tasks':[{'name':'t','replicas':"
         "1,"
         "'minAvailable':1,'maxRetry':3,'template':{'spec':{'containers':[{'name':'c','image':'i'}]"
         "}}}]}}",
         false},
        {"a label it has",
         "{" JOB ",'metadata':{'name':'a','namespace':'default','labels':{'x':'1'}}," JOB_SPEC "}",
         true},
        {"another value of a label",
         "{" JOB ",'metadata':{'name':'a','namespace':'default','labels':{'x':'2'}}," JOB_SPEC "}",
         false},
        {"a new annotation",
         "{" JOB ",'metadata':{'name':'a','namespace':'default','annotations':{'x':'1'}}," JOB_SPEC
         "}",
         false},
        {"a new finalizer",
         "{" JOB ",'metadata':{'name':'a','namespace':'default','finalizers':['x/y']}," JOB_SPEC
         "}",
         false},
        {"a precondition",
         "{" JOB ",'metadata':{'name':'a','namespace':'default','resourceVersion':'1'}," JOB_SPEC
         "}",
         false},
        {"another spec",
         "{" JOB
         ",'metadata':{'name':'a','namespace':'default'},'spec':{'minAvailable':1,'tasks':[{"
         "'name':'t','replicas':2,'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}}]}"
         "}",
         false},
        {"what is refused", "{" JOB ",'metadata':{'name':'a','namespace':'default'},'bogus':1}",
         false},
    };
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *stored = registry_fixture_create(
        fixture,
        "{" JOB ",'metadata':{'name':'a','namespace':'default','labels':{'x':'1'}}," JOB_SPEC "}");

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(json) json_t *doc = registry_fixture_json(cases[i].json);

        check_int(cases[i].label, registry_unchanged(fixture->registry, doc, stored),
                  cases[i].held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_fills_in_what_the_server_owns),
        cmocka_unit_test(names_are_generated),
        cmocka_unit_test(create_refuses_with_the_reason),
        cmocka_unit_test(a_name_is_free_when_its_object_is_gone),
        cmocka_unit_test(a_pod_begins_pending),
        cmocka_unit_test(every_cluster_has_its_namespace_and_queues),
        cmocka_unit_test(of_two_updates_with_one_revision_one_wins),
        cmocka_unit_test(an_equal_update_writes_nothing),
        cmocka_unit_test(the_server_keeps_its_fields),
        cmocka_unit_test(status_and_spec_are_written_apart),
        cmocka_unit_test(a_dry_run_stores_nothing),
        cmocka_unit_test(custom_kinds_take_no_strategic_patch),
        cmocka_unit_test(there_is_room_for_so_many_objects),
        cmocka_unit_test(times_in_managed_fields_are_no_change),
        cmocka_unit_test(a_document_that_says_nothing_new_is_told_apart),
        cmocka_unit_test(a_full_disk_takes_deletes_only),
    };
    return cmocka_run_group_tests(tests, install_disk, NULL);
}
