#pragma once
/*
 * Whose turn it is to try: a queue of checks per group, groups taking turns, bounded in flight per
 * group and in all.
 */
#include "probes/probe.h"
#include "probes/try.h"

struct probe_pod;

/* One polled need of one pod. */
struct probe_check {
    struct probe_target *target;
    struct probe_pod *pod;
    uint32_t need;
    unsigned tries;
    struct timer again;
    struct probe_try attempt;
    bool flying;
    bool queued;
    struct probe_check *prev, *next; /* in its group's queue */
};

struct probe_turns {
    unsigned flying;
    unsigned at_once, per_group;
    struct probe_group *first, *last; /* groups with a queue and room */
};

void probe_turns_wait(struct probe_turns *turns, struct probe_group *group,
                      struct probe_check *check);
/** Leave the queue, or give back the place in flight. */
void probe_turns_leave(struct probe_turns *turns, struct probe_group *group,
                       struct probe_check *check);
/** The next check that may fly, already counted as flying; NULL when none may. */
struct probe_check *probe_turns_next(struct probe_turns *turns, struct probe_group **out_group);
