/*
 * The heap: rows 1 … count, the children of row i are rows 2i and 2i+1, no row is before its
 * parent.
 */
#include "node/scheduler/indexed_heap.h"

#include "base/mem.h"

static void put(struct order *order, size_t at, struct order_item *item)
{
    order->items[at] = item;
    item->position = at;
}

static void sift_up(struct order *order, size_t at, struct order_item *item)
{
    while (at > 1 && order->before(item, order->items[at / 2])) {
        put(order, at, order->items[at / 2]);
        at /= 2;
    }
    put(order, at, item);
}

static void sift_down(struct order *order, size_t at, struct order_item *item)
{
    for (;;) {
        size_t child = at * 2;

        if (child > order->count)
            break;
        if (child < order->count && order->before(order->items[child + 1], order->items[child]))
            child++;
        if (!order->before(order->items[child], item))
            break;
        put(order, at, order->items[child]);
        at = child;
    }
    put(order, at, item);
}

static void settle(struct order *order, size_t at, struct order_item *item)
{
    if (at > 1 && order->before(item, order->items[at / 2]))
        sift_up(order, at, item);
    else
        sift_down(order, at, item);
}

void order_release(struct order *order)
{
    mem_free(order->items);
    order->items = NULL;
    order->count = order->cap = 0;
}

void order_add(struct order *order, struct order_item *item)
{
    if (order->count + 2 > order->cap) {
        order->cap = order->cap ? order->cap * 2 : 4;
        order->items = mem_resize(order->items, order->cap * sizeof(struct order_item *));
    }
    sift_up(order, ++order->count, item);
}

void order_remove(struct order *order, struct order_item *item)
{
    size_t at = item->position;

    if (!at)
        return;

    struct order_item *last = order->items[order->count--];

    item->position = 0;
    if (last != item)
        settle(order, at, last);
}

void order_moved(struct order *order, struct order_item *item)
{
    if (item->position)
        settle(order, item->position, item);
}

struct order_item *order_first(const struct order *order)
{
    return order->count ? order->items[1] : NULL;
}
