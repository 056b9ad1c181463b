#pragma once
/*
 * A binary heap of structs that know their place in it, so that any of them can be removed or moved
 * in O(log n).
 *
 * The scheduler's waiting lines stand on it: of ten thousand waiting groups only the first is ever
 * looked at.
 */
#include <stdbool.h>
#include <stddef.h>

struct order_item {
    size_t position; /* private; 0 = in no order */
};

struct order {
    bool (*before)(const struct order_item *a, const struct order_item *b);
    struct order_item **items; /* private: [count + 1], row 0 unused */
    size_t count;
    size_t cap;
};

void order_release(struct order *order); /* the items belong to the caller */

void order_add(struct order *order, struct order_item *item);
void order_remove(struct order *order, struct order_item *item); /* no-op when in no order */
/** What `before` compares has changed. No-op when in no order. */
void order_moved(struct order *order, struct order_item *item);
struct order_item *order_first(const struct order *order); /* NULL when empty */

static inline bool order_has(const struct order_item *item)
{
    return item->position != 0;
}
