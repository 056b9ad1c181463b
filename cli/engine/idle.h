#pragma once
/*
 * Detects that the daemon has had no request for a while, and frees caches that are kept for speed.
 * (The store frees its own memory after writes.)
 */
#include "base/loop/loop.h"

struct idle_timer {
    struct loop *loop;
    struct timer timer;
    bool asked; /* a request was answered since the timer was started */
};

/** Starts the timer. It borrows `loop` until the stop. */
void idle_timer_start(struct idle_timer *rest, struct loop *loop);
void idle_timer_stop(struct idle_timer *rest); /* a zeroed struct is fine */

/** Notes that something was done. Call it for each answered request. */
void idle_timer_note(struct idle_timer *rest);
