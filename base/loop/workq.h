#pragma once
/*
 * A work queue: keys that must be processed again.
 *
 * A key has one entry, however often it is added, and is processed by one call at a time, first in
 * first out. A key that failed is added again after a back-off of 5 ms that doubles up to 60 s
 * (L-41). The entry is a struct inside the record that the key stands for, so adding allocates
 * nothing and costs O(1).
 */
#include "base/loop/loop.h"

struct work;

typedef void (*work_fn)(struct work *work);

struct work {
    work_fn handle;     /* the owner sets it before the first add */
    struct task task;   /* private to this module */
    struct timer timer; /* private: timer of a back-off or delay */
    struct loop *loop;  /* private to this module */
    unsigned failures;  /* number of consecutive failures; work_forget sets it to 0 */
};

void work_init(struct work *work, struct loop *loop, work_fn handle);
/* Adding a key at once keeps a delayed wake-up that was requested earlier. */
void work_add(struct work *work);                   /* soon, in this turn */
void work_add_after(struct work *work, int64_t ms); /* keeps an earlier wake-up */
/* Adds the key after 5 ms · 2^failures, at most 60 s. */
void work_add_backoff(struct work *work);
/* Forgets the failures. Call it after success; the next failure then waits 5 ms again. */
void work_forget(struct work *work);
void work_stop(struct work *work); /* must be called before its memory is freed */
