#pragma once
/*
 * The record of one job under control: its model, its queue of requests and its writes in flight.
 *
 *   pod changes, timers, Commands ──► queue of requests ──► job_execute ──► decision stored
 *                                                                                 │
 *   pods, PodGroup, claims, plugin objects ◄── writes ◄── job_sync ◄──────────────┘
 *
 * Only the record's work item works on a job. Everything that happens to the job (pod changes,
 * timers, Commands, answers to writes) adds a request to the queue or asks for a sync, and the work
 * item takes up both, requests first and in order (O-70, O-23). While a decision is being stored no
 * request is taken up; the model goes on following the pods.
 *
 * A job that has finished and left nothing behind needs no record. The record is freed then, and
 * made again from the cache when something happens to the job.
 */
#include <sys/queue.h>

#include "api/cluster.h"
#include "base/collections/hash.h"
#include "base/loop/workq.h"
#include "job/commands.h"
#include "job/companions.h"
#include "job/controller.h"
#include "job/delayed.h"
#include "job/dependents.h"
#include "job/lifetime.h"
#include "job/metrics.h"
#include "job/model/model.h"
#include "job/model/pod_times.h"
#include "job/pod_trouble.h"
#include "job/request.h"
#include "job/ttl.h"
#include "job/waiters.h"
#include "job/writes.h"

/* Watches one kind of objects that plugins create, so that a deleted one is created again. */
struct plugin_watcher {
    struct cluster_watcher watcher;
    struct job_controller *ctl;
};
enum { JOB_PLUGIN_KINDS_N = 4 };

struct job_controller {
    struct cluster *cluster;
    struct loop *loop;
    struct job_options options;
    const struct job_gang_form *gang;
    struct job_spec_cache *cache;
    struct job_run *runs; /* hash table of the records by uid */
    struct job_waiters waiters;
    LIST_HEAD(, job_run) stale; /* jobs whose stored status lags behind the model */
    struct timer flush;         /* its expiry writes the statuses of the jobs in `stale` */
    struct job_ttl ttl;
    struct job_dependents_of *dependents; /* hash table by job (job/dependents.h) */
    struct job_metrics metrics;
    LIST_HEAD(, parked_command) parked; /* Commands whose job does not exist yet */
    LIST_HEAD(, job_removal) removals;  /* removals that failed; they are tried again */
    struct cluster_watcher jobs, pods, groups, queues, claims, commands;
    struct plugin_watcher plugin_objects[JOB_PLUGIN_KINDS_N];
    unsigned records; /* records of jobs and removals, also those that only await an answer */
    bool stopping;
};

/* What the record's own code is doing at present. */
enum job_activity {
    JOB_IDLE,
    JOB_LOADING, /* the record is being made: what it finds happened earlier */
    JOB_WORKING, /* inside the work item */
};

struct job_run {
    struct job_controller *ctl;
    struct job_model model;
    struct work work;
    struct job_request *first, *last; /* queue of requests */
    struct job_request *postponed;    /* delayed actions that came due while the job restarts */
    struct job_request *deciding;     /* the request whose decision is being stored; it is executed
                                       * again on failure */
    enum job_activity activity;
    enum job_write write;             /* write of the job itself that is in flight on store_call */
    enum job_podgroup_state podgroup; /* state of the PodGroup, including its write in flight on
                                       * group_call */
    enum job_delays delays;
    bool sync_wanted;
    bool gone;           /* the job was deleted: nothing is begun any more */
    bool held;           /* the last sync left work undone because of the back-off */
    bool paused;         /* a decision was not stored: wait for fresh data or for the timer */
    bool counts_changed; /* counters differ from the stored status */
    bool prepared;       /* claims and plugin objects are as the spec asks */
    bool warned_arguments;
    bool warned_ignored;        /* events have said which fields mean nothing in this cluster */
    struct job_pod_times times; /* times of pods from which the next verdict follows */
    unsigned ops;               /* writes of pods, claims and plugin objects in flight */
    unsigned prep_ops;          /* number of these writes that preparation waits for */
    unsigned permanent; /* number of consecutive failures that only a change of the job can mend */
    struct {
        struct job_request *request; /* a targeted kill whose pods are being marked; NULL when only
                                      * pods that leave anyway are marked */
        unsigned marks;              /* number of marks in flight */
        unsigned marked;             /* number of marks that succeeded */
        unsigned failed;             /* marks that failed and will be tried again (O-51) */
    } target;
    struct cluster_call store_call, group_call;
    struct job_delayed *delayed;           /* hash table of delayed actions */
    unsigned delays_annotated;             /* number of delayed actions that the status stores */
    LIST_HEAD(, job_companion) companions; /* companions whose pods have ended at least once */
    struct {
        struct slot_id at; /* a pod that does not start, when one is known */
        bool known;
        int64_t shown_ms;  /* when a text was shown last; 0: never */
        struct timer next; /* its expiry shows the next text */
    } trouble;
    struct timer lifetime;   /* its expiry ends the job */
    int64_t lifetime_due_ms; /* when it expires; 0: it is not armed */
    struct job_waiter waiter;
    struct {
        char reason[JOB_REASON_MAX];
        char *message;     /* message of the state, owned, or NULL */
    } decided;             /* why the phase was entered; shown again when the job stops waiting */
    uint64_t group_warned; /* hash of the PodGroup condition that was reported last */
    LIST_ENTRY(job_run) stale; /* links the jobs in ctl->stale; le_prev NULL = not in it */
    UT_hash_handle hh;
    char uid[];
};

/* job/run.c: records of jobs */

/** Returns NULL when there is no record. */
struct job_run *job_run_find(struct job_controller *ctl, const char *uid);
/** Returns the record of a stored job. A new one is filled from the cached pods and PodGroup of the
 * job. */
struct job_run *job_run_get(struct job_controller *ctl, const struct object *job);
/** The job was deleted, or the controller stops. The record is freed once no write is in flight. */
void job_run_drop(struct job_run *run);
/** Frees the controller; called by the last record of a stopped one. */
void job_controller_release(struct job_controller *ctl);
/** Frees the record when no write is in flight and the job is gone or has finished and left nothing
 * behind. The caller must not touch the record afterwards. */
void job_run_free_if_done(struct job_run *run);
/** Asks for a sync, once the back-off has passed. */
void job_run_sync(struct job_run *run);
/** Asks for a sync now: what the job waited for exists. */
void job_run_wake(struct job_run *run);
/** Takes over a newer version of the job. A changed body raises JobUpdated. */
void job_run_job(struct job_run *run, const struct object *job);
/** Takes over the PodGroup as it is now; NULL: it does not exist. */
void job_run_group(struct job_run *run, const struct object *group);
/** Returns whether the job is the controller of this object. */
bool job_run_owns(const struct job_run *run, const struct object *object);
/** A pod of the job was added, changed or (pod NULL) removed. */
void job_run_pod(struct job_run *run, struct slot_id at, const struct object *pod,
                 const struct pod_facts *facts);
/** Returns true while failures hold back creations and removals. */
static inline bool job_run_holding(const struct job_run *run)
{
    return timer_armed(&run->work.timer);
}
int64_t job_run_now_ms(const struct job_run *run);
/** Records an event about the job. The text is cut at 511 bytes. */
void job_run_event(struct job_run *run, enum event_type type, const char *reason,
                   const char *format, ...) PRINTF_LIKE(4, 5);

/* job/execute.c: from a request to a decision */

/** Finds the request's action and executes it. Consumes the request. */
void job_execute(struct job_run *run, struct job_request *request);
/** Go on with a targeted kill: every mark was answered. */
void job_execute_marked(struct job_run *run);

/* job/sync.c: creating and removing what the phase asks for */

/** One pass. True when a batch was full: more can be begun after other jobs had their turn
 * (O-41). */
bool job_sync(struct job_run *run);

/* job/status.c: decisions and counters to the store */

/** Change the phase and store it. `request` (may be NULL) is consumed; it is executed again when
 * the write fails. */
void job_change_phase(struct job_run *run, enum job_phase to, const char *reason,
                      const char *message, struct job_request *request);
/** Store the status as the model has it, with the job's revision as precondition. `request` as
 * above. */
void job_store_status(struct job_run *run, struct job_request *request);
/** Store the status within a short window: counters, reason or controlledResources changed. */
void job_status_mark_stale(struct job_run *run);
/** Takes the job off the list that job_status_mark_stale puts it on. */
void job_status_unmark_stale(struct job_run *run);
/** Timer: store every status of the list that differs from what is stored. */
void job_status_flush(struct timer *timer);
/** Show in reason and message what the job waits for. */
void job_status_waits(struct job_run *run, const char *reason, const char *message);
/** Shows again why the phase was entered, because the job waits no longer. */
void job_status_waits_no_longer(struct job_run *run);

/* job/pod_writes.c: writes of pods */

void job_pod_create(struct job_run *run, struct slot_id at);
/* The counter that a mark's answer goes to. */
enum mark_purpose {
    MARK_UNTRACKED,     /* a mark that no kill waits for */
    MARK_TARGET,        /* the targeted kill under way; the pod is one of its targets */
    MARK_TARGET_LEAVING /* the same kill; the pod leaves anyway, and its end must cause no event */
};
void job_pod_mark(struct job_run *run, struct slot_id at, enum mark_purpose purpose);
void job_pod_remove(struct job_run *run, struct slot_id at);
/** A write failed: report it, back off, and terminate the job after too many failures that no retry
 * can mend. `what` names the write in the event ("create pod"). */
void job_write_failed(struct job_run *run, const char *event_reason, const char *what,
                      const struct error *err);

/* job/prepare.c: what must exist before the first pod */

/** Makes what pods need. Returns true when queue, claims, plugin objects and PodGroup are in order.
 * Otherwise what is missing was begun, or the job waits for it. */
bool job_prepare(struct job_run *run);
/** May pods be created, as far as the job's gang decides that? Always without one that admits. */
bool job_prepare_admitted(const struct job_run *run);

enum job_prepare_scope { UNDO_PODGROUP, UNDO_PODGROUP_AND_PLUGIN_OBJECTS };
/** Removes what preparation made. */
void job_prepare_undo(struct job_run *run, enum job_prepare_scope scope);
/** Returns whether the status records objects of plugins that are still to be removed. */
bool job_plugin_objects_recorded(const struct job_run *run);
