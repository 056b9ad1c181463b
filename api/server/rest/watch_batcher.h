#pragma once
/*
 * Rounds in which what watches have to say is sent.
 *
 * An event for a thousand watchers is a thousand system calls, however small it is, and those of a
 * few events cost as much as that of one. So watchers are not sent each event by itself: whoever
 * has something to send waits for the next round, and after a round that took long there is a rest
 * in proportion to it. A lone watcher never waits; of a crowd each waits a rest and a round at
 * most. A long round is cut into slices, between which requests are read and commits reported, so
 * that those who write do not wait for those who watch.
 */
#include "base/loop.h"

struct watch_batcher;

/* Whoever waits for a round; a member of his struct. */
struct watch_batch_entry {
    void (*send)(struct watch_batch_entry *entry);
    struct watch_batch_entry *next, **link; /* private */
};

struct watch_batcher *watch_batcher_new(struct loop *loop);
void watch_batcher_free(struct watch_batcher *batcher); /* nobody may wait any more; NULL is fine */
/** `send` is called once, in the next round; no-op while it waits already. */
void watch_batcher_add(struct watch_batcher *batcher, struct watch_batch_entry *entry);
void watch_batcher_remove(struct watch_batch_entry *entry); /* no-op when he does not wait */
