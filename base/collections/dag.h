#pragma once
/*
 * A directed graph in compressed rows, its topological order, and one cycle if it has any.
 *
 * An edge a → b says that b waits for a. Vertices are positions in a list that the caller keeps.
 * Repeated edges are allowed. An edge from a vertex to itself is a cycle. No function recurses;
 * each is O(vertices + edges).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scoped.h"

struct dag_edge {
    uint32_t from, to;
};

struct dag {
    uint32_t vertices;
    uint32_t *
        first; /* [vertices + 1]: the successors of v are next[first[v]] up to next[first[v + 1]] */
    uint32_t *next; /* ends of the edges, [edges], in the order the edges were given */
};

/** Builds the graph; `edges` is borrowed during the call, ends must be below `vertices`. */
void dag_init(struct dag *dag, uint32_t vertices, const struct dag_edge *edges, size_t count);
void dag_release(struct dag *dag);
SCOPED_DEFINE(dag, struct dag, dag_release)

static inline size_t dag_edges(const struct dag *dag)
{
    return dag->first[dag->vertices];
}

/**
 * Writes a topological order into `order` [vertices]: first those that wait for nothing, by
 * position, then each vertex when its last predecessor is out. Returns how many could be ordered:
 * fewer than all means there is a cycle.
 */
size_t dag_sort(const struct dag *dag, uint32_t *order);

/**
 * Writes one cycle into `cycle` [vertices], in the direction of the edges, beginning with its
 * lowest position. Returns its length, 0 when the graph has none.
 */
size_t dag_cycle(const struct dag *dag, uint32_t *cycle);
