/*
 * Rounds:
 *
 *   nobody waits ──add──► posted, or the rest's timer ──► round: everybody who waits ──► rest
 */
#include "api/server/pacer.h"
#include "base/mem.h"

enum {
    REST_PARTS = 3,            /* rounds take a quarter of the loop's time at most */
    REST_MIN_NS = 1000 * 1000, /* shorter ones are not worth a timer */
    REST_MAX_NS = 20 * 1000 * 1000,
};

struct pacer {
    struct loop *loop;
    struct task round;
    struct timer rest;
    int64_t rest_until_ns;
    struct paced *waiting;
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

/* Who comes back while the round goes on belongs to the next one. */
static void run_round(struct task *task)
{
    struct pacer *pacer = container_of(task, struct pacer, round);
    int64_t began_ns = loop_mono_ns(pacer->loop), now_ns, rest_ns;
    struct paced *round = pacer->waiting, *paced;

    pacer->waiting = NULL;
    if (round)
        round->link = &round;
    while ((paced = round)) {
        take_out(paced);
        paced->send(paced);
    }
    now_ns = loop_mono_ns(pacer->loop);
    rest_ns = (now_ns - began_ns) * REST_PARTS;
    if (rest_ns < REST_MIN_NS)
        return;
    pacer->rest_until_ns = now_ns + (rest_ns < REST_MAX_NS ? rest_ns : REST_MAX_NS);
}

static void on_rested(struct timer *timer)
{
    struct pacer *pacer = container_of(timer, struct pacer, rest);

    loop_post(pacer->loop, &pacer->round);
}

void pacer_add(struct pacer *pacer, struct paced *paced)
{
    bool first = !pacer->waiting;
    int64_t rest_ns;

    if (paced->link)
        return;
    put_first(&pacer->waiting, paced);
    if (!first)
        return;
    rest_ns = pacer->rest_until_ns - loop_mono_ns(pacer->loop);
    if (rest_ns > 0)
        timer_start_ns(pacer->loop, &pacer->rest, rest_ns);
    else
        loop_post(pacer->loop, &pacer->round);
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
    pacer->rest.fire = on_rested;
    return pacer;
}

void pacer_free(struct pacer *pacer)
{
    if (!pacer)
        return;
    timer_stop(pacer->loop, &pacer->rest);
    loop_cancel(pacer->loop, &pacer->round);
    mem_free(pacer);
}
