#pragma once
/*
 * The steps that are ready for a job, in the order they get one.
 *
 * By place in the list, or, with order: criticalPath, by the longest path that is still to come.
 * Members of a gang are held back until enough of them are ready; then all of those go together.
 * A member that waits for a probe of another one is not waited for: it follows.
 * Ref: spec/jobflow.md 13.6, 13.7.
 */
#include "flow/model/graph.h"

struct ready_gang {
    uint32_t members, least; /* steps; of them ready at once */
    uint32_t ready, skipped;
    bool open; /* it has formed: who comes later comes alone */
};

struct ready_queue {
    struct step_set ready;       /* places: by rank */
    uint32_t *rank_of, *at_rank; /* [steps], or NULL: rank is position */
    uint32_t *gang_of;           /* [steps] gang + 1; or NULL: no gangs */
    struct ready_gang *gangs;    /* [spec->gangs.count] */
    struct step_set held;        /* members of gangs that have not formed */
    const struct flow_graph *graph;
};

void ready_queue_init(struct ready_queue *queue, const struct flow_graph *graph);
void ready_queue_release(struct ready_queue *queue);
/** Forget who is ready; the order stays. */
void ready_queue_clear(struct ready_queue *queue);

/** Let the longest path go first: weights is [steps]. O(steps + edges). */
void ready_queue_rank(struct ready_queue *queue, const double *weights);

void ready_queue_put(struct ready_queue *queue, uint32_t step);
void ready_queue_remove(struct ready_queue *queue, uint32_t step); /* also when it is not in */
/** A member will not come; the gang forms without it. */
void ready_queue_skip(struct ready_queue *queue, uint32_t step);
/** A member has begun before: the gang has formed. */
void ready_queue_gang_formed(struct ready_queue *queue, uint32_t step);

static inline uint32_t ready_queue_count(const struct ready_queue *queue)
{
    return queue->ready.count;
}
uint32_t ready_queue_next(const struct ready_queue *queue); /* or STEP_NONE */
/** How many jobs the next step brings along: the ready members of its gang, but no more than it
 * needs at once; or 1. */
uint32_t ready_queue_batch(const struct ready_queue *queue, uint32_t step);
/** How many members of the gang of a step, which is in one, start together. */
uint32_t ready_queue_gang_min(const struct ready_queue *queue, uint32_t step);
/** The gang of a step, or NULL. */
const struct flow_gang *ready_queue_gang(const struct ready_queue *queue, uint32_t step);
