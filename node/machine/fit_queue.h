#pragma once
/*
 * A queue of items that each need an amount of resources. It finds the first item that fits into a
 * given room without looking at those before it that do not.
 *
 * The queue is a search tree in queue order, balanced by random ranks (a treap). Each item knows
 * the least need of each kind of resource in its subtree, so a search leaves out subtrees in which
 * nothing can fit. An item is a member of its owner's struct.
 *
 * Costs for n items: adding at the end and removing the first O(1) on average, anything else
 * O(log n). A search looks at FIT_QUEUE_VISITS items at most; only needs that are small in one kind
 * and large in another, in turns, make it look at more than O(log n).
 */
#include "node/machine/amount.h"

enum { FIT_QUEUE_VISITS = 1000 };

struct fit_item {
    struct amount need; /* amount that the item needs; callers may read it, the other members are
                         * private */
    struct amount least;
    struct fit_item *parent, *left, *right;
    uint32_t rank; /* random rank in the tree; 0: the item is in no queue */
};

struct fit_queue {
    /** Returns whether `a` comes before `b`. The owner sets it before it adds the first item. An
     * item that comes neither before nor after another is put behind it. */
    bool (*before)(const struct fit_item *a, const struct fit_item *b);
    struct fit_item *root, *first, *last; /* private: the root of the tree and the ends of the
                                           * queue */
    size_t count;
    uint32_t random; /* private: state of the random numbers that become ranks */
};

/** Adds an item that is in no queue. The fields that `before` compares must not change while the
 * item is in the queue. */
void fit_queue_add(struct fit_queue *queue, struct fit_item *item, struct amount need);
/** Does nothing for an item that is in no queue. */
void fit_queue_remove(struct fit_queue *queue, struct fit_item *item);
/** Changes the amount that an item of the queue needs. */
void fit_queue_set_need(struct fit_item *item, struct amount need);
/** Returns the item behind `item` in queue order, or NULL. */
struct fit_item *fit_queue_next(const struct fit_item *item);
/** Returns the first item behind `after` that fits into `room`, or NULL; with `after` NULL the
 * search begins at the first item. A resource that an item does not need may be negative in
 * `room`. */
struct fit_item *fit_queue_find(const struct fit_queue *queue, const struct fit_item *after,
                                struct amount room);

static inline bool fit_queue_has(const struct fit_item *item)
{
    return item->rank != 0;
}

static inline struct fit_item *fit_queue_first(const struct fit_queue *queue)
{
    return queue->first;
}

/** Returns for each kind of resource the least amount that an item of the queue needs. Returns
 * zeros for an empty queue. */
static inline struct amount fit_queue_least(const struct fit_queue *queue)
{
    return queue->root ? queue->root->least : (struct amount){0};
}
