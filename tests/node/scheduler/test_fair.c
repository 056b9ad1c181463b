/*
 * Tests which group is served first: passing a large gang, keeping capacity for it, sharing among
 * extra members, guarantees, preemption and reclaim.
 */
#include "tests/unit.h"

#include "api/types/kinds/scheduling/podgroup.h"
#include "tests/support/metric_checks.h"
#include "tests/support/node_fixture.h"

enum { GIB = 1 << 30 };

static struct node_fixture *set_up(int64_t cpus, int64_t pods)
{
    struct node_fixture *fixture = node_fixture_new();

    node_fixture_start_scheduler(fixture, (struct amount){cpus * 1000, 8LL * GIB, pods, {0}});
    node_fixture_create(fixture, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                                 "'metadata':{'name':'high'},'value':1000}");
    node_fixture_create(fixture,
                        "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                        "'metadata':{'name':'polite'},'value':1000,'preemptionPolicy':'Never'}");
    node_fixture_settle(fixture);
    return fixture;
}

static void queue(struct node_fixture *fixture, const char *name, const char *spec)
{
    node_fixture_create(fixture,
                        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                        "'metadata':{'name':'%s'},'spec':{%s}}",
                        name, spec);
    node_fixture_settle(fixture);
}

/* Creates pods `from` … `to` of a group, one CPU each, preemptable or not. */
static void pods(struct node_fixture *fixture, const char *group, int from, int to,
                 bool preemptable)
{
    for (int i = from; i < to; i++)
        node_fixture_create(
            fixture,
            "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%d','namespace':"
            "'default','annotations':{'scheduling.k8s.io/group-name':'%s',"
            "'volcano.sh/preemptable':'%s'}},'spec':{'restartPolicy':'Never',"
            "'containers':[{'name':'c','image':'i','command':['true'],'resources':{"
            "'requests':{'cpu':'1'}}}]}}",
            group, i, group, preemptable ? "true" : "false");
    node_fixture_settle(fixture);
}

static void run_pods(struct node_fixture *fixture, const char *group, int from, int to)
{
    for (int i = from; i < to; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s-%d", group, i);
        node_fixture_set_status(fixture, &kind_pod, name, "{'phase':'Running'}");
    }
    node_fixture_settle(fixture);
}

/* Creates a gang whose pods are bound and running. */
static void running(struct node_fixture *fixture, const char *name, int min, int n,
                    const char *spec, bool preemptable)
{
    node_fixture_group(fixture, name, min, spec);
    node_fixture_settle(fixture);
    check_str(name, node_fixture_group_phase(fixture, name), "Inqueue");
    pods(fixture, name, 0, n, preemptable);
    run_pods(fixture, name, 0, n);
}

static int left_of(struct node_fixture *fixture, const char *group, int n)
{
    int left = 0;

    for (int i = 0; i < n; i++) {
        char name[64];
        const struct object *pod;

        snprintf(name, sizeof name, "%s-%d", group, i);
        pod = node_fixture_get(fixture, &kind_pod, name);
        left += pod && !object_deleting(pod);
    }
    return left;
}

#define FOUR_CPU ",'minResources':{'cpu':'4'}"
#define TWO_CPU  ",'minResources':{'cpu':'2'}"
#define ONE_CPU  ",'minResources':{'cpu':'1'}"
#define HIGH     ",'priorityClassName':'high'"
#define ADMITTED "Inqueue"
#define NOT_YET  ""
#define PENDING  "Pending"

static void large_gang_is_passed_for_a_while_then_capacity_is_kept_for_it(void **state)
{
    struct node_fixture *fixture = set_up(8, 4);

    running(fixture, "s0", 1, 1, NULL, false);
    node_fixture_group(fixture, "big", 4, NULL);
    node_fixture_settle(fixture);
    running(fixture, "s1", 1, 1, NULL, false);
    node_fixture_advance(fixture, 11000);
    node_fixture_group(fixture, "s2", 1, NULL);
    node_fixture_settle(fixture);
    check_str("the time of passing is over", node_fixture_group_phase(fixture, "s2"), NOT_YET);
    node_fixture_set_status(fixture, &kind_pod, "s0-0", "{'phase':'Succeeded'}");
    node_fixture_advance(fixture, 100);
    check_str("three are free, but not for s2", node_fixture_group_phase(fixture, "s2"), NOT_YET);
    check_str("nor enough for the gang", node_fixture_group_phase(fixture, "big"), PENDING);
    node_fixture_set_status(fixture, &kind_pod, "s1-0", "{'phase':'Succeeded'}");
    node_fixture_settle(fixture);
    check_str("the gang has waited least long possible", node_fixture_group_phase(fixture, "big"),
              ADMITTED);
    node_fixture_free(fixture);
}

static void queues_waiting_for_capacity_do_not_block_other_queues_at_once(void **state)
{
    struct node_fixture *fixture = set_up(8, 4);

    queue(fixture, "a", "'dequeueStrategy':'fifo'");
    queue(fixture, "b", "'weight':1");
    running(fixture, "s0", 1, 1, ",'queue':'a'", false);
    node_fixture_group(fixture, "big", 4, ",'queue':'a'");
    node_fixture_group(fixture, "small", 1, ",'queue':'a'");
    node_fixture_group(fixture, "other", 1, ",'queue':'b'");
    node_fixture_settle(fixture);
    check_str("the first of a fifo queue is not passed in it",
              node_fixture_group_phase(fixture, "small"), NOT_YET);
    check_str("the other queue continues", node_fixture_group_phase(fixture, "other"), ADMITTED);
    node_fixture_advance(fixture, 11000);
    node_fixture_group(fixture, "late", 1, ",'queue':'b'");
    node_fixture_settle(fixture);
    check_str("until the gang has waited long enough", node_fixture_group_phase(fixture, "late"),
              NOT_YET);
    node_fixture_free(fixture);
}

static void extra_members_of_groups_share_capacity_evenly(void **state)
{
    struct node_fixture *fixture = set_up(8, 16);
    int a = 0, b = 0;

    running(fixture, "a", 1, 1, NULL, false);
    running(fixture, "b", 1, 1, NULL, false);
    running(fixture, "hold", 6, 6, ",'minResources':{'cpu':'6'}", false);
    pods(fixture, "a", 1, 8, false);
    pods(fixture, "b", 1, 8, false);
    for (int i = 0; i < 6; i++) {
        char name[16];

        snprintf(name, sizeof name, "hold-%d", i);
        node_fixture_set_status(fixture, &kind_pod, name, "{'phase':'Succeeded'}");
        node_fixture_settle(fixture);
    }
    for (int i = 0; i < 8; i++) {
        char name[16];

        snprintf(name, sizeof name, "a-%d", i);
        a += node_fixture_bound(fixture, name);
        snprintf(name, sizeof name, "b-%d", i);
        b += node_fixture_bound(fixture, name);
    }
    check("as many of the one as of the other", a - b <= 1 && b - a <= 1);
    check("all there is", a + b >= 8);
    node_fixture_free(fixture);
}

static void gang_precedes_extra_members_of_other_groups(void **state)
{
    struct node_fixture *fixture = set_up(4, 4);

    running(fixture, "old", 1, 1, NULL, false);
    running(fixture, "hold", 3, 3, ",'minResources':{'cpu':'3'}", false);
    node_fixture_group(fixture, "new", 2, TWO_CPU);
    node_fixture_settle(fixture);
    pods(fixture, "old", 1, 8, false);
    for (int i = 0; i < 2; i++) {
        char name[16];

        snprintf(name, sizeof name, "hold-%d", i);
        node_fixture_set_status(fixture, &kind_pod, name, "{'phase':'Succeeded'}");
    }
    node_fixture_settle(fixture);
    check_str("the gang", node_fixture_group_phase(fixture, "new"), ADMITTED);
    check("not the older group's surplus", !node_fixture_bound(fixture, "old-1"));
    node_fixture_free(fixture);
}

static void guaranteed_capacity_is_kept_for_the_queue(void **state)
{
    struct node_fixture *fixture = set_up(4, 8);

    queue(fixture, "own", "'deserved':{'cpu':'2'},'guarantee':{'resource':{'cpu':'2'}}");
    node_fixture_group(fixture, "a", 1, TWO_CPU);
    node_fixture_group(fixture, "b", 1, ONE_CPU);
    node_fixture_settle(fixture);
    check_str("two of four are free for all", node_fixture_group_phase(fixture, "a"), ADMITTED);
    check_str("the others are kept", node_fixture_group_phase(fixture, "b"), NOT_YET);
    node_fixture_advance(fixture, 1500);
    check_has("and that is said", node_fixture_status(fixture, &kind_pod_group, "b"),
              "needs 1 cpu (0 of 4 free)");
    node_fixture_advance(fixture, 11000);
    node_fixture_group(fixture, "mine", 1, ",'queue':'own','minResources':{'cpu':'1'}");
    node_fixture_settle(fixture);
    check_str("a group of another queue", node_fixture_group_phase(fixture, "mine"), ADMITTED);
    check_str("no other group", node_fixture_group_phase(fixture, "b"), PENDING);
    node_fixture_patch(fixture, &kind_queue, "own",
                       "{'spec':{'guarantee':{'resource':{'cpu':'1'}}}}");
    node_fixture_settle(fixture);
    check_str("less is kept", node_fixture_group_phase(fixture, "b"), ADMITTED);
    node_fixture_free(fixture);
}

static void guarantee_of_a_child_queue_counts_for_its_parent(void **state)
{
    struct node_fixture *fixture = set_up(4, 8);

    queue(fixture, "up", "'deserved':{'cpu':'3'},'guarantee':{'resource':{'cpu':'3'}}");
    queue(fixture, "down",
          "'parent':'up','deserved':{'cpu':'2'},'guarantee':{'resource':{'cpu':'2'}}");
    node_fixture_group(fixture, "a", 1, TWO_CPU);
    node_fixture_group(fixture, "b", 1, ONE_CPU);
    node_fixture_settle(fixture);
    check_str("three are kept, not five", node_fixture_group_phase(fixture, "b"), ADMITTED);
    check_str("three are kept, not two", node_fixture_group_phase(fixture, "a"), NOT_YET);
    node_fixture_group(fixture, "below", 1, ",'queue':'down','minResources':{'cpu':'3'}");
    node_fixture_settle(fixture);
    check_str("the parent's guarantee serves the child", node_fixture_group_phase(fixture, "below"),
              ADMITTED);
    node_fixture_free(fixture);
}

static void gang_of_higher_priority_preempts_the_youngest_of_lowest_priority(void **state)
{
    struct node_fixture *fixture = set_up(4, 8);

    running(fixture, "old", 2, 2, TWO_CPU, true);
    running(fixture, "young", 2, 2, TWO_CPU, true);
    node_fixture_group(fixture, "vip", 2, TWO_CPU HIGH);
    node_fixture_settle(fixture);
    check_int("the young gang is evicted as a whole", left_of(fixture, "young", 2), 0);
    check_int("the old one stays", left_of(fixture, "old", 2), 2);
    check_str("capacity is free only after they have ended",
              node_fixture_group_phase(fixture, "vip"), NOT_YET);
    node_fixture_advance(fixture, 1500);
    check_has("and that is what it waits for", node_fixture_status(fixture, &kind_pod_group, "vip"),
              "waits for 2 evicted pods to end");
    node_fixture_group(fixture, "sneak", 1, ONE_CPU);
    node_fixture_delete(fixture, &kind_pod, "young-0", 0);
    node_fixture_settle(fixture);
    check_str("no other group takes it", node_fixture_group_phase(fixture, "sneak"), NOT_YET);
    node_fixture_delete(fixture, &kind_pod, "young-1", 0);
    node_fixture_settle(fixture);
    check_str("now it has it", node_fixture_group_phase(fixture, "vip"), ADMITTED);
    pods(fixture, "vip", 0, 2, false);
    check("and uses it",
          node_fixture_bound(fixture, "vip-0") && node_fixture_bound(fixture, "vip-1"));
    node_fixture_free(fixture);
}

/* A client binds a pod of its own, past the scheduler, to the room that an eviction frees. */
static void a_claim_ends_when_the_evicted_pods_were_not_enough(void **state)
{
    struct node_fixture *fixture = set_up(4, 8);

    running(fixture, "old", 2, 2, TWO_CPU, false);
    running(fixture, "young", 2, 2, TWO_CPU, true);
    node_fixture_group(fixture, "vip", 2, TWO_CPU HIGH);
    node_fixture_settle(fixture);
    check_int("pods are evicted for it", left_of(fixture, "young", 2), 0);
    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'own','namespace':"
                        "'default'},'spec':{'nodeName':'here','containers':[{'name':'c','image':"
                        "'i','command':['true'],'resources':{'requests':{'cpu':'1'}}}]}}");
    node_fixture_group(fixture, "small", 1, ONE_CPU);
    node_fixture_settle(fixture);
    check_str("what they free is kept", node_fixture_group_phase(fixture, "small"), NOT_YET);
    node_fixture_delete(fixture, &kind_pod, "young-0", 0);
    node_fixture_delete(fixture, &kind_pod, "young-1", 0);
    node_fixture_settle(fixture);
    check_str("it was not enough", node_fixture_group_phase(fixture, "vip"), NOT_YET);
    check_str("so another takes it", node_fixture_group_phase(fixture, "small"), ADMITTED);
    node_fixture_free(fixture);
}

static void the_lowest_priority_is_preempted_first(void **state)
{
    struct node_fixture *fixture = set_up(4, 8);

    node_fixture_create(fixture, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                                 "'metadata':{'name':'middle'},'value':500}");
    running(fixture, "low", 2, 2, TWO_CPU, true);
    running(fixture, "middle", 2, 2, TWO_CPU ",'priorityClassName':'middle'", true);
    node_fixture_group(fixture, "vip", 2, TWO_CPU HIGH);
    node_fixture_settle(fixture);
    check_int("the older gang of lower priority goes", left_of(fixture, "low", 2), 0);
    check_int("the younger one of higher priority stays", left_of(fixture, "middle", 2), 2);
    node_fixture_free(fixture);
}

/* In either order of their names. */
static void of_a_group_the_pods_that_allow_it_are_evicted(void **state)
{
    for (int first = 0; first < 2; first++) {
        struct node_fixture *fixture = set_up(4, 8);

        node_fixture_group(fixture, "mixed", 1, ONE_CPU);
        node_fixture_settle(fixture);
        pods(fixture, "mixed", 0, 2, first);
        pods(fixture, "mixed", 2, 4, !first);
        run_pods(fixture, "mixed", 0, 4);
        node_fixture_group(fixture, "vip", 2, TWO_CPU HIGH);
        node_fixture_settle(fixture);
        check_int("two are left", left_of(fixture, "mixed", 4), 2);
        check_int("those that do not allow it", left_of(fixture, "mixed", 2), first ? 0 : 2);
        node_fixture_free(fixture);
    }
}

static void extra_members_are_preempted_before_gangs(void **state)
{
    struct node_fixture *fixture = set_up(4, 8);

    running(fixture, "wide", 1, 3, ONE_CPU, true);
    running(fixture, "gang", 1, 1, ONE_CPU, true);
    node_fixture_group(fixture, "vip", 2, TWO_CPU HIGH);
    node_fixture_settle(fixture);
    check_int("two beyond its minimum", left_of(fixture, "wide", 3), 1);
    check_int("the gang stays", left_of(fixture, "gang", 1), 1);
    node_fixture_free(fixture);
}

static void pods_that_are_not_preemptable_are_not_evicted(void **state)
{
    static const struct {
        const char *name, *low, *vip;
        bool preemptable;
    } cases[] = {
        {"pods that do not allow it", FOUR_CPU, TWO_CPU HIGH, false},
        {"the same priority", FOUR_CPU, TWO_CPU, true},
        {"a class that never does", FOUR_CPU, TWO_CPU ",'priorityClassName':'polite'", true},
        {"it would not be enough", FOUR_CPU, TWO_CPU ",'queue':'other'" HIGH, true},
        {"a queue that gives nothing back", FOUR_CPU ",'queue':'fixed'",
         TWO_CPU ",'queue':'owed'" HIGH, true},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct node_fixture *fixture = set_up(4, 8);

        queue(fixture, "other", "'weight':1");
        queue(fixture, "owed", "'deserved':{'cpu':'2'}");
        queue(fixture, "fixed", "'reclaimable':false");
        running(fixture, "low", 4, 4, cases[i].low, cases[i].preemptable);
        node_fixture_group(fixture, "vip", 2, cases[i].vip);
        node_fixture_settle(fixture);
        check_int(cases[i].name, left_of(fixture, "low", 4), 4);
        node_fixture_free(fixture);
    }
}

static void cooling_pod(struct node_fixture *fixture, const char *name, const char *cooldown)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-0','namespace':'default',"
        "'labels':{'volcano.sh/preemptable':'true','volcano.sh/cooldown-time':'%s'},"
        "'annotations':{'scheduling.k8s.io/group-name':'%s'}},'spec':{'restartPolicy':"
        "'Never','containers':[{'name':'c','image':'i','command':['true'],'resources':{"
        "'requests':{'cpu':'1'}}}]}}",
        name, cooldown, name);
    node_fixture_settle(fixture);
}

/* Ref: Volcano docs/design/cooldown-protection-plugin.md, which describes this protection. */
static void running_pod_is_not_evicted_during_its_cooldown_time(void **state)
{
    static const struct {
        const char *cooldown;
        bool runs, goes_at_once;
    } cases[] = {
        {"60s", true, false}, {"60s", false, true}, {"sixty", true, true}, {"0", true, true}};

    for (size_t i = 0; i < countof(cases); i++) {
        struct node_fixture *fixture = set_up(2, 8);

        node_fixture_group(fixture, "low", 1, ONE_CPU);
        node_fixture_settle(fixture);
        cooling_pod(fixture, "low", cases[i].cooldown);
        if (cases[i].runs)
            run_pods(fixture, "low", 0, 1);
        node_fixture_group(fixture, "vip", 2, TWO_CPU HIGH);
        node_fixture_advance(fixture, 50000);
        check_int(cases[i].cooldown, left_of(fixture, "low", 1), cases[i].goes_at_once ? 0 : 1);
        node_fixture_advance(fixture, 11000);
        check_int("in the end", left_of(fixture, "low", 1), 0);
        node_fixture_free(fixture);
    }
}

/* In a full queue no event tells the end of the cooldown; only a timer does. */
static void full_queue_is_retried_when_a_cooldown_ends(void **state)
{
    struct node_fixture *fixture = set_up(4, 8);

    queue(fixture, "small", "'capability':{'cpu':'2'}");
    for (int i = 0; i < 2; i++) {
        node_fixture_group(fixture, i ? "b" : "a", 1,
                           ",'queue':'small','minResources':{'cpu':'1'}");
        node_fixture_settle(fixture);
        cooling_pod(fixture, i ? "b" : "a", i ? "40s" : "20s");
        run_pods(fixture, i ? "b" : "a", 0, 1);
    }
    node_fixture_group(fixture, "vip", 2, ",'queue':'small','minResources':{'cpu':'2'}" HIGH);
    node_fixture_advance(fixture, 30000);
    check_int("one would not do", left_of(fixture, "a", 1) + left_of(fixture, "b", 1), 2);
    node_fixture_advance(fixture, 11000);
    check_int("both together", left_of(fixture, "a", 1) + left_of(fixture, "b", 1), 0);
    check_metric(fixture->loop,
                 "jobflow_scheduler_evictions_total{queue=\"small\",reason=\"Preempted\"} 2");
    node_fixture_free(fixture);
}

static void waiting_time_is_measured_by_queue(void **state)
{
    struct node_fixture *fixture = set_up(2, 8);

    running(fixture, "first", 2, 2, TWO_CPU, false);
    node_fixture_group(fixture, "second", 2, TWO_CPU);
    node_fixture_advance(fixture, 20000);
    check_metric(fixture->loop, "volcano_queue_pod_group_pending_count{queue_name=\"default\"} 1");
    check_metric(fixture->loop, "volcano_queue_pod_group_running_count{queue_name=\"default\"} 1");
    node_fixture_delete(fixture, &kind_pod, "first-0", 0);
    node_fixture_delete(fixture, &kind_pod, "first-1", 0);
    node_fixture_delete(fixture, &kind_pod_group, "first", 0);
    node_fixture_settle(fixture);
    check_metric(fixture->loop, "volcano_queue_pod_group_pending_count{queue_name=\"default\"} 0");
    check_metric(fixture->loop, "volcano_queue_pod_group_inqueue_count{queue_name=\"default\"} 1");
    check_metric(fixture->loop,
                 "jobflow_scheduler_queue_wait_seconds_bucket{queue=\"default\",le=\"10\"} 1");
    check_metric(fixture->loop,
                 "jobflow_scheduler_queue_wait_seconds_bucket{queue=\"default\",le=\"30\"} 2");
    check_metric(fixture->loop, "jobflow_scheduler_gangs_admitted_total{queue=\"default\"} 2");
    node_fixture_free(fixture);
}

static void gang_is_never_evicted_in_part(void **state)
{
    struct node_fixture *fixture = set_up(4, 8);

    running(fixture, "low", 4, 4, FOUR_CPU, true);
    node_fixture_group(fixture, "vip", 1, ONE_CPU HIGH);
    node_fixture_settle(fixture);
    check_int("all or nothing", left_of(fixture, "low", 4), 0);
    node_fixture_free(fixture);
}

static void queue_reclaims_its_deserved_capacity(void **state)
{
    struct node_fixture *fixture = set_up(4, 8);

    queue(fixture, "mine", "'deserved':{'cpu':'2'}");
    queue(fixture, "fixed", "'reclaimable':false");
    running(fixture, "kept", 1, 1, ",'queue':'fixed','minResources':{'cpu':'1'}", true);
    running(fixture, "guest", 1, 3, ONE_CPU, true);
    node_fixture_group(fixture, "owner", 2, ",'queue':'mine','minResources':{'cpu':'2'}");
    node_fixture_settle(fixture);
    check_int("from the queue that may be asked", left_of(fixture, "guest", 3), 1);
    check_int("not from the other", left_of(fixture, "kept", 1), 1);
    node_fixture_delete(fixture, &kind_pod, "guest-1", 0);
    node_fixture_delete(fixture, &kind_pod, "guest-2", 0);
    node_fixture_delete(fixture, &kind_pod, "guest-0", 0);
    node_fixture_settle(fixture);
    check_str("it has it", node_fixture_group_phase(fixture, "owner"), ADMITTED);
    node_fixture_group(fixture, "more", 1, ",'queue':'mine','minResources':{'cpu':'2'}");
    running(fixture, "guest2", 1, 1, ONE_CPU, true);
    node_fixture_settle(fixture);
    check_int("not more than it deserves", left_of(fixture, "guest2", 1), 1);
    node_fixture_free(fixture);
}

static void job_of_gang(struct node_fixture *fixture, const char *name)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'%s',"
        "'namespace':'default','annotations':{'volcano.sh/jobFlowGang':'default.f.train'}},"
        "'spec':{'tasks':[{'name':'t','replicas':2,'template':{'spec':{'restartPolicy':"
        "'Never','containers':[{'name':'c','image':'i','command':['true']}]}}}]}}",
        name);
}

static void group_of_gang(struct node_fixture *fixture, const char *name, const char *queue)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{"
        "'name':'%s','namespace':'default','annotations':{'volcano.sh/jobFlowGang':"
        "'default.f.train'},'ownerReferences':[{'apiVersion':'batch.volcano.sh/v1alpha1',"
        "'kind':'Job','name':'%s','uid':'%s','controller':true}]},'spec':{'minMember':2,"
        "'queue':'%s'}}",
        name, name, object_uid(node_fixture_get(fixture, &kind_job, name)), queue);
    node_fixture_settle(fixture);
}

/* covers: jobflow.md 174 */
static void jobs_of_a_gang_are_admitted_all_or_none(void **state)
{
    struct node_fixture *fixture = set_up(8, 4);

    queue(fixture, "other", "'weight':1");
    running(fixture, "hold", 2, 2, NULL, false);
    job_of_gang(fixture, "a");
    job_of_gang(fixture, "b");
    group_of_gang(fixture, "a", "default");
    node_fixture_advance(fixture, 100);
    check_str("it would fit", node_fixture_group_phase(fixture, "a"), PENDING);
    check_has("but not without the other", node_fixture_status(fixture, &kind_pod_group, "a"),
              "waits for the other jobs of gang default/default.f.train");
    group_of_gang(fixture, "b", "other");
    node_fixture_advance(fixture, 1500);
    check_str("one of them fits", node_fixture_group_phase(fixture, "a"), PENDING);
    check_str("so none is admitted", node_fixture_group_phase(fixture, "b"), PENDING);
    check_has("and that is said", node_fixture_status(fixture, &kind_pod_group, "a"),
              "needs 4 pods (2 of 4 free)");
    node_fixture_set_status(fixture, &kind_pod, "hold-0", "{'phase':'Succeeded'}");
    node_fixture_set_status(fixture, &kind_pod, "hold-1", "{'phase':'Succeeded'}");
    node_fixture_settle(fixture);
    check_str("both fit", node_fixture_group_phase(fixture, "a"), ADMITTED);
    check_str("in either queue", node_fixture_group_phase(fixture, "b"), ADMITTED);
    node_fixture_delete(fixture, &kind_pod_group, "a", -1);
    group_of_gang(fixture, "a", "default");
    check_str("a restarted job is admitted alone", node_fixture_group_phase(fixture, "a"),
              ADMITTED);
    node_fixture_free(fixture);
}

/* Creates a job of gang "few", two of which start together, and its PodGroup for `pods` pods. */
static void job_of_few(struct node_fixture *fixture, const char *name, int pods, const char *queue)
{
    static const char gang[] = "'annotations':{'volcano.sh/jobFlowGang':'default.f.few',"
                               "'volcano.sh/jobFlowGangMinAvailable':'2'}";

    node_fixture_create(
        fixture,
        "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'%s',"
        "'namespace':'default',%s},'spec':{'tasks':[{'name':'t','replicas':%d,'template':"
        "{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':"
        "['true']}]}}}]}}",
        name, gang, pods);
    node_fixture_create(
        fixture,
        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{"
        "'name':'%s','namespace':'default',%s,'ownerReferences':[{'apiVersion':"
        "'batch.volcano.sh/v1alpha1','kind':'Job','name':'%s','uid':'%s','controller':"
        "true}]},'spec':{'minMember':%d,'queue':'%s'}}",
        name, gang, name, object_uid(node_fixture_get(fixture, &kind_job, name)), pods, queue);
}

/* covers: jobflow.md 174; see 13.6: minAvailable is below the number of members */
static void gang_starts_when_min_available_jobs_fit(void **state)
{
    struct node_fixture *fixture = set_up(8, 4);

    running(fixture, "hold", 1, 1, NULL, false);
    job_of_few(fixture, "a", 2, "default");
    job_of_few(fixture, "b", 2, "default");
    job_of_few(fixture, "c", 2, "default");
    node_fixture_advance(fixture, 1500);
    check_str("two need four", node_fixture_group_phase(fixture, "a"), PENDING);
    check_has("of three", node_fixture_status(fixture, &kind_pod_group, "a"),
              "needs 4 pods (3 of 4 free)");
    node_fixture_set_status(fixture, &kind_pod, "hold-0", "{'phase':'Succeeded'}");
    node_fixture_settle(fixture);
    check_int("two of them have started",
              (strcmp(node_fixture_group_phase(fixture, "a"), ADMITTED) == 0) +
                  (strcmp(node_fixture_group_phase(fixture, "b"), ADMITTED) == 0) +
                  (strcmp(node_fixture_group_phase(fixture, "c"), ADMITTED) == 0),
              2);
    node_fixture_free(fixture);
}

static void smallest_jobs_of_a_gang_start_first(void **state)
{
    struct node_fixture *fixture = set_up(8, 5);

    job_of_few(fixture, "big", 4, "default");
    job_of_few(fixture, "a", 2, "default");
    job_of_few(fixture, "b", 1, "default");
    node_fixture_advance(fixture, 1500);
    check_str("small", node_fixture_group_phase(fixture, "a"), ADMITTED);
    check_str("smaller", node_fixture_group_phase(fixture, "b"), ADMITTED);
    check_str("the rest follows when it fits", node_fixture_group_phase(fixture, "big"), PENDING);
    node_fixture_set_status(fixture, &kind_job, "a", "{'state':{'phase':'Completed'}}");
    node_fixture_delete(fixture, &kind_pod_group, "a", -1);
    node_fixture_settle(fixture);
    check_str("alone", node_fixture_group_phase(fixture, "big"), ADMITTED);
    node_fixture_free(fixture);
}

static void gang_starts_without_a_job_in_a_closed_queue(void **state)
{
    struct node_fixture *fixture = set_up(8, 8);

    queue(fixture, "other", "'weight':1");
    job_of_few(fixture, "a", 1, "other");
    node_fixture_set_status(fixture, &kind_queue, "other", "{'state':'Closed'}");
    job_of_few(fixture, "b", 2, "default");
    node_fixture_settle(fixture);
    check_str("one is not enough", node_fixture_group_phase(fixture, "b"), NOT_YET);
    job_of_few(fixture, "c", 2, "default");
    node_fixture_settle(fixture);
    check_str("two are", node_fixture_group_phase(fixture, "b"), ADMITTED);
    check_str("both", node_fixture_group_phase(fixture, "c"), ADMITTED);
    node_fixture_set_status(fixture, &kind_queue, "other", "{'state':'Open'}");
    node_fixture_settle(fixture);
    check_str("the third follows", node_fixture_group_phase(fixture, "a"), ADMITTED);
    node_fixture_free(fixture);
}

static void gang_waits_until_the_queue_of_each_job_is_open(void **state)
{
    struct node_fixture *fixture = set_up(8, 4);

    queue(fixture, "other", "'weight':1");
    job_of_gang(fixture, "a");
    job_of_gang(fixture, "b");
    group_of_gang(fixture, "b", "other");
    node_fixture_set_status(fixture, &kind_queue, "other", "{'state':'Closed'}");
    node_fixture_settle(fixture);
    group_of_gang(fixture, "a", "default");
    check_str("not this one either", node_fixture_group_phase(fixture, "a"), NOT_YET);
    node_fixture_set_status(fixture, &kind_queue, "other", "{'state':'Open'}");
    node_fixture_settle(fixture);
    check_str("now both", node_fixture_group_phase(fixture, "a"), ADMITTED);
    check_str("now both", node_fixture_group_phase(fixture, "b"), ADMITTED);
    node_fixture_free(fixture);
}

static void finished_job_does_not_hold_back_its_gang(void **state)
{
    struct node_fixture *fixture = set_up(8, 4);

    job_of_gang(fixture, "a");
    job_of_gang(fixture, "b");
    group_of_gang(fixture, "a", "default");
    check_str("waits for b", node_fixture_group_phase(fixture, "a"), NOT_YET);
    node_fixture_set_status(fixture, &kind_job, "b", "{'state':{'phase':'Failed'}}");
    node_fixture_settle(fixture);
    check_str("admitted alone", node_fixture_group_phase(fixture, "a"), ADMITTED);
    node_fixture_free(fixture);
}

static void job_deleted_right_after_a_restart_does_not_hold_back_its_gang(void **state)
{
    const struct kv labels[] = {{"kubernetes.io/hostname", "here"}};
    const struct scheduler_node here = {"here", {4000, 8LL << 30, 8}, labels, 1};
    struct node_fixture *fixture = node_fixture_new();

    job_of_gang(fixture, "a");
    job_of_gang(fixture, "b");
    group_of_gang(fixture, "a", "default");
    fixture->scheduler =
        scheduler_start(fixture->cluster, &(struct scheduler_options){&here, 1, {.count = 0}});
    node_fixture_delete(fixture, &kind_job, "b", -1);
    node_fixture_settle(fixture);
    check_str("admitted alone", node_fixture_group_phase(fixture, "a"), ADMITTED);
    node_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_gang_is_passed_for_a_while_then_capacity_is_kept_for_it),
        cmocka_unit_test(queues_waiting_for_capacity_do_not_block_other_queues_at_once),
        cmocka_unit_test(extra_members_of_groups_share_capacity_evenly),
        cmocka_unit_test(gang_precedes_extra_members_of_other_groups),
        cmocka_unit_test(guaranteed_capacity_is_kept_for_the_queue),
        cmocka_unit_test(guarantee_of_a_child_queue_counts_for_its_parent),
        cmocka_unit_test(gang_of_higher_priority_preempts_the_youngest_of_lowest_priority),
        cmocka_unit_test(a_claim_ends_when_the_evicted_pods_were_not_enough),
        cmocka_unit_test(the_lowest_priority_is_preempted_first),
        cmocka_unit_test(of_a_group_the_pods_that_allow_it_are_evicted),
        cmocka_unit_test(extra_members_are_preempted_before_gangs),
        cmocka_unit_test(pods_that_are_not_preemptable_are_not_evicted),
        cmocka_unit_test(running_pod_is_not_evicted_during_its_cooldown_time),
        cmocka_unit_test(full_queue_is_retried_when_a_cooldown_ends),
        cmocka_unit_test(waiting_time_is_measured_by_queue),
        cmocka_unit_test(gang_is_never_evicted_in_part),
        cmocka_unit_test(queue_reclaims_its_deserved_capacity),
        cmocka_unit_test(gang_starts_when_min_available_jobs_fit),
        cmocka_unit_test(smallest_jobs_of_a_gang_start_first),
        cmocka_unit_test(gang_starts_without_a_job_in_a_closed_queue),
        cmocka_unit_test(jobs_of_a_gang_are_admitted_all_or_none),
        cmocka_unit_test(gang_waits_until_the_queue_of_each_job_is_open),
        cmocka_unit_test(finished_job_does_not_hold_back_its_gang),
        cmocka_unit_test(job_deleted_right_after_a_restart_does_not_hold_back_its_gang),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
