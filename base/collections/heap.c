/*
 * A four-way heap. Rows are numbered from 1 to count; the children of row i are the rows
 * 4i - 2 to 4i + 1, and no row comes before its parent.
 */
#include "base/collections/heap.h"

#include "base/mem.h"

enum { WAYS = 4, FIRST_CAP = 4 };

static size_t parent_of(size_t row)
{
    return (row - 2) / WAYS + 1;
}

static bool row_before(const struct heap *heap, const struct heap_row *a, const struct heap_row *b)
{
    return a->key != b->key ? a->key < b->key : heap->before(a->item, b->item);
}

static void put(struct heap *heap, size_t at, struct heap_row row)
{
    heap->rows[at] = row;
    row.item->position = at;
}

static void sift_up(struct heap *heap, size_t at, struct heap_row row)
{
    for (; at > 1 && row_before(heap, &row, &heap->rows[parent_of(at)]); at = parent_of(at))
        put(heap, at, heap->rows[parent_of(at)]);
    put(heap, at, row);
}

/* Returns the child of a row that comes before the others; 0 when the row has none. */
static size_t first_child(const struct heap *heap, size_t at)
{
    size_t from = (at - 1) * WAYS + 2, first = from;

    if (from > heap->count)
        return 0;
    for (size_t child = from + 1; child < from + WAYS && child <= heap->count; child++)
        if (row_before(heap, &heap->rows[child], &heap->rows[first]))
            first = child;
    return first;
}

static void sift_down(struct heap *heap, size_t at, struct heap_row row)
{
    for (size_t child; (child = first_child(heap, at)); at = child) {
        if (!row_before(heap, &heap->rows[child], &row))
            break;
        put(heap, at, heap->rows[child]);
    }
    put(heap, at, row);
}

/* Puts a row where it belongs, beginning at `at`, which is free. */
static void sift(struct heap *heap, size_t at, struct heap_row row)
{
    if (at > 1 && row_before(heap, &row, &heap->rows[parent_of(at)]))
        sift_up(heap, at, row);
    else
        sift_down(heap, at, row);
}

void heap_release(struct heap *heap)
{
    mem_free(heap->rows);
    heap->rows = NULL;
    heap->count = heap->cap = 0;
}

void heap_add(struct heap *heap, struct heap_item *item, int64_t key)
{
    if (heap->count + 2 > heap->cap) {
        heap->cap = heap->cap ? heap->cap * 2 : FIRST_CAP;
        heap->rows = mem_resize(heap->rows, heap->cap * sizeof *heap->rows);
    }
    sift_up(heap, ++heap->count, (struct heap_row){key, item});
}

void heap_remove(struct heap *heap, struct heap_item *item)
{
    size_t at = item->position;

    if (!at)
        return;

    struct heap_row last = heap->rows[heap->count--];

    item->position = 0;
    if (last.item != item)
        sift(heap, at, last);
}

void heap_moved(struct heap *heap, struct heap_item *item)
{
    if (item->position)
        sift(heap, item->position, heap->rows[item->position]);
}
