#pragma once
/*
 * A histogram of durations with a precision of one part in 64. The table is small enough for the L1
 * cache, so a million values per second can be recorded.
 */
#include <stddef.h>
#include <stdint.h>

enum { TIMES_PARTS = 64, TIMES_BITS = 6, TIMES_ROWS = 36 };

struct times {
    uint32_t at[TIMES_ROWS * TIMES_PARTS]; /* [row] is an octave; the first two are microseconds */
    uint64_t n;
};

static inline void times_add(struct times *times, int64_t us)
{
    uint64_t value = us < 0 ? 0 : (uint64_t)us;
    size_t row = 0;

    while (value >= 2 * TIMES_PARTS && row < TIMES_ROWS - 2) {
        value >>= 1;
        row++;
    }
    times->at[row * TIMES_PARTS + (value < 2 * TIMES_PARTS ? value : 2 * TIMES_PARTS - 1)]++;
    times->n++;
}

/* Returns the quantile in milliseconds: the duration that `part` of the values do not exceed. */
static inline double times_ms(const struct times *times, double part)
{
    uint64_t wanted = (uint64_t)((double)times->n * part), sum = 0;

    for (size_t i = 0; i < TIMES_ROWS * TIMES_PARTS; i++) {
        size_t row = i < 2 * TIMES_PARTS ? 0 : i / TIMES_PARTS - 1;

        sum += times->at[i];
        if (sum > wanted)
            return (double)((uint64_t)(i - row * TIMES_PARTS) << row) / 1000;
    }
    return 0;
}
