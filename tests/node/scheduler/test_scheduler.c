/*
 * Admission, gangs and phases, on the embedded cluster.
 */
#include "tests/unit.h"

#include "api/types/kinds/scheduling/podgroup.h"
#include "node/scheduler/internal.h"
#include "tests/support/node_fixture.h"

/* covers: see O-60 */
static void a_single_pod_group_goes_from_pending_to_completed(void **state)
{
    struct rig *rig = rig_with_scheduler(2);

    rig_group(rig, "g", 1, NULL);
    rig_settle(rig);
    check_str("room", rig_group_phase(rig, "g"), "Inqueue");
    rig_pods(rig, "g", 0, 1, NULL);
    rig_settle(rig);
    check("bound", rig_bound(rig, "g-0"));
    check_has("to us", rig_get(rig, &kind_pod, "g-0")->body->text, "\"nodeName\":\"here\"");
    rig_set_phase(rig, "g-0", "Running");
    rig_advance(rig, 100);
    check_str("running", rig_group_phase(rig, "g"), "Running");
    check_has("scheduled", rig_status(rig, &kind_pod_group, "g"), "\"type\":\"Scheduled\"");
    rig_set_phase(rig, "g-0", "Succeeded");
    rig_advance(rig, 100);
    check_str("completed", rig_group_phase(rig, "g"), "Completed");
    check_has("counts", rig_status(rig, &kind_pod_group, "g"), "\"succeeded\":1");
    rig_free(rig);
}

/* covers: reliability.md INV-J5; see O-60 */
static void a_gang_is_bound_whole_or_not_at_all(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_group(rig, "g", 3, NULL);
    rig_settle(rig);
    rig_pods(rig, "g", 0, 2, NULL);
    rig_settle(rig);
    check_int("two of three", rig_count_bound(rig), 0);
    check_str("waits for pods", rig_group_phase(rig, "g"), "Inqueue");
    rig_pods(rig, "g", 2, 3, NULL);
    rig_settle(rig);
    check_int("three of three", rig_count_bound(rig), 3);
    rig_advance(rig, 100);
    check_str("placed", rig_group_phase(rig, "g"), "Running");
    rig_free(rig);
}

static int known_groups(const struct rig *rig)
{
    return (int)HASH_COUNT(rig->scheduler->groups);
}

/* Statuses are told a little later; in a simulation that may be never while there is work. */
static void a_group_that_went_before_its_status_was_told_is_forgotten(void **state)
{
    struct rig *rig = rig_with_scheduler(2);
    int before = known_groups(rig);

    rig_group(rig, "g", 1, NULL);
    rig_settle(rig);
    rig_pods(rig, "g", 0, 1, NULL);
    rig_settle(rig);
    check_int("known", known_groups(rig), before + 1);
    rig_set_phase(rig, "g-0", "Running");
    rig_set_phase(rig, "g-0", "Succeeded");
    rig_delete(rig, &kind_pod_group, "g", 0);
    rig_settle(rig);
    check_int("forgotten at once", known_groups(rig), before);
    rig_free(rig);
}

static void a_gang_is_admitted_only_when_all_of_it_has_room(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_group(rig, "a", 3, NULL);
    rig_group(rig, "b", 2, NULL);
    rig_settle(rig);
    check_str("first", rig_group_phase(rig, "a"), "Inqueue");
    check_str("no room for the second", rig_group_phase(rig, "b"), "");
    rig_pods(rig, "a", 0, 3, NULL);
    rig_settle(rig);
    rig_set_phase(rig, "a-0", "Succeeded");
    check_str("two slots are free", rig_group_phase(rig, "b"), "Inqueue");
    rig_free(rig);
}

/* covers: reliability.md INV-J5 */
static void reserved_room_is_not_given_to_others(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_group(rig, "gang", 3, NULL);
    for (int i = 0; i < 6; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%d", i);
        rig_group(rig, name, 1, NULL);
        rig_settle(rig);
        rig_pods(rig, name, 0, 1, NULL);
    }
    rig_settle(rig);
    check_int("one slot beside the reservation", rig_count_bound(rig), 1);
    rig_pods(rig, "gang", 0, 3, NULL);
    rig_settle(rig);
    check("the gang",
          rig_bound(rig, "gang-0") && rig_bound(rig, "gang-1") && rig_bound(rig, "gang-2"));
    rig_free(rig);
}

/* covers: see 6.6 */
static void a_gang_that_can_never_fit_says_why_and_what_to_do(void **state)
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
    struct rig *rig = rig_with_scheduler(4);

    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'small'},'spec':{'weight':1,'capability':{'cpu':'2'}}}");
    rig_settle(rig);
    rig_create(rig, "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                    "'metadata':{'name':'child'},'spec':{'weight':1,'parent':'small'}}");
    rig_settle(rig);
    for (size_t i = 0; i < countof(cases); i++)
        rig_group(rig, cases[i].name, cases[i].min, cases[i].spec);
    rig_group(rig, "fits", 1, NULL);
    rig_advance(rig, 100);
    for (size_t i = 0; i < countof(cases); i++) {
        const char *status = rig_status(rig, &kind_pod_group, cases[i].name);

        check_has(cases[i].name, status, "\"phase\":\"Pending\"");
        check_has(cases[i].name, status, "\"type\":\"Unschedulable\"");
        check_has(cases[i].name, status, "\"reason\":\"NotEnoughResources\"");
        check_has(cases[i].name, status, cases[i].says);
    }
    check_str("it holds nobody up", rig_group_phase(rig, "fits"), "Inqueue");
    rig_delete(rig, &kind_pod_group, "parent", -1);
    rig_patch(rig, &kind_queue, "small", "{'spec':{'capability':{'cpu':'3'}}}");
    rig_settle(rig);
    check_str("the limit was raised", rig_group_phase(rig, "queue"), "Inqueue");
    rig_free(rig);
}

static void priority_comes_first_then_age(void **state)
{
    static const char *const order[] = {"old-high", "new-high", "old", "new"};
    struct rig *rig = rig_with_scheduler(2);

    rig_create(rig, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                    "'metadata':{'name':'high'},'value':1000}");
    rig_group(rig, "first", 2, NULL);
    rig_settle(rig);
    rig_group(rig, "old", 2, NULL);
    rig_group(rig, "old-high", 2, ",'priorityClassName':'high'");
    rig_group(rig, "new", 2, NULL);
    rig_group(rig, "new-high", 2, ",'priorityClassName':'high'");
    rig_settle(rig);
    rig_delete(rig, &kind_pod_group, "first", -1);
    rig_settle(rig);
    for (size_t i = 0; i < countof(order); i++) {
        check_str(order[i], rig_group_phase(rig, order[i]), "Inqueue");
        for (size_t j = i + 1; j < countof(order); j++)
            check_str(order[j], rig_group_phase(rig, order[j]), "");
        rig_delete(rig, &kind_pod_group, order[i], -1);
        rig_settle(rig);
    }
    rig_free(rig);
}

/* DC-18 */
static void single_pods_are_bound_a_bounded_number_ahead(void **state)
{
    struct rig *rig = rig_with_scheduler(2);

    for (int i = 0; i < 30; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%d", i);
        rig_group(rig, name, 1, NULL);
        rig_settle(rig);
        if (strcmp(rig_group_phase(rig, name), "Inqueue") == 0)
            rig_pods(rig, name, 0, 1, NULL);
    }
    rig_settle(rig);
    check_int("2 slots and 2 * 2 + 8 ahead", rig_count_bound(rig), 14);
    rig_free(rig);
}

static void pods_beyond_the_minimum_are_bound_one_by_one(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_group(rig, "g", 1, NULL);
    rig_settle(rig);
    rig_pods(rig, "g", 0, 6, RIG_CPU("2"));
    rig_settle(rig);
    check_int("as many as the processors carry, and three times that", rig_count_bound(rig), 6);
    rig_pods(rig, "g", 6, 8, RIG_CPU("2"));
    rig_settle(rig);
    check_int("no more", rig_count_bound(rig), 6);
    rig_set_phase(rig, "g-0", "Succeeded");
    check_int("one more", rig_count_bound(rig), 7);
    rig_free(rig);
}

static void a_lost_member_with_no_room_makes_the_group_unknown(void **state)
{
    struct rig *rig = rig_with_scheduler(2);

    rig_group(rig, "g", 2, NULL);
    rig_settle(rig);
    rig_pods(rig, "g", 0, 2, RIG_CPU("2"));
    rig_settle(rig);
    rig_set_phase(rig, "g-0", "Running");
    rig_set_phase(rig, "g-1", "Running");
    rig_delete(rig, &kind_pod, "g-1", 0);
    rig_pods(rig, "g", 1, 2, RIG_CPU("4"));
    rig_advance(rig, 2000);
    check_str("some run, the rest has no room", rig_group_phase(rig, "g"), "Unknown");
    check_has("and says why", rig_status(rig, &kind_pod_group, "g"), "Unschedulable");
    rig_set_phase(rig, "g-0", "Succeeded");
    rig_advance(rig, 100);
    check("room", rig_bound(rig, "g-1"));
    check_str("whole again", rig_group_phase(rig, "g"), "Running");
    rig_free(rig);
}

static void a_pod_that_belongs_to_no_group_is_bound_too(void **state)
{
    struct rig *rig = rig_with_scheduler(1);

    rig_create(rig, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'},"
                    "'spec':{'containers':[{'name':'c','image':'i','command':['true']}]}}");
    rig_settle(rig);
    check("bound", rig_bound(rig, "p"));
    rig_free(rig);
}

static void a_pod_this_node_can_never_take_says_why(void **state)
{
    struct rig *rig = rig_with_scheduler(1);

    rig_group(rig, "g", 1, NULL);
    rig_group(rig, "h", 1, NULL);
    rig_settle(rig);
    rig_pods(rig, "g", 0, 1, ",'nodeSelector':{'gpu':'yes'}");
    rig_pods(rig, "h", 0, 1, RIG_CPU("64"));
    rig_advance(rig, 100);
    check_has("g", rig_status(rig, &kind_pod, "g-0"), "nodeSelector asks for gpu=yes");
    check_has("h", rig_status(rig, &kind_pod, "h-0"), "needs 64 cpu, the node has 4");
    check_has("the group too", rig_status(rig, &kind_pod_group, "g"), "pod g-0 nodeSelector");
    check_int("none", rig_count_bound(rig), 0);
    rig_free(rig);
}

/* covers: see kube-api.md 7.3 */
static void a_pod_waits_for_its_scheduling_gates(void **state)
{
    struct rig *rig = rig_with_scheduler(4);

    rig_group(rig, "g", 2, NULL);
    rig_settle(rig);
    rig_pods(rig, "g", 0, 1, NULL);
    rig_pods(rig, "g", 1, 2, ",'schedulingGates':[{'name':'a/x'},{'name':'a/y'}]");
    rig_advance(rig, 100);
    check_int("the gang waits", rig_count_bound(rig), 0);
    check_has("why", rig_status(rig, &kind_pod, "g-1"), "\"reason\":\"SchedulingGated\"");
    check_has("the group too", rig_status(rig, &kind_pod_group, "g"),
              "pod g-1 has scheduling gates");
    rig_patch(rig, &kind_pod, "g-1", "{'spec':{'schedulingGates':[{'name':'a/y'}]}}");
    rig_advance(rig, 100);
    check_int("one is left", rig_count_bound(rig), 0);
    rig_patch(rig, &kind_pod, "g-1", "{'spec':{'schedulingGates':null}}");
    rig_advance(rig, 100);
    check_int("both", rig_count_bound(rig), 2);
    check_has("the group too", rig_status(rig, &kind_pod_group, "g"), "Running");
    rig_free(rig);
}

/* The gates are gone: what it waits for now is said, not what it waited for. */
static void a_pod_without_gates_is_judged_as_others_are(void **state)
{
    struct rig *rig = rig_with_scheduler(1);

    rig_group(rig, "g", 1, NULL);
    rig_settle(rig);
    rig_pods(rig, "g", 0, 1, RIG_CPU("64") ",'schedulingGates':[{'name':'x'}]");
    rig_advance(rig, 100);
    check_has("gated", rig_status(rig, &kind_pod, "g-0"), "SchedulingGated");
    rig_patch(rig, &kind_pod, "g-0", "{'spec':{'schedulingGates':null}}");
    rig_advance(rig, 100);
    check_has("reason", rig_status(rig, &kind_pod, "g-0"), "\"reason\":\"Unschedulable\"");
    check_has("why", rig_status(rig, &kind_pod, "g-0"), "needs 64 cpu");
    check_has("the group too", rig_status(rig, &kind_pod_group, "g"), "needs 64 cpu");
    rig_free(rig);
}

static void a_scheduler_that_starts_again_goes_on(void **state)
{
    struct rig *rig = rig_with_scheduler(2);

    rig_group(rig, "a", 2, NULL);
    rig_settle(rig);
    rig_pods(rig, "a", 0, 2, NULL);
    rig_group(rig, "b", 1, NULL);
    rig_settle(rig);
    rig_advance(rig, 100);
    int64_t before = rig_get(rig, &kind_pod_group, "a")->revision;

    rig_stop(rig);
    rig_start_scheduler(rig, (struct amount){4000, 1 << 30, 2});
    rig_advance(rig, 100);
    check_int("nothing was written", rig_get(rig, &kind_pod_group, "a")->revision, before);
    rig_set_phase(rig, "a-0", "Succeeded");
    rig_set_phase(rig, "a-1", "Succeeded");
    rig_advance(rig, 100);
    check_str("a", rig_group_phase(rig, "a"), "Completed");
    check_str("b", rig_group_phase(rig, "b"), "Inqueue");
    rig_free(rig);
}

static void pods_that_ended_count_for_a_group_made_anew(void **state)
{
    struct rig *rig = rig_with_scheduler(4);
    static const char group[] =
        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{'name':'g',"
        "'namespace':'default','ownerReferences':[{'apiVersion':'batch.volcano.sh/v1alpha1','kind':"
        "'Job','name':'j','uid':'%s','controller':true}]},'spec':{'minMember':3}}";
    const char *job;

    rig_create(rig,
               "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'j',"
               "'namespace':'default'},'spec':{'minAvailable':3,'tasks':[{'name':'t','replicas':3,"
               "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i',"
               "'command':['true']}]}}}]}}");
    job = object_uid(rig_get(rig, &kind_job, "j"));
    rig_create(rig, group, job);
    rig_settle(rig);
    for (int i = 0; i < 2; i++) {
        rig_create(rig,
                   "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'g-%d','namespace':"
                   "'default','annotations':{'scheduling.k8s.io/group-name':'g'},"
                   "'ownerReferences':[{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job',"
                   "'name':'j','uid':'%s','controller':true}]},'spec':{'restartPolicy':'Never',"
                   "'containers':[{'name':'c','image':'i','command':['true']}]}}",
                   i, job);
        rig_settle(rig);
        rig_set_status(rig, &kind_pod, i ? "g-1" : "g-0", "{'phase':'Succeeded'}");
    }
    rig_settle(rig);
    rig_delete(rig, &kind_pod_group, "g", -1);
    rig_settle(rig);
    rig_create(rig, group, job);
    rig_settle(rig);
    rig_pods(rig, "g", 2, 3, NULL);
    rig_settle(rig);
    check("the third alone makes the gang whole", rig_bound(rig, "g-2"));
    rig_advance(rig, 100);
    check_has("all three are counted", rig_status(rig, &kind_pod_group, "g"), "\"succeeded\":2");
    rig_free(rig);
}

/* covers: reliability.md INV-F11 */
static void at_rest_nothing_is_written(void **state)
{
    struct rig *rig = rig_with_scheduler(1);
    int64_t before;

    rig_group(rig, "a", 1, NULL);
    rig_group(rig, "b", 2, NULL);
    rig_settle(rig);
    rig_pods(rig, "a", 0, 3, NULL);
    rig_advance(rig, 5000);
    before = store_revision(rig->store);
    rig_advance(rig, 100000);
    check_int("revision", store_revision(rig->store), before);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_that_went_before_its_status_was_told_is_forgotten),
        cmocka_unit_test(a_single_pod_group_goes_from_pending_to_completed),
        cmocka_unit_test(a_gang_is_bound_whole_or_not_at_all),
        cmocka_unit_test(a_gang_is_admitted_only_when_all_of_it_has_room),
        cmocka_unit_test(reserved_room_is_not_given_to_others),
        cmocka_unit_test(a_gang_that_can_never_fit_says_why_and_what_to_do),
        cmocka_unit_test(priority_comes_first_then_age),
        cmocka_unit_test(single_pods_are_bound_a_bounded_number_ahead),
        cmocka_unit_test(pods_beyond_the_minimum_are_bound_one_by_one),
        cmocka_unit_test(a_lost_member_with_no_room_makes_the_group_unknown),
        cmocka_unit_test(a_pod_that_belongs_to_no_group_is_bound_too),
        cmocka_unit_test(a_pod_this_node_can_never_take_says_why),
        cmocka_unit_test(a_pod_waits_for_its_scheduling_gates),
        cmocka_unit_test(a_pod_without_gates_is_judged_as_others_are),
        cmocka_unit_test(a_scheduler_that_starts_again_goes_on),
        cmocka_unit_test(pods_that_ended_count_for_a_group_made_anew),
        cmocka_unit_test(at_rest_nothing_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
