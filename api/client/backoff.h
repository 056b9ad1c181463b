#pragma once
/*
 * How long to wait after the n-th failure in a row: twice as long each time, with chance, so that
 * many clients do not come back together; from the start again after a while without failure.
 *
 * Ref: k8s.io/client-go reflector.go, backoffManager (800 ms, 30 s, 2 min).
 */
#include "base/clock.h"

struct backoff {
    int64_t first_ms, most_ms; /* no wait is longer than the second, chance included */
    int64_t calm_ms;           /* so long without failure: begin again */
    unsigned failures;         /* private */
    int64_t last_ns;           /* private: the last failure, monotonic */
};
#define BACKOFF_USUAL                                                                              \
    (struct backoff)                                                                               \
    {                                                                                              \
        .first_ms = 800, .most_ms = 30000, .calm_ms = 120000                                       \
    }

/** One more failure; the wait before the next try. */
int64_t backoff_next_ms(struct backoff *backoff, struct clock *clock);
