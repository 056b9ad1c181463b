/*
 * The tables of legal edges between the states of a pod: a row for each state, a bit for each state
 * that may follow it. A look-up is one shift and one mask.
 */
#include "node/kubelet/pod_state.h"

#include <assert.h>

/* clang-format off */
#define TO(state) (1u << (state))

/*
 *   ADOPTING ──► QUEUED ──► INTENT ──► READY ──► STARTED ──► ENDED ──► RELEASED
 *                                       │  ▲
 *                                       ▼  │
 *                                      BLOCKED
 *
 * A pod of a previous run may enter anywhere. A pod that cannot run ends without being started. A
 * pod whose end a previous run wrote is released without ending again.
 */
static const unsigned step_edges[STEP_N] = {
    [STEP_ADOPTING]       = TO(STEP_ADOPTING_ENDED) | TO(STEP_QUEUED) | TO(STEP_READY) |
                            TO(STEP_STARTED) | TO(STEP_ENDED) | TO(STEP_RELEASED) |
                            TO(STEP_DELETING),
    [STEP_ADOPTING_ENDED] = TO(STEP_ENDED) | TO(STEP_RELEASED),
    [STEP_QUEUED]         = TO(STEP_INTENT) | TO(STEP_DELETING),
    [STEP_INTENT]         = TO(STEP_READY) | TO(STEP_DELETING),
    [STEP_DEVICES]        = TO(STEP_BLOCKED) | TO(STEP_STARTED) | TO(STEP_ENDED) |
                            TO(STEP_DELETING),
    [STEP_READY]          = TO(STEP_DEVICES) | TO(STEP_BLOCKED) | TO(STEP_STARTED) | TO(STEP_ENDED) |
                            TO(STEP_DELETING),
    [STEP_BLOCKED]        = TO(STEP_READY) | TO(STEP_DELETING),
    [STEP_STARTED]        = TO(STEP_ENDED) | TO(STEP_RELEASED),
    [STEP_ENDED]          = TO(STEP_RELEASED),
};

/* Edges between the states of writes. What is asked for while a call is in flight is sent when the
 * call is done. */
static const unsigned write_edges[WRITE_N] = {
    [WRITE_IDLE]   = TO(WRITE_QUEUED) | TO(WRITE_RETRY) | TO(WRITE_MARK) | TO(WRITE_STATUS) |
                     TO(WRITE_DELETE),
    [WRITE_QUEUED] = TO(WRITE_IDLE),
    [WRITE_RETRY]  = TO(WRITE_QUEUED),
    [WRITE_MARK]   = TO(WRITE_IDLE),
    [WRITE_STATUS] = TO(WRITE_IDLE),
    [WRITE_DELETE] = TO(WRITE_IDLE),
};

static const unsigned commit_edges[COMMIT_N] = {
    [COMMIT_IDLE]          = TO(COMMIT_ACCEPTED),
    [COMMIT_ACCEPTED]      = TO(COMMIT_BATCHED),
    [COMMIT_BATCHED]       = TO(COMMIT_BATCHED_AGAIN) | TO(COMMIT_IDLE),
    [COMMIT_BATCHED_AGAIN] = TO(COMMIT_IDLE),
};

/* Edges between the states of the object. A pod that only the runtime knows lost its object before
 * this run. */
static const unsigned object_edges[OBJECT_N] = {
    [OBJECT_PRESENT] = TO(OBJECT_DELETED) | TO(OBJECT_DELETED_DURABLY),
    [OBJECT_DELETED] = TO(OBJECT_DELETED_DURABLY),
};
/* clang-format on */

bool pod_step_follows(enum pod_step from, enum pod_step to)
{
    return step_edges[from] >> to & 1;
}

bool pod_write_follows(enum pod_write from, enum pod_write to)
{
    return write_edges[from] >> to & 1;
}

bool pod_commit_follows(enum pod_commit from, enum pod_commit to)
{
    return commit_edges[from] >> to & 1;
}

bool pod_object_follows(enum pod_object from, enum pod_object to)
{
    return object_edges[from] >> to & 1;
}

void pod_step_set(enum pod_step *step, enum pod_step to)
{
    assert(pod_step_follows(*step, to));
    *step = to;
}

void pod_write_set(enum pod_write *write, enum pod_write to)
{
    assert(pod_write_follows(*write, to));
    *write = to;
}

void pod_commit_set(enum pod_commit *commit, enum pod_commit to)
{
    assert(pod_commit_follows(*commit, to));
    *commit = to;
}

void pod_object_set(enum pod_object *object, enum pod_object to)
{
    assert(pod_object_follows(*object, to));
    *object = to;
}
