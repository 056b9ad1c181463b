#pragma once
/*
 * Decides which poll makes its attempt next: polls wait in a queue per group (a flow), groups take
 * turns, and the number of attempts in flight is bounded per group and in all.
 */
#include "probes/attempt.h"
#include "probes/probe.h"

struct probe_pod;

enum probe_poll_state {
    POLL_PAUSED, /* waits for its period, or is new */
    POLL_QUEUED,
    POLL_IN_FLIGHT,
};

/* One pod that is polled for one requirement. */
struct probe_poll {
    struct probe_target *target;
    struct probe_pod *pod;
    uint32_t requirement; /* index in target->requirements */
    unsigned attempts;    /* number of attempts that failed */
    struct timer again;
    struct probe_attempt attempt;
    enum probe_poll_state state;
    TAILQ_ENTRY(probe_poll) of_group; /* element of the queue of its group */
};

struct probe_queue {
    unsigned in_flight;
    unsigned at_once, per_group;    /* limits */
    TAILQ_HEAD(, probe_group) ring; /* groups with a waiting poll and room in flight */
};

/** Lets a poll wait for its turn. */
void probe_queue_add(struct probe_queue *queue, struct probe_group *group, struct probe_poll *poll);
/** Takes a poll out of the queue, or gives back its place in flight. */
void probe_queue_remove(struct probe_queue *queue, struct probe_group *group,
                        struct probe_poll *poll);
/** Returns the next poll whose attempt may begin, already counted as in flight; NULL when none may.
 */
struct probe_poll *probe_queue_next(struct probe_queue *queue, struct probe_group **out_group);
