#pragma once
/*
 * Whose turn it is to try: a queue of checks per group, groups taking turns, bounded in flight per
 * group and in all.
 */
#include "probes/attempt.h"
#include "probes/probe.h"

struct probe_pod;

/* One polled need of one pod. */
struct probe_poll {
    struct probe_target *target;
    struct probe_pod *pod;
    uint32_t requirement;
    unsigned tries;
    struct timer again;
    struct probe_attempt attempt;
    bool in_flight;
    bool queued;
    struct probe_poll *prev, *next; /* in its group's queue */
};

struct probe_queue {
    unsigned in_flight;
    unsigned at_once, per_group;
    struct probe_group *first, *last; /* groups with a queue and room */
};

void probe_queue_add(struct probe_queue *queue, struct probe_group *group,
                     struct probe_poll *check);
/** Leave the queue, or give back the place in flight. */
void probe_queue_remove(struct probe_queue *queue, struct probe_group *group,
                        struct probe_poll *check);
/** The next check that may fly, already counted as flying; NULL when none may. */
struct probe_poll *probe_queue_next(struct probe_queue *queue, struct probe_group **out_group);
