/*
 * A heap of four ways: flatter than a binary one, and four rows are two lines of the cache.
 */
#include "base/timer_heap.h"

#include "base/mem.h"

enum { HEAP_WAYS = 4, FIRST_CAP = 64 };

static bool row_before(const struct timer_row *a, const struct timer_row *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void put(struct timer_heap *heap, size_t at, struct timer_row row)
{
    heap->rows[at] = row;
    row.timer->position = at;
}

static void rise(struct timer_heap *heap, size_t at, struct timer_row row)
{
    while (at > 1) {
        size_t parent = (at - 2) / HEAP_WAYS + 1;

        if (!row_before(&row, &heap->rows[parent]))
            break;
        put(heap, at, heap->rows[parent]);
        at = parent;
    }
    put(heap, at, row);
}

static void sink(struct timer_heap *heap, size_t at, struct timer_row row)
{
    for (;;) {
        size_t first = (at - 1) * HEAP_WAYS + 2, least = 0;

        for (size_t child = first; child < first + HEAP_WAYS && child <= heap->count; child++) {
            if (!least || row_before(&heap->rows[child], &heap->rows[least]))
                least = child;
        }
        if (!least || !row_before(&heap->rows[least], &row))
            break;
        put(heap, at, heap->rows[least]);
        at = least;
    }
    put(heap, at, row);
}

void timer_heap_remove(struct timer_heap *heap, struct timer *timer)
{
    size_t at = timer->position;
    struct timer_row last = heap->rows[heap->count--];

    timer->position = 0;
    if (at > heap->count)
        return;
    if (at > 1 && row_before(&last, &heap->rows[(at - 2) / HEAP_WAYS + 1]))
        rise(heap, at, last);
    else
        sink(heap, at, last);
}

void timer_heap_add(struct timer_heap *heap, struct timer *timer)
{
    if (heap->count + 1 >= heap->cap) {
        heap->cap = heap->cap ? heap->cap * 2 : FIRST_CAP;
        heap->rows = mem_resize(heap->rows, heap->cap * sizeof *heap->rows);
    }
    rise(heap, ++heap->count, (struct timer_row){timer->due_ns, heap->next_order++, timer});
}

const struct timer_row *timer_heap_first(const struct timer_heap *heap)
{
    return heap->count ? &heap->rows[1] : NULL;
}

void timer_heap_release(struct timer_heap *heap)
{
    mem_free(heap->rows);
}
