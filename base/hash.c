/*
 * Hashes: XXH3, with a seed of this process for tables and without one for what is stored or shown.
 */
#include "base/hash.h"

#include "base/clock.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t seed;

__attribute__((constructor)) static void draw_seed(void)
{
    seed = clock_random(clock_real());
}

uint64_t hash_bytes(const void *bytes, size_t len)
{
    return XXH3_64bits_withSeed(bytes, len, seed);
}

uint64_t hash_stable(const void *bytes, size_t len)
{
    return XXH3_64bits(bytes, len);
}
