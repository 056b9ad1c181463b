/*
 * Queues: their order, their limits, what they say of themselves, and how they are closed.
 */
#include "tests/unit.h"

#include "api/types/kinds/scheduling/queue.h"
#include "node/scheduler/internal.h"
#include "tests/support/node_fixture.h"

static void in_a_fifo_queue_nobody_passes_the_first(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'strict'},'spec':{'dequeueStrategy':'fifo'}}");
    rig_settle(rig);
    rig_group(rig, "s0", 1, ",'queue':'strict'");
    rig_settle(rig);
    rig_pods(rig, "s0", 0, 1, NULL);
    rig_group(rig, "big", 4, ",'queue':'strict'");
    rig_group(rig, "s1", 1, ",'queue':'strict'");
    rig_settle(rig);
    check_str("the gang waits", rig_group_phase(rig, "big"), "");
    check_str("and who comes later too", rig_group_phase(rig, "s1"), "");
    rig_advance(rig, 1500);
    check_has("the head is told why", rig_status(rig, &kind_pod_group, "big"),
              "waits for room on the node: needs 4 pods (3 of 4 free); queue strict");
    check_has("who is behind it too", rig_status(rig, &kind_pod_group, "s1"),
              "waits in queue strict behind PodGroup default/big");
    rig_set_phase(rig, "s0-0", "Failed");
    check_str("its turn", rig_group_phase(rig, "big"), "Inqueue");
    check_str("not the other's", rig_group_phase(rig, "s1"), "Pending");
    rig_free(rig);
}

static void a_queue_at_its_limit_does_not_stop_the_others(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'small'},'spec':{'weight':1,'capability':{'cpu':'1'}}}");
    rig_settle(rig);
    rig_group(rig, "a", 1, ",'queue':'small','minResources':{'cpu':'1'}");
    rig_group(rig, "b", 1, ",'queue':'small','minResources':{'cpu':'1'}");
    rig_group(rig, "c", 1, ",'minResources':{'cpu':'1'}");
    rig_advance(rig, 1500);
    check_str("a", rig_group_phase(rig, "a"), "Inqueue");
    check_has("b", rig_status(rig, &kind_pod_group, "b"),
              "waits for room in queue small: needs 1 cpu (0 of 1 free)");
    check_str("c", rig_group_phase(rig, "c"), "Inqueue");
    rig_delete(rig, &kind_pod_group, "a", -1);
    rig_settle(rig);
    check_str("b has its turn", rig_group_phase(rig, "b"), "Inqueue");
    rig_free(rig);
}

/* covers: see O-69 */
static void a_queue_says_what_is_in_it(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'up'},'spec':{'weight':1}}");
    rig_settle(rig);
    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'q'},'spec':{'parent':'up'}}");
    rig_settle(rig);
    rig_group(rig, "a", 2, ",'queue':'q','minResources':{'cpu':'500m'}");
    rig_group(rig, "b", 1, ",'queue':'q'");
    rig_group(rig, "c", 4, ",'queue':'q'");
    rig_settle(rig);
    rig_pods(rig, "b", 0, 1, RIG_CPU("2"));
    rig_settle(rig);
    rig_set_phase(rig, "b-0", "Running");
    rig_advance(rig, 3000);
    check_has("phases", rig_status(rig, &kind_queue, "q"),
              "\"pending\":1,\"inqueue\":1,\"running\":1");
    check_has("taken", rig_status(rig, &kind_queue, "q"),
              "\"allocated\":{\"cpu\":\"2500m\",\"memory\":\"0\",\"pods\":\"3\"}");
    check_has("above", rig_status(rig, &kind_queue, "up"), "\"cpu\":\"2500m\"");
    check_str("still open", queue_state_of(rig_get(rig, &kind_queue, "q")), "Open");
    rig_delete(rig, &kind_pod_group, "a", -1);
    rig_delete(rig, &kind_pod_group, "b", -1);
    rig_delete(rig, &kind_pod_group, "c", -1);
    rig_delete(rig, &kind_pod, "b-0", 0);
    rig_advance(rig, 3000);
    check_has("nothing is left", rig_status(rig, &kind_queue, "q"),
              "\"pending\":0,\"inqueue\":0,\"running\":0");
    check_has("nor taken", rig_status(rig, &kind_queue, "up"), "\"pods\":\"0\"");
    rig_free(rig);
}

static void a_missing_or_closed_queue_holds_its_groups(void **state)
{
    static const char *const queues[] = {"lost", "shut"};
    struct rig *rig = rig_with_scheduler(4);

    rig_group(rig, "all", 4, NULL);
    for (size_t i = 0; i < countof(queues); i++) {
        rig_create(rig,
                   "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                   "'metadata':{'name':'%s'},'spec':{'weight':1}}",
                   queues[i]);
        rig_settle(rig);
    }
    rig_group(rig, "a", 1, ",'queue':'lost'");
    rig_group(rig, "b", 1, ",'queue':'shut'");
    rig_settle(rig);
    rig_set_status(rig, &kind_queue, "shut", "{'state':'Closed'}");
    rig_delete(rig, &kind_queue, "lost", 0);
    rig_delete(rig, &kind_pod_group, "all", -1);
    rig_advance(rig, 100);
    check_has("a", rig_status(rig, &kind_pod_group, "a"), "queue lost does not exist");
    check_has("b", rig_status(rig, &kind_pod_group, "b"), "queue shut takes nothing");
    rig_set_status(rig, &kind_queue, "shut", "{'state':'Open'}");
    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'lost'},'spec':{'weight':1}}");
    rig_advance(rig, 100);
    check_str("made anew", rig_group_phase(rig, "a"), "Inqueue");
    check_str("opened", rig_group_phase(rig, "b"), "Inqueue");
    rig_free(rig);
}

/* covers: job.md CMD-10; see tests/job/test_groups.c for the job's half */
static void a_command_for_a_job_is_not_the_queues_business(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_create(rig, "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':"
                    "'default','namespace':'default'},'spec':{'tasks':[{'name':'t','replicas':1,"
                    "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c',"
                    "'image':'i','command':['true']}]}}}]}}");
    rig_create(rig,
               "{'apiVersion':'bus.volcano.sh/v1alpha1','kind':'Command','metadata':{'name':'c',"
               "'namespace':'default'},'action':'AbortJob','target':{'apiVersion':"
               "'batch.volcano.sh/v1alpha1','kind':'Job','name':'default','uid':'%s'}}",
               object_uid(rig_get(rig, &kind_job, "default")));
    rig_settle(rig);
    check("it is left", rig_get(rig, &kind_command, "c") != NULL);
    check_str("the queue too", queue_state_of(rig_get(rig, &kind_queue, "default")), "Open");
    rig_free(rig);
}

/* covers: job.md CMD-11; see 19.1 */
static void a_queue_is_closed_by_command_and_takes_its_children_along(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'up'},'spec':{'weight':1}}");
    rig_settle(rig);
    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'down'},'spec':{'weight':1,'parent':'up'}}");
    rig_settle(rig);
    check_str("open", queue_state_of(rig_get(rig, &kind_queue, "up")), "Open");
    rig_group(rig, "g", 1, ",'queue':'down'");
    rig_settle(rig);
    rig_create(rig,
               "{'apiVersion':'bus.volcano.sh/v1alpha1','kind':'Command','metadata':{'name':'c',"
               "'namespace':'default'},'action':'CloseQueue','target':{'apiVersion':"
               "'scheduling.volcano.sh/v1beta1','kind':'Queue','name':'up','uid':'%s'}}",
               object_uid(rig_get(rig, &kind_queue, "up")));
    rig_settle(rig);
    check("the command is used up", !rig_get(rig, &kind_command, "c"));
    check_str("closed", queue_state_of(rig_get(rig, &kind_queue, "up")), "Closed");
    check_str("it has a group yet", queue_state_of(rig_get(rig, &kind_queue, "down")), "Closing");
    check_str(
        "by its parent",
        meta_annotation(rig_get(rig, &kind_queue, "down")->meta, "volcano.sh/closed-by-parent"),
        "true");
    rig_delete(rig, &kind_pod_group, "g", -1);
    rig_settle(rig);
    check_str("it has none", queue_state_of(rig_get(rig, &kind_queue, "down")), "Closed");
    rig_create(rig,
               "{'apiVersion':'bus.volcano.sh/v1alpha1','kind':'Command','metadata':{'name':'d',"
               "'namespace':'default'},'action':'OpenQueue','target':{'apiVersion':"
               "'scheduling.volcano.sh/v1beta1','kind':'Queue','name':'down','uid':'%s'}}",
               object_uid(rig_get(rig, &kind_queue, "down")));
    rig_settle(rig);
    check_str("not below a closed one", queue_state_of(rig_get(rig, &kind_queue, "down")),
              "Closed");
    rig_create(rig,
               "{'apiVersion':'bus.volcano.sh/v1alpha1','kind':'Command','metadata':{'name':'c',"
               "'namespace':'default'},'action':'OpenQueue','target':{'apiVersion':"
               "'scheduling.volcano.sh/v1beta1','kind':'Queue','name':'up','uid':'%s'}}",
               object_uid(rig_get(rig, &kind_queue, "up")));
    rig_settle(rig);
    check_str("open again", queue_state_of(rig_get(rig, &kind_queue, "up")), "Open");
    check_str("with its parent", queue_state_of(rig_get(rig, &kind_queue, "down")), "Open");
    check_str(
        "not closed by it",
        meta_annotation(rig_get(rig, &kind_queue, "down")->meta, "volcano.sh/closed-by-parent"),
        "false");
    rig_free(rig);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_fifo_queue_nobody_passes_the_first),
        cmocka_unit_test(a_queue_at_its_limit_does_not_stop_the_others),
        cmocka_unit_test(a_queue_says_what_is_in_it),
        cmocka_unit_test(a_missing_or_closed_queue_holds_its_groups),
        cmocka_unit_test(a_command_for_a_job_is_not_the_queues_business),
        cmocka_unit_test(a_queue_is_closed_by_command_and_takes_its_children_along),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
