#pragma once
/*
 * A heap of structs that know their position in it, so that any of them can be removed or moved in
 * O(log n).
 *
 * An item is a member of its owner's struct. Items are ordered by a key, which lies in the heap
 * itself, so that most comparisons read no item. `before` compares two items with equal keys; a
 * heap whose order is no single number gives every item the key 0. Each row has four children: the
 * heap is flatter than a binary one, and the children of a row are neighbours in memory. Used for
 * the timers of the loop and of the shims and for the waiting lines of the scheduler.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_item {
    size_t position; /* private: position in the heap; 0 = in no heap */
};

struct heap_row {
    int64_t key;
    struct heap_item *item;
};

struct heap {
    /** Returns whether `a` comes before `b`, which has the same key. The owner sets it before it
     * adds the first item. */
    bool (*before)(const struct heap_item *a, const struct heap_item *b);
    struct heap_row *rows; /* private: the rows of the heap, [count + 1], row 0 unused */
    size_t count;
    size_t cap;
};

void heap_release(struct heap *heap); /* the items belong to the caller */

/** Adds an item that is in no heap. */
void heap_add(struct heap *heap, struct heap_item *item, int64_t key);
void heap_remove(struct heap *heap, struct heap_item *item); /* no-op when the item is in no heap */
/** Moves an item for which `before` now gives another order. Does nothing when the item is in no
 * heap. */
void heap_moved(struct heap *heap, struct heap_item *item);

/** Returns the item that comes before all others; NULL when the heap is empty. */
static inline struct heap_item *heap_first(const struct heap *heap)
{
    return heap->count ? heap->rows[1].item : NULL;
}

static inline bool heap_has(const struct heap_item *item)
{
    return item->position != 0;
}
