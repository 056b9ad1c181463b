/*
 * The limit grows by addition and shrinks by halving. Answers are counted in groups of
 * IN_FLIGHT_SAMPLES, so that one burst of slow answers halves the limit once.
 */
#include "api/cluster_remote/in_flight_limit.h"

enum { SLOW_PERCENT = 5 };

void in_flight_limit_init(struct in_flight_limit *limit, unsigned most)
{
    *limit = (struct in_flight_limit){.size = IN_FLIGHT_FIRST < most ? IN_FLIGHT_FIRST : most,
                                      .most = most};
}

static void halve(struct in_flight_limit *limit)
{
    limit->size = limit->size / 2 > IN_FLIGHT_LEAST ? limit->size / 2 : IN_FLIGHT_LEAST;
    limit->good = limit->slow = limit->samples = 0;
}

static void grow(struct in_flight_limit *limit)
{
    if (++limit->good < IN_FLIGHT_GROWS_AFTER)
        return;
    limit->good = 0;
    if (limit->size < limit->most)
        limit->size++;
}

void in_flight_limit_answered(struct in_flight_limit *limit, bool busy, int64_t took_ms)
{
    bool is_slow = took_ms > IN_FLIGHT_SLOW_MS;

    if (busy) {
        halve(limit);
        return;
    }
    limit->slow += is_slow;
    if (++limit->samples == IN_FLIGHT_SAMPLES) {
        bool was_slow = limit->slow * 100 > IN_FLIGHT_SAMPLES * SLOW_PERCENT;

        limit->slow = limit->samples = 0;
        if (was_slow) {
            halve(limit);
            return;
        }
    }
    if (!is_slow)
        grow(limit);
}
