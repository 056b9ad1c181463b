#pragma once
/*
 * The flows of a run, kept up to date from the changes of the store.
 *
 * A tracker fills one flow_view for each flow it follows: steps come to states, get attempts, times
 * and reasons as their jobs change. The forms of output (live, plain, json, quiet) and the flow
 * tests are told which step or flow has changed and read everything else from the view. Bare Jobs
 * are followed as flows of one step. An iteration of a loop is a step of its own behind the loop's;
 * what became of loops and switches, which have no job, is read from the flow's status.
 *
 * A change of a job costs one look-up by name, whatever the size of the flow.
 */
#include "api/store/store.h"
#include "view/flow_view.h"

struct flow_tracker;

struct flow_tracker_events {
    /** A step's state, pods or reason changed; `before` is the state it had. */
    void (*step)(void *ctx, const struct flow_view_step *step, enum view_state before);
    /** A flow's phase or reason changed. */
    void (*flow)(void *ctx, const struct flow_view *flow, enum flow_phase before);
    /** Every flow is over and none of their jobs is still at work. */
    void (*finished)(void *ctx);
    void *ctx;
};

struct flow_tracker *flow_tracker_new(struct loop *loop, struct store *store,
                                      const struct flow_tracker_events *events);
void flow_tracker_free(struct flow_tracker *tracker); /* NULL is fine */
/** Follow a JobFlow or Job that is in the store. Its present state is taken without events. */
void flow_tracker_add(struct flow_tracker *tracker, const struct object *flow_or_job);
/** Begin to receive changes; call after the last flow_tracker_add. */
bool flow_tracker_start(struct flow_tracker *tracker, struct error *err);

/** The flows in the order added, linked by `next`. */
const struct flow_view *flow_tracker_flows(const struct flow_tracker *tracker);
/** The JobFlow or Job of that uid, or NULL when it is not followed. */
const struct flow_view *flow_tracker_find(const struct flow_tracker *tracker, const char *uid);
bool flow_tracker_finished(const struct flow_tracker *tracker);
/** Whether every flow has succeeded; meaningful once finished. */
bool flow_tracker_succeeded(const struct flow_tracker *tracker);
/** Steps that have a job which is not over, in the order they came, linked by `active`. */
const struct flow_view_step *flow_tracker_active(const struct flow_tracker *tracker);
size_t flow_tracker_active_count(const struct flow_tracker *tracker);
/** Append what a step waits for that has a job and does not run yet; nothing when that is unknown.
 * */
void flow_tracker_waits_for(const struct flow_tracker *tracker, const struct flow_view_step *step,
                            struct buf *out);
/** Take what the newest statuses tell beyond the jobs: skipped and blocked steps, and the critical
 * path of a flow that is over; any other flow is linked. O(steps); at the end of a run. */
void flow_tracker_complete(struct flow_tracker *tracker);
