#pragma once
/*
 * Amounts of what a node has: processor time, memory and room for pods.
 */
#include <stdbool.h>
#include <stdint.h>

/* "No limit" is so large that sums of it with anything a machine can hold do not overflow. */
#define AMOUNT_UNLIMITED (INT64_MAX / 4)

struct amount {
    int64_t cpu_milli, memory_bytes, pods;
};

static inline int64_t amount_clamp(int64_t value)
{
    return value > AMOUNT_UNLIMITED ? AMOUNT_UNLIMITED : value;
}

static inline struct amount amount_add(struct amount a, struct amount b)
{
    return (struct amount){amount_clamp(a.cpu_milli + b.cpu_milli),
                           amount_clamp(a.memory_bytes + b.memory_bytes),
                           amount_clamp(a.pods + b.pods)};
}

static inline struct amount amount_minus(struct amount a, struct amount b)
{
    return (struct amount){a.cpu_milli - b.cpu_milli, a.memory_bytes - b.memory_bytes,
                           a.pods - b.pods};
}

static inline struct amount amount_max(struct amount a, struct amount b)
{
    return (struct amount){a.cpu_milli > b.cpu_milli ? a.cpu_milli : b.cpu_milli,
                           a.memory_bytes > b.memory_bytes ? a.memory_bytes : b.memory_bytes,
                           a.pods > b.pods ? a.pods : b.pods};
}

/** Whether `a` is at most `b` in every respect. */
static inline bool amount_within(struct amount a, struct amount b)
{
    return a.cpu_milli <= b.cpu_milli && a.memory_bytes <= b.memory_bytes && a.pods <= b.pods;
}

static inline bool amount_equal(struct amount a, struct amount b)
{
    return a.cpu_milli == b.cpu_milli && a.memory_bytes == b.memory_bytes && a.pods == b.pods;
}
