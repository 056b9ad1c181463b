/*
 * Tracks of a trace. The slices of a group are taken in the order in which they begin; each gets a
 * track that has become free, or a new one. No group needs more tracks than it has slices at one
 * moment.
 */
#include <stdlib.h>

#include "base/collections/name_index.h"
#include "base/mem.h"
#include "view/trace.h"

void trace_release(struct trace *trace)
{
    for (enum trace_class class = 0; class < TRACE_CLASSES; class ++)
        mem_free(trace->of[class].items);
    buf_release(&trace->words);
    *trace = (struct trace){0};
}

struct trace_slice *trace_add(struct trace *trace, enum trace_class class)
{
    struct trace_slices *slices = &trace->of[class];

    mem_grow(slices->items, slices->count, slices->cap);
    slices->items[slices->count] = (struct trace_slice){0};
    return &slices->items[slices->count++];
}

int64_t trace_begin_ms(const struct trace_slice *slice)
{
    return slice->ready_ms ? slice->ready_ms : slice->made_ms;
}

/* Returns the first moment at which a track is free again. A slice without length takes one
 * millisecond, so that two of them do not lie upon each other. */
static int64_t free_ms(const struct trace_slice *slice)
{
    int64_t begin_ms = trace_begin_ms(slice);

    return slice->end_ms > begin_ms ? slice->end_ms : begin_ms + 1;
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_begins(const void *a, const void *b)
{
    const struct trace_slice *x = a, *y = b;
    int order = compare(x->group, y->group);

    if (!order)
        order = compare(trace_begin_ms(x), trace_begin_ms(y));
    if (!order)
        order = compare(x->made_ms, y->made_ms);
    return order ? order : compare((int64_t)x->name, (int64_t)y->name);
}

static int compare_ends(const void *a, const void *b)
{
    const struct trace_slice *x = *(struct trace_slice *const *)a;
    const struct trace_slice *y = *(struct trace_slice *const *)b;
    int order = compare(free_ms(x), free_ms(y));

    return order ? order : compare_begins(x, y);
}

/* Gives tracks to the slices of one group, sorted by their begins. `by_end` and `free_tracks` have
 * room for `count`. Returns the next unused track. */
static uint32_t pack(struct trace_slice *slices, size_t count, uint32_t track,
                     struct trace_slice **by_end, uint32_t *free_tracks)
{
    size_t ended = 0, n_free = 0;

    for (size_t i = 0; i < count; i++)
        by_end[i] = &slices[i];
    qsort(by_end, count, sizeof *by_end, compare_ends);
    for (size_t i = 0; i < count; i++) {
        /* What ends before this slice begins has begun before it, so it has its track. */
        while (free_ms(by_end[ended]) <= trace_begin_ms(&slices[i]))
            free_tracks[n_free++] = by_end[ended++]->track;
        slices[i].track = n_free ? free_tracks[--n_free] : track++;
    }
    return track;
}

static void assign(struct trace_slices *slices, const uint32_t *groups)
{
    struct trace_slice **by_end = mem_array(slices->count + 1, sizeof(struct trace_slice *));
    uint32_t *free_tracks = mem_array(slices->count + 1, sizeof *free_tracks);
    uint32_t track = 1;

    for (size_t i = 0; i < slices->count; i++)
        slices->items[i].group = groups[slices->items[i].step];
    if (slices->count)
        qsort(slices->items, slices->count, sizeof *slices->items, compare_begins);
    for (size_t from = 0, to; from < slices->count; from = to) {
        to = from + 1;
        while (to < slices->count && slices->items[to].group == slices->items[from].group)
            to++;
        track = pack(slices->items + from, to - from, track, by_end, free_tracks);
    }
    mem_free(by_end);
    mem_free(free_tracks);
}

void trace_assign_tracks(struct trace *trace)
{
    const struct flow_view *view = trace->view;
    uint32_t *groups = mem_array((size_t)view->n_steps + 1, sizeof *groups);
    scoped(name_index) struct name_index templates = {0};

    name_index_init(&templates, view->n_steps);
    for (uint32_t i = 0; i < view->n_steps; i++) {
        const char *template = view->steps[i].template;
        uint32_t first = template ? name_index_get(&templates, template) : i;

        groups[i] = first == NAME_NONE ? i : first;
        if (first == NAME_NONE)
            name_index_put(&templates, template, i);
    }
    for (enum trace_class class = 0; class < TRACE_CLASSES; class ++)
        assign(&trace->of[class], groups);
    mem_free(groups);
}
