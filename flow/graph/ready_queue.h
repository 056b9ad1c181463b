#pragma once
/*
 * The steps that are ready for a job, in the order in which jobs are created.
 *
 * The order is that of the spec, or, with order: criticalPath, the longest remaining path first.
 * Members of a gang are held back until enough of them are ready; then they become ready together.
 * A member that waits for a probe of another member does not hold back the gang; it follows later.
 * Ref: spec/jobflow.md 13.6, 13.7.
 */
#include "flow/graph/graph.h"

struct ready_gang {
    uint32_t members;
    uint32_t min_ready; /* members that must be ready at once */
    uint32_t ready, skipped;
    bool open; /* the gang has formed; a member that becomes ready later is not held back */
};

struct ready_queue {
    struct step_set ready;       /* ranks of ready steps */
    uint32_t *rank_of, *at_rank; /* rank of each step, and step at each rank, [steps]; NULL: the
                                  * rank is the position */
    uint32_t *gang_of; /* for each step the number of its gang from 1, 0 = none; NULL: no gangs */
    struct ready_gang *gangs; /* the gangs, [spec->gangs.count] */
    struct step_set held;     /* ready members of gangs that have not formed */
    const struct flow_graph *graph;
};

void ready_queue_init(struct ready_queue *queue, const struct flow_graph *graph);
void ready_queue_release(struct ready_queue *queue);
/** Empties the queue; the order stays. */
void ready_queue_clear(struct ready_queue *queue);

/** Orders the queue by the longest path, where a step is as long as its weight; weights is [steps].
 * O(steps + edges). */
void ready_queue_rank(struct ready_queue *queue, const double *weights);

void ready_queue_put(struct ready_queue *queue, uint32_t step);
/* Removes a step. Does nothing if the step is not in the queue. */
void ready_queue_remove(struct ready_queue *queue, uint32_t step);
/** The step is skipped; its gang forms without it. */
void ready_queue_skip(struct ready_queue *queue, uint32_t step);
/** The step has run before, so its gang has formed. */
void ready_queue_gang_formed(struct ready_queue *queue, uint32_t step);

static inline uint32_t ready_queue_count(const struct ready_queue *queue)
{
    return queue->ready.count;
}
uint32_t ready_queue_next(const struct ready_queue *queue); /* the next step, or STEP_NONE */
/** Returns how many jobs are created together with that of the step: the ready members of its gang,
 * at most as many as the gang needs at once; 1 without a gang. */
uint32_t ready_queue_batch(const struct ready_queue *queue, uint32_t step);
/** Returns how many members of the step's gang start together; only for a step in a gang. */
uint32_t ready_queue_gang_min(const struct ready_queue *queue, uint32_t step);
/** Returns the gang of a step, or NULL. */
const struct flow_gang *ready_queue_gang(const struct ready_queue *queue, uint32_t step);
