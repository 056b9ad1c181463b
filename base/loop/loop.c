/*
 * The event loop.
 *
 *        ┌────────────────────────── turn ──────────────────────────┐
 *   poll │ due timers → tasks, until none is left or the slice ends → hooks │ poll …
 *        └───────────────────────────────────────────────────────────┘
 *
 * loop_run alternates turns with one pass of libuv, in which sockets, threads and processes call
 * back. A pass blocks only when may_block says that nothing is left to do; that is decided in a
 * prepare handle, after libuv's own early callbacks and just before it computes how long to sleep.
 * Our timers live in a heap of ours; under a real clock one libuv timer is armed for its top.
 */
#include "base/loop/loop.h"

#include <poll.h>

#include "base/loop/metrics.h"
#include "base/mem.h"

enum {
    NS_PER_MS = 1000000,
    SLICE_NS = 10 * NS_PER_MS, /* real clock: tasks of one turn */
    SLICE_CHECK = 8,           /* tasks between two looks at the clock */
    SLICE_TASKS = 10000,       /* virtual clock: counted, so that a run repeats exactly */
};

struct loop {
    uv_loop_t uv;
    struct clock *clock;
    struct metrics *metrics;
    bool is_virtual, in_turn, stopping;
    size_t holds;
    uint64_t activity; /* counts what could change whether there is something to do */

    struct task *head, **tail; /* list of posted tasks */

    struct heap timers; /* started; the next to fire comes first */
    uint64_t n_started; /* number of timers started so far */

    struct turn_hook *hooks, *next_hook; /* next_hook: the one to run next, while hooks run */
    struct task *idle;                   /* posted when nothing can happen any more; or NULL */

    uv_prepare_t before_poll;
    uv_timer_t alarm; /* alarm of the real clock; unused by a virtual one */
    int64_t alarm_ns; /* time for which the alarm is armed; 0: not armed */
};

/* Timers. */

/* Timers that are due at the same time fire in the order in which they were started. */
static bool started_before(const struct heap_item *a, const struct heap_item *b)
{
    return container_of(a, struct timer, row)->started <
           container_of(b, struct timer, row)->started;
}

/* Returns the next timer to fire; NULL when none is started. */
static struct timer *first_timer(const struct loop *loop)
{
    struct heap_item *first = heap_first(&loop->timers);

    return first ? container_of(first, struct timer, row) : NULL;
}

void timer_start_ns(struct loop *loop, struct timer *timer, int64_t delay_ns)
{
    int64_t now = loop_mono_ns(loop);

    if (delay_ns < 0)
        delay_ns = 0;
    timer_stop(loop, timer);
    if (__builtin_add_overflow(now, delay_ns, &timer->due_ns))
        timer->due_ns = INT64_MAX;
    loop->activity++;
    timer->started = loop->n_started++;
    heap_add(&loop->timers, &timer->row, timer->due_ns);
}

void timer_start(struct loop *loop, struct timer *timer, int64_t delay_ms)
{
    int64_t delay_ns;

    if (__builtin_mul_overflow(delay_ms, (int64_t)NS_PER_MS, &delay_ns))
        delay_ns = delay_ms < 0 ? 0 : INT64_MAX;
    timer_start_ns(loop, timer, delay_ns);
}

void timer_stop(struct loop *loop, struct timer *timer)
{
    heap_remove(&loop->timers, &timer->row);
}

bool timer_armed(const struct timer *timer)
{
    return heap_has(&timer->row);
}

static bool timer_due(const struct loop *loop)
{
    const struct timer *first = first_timer(loop);

    return first && first->due_ns <= loop_mono_ns(loop);
}

/* Timers armed by these callbacks wait for the next turn, so a delay of 0 cannot keep the turn from
 * ending. */
static void fire_timers(struct loop *loop)
{
    struct timer *timer = first_timer(loop);

    if (!timer)
        return;

    int64_t now = loop_mono_ns(loop);
    uint64_t limit = loop->n_started;

    for (; timer && timer->due_ns <= now && timer->started < limit; timer = first_timer(loop)) {
        heap_remove(&loop->timers, &timer->row);
        timer->fire(timer);
    }
}

/* Tasks, hooks and the turn. */

void loop_post(struct loop *loop, struct task *task)
{
    if (task->posted)
        return;
    task->posted = true;
    task->next = NULL;
    *loop->tail = task;
    loop->tail = &task->next;
    loop->activity++;
}

void loop_cancel(struct loop *loop, struct task *task)
{
    if (!task->posted)
        return;
    for (struct task **at = &loop->head; *at; at = &(*at)->next) {
        if (*at != task)
            continue;
        *at = task->next;
        if (!*at)
            loop->tail = at;
        task->posted = false;
        return;
    }
}

static void run_tasks(struct loop *loop)
{
    if (!loop->head)
        return;

    int64_t until = loop->is_virtual ? 0 : loop_mono_ns(loop) + SLICE_NS;

    for (unsigned ran = 1; loop->head; ran++) {
        struct task *task = loop->head;

        loop->head = task->next;
        if (!loop->head)
            loop->tail = &loop->head;
        task->posted = false;
        task->run(task);

        if (loop->is_virtual ? ran == SLICE_TASKS
                             : ran % SLICE_CHECK == 0 && loop_mono_ns(loop) >= until)
            return;
    }
}

void loop_on_turn_end(struct loop *loop, struct turn_hook *hook)
{
    struct turn_hook **at = &loop->hooks;

    while (*at)
        at = &(*at)->next;
    hook->next = NULL;
    *at = hook;
}

void loop_off_turn_end(struct loop *loop, struct turn_hook *hook)
{
    if (loop->next_hook == hook)
        loop->next_hook = hook->next;
    for (struct turn_hook **at = &loop->hooks; *at; at = &(*at)->next) {
        if (*at == hook) {
            *at = hook->next;
            return;
        }
    }
}

static void turn(struct loop *loop)
{
    if (loop->in_turn)
        mem_fatal("the loop was run from one of its own callbacks");
    loop->in_turn = true;
    fire_timers(loop);
    run_tasks(loop);
    for (struct turn_hook *hook = loop->hooks; hook; hook = loop->next_hook) {
        loop->next_hook = hook->next;
        hook->end(hook);
    }
    loop->in_turn = false;
}

/* Passes of libuv. */

static bool may_jump(const struct loop *loop)
{
    return loop->is_virtual && !loop->holds && first_timer(loop);
}

/* Returns whether the idle task is due: under virtual time no timer is started and no hold is
 * taken, so nothing can happen any more. */
static bool is_idle(const struct loop *loop)
{
    return loop->is_virtual && loop->idle && !loop->holds && !first_timer(loop);
}

static bool may_block(const struct loop *loop)
{
    return !loop->stopping && !loop->head && !timer_due(loop) && !may_jump(loop) && !is_idle(loop);
}

/* The turn that follows every pass fires what is due; the alarm only has to end the pass. */
static void on_alarm(uv_timer_t *alarm)
{
    struct loop *loop = container_of(alarm, struct loop, alarm);

    loop->alarm_ns = 0;
    uv_stop(&loop->uv);
}

/*
 * libuv counts whole milliseconds of the same clock, rounded down. Due rounded up is therefore
 * never early, and no more than one late.
 */
static void set_alarm(struct loop *loop)
{
    const struct timer *first = first_timer(loop);
    int64_t due_ns = first ? first->due_ns : 0;

    if (loop->is_virtual || due_ns == loop->alarm_ns)
        return;
    loop->alarm_ns = due_ns;
    if (!due_ns) {
        uv_timer_stop(&loop->alarm);
        return;
    }

    uint64_t due_ms = ((uint64_t)due_ns + NS_PER_MS - 1) / NS_PER_MS, now_ms = uv_now(&loop->uv);

    uv_timer_start(&loop->alarm, on_alarm, due_ms > now_ms ? due_ms - now_ms : 0, 0);
}

static void before_poll(uv_prepare_t *prepare)
{
    struct loop *loop = container_of(prepare, struct loop, before_poll);

    if (may_block(loop))
        set_alarm(loop);
    else
        uv_stop(&loop->uv); /* this pass looks, but does not sleep */
}

/* Returns whether a pass of libuv would call back at once, as far as it can be seen from
 * outside. */
static bool poll_ready(struct loop *loop)
{
    struct pollfd epoll = {.fd = uv_backend_fd(&loop->uv), .events = POLLIN};

    return poll(&epoll, 1, 0) > 0 || !uv_backend_timeout(&loop->uv);
}

/*
 * Runs one pass that does not sleep. Returns true when it found nothing. The pass also tells the
 * kernel of descriptors that are new since the last one, hence the second look after it.
 */
static bool pass_is_quiet(struct loop *loop)
{
    uint64_t before = loop->activity;
    bool ready = poll_ready(loop);

    uv_run(&loop->uv, UV_RUN_NOWAIT);
    return !ready && loop->activity == before && !poll_ready(loop);
}

void loop_on_idle(struct loop *loop, struct task *task)
{
    loop->idle = task;
}

static void jump_to(struct loop *loop, const struct timer *timer)
{
    int64_t delay_ns = timer->due_ns - loop_mono_ns(loop);

    if (delay_ns > 0)
        clock_advance_ns(loop->clock, delay_ns);
}

void loop_run(struct loop *loop)
{
    for (;;) {
        turn(loop);
        if (loop->stopping)
            break;
        if (loop->head || timer_due(loop) || (!may_jump(loop) && !is_idle(loop)))
            uv_run(&loop->uv, UV_RUN_ONCE);
        else if (!pass_is_quiet(loop))
            continue;
        else if (first_timer(loop))
            jump_to(loop, first_timer(loop));
        else
            loop_post(loop, loop->idle);
    }
    loop->stopping = false;
}

void loop_stop(struct loop *loop)
{
    loop->stopping = true;
}

void loop_settle(struct loop *loop)
{
    for (;;) {
        turn(loop);
        if (loop->head || timer_due(loop))
            uv_run(&loop->uv, UV_RUN_NOWAIT);
        else if (loop->holds)
            uv_run(&loop->uv, UV_RUN_ONCE);
        else if (pass_is_quiet(loop))
            return;
    }
}

/* Settles, then goes from timer to timer until the next one lies beyond `until_ns`. Returns false
 * when one does. */
static bool play_until(struct loop *loop, int64_t until_ns)
{
    if (!loop->is_virtual)
        mem_fatal("only a virtual clock can be moved");
    loop_settle(loop);
    for (const struct timer *first; (first = first_timer(loop));) {
        if (first->due_ns > until_ns)
            return false;
        jump_to(loop, first);
        loop_settle(loop);
    }
    return true;
}

static int64_t from_now_ns(const struct loop *loop, int64_t ms)
{
    int64_t ns;

    if (__builtin_mul_overflow(ms, (int64_t)NS_PER_MS, &ns) ||
        __builtin_add_overflow(ns, loop_mono_ns(loop), &ns))
        return INT64_MAX;
    return ns;
}

void loop_advance(struct loop *loop, int64_t ms)
{
    int64_t until_ns = from_now_ns(loop, ms);

    play_until(loop, until_ns);

    int64_t rest_ns = until_ns - loop_mono_ns(loop);

    if (rest_ns > 0)
        clock_advance_ns(loop->clock, rest_ns);
}

bool loop_drain(struct loop *loop, int64_t limit_ms)
{
    return play_until(loop, from_now_ns(loop, limit_ms));
}

/* Holds. */

void loop_hold(struct loop *loop)
{
    loop->holds++;
    loop->activity++;
}

void loop_unhold(struct loop *loop)
{
    if (!loop->holds)
        mem_fatal("loop_unhold without loop_hold");
    loop->holds--;
    loop->activity++;
}

/* Life. */

struct loop *loop_new(struct clock *clock)
{
    struct loop *loop = mem_alloc(sizeof *loop);

    loop->clock = clock;
    loop->metrics = metrics_new();
    loop->is_virtual = clock_is_virtual(clock);
    loop->tail = &loop->head;
    loop->timers.before = started_before;
    if (uv_loop_init(&loop->uv))
        mem_fatal("no descriptors for the event loop");
    uv_prepare_init(&loop->uv, &loop->before_poll);
    uv_prepare_start(&loop->before_poll, before_poll);
    uv_timer_init(&loop->uv, &loop->alarm);
    return loop;
}

static void refuse_open(uv_handle_t *handle, void *unused)
{
    if (!uv_is_closing(handle))
        mem_fatal("loop_free: a libuv handle is still open");
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    if (loop->head || loop->timers.count || loop->hooks)
        mem_fatal("loop_free: a task, timer or hook is left");
    uv_close((uv_handle_t *)&loop->before_poll, NULL);
    uv_close((uv_handle_t *)&loop->alarm, NULL);
    uv_walk(&loop->uv, refuse_open, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT); /* the close callbacks, and the pool's work in flight */
    if (loop->head || loop->holds)
        mem_fatal("loop_free: a hold is left, or a last callback posted a task");
    if (uv_loop_close(&loop->uv))
        mem_fatal("loop_free: libuv is busy");
    metrics_free(loop->metrics);
    heap_release(&loop->timers);
    mem_free(loop);
}

uv_loop_t *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

struct clock *loop_clock(const struct loop *loop)
{
    return loop->clock;
}

struct metrics *loop_metrics(const struct loop *loop)
{
    return loop->metrics;
}

bool loop_is_virtual(const struct loop *loop)
{
    return loop->is_virtual;
}

int64_t loop_wall_ms(const struct loop *loop)
{
    return clock_wall_ms(loop->clock);
}

int64_t loop_mono_ns(const struct loop *loop)
{
    return clock_mono_ns(loop->clock);
}

int64_t loop_left_ms(const struct loop *loop, int64_t due_ms, int64_t whole_ms)
{
    int64_t left_ms = due_ms - loop_wall_ms(loop);

    return left_ms < 0 ? 0 : left_ms < whole_ms ? left_ms : whole_ms;
}
