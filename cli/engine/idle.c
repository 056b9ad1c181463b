/*
 * Uses one timer: when it fires, it checks whether a request was answered since it was started.
 */
#include "cli/engine/idle.h"

#include "base/rss.h"

enum { QUIET_MS = 3000 };

/* No timer runs while there are no requests; under load it fires once in QUIET_MS. */
static void on_timer(struct timer *timer)
{
    struct idle_timer *rest = container_of(timer, struct idle_timer, timer);

    if (rest->asked)
        timer_start(rest->loop, timer, QUIET_MS);
    else
        rss_give_back();
    rest->asked = false;
}

void idle_timer_start(struct idle_timer *rest, struct loop *loop)
{
    *rest = (struct idle_timer){.loop = loop, .timer.fire = on_timer};
}

void idle_timer_stop(struct idle_timer *rest)
{
    if (rest->loop)
        timer_stop(rest->loop, &rest->timer);
}

void idle_timer_note(struct idle_timer *rest)
{
    rest->asked = true;
    if (!timer_armed(&rest->timer))
        timer_start(rest->loop, &rest->timer, QUIET_MS);
}
