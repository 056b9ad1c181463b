/*
 * The window grows by addition and shrinks by halving. Answers are counted in groups of
 * WINDOW_SAMPLES, so that one burst of slow answers halves the window once.
 */
#include "api/cluster_remote/window.h"

enum { SLOW_PERCENT = 5 };

void window_init(struct window *window, unsigned most)
{
    *window = (struct window){.size = WINDOW_FIRST < most ? WINDOW_FIRST : most, .most = most};
}

static void halve(struct window *window)
{
    window->size = window->size / 2 > WINDOW_LEAST ? window->size / 2 : WINDOW_LEAST;
    window->good = window->slow = window->samples = 0;
}

static void grow(struct window *window)
{
    if (++window->good < WINDOW_GROWS_AFTER)
        return;
    window->good = 0;
    if (window->size < window->most)
        window->size++;
}

void window_answered(struct window *window, bool busy, int64_t took_ms)
{
    bool is_slow = took_ms > WINDOW_SLOW_MS;

    if (busy) {
        halve(window);
        return;
    }
    window->slow += is_slow;
    if (++window->samples == WINDOW_SAMPLES) {
        bool was_slow = window->slow * 100 > WINDOW_SAMPLES * SLOW_PERCENT;

        window->slow = window->samples = 0;
        if (was_slow) {
            halve(window);
            return;
        }
    }
    if (!is_slow)
        grow(window);
}
