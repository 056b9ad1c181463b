#pragma once
/*
 * A pseudo-random generator for random tests: the same seed gives the same sequence.
 */
#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state; /* begins as the seed */
};
uint64_t dice_next(struct dice *dice);
/** Returns a random number from 0 to sides - 1. */
int dice_roll(struct dice *dice, int sides);
bool dice_chance(struct dice *dice, int percent);
