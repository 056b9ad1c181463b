/*
 * A pseudo-random generator: splitmix64.
 */
#include "tests/support/dice.h"

uint64_t dice_next(struct dice *dice)
{
    uint64_t z = (dice->state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int dice_roll(struct dice *dice, int sides)
{
    return (int)(dice_next(dice) % (uint64_t)sides);
}

bool dice_chance(struct dice *dice, int percent)
{
    return dice_roll(dice, 100) < percent;
}
