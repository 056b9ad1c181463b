/*
 * A treap with parent pointers. The item with the higher rank is nearer to the root; ranks are
 * random, so the tree is flat whatever the order of additions.
 */
#include "node/machine/fit_queue.h"

static struct amount least_of(const struct fit_item *item)
{
    struct amount least = item->need;

    if (item->left)
        least = amount_min(least, item->left->least);
    if (item->right)
        least = amount_min(least, item->right->least);
    return least;
}

/* Recomputes the least need of each subtree, from `item` towards the root, until nothing
 * changes. */
static void update_upwards(struct fit_item *item)
{
    for (; item; item = item->parent) {
        struct amount least = least_of(item);

        if (amount_equal(least, item->least))
            return;
        item->least = least;
    }
}

/* Makes `by` the child of the parent of `item`, in place of `item`. `by` may be NULL. */
static void replace(struct fit_queue *queue, const struct fit_item *item, struct fit_item *by)
{
    struct fit_item *parent = item->parent;

    if (!parent)
        queue->root = by;
    else if (parent->left == item)
        parent->left = by;
    else
        parent->right = by;
    if (by)
        by->parent = parent;
}

/* Exchanges an item with its parent in the tree. The order of the queue stays the same. */
static void rotate_up(struct fit_queue *queue, struct fit_item *item)
{
    struct fit_item *parent = item->parent, *between;

    replace(queue, parent, item);
    if (parent->left == item) {
        between = parent->left = item->right;
        item->right = parent;
    } else {
        between = parent->right = item->left;
        item->left = parent;
    }
    parent->parent = item;
    if (between)
        between->parent = parent;
    item->least = parent->least;
    parent->least = least_of(parent);
}

static void attach(struct fit_queue *queue, struct fit_item *item)
{
    struct fit_item *at = queue->last, **link = &queue->root;

    if (at && !queue->before(item, at)) {
        link = &at->right;
        queue->last = item;
    } else if (at) {
        at = NULL;
        while (*link) {
            at = *link;
            link = queue->before(item, at) ? &at->left : &at->right;
        }
        if (link == &queue->first->left)
            queue->first = item;
    } else {
        queue->first = queue->last = item;
    }
    item->parent = at;
    *link = item;
}

static uint32_t next_rank(struct fit_queue *queue)
{
    uint32_t x = queue->random ? queue->random : 2463534242U;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return queue->random = x; /* the rank of an item in a queue is never 0 */
}

void fit_queue_add(struct fit_queue *queue, struct fit_item *item, struct amount need)
{
    *item = (struct fit_item){.need = need, .least = need, .rank = next_rank(queue)};
    attach(queue, item);
    queue->count++;
    update_upwards(item->parent);
    while (item->parent && item->parent->rank < item->rank)
        rotate_up(queue, item);
}

static struct fit_item *leftmost(struct fit_item *item)
{
    while (item && item->left)
        item = item->left;
    return item;
}

static struct fit_item *previous(const struct fit_item *item)
{
    struct fit_item *before = item->left;

    while (before && before->right)
        before = before->right;
    for (; !before && item->parent; item = item->parent)
        if (item->parent->right == item)
            before = item->parent;
    return before;
}

struct fit_item *fit_queue_next(const struct fit_item *item)
{
    struct fit_item *next = leftmost(item->right);

    for (; !next && item->parent; item = item->parent)
        if (item->parent->left == item)
            next = item->parent;
    return next;
}

void fit_queue_remove(struct fit_queue *queue, struct fit_item *item)
{
    if (!item->rank)
        return;
    if (queue->first == item)
        queue->first = fit_queue_next(item);
    if (queue->last == item)
        queue->last = previous(item);
    while (item->left || item->right) {
        struct fit_item *left = item->left, *right = item->right;

        rotate_up(queue, !right || (left && left->rank > right->rank) ? left : right);
    }
    replace(queue, item, NULL);
    queue->count--;
    update_upwards(item->parent);
    item->rank = 0;
}

void fit_queue_set_need(struct fit_item *item, struct amount need)
{
    if (amount_equal(item->need, need))
        return;
    item->need = need;
    update_upwards(item);
}

struct search {
    struct amount room;
    int visits;
};

static bool fits(struct search *search, struct amount need)
{
    return amount_fits(need, (struct amount){0}, search->room);
}

/* Returns the first item of the subtree below `item` that fits into the room of the search, or
 * NULL. */
static struct fit_item *find_below(struct search *search, struct fit_item *item)
{
    struct fit_item *found;

    if (!item || ++search->visits > FIT_QUEUE_VISITS || !fits(search, item->least))
        return NULL;
    found = find_below(search, item->left);
    if (found)
        return found;
    return fits(search, item->need) ? item : find_below(search, item->right);
}

struct fit_item *fit_queue_find(const struct fit_queue *queue, const struct fit_item *after,
                                struct amount room)
{
    struct search search = {.room = room};
    struct fit_item *found = find_below(&search, after ? after->right : queue->root);

    for (; !found && after && after->parent; after = after->parent) {
        struct fit_item *parent = after->parent;

        if (parent->left != after)
            continue;
        found = fits(&search, parent->need) ? parent : find_below(&search, parent->right);
    }
    return found;
}
