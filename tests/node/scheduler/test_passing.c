/*
 * Tests that a job that fits starts although a larger one waits before it, and that the larger one
 * starts in the end.
 */
#include "tests/unit.h"

#include "node/scheduler/internal.h"
#include "tests/support/node_fixture.h"

enum { GIB = 1 << 30 };

#define WAITS    ""
#define ADMITTED "Inqueue"

static struct node_fixture *node_of(int64_t cpu_milli, int64_t pods)
{
    struct node_fixture *fixture = node_fixture_new();

    node_fixture_start_scheduler(fixture, (struct amount){cpu_milli, 8LL * GIB, pods, {0}});
    node_fixture_create(fixture, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
                                 "'metadata':{'name':'high'},'value':1000}");
    node_fixture_settle(fixture);
    return fixture;
}

static void queue(struct node_fixture *fixture, const char *name, const char *spec)
{
    node_fixture_create(fixture,
                        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue','metadata':"
                        "{'name':'%s'},'spec':{%s}}",
                        name, spec);
    node_fixture_settle(fixture);
}

/* Creates a gang of `pods` pods that need `milli` of CPU together. */
static void group(struct node_fixture *fixture, const char *name, int pods, int milli,
                  const char *more)
{
    char spec[160];

    snprintf(spec, sizeof spec, ",'minResources':{'cpu':'%dm'}%s", milli, more);
    node_fixture_group(fixture, name, pods, spec);
    node_fixture_settle(fixture);
}

static void pods(struct node_fixture *fixture, const char *name, int from, int to, int milli)
{
    char spec[160];

    snprintf(spec, sizeof spec,
             ",'containers':[{'name':'c','image':'i','command':['true'],'resources':{'requests':{"
             "'cpu':'%dm'}}}]",
             milli);
    node_fixture_pods(fixture, name, from, to, spec);
    node_fixture_settle(fixture);
}

/* Creates a job of one pod that runs. */
static void running(struct node_fixture *fixture, const char *name, int milli, const char *more)
{
    char pod[32];

    group(fixture, name, 1, milli, more);
    pods(fixture, name, 0, 1, milli);
    snprintf(pod, sizeof pod, "%s-0", name);
    check(name, node_fixture_bound(fixture, pod));
    node_fixture_set_phase(fixture, pod, "Running");
}

static void end(struct node_fixture *fixture, const char *name)
{
    char pod[32];

    snprintf(pod, sizeof pod, "%s-0", name);
    node_fixture_set_phase(fixture, pod, "Succeeded");
    node_fixture_settle(fixture);
}

static const char *phase(struct node_fixture *fixture, const char *name)
{
    const char *is = node_fixture_group_phase(fixture, name);

    return strcmp(is, "Pending") == 0 ? WAITS : is;
}

/* covers: reliability.md INV-N8; see O-80 */
static void what_fits_passes_a_job_without_room(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    running(fixture, "a", 1500, "");
    group(fixture, "b", 1, 1500, "");
    group(fixture, "small", 1, 100, "");
    group(fixture, "pair", 2, 0, "");
    group(fixture, "three", 3, 0, "");
    check_str("it has no room", phase(fixture, "b"), WAITS);
    check_str("a smaller single", phase(fixture, "small"), ADMITTED);
    check_str("a gang that needs nothing", phase(fixture, "pair"), ADMITTED);
    check_str("another", phase(fixture, "three"), ADMITTED);
    end(fixture, "a");
    check_str("its turn", phase(fixture, "b"), ADMITTED);
    node_fixture_free(fixture);
}

/* A client may bind a pod itself, past the scheduler. */
static void overcommitted_processors_do_not_hold_up_what_needs_none(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'own','namespace':"
                        "'default'},'spec':{'nodeName':'here','containers':[{'name':'c','image':"
                        "'i','command':['true'],'resources':{'requests':{'cpu':'3'}}}]}}");
    group(fixture, "pair", 2, 0, "");
    group(fixture, "single", 1, 0, "");
    group(fixture, "some", 1, 100, "");
    check_str("a gang", phase(fixture, "pair"), ADMITTED);
    check_str("a single", phase(fixture, "single"), ADMITTED);
    check_str("what needs them waits", phase(fixture, "some"), WAITS);
    node_fixture_free(fixture);
}

/* covers: see O-82 */
static void nothing_is_bound_ahead_of_processors(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    running(fixture, "a", 1500, "");
    for (int i = 0; i < 5; i++) {
        char name[16];

        snprintf(name, sizeof name, "b%d", i);
        group(fixture, name, 1, 1500, "");
        check_str(name, phase(fixture, name), WAITS);
    }
    node_fixture_free(fixture);
}

enum { MANY = 300 };

static void what_fits_passes_any_number_of_jobs_without_room(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    running(fixture, "a", 1500, "");
    for (int i = 0; i < MANY; i++) {
        char name[16];

        snprintf(name, sizeof name, "b%d", i);
        group(fixture, name, 1, 600 + i, "");
    }
    group(fixture, "small", 1, 400, "");
    check_str("small", phase(fixture, "small"), ADMITTED);
    node_fixture_free(fixture);
}

static void members_pass_a_larger_member_of_their_own_job(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    running(fixture, "a", 1200, "");
    pods(fixture, "a", 1, 2, 1200);
    pods(fixture, "a", 2, 4, 300);
    check("the larger one waits", !node_fixture_bound(fixture, "a-1"));
    check("a smaller one does not", node_fixture_bound(fixture, "a-2"));
    check("nor the next", node_fixture_bound(fixture, "a-3"));
    group(fixture, "c", 1, 200, "");
    check_str("nor a gang behind them", phase(fixture, "c"), ADMITTED);
    end(fixture, "a");
    check("it has its turn", node_fixture_bound(fixture, "a-1"));
    node_fixture_free(fixture);
}

static void members_of_other_jobs_pass_a_larger_one(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    running(fixture, "a", 100, "");
    running(fixture, "b", 200, "");
    running(fixture, "hold", 1000, "");
    pods(fixture, "a", 1, 2, 1500);
    pods(fixture, "b", 1, 3, 300);
    check("the larger one has the first turn, and waits", !node_fixture_bound(fixture, "a-1"));
    check("the others do not", node_fixture_bound(fixture, "b-1"));
    check("the others do not", node_fixture_bound(fixture, "b-2"));
    node_fixture_free(fixture);
}

static void room_is_kept_for_what_was_passed_for_ten_seconds(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    running(fixture, "a", 800, "");
    group(fixture, "large", 1, 1500, "");
    running(fixture, "early", 600, "");
    node_fixture_advance(fixture, 11000);
    running(fixture, "late", 500, "");
    group(fixture, "more", 1, 100, "");
    check_str("there is room, but it is kept", phase(fixture, "more"), WAITS);
    node_fixture_advance(fixture, 6000);
    check_has("and this is told", node_fixture_status(fixture, &kind_pod_group, "more"),
              "behind PodGroup large");
    group(fixture, "none", 2, 0, "");
    check_str("it needs nothing of what is kept", phase(fixture, "none"), ADMITTED);
    end(fixture, "a");
    check_str("not yet", phase(fixture, "large"), WAITS);
    check_str("nor this one", phase(fixture, "more"), WAITS);
    end(fixture, "early");
    check_str("what ran before has ended", phase(fixture, "large"), ADMITTED);
    end(fixture, "late");
    check_str("the reservation has ended", phase(fixture, "more"), ADMITTED);
    node_fixture_free(fixture);
}

/* Lets jobs of 600m come, two more than end, as long as the large one waits. Three of them run at
 * the beginning. Returns the number of ends. */
static int stream_until_started(struct node_fixture *fixture, const char *large)
{
    int made = 3, started = 3, ended = 0, round = 0;

    for (; round < 40 && strcmp(phase(fixture, large), WAITS) == 0; round++) {
        char name[16], pod[16];

        for (int i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "s%d", made++);
            group(fixture, name, 1, 600, "");
        }
        for (; snprintf(name, sizeof name, "s%d", started) &&
               strcmp(phase(fixture, name), ADMITTED) == 0;
             started++) {
            pods(fixture, name, 0, 1, 600);
            snprintf(pod, sizeof pod, "s%d-0", started);
            node_fixture_set_phase(fixture, pod, "Running");
        }
        snprintf(name, sizeof name, "s%d", ended);
        if (ended < started)
            end(fixture, name);
        ended += ended < started;
        node_fixture_advance(fixture, 3000);
    }
    return round;
}

/* covers: reliability.md INV-N9; see O-81 */
static void a_stream_of_small_jobs_does_not_starve_a_large_one(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);
    int rounds;

    running(fixture, "s0", 600, "");
    running(fixture, "s1", 600, "");
    running(fixture, "s2", 600, "");
    group(fixture, "large", 1, 1800, "");
    rounds = stream_until_started(fixture, "large");
    check_str("it has started", phase(fixture, "large"), ADMITTED);
    check("when those had ended that started in its first ten seconds", rounds < 10);
    node_fixture_free(fixture);
}

static void a_reservation_does_not_bind_higher_priority(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    running(fixture, "a", 1000, "");
    group(fixture, "large", 1, 1800, "");
    node_fixture_advance(fixture, 11000);
    group(fixture, "small", 1, 500, "");
    group(fixture, "urgent", 1, 500, ",'priorityClassName':'high'");
    check_str("room is kept from this one", phase(fixture, "small"), WAITS);
    check_str("not from a higher priority", phase(fixture, "urgent"), ADMITTED);
    group(fixture, "vast", 1, 2000, ",'priorityClassName':'high'");
    group(fixture, "low", 1, 50, "");
    check_str("the low reservation goes on meanwhile", phase(fixture, "low"), WAITS);
    node_fixture_advance(fixture, 11000);
    group(fixture, "tiny", 1, 100, "");
    check_str("the reservation is now of the higher priority", phase(fixture, "tiny"), WAITS);
    node_fixture_free(fixture);
}

static void lower_priority_passes_higher_that_has_no_room(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    running(fixture, "a", 1000, "");
    group(fixture, "urgent", 1, 1800, ",'priorityClassName':'high'");
    group(fixture, "small", 1, 500, "");
    check_str("it does not fit", phase(fixture, "urgent"), WAITS);
    check_str("this one does", phase(fixture, "small"), ADMITTED);
    node_fixture_free(fixture);
}

static void what_fits_passes_within_the_limit_of_a_queue(void **state)
{
    struct node_fixture *fixture = node_of(8000, 16);

    queue(fixture, "q", "'capability':{'cpu':'2'}");
    running(fixture, "a", 1000, ",'queue':'q'");
    group(fixture, "large", 1, 1500, ",'queue':'q'");
    running(fixture, "early", 600, ",'queue':'q'");
    node_fixture_advance(fixture, 11000);
    end(fixture, "early");
    running(fixture, "late", 500, ",'queue':'q'");
    group(fixture, "more", 1, 100, ",'queue':'q'");
    check_str("the limit is kept for it", phase(fixture, "more"), WAITS);
    group(fixture, "other", 1, 1000, "");
    check_str("other queues are not affected", phase(fixture, "other"), ADMITTED);
    end(fixture, "a");
    check_str("its turn", phase(fixture, "large"), ADMITTED);
    end(fixture, "late");
    check_str("the reservation has ended", phase(fixture, "more"), ADMITTED);
    node_fixture_free(fixture);
}

static void a_reservation_ends_with_its_head(void **state)
{
    struct node_fixture *fixture = node_of(2000, 8);

    running(fixture, "a", 1000, "");
    group(fixture, "large", 1, 1800, "");
    node_fixture_advance(fixture, 11000);
    group(fixture, "small", 1, 500, "");
    check_str("room is kept", phase(fixture, "small"), WAITS);
    node_fixture_delete(fixture, &kind_pod_group, "large", -1);
    node_fixture_settle(fixture);
    check_str("no longer", phase(fixture, "small"), ADMITTED);
    check_int("none is left", fixture->scheduler->backfills, 0);
    node_fixture_free(fixture);
}

/* The jobs of a queue that wait behind a job of a sibling are looked at again when its reservation
 * ends, although nothing below the limit of the parent has ended. */
static void the_end_of_a_reservation_is_told_to_all_queues_below_the_limit(void **state)
{
    struct node_fixture *fixture = node_of(8000, 16);

    queue(fixture, "p", "'capability':{'cpu':'2'}");
    queue(fixture, "x", "'parent':'p'");
    queue(fixture, "y", "'parent':'p'");
    running(fixture, "a", 1000, ",'queue':'x'");
    group(fixture, "large", 1, 1500, ",'queue':'x'");
    running(fixture, "early", 300, ",'queue':'y'");
    node_fixture_advance(fixture, 11000);
    end(fixture, "early");
    group(fixture, "more", 1, 600, ",'queue':'y'");
    check_str("the limit is kept", phase(fixture, "more"), WAITS);
    node_fixture_delete(fixture, &kind_pod_group, "large", -1);
    node_fixture_settle(fixture);
    check_str("no longer", phase(fixture, "more"), ADMITTED);
    node_fixture_free(fixture);
}

/* On a machine without a place for one more pod. */
static void a_queue_at_its_limit_does_not_hide_why_others_wait(void **state)
{
    struct node_fixture *fixture = node_of(8000, 2);

    queue(fixture, "first", "'priority':9,'capability':{'cpu':'1'}");
    running(fixture, "a", 1000, ",'queue':'first'");
    running(fixture, "b", 1000, "");
    node_fixture_group(fixture, "limited", 1, ",'minResources':{'cpu':'100m'},'queue':'first'");
    node_fixture_group(fixture, "other", 2, ",'minResources':{'cpu':'100m'}");
    node_fixture_advance(fixture, 1500);
    check_has("by its queue", node_fixture_status(fixture, &kind_pod_group, "limited"), "queue");
    check_has("by the node", node_fixture_status(fixture, &kind_pod_group, "other"), "pods");
    node_fixture_free(fixture);
}

static void queues_share_what_is_left_behind_refused_heads(void **state)
{
    struct node_fixture *fixture = node_of(4000, 16);

    queue(fixture, "x", "'weight':1");
    queue(fixture, "y", "'weight':1");
    running(fixture, "half", 2000, "");
    running(fixture, "rest", 2000, "");
    group(fixture, "bx", 1, 2500, ",'queue':'x'");
    group(fixture, "by", 1, 2500, ",'queue':'y'");
    for (int i = 0; i < 4; i++) {
        char name[16];

        snprintf(name, sizeof name, "x%d", i);
        group(fixture, name, 1, 500, ",'queue':'x'");
        snprintf(name, sizeof name, "y%d", i);
        group(fixture, name, 1, 500, ",'queue':'y'");
    }
    end(fixture, "rest");
    for (int i = 0; i < 4; i++) {
        char name[16];

        snprintf(name, sizeof name, "x%d", i);
        check_str(name, phase(fixture, name), i < 2 ? ADMITTED : WAITS);
        snprintf(name, sizeof name, "y%d", i);
        check_str(name, phase(fixture, name), i < 2 ? ADMITTED : WAITS);
    }
    node_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_passes_a_job_without_room),
        cmocka_unit_test(overcommitted_processors_do_not_hold_up_what_needs_none),
        cmocka_unit_test(nothing_is_bound_ahead_of_processors),
        cmocka_unit_test(what_fits_passes_any_number_of_jobs_without_room),
        cmocka_unit_test(members_pass_a_larger_member_of_their_own_job),
        cmocka_unit_test(members_of_other_jobs_pass_a_larger_one),
        cmocka_unit_test(room_is_kept_for_what_was_passed_for_ten_seconds),
        cmocka_unit_test(a_stream_of_small_jobs_does_not_starve_a_large_one),
        cmocka_unit_test(a_reservation_does_not_bind_higher_priority),
        cmocka_unit_test(lower_priority_passes_higher_that_has_no_room),
        cmocka_unit_test(what_fits_passes_within_the_limit_of_a_queue),
        cmocka_unit_test(a_reservation_ends_with_its_head),
        cmocka_unit_test(the_end_of_a_reservation_is_told_to_all_queues_below_the_limit),
        cmocka_unit_test(a_queue_at_its_limit_does_not_hide_why_others_wait),
        cmocka_unit_test(queues_share_what_is_left_behind_refused_heads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
