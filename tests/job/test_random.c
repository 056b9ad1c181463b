/*
 * Random walks through the lives of jobs (tests/support/job_walk).
 *
 *   JOBFLOW_SEEDS=20000 test_job_random        so many walks; default 4000
 *   JOBFLOW_SEED=4711 test_job_random          one of them, told step by step
 */
#include "tests/unit.h"

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/support/job_walk.h"

enum { SEEDS = 4000 };

/* Walks that once found something. */
static const uint64_t finders[] = {185,  522,  593,  1020,  1687,  1823,  3396,  3730,
                                   4844, 5082, 5334, 14120, 16605, 16698, 18091, 24323};

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void walk(uint64_t seed, const struct walk_options *options)
{
    char violation[WALK_TEXT];

    if (!walk_job(seed, options, violation))
        check_fail("seed %llu: %s\nagain, step by step: JOBFLOW_SEED=%llu test_job_random",
                   (unsigned long long)seed, violation, (unsigned long long)seed);
}

/* covers: reliability.md INV-J1 INV-J2 INV-J3 INV-J4 INV-J5 INV-J6 INV-J7 INV-J8 INV-J9 INV-J10;
 * see SIM-09 */
static void no_walk_violates_anything(void **unused)
{
    uint64_t one = number_from("JOBFLOW_SEED", 0), seeds = number_from("JOBFLOW_SEEDS", SEEDS);
    const struct walk_options options = {.trace = one != 0};

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
    log_to(STDERR_FILENO, LOG_ERROR, LOG_TEXT); /* refused writes are the point */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
