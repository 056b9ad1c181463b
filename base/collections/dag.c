/*
 * Kahn's algorithm. The vertices that it cannot order contain the cycles: each of them has a
 * predecessor that is not ordered either, so a walk along predecessors must return to a vertex it
 * has visited.
 */
#include "base/collections/dag.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

void dag_init(struct dag *dag, uint32_t vertices, const struct dag_edge *edges, size_t count)
{
    assert(count < UINT32_MAX);
    dag->vertices = vertices;
    dag->first = mem_array((size_t)vertices + 1, sizeof *dag->first);
    dag->next = mem_array(count ? count : 1, sizeof *dag->next);

    /* Counting sort by `from`: counts one place up, prefix sums, then fill from the front. */
    for (size_t i = 0; i < count; i++) {
        assert(edges[i].from < vertices && edges[i].to < vertices);
        dag->first[edges[i].from + 1]++;
    }
    for (uint32_t v = 0; v < vertices; v++)
        dag->first[v + 1] += dag->first[v];
    for (size_t i = 0; i < count; i++)
        dag->next[dag->first[edges[i].from]++] = edges[i].to;
    /* Filling has moved each row's begin to its end, which is the begin of the next row. */
    for (uint32_t v = vertices; v > 0; v--)
        dag->first[v] = dag->first[v - 1];
    dag->first[0] = 0;
}

void dag_release(struct dag *dag)
{
    mem_free(dag->first);
    mem_free(dag->next);
    *dag = (struct dag){0};
}

size_t dag_sort(const struct dag *dag, uint32_t *order)
{
    uint32_t *waiting = mem_array((size_t)dag->vertices + 1, sizeof *waiting);
    size_t edges = dag_edges(dag), done = 0, ready = 0;

    for (size_t i = 0; i < edges; i++)
        waiting[dag->next[i]]++;
    for (uint32_t v = 0; v < dag->vertices; v++)
        if (!waiting[v])
            order[ready++] = v;
    while (done < ready) {
        uint32_t v = order[done++];

        for (uint32_t i = dag->first[v]; i < dag->first[v + 1]; i++)
            if (--waiting[dag->next[i]] == 0)
                order[ready++] = dag->next[i];
    }
    mem_free(waiting);
    return ready;
}

static void reverse(uint32_t *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t swap = items[i];

        items[i] = items[count - 1 - i];
        items[count - 1 - i] = swap;
    }
}

/* Turns the ring so that its lowest position comes first: three reversals. */
static void rotate_lowest_first(uint32_t *ring, size_t count)
{
    size_t lowest = 0;

    for (size_t i = 1; i < count; i++)
        if (ring[i] < ring[lowest])
            lowest = i;
    reverse(ring, lowest);
    reverse(ring + lowest, count - lowest);
    reverse(ring, count);
}

/* Walks along predecessors from `start` until a vertex comes again. The cycle is the part between
 * the two visits. */
static size_t collect_ring(const uint32_t *before, uint32_t start, uint32_t vertices,
                           uint32_t *ring)
{
    bool *seen = mem_array(vertices, sizeof *seen);
    uint32_t v = start;
    size_t count = 0;

    while (!seen[v]) {
        seen[v] = true;
        v = before[v];
    }
    for (uint32_t u = v; count == 0 || u != v; u = before[u])
        ring[count++] = u;
    mem_free(seen);
    return count;
}

size_t dag_cycle(const struct dag *dag, uint32_t *cycle)
{
    size_t sorted = dag_sort(dag, cycle), length;
    uint32_t start = 0, *before;
    bool *ordered;

    if (sorted == dag->vertices)
        return 0;
    before = mem_array((size_t)dag->vertices + 1, sizeof *before);
    ordered = mem_array((size_t)dag->vertices + 1, sizeof *ordered);
    for (size_t i = 0; i < sorted; i++)
        ordered[cycle[i]] = true;
    for (uint32_t v = dag->vertices; v-- > 0;) {
        if (ordered[v])
            continue;
        start = v;
        for (uint32_t i = dag->first[v]; i < dag->first[v + 1]; i++)
            before[dag->next[i]] = v;
    }
    length = collect_ring(before, start, dag->vertices, cycle);
    reverse(cycle, length);
    rotate_lowest_first(cycle, length);
    mem_free(before);
    mem_free(ordered);
    return length;
}
