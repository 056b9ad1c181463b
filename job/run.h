#pragma once
/*
 * One job under control: its view, its mailbox, and what is under way for it.
 *
 *   events ──► mailbox ──► act ──► decision stored ──► sync ──► pods, PodGroup, claims, plugin
 * objects (one request at a time, in order)        ▲                        │ └──── results,
 * changes ──┘
 *
 * A job is never worked on in two places: everything that happens to it (pod changes, timers,
 * Commands, answers to writes) ends as a request or as a wish to sync, and both are taken up by the
 * job's one work item (O-70, O-23). While a decision is being stored the mailbox waits; the view
 * goes on following the pods.
 *
 * A job that has come to rest and left nothing behind needs no record at all: it is dropped, and
 * made anew when something happens.
 */
#include "api/cluster.h"
#include "base/hash.h"
#include "base/workq.h"
#include "job/commands.h"
#include "job/controller.h"
#include "job/delayed.h"
#include "job/metrics.h"
#include "job/model.h"
#include "job/ttl.h"
#include "job/waiters.h"

struct job_run;

/* A kind whose objects plugins make, and make again when somebody deletes them. */
struct plugin_watcher {
    struct cluster_watcher watcher;
    struct job_controller *ctl;
};
enum { JOB_PLUGIN_KINDS_N = 4 };

struct job_controller {
    struct cluster *cluster;
    struct loop *loop;
    struct job_options options;
    struct job_spec_cache *cache;
    struct job_run *runs; /* hash by uid */
    struct job_waiters waits;
    struct job_run *stale; /* list: status lags behind the counters */
    struct timer flush;
    struct job_ttl ttl;
    struct job_metrics metrics;
    struct parked_command *parked;    /* Commands without their job */
    struct command_removal *removals; /* executed Commands that would not go; tried again */
    struct cluster_watcher jobs, pods, groups, queues, claims, commands;
    struct plugin_watcher plugin_objects[JOB_PLUGIN_KINDS_N];
    unsigned records; /* runs and removals, also those that only wait for an answer */
    bool stopping;
};

/* Something that happened to a job and may trigger a policy, or that somebody asks for. Owned by
 * the mailbox. */
struct job_request {
    struct job_request *next;
    enum job_event event;
    bool has_action;
    bool expired;   /* a delayed action is due: its cause is looked at once more (O-24) */
    bool replayed;  /* found when the record was made, not seen as it happened */
    bool begun;     /* a targeted kill: some of its pods were marked in an earlier round */
    bool marked;    /* all of them are; the decision is still to be stored */
    uint8_t rounds; /* of marking that left pods unmarked */
    bool has_task, has_pod;
    enum job_action action;
    struct slot_id at;
    int32_t partition; /* -1 = none */
    int32_t exit_code;
    int32_t version;
    int64_t cause_ms;          /* when the cause came about */
    uint32_t source, position; /* of an expired one: the policy that asked (job/delayed.h) */
    struct object *pod;        /* reference, or NULL */
    struct object *command;    /* the Command that asks, or NULL */
};

enum group_op { GROUP_IDLE, GROUP_CREATING, GROUP_UPDATING, GROUP_REMOVING };

struct job_run {
    struct job_controller *ctl;
    struct job_model model;
    struct work work;
    struct job_request *first, *last;
    struct job_request *postponed; /* delayed actions due while the job restarts */
    struct job_request *deciding; /* its decision is being stored; it is repeated when that fails */
    bool sync_wanted;
    bool storing;
    bool moving;    /* what is being stored is a new phase */
    bool gone;      /* the job was deleted: nothing is begun any more */
    bool working;   /* inside the work item */
    bool gathering; /* the record is being made */
    bool held;      /* a sync left something undone because of the back-off */
    bool paused;    /* a decision could not be stored: wait for fresh data or for the timer */
    bool counts_changed;
    bool prepared;      /* claims and plugin objects are as the spec asks */
    bool group_checked; /* the PodGroup's spec is as the job's asks */
    bool group_removed; /* the PodGroup in the view was removed; its deletion has not shown yet */
    bool warned_arguments;
    uint8_t group_op;   /* enum group_op */
    unsigned ops;       /* writes of pods, claims and plugin objects under way */
    unsigned prep_ops;  /* of these, those that preparation waits for */
    unsigned permanent; /* failures in a row that only a change of the job can mend */
    struct {
        struct job_request *request; /* a targeted kill whose pods are being marked; NULL: it had
                                        none but those that go anyway */
        unsigned marks;              /* under way */
        unsigned marked;             /* done */
        unsigned failed;             /* to be tried again (O-51) */
    } target;
    struct cluster_call store_call, group_call;
    struct job_delayed *delayed; /* hash */
    unsigned delays_annotated;   /* of these, those whose deadlines are noted */
    bool delays_changed;         /* they may differ from what is noted */
    bool delays_urgent;          /* something was armed: noted with this turn */
    struct job_waiter wait;
    struct {
        char reason[JOB_REASON_MAX];
        char *message;     /* owned, or NULL */
    } decided;             /* told again when nothing is waited for any more */
    uint64_t group_warned; /* hash of the PodGroup condition that was reported last */
    struct job_run *stale_next, **stale_link; /* in the controller's list; link NULL = not in it */
    UT_hash_handle hh;
    char uid[];
};

/* ---- job/request.c: requests ---- */
/** Queue a request; consumed. */
void job_request_post(struct job_run *run, struct job_request *request);
/** The same at the front: a decision that could not be stored. */
void job_request_repeat(struct job_run *run, struct job_request *request);
/** Delayed actions that are due and not yet taken up: drop those that are unwanted; take up again
 * those that were put off. */
void job_request_drop_expired(struct job_run *run,
                              bool (*unwanted)(const struct job_request *due, const void *arg),
                              const void *arg);
void job_request_postpone(struct job_run *run, struct job_request *request); /* consumes */
void job_request_resume_postponed(struct job_run *run);
void job_request_free(struct job_request *request);
/** The request was dealt with: free it. A Command it came from is noted in the status first, so
 * that it is executed once whatever happens (O-66), and then deleted. */
void job_request_finish(struct job_run *run, struct job_request *request);
/** The next request, the caller's from then on; NULL when there is none. */
struct job_request *job_request_take(struct job_run *run);
/** Free a request nobody takes up any more. A Command to a job that is no more goes with it; one
 * that a stopping controller leaves is the next one's. */
void job_request_abandon(struct job_run *run, struct job_request *request);
struct job_request *job_request_of_pod(struct job_run *run, enum job_event event, struct slot_id at,
                                       const struct object *pod, const struct pod_facts *facts);

/* ---- job/run.c: records ---- */
struct job_run *job_run_find(struct job_controller *ctl, const char *uid);
/** The record of a stored job, made with what the cache knows of its pods and PodGroup when there
 * is none. */
struct job_run *job_run_get(struct job_controller *ctl, const struct object *job);
/** The job is no more, or the controller stops. Frees as soon as no write is under way. */
void job_run_drop(struct job_run *run);
/** The last record of a controller that was stopped is gone. */
void job_controller_release(struct job_controller *ctl);
/** Free the record if it is at rest or gone and nothing is under way. Call with nothing to be done
 * after it. */
void job_run_free_if_done(struct job_run *run);
void job_run_sync(struct job_run *run); /* soon */
void job_run_wake(struct job_run *run); /* at once: what it waited for has come */
/** A newer version of the job; a changed body raises JobUpdated. */
void job_run_job(struct job_run *run, const struct object *job);
/** The PodGroup as it is now, or NULL. */
void job_run_group(struct job_run *run, const struct object *group);
/** Is the job the controller of this object? */
bool job_run_owns(const struct job_run *run, const struct object *object);
/** A pod of the job was added, changed or (pod NULL) removed. */
void job_run_pod(struct job_run *run, struct slot_id at, const struct object *pod,
                 const struct pod_facts *facts);
/** Failures hold back creations and removals until the back-off has passed. */
static inline bool job_run_holding(const struct job_run *run)
{
    return timer_armed(&run->work.timer);
}
int64_t job_run_now_ms(const struct job_run *run);
void job_run_event(struct job_run *run, enum event_type type, const char *reason,
                   const char *format, ...) PRINTF_LIKE(4, 5);

/* ---- job/execute.c: from a request to a decision ---- */
void job_execute(struct job_run *run, struct job_request *request); /* consumes */
/** All marks of a targeted kill were answered. */
void job_execute_marked(struct job_run *run);

/* ---- job/sync.c: level-triggered: what the present phase wants ---- */
/** True when a batch was full: there is more to begin, after others had their turn (O-41). */
bool job_sync(struct job_run *run);

/* ---- job/status.c: decisions and counters to the store ---- */
/** Change the phase and store it; `request` (may be NULL) is consumed and repeated when the write
 * fails. */
void job_change_phase(struct job_run *run, enum job_phase to, const char *reason,
                      const char *message, struct job_request *request);
/** Store the state as it is, with the job's revision as precondition. */
void job_store_status(struct job_run *run, struct job_request *request);
/** The status should follow soon: counters, reason or resources changed. */
void job_status_mark_stale(struct job_run *run);
void job_status_unmark_stale(struct job_run *run); /* not in the list of stale ones any more */
void job_status_flush(struct timer *timer);
/** Say what the job waits for, or with NULL that it waits no longer. */
void job_explain(struct job_run *run, const char *reason, const char *message);

/* ---- job/pod_writes.c: writes of pods ---- */
void job_pod_create(struct job_run *run, struct slot_id at);
/* Who waits for the answer to a mark. */
enum mark_purpose {
    MARK_UNTRACKED,     /* nobody */
    MARK_TARGET,        /* the targeted kill under way, whose target the pod is */
    MARK_TARGET_LEAVING /* the same; the pod goes anyway, and its end shall be no event */
};
void job_pod_mark(struct job_run *run, struct slot_id at, enum mark_purpose mark_purpose);
void job_pod_remove(struct job_run *run, struct slot_id at);
/** A write failed: back off, count what is permanent. `what` for the event ("create pod x"). */
void job_write_failed(struct job_run *run, const char *event_reason, const char *what,
                      const struct error *err);

/* ---- job/prepare.c: what must be there before pods ---- */
/** True when queue, claims, plugin objects and PodGroup are in order; otherwise they are on their
 * way. */
bool job_prepare(struct job_run *run);
/** Remove the PodGroup, and once nothing lives what plugins made. */
void job_prepare_undo(struct job_run *run, bool plugins_too);
bool job_plugin_objects_recorded(const struct job_run *run);
