#pragma once
/*
 * The flow controller from inside: one struct flow per JobFlow object, one controller for all.
 *
 *   watchers ──► record (what is known) ──► runnable ──► flow_sync: decide ──► create, block,
 * publish
 *
 * Everything runs on the loop. An event only updates the record and puts the flow on the runnable
 * list; the list is worked off by one posted task, so all events of a turn are seen before anything
 * is decided.
 */
#include "base/hash.h"
#include "flow/blocked_steps.h"
#include "flow/controller.h"
#include "flow/decide.h"
#include "flow/metrics.h"
#include "flow/status_restore.h"
#include "flow/template_pins.h"
#include "probes/probe.h"
#include "template/instantiate.h"

#define FLOW_COMPONENT        "vc-controller-manager"
#define REASON_DEADLINE       "DeadlineExceeded" /* state.reason */
#define REASON_MISSING_OUTPUT "MissingOutput"    /* of a step that refers to it */

enum flow_opening {
    FLOW_CLOSED,  /* finished and settled: only the object is kept */
    FLOW_OPEN,    /* the record is live */
    FLOW_UNUSABLE /* its graph cannot be run */
};

/* The writing of the status: gathered for a while, one write in flight, equal ones left out. */
struct status_writer {
    struct cluster_call call;
    struct timer window;
    bool in_flight, dirty, urgent;
    bool overwritten; /* by somebody: ours is written again even when it is equal */
    unsigned failures;
    struct blob *written; /* as we stored it last; NULL = never */
    struct blob *sent;
    int64_t written_revision; /* of the flow with our last status */
    enum flow_phase written_phase, sent_phase;
    uint32_t written_changes, sent_changes; /* of the record */
    uint32_t rendered_changes;              /* of the record, for which a write is under way */
    bool rendered_while_running;            /* that write tells of jobs that have not ended */
};

/* What a failed flow has to tell its jobs. */
enum job_command {
    JOB_COMMAND_NONE,
    JOB_COMMAND_TERMINATE, /* failurePolicy: abort */
    JOB_COMMAND_REMOVE     /* a manual retry needs their names */
};

struct job_commands {
    enum job_command now;
    uint32_t build; /* of the record whose `ordered` it is about */
    struct timer again;
    unsigned failures;
};

struct flow {
    struct flow_controller *controller;
    struct object *object; /* newest version */
    enum flow_opening opening;
    struct flow_model model; /* while OPEN */
    struct flow_state state;
    struct removed_entries removed;
    char *critical_path;         /* status.criticalPath of a large flow that is over; or NULL */
    bool critical_path_may_grow; /* jobs were at work when it was found */
    struct template_pins *pins; /* of a flow that pins its templates, while it is open; else NULL */
    struct status_writer writer;
    struct probe_group probes;
    struct job_commands commands;
    uint32_t build;     /* grows when the record is built anew: step indexes may differ */
    unsigned calls;     /* in flight, the publisher's included */
    bool gone;          /* deleted; freed when the calls are back */
    bool retained_done; /* the retain policy has been carried out */
    unsigned removals;  /* in flight */
    struct timer retain_retry;
    unsigned retain_failures;
    struct timer deadline; /* activeDeadlineSeconds */
    int64_t began_ms;      /* when this process saw the first job; 0: another one did */
    struct timer ttl;      /* ttlSecondsAfterFinished */
    bool deadline_passed, ttl_fired;
    bool backoffs_held;     /* until the status tells of the attempts that are over */
    enum flow_phase ending; /* how the flow ends, while its final steps run; else NONE */
    char *warned;           /* the last cause a Warning was written for */
    bool runnable;
    struct flow *next_runnable;
    UT_hash_handle hh; /* by uid */
    char uid[];
};

struct flow_controller {
    struct cluster *cluster;
    struct loop *loop;
    struct flow_options options;
    struct cluster_watcher flows, templates, jobs;
    struct flow *by_uid;
    struct task run;
    struct flow *first_runnable, *last_runnable;
    struct wait_key *waits; /* by "<kind>/<namespace>/<name>" */
    struct template_cache *bodies;
    struct template_pins *pins; /* of all flows that have some */
    struct probes *probes;
    struct flow_metrics metrics;
    unsigned calls; /* in flight, of all flows */
    bool stopped;
};

/* controller.c */
void flow_make_runnable(struct flow *flow);
void flow_call_begun(struct flow *flow);
/** A call is back. False when the flow is gone and was freed with it: touch it no more. */
bool flow_call_ended(struct flow *flow);

/* flow.c: the life of a flow */
struct flow *flow_new(struct flow_controller *controller, const struct object *object);
void flow_free(struct flow *flow);
void flow_object_changed(struct flow *flow, const struct object *object);
void flow_open(struct flow *flow);
void flow_close(struct flow *flow);
/** Loops whose condition never came true get as many iterations again. */
void flow_renew_iteration_budgets(struct flow *flow);
void flow_sync(struct flow *flow);
/** A version of one of its jobs. */
void flow_job_changed(struct flow *flow, uint32_t step, const struct object *job);
bool flow_may_create(const struct flow *flow);  /* jobs may still be created, now or when resumed */
bool flow_creates_now(const struct flow *flow); /* now */
/** The job of a step if it is this flow's: borrowed, or NULL. */
const struct object *flow_job_of(const struct flow *flow, uint32_t step);
enum failure_policy flow_failure_policy(const struct flow *flow);
/** state.reason and state.message. */
void flow_set_reason(struct flow *flow, const char *reason, const char *message);
static inline int64_t flow_now_ms(const struct flow *flow)
{
    return loop_wall_ms(flow->controller->loop);
}

/** The loop's clock in the ticks of a record; it wraps after five days. */
static inline uint32_t flow_tick(const struct flow *flow)
{
    return (uint32_t)(loop_mono_ns(flow->controller->loop) / (1000000000 / FLOW_TICKS_PER_SECOND));
}

/* create.c */
/** Create the jobs of ready steps, lowest first; at most a batch, the rest at the flow's next turn.
 */
void flow_create_ready(struct flow *flow);

/* backoff.c */
/** The step failed and is to be tried again, or is not any more: its timer follows. */
void flow_backoff_update(struct flow *flow, uint32_t step);
void flow_backoff_stop(struct flow *flow, uint32_t step);
/** After a restart, or when what some of them waited for has been stored. */
void flow_backoff_update_all(struct flow *flow);

/* finish.c */
/** The times the spec sets: follow them. */
void flow_update_deadline(struct flow *flow);
void flow_update_ttl(struct flow *flow);
bool flow_deadline_hit(const struct flow *flow); /* it is why the flow fails, or failed */
void flow_stop_time_limits(struct flow *flow);
/** A flow that would be `next` has final steps to run first: returns the phase it has meanwhile. */
enum flow_phase flow_final_steps_phase(struct flow *flow, enum flow_phase next);
/** After a restart: whether the stored state says that the flow fails for its deadline once its
 * final steps have run. How it ends otherwise follows from its steps. */
bool flow_restore_ending(struct flow *flow);
/** The end is fixed: only its final steps are still to run. */
static inline bool flow_ending(const struct flow *flow)
{
    return flow->ending != FLOW_NONE;
}

/* publish.c */
void flow_write_status_soon(struct flow *flow);
void flow_write_status_now(struct flow *flow);
void flow_stop_status_writes(struct flow *flow);
/** The stored status is not ours any more: write ours again. */
void flow_rewrite_status(struct flow *flow);

/* job_commands.c */
/** Tell jobs what is to be told; at most a batch, the rest at the flow's next turn. */
void flow_send_job_commands(struct flow *flow);
/** The job of a step came to a new phase: it may have to be told now. */
void flow_add_job_command(struct flow *flow, uint32_t step);
void flow_stop_job_commands(struct flow *flow);

/* retry.c */
/** Somebody asks for a retry of this flow, which has failed. */
bool flow_retry_wanted(const struct flow *flow);
/** It is wanted, and no job is left that stands in the way. */
bool flow_retry_may_begin(const struct flow *flow);
void flow_retry_begin(struct flow *flow);
/** Asking a flow that has not failed asks for nothing, then and later. */
void flow_retry_dismiss(struct flow *flow);

/* why.c */
/** state.reason and state.message of a flow that has failed. */
void flow_set_failure_reason(struct flow *flow);
/** An event for each step that was skipped since. */
void flow_announce_skipped(struct flow *flow);
/** Work out state.reason and state.message for a phase that is not final. */
void flow_update_reason(struct flow *flow);

/* probing.c */
/** Look at the targets of the steps in record.probing. */
void flow_probing_run(struct flow *flow);
void flow_probing_stop(struct flow *flow); /* look no more */
/** After a restart: failures that steps had waited for are handled still. */
void flow_probing_restore(struct flow *flow);

/* retain.c */
/** Carry out jobRetainPolicy: delete, once the flow is stored as Succeed. */
void flow_apply_retain_policy(struct flow *flow);
