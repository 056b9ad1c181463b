/*
 * Ordered sets of steps. A bit of a higher level is set exactly when the word below it is not zero.
 */
#include "flow/graph/step_set.h"

#include <string.h>

#include "base/mem.h"

static uint32_t words_for(uint32_t bits)
{
    return bits / 64 + (bits % 64 != 0);
}

void step_set_init(struct step_set *set, uint32_t size)
{
    uint32_t total = 0;
    uint32_t bits = size ? size : 1;

    memset(set, 0, sizeof *set);
    set->size = size;
    do {
        set->first[set->levels++] = total;
        bits = words_for(bits);
        total += bits;
    } while (bits > 1);
    set->words = mem_array(total, sizeof *set->words);
}

void step_set_release(struct step_set *set)
{
    mem_free(set->words);
    memset(set, 0, sizeof *set);
}

bool step_set_has(const struct step_set *set, uint32_t step)
{
    return step < set->size && (set->words[step / 64] >> (step % 64) & 1);
}

bool step_set_add(struct step_set *set, uint32_t step)
{
    if (step >= set->size || step_set_has(set, step))
        return false;
    set->count++;
    for (uint32_t level = 0, bit = step; level < set->levels; level++, bit /= 64) {
        uint64_t *word = &set->words[set->first[level] + bit / 64];
        bool summarised = *word != 0;

        *word |= UINT64_C(1) << (bit % 64);
        if (summarised)
            break;
    }
    return true;
}

bool step_set_remove(struct step_set *set, uint32_t step)
{
    if (!step_set_has(set, step))
        return false;
    set->count--;
    for (uint32_t level = 0, bit = step; level < set->levels; level++, bit /= 64) {
        uint64_t *word = &set->words[set->first[level] + bit / 64];

        *word &= ~(UINT64_C(1) << (bit % 64));
        if (*word)
            break;
    }
    return true;
}

uint32_t step_set_next(const struct step_set *set, uint32_t from)
{
    uint32_t bit = from;

    if (from >= set->size)
        return STEP_NONE;
    for (uint32_t level = 0; level < set->levels; level++) {
        uint32_t width = level + 1 < set->levels ? set->first[level + 1] - set->first[level] : 1;
        uint64_t rest;

        if (bit / 64 >= width)
            return STEP_NONE;
        rest = set->words[set->first[level] + bit / 64] & (~UINT64_C(0) << (bit % 64));
        if (rest) { /* found: go down to the member it stands for */
            bit = bit / 64 * 64 + (uint32_t)__builtin_ctzll(rest);
            while (level-- > 0)
                bit = bit * 64 + (uint32_t)__builtin_ctzll(set->words[set->first[level] + bit]);
            return bit;
        }
        bit = bit / 64 + 1; /* nothing left in this word: look above for the next one */
    }
    return STEP_NONE;
}
