/*
 * Tests admission, gangs and phases on an embedded cluster.
 */
#include "tests/unit.h"

#include "api/types/kinds/scheduling/podgroup.h"
#include "node/scheduler/internal.h"
#include "tests/support/node_fixture.h"

/* covers: see O-60 */
static void a_single_pod_group_goes_from_pending_to_completed(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(2);

    node_fixture_group(fixture, "g", 1, NULL);
    node_fixture_settle(fixture);
    check_str("it fits", node_fixture_group_phase(fixture, "g"), "Inqueue");
    node_fixture_pods(fixture, "g", 0, 1, NULL);
    node_fixture_settle(fixture);
    check("bound", node_fixture_bound(fixture, "g-0"));
    check_has("to us", node_fixture_get(fixture, &kind_pod, "g-0")->body->text,
              "\"nodeName\":\"here\"");
    node_fixture_set_phase(fixture, "g-0", "Running");
    node_fixture_advance(fixture, 100);
    check_str("running", node_fixture_group_phase(fixture, "g"), "Running");
    check_has("scheduled", node_fixture_status(fixture, &kind_pod_group, "g"),
              "\"type\":\"Scheduled\"");
    node_fixture_set_phase(fixture, "g-0", "Succeeded");
    node_fixture_advance(fixture, 100);
    check_str("completed", node_fixture_group_phase(fixture, "g"), "Completed");
    check_has("counts", node_fixture_status(fixture, &kind_pod_group, "g"), "\"succeeded\":1");
    node_fixture_free(fixture);
}

/* covers: reliability.md INV-J5; see O-60 */
static void a_gang_is_bound_whole_or_not_at_all(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_group(fixture, "g", 3, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "g", 0, 2, NULL);
    node_fixture_settle(fixture);
    check_int("two of three", node_fixture_count_bound(fixture), 0);
    check_str("waits for pods", node_fixture_group_phase(fixture, "g"), "Inqueue");
    node_fixture_pods(fixture, "g", 2, 3, NULL);
    node_fixture_settle(fixture);
    check_int("three of three", node_fixture_count_bound(fixture), 3);
    node_fixture_advance(fixture, 100);
    check_str("placed", node_fixture_group_phase(fixture, "g"), "Running");
    node_fixture_free(fixture);
}

static int known_groups(const struct node_fixture *fixture)
{
    return (int)HASH_COUNT(fixture->scheduler->groups);
}

/* Status writes are delayed. In a simulation they may not happen at all while there is work. */
static void group_deleted_before_its_status_write_is_forgotten(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(2);
    int before = known_groups(fixture);

    node_fixture_group(fixture, "g", 1, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "g", 0, 1, NULL);
    node_fixture_settle(fixture);
    check_int("known", known_groups(fixture), before + 1);
    node_fixture_set_phase(fixture, "g-0", "Running");
    node_fixture_set_phase(fixture, "g-0", "Succeeded");
    node_fixture_delete(fixture, &kind_pod_group, "g", 0);
    node_fixture_settle(fixture);
    check_int("forgotten at once", known_groups(fixture), before);
    node_fixture_free(fixture);
}

static void gang_is_admitted_only_when_all_of_it_fits(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_group(fixture, "a", 3, NULL);
    node_fixture_group(fixture, "b", 2, NULL);
    node_fixture_settle(fixture);
    check_str("first", node_fixture_group_phase(fixture, "a"), "Inqueue");
    check_str("the second does not fit", node_fixture_group_phase(fixture, "b"), "");
    node_fixture_pods(fixture, "a", 0, 3, NULL);
    node_fixture_settle(fixture);
    node_fixture_set_phase(fixture, "a-0", "Succeeded");
    check_str("two slots are free", node_fixture_group_phase(fixture, "b"), "Inqueue");
    node_fixture_free(fixture);
}

/* covers: reliability.md INV-J5 */
static void reserved_capacity_is_not_given_to_other_groups(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_group(fixture, "gang", 3, NULL);
    for (int i = 0; i < 6; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%d", i);
        node_fixture_group(fixture, name, 1, NULL);
        node_fixture_settle(fixture);
        node_fixture_pods(fixture, name, 0, 1, NULL);
    }
    node_fixture_settle(fixture);
    check_int("one slot beside the reservation", node_fixture_count_bound(fixture), 1);
    node_fixture_pods(fixture, "gang", 0, 3, NULL);
    node_fixture_settle(fixture);
    check("the gang", node_fixture_bound(fixture, "gang-0") &&
                          node_fixture_bound(fixture, "gang-1") &&
                          node_fixture_bound(fixture, "gang-2"));
    node_fixture_free(fixture);
}

/* covers: see 6.6 */
static void gang_that_can_never_fit_gives_the_reason_and_a_remedy(void **state)
{
    static const struct {
        const char *name, *spec;
        int min;
        const char *says;
    } cases[] = {
        {"pods", "", 8, "needs 8 pods at once, the node runs at most 4: start with -j 8"},
        {"cpu", ",'minResources':{'cpu':'16'}", 1, "needs 16 cpu, the node has 4"},
        {"memory", ",'minResources':{'memory':'64Gi'}", 1,
         "needs 64Gi of memory, the node has 8Gi"},
        {"queue", ",'queue':'small','minResources':{'cpu':'3'}", 1,
         "needs 3 cpu, queue small allows 2: raise its spec.capability"},
        {"parent", ",'queue':'child','minResources':{'cpu':'3'}", 1, "queue small allows 2"},
    };
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_create(
        fixture, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                 "'metadata':{'name':'small'},'spec':{'weight':1,'capability':{'cpu':'2'}}}");
    node_fixture_settle(fixture);
    node_fixture_create(fixture,
                        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                        "'metadata':{'name':'child'},'spec':{'weight':1,'parent':'small'}}");
    node_fixture_settle(fixture);
    for (size_t i = 0; i < countof(cases); i++)
        node_fixture_group(fixture, cases[i].name, cases[i].min, cases[i].spec);
    node_fixture_group(fixture, "fits", 1, NULL);
    node_fixture_advance(fixture, 100);
    for (size_t i = 0; i < countof(cases); i++) {
        const char *status = node_fixture_status(fixture, &kind_pod_group, cases[i].name);

        check_has(cases[i].name, status, "\"phase\":\"Pending\"");
        check_has(cases[i].name, status, "\"type\":\"Unschedulable\"");
        check_has(cases[i].name, status, "\"reason\":\"NotEnoughResources\"");
        check_has(cases[i].name, status, cases[i].says);
    }
    check_str("other groups are not held up", node_fixture_group_phase(fixture, "fits"), "Inqueue");
    node_fixture_delete(fixture, &kind_pod_group, "parent", -1);
    node_fixture_patch(fixture, &kind_queue, "small", "{'spec':{'capability':{'cpu':'3'}}}");
    node_fixture_settle(fixture);
    check_str("the limit was raised", node_fixture_group_phase(fixture, "queue"), "Inqueue");
    node_fixture_free(fixture);
}

static void priority_comes_first_then_age(void **state)
{
    static const char *const order[] = {"old-high", "new-high", "old", "new"};
    struct node_fixture *fixture = node_fixture_with_scheduler(2);

    node_fixture_create(fixture, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                                 "'metadata':{'name':'high'},'value':1000}");
    node_fixture_group(fixture, "first", 2, NULL);
    node_fixture_settle(fixture);
    node_fixture_group(fixture, "old", 2, NULL);
    node_fixture_group(fixture, "old-high", 2, ",'priorityClassName':'high'");
    node_fixture_group(fixture, "new", 2, NULL);
    node_fixture_group(fixture, "new-high", 2, ",'priorityClassName':'high'");
    node_fixture_settle(fixture);
    node_fixture_delete(fixture, &kind_pod_group, "first", -1);
    node_fixture_settle(fixture);
    for (size_t i = 0; i < countof(order); i++) {
        check_str(order[i], node_fixture_group_phase(fixture, order[i]), "Inqueue");
        for (size_t j = i + 1; j < countof(order); j++)
            check_str(order[j], node_fixture_group_phase(fixture, order[j]), "");
        node_fixture_delete(fixture, &kind_pod_group, order[i], -1);
        node_fixture_settle(fixture);
    }
    node_fixture_free(fixture);
}

/* Single pods are bound ahead of free slots, so that a free slot does not wait for a commit
 * (DC-18). */
static void single_pods_are_bound_a_bounded_number_ahead(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(2);

    for (int i = 0; i < 30; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%d", i);
        node_fixture_group(fixture, name, 1, NULL);
        node_fixture_settle(fixture);
        if (strcmp(node_fixture_group_phase(fixture, name), "Inqueue") == 0)
            node_fixture_pods(fixture, name, 0, 1, NULL);
    }
    node_fixture_settle(fixture);
    check_int("2 slots and 2 * 2 + 8 ahead", node_fixture_count_bound(fixture), 14);
    node_fixture_free(fixture);
}

static void extra_members_are_bound_one_by_one(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_group(fixture, "g", 1, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "g", 0, 6, NODE_FIXTURE_CPU("2"));
    node_fixture_settle(fixture);
    check_int("as many as the processors carry", node_fixture_count_bound(fixture), 2);
    node_fixture_pods(fixture, "g", 6, 8, NODE_FIXTURE_CPU("2"));
    node_fixture_settle(fixture);
    check_int("no more", node_fixture_count_bound(fixture), 2);
    node_fixture_set_phase(fixture, "g-0", "Succeeded");
    check_int("one more", node_fixture_count_bound(fixture), 3);
    node_fixture_free(fixture);
}

static void group_is_unknown_while_a_lost_member_does_not_fit(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(2);

    node_fixture_group(fixture, "g", 2, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "g", 0, 2, NODE_FIXTURE_CPU("2"));
    node_fixture_settle(fixture);
    node_fixture_set_phase(fixture, "g-0", "Running");
    node_fixture_set_phase(fixture, "g-1", "Running");
    node_fixture_delete(fixture, &kind_pod, "g-1", 0);
    node_fixture_pods(fixture, "g", 1, 2, NODE_FIXTURE_CPU("4"));
    node_fixture_advance(fixture, 2000);
    check_str("some run, the rest does not fit", node_fixture_group_phase(fixture, "g"), "Unknown");
    check_has("and says why", node_fixture_status(fixture, &kind_pod_group, "g"), "Unschedulable");
    node_fixture_set_phase(fixture, "g-0", "Succeeded");
    node_fixture_advance(fixture, 100);
    check("it fits again", node_fixture_bound(fixture, "g-1"));
    check_str("whole again", node_fixture_group_phase(fixture, "g"), "Running");
    node_fixture_free(fixture);
}

/* covers: see O-60 */
static void group_is_unknown_while_a_member_of_a_running_gang_is_missing(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_group(fixture, "g", 2, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "g", 0, 2, NULL);
    node_fixture_settle(fixture);
    node_fixture_set_phase(fixture, "g-0", "Running");
    node_fixture_set_phase(fixture, "g-1", "Running");
    node_fixture_advance(fixture, 100);
    node_fixture_delete(fixture, &kind_pod, "g-1", 0);
    node_fixture_pods(fixture, "g", 1, 2, NULL);
    node_fixture_advance(fixture, 100);
    check_str("replaced at once", node_fixture_group_phase(fixture, "g"), "Running");
    node_fixture_delete(fixture, &kind_pod, "g-1", 0);
    node_fixture_advance(fixture, 100);
    check_str("missing", node_fixture_group_phase(fixture, "g"), "Unknown");
    check_has("and says why", node_fixture_status(fixture, &kind_pod_group, "g"),
              "some members of the gang run, others are missing");
    node_fixture_delete(fixture, &kind_pod, "g-0", 0);
    node_fixture_advance(fixture, 100);
    check_str("none runs", node_fixture_group_phase(fixture, "g"), "Inqueue");
    node_fixture_pods(fixture, "g", 0, 2, NULL);
    node_fixture_advance(fixture, 100);
    check_str("whole again", node_fixture_group_phase(fixture, "g"), "Running");
    node_fixture_free(fixture);
}

static void pod_without_a_group_is_bound(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(1);

    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'},"
                 "'spec':{'containers':[{'name':'c','image':'i','command':['true']}]}}");
    node_fixture_settle(fixture);
    check("bound", node_fixture_bound(fixture, "p"));
    node_fixture_free(fixture);
}

static void pod_that_can_never_fit_gives_the_reason(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(1);

    node_fixture_group(fixture, "g", 1, NULL);
    node_fixture_group(fixture, "h", 1, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "g", 0, 1, ",'nodeSelector':{'gpu':'yes'}");
    node_fixture_pods(fixture, "h", 0, 1, NODE_FIXTURE_CPU("64"));
    node_fixture_advance(fixture, 100);
    check_has("g", node_fixture_status(fixture, &kind_pod, "g-0"), "nodeSelector asks for gpu=yes");
    check_has("h", node_fixture_status(fixture, &kind_pod, "h-0"), "needs 64 cpu, the node has 4");
    check_has("the group too", node_fixture_status(fixture, &kind_pod_group, "g"),
              "pod g-0 nodeSelector");
    check_int("none", node_fixture_count_bound(fixture), 0);
    node_fixture_free(fixture);
}

/* covers: see kube-api.md 7.3 */
static void a_pod_waits_for_its_scheduling_gates(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);

    node_fixture_group(fixture, "g", 2, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "g", 0, 1, NULL);
    node_fixture_pods(fixture, "g", 1, 2, ",'schedulingGates':[{'name':'a/x'},{'name':'a/y'}]");
    node_fixture_advance(fixture, 100);
    check_int("the gang waits", node_fixture_count_bound(fixture), 0);
    check_has("why", node_fixture_status(fixture, &kind_pod, "g-1"),
              "\"reason\":\"SchedulingGated\"");
    check_has("the group too", node_fixture_status(fixture, &kind_pod_group, "g"),
              "pod g-1 has scheduling gates");
    node_fixture_patch(fixture, &kind_pod, "g-1", "{'spec':{'schedulingGates':[{'name':'a/y'}]}}");
    node_fixture_advance(fixture, 100);
    check_int("one is left", node_fixture_count_bound(fixture), 0);
    node_fixture_patch(fixture, &kind_pod, "g-1", "{'spec':{'schedulingGates':null}}");
    node_fixture_advance(fixture, 100);
    check_int("both", node_fixture_count_bound(fixture), 2);
    check_has("the group too", node_fixture_status(fixture, &kind_pod_group, "g"), "Running");
    node_fixture_free(fixture);
}

/* Once the gates are removed, the status gives the current reason, not the previous one. */
static void pod_is_scheduled_once_its_gates_are_removed(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(1);

    node_fixture_group(fixture, "g", 1, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "g", 0, 1,
                      NODE_FIXTURE_CPU("64") ",'schedulingGates':[{'name':'x'}]");
    node_fixture_advance(fixture, 100);
    check_has("gated", node_fixture_status(fixture, &kind_pod, "g-0"), "SchedulingGated");
    node_fixture_patch(fixture, &kind_pod, "g-0", "{'spec':{'schedulingGates':null}}");
    node_fixture_advance(fixture, 100);
    check_has("reason", node_fixture_status(fixture, &kind_pod, "g-0"),
              "\"reason\":\"Unschedulable\"");
    check_has("why", node_fixture_status(fixture, &kind_pod, "g-0"), "needs 64 cpu");
    check_has("the group too", node_fixture_status(fixture, &kind_pod_group, "g"), "needs 64 cpu");
    node_fixture_free(fixture);
}

static void restarted_scheduler_continues(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(2);

    node_fixture_group(fixture, "a", 2, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "a", 0, 2, NULL);
    node_fixture_group(fixture, "b", 1, NULL);
    node_fixture_settle(fixture);
    node_fixture_advance(fixture, 100);
    int64_t before = node_fixture_get(fixture, &kind_pod_group, "a")->revision;

    node_fixture_stop(fixture);
    node_fixture_start_scheduler(fixture, (struct amount){4000, 1 << 30, 2});
    node_fixture_advance(fixture, 100);
    check_int("nothing was written", node_fixture_get(fixture, &kind_pod_group, "a")->revision,
              before);
    node_fixture_set_phase(fixture, "a-0", "Succeeded");
    node_fixture_set_phase(fixture, "a-1", "Succeeded");
    node_fixture_advance(fixture, 100);
    check_str("a", node_fixture_group_phase(fixture, "a"), "Completed");
    check_str("b", node_fixture_group_phase(fixture, "b"), "Inqueue");
    node_fixture_free(fixture);
}

static void finished_pods_count_for_a_recreated_group(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(4);
    static const char group[] =
        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{'name':'g',"
        "'namespace':'default','ownerReferences':[{'apiVersion':'batch.volcano.sh/v1alpha1','kind':"
        "'Job','name':'j','uid':'%s','controller':true}]},'spec':{'minMember':3}}";
    const char *job;

    node_fixture_create(
        fixture,
        "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'j',"
        "'namespace':'default'},'spec':{'minAvailable':3,'tasks':[{'name':'t','replicas':3,"
        "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i',"
        "'command':['true']}]}}}]}}");
    job = object_uid(node_fixture_get(fixture, &kind_job, "j"));
    node_fixture_create(fixture, group, job);
    node_fixture_settle(fixture);
    for (int i = 0; i < 2; i++) {
        node_fixture_create(
            fixture,
            "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'g-%d','namespace':"
            "'default','annotations':{'scheduling.k8s.io/group-name':'g'},"
            "'ownerReferences':[{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job',"
            "'name':'j','uid':'%s','controller':true}]},'spec':{'restartPolicy':'Never',"
            "'containers':[{'name':'c','image':'i','command':['true']}]}}",
            i, job);
        node_fixture_settle(fixture);
        node_fixture_set_status(fixture, &kind_pod, i ? "g-1" : "g-0", "{'phase':'Succeeded'}");
    }
    node_fixture_settle(fixture);
    node_fixture_delete(fixture, &kind_pod_group, "g", -1);
    node_fixture_settle(fixture);
    node_fixture_create(fixture, group, job);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "g", 2, 3, NULL);
    node_fixture_settle(fixture);
    check("the third alone makes the gang whole", node_fixture_bound(fixture, "g-2"));
    node_fixture_advance(fixture, 100);
    check_has("all three are counted", node_fixture_status(fixture, &kind_pod_group, "g"),
              "\"succeeded\":2");
    node_fixture_free(fixture);
}

/* covers: reliability.md INV-F11 */
static void idle_scheduler_writes_nothing(void **state)
{
    struct node_fixture *fixture = node_fixture_with_scheduler(1);
    int64_t before;

    node_fixture_group(fixture, "a", 1, NULL);
    node_fixture_group(fixture, "b", 2, NULL);
    node_fixture_settle(fixture);
    node_fixture_pods(fixture, "a", 0, 3, NULL);
    node_fixture_advance(fixture, 5000);
    before = store_revision(fixture->store);
    node_fixture_advance(fixture, 100000);
    check_int("revision", store_revision(fixture->store), before);
    node_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_deleted_before_its_status_write_is_forgotten),
        cmocka_unit_test(a_single_pod_group_goes_from_pending_to_completed),
        cmocka_unit_test(a_gang_is_bound_whole_or_not_at_all),
        cmocka_unit_test(gang_is_admitted_only_when_all_of_it_fits),
        cmocka_unit_test(reserved_capacity_is_not_given_to_other_groups),
        cmocka_unit_test(gang_that_can_never_fit_gives_the_reason_and_a_remedy),
        cmocka_unit_test(priority_comes_first_then_age),
        cmocka_unit_test(single_pods_are_bound_a_bounded_number_ahead),
        cmocka_unit_test(extra_members_are_bound_one_by_one),
        cmocka_unit_test(group_is_unknown_while_a_lost_member_does_not_fit),
        cmocka_unit_test(group_is_unknown_while_a_member_of_a_running_gang_is_missing),
        cmocka_unit_test(pod_without_a_group_is_bound),
        cmocka_unit_test(pod_that_can_never_fit_gives_the_reason),
        cmocka_unit_test(a_pod_waits_for_its_scheduling_gates),
        cmocka_unit_test(pod_is_scheduled_once_its_gates_are_removed),
        cmocka_unit_test(restarted_scheduler_continues),
        cmocka_unit_test(finished_pods_count_for_a_recreated_group),
        cmocka_unit_test(idle_scheduler_writes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
