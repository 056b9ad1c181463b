/*
 * Tests which state of a pod and of a container's run may follow which: every pair is compared with
 * a list written down a second time.
 */
#include "tests/unit.h"

#include "node/shim/states.h"

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

static void a_pod_ends_once(void **state)
{
    static const struct edge edges[] = {{LIFE_ACTIVE, LIFE_ENDING}, {LIFE_ENDING, LIFE_FINAL}};

    for (int from = 0; from < POD_LIFE_N; from++)
        for (int to = 0; to < POD_LIFE_N; to++)
            check_int("edge", pod_life_follows((enum pod_life)from, (enum pod_life)to),
                      is_listed(edges, countof(edges), from, to));
}

static void a_pod_is_in_one_list_at_a_time(void **state)
{
    static const struct edge edges[] = {{LISTED_NOWHERE, LISTED_UNRECORDED},
                                        {LISTED_NOWHERE, LISTED_DUE},
                                        {LISTED_UNRECORDED, LISTED_NOWHERE},
                                        {LISTED_DUE, LISTED_NOWHERE}};

    for (int from = 0; from < POD_LISTING_N; from++)
        for (int to = 0; to < POD_LISTING_N; to++)
            check_int("edge", pod_listing_follows((enum pod_listing)from, (enum pod_listing)to),
                      is_listed(edges, countof(edges), from, to));
}

static void a_run_that_is_to_stop_never_goes_on(void **state)
{
    static const struct edge edges[] = {
        {RUN_NONE, RUN_STARTING},
        {RUN_STARTING, RUN_UP},
        {RUN_STARTING, RUN_NONE},
        {RUN_STARTING, RUN_STOPPING_EARLY},
        {RUN_UP, RUN_STOPPING},
        {RUN_UP, RUN_NONE},
        {RUN_STOPPING_EARLY, RUN_STOPPING},
        {RUN_STOPPING_EARLY, RUN_NONE},
        {RUN_STOPPING, RUN_NONE},
    };

    for (int from = 0; from < CONTAINER_RUN_N; from++)
        for (int to = 0; to < CONTAINER_RUN_N; to++)
            check_int("edge",
                      container_run_follows((enum container_run)from, (enum container_run)to),
                      is_listed(edges, countof(edges), from, to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_ends_once),
        cmocka_unit_test(a_pod_is_in_one_list_at_a_time),
        cmocka_unit_test(a_run_that_is_to_stop_never_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
