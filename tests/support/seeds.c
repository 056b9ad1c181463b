#include "tests/support/seeds.h"
#include "tests/unit.h"

#include <errno.h>
#include <stdlib.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 10 };
#else
enum { SLOWER = 1 };
#endif

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void walk_one(const struct seeds *seeds, uint64_t seed, bool trace)
{
    char violation[SEEDS_TEXT];

    if (!seeds->walk(seed, trace, violation))
        check_fail("seed %llu: %s\nagain, step by step: JOBFLOW_SEED=%llu %s",
                   (unsigned long long)seed, violation, (unsigned long long)seed,
                   program_invocation_short_name);
}

void seeds_run(const struct seeds *seeds)
{
    uint64_t one = number_from("JOBFLOW_SEED", 0), from = number_from("JOBFLOW_FROM", 1);
    uint64_t count = number_from("JOBFLOW_SEEDS", seeds->count / SLOWER);

    if (one) {
        walk_one(seeds, one, true);
        return;
    }
    for (size_t i = 0; i < seeds->n_finders; i++)
        walk_one(seeds, seeds->finders[i], false);
    for (uint64_t seed = from; seed < from + count; seed++)
        walk_one(seeds, seed, false);
}
