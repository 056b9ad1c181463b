#pragma once
/*
 * Amounts of a node's resources: CPU, memory, pods, and a few that only have a name
 * ("nvidia.com/gpu"). struct resource_names tells which name belongs to which element of `extra`;
 * amounts that are compared with each other share one such table.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The amount of a resource that is not limited. Sums of it with anything a machine can hold do not
 * overflow. */
#define AMOUNT_UNLIMITED (INT64_MAX / 4)

enum { AMOUNT_EXTRA = 3, AMOUNT_KINDS = 3 + AMOUNT_EXTRA };

struct amount {
    int64_t cpu_milli, memory_bytes, pods;
    int64_t extra[AMOUNT_EXTRA];
};

struct resource_names {
    const char *names[AMOUNT_EXTRA]; /* [count] names of the resources in `extra`, by index;
                                      * borrowed */
    size_t count;
    bool open; /* resources without an entry are unlimited, as in a simulation */
};

static inline int64_t amount_clamp(int64_t value)
{
    return value > AMOUNT_UNLIMITED ? AMOUNT_UNLIMITED : value;
}

/* Returns the member of an amount by its index, for loops over all kinds of resources. */
static inline int64_t *amount_at(struct amount *amount, size_t kind)
{
    switch (kind) {
    case 0:
        return &amount->cpu_milli;
    case 1:
        return &amount->memory_bytes;
    case 2:
        return &amount->pods;
    default:
        return &amount->extra[kind - 3];
    }
}

static inline struct amount amount_unlimited(void)
{
    struct amount all = {AMOUNT_UNLIMITED, AMOUNT_UNLIMITED, AMOUNT_UNLIMITED, {0}};

    for (size_t i = 0; i < AMOUNT_EXTRA; i++)
        all.extra[i] = AMOUNT_UNLIMITED;
    return all;
}

static inline struct amount amount_add(struct amount a, struct amount b)
{
    struct amount sum = {amount_clamp(a.cpu_milli + b.cpu_milli),
                         amount_clamp(a.memory_bytes + b.memory_bytes),
                         amount_clamp(a.pods + b.pods),
                         {0}};

    for (size_t i = 0; i < AMOUNT_EXTRA; i++)
        sum.extra[i] = amount_clamp(a.extra[i] + b.extra[i]);
    return sum;
}

static inline struct amount amount_minus(struct amount a, struct amount b)
{
    struct amount rest = {
        a.cpu_milli - b.cpu_milli, a.memory_bytes - b.memory_bytes, a.pods - b.pods, {0}};

    for (size_t i = 0; i < AMOUNT_EXTRA; i++)
        rest.extra[i] = a.extra[i] - b.extra[i];
    return rest;
}

static inline int64_t amount_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline struct amount amount_max(struct amount a, struct amount b)
{
    struct amount most = {amount_larger(a.cpu_milli, b.cpu_milli),
                          amount_larger(a.memory_bytes, b.memory_bytes),
                          amount_larger(a.pods, b.pods),
                          {0}};

    for (size_t i = 0; i < AMOUNT_EXTRA; i++)
        most.extra[i] = amount_larger(a.extra[i], b.extra[i]);
    return most;
}

static inline int64_t amount_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline struct amount amount_min(struct amount a, struct amount b)
{
    struct amount least = {amount_smaller(a.cpu_milli, b.cpu_milli),
                           amount_smaller(a.memory_bytes, b.memory_bytes),
                           amount_smaller(a.pods, b.pods),
                           {0}};

    for (size_t i = 0; i < AMOUNT_EXTRA; i++)
        least.extra[i] = amount_smaller(a.extra[i], b.extra[i]);
    return least;
}

/** Returns whether `a` is at most `b` in every kind of resource. */
static inline bool amount_within(struct amount a, struct amount b)
{
    bool within =
        a.cpu_milli <= b.cpu_milli && a.memory_bytes <= b.memory_bytes && a.pods <= b.pods;

    for (size_t i = 0; i < AMOUNT_EXTRA; i++)
        within = within && a.extra[i] <= b.extra[i];
    return within;
}

/** Returns whether `need` fits beside what is `used` of the `capacity`. A kind of resource of which
 * nothing is needed never prevents that, even if more of it is used than there is. */
static inline bool amount_fits(struct amount need, struct amount used, struct amount capacity)
{
    bool fits = (need.cpu_milli <= 0 || used.cpu_milli + need.cpu_milli <= capacity.cpu_milli) &&
                (need.memory_bytes <= 0 ||
                 used.memory_bytes + need.memory_bytes <= capacity.memory_bytes) &&
                (need.pods <= 0 || used.pods + need.pods <= capacity.pods);

    for (size_t i = 0; i < AMOUNT_EXTRA; i++)
        fits = fits && (need.extra[i] <= 0 || used.extra[i] + need.extra[i] <= capacity.extra[i]);
    return fits;
}

static inline bool amount_equal(struct amount a, struct amount b)
{
    return amount_within(a, b) && amount_within(b, a);
}
