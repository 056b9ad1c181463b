#pragma once
/*
 * Requests: what happened to a job, or what a Command or a due timer asks of it, queued until the
 * job's work item takes it up (job/run.h).
 *
 * A request belongs to the queue it is in, or to the function that took it out of the queue, until
 * job_request_finish. A request whose decision could not be stored goes back to the front.
 */
#include "job/model/event.h"
#include "job/model/model.h"

struct job_run;

/* How far the pods of a targeted kill carry the out-of-sync mark. */
enum job_marking {
    MARKING_NONE,
    MARKING_PARTLY,   /* an earlier round marked some pods */
    MARKING_COMPLETE, /* all are marked; the decision is still to be stored */
    MARKING_NO_POD,   /* every pod was gone before it could be marked */
};

struct job_request {
    struct job_request *next;
    enum job_event event;
    bool has_action;
    bool expired;  /* a delayed action is due: its cause is checked once more (O-24) */
    bool replayed; /* found when the record was made, not seen as it happened */
    enum job_marking marking;
    uint8_t rounds; /* number of rounds of marking that left pods unmarked */
    bool has_task, has_pod;
    enum job_action action;
    struct slot_id at; /* valid as far as has_task and has_pod say */
    int32_t partition; /* partition that the action is about; -1 = none */
    int32_t exit_code;
    int32_t version;
    int64_t cause_ms;          /* time at which the cause arose */
    uint32_t source, position; /* the policy that asked for an expired action (job/delayed.h) */
    struct object *pod;        /* pod that is the cause, a reference; or NULL */
    struct object *command;    /* reference to the Command that asks, or NULL */
    const char *reason;        /* static text for state.reason, or NULL */
    char *message;             /* text for state.message with `reason`; owned */
};

/** Returns a request about a pod: event, slot, partition and what the pod says; owned. */
struct job_request *job_request_of_pod(struct job_run *run, enum job_event event, struct slot_id at,
                                       const struct object *pod, const struct pod_facts *facts);
/** Appends a request to the queue; consumed. */
void job_request_post(struct job_run *run, struct job_request *request);
/** Puts a request back to the front of the queue: its decision could not be stored. Consumed. */
void job_request_repeat(struct job_run *run, struct job_request *request);
/** Asks for the end of the job: TerminateJob with this reason (static text) and message. A reason
 * of job_reason_fails makes it end as Failed. */
void job_request_terminate(struct job_run *run, const char *reason, const char *format, ...)
    PRINTF_LIKE(3, 4);
/** Returns the next request, owned by the caller; NULL when there is none. */
struct job_request *job_request_take(struct job_run *run);

/** Keeps a delayed action that is due while the job restarts; consumed. */
void job_request_postpone(struct job_run *run, struct job_request *request);
/** Appends every postponed request to the queue. */
void job_request_resume_postponed(struct job_run *run);
/** Frees the delayed actions that are due, queued or postponed, and `unwanted`. */
void job_request_drop_expired(struct job_run *run,
                              bool (*unwanted)(const struct job_request *due, const void *arg),
                              const void *arg);

/** Frees a request that was dealt with. A Command behind it is first recorded in the status, so
 * that it is executed once whatever happens (O-66), and then deleted. */
void job_request_finish(struct job_run *run, struct job_request *request);
/** Frees a request that nothing takes up any more. The Command behind it is deleted with its job; a
 * Command that a stopping controller leaves is taken up by the next controller. */
void job_request_abandon(struct job_run *run, struct job_request *request);
void job_request_free(struct job_request *request); /* NULL is ignored */
