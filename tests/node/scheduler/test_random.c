/*
 * Random walks over queues, gangs and pods on several nodes. Invariants are checked after every
 * step; at the end every group that can run must have run.
 *
 *   SEED=n    run this seed alone
 */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/types/kinds/scheduling/podgroup.h"
#include "node/scheduler/phase.h"
#include "node/scheduler/scheduler.h"
#include "tests/support/node_fixture.h"

/* wraps: podgroup_report */

/* Bugs planted from outside: the linker redirects the calls of the function to a wrapper. */
enum bug { BUG_NONE, BUG_LOSS_IS_INQUEUE, BUG_LOSS_IS_RUNNING, BUG_N };
static const char *const texts[BUG_N] = {"none", "a running gang that loses members is Inqueue",
                                         "a running gang that loses members stays Running"};
static enum bug planted;

struct group_report __real_podgroup_report(const struct group_view *view, const char *message);
struct group_report __wrap_podgroup_report(const struct group_view *view, const char *message);
struct group_report __wrap_podgroup_report(const struct group_view *view, const char *message)
{
    struct group_report reported = __real_podgroup_report(view, message);

    if (reported.phase == PODGROUP_UNKNOWN && planted)
        reported.phase = planted == BUG_LOSS_IS_INQUEUE ? PODGROUP_INQUEUE : PODGROUP_RUNNING;
    return reported;
}

enum {
    SEEDS = 24,
    STEPS = 150,
    GROUPS_MAX = 40,
    QUEUES = 4,
    NODES = 3,
    CPUS = 4, /* number of CPUs of each node */
    SLOTS = 6,
    GANG_MAX = 8,
};

struct gang {
    char name[16], queue[8];
    int min, pods, cpus; /* minimum and number of pods; CPUs of each pod */
    bool made;           /* the pods of the gang exist */
    bool lost;           /* the gang has lost pods, and others take their places */
    bool pending;        /* a pod was pending at the end of the last step */
};

struct walk {
    struct node_fixture *fixture;
    uint64_t random;
    unsigned seed;
    int n_gangs, step;
    bool closed[QUEUES];
    struct gang gangs[GROUPS_MAX];
};

static unsigned pick(struct walk *walk, unsigned n)
{
    walk->random ^= walk->random << 13;
    walk->random ^= walk->random >> 7;
    walk->random ^= walk->random << 17;
    return (unsigned)(walk->random % n);
}

static const char *const queue_names[QUEUES] = {"a", "b", "c", "default"};

static void make_world(struct walk *walk)
{
    static const char *const specs[] = {
        "'weight':3,'capability':{'cpu':'8'}",
        "'weight':1,'dequeueStrategy':'fifo','deserved':{'cpu':'4'}",
        "'weight':1,'deserved':{'cpu':'3'},'guarantee':{'resource':{'cpu':'2'}}",
    };
    static const char *const node_names[NODES] = {"n0", "n1", "n2"};
    struct scheduler_node nodes[NODES];

    walk->fixture = node_fixture_new();
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct scheduler_node){
            .name = node_names[i], .capacity = {INT64_C(1000) * CPUS, 1LL << 40, SLOTS, {0}}};
    node_fixture_start_scheduler_on(walk->fixture,
                                    &(struct scheduler_options){nodes, NODES, {.count = 0}});
    for (size_t i = 0; i < countof(specs); i++)
        node_fixture_create(walk->fixture,
                            "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue',"
                            "'metadata':{'name':'%s'},'spec':{%s}}",
                            queue_names[i], specs[i]);
    node_fixture_create(walk->fixture,
                        "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                        "'metadata':{'name':'high'},'value':1000}");
    node_fixture_settle(walk->fixture);
}

static void add_gang(struct walk *walk)
{
    struct gang *gang = &walk->gangs[walk->n_gangs];
    unsigned queue = pick(walk, QUEUES);
    char spec[256];

    if (walk->n_gangs == GROUPS_MAX || walk->closed[queue])
        return;
    snprintf(gang->name, sizeof gang->name, "g%d", walk->n_gangs++);
    snprintf(gang->queue, sizeof gang->queue, "%s", queue_names[queue]);
    gang->min = pick(walk, 3) ? (int)pick(walk, 3) + 1 : (int)pick(walk, GANG_MAX) + 1;
    gang->pods = gang->min + (int)pick(walk, 3);
    gang->cpus = (int)pick(walk, 3) + 1;
    snprintf(spec, sizeof spec, ",'queue':'%s','minResources':{'cpu':'%d'}%s", gang->queue,
             gang->min * gang->cpus, pick(walk, 4) ? "" : ",'priorityClassName':'high'");
    node_fixture_group(walk->fixture, gang->name, gang->min, spec);
}

static bool is_admitted(struct walk *walk, const struct gang *gang)
{
    const char *phase = node_fixture_group_phase(walk->fixture, gang->name);

    return *phase && strcmp(phase, "Pending") != 0 && strcmp(phase, "gone") != 0;
}

static const struct object *pod_of(struct walk *walk, const struct gang *gang, int i)
{
    char name[32];

    snprintf(name, sizeof name, "%s-%d", gang->name, i);
    return node_fixture_get(walk->fixture, &kind_pod, name);
}

/* Acts as the job controller: creates pods once the group is admitted, and again when they are
 * gone. */
static void make_pods(struct walk *walk, struct gang *gang)
{
    for (int i = 0; i < gang->pods && is_admitted(walk, gang); i++)
        if (!pod_of(walk, gang, i))
            node_fixture_create(
                walk->fixture,
                "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%d','namespace':"
                "'default','annotations':{'scheduling.k8s.io/group-name':'%s',"
                "'volcano.sh/preemptable':'%s'}},'spec':{'restartPolicy':'Never','containers':"
                "[{'name':'c','image':'i','command':['true'],'resources':{'requests':{'cpu':"
                "'%d'}}}]}}",
                gang->name, i, gang->name, gang->min % 2 ? "true" : "false", gang->cpus);
    gang->made = true;
}

/* Acts as the kubelet: bound pods run, running pods may end, pods under deletion disappear. */
static void move_pods(struct walk *walk, struct gang *gang, bool end)
{
    for (int i = 0; i < gang->pods; i++) {
        const struct object *pod = pod_of(walk, gang, i);
        char name[32];

        snprintf(name, sizeof name, "%s-%d", gang->name, i);
        if (!pod || !node_fixture_bound(walk->fixture, name))
            continue;
        if (object_deleting(pod))
            node_fixture_delete(walk->fixture, &kind_pod, name, 0);
        else if (pod_status_of(pod)->phase == POD_PENDING)
            node_fixture_set_status(walk->fixture, &kind_pod, name, "{'phase':'Running'}");
        else if (pod_status_of(pod)->phase == POD_RUNNING && end)
            node_fixture_set_status(walk->fixture, &kind_pod, name, "{'phase':'Succeeded'}");
    }
}

/* Takes a running pod away, as a failing machine or a user does. */
static void lose_pod(struct walk *walk, struct gang *gang)
{
    for (int i = 0; i < gang->pods; i++) {
        const struct object *pod = pod_of(walk, gang, i);
        char name[32];

        if (!pod || pod_status_of(pod)->phase != POD_RUNNING)
            continue;
        snprintf(name, sizeof name, "%s-%d", gang->name, i);
        node_fixture_delete(walk->fixture, &kind_pod, name, 0);
        gang->lost = true;
        return;
    }
}

/* Returns the phase that spec/job.md 15.4 asks for, as far as it follows from the pods. */
static const char *expected_phase(struct walk *walk, const struct gang *gang)
{
    int running = 0, placed = 0, ended = 0;

    for (int i = 0; i < gang->pods; i++) {
        const struct object *pod = pod_of(walk, gang, i);
        const char *node = pod ? pod_spec_of(pod)->node_name : NULL;

        if (!node || !*node)
            continue;
        if (object_deleting(pod) && pod_phase_ended(pod_status_of(pod)->phase))
            continue;
        placed++;
        ended += pod_phase_ended(pod_status_of(pod)->phase);
        running += !object_deleting(pod) && pod_status_of(pod)->phase == POD_RUNNING;
    }
    if (placed < gang->min)
        return running ? "Unknown" : "Inqueue";
    return ended == placed ? "Completed" : "Running";
}

static void check_phases(struct walk *walk)
{
    for (int i = 0; i < walk->n_gangs; i++) {
        const struct gang *gang = &walk->gangs[i];
        const char *phase = node_fixture_group_phase(walk->fixture, gang->name);

        if (is_admitted(walk, gang) && strcmp(phase, expected_phase(walk, gang)) != 0)
            check_fail("seed %u step %d: %s of %d is %s, not %s", walk->seed, walk->step,
                       gang->name, gang->min, phase, expected_phase(walk, gang));
    }
}

static void turn_queue(struct walk *walk)
{
    unsigned queue = pick(walk, QUEUES - 1);

    walk->closed[queue] = !walk->closed[queue];
    node_fixture_set_status(walk->fixture, &kind_queue, queue_names[queue], "{'state':'%s'}",
                            walk->closed[queue] ? "Closed" : "Open");
}

static void step(struct walk *walk)
{
    struct gang *gang = walk->n_gangs ? &walk->gangs[pick(walk, (unsigned)walk->n_gangs)] : NULL;

    switch (pick(walk, 9)) {
    case 0:
    case 1:
        add_gang(walk);
        break;
    case 2:
    case 3:
        if (gang)
            make_pods(walk, gang);
        break;
    case 4:
        if (gang)
            move_pods(walk, gang, false);
        break;
    case 5:
        if (gang)
            move_pods(walk, gang, true);
        break;
    case 6:
        if (!pick(walk, 4))
            turn_queue(walk);
        break;
    case 7:
        if (gang)
            lose_pod(walk, gang);
        break;
    default:
        node_fixture_advance(walk->fixture, pick(walk, 3) ? 100 : 12000);
        check_phases(walk);
    }
    node_fixture_settle(walk->fixture);
}

static void check_nodes(struct walk *walk)
{
    int cpus[NODES] = {0}, slots[NODES] = {0};

    for (int g = 0; g < walk->n_gangs; g++)
        for (int i = 0; i < walk->gangs[g].pods; i++) {
            const struct object *pod = pod_of(walk, &walk->gangs[g], i);
            const char *node = pod ? pod_spec_of(pod)->node_name : NULL;

            if (!node || !*node || pod_status_of(pod)->phase >= POD_SUCCEEDED)
                continue;
            cpus[node[1] - '0'] += walk->gangs[g].cpus;
            slots[node[1] - '0']++;
        }
    for (int i = 0; i < NODES; i++)
        if (cpus[i] > CPUS || slots[i] > SLOTS)
            check_fail("seed %u step %d: node %d has %d cpus and %d pods", walk->seed, walk->step,
                       i, cpus[i], slots[i]);
}

static void check_whole(struct walk *walk, const struct gang *gang)
{
    int placed = 0, ended = 0;

    for (int i = 0; i < gang->pods; i++) {
        const struct object *pod = pod_of(walk, gang, i);
        const char *node = pod ? pod_spec_of(pod)->node_name : NULL;

        if (!node || !*node || object_deleting(pod))
            continue;
        placed++;
        ended += pod_status_of(pod)->phase == POD_SUCCEEDED;
    }
    if (placed && placed < gang->min && !ended && !gang->lost)
        check_fail("seed %u step %d: %s has %d of %d", walk->seed, walk->step, gang->name, placed,
                   gang->min);
}

static bool is_closed(const struct walk *walk, const struct gang *gang)
{
    for (int i = 0; i < QUEUES; i++)
        if (strcmp(gang->queue, queue_names[i]) == 0)
            return walk->closed[i];
    return false;
}

static void check_all(struct walk *walk)
{
    check_nodes(walk);
    for (int i = 0; i < walk->n_gangs; i++) {
        struct gang *gang = &walk->gangs[i];

        check_whole(walk, gang);
        if (gang->pending && is_closed(walk, gang) && is_admitted(walk, gang))
            check_fail("seed %u step %d: %s of closed queue %s is admitted", walk->seed, walk->step,
                       gang->name, gang->queue);
        gang->pending = !is_admitted(walk, gang);
    }
}

/* Prints the state of all gangs, for diagnosis of a failure. */
static void tell_gangs(struct walk *walk)
{
    for (int i = 0; i < walk->n_gangs; i++) {
        const struct gang *gang = &walk->gangs[i];

        print_message("%s: %d of %d pods, %d cpus each, queue %s: %s\n", gang->name, gang->min,
                      gang->pods, gang->cpus, gang->queue,
                      node_fixture_status(walk->fixture, &kind_pod_group, gang->name));
    }
}

/* Lets everything run to its end; every group that can run must have run. */
static void run_out(struct walk *walk)
{
    for (int i = 0; i < QUEUES - 1; i++) {
        walk->closed[i] = false;
        node_fixture_set_status(walk->fixture, &kind_queue, queue_names[i], "{'state':'Open'}");
    }
    for (int round = 0; round < 3 * GROUPS_MAX; round++) {
        for (int i = 0; i < walk->n_gangs; i++) {
            make_pods(walk, &walk->gangs[i]);
            node_fixture_settle(walk->fixture);
            move_pods(walk, &walk->gangs[i], true);
            node_fixture_settle(walk->fixture);
        }
        node_fixture_advance(walk->fixture, 1000);
        walk->step++;
        check_all(walk);
    }
    node_fixture_advance(walk->fixture, 10000);
    for (int i = 0; i < walk->n_gangs; i++) {
        struct gang *gang = &walk->gangs[i];
        const char *status = node_fixture_status(walk->fixture, &kind_pod_group, gang->name);

        if (strcmp(node_fixture_group_phase(walk->fixture, gang->name), "Completed") != 0 &&
            !strstr(status, "can never")) {
            tell_gangs(walk);
            check_fail("seed %u: %s never had its turn: %s", walk->seed, gang->name, status);
        }
    }
}

static void walk_with(unsigned seed)
{
    struct walk walk = {.seed = seed, .random = 0x9E3779B97F4A7C15U * (seed + 1)};

    make_world(&walk);
    for (walk.step = 0; walk.step < STEPS; walk.step++) {
        step(&walk);
        check_all(&walk);
    }
    run_out(&walk);
    node_fixture_free(walk.fixture);
}

/* covers: reliability.md INV-J5 */
static void gangs_are_whole_nodes_not_overcommitted_and_no_group_starves(void **state)
{
    const char *only = getenv("SEED"); /* NOLINT(concurrency-mt-unsafe): one thread */

    if (only) {
        walk_with((unsigned)strtoul(only, NULL, 10));
        return;
    }
    for (unsigned seed = 0; seed < SEEDS; seed++)
        walk_with(seed);
}

/* Runs in a child process. Returns whether a walk finds the bug: it fails the test, which ends the
 * child with an error. */
static bool is_found(enum bug bug)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        assert_non_null(freopen("/dev/null", "w", stderr));
        assert_non_null(freopen("/dev/null", "w", stdout));
        planted = bug;
        for (unsigned seed = 0; seed < (bug == BUG_NONE ? SEEDS / 8 : SEEDS); seed++)
            walk_with(seed);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* covers: see reliability.md SIM-08 */
static void every_planted_bug_is_found(void **state)
{
    check("nothing where there is nothing", !is_found(BUG_NONE));
    for (enum bug bug = BUG_NONE + 1; bug < BUG_N; bug++)
        if (!is_found(bug))
            check_fail("not found: %s", texts[bug]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gangs_are_whole_nodes_not_overcommitted_and_no_group_starves),
        cmocka_unit_test(every_planted_bug_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
