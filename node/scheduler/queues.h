#pragma once
/*
 * The queues as the scheduler sees them: limits, use and waiting groups of each.
 *
 *   queues ── active    queues with waiting groups that are not blocked, by priority, then by share
 *     └─ queue ── waiting    its groups, ordered by the function given to queues_init
 *          └─ parent … root    a charge counts against every queue of this chain
 *
 * A queue in which no group fits into the limits is *blocked* by a queue of its chain; a closed
 * queue is blocked by itself. It becomes active again when the blocking queue is charged less or
 * changes.
 *
 * Unused guarantees are *kept*: other queues cannot use them. Use by a queue and by its descendants
 * counts towards its guarantee.
 * Ref: spec/job.md 2.5, 19.1.
 */
#include "api/types/kinds/scheduling/queue.h"
#include "base/collections/hash.h"
#include "base/collections/heap.h"
#include "node/machine/backfill.h"
#include "node/machine/fit_queue.h"

struct tally {
    struct amount here;  /* amount of the queue and its descendants */
    struct amount below; /* sum of the amounts of the queue's children */
};

struct queue {
    UT_hash_handle hh;
    char *name;
    bool exists, open;
    struct queue *parent; /* parent queue; NULL: this is the root, or its parent is unknown */
    int32_t weight, priority;
    bool fifo;                /* dequeueStrategy fifo: no group may pass the first */
    bool reclaimable;         /* other queues may reclaim what this queue uses above `deserved` */
    bool has_deserved;        /* the queue may reclaim capacity up to `deserved` */
    bool limited;             /* `limit` is finite */
    struct amount limit;      /* value of spec.capability */
    struct backfill backfill; /* amount reserved within `limit` for a group of this queue or
                               * below */
    struct amount deserved;
    struct amount guarantee;
    struct tally unmet;       /* unused part of the guarantees */
    struct tally promised;    /* amount that guarantees would keep if nothing were in use */
    struct amount used;       /* amount used by this queue and its descendants */
    struct amount would_free; /* used only while victims are chosen: what their eviction frees */
    double share;             /* used share of the capacity, divided by weight */
    struct fit_queue waiting;
    struct heap_item active_item; /* element of queues.active */
    struct queue *blocked_by;
    struct queue *next_blocked;
    struct queue *blocked; /* list of queues blocked by this one */

    /* The members from here to the next blank line belong to the current pass, from the refusal of
     * the queue's first group on. */
    bool refused;          /* the groups behind the first are being tried */
    bool passed;           /* no more groups of the queue are tried in this pass */
    struct queue *limiter; /* the queue whose limit refused the first group; NULL: the nodes did */
    const struct fit_item *tried; /* groups up to this one have been tried */
    int tries;                    /* number of groups that seemed to fit and were refused */
    struct queue *next_refused;
};

struct queues {
    struct queue *table;
    struct heap active;
    struct queue *refused; /* list of queues with `refused` */
    struct amount capacity;
    struct resource_names extras;
    struct amount kept, promised; /* sums over all queue trees */
    bool guaranteed;              /* some queue has a guarantee */
    bool (*before)(const struct fit_item *a, const struct fit_item *b);
};

/** Initialises the queues. `before` orders the groups of one queue. `capacity` is the sum over all
 * nodes. */
void queues_init(struct queues *queues, struct amount capacity, const struct resource_names *extras,
                 bool (*before)(const struct fit_item *a, const struct fit_item *b));
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

/** Returns the first queue of the chain with less than `need` left below its limit, or NULL. `own`
 * is what it is charged for the group that needs it. */
struct queue *queue_full(struct queue *queue, struct amount need, struct amount own);
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
/** Returns true if the queue or one above it has a guarantee. */
bool queue_has_guarantee(const struct queue *queue);
/** Returns the largest share of the capacity that `used` takes of any resource (dominant share). */
double queues_share(const struct queues *queues, struct amount used);

/** Returns what the limits of the queue and of those above it leave. Kinds without a limit are
 * unlimited. */
struct amount queue_room(const struct queue *queue);

/** Adds a group to the queue's waiting groups, by its element `item`. It needs at least `need`. */
void queue_join(struct queues *queues, struct queue *queue, struct fit_item *item,
                struct amount need);
/** Removes a waiting group from the queue. */
void queue_leave(struct queues *queues, struct queue *queue, struct fit_item *item);
/** Blocks `queue` until `by`, a queue of its chain, is charged less or changes. */
void queue_block(struct queues *queues, struct queue *queue, struct queue *by);

/** Unblocks all queues. Called when a change other than of use may let groups fit. */
void queues_unblock(struct queues *queues);

/** Notes that the queue's first group was refused in this pass, by `limiter` or (NULL) the nodes.
 * Groups behind `tried` (NULL: all) are tried next. */
void queue_refuse(struct queues *queues, struct queue *queue, struct queue *limiter,
                  const struct fit_item *tried);
/** Skips a queue whose first group was refused for the rest of this pass. */
void queue_pass_over(struct queues *queues, struct queue *queue);
/** Ends a pass: all queues begin with their first group again. */
void queues_next_pass(struct queues *queues);

/** Returns the queue to serve next, which has a waiting group, or NULL if all are empty or blocked.
 */
struct queue *queues_next(struct queues *queues);
