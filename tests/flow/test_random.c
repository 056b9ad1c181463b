/*
 * Runs random walks of flows (tests/support/flow_walk), as many as JOBFLOW_SEEDS says
 * (tests/support/seeds). The decisions of the controller are counted for rule LIV-3.
 */
#include "tests/unit.h"

#include "flow/internal.h"
#include "tests/support/flow_walk.h"
#include "tests/support/seeds.h"

/* wraps: flow_sync probe_tcp_start probe_tcp_cancel probe_http_start probe_http_cancel */
/* wraps: probe_http_client_new probe_http_client_free */

enum { SEEDS = 2500 };

/* Seeds of walks that once found a bug, in the product or in the rules of the walk. */
static const uint64_t finders[] = {
    16414, 89,    104,   113,   120,   162,   264,   265,   415,   421,  743,  799,
    1717,  1761,  2542,  3123,  3764,  4382,  4914,  5448,  2844,  4595, 7407, 8766,
    446,   663,   1051,  1538,  2638,  3926,  3989,  6513,  7327,  8173, 8969, 11803,
    43448, 38350, 45052, 47059, 48024, 49636, 52603, 55258, 63877, 70036};

static unsigned syncs;

void __real_flow_sync(struct flow *flow);
void __wrap_flow_sync(struct flow *flow);
void __wrap_flow_sync(struct flow *flow)
{
    syncs++;
    __real_flow_sync(flow);
}

static unsigned count_syncs(void)
{
    return syncs;
}

static bool walk_with_reruns(uint64_t seed, bool trace, char violation[SEEDS_TEXT])
{
    const struct flow_walk_options options = {.trace = trace, .reruns = true};

    return walk_flow(seed, &options, violation);
}

static bool walk(uint64_t seed, bool trace, char violation[SEEDS_TEXT])
{
    const struct flow_walk_options options = {.trace = trace, .syncs = count_syncs};

    return walk_flow(seed, &options, violation);
}

/* covers: reliability.md LIV-1 LIV-2 LIV-3 SIM-03 SIM-05 SIM-07; see INV-F1 to INV-F11, P-05, P-06,
 * P-12, SIM-09 */
static void no_walk_violates_anything(void **unused)
{
    const struct seeds seeds = {SEEDS, finders, countof(finders), walk};

    seeds_run(&seeds);
}

/* covers: everyday.md EVD-200 */
static void no_walk_with_reruns_violates_anything(void **unused)
{
    const struct seeds seeds = {SEEDS, NULL, 0, walk_with_reruns};

    seeds_run(&seeds);
}

/* covers: reliability.md INV-R2 */
static void a_walk_is_the_same_each_time(void **unused)
{
    for (uint64_t seed = 100; seed <= 2000; seed += 100) {
        struct flow_walk_options options = {0};
        uint64_t hashes[2] = {0};
        char violation[FLOW_WALK_TEXT];

        for (int i = 0; i < 2; i++) {
            options.hash = &hashes[i];
            assert_true(walk_flow(seed, &options, violation));
        }
        check("something was done", hashes[0] != 0);
        check("the same again", hashes[0] == hashes[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_walk_violates_anything),
        cmocka_unit_test(no_walk_with_reruns_violates_anything),
        cmocka_unit_test(a_walk_is_the_same_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
