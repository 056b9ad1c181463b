#pragma once
/*
 * Notices that nobody has asked the daemon anything for a while, and lets go of what is kept in
 * memory for being quick. (What writes leave behind, the store lets go of itself.)
 */
#include "base/loop.h"

struct at_rest {
    struct loop *loop;
    struct timer timer;
    bool asked; /* since the timer was started */
};

/** `loop` is borrowed until the stop. */
void at_rest_start(struct at_rest *rest, struct loop *loop);
void at_rest_stop(struct at_rest *rest); /* a zeroed one is fine */

/** Somebody was answered. */
void at_rest_note(struct at_rest *rest);
