/*
 * Who goes first: passing a large gang and keeping room for it, sharing beyond the gangs,
 * guarantees, and pushing out.
 */
#include "tests/unit.h"

#include "api/types/kinds/scheduling/podgroup.h"
#include "node/scheduler/scheduler.h"
#include "tests/support/figures.h"
#include "tests/support/node_fixture.h"

enum { GIB = 1 << 30 };

static struct rig *set_up(int64_t cpus, int64_t pods)
{
    struct rig *rig = rig_new();

    rig_start_scheduler(rig, (struct amount){cpus * 1000, 8LL * GIB, pods, {0}});
    rig_create(rig, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                    "'metadata':{'name':'high'},'value':1000}");
    rig_create(rig, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                    "'metadata':{'name':'polite'},'value':1000,'preemptionPolicy':'Never'}");
    rig_settle(rig);
    return rig;
}

static void queue(struct rig *rig, const char *name, const char *spec)
{
    rig_create(rig,
               "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
               "'metadata':{'name':'%s'},'spec':{%s}}",
               name, spec);
    rig_settle(rig);
}

/* Pods `from` … `to` of a group, one cpu each, that may be pushed out or not. */
static void pods(struct rig *rig, const char *group, int from, int to, bool preemptable)
{
    for (int i = from; i < to; i++)
        rig_create(rig,
                   "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%d','namespace':"
                   "'default','annotations':{'scheduling.k8s.io/group-name':'%s',"
                   "'volcano.sh/preemptable':'%s'}},'spec':{'restartPolicy':'Never',"
                   "'containers':[{'name':'c','image':'i','command':['true'],'resources':{"
                   "'requests':{'cpu':'1'}}}]}}",
                   group, i, group, preemptable ? "true" : "false");
    rig_settle(rig);
}

static void run_pods(struct rig *rig, const char *group, int from, int to)
{
    for (int i = from; i < to; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s-%d", group, i);
        rig_set_status(rig, &kind_pod, name, "{'phase':'Running'}");
    }
    rig_settle(rig);
}

/* A gang that has its places and runs. */
static void running(struct rig *rig, const char *name, int min, int n, const char *spec,
                    bool preemptable)
{
    rig_group(rig, name, min, spec);
    rig_settle(rig);
    check_str(name, rig_group_phase(rig, name), "Inqueue");
    pods(rig, name, 0, n, preemptable);
    run_pods(rig, name, 0, n);
}

static int left_of(struct rig *rig, const char *group, int n)
{
    int left = 0;

    for (int i = 0; i < n; i++) {
        char name[64];
        const struct object *pod;

        snprintf(name, sizeof name, "%s-%d", group, i);
        pod = rig_get(rig, &kind_pod, name);
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

static void a_large_gang_lets_others_pass_for_a_while_and_then_keeps_its_room(void **state)
{
    struct rig *rig = set_up(8, 4);

    running(rig, "s0", 1, 1, NULL, false);
    rig_group(rig, "big", 4, NULL);
    rig_settle(rig);
    running(rig, "s1", 1, 1, NULL, false);
    rig_advance(rig, 11000);
    rig_group(rig, "s2", 1, NULL);
    rig_settle(rig);
    check_str("the time of passing is over", rig_group_phase(rig, "s2"), NOT_YET);
    rig_set_status(rig, &kind_pod, "s0-0", "{'phase':'Succeeded'}");
    rig_advance(rig, 100);
    check_str("three are free, but not for s2", rig_group_phase(rig, "s2"), NOT_YET);
    check_str("nor enough for the gang", rig_group_phase(rig, "big"), PENDING);
    rig_set_status(rig, &kind_pod, "s1-0", "{'phase':'Succeeded'}");
    rig_settle(rig);
    check_str("the gang has waited least long possible", rig_group_phase(rig, "big"), ADMITTED);
    rig_free(rig);
}

static void queues_that_wait_for_the_node_do_not_hold_other_queues_at_once(void **state)
{
    struct rig *rig = set_up(8, 4);

    queue(rig, "a", "'dequeueStrategy':'fifo'");
    queue(rig, "b", "'weight':1");
    running(rig, "s0", 1, 1, ",'queue':'a'", false);
    rig_group(rig, "big", 4, ",'queue':'a'");
    rig_group(rig, "small", 1, ",'queue':'a'");
    rig_group(rig, "other", 1, ",'queue':'b'");
    rig_settle(rig);
    check_str("the first of a fifo queue is not passed in it", rig_group_phase(rig, "small"),
              NOT_YET);
    check_str("the other queue goes on", rig_group_phase(rig, "other"), ADMITTED);
    rig_advance(rig, 11000);
    rig_group(rig, "late", 1, ",'queue':'b'");
    rig_settle(rig);
    check_str("until the gang has waited long enough", rig_group_phase(rig, "late"), NOT_YET);
    rig_free(rig);
}

static void beyond_their_gangs_groups_share_evenly(void **state)
{
    struct rig *rig = set_up(8, 16);
    int a = 0, b = 0;

    running(rig, "a", 1, 1, NULL, false);
    running(rig, "b", 1, 1, NULL, false);
    running(rig, "hold", 6, 6, ",'minResources':{'cpu':'6'}", false);
    pods(rig, "a", 1, 8, false);
    pods(rig, "b", 1, 8, false);
    for (int i = 0; i < 6; i++) {
        char name[16];

        snprintf(name, sizeof name, "hold-%d", i);
        rig_set_status(rig, &kind_pod, name, "{'phase':'Succeeded'}");
        rig_settle(rig);
    }
    for (int i = 0; i < 8; i++) {
        char name[16];

        snprintf(name, sizeof name, "a-%d", i);
        a += rig_bound(rig, name);
        snprintf(name, sizeof name, "b-%d", i);
        b += rig_bound(rig, name);
    }
    check("as many of the one as of the other", a - b <= 1 && b - a <= 1);
    check("all there is", a + b >= 8);
    rig_free(rig);
}

static void a_gang_comes_before_what_goes_beyond_another(void **state)
{
    struct rig *rig = set_up(4, 4);

    running(rig, "old", 1, 1, NULL, false);
    running(rig, "hold", 3, 3, ",'minResources':{'cpu':'3'}", false);
    rig_group(rig, "new", 2, TWO_CPU);
    rig_settle(rig);
    pods(rig, "old", 1, 8, false);
    for (int i = 0; i < 2; i++) {
        char name[16];

        snprintf(name, sizeof name, "hold-%d", i);
        rig_set_status(rig, &kind_pod, name, "{'phase':'Succeeded'}");
    }
    rig_settle(rig);
    check_str("the gang", rig_group_phase(rig, "new"), ADMITTED);
    check("not the older group's surplus", !rig_bound(rig, "old-1"));
    rig_free(rig);
}

static void what_a_queue_is_guaranteed_is_kept_for_it(void **state)
{
    struct rig *rig = set_up(4, 8);

    queue(rig, "own", "'deserved':{'cpu':'2'},'guarantee':{'resource':{'cpu':'2'}}");
    rig_group(rig, "a", 1, TWO_CPU);
    rig_group(rig, "b", 1, ONE_CPU);
    rig_settle(rig);
    check_str("two of four are free for all", rig_group_phase(rig, "a"), ADMITTED);
    check_str("the others are kept", rig_group_phase(rig, "b"), NOT_YET);
    rig_advance(rig, 1500);
    check_has("and that is said", rig_status(rig, &kind_pod_group, "b"),
              "needs 1 cpu (0 of 4 free)");
    rig_advance(rig, 11000);
    rig_group(rig, "mine", 1, ",'queue':'own','minResources':{'cpu':'1'}");
    rig_settle(rig);
    check_str("whoever waits elsewhere", rig_group_phase(rig, "mine"), ADMITTED);
    check_str("nobody else", rig_group_phase(rig, "b"), PENDING);
    rig_patch(rig, &kind_queue, "own", "{'spec':{'guarantee':{'resource':{'cpu':'1'}}}}");
    rig_settle(rig);
    check_str("less is kept", rig_group_phase(rig, "b"), ADMITTED);
    rig_free(rig);
}

static void a_guarantee_below_counts_for_the_parent(void **state)
{
    struct rig *rig = set_up(4, 8);

    queue(rig, "up", "'deserved':{'cpu':'3'},'guarantee':{'resource':{'cpu':'3'}}");
    queue(rig, "down", "'parent':'up','deserved':{'cpu':'2'},'guarantee':{'resource':{'cpu':'2'}}");
    rig_group(rig, "a", 1, TWO_CPU);
    rig_group(rig, "b", 1, ONE_CPU);
    rig_settle(rig);
    check_str("three are kept, not five", rig_group_phase(rig, "b"), ADMITTED);
    check_str("three are kept, not two", rig_group_phase(rig, "a"), NOT_YET);
    rig_group(rig, "below", 1, ",'queue':'down','minResources':{'cpu':'3'}");
    rig_settle(rig);
    check_str("the parent's guarantee serves the child", rig_group_phase(rig, "below"), ADMITTED);
    rig_free(rig);
}

static void a_gang_of_higher_priority_pushes_out_the_youngest_of_the_lowest(void **state)
{
    struct rig *rig = set_up(4, 8);

    running(rig, "old", 2, 2, TWO_CPU, true);
    running(rig, "young", 2, 2, TWO_CPU, true);
    rig_group(rig, "vip", 2, TWO_CPU HIGH);
    rig_settle(rig);
    check_int("the young gang goes, whole", left_of(rig, "young", 2), 0);
    check_int("the old one stays", left_of(rig, "old", 2), 2);
    check_str("room is not free before they have ended", rig_group_phase(rig, "vip"), NOT_YET);
    rig_advance(rig, 1500);
    check_has("and that is what it waits for", rig_status(rig, &kind_pod_group, "vip"),
              "waits for 2 pods to end that are pushed out");
    rig_group(rig, "sneak", 1, ONE_CPU);
    rig_delete(rig, &kind_pod, "young-0", 0);
    rig_settle(rig);
    check_str("nobody else takes it", rig_group_phase(rig, "sneak"), NOT_YET);
    rig_delete(rig, &kind_pod, "young-1", 0);
    rig_settle(rig);
    check_str("now it has it", rig_group_phase(rig, "vip"), ADMITTED);
    pods(rig, "vip", 0, 2, false);
    check("and uses it", rig_bound(rig, "vip-0") && rig_bound(rig, "vip-1"));
    rig_free(rig);
}

static void pods_beyond_a_gang_go_before_gangs(void **state)
{
    struct rig *rig = set_up(4, 8);

    running(rig, "wide", 1, 3, ONE_CPU, true);
    running(rig, "gang", 1, 1, ONE_CPU, true);
    rig_group(rig, "vip", 2, TWO_CPU HIGH);
    rig_settle(rig);
    check_int("two beyond its minimum", left_of(rig, "wide", 3), 1);
    check_int("the gang stays", left_of(rig, "gang", 1), 1);
    rig_free(rig);
}

static void who_may_not_be_pushed_out_is_not(void **state)
{
    static const struct {
        const char *name, *vip;
        bool preemptable;
    } cases[] = {
        {"pods that do not allow it", TWO_CPU HIGH, false},
        {"the same priority", TWO_CPU, true},
        {"a class that never does", TWO_CPU ",'priorityClassName':'polite'", true},
        {"it would not be enough", ",'queue':'other','minResources':{'cpu':'2'}" HIGH, true},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct rig *rig = set_up(4, 8);

        queue(rig, "other", "'weight':1");
        running(rig, "low", 4, 4, FOUR_CPU, cases[i].preemptable);
        rig_group(rig, "vip", 2, cases[i].vip);
        rig_settle(rig);
        check_int(cases[i].name, left_of(rig, "low", 4), 4);
        rig_free(rig);
    }
}

static void cooling_pod(struct rig *rig, const char *name, const char *cooldown)
{
    rig_create(rig,
               "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-0','namespace':'default',"
               "'labels':{'volcano.sh/preemptable':'true','volcano.sh/cooldown-time':'%s'},"
               "'annotations':{'scheduling.k8s.io/group-name':'%s'}},'spec':{'restartPolicy':"
               "'Never','containers':[{'name':'c','image':'i','command':['true'],'resources':{"
               "'requests':{'cpu':'1'}}}]}}",
               name, cooldown, name);
    rig_settle(rig);
}

/* Ref: Volcano docs/design/cooldown-protection-plugin.md */
static void what_has_just_begun_is_left_alone_for_its_cooldown_time(void **state)
{
    static const struct {
        const char *cooldown;
        bool runs, goes_at_once;
    } cases[] = {
        {"60s", true, false}, {"60s", false, true}, {"sixty", true, true}, {"0", true, true}};

    for (size_t i = 0; i < countof(cases); i++) {
        struct rig *rig = set_up(2, 8);

        rig_group(rig, "low", 1, ONE_CPU);
        rig_settle(rig);
        cooling_pod(rig, "low", cases[i].cooldown);
        if (cases[i].runs)
            run_pods(rig, "low", 0, 1);
        rig_group(rig, "vip", 2, TWO_CPU HIGH);
        rig_advance(rig, 50000);
        check_int(cases[i].cooldown, left_of(rig, "low", 1), cases[i].goes_at_once ? 0 : 1);
        rig_advance(rig, 11000);
        check_int("in the end", left_of(rig, "low", 1), 0);
        rig_free(rig);
    }
}

/* In a queue that is full nothing but the time tells that there is something to do. */
static void a_full_queue_is_looked_at_again_when_the_cooldown_is_over(void **state)
{
    struct rig *rig = set_up(4, 8);

    queue(rig, "small", "'capability':{'cpu':'2'}");
    for (int i = 0; i < 2; i++) {
        rig_group(rig, i ? "b" : "a", 1, ",'queue':'small','minResources':{'cpu':'1'}");
        rig_settle(rig);
        cooling_pod(rig, i ? "b" : "a", i ? "40s" : "20s");
        run_pods(rig, i ? "b" : "a", 0, 1);
    }
    rig_group(rig, "vip", 2, ",'queue':'small','minResources':{'cpu':'2'}" HIGH);
    rig_advance(rig, 30000);
    check_int("one would not do", left_of(rig, "a", 1) + left_of(rig, "b", 1), 2);
    rig_advance(rig, 11000);
    check_int("both together", left_of(rig, "a", 1) + left_of(rig, "b", 1), 0);
    check_figure(rig->loop,
                 "jobflow_scheduler_evictions_total{queue=\"small\",reason=\"Preempted\"} 2");
    rig_free(rig);
}

static void waits_are_measured_by_queue(void **state)
{
    struct rig *rig = set_up(2, 8);

    running(rig, "first", 2, 2, TWO_CPU, false);
    rig_group(rig, "second", 2, TWO_CPU);
    rig_advance(rig, 20000);
    check_figure(rig->loop, "volcano_queue_pod_group_pending_count{queue_name=\"default\"} 1");
    check_figure(rig->loop, "volcano_queue_pod_group_running_count{queue_name=\"default\"} 1");
    rig_delete(rig, &kind_pod, "first-0", 0);
    rig_delete(rig, &kind_pod, "first-1", 0);
    rig_delete(rig, &kind_pod_group, "first", 0);
    rig_settle(rig);
    check_figure(rig->loop, "volcano_queue_pod_group_pending_count{queue_name=\"default\"} 0");
    check_figure(rig->loop, "volcano_queue_pod_group_inqueue_count{queue_name=\"default\"} 1");
    check_figure(rig->loop,
                 "jobflow_scheduler_queue_wait_seconds_bucket{queue=\"default\",le=\"10\"} 1");
    check_figure(rig->loop,
                 "jobflow_scheduler_queue_wait_seconds_bucket{queue=\"default\",le=\"30\"} 2");
    check_figure(rig->loop, "jobflow_scheduler_gangs_admitted_total{queue=\"default\"} 2");
    rig_free(rig);
}

static void half_a_gang_is_never_pushed_out(void **state)
{
    struct rig *rig = set_up(4, 8);

    running(rig, "low", 4, 4, FOUR_CPU, true);
    rig_group(rig, "vip", 1, ONE_CPU HIGH);
    rig_settle(rig);
    check_int("all or nothing", left_of(rig, "low", 4), 0);
    rig_free(rig);
}

static void a_queue_gets_back_what_it_deserves(void **state)
{
    struct rig *rig = set_up(4, 8);

    queue(rig, "mine", "'deserved':{'cpu':'2'}");
    queue(rig, "fixed", "'reclaimable':false");
    running(rig, "kept", 1, 1, ",'queue':'fixed','minResources':{'cpu':'1'}", true);
    running(rig, "guest", 1, 3, ONE_CPU, true);
    rig_group(rig, "owner", 2, ",'queue':'mine','minResources':{'cpu':'2'}");
    rig_settle(rig);
    check_int("from the queue that may be asked", left_of(rig, "guest", 3), 1);
    check_int("not from the other", left_of(rig, "kept", 1), 1);
    rig_delete(rig, &kind_pod, "guest-1", 0);
    rig_delete(rig, &kind_pod, "guest-2", 0);
    rig_delete(rig, &kind_pod, "guest-0", 0);
    rig_settle(rig);
    check_str("it has it", rig_group_phase(rig, "owner"), ADMITTED);
    rig_group(rig, "more", 1, ",'queue':'mine','minResources':{'cpu':'2'}");
    running(rig, "guest2", 1, 1, ONE_CPU, true);
    rig_settle(rig);
    check_int("not more than it deserves", left_of(rig, "guest2", 1), 1);
    rig_free(rig);
}

static void job_of_gang(struct rig *rig, const char *name)
{
    rig_create(rig,
               "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'%s',"
               "'namespace':'default','annotations':{'volcano.sh/jobFlowGang':'default.f.train'}},"
               "'spec':{'tasks':[{'name':'t','replicas':2,'template':{'spec':{'restartPolicy':"
               "'Never','containers':[{'name':'c','image':'i','command':['true']}]}}}]}}",
               name);
}

static void group_of_gang(struct rig *rig, const char *name, const char *queue)
{
    rig_create(rig,
               "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{"
               "'name':'%s','namespace':'default','annotations':{'volcano.sh/jobFlowGang':"
               "'default.f.train'},'ownerReferences':[{'apiVersion':'batch.volcano.sh/v1alpha1',"
               "'kind':'Job','name':'%s','uid':'%s','controller':true}]},'spec':{'minMember':2,"
               "'queue':'%s'}}",
               name, name, object_uid(rig_get(rig, &kind_job, name)), queue);
    rig_settle(rig);
}

/* covers: jobflow.md 174 */
static void the_jobs_of_a_gang_are_admitted_all_or_none(void **state)
{
    struct rig *rig = set_up(8, 4);

    queue(rig, "other", "'weight':1");
    running(rig, "hold", 2, 2, NULL, false);
    job_of_gang(rig, "a");
    job_of_gang(rig, "b");
    group_of_gang(rig, "a", "default");
    rig_advance(rig, 100);
    check_str("there is room for it", rig_group_phase(rig, "a"), PENDING);
    check_has("but not without the other", rig_status(rig, &kind_pod_group, "a"),
              "waits for the other jobs of gang default/default.f.train");
    group_of_gang(rig, "b", "other");
    rig_advance(rig, 1500);
    check_str("room for one of them", rig_group_phase(rig, "a"), PENDING);
    check_str("is room for none", rig_group_phase(rig, "b"), PENDING);
    check_has("and that is said", rig_status(rig, &kind_pod_group, "a"),
              "needs 4 pods (2 of 4 free)");
    rig_set_status(rig, &kind_pod, "hold-0", "{'phase':'Succeeded'}");
    rig_set_status(rig, &kind_pod, "hold-1", "{'phase':'Succeeded'}");
    rig_settle(rig);
    check_str("room for both", rig_group_phase(rig, "a"), ADMITTED);
    check_str("in either queue", rig_group_phase(rig, "b"), ADMITTED);
    rig_delete(rig, &kind_pod_group, "a", -1);
    group_of_gang(rig, "a", "default");
    check_str("who starts again is alone", rig_group_phase(rig, "a"), ADMITTED);
    rig_free(rig);
}

/* A job of gang "few", of which two start together, and its PodGroup of so many pods. */
static void job_of_few(struct rig *rig, const char *name, int pods, const char *queue)
{
    static const char gang[] = "'annotations':{'volcano.sh/jobFlowGang':'default.f.few',"
                               "'volcano.sh/jobFlowGangMinAvailable':'2'}";

    rig_create(rig,
               "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'%s',"
               "'namespace':'default',%s},'spec':{'tasks':[{'name':'t','replicas':%d,'template':"
               "{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i','command':"
               "['true']}]}}}]}}",
               name, gang, pods);
    rig_create(rig,
               "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{"
               "'name':'%s','namespace':'default',%s,'ownerReferences':[{'apiVersion':"
               "'batch.volcano.sh/v1alpha1','kind':'Job','name':'%s','uid':'%s','controller':"
               "true}]},'spec':{'minMember':%d,'queue':'%s'}}",
               name, gang, name, object_uid(rig_get(rig, &kind_job, name)), pods, queue);
}

/* covers: jobflow.md 174; see 13.6: minAvailable is below the number of members */
static void a_gang_starts_when_enough_of_it_have_room(void **state)
{
    struct rig *rig = set_up(8, 4);

    running(rig, "hold", 1, 1, NULL, false);
    job_of_few(rig, "a", 2, "default");
    job_of_few(rig, "b", 2, "default");
    job_of_few(rig, "c", 2, "default");
    rig_advance(rig, 1500);
    check_str("two need four", rig_group_phase(rig, "a"), PENDING);
    check_has("of three", rig_status(rig, &kind_pod_group, "a"), "needs 4 pods (3 of 4 free)");
    rig_set_status(rig, &kind_pod, "hold-0", "{'phase':'Succeeded'}");
    rig_settle(rig);
    check_int("two of them have started",
              (strcmp(rig_group_phase(rig, "a"), ADMITTED) == 0) +
                  (strcmp(rig_group_phase(rig, "b"), ADMITTED) == 0) +
                  (strcmp(rig_group_phase(rig, "c"), ADMITTED) == 0),
              2);
    rig_free(rig);
}

static void those_that_start_a_gang_are_its_smallest(void **state)
{
    struct rig *rig = set_up(8, 5);

    job_of_few(rig, "big", 4, "default");
    job_of_few(rig, "a", 2, "default");
    job_of_few(rig, "b", 1, "default");
    rig_advance(rig, 1500);
    check_str("small", rig_group_phase(rig, "a"), ADMITTED);
    check_str("smaller", rig_group_phase(rig, "b"), ADMITTED);
    check_str("the rest follows when there is room", rig_group_phase(rig, "big"), PENDING);
    rig_set_status(rig, &kind_job, "a", "{'state':{'phase':'Completed'}}");
    rig_delete(rig, &kind_pod_group, "a", -1);
    rig_settle(rig);
    check_str("alone", rig_group_phase(rig, "big"), ADMITTED);
    rig_free(rig);
}

static void a_gang_starts_without_the_one_whose_queue_is_closed(void **state)
{
    struct rig *rig = set_up(8, 8);

    queue(rig, "other", "'weight':1");
    job_of_few(rig, "a", 1, "other");
    rig_set_status(rig, &kind_queue, "other", "{'state':'Closed'}");
    job_of_few(rig, "b", 2, "default");
    rig_settle(rig);
    check_str("one is not enough", rig_group_phase(rig, "b"), NOT_YET);
    job_of_few(rig, "c", 2, "default");
    rig_settle(rig);
    check_str("two are", rig_group_phase(rig, "b"), ADMITTED);
    check_str("both", rig_group_phase(rig, "c"), ADMITTED);
    rig_set_status(rig, &kind_queue, "other", "{'state':'Open'}");
    rig_settle(rig);
    check_str("the third follows", rig_group_phase(rig, "a"), ADMITTED);
    rig_free(rig);
}

static void a_gang_of_jobs_waits_for_the_open_queue_of_each(void **state)
{
    struct rig *rig = set_up(8, 4);

    queue(rig, "other", "'weight':1");
    job_of_gang(rig, "a");
    job_of_gang(rig, "b");
    group_of_gang(rig, "b", "other");
    rig_set_status(rig, &kind_queue, "other", "{'state':'Closed'}");
    rig_settle(rig);
    group_of_gang(rig, "a", "default");
    check_str("not this one either", rig_group_phase(rig, "a"), NOT_YET);
    rig_set_status(rig, &kind_queue, "other", "{'state':'Open'}");
    rig_settle(rig);
    check_str("now both", rig_group_phase(rig, "a"), ADMITTED);
    check_str("now both", rig_group_phase(rig, "b"), ADMITTED);
    rig_free(rig);
}

static void a_job_that_is_over_holds_its_gang_no_longer(void **state)
{
    struct rig *rig = set_up(8, 4);

    job_of_gang(rig, "a");
    job_of_gang(rig, "b");
    group_of_gang(rig, "a", "default");
    check_str("waits for b", rig_group_phase(rig, "a"), NOT_YET);
    rig_set_status(rig, &kind_job, "b", "{'state':{'phase':'Failed'}}");
    rig_settle(rig);
    check_str("goes alone", rig_group_phase(rig, "a"), ADMITTED);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_gang_lets_others_pass_for_a_while_and_then_keeps_its_room),
        cmocka_unit_test(queues_that_wait_for_the_node_do_not_hold_other_queues_at_once),
        cmocka_unit_test(beyond_their_gangs_groups_share_evenly),
        cmocka_unit_test(a_gang_comes_before_what_goes_beyond_another),
        cmocka_unit_test(what_a_queue_is_guaranteed_is_kept_for_it),
        cmocka_unit_test(a_guarantee_below_counts_for_the_parent),
        cmocka_unit_test(a_gang_of_higher_priority_pushes_out_the_youngest_of_the_lowest),
        cmocka_unit_test(pods_beyond_a_gang_go_before_gangs),
        cmocka_unit_test(who_may_not_be_pushed_out_is_not),
        cmocka_unit_test(what_has_just_begun_is_left_alone_for_its_cooldown_time),
        cmocka_unit_test(a_full_queue_is_looked_at_again_when_the_cooldown_is_over),
        cmocka_unit_test(waits_are_measured_by_queue),
        cmocka_unit_test(half_a_gang_is_never_pushed_out),
        cmocka_unit_test(a_queue_gets_back_what_it_deserves),
        cmocka_unit_test(a_gang_starts_when_enough_of_it_have_room),
        cmocka_unit_test(those_that_start_a_gang_are_its_smallest),
        cmocka_unit_test(a_gang_starts_without_the_one_whose_queue_is_closed),
        cmocka_unit_test(the_jobs_of_a_gang_are_admitted_all_or_none),
        cmocka_unit_test(a_gang_of_jobs_waits_for_the_open_queue_of_each),
        cmocka_unit_test(a_job_that_is_over_holds_its_gang_no_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
