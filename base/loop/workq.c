/*
 * A work queue of keys: the loop's task list is the queue, a timer holds the delays.
 */
#include "base/loop/workq.h"

enum { BACKOFF_FIRST_MS = 5, BACKOFF_MAX_MS = 60000 };

static void on_task(struct task *task)
{
    struct work *work = container_of(task, struct work, task);

    work->handle(work);
}

static void on_timer(struct timer *timer)
{
    struct work *work = container_of(timer, struct work, timer);

    loop_post(work->loop, &work->task);
}

void work_init(struct work *work, struct loop *loop, work_fn handle)
{
    *work = (struct work){
        .handle = handle,
        .task = {.run = on_task},
        .timer = {.fire = on_timer},
        .loop = loop,
    };
}

void work_add(struct work *work)
{
    loop_post(work->loop, &work->task);
}

static int64_t due_ns(const struct work *work, int64_t ms)
{
    int64_t ns;

    if (__builtin_mul_overflow(ms, (int64_t)1000000, &ns) ||
        __builtin_add_overflow(ns, loop_mono_ns(work->loop), &ns))
        return INT64_MAX;
    return ns;
}

void work_add_after(struct work *work, int64_t ms)
{
    if (ms <= 0)
        work_add(work);
    else if (!timer_armed(&work->timer) || work->timer.due_ns > due_ns(work, ms))
        timer_start(work->loop, &work->timer, ms);
}

void work_add_backoff(struct work *work)
{
    int64_t delay_ms = BACKOFF_FIRST_MS;

    for (unsigned i = 0; i < work->failures && delay_ms < BACKOFF_MAX_MS; i++)
        delay_ms *= 2;
    work->failures++;
    work_add_after(work, delay_ms < BACKOFF_MAX_MS ? delay_ms : BACKOFF_MAX_MS);
}

void work_forget(struct work *work)
{
    work->failures = 0;
}

void work_stop(struct work *work)
{
    if (!work || !work->loop)
        return;
    loop_cancel(work->loop, &work->task);
    timer_stop(work->loop, &work->timer);
}
