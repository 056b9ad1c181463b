#pragma once
/*
 * The parts of a flow tracker: flow_tracker.c has the flows, their phases and the states of steps,
 * flow_tracker_jobs.c takes what jobs say, flow_tracker_jobless.c what the status of a flow says of
 * its loops and switches.
 */
#include "base/collections/hash.h"
#include "view/flow_tracker.h"

struct flow_entry {
    const char *uid;
    struct flow_view *flow;
    UT_hash_handle hh;
};

struct flow_tracker {
    struct loop *loop;
    struct store *store;
    struct flow_tracker_events events;
    struct flow_view *flows, **flows_tail;
    struct flow_entry *by_uid;
    TAILQ_HEAD(, flow_view_step) active;
    struct store_watch *flow_watch, *job_watch;
    struct task done_task;
    size_t n_flows, n_over, n_active;
    bool finished;
};

/* Says whether a change causes an event. The state at the start causes none. */
enum telling { SILENT, TELL };

/* Defined in flow_tracker.c. */

/** Returns the flow or bare Job with this uid, NULL when it is not followed. */
struct flow_view *flow_tracker_flow(const struct flow_tracker *tracker, const char *uid);
/** Sets the state of a step, and updates its times and the list of active steps. */
void flow_tracker_set_state(struct flow_tracker *tracker, struct flow_view_step *step,
                            enum view_state state);
/** Sets the state of a step, with an event if it is another one. */
void flow_tracker_come_to(struct flow_tracker *tracker, struct flow_view_step *step,
                          enum view_state state, enum telling telling);
/** Sets the phase of a flow and its times, with an event if it is another one. */
void flow_tracker_set_phase(struct flow_tracker *tracker, struct flow_view *flow,
                            enum flow_phase phase, enum telling telling);
/** Posts the event `finished`, once, when every flow is over and no job is active. */
void flow_tracker_check_finished(struct flow_tracker *tracker);
/** Sets what is said of a step beside its state (copied); NULL or "" = nothing. */
void flow_tracker_set_told(struct flow_view_step *step, const char *text);

/* Defined in flow_tracker_jobs.c. */

/** Receives the changes of jobs from a store_watch; `ctx` is the tracker. */
bool flow_tracker_job_changed(void *ctx, enum store_change change, const struct object *old,
                              const struct object *job);
/** Takes a job that exists at the start. One that is not over was made and started before; the times
 * of one that is over are not used. */
void flow_tracker_take_present_job(void *arg, const struct object *job);

/* Defined in flow_tracker_jobless.c. */

/** Reads the results of the flow's loops and switches from its status. */
void flow_tracker_take_jobless(struct flow_tracker *tracker, struct flow_view *flow,
                               enum telling telling);
/** Ends the loops and switches before a step whose first job has been made, where the status does not
 * tell yet that they are over: what is told of a step never comes before the end of its targets. */
void flow_tracker_end_targets(struct flow_tracker *tracker, struct flow_view_step *step);
