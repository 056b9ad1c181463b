#pragma once
/*
 * An ordered set of step indexes: a bitmap with summary bitmaps above it.
 *
 *   level 1   bit i is set if word i of level 0 is not zero
 *   level 0   bit i is set if step i is in the set
 *
 * Adding, removing and finding the next member cost O(log64 steps): three words for 100,000 steps.
 * Members are visited in step order, which is the order in which steps start and are listed.
 */
#include <stdbool.h>
#include <stdint.h>

enum { STEP_SET_LEVELS = 6 }; /* 64^6 exceeds every index */
#define STEP_NONE UINT32_MAX

struct step_set {
    uint64_t *words; /* all levels, level 0 first */
    uint32_t first[STEP_SET_LEVELS];
    uint32_t levels;
    uint32_t size;  /* number of steps that may be members */
    uint32_t count; /* number of members */
};

void step_set_init(struct step_set *set, uint32_t size); /* makes an empty set */
void step_set_release(struct step_set *set);             /* a zeroed set is fine */

/* Both return whether the set changed. */
bool step_set_add(struct step_set *set, uint32_t step);
bool step_set_remove(struct step_set *set, uint32_t step);
bool step_set_has(const struct step_set *set, uint32_t step);

/** Returns the smallest member that is at least `from`, or STEP_NONE. */
uint32_t step_set_next(const struct step_set *set, uint32_t from);

#define step_set_each(set, step)                                                                   \
    for (uint32_t step = step_set_next((set), 0); step != STEP_NONE;                               \
         step = step_set_next((set), step + 1))
