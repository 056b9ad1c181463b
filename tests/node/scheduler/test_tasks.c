/*
 * Gangs whose tasks have minima, dependencies and priorities of their own.
 */
#include "tests/unit.h"

#include "node/scheduler/internal.h"
#include "tests/support/node_fixture.h"

static void task_pods(struct rig *rig, const char *group, const char *task, int n)
{
    for (int i = 0; i < n; i++)
        rig_create(rig,
                   "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%s-%d',"
                   "'namespace':'default','labels':{'volcano.sh/task-spec':'%s'},"
                   "'annotations':{'scheduling.k8s.io/group-name':'%s'}},'spec':{"
                   "'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':["
                   "'true']}]}}",
                   group, task, i, task, group);
    rig_settle(rig);
}

static void every_task_must_reach_its_own_minimum(void **state)
{
    struct rig *rig = rig_with_scheduler(8);

    rig_group(rig, "g", 3, ",'minTaskMember':{'ps':1,'worker':2}");
    rig_settle(rig);
    task_pods(rig, "g", "worker", 4);
    check_int("enough pods, but no ps", rig_count_bound(rig), 0);
    task_pods(rig, "g", "ps", 1);
    check_int("all of them", rig_count_bound(rig), 5);
    rig_free(rig);
}

static void the_gang_takes_the_minimum_of_each_task_first(void **state)
{
    struct rig *rig = rig_with_scheduler(8);

    rig_group(rig, "g", 3, ",'minTaskMember':{'ps':1,'worker':2},'minResources':{'cpu':'3'}");
    rig_settle(rig);
    task_pods(rig, "g", "worker", 4);
    rig_create(rig,
               "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'g-ps-0','namespace':'default',"
               "'labels':{'volcano.sh/task-spec':'ps'},'annotations':{"
               "'scheduling.k8s.io/group-name':'g'}},'spec':{'restartPolicy':'Never',"
               "'containers':[{'name':'c','image':'i','command':['true'],'resources':{'requests':{"
               "'cpu':'3'}}}]}}");
    rig_settle(rig);
    check("the ps", rig_bound(rig, "g-ps-0"));
    check("two workers", rig_bound(rig, "g-worker-0") && rig_bound(rig, "g-worker-1"));
    rig_free(rig);
}

/* covers: see O-57 DEP-09 */
static void a_task_that_waits_for_others_does_not_hold_the_gang(void **state)
{
    struct rig *rig = rig_with_scheduler(4);
    const struct object *job;

    rig_create(rig,
               "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'j',"
               "'namespace':'default'},'spec':{'minAvailable':3,'tasks':[{'name':'master',"
               "'replicas':1,'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c',"
               "'image':'i','command':['true']}]}}},{'name':'worker','replicas':2,'dependsOn':{"
               "'name':['master']},'template':{'spec':{'restartPolicy':'Never','containers':[{"
               "'name':'c','image':'i','command':['true']}]}}}]}}");
    job = rig_get(rig, &kind_job, "j");
    rig_create(
        rig,
        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{"
        "'name':'g','namespace':'default','ownerReferences':[{'apiVersion':"
        "'batch.volcano.sh/v1alpha1','kind':'Job','name':'j','uid':'%s','controller':true}]},"
        "'spec':{'minMember':3,'minTaskMember':{'master':1,'worker':2}}}",
        object_uid(job));
    rig_settle(rig);
    check_str("admitted", rig_group_phase(rig, "g"), "Inqueue");
    task_pods(rig, "g", "master", 1);
    check_int("the master alone", rig_count_bound(rig), 1);
    rig_advance(rig, 100);
    check_str("its stage runs", rig_group_phase(rig, "g"), "Running");
    rig_set_phase(rig, "g-master-0", "Running");
    rig_create(rig, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'g-worker-0',"
                    "'namespace':'default','labels':{'volcano.sh/task-spec':'worker'},"
                    "'annotations':{'scheduling.k8s.io/group-name':'g'}},'spec':{"
                    "'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':["
                    "'true']}]}}");
    rig_settle(rig);
    check_int("the second stage waits for its own gang", rig_count_bound(rig), 1);
    rig_create(rig, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'g-worker-1',"
                    "'namespace':'default','labels':{'volcano.sh/task-spec':'worker'},"
                    "'annotations':{'scheduling.k8s.io/group-name':'g'}},'spec':{"
                    "'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':["
                    "'true']}]}}");
    rig_settle(rig);
    check_int("and has it", rig_count_bound(rig), 3);
    rig_free(rig);
}

/* covers: job.md PG-20 */
static void the_task_of_higher_priority_runs_when_there_is_room_for_one(void **state)
{
    struct rig *rig = rig_with_scheduler(1);

    rig_create(rig, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                    "'metadata':{'name':'high'},'value':1000}");
    rig_group(rig, "g", 1, NULL);
    rig_pods(rig, "g", 0, 1, RIG_CPU("4"));
    rig_pods(rig, "g", 1, 2, RIG_CPU("4") ",'priorityClassName':'high'");
    rig_settle(rig);
    check("the second, of high priority, is bound", rig_bound(rig, "g-1"));
    rig_free(rig);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_must_reach_its_own_minimum),
        cmocka_unit_test(the_gang_takes_the_minimum_of_each_task_first),
        cmocka_unit_test(a_task_that_waits_for_others_does_not_hold_the_gang),
        cmocka_unit_test(the_task_of_higher_priority_runs_when_there_is_room_for_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
