#pragma once
/*
 * Runs a random test with thousands of seeds; each run depends on its seed only. Environment:
 *
 *   JOBFLOW_SEEDS=20000      number of seeds, instead of the test's own
 *   JOBFLOW_FROM=5001        the first seed
 *   JOBFLOW_SEED=4711        runs this seed only and prints each step
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEDS_TEXT = 1024 };

/** Runs the walk of one seed. Returns false with a description in `violation`. `trace`: print each
 * step. */
typedef bool (*seeds_walk_fn)(uint64_t seed, bool trace, char violation[SEEDS_TEXT]);

struct seeds {
    uint64_t count;          /* number of seeds, unless the environment says otherwise */
    const uint64_t *finders; /* seeds that once found a defect; they run first */
    size_t n_finders;
    seeds_walk_fn walk;
};

/** Runs all seeds; the first violation fails the test. Builds with sanitizers run fewer seeds,
 * because they are slow. */
void seeds_run(const struct seeds *seeds);
