#pragma once
/*
 * Random walks by the thousand, each a function of its seed.
 *
 *   JOBFLOW_SEEDS=20000      so many, instead of what the test asks for
 *   JOBFLOW_FROM=5001        from that one on
 *   JOBFLOW_SEED=4711        that one alone, told step by step
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEDS_TEXT = 1024 };

/** One walk: false with what is wrong in `violation`. `trace`: tell what happens. */
typedef bool (*seeds_walk_fn)(uint64_t seed, bool trace, char violation[SEEDS_TEXT]);

struct seeds {
    uint64_t count;          /* unless the environment says otherwise */
    const uint64_t *finders; /* walks that once found something: taken first */
    size_t n_finders;
    seeds_walk_fn walk;
};

/** Take them all; the first violation is a failure of the test. Sanitizers make walks slow: under
 * them there are fewer. */
void seeds_run(const struct seeds *seeds);
