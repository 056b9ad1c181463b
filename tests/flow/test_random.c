/*
 * Random walks through the lives of flows (tests/support/flow_walk).
 *
 *   JOBFLOW_SEEDS=20000 test_flow_random       so many walks; default 2000
 *   JOBFLOW_SEED=4711 test_flow_random         one of them, told step by step
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/flow_walk.h"

enum { SEEDS = 2000 };

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void walk(uint64_t seed, const struct flow_walk_options *options)
{
    char violation[FLOW_WALK_TEXT];

    if (!walk_flow(seed, options, violation))
        check_fail("seed %llu: %s\nagain, step by step: JOBFLOW_SEED=%llu test_flow_random",
                   (unsigned long long)seed, violation, (unsigned long long)seed);
}

/* Walks that once found something. */
static const uint64_t finders[] = {89, 113, 162, 265, 1717, 2542, 4914, 5448};

/* covers: reliability.md LIV-1; see INV-F1 to INV-F11, P-05, P-06, P-12, SIM-09 */
static void no_walk_violates_anything(void **unused)
{
    uint64_t one = number_from("JOBFLOW_SEED", 0), seeds = number_from("JOBFLOW_SEEDS", SEEDS);
    const struct flow_walk_options options = {.trace = one != 0};

    if (one) {
        walk(one, &options);
        return;
    }
    for (size_t i = 0; i < countof(finders); i++)
        walk(finders[i], &options);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        walk(seed, &options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_walk_violates_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
