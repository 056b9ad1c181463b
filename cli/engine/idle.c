/*
 * One timer that asks, when it fires, whether anything was asked since it was started.
 */
#include "cli/engine/idle.h"

#include "base/rss.h"

enum { QUIET_MS = 3000 };

/* No timer runs while nothing happens, and no more than one in QUIET_MS while much does. */
static void on_timer(struct timer *timer)
{
    struct at_rest *rest = container_of(timer, struct at_rest, timer);

    if (rest->asked)
        timer_start(rest->loop, timer, QUIET_MS);
    else
        rss_give_back();
    rest->asked = false;
}

void at_rest_start(struct at_rest *rest, struct loop *loop)
{
    *rest = (struct at_rest){.loop = loop, .timer.fire = on_timer};
}

void at_rest_stop(struct at_rest *rest)
{
    if (rest->loop)
        timer_stop(rest->loop, &rest->timer);
}

void at_rest_note(struct at_rest *rest)
{
    rest->asked = true;
    if (!timer_armed(&rest->timer))
        timer_start(rest->loop, &rest->timer, QUIET_MS);
}
