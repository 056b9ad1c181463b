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

enum pacer_state { PACER_IDLE, PACER_PLANNED, PACER_GOING };

struct pacer {
    struct loop *loop;
    enum pacer_state state;
    struct task round;
    struct timer timer; /* of the next slice, or of the rest's end */
    int64_t rest_until_ns;
    int64_t spent_ns;      /* of the round so far */
    struct paced *waiting; /* for the next round */
    struct paced *going;   /* of the round that goes on */
};

static void put_first(struct paced **list, struct paced *paced)
{
    paced->next = *list;
    paced->link = list;
    if (*list)
        (*list)->link = &paced->next;
    *list = paced;
}

static void take_out(struct paced *paced)
{
    *paced->link = paced->next;
    if (paced->next)
        paced->next->link = paced->link;
    paced->link = NULL;
}

/* Begin the round of those who wait now, at once or when it has been rested long enough. */
static void plan_round(struct pacer *pacer)
{
    int64_t rest_ns = pacer->rest_until_ns - loop_mono_ns(pacer->loop);

    pacer->state = PACER_PLANNED;
    if (rest_ns > 0)
        timer_start_ns(pacer->loop, &pacer->timer, rest_ns);
    else
        loop_post(pacer->loop, &pacer->round);
}

static void end_round(struct pacer *pacer, int64_t now_ns)
{
    int64_t rest_ns = pacer->spent_ns * REST_PARTS;

    pacer->state = PACER_IDLE;
    pacer->spent_ns = 0;
    if (rest_ns >= REST_MIN_NS)
        pacer->rest_until_ns = now_ns + (rest_ns < REST_MAX_NS ? rest_ns : REST_MAX_NS);
    if (pacer->waiting)
        plan_round(pacer);
}

static void run_slice(struct pacer *pacer)
{
    int64_t began_ns = loop_mono_ns(pacer->loop), now_ns = began_ns;

    while (pacer->going && now_ns - began_ns < SLICE_NS) {
        struct paced *paced = pacer->going;

        take_out(paced);
        paced->send(paced);
        now_ns = loop_mono_ns(pacer->loop);
    }
    pacer->spent_ns += now_ns - began_ns;
    if (pacer->going)
        timer_start_ns(pacer->loop, &pacer->timer, 0);
    else
        end_round(pacer, now_ns);
}

/* Who comes back while the round goes on belongs to the next one. */
static void run_round(struct task *task)
{
    struct pacer *pacer = container_of(task, struct pacer, round);

    pacer->state = PACER_GOING;
    pacer->going = pacer->waiting;
    if (pacer->going)
        pacer->going->link = &pacer->going;
    pacer->waiting = NULL;
    run_slice(pacer);
}

static void on_timer(struct timer *timer)
{
    struct pacer *pacer = container_of(timer, struct pacer, timer);

    if (pacer->state == PACER_GOING)
        run_slice(pacer);
    else
        loop_post(pacer->loop, &pacer->round);
}

void pacer_add(struct pacer *pacer, struct paced *paced)
{
    if (paced->link)
        return;
    put_first(&pacer->waiting, paced);
    if (pacer->state == PACER_IDLE)
        plan_round(pacer);
}

void pacer_remove(struct paced *paced)
{
    if (paced->link)
        take_out(paced);
}

struct pacer *pacer_new(struct loop *loop)
{
    struct pacer *pacer = mem_alloc(sizeof *pacer);

    pacer->loop = loop;
    pacer->round.run = run_round;
    pacer->timer.fire = on_timer;
    return pacer;
}

void pacer_free(struct pacer *pacer)
{
    if (!pacer)
        return;
    timer_stop(pacer->loop, &pacer->timer);
    loop_cancel(pacer->loop, &pacer->round);
    mem_free(pacer);
}
