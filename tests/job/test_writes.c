/*
 * Tests which write of a job may follow which: every pair of states is compared with a list written
 * down a second time.
 */
#include "tests/unit.h"

#include "job/writes.h"

struct edge {
    int from, to;
};

static bool is_listed(const struct edge *edges, size_t n, int from, int to)
{
    for (size_t i = 0; i < n; i++)
        if (edges[i].from == from && edges[i].to == to)
            return true;
    return false;
}

static void a_write_of_the_job_begins_and_ends_alone(void **state)
{
    static const struct edge edges[] = {
        {WRITE_NONE, WRITE_RESUME}, {WRITE_NONE, WRITE_STATUS}, {WRITE_NONE, WRITE_PHASE},
        {WRITE_RESUME, WRITE_NONE}, {WRITE_STATUS, WRITE_NONE}, {WRITE_PHASE, WRITE_NONE},
    };

    for (int from = 0; from < JOB_WRITE_N; from++)
        for (int to = 0; to < JOB_WRITE_N; to++)
            check_int("edge", job_write_edge((enum job_write)from, (enum job_write)to),
                      is_listed(edges, countof(edges), from, to));
}

static void a_podgroup_is_compared_again_after_each_write(void **state)
{
    static const struct edge edges[] = {
        {GROUP_UNCHECKED, GROUP_CHECKED},  {GROUP_UNCHECKED, GROUP_CREATING},
        {GROUP_UNCHECKED, GROUP_UPDATING}, {GROUP_UNCHECKED, GROUP_REMOVING},
        {GROUP_CHECKED, GROUP_UNCHECKED},  {GROUP_CHECKED, GROUP_REMOVING},
        {GROUP_CREATING, GROUP_UNCHECKED}, {GROUP_UPDATING, GROUP_UNCHECKED},
        {GROUP_REMOVING, GROUP_UNCHECKED}, {GROUP_REMOVING, GROUP_REMOVED},
        {GROUP_REMOVED, GROUP_UNCHECKED},
    };

    for (int from = 0; from < JOB_PODGROUP_STATE_N; from++)
        for (int to = 0; to < JOB_PODGROUP_STATE_N; to++)
            check_int("edge",
                      job_podgroup_edge((enum job_podgroup_state)from, (enum job_podgroup_state)to),
                      is_listed(edges, countof(edges), from, to));
}

static void only_a_checked_podgroup_is_sent_back_for_comparison(void **state)
{
    for (int s = 0; s < JOB_PODGROUP_STATE_N; s++) {
        enum job_podgroup_state group = (enum job_podgroup_state)s;

        job_podgroup_recheck(&group);
        check_int("state", group, s == GROUP_CHECKED ? GROUP_UNCHECKED : s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_of_the_job_begins_and_ends_alone),
        cmocka_unit_test(a_podgroup_is_compared_again_after_each_write),
        cmocka_unit_test(only_a_checked_podgroup_is_sent_back_for_comparison),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
