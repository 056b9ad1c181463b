#pragma once
/*
 * The delay after the n-th failure in a row: it doubles each time, with jitter so that many clients
 * do not retry together. After a period without failures it starts again with the first delay.
 *
 * Ref: k8s.io/client-go reflector.go, backoffManager (800 ms, 30 s, 2 min).
 */
#include "base/clock.h"

struct backoff {
    int64_t first_ms, most_ms; /* most_ms: the longest delay, including jitter */
    int64_t calm_ms;           /* time without failure after which the delay is reset */
    unsigned failures;         /* private: number of failures so far */
    int64_t last_ns;           /* private: monotonic time of the last failure */
};
#define BACKOFF_USUAL                                                                              \
    (struct backoff)                                                                               \
    {                                                                                              \
        .first_ms = 800, .most_ms = 30000, .calm_ms = 120000                                       \
    }

/** Counts a failure and returns the delay before the next attempt. */
int64_t backoff_next_ms(struct backoff *backoff, struct clock *clock);
