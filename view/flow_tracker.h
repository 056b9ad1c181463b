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
    /** The state, pods or reason of a step changed; `before` is the earlier state. */
    void (*step)(void *ctx, const struct flow_view_step *step, enum view_state before);
    /** A flow's phase or reason changed. */
    void (*flow)(void *ctx, const struct flow_view *flow, enum flow_phase before);
    /** Every flow is over, and none of their jobs is active. */
    void (*finished)(void *ctx);
    void *ctx;
};

struct flow_tracker *flow_tracker_new(struct loop *loop, struct store *store,
                                      const struct flow_tracker_events *events);
void flow_tracker_free(struct flow_tracker *tracker); /* NULL is ignored */
/** Follows a JobFlow or Job of the store. Its present state is read without events. */
void flow_tracker_add(struct flow_tracker *tracker, const struct object *flow_or_job);
/** Begins to receive changes. Call it after the last flow_tracker_add. */
bool flow_tracker_start(struct flow_tracker *tracker, struct error *err);

/** Returns the flows in the order in which they were added, linked by `next`. */
const struct flow_view *flow_tracker_flows(const struct flow_tracker *tracker);
/** Returns the JobFlow or Job of that uid, or NULL when it is not followed. */
const struct flow_view *flow_tracker_find(const struct flow_tracker *tracker, const char *uid);
bool flow_tracker_finished(const struct flow_tracker *tracker);
/** Returns whether every flow has succeeded; meaningful once finished. */
bool flow_tracker_succeeded(const struct flow_tracker *tracker);
/** Returns the steps that have an unfinished job, in the order in which these began, linked by
 * `next_active`. */
const struct flow_view_step *flow_tracker_active(const struct flow_tracker *tracker);
size_t flow_tracker_active_count(const struct flow_tracker *tracker);
/** Appends what a step with a job waits for before its pods run; nothing when that is unknown. */
void flow_tracker_waits_for(const struct flow_tracker *tracker, const struct flow_view_step *step,
                            struct buf *out);
/** Reads from the newest statuses what jobs do not show: skipped and blocked steps, and the
 * critical path of a flow that is over. Any other flow is linked. O(steps); call it at the end of a
 * run. */
void flow_tracker_complete(struct flow_tracker *tracker);
