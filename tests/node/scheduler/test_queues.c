/*
 * Tests queues: order, limits, statuses, and closing.
 */
#include "tests/unit.h"

#include "api/types/kinds/scheduling/queue.h"
#include "node/scheduler/internal.h"
#include "tests/support/node_fixture.h"

static void no_group_passes_the_first_in_a_fifo_queue(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_create(fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                                 "'metadata':{'name':'strict'},'spec':{'dequeueStrategy':'fifo'}}");
    node_fixture_settle(fixture);
    node_fixture_group(fixture, "s0", 1, ",'queue':'strict'");
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "s0", 0, 1, NULL);
    node_fixture_group(fixture, "big", 4, ",'queue':'strict'");
    node_fixture_group(fixture, "s1", 1, ",'queue':'strict'");
    node_fixture_settle(fixture);
    check_str("the gang waits", node_fixture_group_phase(fixture, "big"), "");
    check_str("so does a later group", node_fixture_group_phase(fixture, "s1"), "");
    node_fixture_advance(fixture, 1500);
    check_has("the status of the head gives the reason",
              node_fixture_status(fixture, &kind_pod_group, "big"),
              "waits for room on the node: needs 4 pods (3 of 4 free); queue strict");
    check_has("so does the group behind it", node_fixture_status(fixture, &kind_pod_group, "s1"),
              "waits in queue strict behind PodGroup big");
    node_fixture_set_phase(fixture, "s0-0", "Failed");
    check_str("its turn", node_fixture_group_phase(fixture, "big"), "Inqueue");
    check_str("not the other's", node_fixture_group_phase(fixture, "s1"), "Pending");
    node_fixture_free(fixture);
}

static void a_queue_at_its_limit_does_not_stop_the_others(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_create(
        fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                 "'metadata':{'name':'small'},'spec':{'weight':1,'capability':{'cpu':'1'}}}");
    node_fixture_settle(fixture);
    node_fixture_group(fixture, "a", 1, ",'queue':'small','minResources':{'cpu':'1'}");
    node_fixture_group(fixture, "b", 1, ",'queue':'small','minResources':{'cpu':'1'}");
    node_fixture_group(fixture, "c", 1, ",'minResources':{'cpu':'1'}");
    node_fixture_advance(fixture, 1500);
    check_str("a", node_fixture_group_phase(fixture, "a"), "Inqueue");
    check_has("b", node_fixture_status(fixture, &kind_pod_group, "b"),
              "waits for room in queue small: needs 1 cpu (0 of 1 free)");
    check_str("c", node_fixture_group_phase(fixture, "c"), "Inqueue");
    node_fixture_delete(fixture, &kind_pod_group, "a", -1);
    node_fixture_settle(fixture);
    check_str("b has its turn", node_fixture_group_phase(fixture, "b"), "Inqueue");
    node_fixture_free(fixture);
}

/* covers: see O-69 */
static void queue_status_counts_groups_and_resources(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_create(fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                                 "'metadata':{'name':'up'},'spec':{'weight':1}}");
    node_fixture_settle(fixture);
    node_fixture_create(fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                                 "'metadata':{'name':'q'},'spec':{'parent':'up'}}");
    node_fixture_settle(fixture);
    node_fixture_group(fixture, "a", 2, ",'queue':'q','minResources':{'cpu':'500m'}");
    node_fixture_group(fixture, "b", 1, ",'queue':'q'");
    node_fixture_group(fixture, "c", 4, ",'queue':'q'");
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "b", 0, 1, NODE_FIXTURE_CPU("2"));
    node_fixture_settle(fixture);
    node_fixture_set_phase(fixture, "b-0", "Running");
    node_fixture_advance(fixture, 3000);
    check_has("phases", node_fixture_status(fixture, &kind_queue, "q"),
              "\"pending\":1,\"inqueue\":1,\"running\":1");
    check_has("taken", node_fixture_status(fixture, &kind_queue, "q"),
              "\"allocated\":{\"cpu\":\"2500m\",\"memory\":\"0\",\"pods\":\"3\"}");
    check_has("above", node_fixture_status(fixture, &kind_queue, "up"), "\"cpu\":\"2500m\"");
    check_str("still open", queue_state_of(node_fixture_get(fixture, &kind_queue, "q")), "Open");
    node_fixture_delete(fixture, &kind_pod_group, "a", -1);
    node_fixture_delete(fixture, &kind_pod_group, "b", -1);
    node_fixture_delete(fixture, &kind_pod_group, "c", -1);
    node_fixture_delete(fixture, &kind_pod, "b-0", 0);
    node_fixture_advance(fixture, 3000);
    check_has("nothing is left", node_fixture_status(fixture, &kind_queue, "q"),
              "\"pending\":0,\"inqueue\":0,\"running\":0");
    check_has("nor taken", node_fixture_status(fixture, &kind_queue, "up"), "\"pods\":\"0\"");
    node_fixture_free(fixture);
}

static void groups_wait_while_their_queue_is_missing_or_closed(void **state)
{
    static const char *const queues[] = {"lost", "shut"};
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_group(fixture, "all", 4, NULL);
    for (size_t i = 0; i < countof(queues); i++) {
        node_fixture_create(fixture,
                            "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                            "'metadata':{'name':'%s'},'spec':{'weight':1}}",
                            queues[i]);
        node_fixture_settle(fixture);
    }
    node_fixture_group(fixture, "a", 1, ",'queue':'lost'");
    node_fixture_group(fixture, "b", 1, ",'queue':'shut'");
    node_fixture_settle(fixture);
    node_fixture_set_status(fixture, &kind_queue, "shut", "{'state':'Closed'}");
    node_fixture_delete(fixture, &kind_queue, "lost", 0);
    node_fixture_delete(fixture, &kind_pod_group, "all", -1);
    node_fixture_advance(fixture, 100);
    check_has("a", node_fixture_status(fixture, &kind_pod_group, "a"), "queue lost does not exist");
    check_has("b", node_fixture_status(fixture, &kind_pod_group, "b"), "queue shut takes nothing");
    node_fixture_set_status(fixture, &kind_queue, "shut", "{'state':'Open'}");
    node_fixture_create(fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                                 "'metadata':{'name':'lost'},'spec':{'weight':1}}");
    node_fixture_advance(fixture, 100);
    check_str("recreated", node_fixture_group_phase(fixture, "a"), "Inqueue");
    check_str("opened", node_fixture_group_phase(fixture, "b"), "Inqueue");
    node_fixture_free(fixture);
}

/* covers: job.md CMD-10; see tests/job/test_groups.c for the job's half */
static void queue_controller_ignores_commands_for_jobs(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_create(
        fixture, "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':"
                 "'default','namespace':'default'},'spec':{'tasks':[{'name':'t','replicas':1,"
                 "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c',"
                 "'image':'i','command':['true']}]}}}]}}");
    node_fixture_create(
        fixture,
        "{'apiVersion':'bus.volcano.sh/v1alpha1','kind':'Command','metadata':{'name':'c',"
        "'namespace':'default'},'action':'AbortJob','target':{'apiVersion':"
        "'batch.volcano.sh/v1alpha1','kind':'Job','name':'default','uid':'%s'}}",
        object_uid(node_fixture_get(fixture, &kind_job, "default")));
    node_fixture_settle(fixture);
    check("it is left", node_fixture_get(fixture, &kind_command, "c") != NULL);
    check_str("the queue too", queue_state_of(node_fixture_get(fixture, &kind_queue, "default")),
              "Open");
    node_fixture_free(fixture);
}

/* covers: job.md CMD-11; see 19.1 */
static void command_closes_a_queue_and_its_children(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_create(fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                                 "'metadata':{'name':'up'},'spec':{'weight':1}}");
    node_fixture_settle(fixture);
    node_fixture_create(fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                                 "'metadata':{'name':'down'},'spec':{'weight':1,'parent':'up'}}");
    node_fixture_settle(fixture);
    check_str("open", queue_state_of(node_fixture_get(fixture, &kind_queue, "up")), "Open");
    node_fixture_group(fixture, "g", 1, ",'queue':'down'");
    node_fixture_settle(fixture);
    node_fixture_create(
        fixture,
        "{'apiVersion':'bus.volcano.sh/v1alpha1','kind':'Command','metadata':{'name':'c',"
        "'namespace':'default'},'action':'CloseQueue','target':{'apiVersion':"
        "'scheduling.volcano.sh/v1beta1','kind':'Queue','name':'up','uid':'%s'}}",
        object_uid(node_fixture_get(fixture, &kind_queue, "up")));
    node_fixture_settle(fixture);
    check("the command is used up", !node_fixture_get(fixture, &kind_command, "c"));
    check_str("closed", queue_state_of(node_fixture_get(fixture, &kind_queue, "up")), "Closed");
    check_str("it has a group yet", queue_state_of(node_fixture_get(fixture, &kind_queue, "down")),
              "Closing");
    check_str("by its parent",
              meta_annotation(node_fixture_get(fixture, &kind_queue, "down")->meta,
                              "volcano.sh/closed-by-parent"),
              "true");
    node_fixture_delete(fixture, &kind_pod_group, "g", -1);
    node_fixture_settle(fixture);
    check_str("it has none", queue_state_of(node_fixture_get(fixture, &kind_queue, "down")),
              "Closed");
    node_fixture_create(
        fixture,
        "{'apiVersion':'bus.volcano.sh/v1alpha1','kind':'Command','metadata':{'name':'d',"
        "'namespace':'default'},'action':'OpenQueue','target':{'apiVersion':"
        "'scheduling.volcano.sh/v1beta1','kind':'Queue','name':'down','uid':'%s'}}",
        object_uid(node_fixture_get(fixture, &kind_queue, "down")));
    node_fixture_settle(fixture);
    check_str("not below a closed one",
              queue_state_of(node_fixture_get(fixture, &kind_queue, "down")), "Closed");
    node_fixture_create(
        fixture,
        "{'apiVersion':'bus.volcano.sh/v1alpha1','kind':'Command','metadata':{'name':'c',"
        "'namespace':'default'},'action':'OpenQueue','target':{'apiVersion':"
        "'scheduling.volcano.sh/v1beta1','kind':'Queue','name':'up','uid':'%s'}}",
        object_uid(node_fixture_get(fixture, &kind_queue, "up")));
    node_fixture_settle(fixture);
    check_str("open again", queue_state_of(node_fixture_get(fixture, &kind_queue, "up")), "Open");
    check_str("with its parent", queue_state_of(node_fixture_get(fixture, &kind_queue, "down")),
              "Open");
    check_str("not closed by it",
              meta_annotation(node_fixture_get(fixture, &kind_queue, "down")->meta,
                              "volcano.sh/closed-by-parent"),
              "false");
    node_fixture_free(fixture);
}

/* The message of a group that waits names the job before it. */
static void messages_name_the_job_before_them(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_create(fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                                 "'metadata':{'name':'strict'},'spec':{'dequeueStrategy':'fifo'}}");
    node_fixture_settle(fixture);
    node_fixture_group(fixture, "s0", 1, ",'queue':'strict'");
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "s0", 0, 1, NULL);
    node_fixture_create(
        fixture,
        "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'q-a',"
        "'namespace':'default'},'spec':{'tasks':[{'name':'t','replicas':4,'template':{'spec':{"
        "'restartPolicy':'Never','containers':[{'name':'c','command':['true']}]}}}]}}");
    node_fixture_create(
        fixture,
        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{'name':"
        "'q-a-7d1','namespace':'default','ownerReferences':[{'apiVersion':"
        "'batch.volcano.sh/v1alpha1','kind':'Job','name':'q-a','uid':'%s','controller':true}]},"
        "'spec':{'minMember':4,'queue':'strict'}}",
        object_uid(node_fixture_get(fixture, &kind_job, "q-a")));
    node_fixture_group(fixture, "later", 1, ",'queue':'strict'");
    node_fixture_settle(fixture);
    node_fixture_advance(fixture, 1500);
    check_has("the job", node_fixture_status(fixture, &kind_pod_group, "later"), "behind job q-a");
    node_fixture_free(fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_group_passes_the_first_in_a_fifo_queue),
        cmocka_unit_test(messages_name_the_job_before_them),
        cmocka_unit_test(a_queue_at_its_limit_does_not_stop_the_others),
        cmocka_unit_test(queue_status_counts_groups_and_resources),
        cmocka_unit_test(groups_wait_while_their_queue_is_missing_or_closed),
        cmocka_unit_test(queue_controller_ignores_commands_for_jobs),
        cmocka_unit_test(command_closes_a_queue_and_its_children),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
