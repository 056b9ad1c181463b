#pragma once
/*
 * Sends watch events in rounds.
 *
 * An event for a thousand watches costs a thousand system calls, however small it is; several
 * events sent at once cost no more. So a watch does not send each event by itself: it waits for the
 * next round, and after a round that took long the batcher pauses in proportion. A single watch
 * never waits; one of many waits for at most one pause and one round. A long round is cut into
 * slices. Between them the loop reads requests and reports commits, so that watches do not delay
 * writes.
 */
#include <sys/queue.h>

#include "base/loop/loop.h"

struct watch_batcher;

/* A sender that waits for a round; a member of its own struct. */
struct watch_batch_entry {
    void (*send)(struct watch_batch_entry *entry);
    LIST_ENTRY(watch_batch_entry) waits; /* private; le_prev NULL: the entry does not wait */
};

struct watch_batcher *watch_batcher_new(struct loop *loop);
/* Frees the batcher, which must have no waiting entry. NULL is ignored. */
void watch_batcher_free(struct watch_batcher *batcher);
/** Calls `send` once, in the next round; does nothing while the entry waits already. */
void watch_batcher_add(struct watch_batcher *batcher, struct watch_batch_entry *entry);
void watch_batcher_remove(struct watch_batch_entry *entry); /* does nothing if it does not wait */
