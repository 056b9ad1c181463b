/*
 * The states of the batcher:
 *
 *   idle ──add──► planned: now, or at the end of the pause ──► sending: slice, slice, …
 *    ▲                              ▲                                    │
 *    └── no entry waits ────────────┴──── an entry waits ◄───────────────┘
 *
 * The loop runs all tasks of a turn before it polls its sockets. So that it polls them between two
 * slices, the next slice is a timer that is due at once and not a task.
 */
#include "api/server/rest/watch_batcher.h"

#include "base/mem.h"

enum {
    PAUSE_PARTS = 1, /* a pause is as long as its round, so rounds take at most half the time */
    PAUSE_MIN_NS = 1000 * 1000, /* a shorter pause is not worth a timer */
    PAUSE_MAX_NS = 8 * 1000 * 1000,
    SLICE_NS = 10 * 1000 * 1000,
};

enum watch_batcher_state { BATCHER_IDLE, BATCHER_PLANNED, BATCHER_SENDING };

struct watch_batcher {
    struct loop *loop;
    enum watch_batcher_state state;
    struct task round;
    struct timer timer; /* runs until the next slice or the end of the pause */
    int64_t pause_until_ns;
    int64_t spent_ns;                       /* time of the round so far */
    LIST_HEAD(, watch_batch_entry) waiting; /* entries for the next round */
    LIST_HEAD(, watch_batch_entry) sending; /* entries of the current round not yet sent */
};

/* Plans the round of the waiting entries: now, or at the end of the pause. */
static void plan_round(struct watch_batcher *batcher)
{
    int64_t pause_ns = batcher->pause_until_ns - loop_mono_ns(batcher->loop);

    batcher->state = BATCHER_PLANNED;
    if (pause_ns > 0)
        timer_start_ns(batcher->loop, &batcher->timer, pause_ns);
    else
        loop_post(batcher->loop, &batcher->round);
}

static void end_round(struct watch_batcher *batcher, int64_t now_ns)
{
    int64_t pause_ns = batcher->spent_ns * PAUSE_PARTS;

    batcher->state = BATCHER_IDLE;
    batcher->spent_ns = 0;
    if (pause_ns >= PAUSE_MIN_NS)
        batcher->pause_until_ns = now_ns + (pause_ns < PAUSE_MAX_NS ? pause_ns : PAUSE_MAX_NS);
    if (!LIST_EMPTY(&batcher->waiting))
        plan_round(batcher);
}

static void run_slice(struct watch_batcher *batcher)
{
    int64_t began_ns = loop_mono_ns(batcher->loop), now_ns = began_ns;

    while (!LIST_EMPTY(&batcher->sending) && now_ns - began_ns < SLICE_NS) {
        struct watch_batch_entry *entry = LIST_FIRST(&batcher->sending);

        watch_batcher_remove(entry);
        entry->send(entry);
        now_ns = loop_mono_ns(batcher->loop);
    }
    batcher->spent_ns += now_ns - began_ns;
    if (!LIST_EMPTY(&batcher->sending))
        timer_start_ns(batcher->loop, &batcher->timer, 0);
    else
        end_round(batcher, now_ns);
}

/* Starts a round. An entry that is added while the round is under way belongs to the next one. */
static void run_round(struct task *task)
{
    struct watch_batcher *batcher = container_of(task, struct watch_batcher, round);

    batcher->state = BATCHER_SENDING;
    batcher->sending.lh_first = LIST_FIRST(&batcher->waiting);
    if (!LIST_EMPTY(&batcher->sending))
        LIST_FIRST(&batcher->sending)->waits.le_prev = &batcher->sending.lh_first;
    LIST_INIT(&batcher->waiting);
    run_slice(batcher);
}

static void on_timer(struct timer *timer)
{
    struct watch_batcher *batcher = container_of(timer, struct watch_batcher, timer);

    if (batcher->state == BATCHER_SENDING)
        run_slice(batcher);
    else
        loop_post(batcher->loop, &batcher->round);
}

void watch_batcher_add(struct watch_batcher *batcher, struct watch_batch_entry *entry)
{
    if (entry->waits.le_prev)
        return;
    LIST_INSERT_HEAD(&batcher->waiting, entry, waits);
    if (batcher->state == BATCHER_IDLE)
        plan_round(batcher);
}

void watch_batcher_remove(struct watch_batch_entry *entry)
{
    if (entry->waits.le_prev)
        LIST_REMOVE(entry, waits);
    entry->waits.le_prev = NULL;
}

struct watch_batcher *watch_batcher_new(struct loop *loop)
{
    struct watch_batcher *batcher = mem_alloc(sizeof *batcher);

    batcher->loop = loop;
    batcher->round.run = run_round;
    batcher->timer.fire = on_timer;
    return batcher;
}

void watch_batcher_free(struct watch_batcher *batcher)
{
    if (!batcher)
        return;
    timer_stop(batcher->loop, &batcher->timer);
    loop_cancel(batcher->loop, &batcher->round);
    mem_free(batcher);
}
