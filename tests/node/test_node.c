/*
 * Tests the whole node with the simulated runtime.
 */
#include "tests/unit.h"

#include "node/node_object.h"
#include "tests/support/node_fixture.h"

static struct node_fixture *set_up(int max_pods)
{
    struct node_fixture *fixture = node_fixture_new();
    const struct node_options options = {.name = "here", .max_pods = max_pods, .sim = true};
    struct error err;

    fixture->node = node_start(fixture->cluster, &options, &err);
    check_ok("node", fixture->node != NULL, err);
    node_fixture_settle(fixture);
    return fixture;
}

/* covers: see 5.4 */
static void node_object_describes_the_machine(void **state)
{
    struct node_fixture *fixture = set_up(3);
    const struct object *node = node_fixture_get(fixture, &kind_node, "here");
    const char *status = node_fixture_status(fixture, &kind_node, "here");

    check("there", node != NULL);
    check_str("label", meta_label(node->meta, "kubernetes.io/hostname"), "here");
    check_has("capacity", status, "\"allocatable\":{\"pods\":\"3\"}");
    check_has("ready", status, "\"type\":\"Ready\",\"status\":\"True\"");
    check_has("how pods run", status, "sim: nothing is executed");
    check_has("boot", status, "\"bootID\":\"sim\"");
    node_fixture_free(fixture);
}

static void reboot_of_the_machine_is_detected(void **state)
{
    struct node_fixture *fixture = set_up(1);
    struct machine machine;

    machine_read(&machine, &(struct machine_options){.name = "here", .max_pods = 1, .sim = true});
    check("the same boot", !machine_restarted(fixture->cluster, &machine));
    strcpy(machine.boot_id, "another");
    check("another boot", machine_restarted(fixture->cluster, &machine));
    strcpy(machine.name, "elsewhere");
    check("never seen", !machine_restarted(fixture->cluster, &machine));
    node_fixture_free(fixture);
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
    struct node_fixture *fixture = set_up(1);

    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
                 "'namespace':'default'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
                 "'requests':{'storage':'1Gi'}}}}");
    node_fixture_settle(fixture);
    check_has("phase", node_fixture_status(fixture, &kind_pvc, "c"), "\"phase\":\"Bound\"");
    check_has("capacity", node_fixture_status(fixture, &kind_pvc, "c"), "\"storage\":\"1Gi\"");
    node_fixture_free(fixture);
}

static void queues_are_open_from_the_start(void **state)
{
    struct node_fixture *fixture = set_up(1);

    check_has("default", node_fixture_status(fixture, &kind_queue, "default"),
              "\"state\":\"Open\"");
    check_has("root", node_fixture_status(fixture, &kind_queue, "root"), "\"state\":\"Open\"");
    node_fixture_free(fixture);
}

struct census {
    struct node_fixture *fixture;
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
    struct node_fixture *fixture = set_up(4);
    struct cluster_watcher watcher = {.changed = count_pod, .kind = &kind_pod};
    static const int sizes[] = {1, 3, 1, 1, 4, 1, 2, 1, 1, 1, 4, 1, 3, 2, 1, 1};
    size_t total = 0;

    census = (struct census){.fixture = fixture};
    cluster_watch(fixture->cluster, &watcher);
    for (size_t i = 0; i < countof(sizes); i++) {
        char name[16];

        snprintf(name, sizeof name, "g%zu", i);
        node_fixture_group(fixture, name, sizes[i], NULL);
        for (int p = 0; p < sizes[i]; p++)
            node_fixture_create(
                fixture,
                "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%d','namespace':"
                "'default','annotations':{'scheduling.k8s.io/group-name':'%s',"
                "'sim.jobflow.dev/duration':'%ds'}},'spec':{'restartPolicy':'Never',"
                "'containers':[{'name':'c','image':'i'}]}}",
                name, p, name, 1 + (int)i % 3);
        total += (size_t)sizes[i];
    }
    check("comes to an end", loop_drain(fixture->loop, 3600000));
    check_int("all ended", census.ended, total);
    check_int("never more than four", census.peak, 4);
    for (size_t i = 0; i < countof(sizes); i++) {
        char name[16];

        snprintf(name, sizeof name, "g%zu", i);
        check_str(name, node_fixture_group_phase(fixture, name), "Completed");
    }
    cluster_unwatch(fixture->cluster, &watcher);
    node_fixture_free(fixture);
}

static void node_stopped_amid_work_leaks_no_memory(void **state)
{
    struct node_fixture *fixture = set_up(2);

    node_fixture_group(fixture, "g", 1, NULL);
    node_fixture_pods(fixture, "g", 0, 5, NULL);
    node_stop(fixture->node); /* no event of the object has been handled yet */
    fixture->node = NULL;
    node_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_object_describes_the_machine),
        cmocka_unit_test(reboot_of_the_machine_is_detected),
        cmocka_unit_test(a_host_name_becomes_a_node_name),
        cmocka_unit_test(claims_are_bound),
        cmocka_unit_test(queues_are_open_from_the_start),
        cmocka_unit_test(gangs_and_single_pods_share_the_node),
        cmocka_unit_test(node_stopped_amid_work_leaks_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
