/*
 * PodGroups of pods that nobody made one for.
 */
#include "tests/unit.h"

#include "api/types/kinds/scheduling/podgroup.h"
#include "tests/support/node_fixture.h"

static struct rig *set_up(void)
{
    struct rig *rig = rig_new();

    rig_start_scheduler(rig, (struct amount){4000, 8LL << 30, 4, {0}});
    return rig;
}

static void pod(struct rig *rig, const char *name, const char *more_meta, const char *more_spec)
{
    rig_create(rig,
               "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default'%s},"
               "'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':["
               "'true'],'resources':{'requests':{'cpu':'500m','memory':'64Mi'}}}]%s}}",
               name, more_meta, more_spec);
    rig_settle(rig);
}

static const struct object *group_of(struct rig *rig, const char *name)
{
    const char *group =
        meta_annotation(rig_get(rig, &kind_pod, name)->meta, "scheduling.k8s.io/group-name");

    return group ? rig_get(rig, &kind_pod_group, group) : NULL;
}

#define OURS ",'schedulerName':'volcano'"

/* covers: job.md PG-21 */
static void a_plain_pod_of_our_scheduler_gets_a_group(void **state)
{
    struct rig *rig = set_up();
    scoped_str name = NULL;
    const struct object *group;

    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'q'},'spec':{'weight':1}}");
    rig_create(rig, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                    "'metadata':{'name':'high'},'value':1000}");
    pod(rig, "p",
        ",'annotations':{'scheduling.volcano.sh/queue-name':'q','volcano.sh/preemptable':'true'}",
        OURS ",'priorityClassName':'high'");
    name = mem_printf("podgroup-%s", object_uid(rig_get(rig, &kind_pod, "p")));
    group = group_of(rig, "p");
    check("it has one", group != NULL);
    check_str("named after it", object_name(group), name);
    check_str("that goes with it", meta_controller(group->meta)->uid,
              object_uid(rig_get(rig, &kind_pod, "p")));
    check_int("of one", podgroup_spec_of(group)->min_member, 1);
    check_str("queue", podgroup_spec_of(group)->queue, "q");
    check_str("class", podgroup_spec_of(group)->priority_class, "high");
    check_has("resources", group->body->text, "\"cpu\":\"500m\",\"memory\":\"64Mi\"");
    check_str("inherited", meta_annotation(group->meta, "volcano.sh/preemptable"), "true");
    check("and it is bound", rig_bound(rig, "p"));
    pod(rig, "other", "", ",'schedulerName':'default-scheduler'");
    check("nothing is made for another scheduler's", !group_of(rig, "other"));
    check("which is bound alone", rig_bound(rig, "other"));
    rig_free(rig);
}

/* covers: job.md PG-22 */
static void pods_of_one_controller_share_a_group_of_its_size(void **state)
{
    struct rig *rig = set_up();
    char meta[512];

    rig_create(rig, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'set','namespace':"
                    "'default','annotations':{'scheduling.volcano.sh/group-min-member':'2'}}}");
    snprintf(meta, sizeof meta,
             ",'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'set','uid':'%s',"
             "'controller':true}]",
             object_uid(rig_get(rig, &kind_config_map, "set")));
    pod(rig, "a", meta, OURS);
    check("it has a group", group_of(rig, "a") != NULL);
    check_int("of two", podgroup_spec_of(group_of(rig, "a"))->min_member, 2);
    check_has("that reserves for both", group_of(rig, "a")->body->text, "\"cpu\":\"1\"");
    check("one of two waits", !rig_bound(rig, "a"));
    pod(rig, "b", meta, OURS);
    check_str("the same", object_name(group_of(rig, "b")), object_name(group_of(rig, "a")));
    check("both are bound", rig_bound(rig, "a") && rig_bound(rig, "b"));
    rig_group(rig, "g", 1, NULL);
    rig_settle(rig);
    pod(rig, "c", ",'annotations':{'scheduling.k8s.io/group-name':'g'}", OURS);
    check_str("who has one keeps it", object_name(group_of(rig, "c")), "g");
    rig_free(rig);
}

static void a_group_that_cannot_be_made_is_made_later(void **state)
{
    struct rig *rig = set_up();

    pod(rig, "p", ",'annotations':{'scheduling.volcano.sh/queue-name':'none'}", OURS);
    check("no such queue", !group_of(rig, "p") && !rig_bound(rig, "p"));
    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'none'},'spec':{'weight':1}}");
    rig_advance(rig, 60000);
    check("there is one", rig_bound(rig, "p"));
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_pod_of_our_scheduler_gets_a_group),
        cmocka_unit_test(pods_of_one_controller_share_a_group_of_its_size),
        cmocka_unit_test(a_group_that_cannot_be_made_is_made_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
