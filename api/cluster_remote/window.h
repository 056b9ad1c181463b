#pragma once
/*
 * Limits how many requests may be under way at once. The limit grows while the server answers well,
 * and is halved when the server is overloaded or slow. Ref: spec/cluster.md 2.7.
 */
#include <stdbool.h>
#include <stdint.h>

enum {
    WINDOW_FIRST = 16,
    WINDOW_LEAST = 4,
    WINDOW_GROWS_AFTER = 32, /* number of good answers after which the window grows */
    WINDOW_SAMPLES = 64,
    WINDOW_SLOW_MS =
        2000, /* a server is overloaded when more than 5 % of its answers take longer */
};

struct window {
    unsigned size, most;
    unsigned good;          /* good answers since the size last changed */
    unsigned slow, samples; /* slow answers among the samples since the last look */
};

void window_init(struct window *window, unsigned most);
/** Counts an answer. `busy` means that the server has said that it is overloaded. */
void window_answered(struct window *window, bool busy, int64_t took_ms);
