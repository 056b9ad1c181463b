#pragma once
/*
 * Armed timers, the next one to fire first. Equal times fire in the order they were armed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timer;
typedef void (*timer_fn)(struct timer *timer);

struct timer {
    timer_fn fire;
    int64_t due_ns;  /* private: monotonic */
    size_t position; /* private: in the heap; 0 = not armed */
};

struct timer_row {
    int64_t due_ns;
    uint64_t order; /* counts what was ever added */
    struct timer *timer;
};

struct timer_heap {
    struct timer_row *rows; /* [count + 1], row 0 unused */
    size_t count, cap;
    uint64_t next_order;
};

void timer_heap_add(struct timer_heap *heap, struct timer *timer);    /* by its due_ns; not armed */
void timer_heap_remove(struct timer_heap *heap, struct timer *timer); /* armed */
const struct timer_row *timer_heap_first(const struct timer_heap *heap); /* or NULL */
void timer_heap_release(struct timer_heap *heap);
