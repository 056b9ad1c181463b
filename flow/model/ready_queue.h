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

struct flow_gang_state {
    uint32_t members, least; /* steps; of them ready at once */
    uint32_t ready, skipped;
    bool open; /* it has formed: who comes later comes alone */
};

struct flow_queue {
    struct step_set ready;         /* places: by rank */
    uint32_t *rank_of, *at_rank;   /* [steps], or NULL: rank is position */
    uint32_t *gang_of;             /* [steps] gang + 1; or NULL: no gangs */
    struct flow_gang_state *gangs; /* [spec->gangs.count] */
    struct step_set held;          /* members of gangs that have not formed */
    const struct flow_graph *graph;
};

void flow_queue_init(struct flow_queue *queue, const struct flow_graph *graph);
void flow_queue_release(struct flow_queue *queue);
/** Forget who is ready; the order stays. */
void flow_queue_clear(struct flow_queue *queue);

/** Let the longest path go first: weights is [steps]. O(steps + edges). */
void flow_queue_rank(struct flow_queue *queue, const double *weights);

void flow_queue_put(struct flow_queue *queue, uint32_t step);
void flow_queue_drop(struct flow_queue *queue, uint32_t step); /* also when it is not in */
/** A member will not come; the gang forms without it. */
void flow_queue_skip(struct flow_queue *queue, uint32_t step);
/** A member has begun before: the gang has formed. */
void flow_queue_opened(struct flow_queue *queue, uint32_t step);

static inline uint32_t flow_queue_count(const struct flow_queue *queue)
{
    return queue->ready.count;
}
uint32_t flow_queue_next(const struct flow_queue *queue); /* or STEP_NONE */
/** How many jobs the next step brings along: the ready members of its gang, but no more than it
 * needs at once; or 1. */
uint32_t flow_queue_company(const struct flow_queue *queue, uint32_t step);
/** How many members of the gang of a step, which is in one, start together. */
uint32_t flow_queue_least(const struct flow_queue *queue, uint32_t step);
/** The gang of a step, or NULL. */
const struct flow_gang *flow_queue_gang(const struct flow_queue *queue, uint32_t step);
