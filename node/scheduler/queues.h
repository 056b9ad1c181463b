#pragma once
/*
 * The queues as the scheduler sees them: limits, use and waiting groups of each.
 *
 *   queues ── active    queues with waiting groups that are not blocked, by priority, then by share
 *     └─ queue ── waiting    its groups, ordered by the function given to queues_init
 *          └─ parent … root    a charge counts against every queue of this chain
 *
 * A queue whose first group exceeds a limit is *blocked* by the queue of its chain whose limit is
 * reached; a closed queue is blocked by itself. It becomes active again when the blocking queue is
 * charged less or changes.
 *
 * Unused guarantees are *kept*: other queues cannot use them. Use by a queue and by its descendants
 * counts towards its guarantee.
 * Ref: spec/job.md 2.5, 19.1.
 */
#include "api/types/kinds/scheduling/queue.h"
#include "base/hash.h"
#include "base/heap.h"
#include "node/machine/amount.h"

struct tally {
    struct amount here;  /* of the queue and its descendants */
    struct amount below; /* sum over its children */
};

struct queue {
    UT_hash_handle hh;
    char *name;
    bool exists, open;
    struct queue *parent; /* NULL: it is the root, or its parent is unknown */
    int32_t weight, priority;
    bool fifo;           /* dequeueStrategy fifo: no group may pass the first */
    bool reclaimable;    /* other queues may reclaim what it uses above `deserved` */
    bool has_deserved;   /* it may reclaim capacity up to `deserved` */
    struct amount limit; /* spec.capability */
    struct amount deserved;
    struct amount guarantee;
    struct tally unmet;       /* unused part of guarantees */
    struct tally promised;    /* what guarantees would keep if nothing were in use */
    struct amount used;       /* by this queue and its descendants */
    struct amount would_free; /* used only while victims are chosen: what their eviction frees */
    double share;             /* used share of the capacity, divided by weight */
    struct heap waiting;
    struct heap_item active_item; /* element of queues.active */
    struct queue *blocked_by;
    struct queue *next_blocked;
    struct queue *blocked; /* list of queues blocked by this one */
    struct queue *next_passed;
    bool passed; /* skipped for the rest of this pass */
};

struct queues {
    struct queue *table;
    struct heap active;
    struct queue *passed;
    struct amount capacity;
    struct resource_names extras;
    struct amount kept, promised; /* sums over all queue trees */
    bool guaranteed;              /* some queue has a guarantee */
    bool (*before)(const struct heap_item *a, const struct heap_item *b);
};

/** `before` orders the groups of one queue; `capacity` is the sum over all nodes. */
void queues_init(struct queues *queues, struct amount capacity, const struct resource_names *extras,
                 bool (*before)(const struct heap_item *a, const struct heap_item *b));
/** Frees all queues, but not `queues` itself. */
void queues_release(struct queues *queues);

/** Returns the queue of this name, a closed one if no Queue object exists. NULL and "" mean
 * `default`. Never NULL; borrowed. */
struct queue *queues_named(struct queues *queues, const char *name);
/** Updates a queue from its new or changed object and unblocks the queues it blocked. */
void queues_set(struct queues *queues, const struct object *object);
/** Marks a deleted queue as missing: it is closed and has no guarantee. */
void queues_unset(struct queues *queues, const char *name);

/** Changes one charge on `queue` and its ancestors from `from` to `to`. */
void queue_charge(struct queues *queues, struct queue *queue, struct amount from, struct amount to);

/** Returns the first queue of the chain with less than `need` left below its limit, or NULL. */
struct queue *queue_full(struct queue *queue, struct amount need);
/** Returns the first queue of the chain whose limit is below `need`, or NULL. */
struct queue *queue_never(struct queue *queue, struct amount need);

/** Returns what guarantees keep in total once `queue` has been charged `more`. */
struct amount queues_kept(const struct queues *queues, const struct queue *queue,
                          struct amount more);
/** Returns what guarantees would keep from `queue` if it used `need` and no other queue used
 * anything. */
struct amount queues_promised(const struct queues *queues, const struct queue *queue,
                              struct amount need);
/** Returns true if the unused part of the queue's guarantee covers `more`. */
bool queue_guarantees(const struct queue *queue, struct amount more);
/** Returns the largest share of the capacity that `used` takes of any resource (dominant share). */
double queues_share(const struct queues *queues, struct amount used);

/** Adds a group to the queue's waiting groups, by its element `item`. */
void queue_join(struct queues *queues, struct queue *queue, struct heap_item *item);
/** Removes a waiting group from the queue. */
void queue_leave(struct queues *queues, struct queue *queue, struct heap_item *item);
/** Blocks `queue` until `by`, a queue of its chain, is charged less or changes. */
void queue_block(struct queues *queues, struct queue *queue, struct queue *by);

/** Unblocks all queues. Called when a change other than of use may let groups fit. */
void queues_unblock(struct queues *queues);

/** Skips the queue for the rest of this pass. */
void queue_pass_over(struct queues *queues, struct queue *queue);
/** Ends a pass: skipped queues are served again. */
void queues_next_pass(struct queues *queues);

/** Returns the queue to serve next, which has a waiting group, or NULL if all are empty or blocked.
 */
struct queue *queues_next(struct queues *queues);
