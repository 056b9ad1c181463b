/*
 * The whole node with the simulated runtime.
 */
#include "tests/unit.h"

#include "node/node_object.h"
#include "tests/support/node_fixture.h"

static struct rig *set_up(int max_pods)
{
    struct rig *rig = rig_new();
    const struct node_options options = {.name = "here", .max_pods = max_pods, .sim = true};
    struct error err;

    rig->node = node_start(rig->cluster, &options, &err);
    check_ok("node", rig->node != NULL, err);
    rig_settle(rig);
    return rig;
}

/* covers: see 5.4 */
static void the_node_object_says_what_the_machine_is(void **state)
{
    struct rig *rig = set_up(3);
    const struct object *node = rig_get(rig, &kind_node, "here");
    const char *status = rig_status(rig, &kind_node, "here");

    check("there", node != NULL);
    check_str("label", meta_label(node->meta, "kubernetes.io/hostname"), "here");
    check_has("capacity", status, "\"allocatable\":{\"pods\":\"3\"}");
    check_has("ready", status, "\"type\":\"Ready\",\"status\":\"True\"");
    check_has("how pods run", status, "sim: nothing is executed");
    check_has("boot", status, "\"bootID\":\"sim\"");
    rig_free(rig);
}

static void a_machine_knows_whether_it_was_restarted(void **state)
{
    struct rig *rig = set_up(1);
    struct machine machine;

    machine_read(&machine, &(struct machine_options){.name = "here", .max_pods = 1, .sim = true});
    check("the same boot", !machine_restarted(rig->cluster, &machine));
    strcpy(machine.boot_id, "another");
    check("another boot", machine_restarted(rig->cluster, &machine));
    strcpy(machine.name, "elsewhere");
    check("never seen", !machine_restarted(rig->cluster, &machine));
    rig_free(rig);
}

static void a_host_name_becomes_a_node_name(void **state)
{
    static const struct {
        const char *host, *node;
    } cases[] = {{"Box", "box"}, {"my_box.lan", "my-box.lan"}, {"-x-", "x"},
                 {"a..", "a"},   {"\xc3\xa4", "node"},         {"box 1", "box-1"}};
    struct machine machine;

    for (size_t i = 0; i < countof(cases); i++) {
        machine_read(&machine,
                     &(struct machine_options){.name = cases[i].host, .max_pods = 1, .sim = true});
        check_str(cases[i].host, machine.name, cases[i].node);
    }
}

static void claims_are_bound(void **state)
{
    struct rig *rig = set_up(1);

    rig_create(rig, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
                    "'namespace':'default'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
                    "'requests':{'storage':'1Gi'}}}}");
    rig_settle(rig);
    check_has("phase", rig_status(rig, &kind_pvc, "c"), "\"phase\":\"Bound\"");
    check_has("capacity", rig_status(rig, &kind_pvc, "c"), "\"storage\":\"1Gi\"");
    rig_free(rig);
}

static void queues_are_open_from_the_start(void **state)
{
    struct rig *rig = set_up(1);

    check_has("default", rig_status(rig, &kind_queue, "default"), "\"state\":\"Open\"");
    check_has("root", rig_status(rig, &kind_queue, "root"), "\"state\":\"Open\"");
    rig_free(rig);
}

struct census {
    struct rig *rig;
    size_t running, peak, ended;
};

static struct census census;

static void count_pod(struct cluster_watcher *watcher, enum cluster_change change,
                      const struct object *old, const struct object *pod)
{
    enum pod_phase was = old ? pod_status_of(old)->phase : POD_PENDING;
    enum pod_phase now = pod_status_of(pod)->phase;

    if (was == now)
        return;
    census.running += now == POD_RUNNING;
    census.running -= was == POD_RUNNING;
    census.ended += now == POD_SUCCEEDED || now == POD_FAILED;
    if (census.running > census.peak)
        census.peak = census.running;
}

/* covers: reliability.md INV-J5 INV-N1 L-37 */
static void gangs_and_single_pods_share_the_node(void **state)
{
    struct rig *rig = set_up(4);
    struct cluster_watcher watcher = {.changed = count_pod, .kind = &kind_pod};
    static const int sizes[] = {1, 3, 1, 1, 4, 1, 2, 1, 1, 1, 4, 1, 3, 2, 1, 1};
    size_t total = 0;

    census = (struct census){.rig = rig};
    cluster_watch(rig->cluster, &watcher);
    for (size_t i = 0; i < countof(sizes); i++) {
        char name[16];

        snprintf(name, sizeof name, "g%zu", i);
        rig_group(rig, name, sizes[i], NULL);
        for (int p = 0; p < sizes[i]; p++)
            rig_create(rig,
                       "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%d','namespace':"
                       "'default','annotations':{'scheduling.k8s.io/group-name':'%s',"
                       "'sim.jobflow.dev/duration':'%ds'}},'spec':{'restartPolicy':'Never',"
                       "'containers':[{'name':'c','image':'i'}]}}",
                       name, p, name, 1 + (int)i % 3);
        total += (size_t)sizes[i];
    }
    check("comes to an end", loop_drain(rig->loop, 3600000));
    check_int("all ended", census.ended, total);
    check_int("never more than four", census.peak, 4);
    for (size_t i = 0; i < countof(sizes); i++) {
        char name[16];

        snprintf(name, sizeof name, "g%zu", i);
        check_str(name, rig_group_phase(rig, name), "Completed");
    }
    cluster_unwatch(rig->cluster, &watcher);
    rig_free(rig);
}

static void a_node_that_stops_in_the_middle_leaves_no_memory(void **state)
{
    struct rig *rig = set_up(2);

    rig_group(rig, "g", 1, NULL);
    rig_pods(rig, "g", 0, 5, NULL);
    node_stop(rig->node); /* nothing of it has been handled yet */
    rig->node = NULL;
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_node_object_says_what_the_machine_is),
        cmocka_unit_test(a_machine_knows_whether_it_was_restarted),
        cmocka_unit_test(a_host_name_becomes_a_node_name),
        cmocka_unit_test(claims_are_bound),
        cmocka_unit_test(queues_are_open_from_the_start),
        cmocka_unit_test(gangs_and_single_pods_share_the_node),
        cmocka_unit_test(a_node_that_stops_in_the_middle_leaves_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
