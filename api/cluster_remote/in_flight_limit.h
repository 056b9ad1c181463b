#pragma once
/*
 * Limits how many requests may be under way at once. The limit grows while the server answers well,
 * and is halved when the server is overloaded or slow. Ref: spec/cluster.md 2.7.
 */
#include <stdbool.h>
#include <stdint.h>

enum {
    IN_FLIGHT_FIRST = 16,
    IN_FLIGHT_LEAST = 4,
    IN_FLIGHT_GROWS_AFTER = 32, /* number of good answers after which the limit grows */
    IN_FLIGHT_SAMPLES = 64,
    IN_FLIGHT_SLOW_MS =
        2000, /* a server is overloaded when more than 5 % of its answers take longer */
};

struct in_flight_limit {
    unsigned size, most;
    unsigned good;          /* good answers since the size last changed */
    unsigned slow, samples; /* slow answers among the samples since the last decision */
};

void in_flight_limit_init(struct in_flight_limit *limit, unsigned most);
/** Counts an answer. `busy` means that the server has said that it is overloaded. */
void in_flight_limit_answered(struct in_flight_limit *limit, bool busy, int64_t took_ms);
