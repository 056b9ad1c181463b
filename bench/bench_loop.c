/*
 * Measures the event loop alone: posted tasks, timers started and fired, turns, and messages
 * between threads. Prints one JSON line.
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/encoding/jsonw.h"
#include "base/loop/loop.h"
#include "base/mem.h"

enum { TASKS = 10000000, TIMERS = 1000000, TURNS = 200000, TEXTS = 1000000 };

struct bench {
    struct clock *clock;
    struct loop *loop;
    struct task task;
    struct timer *timers;
    int64_t left;
};

static struct bench bench;

static double seconds_since(int64_t began_ns)
{
    return (double)(clock_mono_ns(clock_real()) - began_ns) / 1e9;
}

static void post_again(struct task *task)
{
    if (--bench.left > 0)
        loop_post(bench.loop, task);
    else
        loop_stop(bench.loop);
}

static void count_down(struct timer *timer)
{
    if (!--bench.left)
        loop_stop(bench.loop);
}

static void fire_again(struct timer *timer)
{
    if (--bench.left > 0)
        timer_start(bench.loop, timer, 0);
    else
        loop_stop(bench.loop);
}

static double task_rate(void)
{
    int64_t began = clock_mono_ns(clock_real());

    bench.left = TASKS;
    bench.task.run = post_again;
    loop_post(bench.loop, &bench.task);
    loop_run(bench.loop);
    return TASKS / seconds_since(began);
}

static double timer_rate(void)
{
    int64_t began = clock_mono_ns(clock_real());

    bench.left = TIMERS;
    bench.timers = mem_array(TIMERS, sizeof *bench.timers);
    for (size_t i = 0; i < TIMERS; i++) {
        bench.timers[i].fire = count_down;
        timer_start(bench.loop, &bench.timers[i], (int64_t)(clock_random(bench.clock) % 1000));
    }
    loop_run(bench.loop);
    mem_free(bench.timers);
    return TIMERS / seconds_since(began);
}

static double turn_rate(void)
{
    struct timer timer = {.fire = fire_again};
    int64_t began = clock_mono_ns(clock_real());

    bench.left = TURNS;
    timer_start(bench.loop, &timer, 0);
    loop_run(bench.loop);
    return TURNS / seconds_since(began);
}

static double text_rate(void)
{
    scoped(buf) struct buf out = {0};
    int64_t began = clock_mono_ns(clock_real()), bytes = 0;

    for (int i = 0; i < TEXTS; i++) {
        struct jsonw w = jsonw_to(&out);

        buf_clear(&out);
        jsonw_open(&w);
        jsonw_member_str(&w, "name", "simulation-step-000123");
        jsonw_member_str(&w, "namespace", "default");
        jsonw_member_int(&w, "generation", i);
        jsonw_member_time(&w, "startTime", 1767323045000 + i);
        jsonw_member_str(&w, "message", "exit code 3: \"out of range\"\nsee the log");
        jsonw_close(&w);
        bytes += (int64_t)out.len;
    }
    return (double)bytes / seconds_since(began) / 1e6;
}

int main(void)
{
    struct clock *virtual_clock = clock_virtual_new(0, 1);
    double tasks, timers, turns, jumps;

    bench.clock = clock_real();
    bench.loop = loop_new(bench.clock);
    tasks = task_rate();
    turns = turn_rate();
    timers = timer_rate();
    loop_free(bench.loop);

    bench.clock = virtual_clock;
    bench.loop = loop_new(bench.clock);
    jumps = timer_rate();
    loop_free(bench.loop);
    clock_free(virtual_clock);

    printf("{\"bench\":\"loop\",\"tasks_per_s\":%.0f,\"turns_per_s\":%.0f,\"timers_per_s\":%.0f,"
           "\"virtual_timers_per_s\":%.0f,\"jsonw_mb_per_s\":%.0f}\n",
           tasks, turns, timers, jumps, text_rate());
    return 0;
}
