/*
 * Rounds:
 *
 *   idle ──add──► planned: posted, or at the rest's end ──► going: slice, slice, …
 *    ▲                            ▲                                    │
 *    └── nobody waits ────────────┴── somebody does ◄──────────────────┘
 *
 * The loop's tasks of a turn run before its sockets are looked at again, so the slices of a round
 * are timers that are due at once.
 */
#include "api/server/rest/watch_batcher.h"

#include "base/mem.h"

enum {
    REST_PARTS = 1,            /* rounds take half of the loop's time at most … */
    REST_MIN_NS = 1000 * 1000, /* … shorter ones are not worth a timer */
    REST_MAX_NS = 8 * 1000 * 1000,
    SLICE_NS = 10 * 1000 * 1000,
};

enum watch_batcher_state { BATCHER_IDLE, BATCHER_PLANNED, BATCHER_GOING };

struct watch_batcher {
    struct loop *loop;
    enum watch_batcher_state state;
    struct task round;
    struct timer timer; /* of the next slice, or of the rest's end */
    int64_t rest_until_ns;
    int64_t spent_ns;                  /* of the round so far */
    struct watch_batch_entry *waiting; /* for the next round */
    struct watch_batch_entry *going;   /* of the round that goes on */
};

static void put_first(struct watch_batch_entry **list, struct watch_batch_entry *entry)
{
    entry->next = *list;
    entry->link = list;
    if (*list)
        (*list)->link = &entry->next;
    *list = entry;
}

static void take_out(struct watch_batch_entry *entry)
{
    *entry->link = entry->next;
    if (entry->next)
        entry->next->link = entry->link;
    entry->link = NULL;
}

/* Begin the round of those who wait now, at once or when it has been rested long enough. */
static void plan_round(struct watch_batcher *batcher)
{
    int64_t rest_ns = batcher->rest_until_ns - loop_mono_ns(batcher->loop);

    batcher->state = BATCHER_PLANNED;
    if (rest_ns > 0)
        timer_start_ns(batcher->loop, &batcher->timer, rest_ns);
    else
        loop_post(batcher->loop, &batcher->round);
}

static void end_round(struct watch_batcher *batcher, int64_t now_ns)
{
    int64_t rest_ns = batcher->spent_ns * REST_PARTS;

    batcher->state = BATCHER_IDLE;
    batcher->spent_ns = 0;
    if (rest_ns >= REST_MIN_NS)
        batcher->rest_until_ns = now_ns + (rest_ns < REST_MAX_NS ? rest_ns : REST_MAX_NS);
    if (batcher->waiting)
        plan_round(batcher);
}

static void run_slice(struct watch_batcher *batcher)
{
    int64_t began_ns = loop_mono_ns(batcher->loop), now_ns = began_ns;

    while (batcher->going && now_ns - began_ns < SLICE_NS) {
        struct watch_batch_entry *entry = batcher->going;

        take_out(entry);
        entry->send(entry);
        now_ns = loop_mono_ns(batcher->loop);
    }
    batcher->spent_ns += now_ns - began_ns;
    if (batcher->going)
        timer_start_ns(batcher->loop, &batcher->timer, 0);
    else
        end_round(batcher, now_ns);
}

/* Who comes back while the round goes on belongs to the next one. */
static void run_round(struct task *task)
{
    struct watch_batcher *batcher = container_of(task, struct watch_batcher, round);

    batcher->state = BATCHER_GOING;
    batcher->going = batcher->waiting;
    if (batcher->going)
        batcher->going->link = &batcher->going;
    batcher->waiting = NULL;
    run_slice(batcher);
}

static void on_timer(struct timer *timer)
{
    struct watch_batcher *batcher = container_of(timer, struct watch_batcher, timer);

    if (batcher->state == BATCHER_GOING)
        run_slice(batcher);
    else
        loop_post(batcher->loop, &batcher->round);
}

void watch_batcher_add(struct watch_batcher *batcher, struct watch_batch_entry *entry)
{
    if (entry->link)
        return;
    put_first(&batcher->waiting, entry);
    if (batcher->state == BATCHER_IDLE)
        plan_round(batcher);
}

void watch_batcher_remove(struct watch_batch_entry *entry)
{
    if (entry->link)
        take_out(entry);
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
