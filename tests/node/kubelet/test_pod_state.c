/*
 * Tests the states of a pod: every pair of states is tried, and only the edges listed here are
 * legal.
 */
#include "tests/unit.h"

#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "node/kubelet/pod_state.h"

#define NAME(state) #state,
static const char *const steps[] = {POD_STEPS(NAME)};
static const char *const writes[] = {POD_WRITES(NAME)};
static const char *const commits[] = {POD_COMMITS(NAME)};
static const char *const objects[] = {POD_OBJECTS(NAME)};

/* clang-format off */
static const char step_edges[] =
    " STEP_ADOPTING>STEP_ADOPTING_ENDED"
    " STEP_ADOPTING>STEP_QUEUED"        /* the pod has no intent */
    " STEP_ADOPTING>STEP_READY"         /* the pod's intent is durable, and it was never started */
    " STEP_ADOPTING>STEP_STARTED"       /* the pod runs */
    " STEP_ADOPTING>STEP_ENDED"         /* the pod is lost, or cannot run */
    " STEP_ADOPTING>STEP_RELEASED"      /* the pod's end is written already */
    " STEP_ADOPTING>STEP_DELETING"
    " STEP_ADOPTING_ENDED>STEP_ENDED"   /* the pod's object was deleted meanwhile */
    " STEP_ADOPTING_ENDED>STEP_RELEASED"
    " STEP_QUEUED>STEP_INTENT"
    " STEP_QUEUED>STEP_DELETING"
    " STEP_INTENT>STEP_READY"
    " STEP_INTENT>STEP_DELETING"
    " STEP_READY>STEP_DEVICES"          /* the pod requests devices */
    " STEP_DEVICES>STEP_STARTED"        /* their ids are durable */
    " STEP_DEVICES>STEP_BLOCKED"
    " STEP_DEVICES>STEP_ENDED"
    " STEP_DEVICES>STEP_DELETING"
    " STEP_READY>STEP_BLOCKED"
    " STEP_READY>STEP_STARTED"
    " STEP_READY>STEP_ENDED"            /* a reference of the pod can never be resolved */
    " STEP_READY>STEP_DELETING"
    " STEP_BLOCKED>STEP_READY"
    " STEP_BLOCKED>STEP_DELETING"
    " STEP_STARTED>STEP_ENDED"
    " STEP_STARTED>STEP_RELEASED"       /* a previous run wrote the pod's end */
    " STEP_ENDED>STEP_RELEASED ";
static const char write_edges[] =
    " WRITE_IDLE>WRITE_QUEUED WRITE_IDLE>WRITE_RETRY WRITE_IDLE>WRITE_MARK WRITE_IDLE>WRITE_STATUS"
    " WRITE_IDLE>WRITE_DELETE WRITE_QUEUED>WRITE_IDLE WRITE_RETRY>WRITE_QUEUED"
    " WRITE_MARK>WRITE_IDLE WRITE_STATUS>WRITE_IDLE WRITE_DELETE>WRITE_IDLE ";
static const char commit_edges[] =
    " COMMIT_IDLE>COMMIT_ACCEPTED COMMIT_ACCEPTED>COMMIT_BATCHED COMMIT_BATCHED>COMMIT_IDLE"
    " COMMIT_BATCHED>COMMIT_BATCHED_AGAIN COMMIT_BATCHED_AGAIN>COMMIT_IDLE ";
static const char object_edges[] =
    " OBJECT_PRESENT>OBJECT_DELETED OBJECT_DELETED>OBJECT_DELETED_DURABLY"
    " OBJECT_PRESENT>OBJECT_DELETED_DURABLY ";
/* clang-format on */

static bool is_listed(const char *edges, const char *from, const char *to)
{
    scoped_str edge = mem_printf(" %s>%s ", from, to);

    return strstr(edges, edge) != NULL;
}

/* Compares each pair of states with the list of legal edges. */
#define check_edges(names, edges, type, follows)                                                   \
    for (size_t from = 0; from < countof(names); from++)                                           \
        for (size_t to = 0; to < countof(names); to++) {                                           \
            scoped_str pair = mem_printf("%s > %s", (names)[from], (names)[to]);                   \
                                                                                                   \
            check_int(pair, follows((type)from, (type)to),                                         \
                      is_listed(edges, (names)[from], (names)[to]));                               \
        }

static void only_listed_steps_follow_each_other(void **state)
{
    check_edges(steps, step_edges, enum pod_step, pod_step_follows);
}

static void one_write_is_in_flight_at_a_time(void **state)
{
    check_edges(writes, write_edges, enum pod_write, pod_write_follows);
}

static void an_accepted_change_becomes_durable_once(void **state)
{
    check_edges(commits, commit_edges, enum pod_commit, pod_commit_follows);
}

static void a_deleted_object_does_not_come_back(void **state)
{
    check_edges(objects, object_edges, enum pod_object, pod_object_follows);
}

static void a_setter_takes_a_legal_edge(void **state)
{
    enum pod_step step = STEP_QUEUED;

    pod_step_set(&step, STEP_INTENT);
    check_int("step", step, STEP_INTENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_listed_steps_follow_each_other),
        cmocka_unit_test(one_write_is_in_flight_at_a_time),
        cmocka_unit_test(an_accepted_change_becomes_durable_once),
        cmocka_unit_test(a_deleted_object_does_not_come_back),
        cmocka_unit_test(a_setter_takes_a_legal_edge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
