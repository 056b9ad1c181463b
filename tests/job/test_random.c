/*
 * Random walks through the lives of jobs (tests/support/job_walk), as many as tests/support/seeds
 * is asked for.
 */
#include "tests/unit.h"

#include <unistd.h>

#include "base/log.h"
#include "tests/support/job_walk.h"
#include "tests/support/seeds.h"

enum { SEEDS = 4000 };

/* Walks that once found something. */
static const uint64_t finders[] = {185,  522,  593,  1020,  1687,  1823,  3396,  3730,
                                   4844, 5082, 5334, 14120, 16605, 16698, 18091, 24323};

static bool walk(uint64_t seed, bool trace, char violation[SEEDS_TEXT])
{
    const struct walk_options options = {.trace = trace};

    return walk_job(seed, &options, violation);
}

/* covers: reliability.md INV-J1 INV-J2 INV-J3 INV-J4 INV-J5 INV-J6 INV-J7 INV-J8 INV-J9 INV-J10;
 * see SIM-09 */
static void no_walk_violates_anything(void **unused)
{
    const struct seeds seeds = {SEEDS, finders, countof(finders), walk};

    seeds_run(&seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_walk_violates_anything),
    };
    log_to(STDERR_FILENO, LOG_ERROR, LOG_TEXT); /* refused writes are the point */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
