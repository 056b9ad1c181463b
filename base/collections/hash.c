/*
 * Hashes by XXH3. The seeded form is for tables; the form without a seed is for hashes that are
 * stored or shown.
 */
#include "base/collections/hash.h"

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
