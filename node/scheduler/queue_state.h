#pragma once
/*
 * Maintains the state of queues: Open, Closing, Closed.
 * Ref: spec/job.md 19.1.
 *
 * A Command or the parent queue closes a queue. It is Closing until no PodGroup is left in it, then
 * Closed. Child queues react to changes of their parent; the parent does not write to them.
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

/** Returns the next state. `has_groups`: the queue still has PodGroups. Pure. */
enum queue_state queue_state_decide(enum queue_state state, enum queue_action action,
                                    bool has_groups);

struct queue_states;

/** Starts the controller. Borrows the cluster until queue_states_stop. */
struct queue_states *queue_states_start(struct cluster *cluster);
void queue_states_stop(struct queue_states *states); /* NULL is ignored */
