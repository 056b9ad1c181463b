#pragma once
/*
 * The event loop: one thread that owns all state.
 *
 * It is built on libuv. A *turn* has three parts. First the callbacks of sockets, timers and
 * threads run. Then the tasks run that these callbacks and other tasks have posted, until none is
 * left or 10 ms have passed. Then the end-of-turn hooks run, in which the store seals what the turn
 * has written into one commit. State changes in turns only, and a turn is the unit of durability.
 *
 * A callback runs once, on the loop, and never inside the call that submitted it. Tasks and timers
 * are structs inside the struct of their owner and stay alive until they have run or were stopped.
 *
 * With a virtual clock the loop moves time to the next timer as soon as nothing else can happen: no
 * task is posted and no hold is taken. A *hold* (loop_hold) is taken while the loop waits for a
 * thread or a process. Hours pass in milliseconds, and every run is the same.
 */
#include <stdbool.h>
#include <uv.h>

#include "base/clock.h"
#include "base/collections/heap.h"
#include "base/compiler.h"

struct loop;
struct metrics;
struct task;
struct pool_work;

typedef void (*task_fn)(struct task *task);

struct task {
    task_fn run;
    struct task *next; /* private to this module */
    bool posted;       /* the task is posted; owners only read it */
};

/* A timer is a member of its owner's struct; its owner sets `fire`. Timers that are due at the same
 * time fire in the order in which they were started. */
struct timer;
typedef void (*timer_fn)(struct timer *timer);

struct timer {
    timer_fn fire;
    int64_t due_ns;       /* when the timer fires, in monotonic time; owners only read it */
    uint64_t started;     /* private: the number of this start, counted by the loop */
    struct heap_item row; /* private: element of the loop's heap */
};

struct loop *loop_new(struct clock *clock); /* borrows the clock; virtual or real */
/** Everything must be stopped: no task, timer, hold or handle is left. The call waits for work on
 * the pool and calls its `done`. */
void loop_free(struct loop *loop);
uv_loop_t *loop_uv(struct loop *loop);
struct clock *loop_clock(const struct loop *loop);
struct metrics *loop_metrics(const struct loop *loop); /* the metrics of this process */
bool loop_is_virtual(const struct loop *loop);

int64_t loop_wall_ms(const struct loop *loop);
int64_t loop_mono_ns(const struct loop *loop);
/** Returns how long it takes until the wall time is `due_ms`, where a wait of `whole_ms` ends. The
 * result is between 0 and `whole_ms`, also if the wall time was set back (D-12). */
int64_t loop_left_ms(const struct loop *loop, int64_t due_ms, int64_t whole_ms);

void loop_post(struct loop *loop, struct task *task);   /* first in, first out; no-op for a task
                                                         * that is posted already */
void loop_cancel(struct loop *loop, struct task *task); /* no-op for a task that is not posted;
                                                         * O(number of posted tasks) */

/** Starts a timer, or restarts a started one. A negative delay counts as 0. */
void timer_start(struct loop *loop, struct timer *timer, int64_t delay_ms);
void timer_start_ns(struct loop *loop, struct timer *timer, int64_t delay_ns);
void timer_stop(struct loop *loop, struct timer *timer); /* no-op for a timer that is not started */
bool timer_armed(const struct timer *timer);

/**
 * A function that is called after the tasks of each turn. Hooks run in the order in which they were
 * added. A hook may post tasks; they run in the next turn, which begins before the loop sleeps.
 */
struct turn_hook {
    void (*end)(struct turn_hook *hook);
    struct turn_hook *next; /* private to this module */
};
void loop_on_turn_end(struct loop *loop, struct turn_hook *hook);
void loop_off_turn_end(struct loop *loop, struct turn_hook *hook);

/**
 * Takes a hold: something outside the loop is under way and will wake it. Virtual time stands still
 * until the hold is dropped. Under virtual time a wait for a socket needs a hold as well, because
 * the loop cannot see bytes that are still in the kernel.
 */
void loop_hold(struct loop *loop);
void loop_unhold(struct loop *loop);

/**
 * Work on the thread pool. `run` is called on a worker and touches only its own struct; `done` is
 * called on the loop. The work holds the loop until `done` is called.
 */
struct pool_work {
    void (*run)(struct pool_work *work);
    void (*done)(struct pool_work *work);
    uv_work_t req; /* private to this module */
    struct loop *loop;
};
void loop_work(struct loop *loop, struct pool_work *work);

/**
 * Wakes the loop from another thread and runs `task` there, with `on_mail` as its function. `task`
 * is borrowed until the mail is closed. A hold must be taken before the thread starts, or virtual
 * time moves on without it.
 */
struct loop_mail;
struct loop_mail *loop_mail_new(struct loop *loop, task_fn on_mail, struct task *task);
/* Causes a run of the mail's callback on the loop. It may be called on any thread; several calls
 * may cause one run. */
void loop_mail_send(struct loop_mail *mail);
/* Closes the mail. It is called on the loop; the mail is freed when libuv has closed its handle. */
void loop_mail_close(struct loop_mail *mail);

void loop_run(struct loop *loop); /* runs the loop until loop_stop */
void loop_stop(struct loop *loop);

/**
 * Virtual clock: posts `task` whenever nothing can happen any more: no timer is started, no hold is
 * taken, nothing is posted or ready. A real loop would sleep for ever. NULL ends this.
 */
void loop_on_idle(struct loop *loop, struct task *task);

/** Runs turns until nothing is posted, held or ready. Virtual time does not move. */
void loop_settle(struct loop *loop);
/**
 * For tests and forecasts, which need time to pass: settles, then moves virtual time forward by
 * `ms`. Timers fire in order, and the loop settles after each instant. Timers of one instant fire in
 * one turn, in the order in which they were started.
 */
void loop_advance(struct loop *loop, int64_t ms);
/**
 * For tests: settles and jumps from timer to timer. Returns true when no timer is left, false when
 * the next one is more than `limit_ms` of virtual time after the beginning.
 */
bool loop_drain(struct loop *loop, int64_t limit_ms);
