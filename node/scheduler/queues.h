#pragma once
/*
 * The queues as the scheduler sees them: what each may take, what is taken of it, who waits in it.
 *
 *   queues ── active: the queues in which somebody waits and that are not blocked, by priority,
 * then │               by the share they have already └─ queue ── waiting: its groups in the order
 * given at init └ parent … root      a charge counts against every queue of the chain
 *
 * A queue that cannot serve its first group is *blocked* by the queue of its chain whose limit is
 * reached (or by itself while it is closed), and nobody looks at it again before that one gives
 * something back or is changed.
 *
 * What a queue is guaranteed and does not use is *kept*: nobody else may take it. A guarantee is
 * met by what the queue and those below it use. Ref: spec/job.md 2.5, 19.1.
 */
#include "api/types/kinds/scheduling/queue.h"
#include "base/hash.h"
#include "base/heap.h"
#include "node/machine/amount.h"

struct tally {
    struct amount here;  /* with what is below */
    struct amount below; /* the sum over the children */
};

struct queue {
    UT_hash_handle hh;
    char *name;
    bool exists, open;
    struct queue *parent; /* NULL: the root, or unknown */
    int32_t weight, priority;
    bool fifo;           /* dequeueStrategy: nobody passes the first one */
    bool reclaimable;    /* others may have back what is beyond `deserved` */
    bool has_deserved;   /* it may have back what it deserves */
    struct amount limit; /* capability */
    struct amount deserved;
    struct amount guarantee;
    struct tally unmet;    /* what guarantees keep, here and below */
    struct tally promised; /* what they would keep if nobody used anything */
    struct amount used;    /* by this queue and those below it */
    struct amount hunted;  /* scratch of scheduler_evict: what of it would be given back */
    double share;          /* used over what there is, over weight */
    struct heap waiting;
    struct heap_item place; /* in queues.active */
    struct queue *blocked_by;
    struct queue *next_blocked;
    struct queue *blocked; /* those blocked by this one */
    struct queue *next_passed;
    bool passed; /* set aside for this pass */
};

struct queues {
    struct queue *table;
    struct heap active;
    struct queue *passed;
    struct amount capacity;
    struct resource_names extras;
    struct amount kept, promised; /* the sums over all trees */
    bool guaranteed;              /* any queue has a guarantee */
    bool (*before)(const struct heap_item *a, const struct heap_item *b);
};

/** `before` orders the groups of one queue; `capacity` is what the node has. */
void queues_init(struct queues *queues, struct amount capacity, const struct resource_names *extras,
                 bool (*before)(const struct heap_item *a, const struct heap_item *b));
void queues_release(struct queues *queues);

/** The queue of this name; one that does not exist (yet) is closed. NULL and "" mean `default`. */
struct queue *queues_named(struct queues *queues, const char *name);
/** A Queue object has appeared or changed. Whoever it blocked is looked at again. */
void queues_set(struct queues *queues, const struct object *object);
void queues_unset(struct queues *queues, const char *name);

/** Somebody's claim on `queue` and its ancestors changes from `from` to `to`. */
void queue_charge(struct queues *queues, struct queue *queue, struct amount from, struct amount to);

/** The queue of the chain that has no room left for `need`, or NULL. */
struct queue *queue_full(struct queue *queue, struct amount need);
/** The queue of the chain that could not take `need` even if it were empty, or NULL. */
struct queue *queue_never(struct queue *queue, struct amount need);

/** What all guarantees keep from others when `queue` has got `more`. */
struct amount queues_kept(const struct queues *queues, const struct queue *queue,
                          struct amount more);
/** What the guarantees of others would keep from `queue` if it had `need` and nobody else had
 * anything. */
struct amount queues_promised(const struct queues *queues, const struct queue *queue,
                              struct amount need);
/** Whether `more` is covered by what is guaranteed to the queue and not used yet. */
bool queue_guarantees(const struct queue *queue, struct amount more);
/** How much of its capacity something takes, by the resource it takes most of. */
double queues_share(const struct queues *queues, struct amount used);

void queue_join(struct queues *queues, struct queue *queue, struct heap_item *item);
void queue_leave(struct queues *queues, struct queue *queue, struct heap_item *item);
/** Not before `by` (a queue of the chain) gives something back or changes. */
void queue_block(struct queues *queues, struct queue *queue, struct queue *by);

/** Something else than room has changed: every queue is looked at again. */
void queues_unblock(struct queues *queues);

/** Not again in this pass. */
void queue_pass_over(struct queues *queues, struct queue *queue);
void queues_next_pass(struct queues *queues);

/** The queue to be served next, never empty; NULL when all are empty or blocked. */
struct queue *queues_next(struct queues *queues);
