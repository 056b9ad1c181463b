/*
 * Tests the PodGroups created for plain pods.
 */
#include "tests/unit.h"

#include "api/types/kinds/scheduling/podgroup.h"
#include "tests/support/node_fixture.h"

static struct node_fixture *set_up(void)
{
    struct node_fixture *fixture = node_fixture_new();

    node_fixture_start_scheduler(fixture, (struct amount){4000, 8LL << 30, 4, {0}});
    return fixture;
}

static void pod(struct node_fixture *fixture, const char *name, const char *more_meta,
                const char *more_spec)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default'%s},"
        "'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':["
        "'true'],'resources':{'requests':{'cpu':'500m','memory':'64Mi'}}}]%s}}",
        name, more_meta, more_spec);
    node_fixture_settle(fixture);
}

static const struct object *group_of(struct node_fixture *fixture, const char *name)
{
    const char *group = meta_annotation(node_fixture_get(fixture, &kind_pod, name)->meta,
                                        "scheduling.k8s.io/group-name");

    return group ? node_fixture_get(fixture, &kind_pod_group, group) : NULL;
}

#define OURS ",'schedulerName':'volcano'"

/* covers: job.md PG-21 */
static void a_plain_pod_of_our_scheduler_gets_a_group(void **state)
{
    struct node_fixture *fixture = set_up();
    scoped_str name = NULL;
    const struct object *group;

    node_fixture_create(fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                                 "'metadata':{'name':'q'},'spec':{'weight':1}}");
    node_fixture_create(fixture, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                                 "'metadata':{'name':'high'},'value':1000}");
    pod(fixture, "p",
        ",'annotations':{'scheduling.volcano.sh/queue-name':'q','volcano.sh/preemptable':'true'}",
        OURS ",'priorityClassName':'high'");
    name = mem_printf("podgroup-%s", object_uid(node_fixture_get(fixture, &kind_pod, "p")));
    group = group_of(fixture, "p");
    check("it has one", group != NULL);
    check_str("named after it", object_name(group), name);
    check_str("owned by the pod", meta_controller(group->meta)->uid,
              object_uid(node_fixture_get(fixture, &kind_pod, "p")));
    check_int("of one", podgroup_spec_of(group)->min_member, 1);
    check_str("queue", podgroup_spec_of(group)->queue, "q");
    check_str("class", podgroup_spec_of(group)->priority_class, "high");
    check_has("resources", group->body->text, "\"cpu\":\"500m\",\"memory\":\"64Mi\"");
    check_str("inherited", meta_annotation(group->meta, "volcano.sh/preemptable"), "true");
    check("and it is bound", node_fixture_bound(fixture, "p"));
    pod(fixture, "other", "", ",'schedulerName':'default-scheduler'");
    check("nothing is made for another scheduler's", !group_of(fixture, "other"));
    check("which is bound alone", node_fixture_bound(fixture, "other"));
    node_fixture_free(fixture);
}

/* covers: job.md PG-22 */
static void pods_of_one_controller_share_a_group_of_its_size(void **state)
{
    struct node_fixture *fixture = set_up();
    char meta[512];

    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'set','namespace':"
                 "'default','annotations':{'scheduling.volcano.sh/group-min-member':'2'}}}");
    snprintf(meta, sizeof meta,
             ",'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'set','uid':'%s',"
             "'controller':true}]",
             object_uid(node_fixture_get(fixture, &kind_config_map, "set")));
    pod(fixture, "a", meta, OURS);
    check("it has a group", group_of(fixture, "a") != NULL);
    check_int("of two", podgroup_spec_of(group_of(fixture, "a"))->min_member, 2);
    check_has("that reserves for both", group_of(fixture, "a")->body->text, "\"cpu\":\"1\"");
    check("one of two waits", !node_fixture_bound(fixture, "a"));
    pod(fixture, "b", meta, OURS);
    check_str("the same", object_name(group_of(fixture, "b")), object_name(group_of(fixture, "a")));
    check("both are bound", node_fixture_bound(fixture, "a") && node_fixture_bound(fixture, "b"));
    node_fixture_group(fixture, "g", 1, NULL);
    node_fixture_settle(fixture);
    pod(fixture, "c", ",'annotations':{'scheduling.k8s.io/group-name':'g'}", OURS);
    check_str("a pod with a group keeps it", object_name(group_of(fixture, "c")), "g");
    node_fixture_free(fixture);
}

static void failed_creation_of_a_group_is_retried(void **state)
{
    struct node_fixture *fixture = set_up();

    pod(fixture, "p", ",'annotations':{'scheduling.volcano.sh/queue-name':'none'}", OURS);
    check("no such queue", !group_of(fixture, "p") && !node_fixture_bound(fixture, "p"));
    node_fixture_create(fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                                 "'metadata':{'name':'none'},'spec':{'weight':1}}");
    node_fixture_advance(fixture, 60000);
    check("there is one", node_fixture_bound(fixture, "p"));
    node_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_pod_of_our_scheduler_gets_a_group),
        cmocka_unit_test(pods_of_one_controller_share_a_group_of_its_size),
        cmocka_unit_test(failed_creation_of_a_group_is_retried),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
