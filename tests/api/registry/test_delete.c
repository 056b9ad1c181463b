/*
 * Tests deletion: immediate or by a mark, owners and dependents, namespaces, protection. covers:
 * kube-api.md 114 116 117 118 119 121; reliability.md INV-S7 INV-S9 L-40
 */
#include "tests/unit.h"

#include "base/clock.h"
#include "tests/support/registry_fixture.h"

#define HEAD(name) "'metadata':{'name':'" name "','namespace':'default'"
#define CM(name)   "{'apiVersion':'v1','kind':'ConfigMap'," HEAD(name)

/* Creates a config map with owners. Each of `owner` and `owner2` is an object or NULL. */
static const struct object *dependent(struct registry_fixture *fixture, const char *name,
                                      const struct object *owner, const struct object *owner2,
                                      bool blocks)
{
    scoped(buf) struct buf json = {0};
    const struct object *owners[] = {owner, owner2};

    buf_printf(&json,
               "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s','namespace':"
               "'default','ownerReferences':[",
               name);
    for (size_t i = 0; i < countof(owners) && owners[i]; i++)
        buf_printf(&json,
                   "%s{'apiVersion':'v1','kind':'ConfigMap','name':'%s','uid':'%s',"
                   "'blockOwnerDeletion':%s}",
                   i ? "," : "", object_name(owners[i]), object_uid(owners[i]),
                   blocks ? "true" : "false");
    buf_str(&json, "]}}");
    return registry_fixture_create(fixture, json.data);
}

static bool drop(struct registry_fixture *fixture, const char *name,
                 enum registry_propagation propagation)
{
    return registry_fixture_delete_with(fixture, &kind_config_map, name, .grace_s = -1,
                                        .propagation = propagation);
}

static bool has(struct registry_fixture *fixture, const char *name)
{
    return registry_fixture_has(fixture, &kind_config_map, name);
}

static void preconditions_are_kept(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);

    registry_fixture_create(fixture, CM("a") "}}");
    check("uid", !registry_fixture_delete_with(fixture, &kind_config_map, "a", .uid = "zz"));
    registry_fixture_failed(fixture, ERR_CONFLICT,
                            "the UID in the precondition (zz) does not match");
    check("revision",
          !registry_fixture_delete_with(fixture, &kind_config_map, "a", .revision = 99));
    registry_fixture_failed(fixture, ERR_CONFLICT, "the ResourceVersion in the precondition (99)");
    check("there", has(fixture, "a"));
    check("dry run", registry_fixture_delete_with(fixture, &kind_config_map, "a",
                                                  .dry_run = REGISTRY_DRY_RUN));
    check("still there", has(fixture, "a"));
    check("delete", drop(fixture, "a", REGISTRY_BACKGROUND));
    check("again", !drop(fixture, "a", REGISTRY_BACKGROUND));
    registry_fixture_failed(fixture, ERR_NOT_FOUND, "configmaps \"a\" not found");
}

#define HELD_CONFIG "{'apiVersion':'v1','kind':'ConfigMap'," HEAD("c") ",'finalizers':['x.io/f']}}"

static void a_name_is_not_free_while_its_holder_goes(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);

    registry_fixture_create(fixture, HELD_CONFIG);
    registry_fixture_refuses(fixture, HELD_CONFIG, ERR_EXISTS, "configmaps \"c\" already exists");
    check("delete", registry_fixture_delete_with(fixture, &kind_config_map, "c", .grace_s = -1));
    registry_fixture_refuses(fixture, HELD_CONFIG, ERR_EXISTS,
                             "object is being deleted: configmaps \"c\" already exists");
}

static void a_finalizer_holds_an_object(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *object;
    int64_t revision, deleted_at;

    registry_fixture_create(
        fixture,
        "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job'," HEAD(
            "a") ",'finalizers':['x.io/f']},'spec':{'minAvailable':1,'tasks':[{'name':'t',"
                 "'replicas':1,'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}"
                 "}]}}");
    check("delete", registry_fixture_delete_with(fixture, &kind_job, "a", .grace_s = -1));
    object = registry_fixture_get(fixture, &kind_job, "a");
    check("marked", object_deleting(object));
    check_int("generation", object->meta->generation, 2);
    check_int("grace", object->meta->deletion_grace_s, 0);
    revision = object->revision;
    deleted_at = object->meta->deleted_at_ms;
    loop_advance(fixture->loop, 5000);
    check("again", registry_fixture_delete_with(fixture, &kind_job, "a", .grace_s = -1));
    object = registry_fixture_get(fixture, &kind_job, "a");
    check_int("no change", object->revision, revision);
    check_int("same time", object->meta->deleted_at_ms, deleted_at);
    check("new finalizer",
          !registry_fixture_patch(fixture, &kind_job, "a",
                                  "{'metadata':{'finalizers':['x.io/f','x.io/g']}}"));
    registry_fixture_failed(fixture, ERR_INVALID,
                            "no new finalizers can be added if the object is being deleted");
    check("mark stays",
          registry_fixture_patch(fixture, &kind_job, "a",
                                 "{'metadata':{'deletionTimestamp':null,'labels':{'a':'b'}}}"));
    check("marked", object_deleting(registry_fixture_get(fixture, &kind_job, "a")));
    buf_clear(&fixture->history);
    check("last one",
          registry_fixture_patch(fixture, &kind_job, "a", "{'metadata':{'finalizers':null}}"));
    check_str("only DELETED", fixture->history.data, "-Job/a ");
}

static void check_order(enum registry_propagation policy, const char *order)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *owner = registry_fixture_create(fixture, CM("o") "}}");
    const struct object *child = dependent(fixture, "c", owner, NULL, true);

    dependent(fixture, "g", child, NULL, true);
    buf_clear(&fixture->history);
    check("delete", drop(fixture, "o", policy));
    check_str("order", fixture->history.data, order);
}

static void dependents_go_after_their_owner(void **state)
{
    check_order(REGISTRY_BACKGROUND, "-ConfigMap/o -ConfigMap/c -ConfigMap/g ");
}

static void in_foreground_they_go_before_it(void **state)
{
    check_order(REGISTRY_FOREGROUND,
                "~ConfigMap/o ~ConfigMap/c -ConfigMap/g -ConfigMap/c -ConfigMap/o ");
}

static void foreground_waits_for_what_blocks(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *owner = registry_fixture_create(fixture, CM("o") "}}");

    dependent(fixture, "c", owner, NULL, true);
    check("hold", registry_fixture_patch(fixture, &kind_config_map, "c",
                                         "{'metadata':{'finalizers':['x.io/f']}}"));
    check("delete", drop(fixture, "o", REGISTRY_FOREGROUND));
    check("waits", has(fixture, "o") && has(fixture, "c"));
    check("free", registry_fixture_patch(fixture, &kind_config_map, "c",
                                         "{'metadata':{'finalizers':null}}"));
    check("gone", !has(fixture, "o") && !has(fixture, "c"));
}

static void foreground_does_not_wait_for_a_lost_dependent(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *owner = registry_fixture_create(fixture, CM("o") "}}");

    dependent(fixture, "c", owner, NULL, true);
    check("hold", registry_fixture_patch(fixture, &kind_config_map, "c",
                                         "{'metadata':{'finalizers':['x.io/f']}}"));
    check("delete", drop(fixture, "o", REGISTRY_FOREGROUND));
    check("leave", registry_fixture_patch(fixture, &kind_config_map, "c",
                                          "{'metadata':{'ownerReferences':null}}"));
    check("owner gone", !has(fixture, "o"));
}

static void orphans_stay_without_their_reference(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *owner = registry_fixture_create(fixture, CM("o") "}}");

    dependent(fixture, "c", owner, NULL, true);
    dependent(fixture, "d", owner, NULL, true);
    buf_clear(&fixture->history);
    check("delete", drop(fixture, "o", REGISTRY_ORPHAN));
    check_str("order", fixture->history.data,
              "~ConfigMap/o ~ConfigMap/c ~ConfigMap/d -ConfigMap/o ");
    check_int("owners", registry_fixture_get(fixture, &kind_config_map, "c")->meta->n_owners, 0);
}

static void one_living_owner_is_enough(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *a = registry_fixture_create(fixture, CM("a") "}}");
    const struct object *b = registry_fixture_create(fixture, CM("b") "}}");

    dependent(fixture, "c", a, b, true);
    check("first", drop(fixture, "a", REGISTRY_BACKGROUND));
    check_int("loses the dead reference",
              registry_fixture_get(fixture, &kind_config_map, "c")->meta->n_owners, 1);
    check("second", drop(fixture, "b", REGISTRY_BACKGROUND));
    check("gone", !has(fixture, "c"));
}

static void an_owner_that_never_was_takes_its_dependents(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);

    registry_fixture_create(fixture,
                            CM("c") ",'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap',"
                                    "'name':'o','uid':'nobody'}]}}");
    check("collected", !has(fixture, "c"));
    check("also an update", registry_fixture_create(fixture, CM("d") "}}") != NULL);
    check("patch",
          registry_fixture_patch(fixture, &kind_config_map, "d",
                                 "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':"
                                 "'ConfigMap','name':'o','uid':'nobody'}]}}"));
    check("collected", !has(fixture, "d"));
}

static void a_namesake_is_not_the_owner(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *owner = registry_fixture_create(fixture, CM("o") "}}");

    dependent(fixture, "c", owner, NULL, true);
    error_list_release(&fixture->errors);
    check("delete",
          registry_delete(fixture->registry,
                          (struct registry_target){&kind_config_map, "default", "o"},
                          &(struct registry_delete){.grace_s = -1}, NULL, &fixture->errors));
    /* O is created again before the garbage collector runs. */
    registry_fixture_create(fixture, CM("o") "}}");
    check("new owner", has(fixture, "o"));
    check("old dependent", !has(fixture, "c"));
}

static void an_owner_in_another_namespace_is_none(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *owner;

    registry_fixture_create(fixture,
                            "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'n2'}}");
    owner = registry_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'o','namespace':'n2'}}");
    dependent(fixture, "c", owner, NULL, true);
    check("collected", !has(fixture, "c"));
}

static void ten_thousand_dependents_go_in_slices(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *owner = registry_fixture_create(fixture, CM("o") "}}");
    scoped_str uid = mem_strdup(object_uid(owner));
    const struct owner_ref reference = {"v1", "ConfigMap", "o", uid, true, true};
    char name[32];

    for (int i = 0; i < 10000; i++) {
        const struct meta draft = {.namespace = "default",
                                   .name = name,
                                   .deletion_grace_s = -1,
                                   .owners = &reference,
                                   .n_owners = 1};

        snprintf(name, sizeof name, "n%d", i);
        check("create", registry_create_object(fixture->registry,
                                               object_new(&kind_config_map, meta_new(&draft),
                                                          blob_intern("{}", 2), NULL),
                                               NULL, &fixture->errors));
    }
    registry_fixture_settle(fixture);
    check_int("there", store_count(fixture->store, &kind_config_map, NULL), 10001);
    check("delete", drop(fixture, "o", REGISTRY_FOREGROUND));
    check_int("gone", store_count(fixture->store, &kind_config_map, NULL), 0);
}

static void collection_goes_on_after_a_restart(void **state)
{
    scoped_str directory = test_path("collect");
    scoped(registry_fixture) struct registry_fixture *fixture =
        registry_fixture_new(directory, NULL);
    const struct object *owner = registry_fixture_create(fixture, CM("o") "}}");

    dependent(fixture, "c", owner, NULL, true);
    error_list_release(&fixture->errors);
    /* The process ends in the turn of the deletion, before the dependents are deleted. */
    check("delete",
          registry_delete(fixture->registry,
                          (struct registry_target){&kind_config_map, "default", "o"},
                          &(struct registry_delete){.grace_s = -1}, NULL, &fixture->errors));
    registry_fixture_restart(fixture);
    check("collected", !has(fixture, "c"));
}

static const struct object *pod(struct registry_fixture *fixture, const char *name,
                                const char *node)
{
    scoped_str json = mem_printf(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default'},'spec':{"
        "'nodeName':'%s','terminationGracePeriodSeconds':7,'containers':[{'name':'c','image':'i'}]}"
        "}",
        name, node);

    return registry_fixture_create(fixture, json);
}

static void a_bound_pod_gets_its_grace(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    int64_t now = loop_wall_ms(fixture->loop);
    const struct object *object;

    pod(fixture, "p", "node");
    check("delete", registry_fixture_delete_with(fixture, &kind_pod, "p", .grace_s = -1));
    object = registry_fixture_get(fixture, &kind_pod, "p");
    check_int("grace", object->meta->deletion_grace_s, 7);
    check_int("time", object->meta->deleted_at_ms, now + 7000);
    check("longer", registry_fixture_delete_with(fixture, &kind_pod, "p", .grace_s = 30));
    check_int("stays", registry_fixture_get(fixture, &kind_pod, "p")->meta->deletion_grace_s, 7);
    check("shorter", registry_fixture_delete_with(fixture, &kind_pod, "p", .grace_s = 2));
    object = registry_fixture_get(fixture, &kind_pod, "p");
    check_int("grace", object->meta->deletion_grace_s, 2);
    check_int("time", object->meta->deleted_at_ms, now + 2000);
    check("label",
          registry_fixture_patch(fixture, &kind_pod, "p", "{'metadata':{'labels':{'a':'b'}}}"));
    check("an update does not remove it", registry_fixture_has(fixture, &kind_pod, "p"));
    check("zero", registry_fixture_delete_with(fixture, &kind_pod, "p", .grace_s = 0));
    check("gone", !registry_fixture_has(fixture, &kind_pod, "p"));
}

static void a_pod_that_does_not_run_goes_at_once(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);

    pod(fixture, "p", "");
    check("unbound", registry_fixture_delete_with(fixture, &kind_pod, "p", .grace_s = -1));
    check("gone", !registry_fixture_has(fixture, &kind_pod, "p"));
    pod(fixture, "q", "node");
    check("ended", registry_fixture_patch_status(fixture, &kind_pod, "q",
                                                 "{'status':{'phase':'Succeeded'}}"));
    check("finished", registry_fixture_delete_with(fixture, &kind_pod, "q", .grace_s = -1));
    check("gone", !registry_fixture_has(fixture, &kind_pod, "q"));
}

static void a_namespace_takes_its_content_along(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    scoped(json) json_t *no_finalizers = registry_fixture_json("{'metadata':{'finalizers':null}}");

    registry_fixture_create(fixture,
                            "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'n2'}}");
    registry_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':"
                 "'n2','finalizers':['x.io/f']}}");
    registry_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'n2'}}");
    check("delete", registry_fixture_delete_with(fixture, &kind_namespace, "n2", .grace_s = -1));
    check_str("phase", registry_fixture_get(fixture, &kind_namespace, "n2")->status->text,
              "{\"phase\":\"Terminating\"}");
    check_int("what can go is gone", store_count(fixture->store, NULL, "n2"), 1);
    registry_fixture_refuses(
        fixture, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'y','namespace':'n2'}}",
        ERR_FORBIDDEN,
        "configmaps \"y\" is forbidden: unable to create new content in namespace n2 "
        "because it is being terminated");
    error_list_release(&fixture->errors);
    check("free",
          registry_patch(fixture->registry, (struct registry_target){&kind_config_map, "n2", "a"},
                         &(struct registry_patch){REGISTRY_PATCH_MERGE, no_finalizers},
                         &(struct registry_write){0}, NULL, &fixture->errors));
    registry_fixture_settle(fixture);
    check("gone", !registry_fixture_has(fixture, &kind_namespace, "n2"));
    check("default stays",
          !registry_fixture_delete_with(fixture, &kind_namespace, "default", .grace_s = 0));
    registry_fixture_failed(fixture, ERR_FORBIDDEN, "this namespace may not be deleted");
}

#define TEMPLATE(name)                                                                             \
    "{'apiVersion':'flow.volcano.sh/v1alpha1','kind':'JobTemplate'," HEAD(                         \
        name) "},'spec':{'tasks':[{'name':'t','replicas':1,'template':{'spec':{'containers':[{"    \
              "'name':'c','image':'i'}]}}}]}}"
#define FLOW(name, more)                                                                           \
    "{'apiVersion':'flow.volcano.sh/v1alpha1','kind':'JobFlow'," HEAD(name) more                   \
        "},'spec':{'flows':[{'name':'a'},{'name':'b','dependsOn':{'targets':['a']}}]}}"

/* covers: jobflow.md 33 */
static void an_unfinished_flow_is_not_deleted_by_mistake(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);

    registry_fixture_create(fixture, FLOW("f", ""));
    check("new", !registry_fixture_delete_with(fixture, &kind_job_flow, "f", .grace_s = -1));
    registry_fixture_failed(fixture, ERR_FORBIDDEN, "--force");
    check("phase", registry_fixture_patch_status(fixture, &kind_job_flow, "f",
                                                 "{'status':{'state':{'phase':'Running'}}}"));
    check("running", !registry_fixture_delete_with(fixture, &kind_job_flow, "f", .grace_s = 5));
    registry_fixture_failed(fixture, ERR_FORBIDDEN, "jobflow f is Running");
    check("dry run", !registry_fixture_delete_with(fixture, &kind_job_flow, "f", .grace_s = -1,
                                                   .dry_run = REGISTRY_DRY_RUN));
    check("phase", registry_fixture_patch_status(fixture, &kind_job_flow, "f",
                                                 "{'status':{'state':{'phase':'Succeed'}}}"));
    check("finished", registry_fixture_delete_with(fixture, &kind_job_flow, "f", .grace_s = -1));

    registry_fixture_create(fixture, FLOW("f", ""));
    check("force", registry_fixture_delete_with(fixture, &kind_job_flow, "f", .grace_s = 0));
    registry_fixture_create(fixture, FLOW("f", ""));
    check("internal", registry_fixture_delete_with(fixture, &kind_job_flow, "f", .grace_s = -1,
                                                   .internal = true));
    registry_fixture_create(
        fixture, FLOW("f", ",'annotations':{'flow.volcano.sh/deletion-protection':'false'}"));
    check("annotation", registry_fixture_delete_with(fixture, &kind_job_flow, "f", .grace_s = -1));
}

/* covers: jobflow.md 35 */
static void a_needed_template_is_not_deleted_by_mistake(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    const struct object *flow;
    scoped_str job = NULL;

    registry_fixture_create(fixture, TEMPLATE("a"));
    registry_fixture_create(fixture, TEMPLATE("b"));
    registry_fixture_create(fixture, TEMPLATE("other"));
    flow = registry_fixture_create(fixture, FLOW("f", ""));
    check("no dependent is left",
          registry_fixture_delete_with(fixture, &kind_job_template, "other", .grace_s = -1));
    check("a", !registry_fixture_delete_with(fixture, &kind_job_template, "a", .grace_s = -1));
    registry_fixture_failed(fixture, ERR_FORBIDDEN, "unfinished jobflows still need it: f");
    job = mem_printf("{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job'," HEAD(
                         "f-a") ",'ownerReferences':[{'apiVersion':'flow.volcano.sh/v1alpha1',"
                                "'kind':'JobFlow','name':'f','uid':'%s','controller':true}]},"
                                "'spec':{'minAvailable':1,'tasks':[{'name':'t','replicas':1,"
                                "'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}}]}}",
                     object_uid(flow));
    registry_fixture_create(fixture, job);
    check("its job is made",
          registry_fixture_delete_with(fixture, &kind_job_template, "a", .grace_s = -1));
    check("b", !registry_fixture_delete_with(fixture, &kind_job_template, "b", .grace_s = -1));
    check("phase", registry_fixture_patch_status(fixture, &kind_job_flow, "f",
                                                 "{'status':{'state':{'phase':'Failed'}}}"));
    check("flow finished",
          registry_fixture_delete_with(fixture, &kind_job_template, "b", .grace_s = -1));
}

/* covers: jobflow.md 34 */
static void protection_is_off_when_told(void **state)
{
    const struct registry_options options = {.flows.deletion_protection = false,
                                             .virtual_runtime = true};
    scoped(registry_fixture) struct registry_fixture *fixture =
        registry_fixture_new(NULL, &options);

    registry_fixture_create(fixture, FLOW("f", ""));
    check("off", registry_fixture_delete_with(fixture, &kind_job_flow, "f", .grace_s = -1));
    registry_fixture_create(
        fixture, FLOW("f", ",'annotations':{'flow.volcano.sh/deletion-protection':'true'}"));
    check("annotation", !registry_fixture_delete_with(fixture, &kind_job_flow, "f", .grace_s = -1));
}

/* Checks one object after random deletions with random policies: no object waits for another, and
 * every owner exists. */
static void check_owner(void *arg, const struct object *object)
{
    struct registry_fixture *fixture = arg;

    check("not left waiting", !object_deleting(object));
    for (uint32_t i = 0; i < object->meta->n_owners; i++)
        check("its owner lives", store_get_uid(fixture->store, object->meta->owners[i].uid));
}

static void any_order_of_deletions_ends_clean(void **state)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        scoped(registry_fixture) struct registry_fixture *fixture =
            registry_fixture_new(NULL, NULL);
        struct clock *chance = clock_virtual_new(0, seed);
        char name[32];

        for (int i = 0; i < 120; i++) {
            const struct object *owners[2] = {0};

            for (int j = 0; j < 2 && i > 0; j++) {
                snprintf(name, sizeof name, "n%d", (int)(clock_random(chance) % (unsigned)i));
                if (clock_random(chance) % 3)
                    owners[j] = store_get(fixture->store, &kind_config_map, "default", name);
            }
            snprintf(name, sizeof name, "n%d", i);
            dependent(fixture, name, owners[0] ? owners[0] : owners[1],
                      owners[0] && owners[1] != owners[0] ? owners[1] : NULL,
                      clock_random(chance) % 2);
            if (clock_random(chance) % 4)
                continue;
            snprintf(name, sizeof name, "n%d", (int)(clock_random(chance) % (unsigned)(i + 1)));
            registry_delete(fixture->registry,
                            (struct registry_target){&kind_config_map, "default", name},
                            &(struct registry_delete){.grace_s = -1,
                                                      .propagation = (enum registry_propagation)(
                                                          clock_random(chance) % 3)},
                            NULL, &fixture->errors);
            error_list_release(&fixture->errors);
        }
        registry_fixture_settle(fixture);
        store_each(fixture->store, &kind_config_map, NULL, check_owner, fixture);
        clock_free(chance);
    }
}

#define EVENT(name)                                                                                \
    "{'apiVersion':'v1','kind':'Event'," HEAD(name) "},'involvedObject':{'namespace':'default'}}"

static void events_are_kept_for_an_hour(void **state)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);

    registry_fixture_create(fixture, EVENT("old"));
    registry_fixture_create(fixture, EVENT("counted"));
    loop_advance(fixture->loop, INT64_C(3000) * 1000);
    check("count", registry_fixture_patch(fixture, &kind_event, "counted", "{'count':2}"));
    loop_advance(fixture->loop, INT64_C(700) * 1000);
    registry_fixture_create(fixture, EVENT("young"));
    check("old", !registry_fixture_has(fixture, &kind_event, "old"));
    check("counted", registry_fixture_has(fixture, &kind_event, "counted"));
    check("young", registry_fixture_has(fixture, &kind_event, "young"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preconditions_are_kept),
        cmocka_unit_test(a_name_is_not_free_while_its_holder_goes),
        cmocka_unit_test(a_finalizer_holds_an_object),
        cmocka_unit_test(dependents_go_after_their_owner),
        cmocka_unit_test(in_foreground_they_go_before_it),
        cmocka_unit_test(foreground_waits_for_what_blocks),
        cmocka_unit_test(foreground_does_not_wait_for_a_lost_dependent),
        cmocka_unit_test(orphans_stay_without_their_reference),
        cmocka_unit_test(one_living_owner_is_enough),
        cmocka_unit_test(an_owner_that_never_was_takes_its_dependents),
        cmocka_unit_test(a_namesake_is_not_the_owner),
        cmocka_unit_test(an_owner_in_another_namespace_is_none),
        cmocka_unit_test(ten_thousand_dependents_go_in_slices),
        cmocka_unit_test(collection_goes_on_after_a_restart),
        cmocka_unit_test(a_bound_pod_gets_its_grace),
        cmocka_unit_test(a_pod_that_does_not_run_goes_at_once),
        cmocka_unit_test(a_namespace_takes_its_content_along),
        cmocka_unit_test(an_unfinished_flow_is_not_deleted_by_mistake),
        cmocka_unit_test(a_needed_template_is_not_deleted_by_mistake),
        cmocka_unit_test(protection_is_off_when_told),
        cmocka_unit_test(any_order_of_deletions_ends_clean),
        cmocka_unit_test(events_are_kept_for_an_hour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
