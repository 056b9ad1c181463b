#pragma once
/*
 * The event loop: one thread that owns all state.
 *
 * Built on libuv. A *turn* is: callbacks of sockets, timers and threads; then every task posted by
 * them and by each other, until none is left (or a slice of 10 ms is used up); then the end-of-turn
 * hooks, in which the store seals what the turn wrote into one commit. State therefore changes in
 * turns, and a turn is the unit of durability.
 *
 * Rules: a callback runs once, on the loop, never inside the call that submitted it. Tasks and
 * timers are structs inside the asker's struct and stay alive until they have run or were stopped.
 *
 * With a virtual clock the loop moves time to the next timer as soon as nothing else can happen: no
 * task posted, no hold taken (loop_hold, taken by whoever waits for a thread or a process), so
 * hours pass in milliseconds and every run is the same.
 */
#include <stdbool.h>
#include <uv.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/heap.h"

struct loop;
struct metrics;
struct task;
struct pool_work;

typedef void (*task_fn)(struct task *task);

struct task {
    task_fn run;
    struct task *next; /* private */
    bool posted;       /* read only */
};

/* A timer is a member of its owner's struct; its owner sets `fire`. Timers that are due at the same
 * time fire in the order in which they were started. */
struct timer;
typedef void (*timer_fn)(struct timer *timer);

struct timer {
    timer_fn fire;
    int64_t due_ns;       /* read only: monotonic */
    uint64_t started;     /* private: the number of this start, counted by the loop */
    struct heap_item row; /* private: in the loop's heap */
};

struct loop *loop_new(struct clock *clock); /* borrows the clock; virtual or real */
/** Everything must be stopped: no task, timer, hold or handle left. Work on the pool is waited for,
 * and its `done` called. */
void loop_free(struct loop *loop);
uv_loop_t *loop_uv(struct loop *loop);
struct clock *loop_clock(const struct loop *loop);
struct metrics *loop_metrics(const struct loop *loop); /* the figures of this process */
bool loop_is_virtual(const struct loop *loop);

int64_t loop_wall_ms(const struct loop *loop);
int64_t loop_mono_ns(const struct loop *loop);
/** How long until the wall shows `due_ms`, the end of a wait of `whole_ms`; not negative, and no
 * longer than the whole wait, however far back the wall was set (D-12). */
int64_t loop_left_ms(const struct loop *loop, int64_t due_ms, int64_t whole_ms);

void loop_post(struct loop *loop, struct task *task);   /* no-op while already posted; FIFO */
void loop_cancel(struct loop *loop, struct task *task); /* no-op when not posted; O(posted) */

void timer_start(struct loop *loop, struct timer *timer, int64_t delay_ms); /* re-arms; <0 is 0 */
void timer_start_ns(struct loop *loop, struct timer *timer, int64_t delay_ns);
void timer_stop(struct loop *loop, struct timer *timer); /* no-op when idle */
bool timer_armed(const struct timer *timer);

/**
 * Called after the tasks of a turn; hooks run in the order added. May post tasks: they run in the
 * next turn, which comes before the loop sleeps.
 */
struct turn_hook {
    void (*end)(struct turn_hook *hook);
    struct turn_hook *next; /* private */
};
void loop_on_turn_end(struct loop *loop, struct turn_hook *hook);
void loop_off_turn_end(struct loop *loop, struct turn_hook *hook);

/**
 * Something outside the loop is under way whose result will wake it: virtual time stands still,
 * idle is not idle. Whoever waits for a socket under virtual time takes one too: bytes still in the
 * kernel cannot be seen from here.
 */
void loop_hold(struct loop *loop);
void loop_unhold(struct loop *loop);

/**
 * Work on the thread pool: `run` on a worker (touches only its own struct), `done` on the loop.
 * Takes a hold until `done` is called.
 */
struct pool_work {
    void (*run)(struct pool_work *work);
    void (*done)(struct pool_work *work);
    uv_work_t req; /* private */
    struct loop *loop;
};
void loop_work(struct loop *loop, struct pool_work *work);

/**
 * Wake the loop from another thread and run `task` there, with `on_mail` as its function. `task` is
 * borrowed until the mail is closed. A thread that will send something takes a hold before it
 * starts, or virtual time runs away from it.
 */
struct loop_mail;
struct loop_mail *loop_mail_new(struct loop *loop, task_fn on_mail, struct task *task);
void loop_mail_send(struct loop_mail *mail);  /* any thread; several sends may fold into one run */
void loop_mail_close(struct loop_mail *mail); /* on the loop; freed when libuv is done with it */

void loop_run(struct loop *loop); /* until loop_stop */
void loop_stop(struct loop *loop);

/**
 * Virtual clock: post `task` whenever nothing can happen any more: no timer is armed, no hold
 * taken, nothing posted or ready. A real loop would sleep for ever. NULL: no longer.
 */
void loop_on_idle(struct loop *loop, struct task *task);

/** Tests: run turns until nothing is posted, held or ready, without moving virtual time. */
void loop_settle(struct loop *loop);
/**
 * Tests: settle, then move virtual time forward by `ms`, firing timers in order and settling after
 * each instant. Timers of the same instant fire in one turn, in the order they were armed.
 */
void loop_advance(struct loop *loop, int64_t ms);
/**
 * Tests: settle and jump from timer to timer until none is left (true) or the next one is more than
 * `limit_ms` of virtual time away from the start (false).
 */
bool loop_drain(struct loop *loop, int64_t limit_ms);
