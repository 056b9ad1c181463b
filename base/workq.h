#pragma once
/*
 * A work queue: which keys need another look. One entry per key however often it is added, handled
 * once at a time, first in first out, with a per-key back-off for those that failed (5 ms doubling
 * to 60 s, L-41).
 *
 * The entry is a struct inside the record it is about, so adding allocates nothing and costs O(1).
 */
#include "base/loop.h"

struct workq;
struct work;

typedef void (*work_fn)(struct work *work);

struct work {
    work_fn handle;     /* set by the owner before the first add */
    struct task task;   /* private */
    struct timer timer; /* private: back-off or delay */
    struct loop *loop;  /* private */
    unsigned failures;  /* consecutive; cleared by work_forget */
};

void work_init(struct work *work, struct loop *loop, work_fn handle);
/* A wake-up that was asked for is never lost: adding at once leaves a delay that is under way
 * armed. */
void work_add(struct work *work);                   /* soon, in this turn */
void work_add_after(struct work *work, int64_t ms); /* keeps an earlier wake-up */
void work_add_backoff(struct work *work);           /* after 5 ms · 2^failures, at most 60 s */
void work_forget(struct work *work);                /* success: the next failure starts at 5 ms */
void work_stop(struct work *work);                  /* before its memory goes */
