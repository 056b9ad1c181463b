/*
 * Runs random walks through the lives of jobs (tests/support/job_walk), as many as JOBFLOW_SEEDS
 * says (tests/support/seeds).
 */
#include "tests/unit.h"

#include <unistd.h>

#include "base/log.h"
#include "tests/support/job_walk.h"
#include "tests/support/seeds.h"

enum { SEEDS = 4000 };

/* Seeds of walks that once found a bug. */
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
    /* Writes are refused on purpose, so warnings about them are not shown. */
    log_to(STDERR_FILENO, LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
