#pragma once
/*
 * The flow controller from inside: one struct flow per JobFlow object, one controller for all.
 *
 *   watch events ──► model of the flow ──► list of runnable flows ──► flow_sync
 *                                                                        │
 *                   next phase (phase.c) ◄───────────────────────────────┤
 *                   jobs to create (create_jobs.c) ◄─────────────────────┤
 *                   status to write (status_writer.c) ◄──────────────────┤
 *                   jobs to end or remove (job_commands.c) ◄─────────────┘
 *
 * Everything runs on the loop. An event only updates the model and puts the flow on the list. One
 * posted task works the list off, so all events of a turn are seen before anything is decided.
 */
#include <sys/queue.h>

#include "base/collections/hash.h"
#include "flow/approvals.h"
#include "flow/blocked_steps.h"
#include "flow/controller.h"
#include "flow/decide.h"
#include "flow/metrics.h"
#include "flow/states.h"
#include "flow/status/loop_times.h"
#include "flow/status/restore.h"
#include "flow/template_pins.h"
#include "probes/probe.h"
#include "template/instantiate.h"

#define FLOW_COMPONENT  "vc-controller-manager"
#define REASON_DEADLINE "DeadlineExceeded" /* a text of state.reason */
/* Reasons of a step without a job that refers to an output: */
#define REASON_MISSING_OUTPUT "MissingOutput" /* it was never written */
#define REASON_INVALID_OUTPUT "InvalidOutput" /* its text does not fit where a number stands */

/* State of the status writes: what a write covers, and when the next one is due
 * (status_writer.c). */
struct status_writer {
    struct cluster_call call;
    struct timer window;
    enum status_write state;
    bool overwritten; /* another client changed the status, so it is written even if it is equal */
    unsigned failures;
    struct blob *written;     /* the status we stored last; NULL = never */
    struct blob *sent;        /* the one in flight */
    int64_t written_revision; /* revision of the flow with the status that was written last */
    enum flow_phase written_phase, sent_phase;
    uint32_t written_changes, sent_changes; /* value of model.changes that each covers */
    uint32_t rendered_changes;   /* value of model.changes that the status rendered last covers */
    bool rendered_while_running; /* the status rendered last shows jobs that have not
                                             * ended */
};

/* What a failed flow does to its jobs. */
enum job_command {
    JOB_COMMAND_NONE,
    JOB_COMMAND_TERMINATE, /* failurePolicy: abort, or the deadline has passed */
    JOB_COMMAND_REMOVE     /* a manual retry needs their names */
};

struct job_commands {
    enum job_command now;
    uint32_t build; /* the build of the model whose `to_command` it is about; 0 = it is to be filled
                     * anew */
    struct timer again;
    unsigned failures;
};

/* State of jobRetainPolicy (retain_policy.c). */
struct job_retention {
    bool done; /* the policy has been carried out */
    unsigned in_flight, failures;
    struct timer retry;
};

struct flow {
    struct flow_controller *controller;
    struct object *object; /* the newest version of the JobFlow */
    enum flow_opening opening;
    struct flow_model model; /* the model of an open flow */
    struct flow_state state;
    struct removed_entries removed;
    struct loop_times loops;
    char *critical_path;        /* status.criticalPath of a finished flow; or NULL */
    struct template_pins *pins; /* pinned templates of an open flow; NULL: none are pinned */
    struct status_writer writer;
    struct probe_group probes;
    struct job_commands commands;
    struct job_retention retention;
    struct flow_command_list answered;       /* Commands whose effect is not stored yet */
    LIST_HEAD(, results_wait) results_waits; /* finished jobs whose pods are being read */
    uint32_t build;        /* counts builds of the model: step indexes differ from build to build */
    unsigned calls;        /* calls in flight, including those of the writer */
    struct timer deadline; /* timer of activeDeadlineSeconds */
    int64_t began_ms;      /* when this process saw the first job; 0: an earlier process did */
    struct timer ttl;      /* timer of ttlSecondsAfterFinished */
    bool deadline_passed, ttl_fired;
    uint64_t retry_key; /* the request that the model is prepared for (manual_retry.c) */
    bool backoffs_held; /* back-offs wait until the status with their results is stored */
    char *warned;       /* the last cause that a Warning was written for */
    bool closed;        /* servers.c has seen that what has not begun never will */
    bool runnable;
    STAILQ_ENTRY(flow) next_runnable;
    UT_hash_handle hh; /* hash table by uid */
    char uid[];
};

struct flow_controller {
    struct cluster *cluster;
    struct loop *loop;
    struct flow_options options;
    struct cluster_watcher flows, templates, jobs, commands;
    struct flow_command_list arrived; /* Commands that have not been handled */
    struct flow *by_uid;
    struct task run;
    STAILQ_HEAD(, flow) runnable;
    struct wait_key *waits; /* blocked steps by "<kind>/<namespace>/<name>" */
    struct template_cache *bodies;
    LIST_HEAD(, template_pins) pins; /* pins of all flows that pin templates */
    struct probes *probes;
    struct reuse_service *reuse; /* NULL: no step is reused */
    struct flow_metrics metrics;
    unsigned calls; /* calls in flight of all flows */
    bool draining;  /* only statuses are written */
    bool stopped;
};

/* Defined in controller.c. */

/** Makes the controller call flow_sync for the flow in this turn. */
void flow_make_runnable(struct flow *flow);
/** Returns the flow with this uid, or NULL. */
struct flow *flow_by_uid(struct flow_controller *controller, const char *uid);
/** Counts a cluster call; flow_call_ended must follow when it is answered. */
void flow_call_begun(struct flow *flow);
/** Returns false if the object of the flow is deleted. The flow may then be freed, so the caller
 * must not touch it. */
bool flow_call_ended(struct flow *flow);

/* flow.c: opening, updating, closing */

struct flow *flow_new(struct flow_controller *controller, const struct object *object);
void flow_free(struct flow *flow);
/** Takes over a newer version of the object; an older one is ignored. */
void flow_object_changed(struct flow *flow, const struct object *object);
/** Builds the model from the object, its stored status and its jobs. */
void flow_open(struct flow *flow);
/** Drops the model with all that waits in it. */
void flow_release_model(struct flow *flow);
void flow_close(struct flow *flow);
/** Gives each loop whose `until` condition never came true as many iterations again, for a manual
 * retry. */
void flow_renew_iteration_budgets(struct flow *flow);
/** Decides and carries out what follows from the model. */
void flow_sync(struct flow *flow);
/** Takes over a version of the job of a step. */
void flow_job_changed(struct flow *flow, uint32_t step, const struct object *job);
/** Returns whether jobs may still be created, now or once the flow is resumed. */
bool flow_may_create(const struct flow *flow);
/** Returns whether jobs may be created now. */
bool flow_creates_now(const struct flow *flow);
/** Returns whether the flow is the controller of the job, by uid. */
bool flow_owns(const struct flow *flow, const struct object *job);
/** Returns the job of a step if this flow owns it: borrowed, or NULL. */
const struct object *flow_job_of(const struct flow *flow, uint32_t step);
/** Returns the failure policy in force: spec, annotations and --upstream-compat together. */
enum failure_policy flow_failure_policy(const struct flow *flow);
/** Sets state.reason and state.message; both are copied and may be NULL. */
void flow_set_reason(struct flow *flow, const char *reason, const char *message);
/** Returns the delay before the next try after `failures` failed ones: `first_ms`, doubling up to
 * 30 s. */
int64_t flow_retry_delay_ms(unsigned failures, int64_t first_ms);
/** Returns whether two texts are equal; NULL equals only NULL. */
bool flow_same_text(const struct blob *a, const struct blob *b);
/** Returns whether two statuses say the same. The members of their objects may stand in another
 * order, as a kube-apiserver prints them. */
bool flow_same_status(const struct blob *a, const struct blob *b);
static inline int64_t flow_now_ms(const struct flow *flow)
{
    return loop_wall_ms(flow->controller->loop);
}

/** Returns the loop's clock in ticks (FLOW_TICKS_PER_SECOND). It wraps after five days, so only
 * differences of shorter times mean anything. */
static inline uint32_t flow_tick(const struct flow *flow)
{
    return (uint32_t)(loop_mono_ns(flow->controller->loop) / (1000000000 / FLOW_TICKS_PER_SECOND));
}

/* phase.c: the phase of the flow */

/** Returns the phase that follows from what is known. Starts the final steps of a flow that is to
 * end. */
enum flow_phase flow_next_phase(struct flow *flow);
/** Sets the phase and what depends on it: times, reason, probes. The same phase changes nothing. */
void flow_enter_phase(struct flow *flow, enum flow_phase next);
/** Restores, after a restart, the decision about the end of the flow, and returns whether there is
 * one. It is stored, because the steps do not tell whether a job was aborted before or after it. */
bool flow_restore_ending(struct flow *flow);
/** Takes back the decision about the end of the flow after a change of the spec, which may save a
 * flow that was to fail. Does nothing once final steps may run. Returns whether the decision was
 * taken back. */
bool flow_reopen_ending(struct flow *flow);
/** Decides the end of the flow if that follows from its steps. */
void flow_decide_ending(struct flow *flow);
/** Returns whether the end of the flow is decided and only its final steps are still to run. */
static inline bool flow_ending(const struct flow *flow)
{
    return flow->state.ending != FLOW_NONE;
}

/* Defined in create_jobs.c. */

/** Returns the body of the job of a step, from its template and patch. An owned reference, or NULL
 * with the errors of template_resolve and template_instantiate. */
struct blob *flow_job_body(struct flow *flow, uint32_t step, const struct object *template,
                           struct error *err);
/** Creates the jobs of ready steps in queue order; at most a batch, the rest in the next sync. */
void flow_create_ready(struct flow *flow);

/* step_backoff.c: the time between two attempts of a step */

/** Starts, continues or stops the back-off of a step, as its state demands. */
void flow_backoff_update(struct flow *flow, uint32_t step);
void flow_backoff_stop(struct flow *flow, uint32_t step);
/** Updates every step in back-off: after a restart, or when a status they waited for is stored. */
void flow_backoff_update_all(struct flow *flow);

/* time_limits.c: activeDeadlineSeconds and ttlSecondsAfterFinished */

/** Starts or stops the timer of the deadline, as the flow's state demands. */
void flow_update_deadline(struct flow *flow);
/** Sets the timer for the time to live, as flow_update_deadline does for the deadline. */
void flow_update_ttl(struct flow *flow);
/** Returns whether the deadline is why the flow fails or failed. */
bool flow_deadline_hit(const struct flow *flow);
/** Appends "the flow's deadline (3 s) passed". */
void flow_write_deadline(const struct flow *flow, struct buf *out);
void flow_stop_time_limits(struct flow *flow);
/** Returns when the first job was created: to the millisecond if this process saw it, else as
 * stored. */
int64_t flow_began_ms(const struct flow *flow);

/* Defined in status_writer.c. */

/** Writes the status when the collecting window ends. */
void flow_write_status_soon(struct flow *flow);
/** Writes the status at once, or when the write in flight is answered. */
void flow_write_status_now(struct flow *flow);
/** Writes our status again because another client has overwritten it. */
void flow_rewrite_status(struct flow *flow);
void flow_stop_status_writes(struct flow *flow);

/* Defined in job_commands.c. */

/** Sends the commands that are due to jobs; at most a batch, the rest in the next sync. */
void flow_send_job_commands(struct flow *flow);
/** Called when the job of a step has a new phase: if the flow has to send that job a command now, such
 * as abort or resume, adds it to the jobs that flow_send_job_commands looks at. */
void flow_add_job_command(struct flow *flow, uint32_t step);
/** Lets the next sync look at all jobs of the flow for commands to send. Called when a retry by hand
 * has more jobs to remove than before. */
void flow_renew_job_commands(struct flow *flow);
void flow_stop_job_commands(struct flow *flow);
/** Returns a Command, TerminateJob or CompleteJob, to the job. Its name contains action and uid of the
 * job, so there is only one at a time. Owned. */
struct object *flow_command_to_job(const struct object *job, const char *action, const char *reason,
                                   const char *message);

/* servers.c: steps that serve those that depend on them */

/** Follows the pods of steps that serve others, and completes their jobs when no step needs them. */
void flow_servers_run(struct flow *flow);
/** Stops to follow the pods of a step. */
void flow_server_stop(struct flow *flow, uint32_t step);

/* Defined in manual_retry.c. */

/** Returns whether a retry of this failed flow is requested, or a rerun of a flow that has ended.
 */
bool flow_retry_wanted(const struct flow *flow);
/** Finds the steps that begin again with the retry that is requested, unless that is known. */
void flow_retry_prepare(struct flow *flow);
/** Returns whether a retry is requested and no job is left that stands in its way. */
bool flow_retry_may_begin(const struct flow *flow);
void flow_retry_begin(struct flow *flow);
/** Ends a request for the retry of a flow that has not failed: it has no effect, now or later. */
void flow_retry_dismiss(struct flow *flow);

/* Defined in reason.c. */

/** Sets state.reason and state.message of a flow that fails. */
void flow_set_failure_reason(struct flow *flow);
/** Updates state.reason and state.message of a flow in a phase that is not terminal. */
void flow_update_reason(struct flow *flow);
/** Writes an event for each step that was skipped since the last call. */
void flow_announce_skipped(struct flow *flow);

/* Defined in probing.c. */

/** Evaluates the targets of the steps in model.probing. */
void flow_probing_run(struct flow *flow);
/** Stops all probes of the flow. */
void flow_probing_stop(struct flow *flow);
/** Marks, after a restart, the failures as handled that satisfied probes had waited for. */
void flow_probing_restore(struct flow *flow);

/* Defined in retain_policy.c. */

/** Carries out jobRetainPolicy once the flow is stored as Succeed. */
void flow_apply_retain_policy(struct flow *flow);
