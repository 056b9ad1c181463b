/* Tests which poll makes its attempt next. covers: jobflow.md 70; reliability.md L-32 */
#include "tests/unit.h"

#include "probes/fair_queue.h"

enum { GROUPS = 3, CHECKS = 20 };

static void limits_hold_and_groups_take_turns(void **state)
{
    struct probe_queue queue = {.at_once = 10, .per_group = 4};
    struct probe_group groups[GROUPS] = {0};
    struct probe_poll checks[GROUPS][CHECKS] = {0};
    struct probe_poll *in_flight[10];
    struct probe_group *group;
    unsigned by_group[GROUPS] = {0};

    for (int g = 0; g < GROUPS; g++)
        for (int c = 0; c < CHECKS; c++)
            probe_queue_add(&queue, &groups[g], &checks[g][c]);
    for (int i = 0; i < 10; i++) {
        in_flight[i] = probe_queue_next(&queue, &group);
        check("there is room", in_flight[i] != NULL);
        check_int("in turn", group - groups, i % GROUPS);
        by_group[group - groups]++;
    }
    check("ten at once", probe_queue_next(&queue, &group) == NULL);
    check_int("shares", by_group[0], 4);
    check_int("shares", by_group[1], 3);
    for (int i = 0; i < 10; i++)
        probe_queue_remove(&queue, &groups[i % GROUPS], in_flight[i]);
    check_int("all back", queue.in_flight, 0);
    check("next", probe_queue_next(&queue, &group) != NULL);
}

static void full_group_waits_alone(void **state)
{
    struct probe_queue queue = {.at_once = 100, .per_group = 2};
    struct probe_group busy = {0}, other = {0};
    struct probe_poll checks[4] = {0}, late = {0};
    struct probe_group *group;
    struct probe_poll *first;

    for (size_t i = 0; i < countof(checks); i++)
        probe_queue_add(&queue, &busy, &checks[i]);
    first = probe_queue_next(&queue, &group);
    check("first in, first out", first == &checks[0]);
    check("a second", probe_queue_next(&queue, &group) == &checks[1]);
    check("no third", !probe_queue_next(&queue, &group));
    probe_queue_add(&queue, &other, &late);
    check("the other goes", probe_queue_next(&queue, &group) == &late && group == &other);
    probe_queue_remove(&queue, &busy, first);
    check("room again", probe_queue_next(&queue, &group) == &checks[2]);
}

static void leaving_the_queue_leaves_the_rest(void **state)
{
    struct probe_queue queue = {.at_once = 100, .per_group = 100};
    struct probe_group a = {0}, b = {0}, *group;
    struct probe_poll checks[3] = {0}, other = {0};

    for (size_t i = 0; i < countof(checks); i++)
        probe_queue_add(&queue, &a, &checks[i]);
    probe_queue_add(&queue, &b, &other);
    probe_queue_remove(&queue, &a, &checks[1]);
    check("first", probe_queue_next(&queue, &group) == &checks[0]);
    probe_queue_remove(&queue, &a, &checks[2]);
    check("the other group", probe_queue_next(&queue, &group) == &other);
    check("nobody", !probe_queue_next(&queue, &group));
    probe_queue_add(&queue, &a, &checks[1]);
    probe_queue_remove(&queue, &a, &checks[1]);
    check("a group that emptied is not asked", !probe_queue_next(&queue, &group));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_hold_and_groups_take_turns),
        cmocka_unit_test(full_group_waits_alone),
        cmocka_unit_test(leaving_the_queue_leaves_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
