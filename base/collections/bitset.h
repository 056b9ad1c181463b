#pragma once
/*
 * A set of numbers below a fixed size, with one bit for each. Finding the next member reads one word
 * for 64 numbers; flow/graph/step_set.h is for sets in which that is too slow.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

#define BITSET_NONE UINT32_MAX

struct bitset {
    uint64_t *words;
    uint32_t size;
};

/* Makes an empty set; what was in it is dropped. */
static inline void bitset_init(struct bitset *set, uint32_t size)
{
    mem_free(set->words);
    set->words = mem_array((size_t)size / 64 + 1, sizeof *set->words);
    set->size = size;
}

static inline void bitset_release(struct bitset *set)
{
    mem_free(set->words);
    *set = (struct bitset){0};
}

static inline void bitset_add(struct bitset *set, uint32_t i)
{
    if (i < set->size)
        set->words[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void bitset_remove(struct bitset *set, uint32_t i)
{
    if (i < set->size)
        set->words[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline bool bitset_has(const struct bitset *set, uint32_t i)
{
    return i < set->size && set->words[i / 64] >> i % 64 & 1;
}

/* Returns the smallest member that is at least `from`; BITSET_NONE: there is none. */
static inline uint32_t bitset_next(const struct bitset *set, uint32_t from)
{
    for (uint32_t word = from / 64; from < set->size && word <= set->size / 64; word++) {
        uint64_t bits = set->words[word];

        if (word == from / 64)
            bits &= ~UINT64_C(0) << from % 64;
        if (bits)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return BITSET_NONE;
}
