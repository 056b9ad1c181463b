/*
 * Tests gangs whose tasks have minimums, dependencies and priorities.
 */
#include "tests/unit.h"

#include "tests/support/node_fixture.h"

static void task_pods(struct node_fixture *fixture, const char *group, const char *task, int n)
{
    for (int i = 0; i < n; i++)
        node_fixture_create(
            fixture,
            "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%s-%d',"
            "'namespace':'default','labels':{'volcano.sh/task-spec':'%s'},"
            "'annotations':{'scheduling.k8s.io/group-name':'%s'}},'spec':{"
            "'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':["
            "'true']}]}}",
            group, task, i, task, group);
    node_fixture_settle(fixture);
}

static void every_task_must_reach_its_own_minimum(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(8);

    node_fixture_group(fixture, "g", 3, ",'minTaskMember':{'ps':1,'worker':2}");
    node_fixture_settle(fixture);
    task_pods(fixture, "g", "worker", 4);
    check_int("enough pods, but no ps", node_fixture_count_bound(fixture), 0);
    task_pods(fixture, "g", "ps", 1);
    check_int("all of them", node_fixture_count_bound(fixture), 5);
    node_fixture_free(fixture);
}

static void the_gang_takes_the_minimum_of_each_task_first(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(8);

    node_fixture_group(fixture, "g", 3,
                       ",'minTaskMember':{'ps':1,'worker':2},'minResources':{'cpu':'3'}");
    node_fixture_settle(fixture);
    task_pods(fixture, "g", "worker", 4);
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'g-ps-0','namespace':'default',"
        "'labels':{'volcano.sh/task-spec':'ps'},'annotations':{"
        "'scheduling.k8s.io/group-name':'g'}},'spec':{'restartPolicy':'Never',"
        "'containers':[{'name':'c','image':'i','command':['true'],'resources':{'requests':{"
        "'cpu':'3'}}}]}}");
    node_fixture_settle(fixture);
    check("the ps", node_fixture_bound(fixture, "g-ps-0"));
    check("two workers",
          node_fixture_bound(fixture, "g-worker-0") && node_fixture_bound(fixture, "g-worker-1"));
    node_fixture_free(fixture);
}

/* covers: see O-57 DEP-09 */
static void task_that_depends_on_others_does_not_hold_back_the_gang(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);
    const struct object *job;

    node_fixture_create(
        fixture,
        "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'j',"
        "'namespace':'default'},'spec':{'minAvailable':3,'tasks':[{'name':'master',"
        "'replicas':1,'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c',"
        "'image':'i','command':['true']}]}}},{'name':'worker','replicas':2,'dependsOn':{"
        "'name':['master']},'template':{'spec':{'restartPolicy':'Never','containers':[{"
        "'name':'c','image':'i','command':['true']}]}}}]}}");
    job = node_fixture_get(fixture, &kind_job, "j");
    node_fixture_create(
        fixture,
        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{"
        "'name':'g','namespace':'default','ownerReferences':[{'apiVersion':"
        "'batch.volcano.sh/v1alpha1','kind':'Job','name':'j','uid':'%s','controller':true}]},"
        "'spec':{'minMember':3,'minTaskMember':{'master':1,'worker':2}}}",
        object_uid(job));
    node_fixture_settle(fixture);
    check_str("admitted", node_fixture_group_phase(fixture, "g"), "Inqueue");
    task_pods(fixture, "g", "master", 1);
    check_int("the master alone", node_fixture_count_bound(fixture), 1);
    node_fixture_advance(fixture, 100);
    check_str("its stage runs", node_fixture_group_phase(fixture, "g"), "Running");
    node_fixture_set_phase(fixture, "g-master-0", "Running");
    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'g-worker-0',"
                        "'namespace':'default','labels':{'volcano.sh/task-spec':'worker'},"
                        "'annotations':{'scheduling.k8s.io/group-name':'g'}},'spec':{"
                        "'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':["
                        "'true']}]}}");
    node_fixture_settle(fixture);
    check_int("the second stage waits for its own gang", node_fixture_count_bound(fixture), 1);
    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'g-worker-1',"
                        "'namespace':'default','labels':{'volcano.sh/task-spec':'worker'},"
                        "'annotations':{'scheduling.k8s.io/group-name':'g'}},'spec':{"
                        "'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':["
                        "'true']}]}}");
    node_fixture_settle(fixture);
    check_int("and has it", node_fixture_count_bound(fixture), 3);
    node_fixture_free(fixture);
}

/* covers: job.md PG-20 */
static void task_of_higher_priority_is_bound_first(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(1);

    node_fixture_create(fixture, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                                 "'metadata':{'name':'high'},'value':1000}");
    node_fixture_group(fixture, "g", 1, NULL);
    node_fixture_pods(fixture, "g", 0, 1, NODE_FIXTURE_CPU("4"));
    node_fixture_pods(fixture, "g", 1, 2, NODE_FIXTURE_CPU("4") ",'priorityClassName':'high'");
    node_fixture_settle(fixture);
    check("the second, of high priority, is bound", node_fixture_bound(fixture, "g-1"));
    node_fixture_free(fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_must_reach_its_own_minimum),
        cmocka_unit_test(the_gang_takes_the_minimum_of_each_task_first),
        cmocka_unit_test(task_that_depends_on_others_does_not_hold_back_the_gang),
        cmocka_unit_test(task_of_higher_priority_is_bound_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
