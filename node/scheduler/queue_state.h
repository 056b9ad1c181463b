#pragma once
/*
 * The state of queues: Open, Closing, Closed. Ref: spec/job.md 19.1.
 *
 * A queue is closed by a Command or by its parent, and closed for good once no PodGroup is left in
 * it. Children follow their parent: each looks at it when it changes, so nothing is pushed down.
 */
#include "api/cluster.h"

/* clang-format off */
#define QUEUE_STATES(X)     \
    X(NONE,    "")          \
    X(OPEN,    "Open")      \
    X(CLOSING, "Closing")   \
    X(CLOSED,  "Closed")    \
    X(UNKNOWN, "Unknown")
/* clang-format on */
#define QUEUE_ENUM(name, text) QUEUE_##name,
enum queue_state { QUEUE_STATES(QUEUE_ENUM) QUEUE_STATE_N };
#undef QUEUE_ENUM

enum queue_action { QUEUE_SYNC, QUEUE_DO_OPEN, QUEUE_DO_CLOSE, QUEUE_ACTION_N };

/** The next state; `has_groups`: PodGroups are left in the queue. Pure. */
enum queue_state queue_state_decide(enum queue_state state, enum queue_action action,
                                    bool has_groups);

struct queue_states;

struct queue_states *queue_states_start(struct cluster *cluster);
void queue_states_stop(struct queue_states *states); /* NULL is fine */
