/*
 * Exponential backoff with jitter. After a period without failures it starts again with the first
 * delay.
 */
#include "api/client/backoff.h"

enum { NS_PER_MS = 1000000 };

int64_t backoff_next_ms(struct backoff *backoff, struct clock *clock)
{
    int64_t now_ns = clock_mono_ns(clock), wait_ms = backoff->first_ms;

    if (backoff->failures && now_ns - backoff->last_ns > backoff->calm_ms * NS_PER_MS)
        backoff->failures = 0;
    for (unsigned i = 0; i < backoff->failures && wait_ms < backoff->most_ms; i++)
        wait_ms *= 2;
    backoff->failures++;
    backoff->last_ns = now_ns;
    wait_ms +=
        (int64_t)(clock_random(clock) % (uint64_t)(wait_ms + 1)); /* jitter: up to twice as long */
    return wait_ms < backoff->most_ms ? wait_ms : backoff->most_ms;
}
