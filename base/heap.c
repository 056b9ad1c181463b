/*
 * A four-way heap. Rows are numbered from 1 to count; the children of row i are the rows
 * 4i - 2 to 4i + 1, and no row comes before its parent.
 */
#include "base/heap.h"

#include "base/mem.h"

enum { WAYS = 4, FIRST_CAP = 4 };

static size_t parent_of(size_t row)
{
    return (row - 2) / WAYS + 1;
}

static void put(struct heap *heap, size_t row, struct heap_item *item)
{
    heap->items[row] = item;
    item->position = row;
}

static void sift_up(struct heap *heap, size_t row, struct heap_item *item)
{
    for (; row > 1 && heap->before(item, heap->items[parent_of(row)]); row = parent_of(row))
        put(heap, row, heap->items[parent_of(row)]);
    put(heap, row, item);
}

/* The child of a row that comes before the others; 0 when the row has none. */
static size_t first_child(const struct heap *heap, size_t row)
{
    size_t from = (row - 1) * WAYS + 2, first = from;

    if (from > heap->count)
        return 0;
    for (size_t child = from + 1; child < from + WAYS && child <= heap->count; child++)
        if (heap->before(heap->items[child], heap->items[first]))
            first = child;
    return first;
}

static void sift_down(struct heap *heap, size_t row, struct heap_item *item)
{
    for (size_t child; (child = first_child(heap, row)); row = child) {
        if (!heap->before(heap->items[child], item))
            break;
        put(heap, row, heap->items[child]);
    }
    put(heap, row, item);
}

/* Put an item where it belongs, beginning at `row`, which is free. */
static void sift(struct heap *heap, size_t row, struct heap_item *item)
{
    if (row > 1 && heap->before(item, heap->items[parent_of(row)]))
        sift_up(heap, row, item);
    else
        sift_down(heap, row, item);
}

void heap_release(struct heap *heap)
{
    mem_free(heap->items);
    heap->items = NULL;
    heap->count = heap->cap = 0;
}

void heap_add(struct heap *heap, struct heap_item *item)
{
    if (heap->count + 2 > heap->cap) {
        heap->cap = heap->cap ? heap->cap * 2 : FIRST_CAP;
        heap->items = mem_resize(heap->items, heap->cap * sizeof(struct heap_item *));
    }
    sift_up(heap, ++heap->count, item);
}

void heap_remove(struct heap *heap, struct heap_item *item)
{
    size_t row = item->position;

    if (!row)
        return;

    struct heap_item *last = heap->items[heap->count--];

    item->position = 0;
    if (last != item)
        sift(heap, row, last);
}

void heap_moved(struct heap *heap, struct heap_item *item)
{
    if (item->position)
        sift(heap, item->position, item);
}
