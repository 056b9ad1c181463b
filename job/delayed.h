#pragma once
/*
 * Delayed actions: policies with a timeout. Ref: spec/job.md 7, O-22…O-28.
 *
 * An armed action is identified by its cause (a slot, or the job as a whole) and by the policy that
 * asks for it. Arming it again for the same pod keeps the deadline; for another pod it moves. The
 * timer only queues a request; whether the cause still holds is checked when the request is taken
 * up.
 *
 * Deadlines survive a restart of the process to the millisecond (O-26). The deadline of a pod that
 * is pending since its creation follows from the pod. The others are stored in
 * status.controlledResources in the turn that arms them (job/delayed_annotations.c).
 */
#include "api/types/object.h"
#include "base/collections/hash.h"
#include "base/loop/loop.h"
#include "job/model/model.h"
#include "job/model/policy.h"

struct job_run;
struct job_request;

struct job_delayed_key {
    uint32_t task; /* UINT32_MAX: an event of the job as a whole */
    int32_t index;
    uint32_t source; /* an enum job_policy_source */
    uint32_t position;
};

/* An armed action: one that happens when its timer fires. */
struct job_delayed {
    struct job_delayed_key key;
    struct timer timer;
    struct job_run *run;
    enum job_event event;
    enum job_action action;
    int32_t version, partition;
    int64_t cause_ms;
    bool annotated;     /* the status stores its deadline, because it follows from no pod */
    struct object *pod; /* reference to the causing pod (or the one lost), or NULL */
    UT_hash_handle hh;
};

/* The difference between the armed actions and those in the stored status. Ordered: the greater
 * value holds until the next write. */
enum job_delays {
    DELAYS_STORED,
    DELAYS_CHANGED, /* written with the counters */
    DELAYS_URGENT,  /* an action was armed: written in this turn */
};
/** Raise the job's state to `how`. */
void job_delayed_changed(struct job_run *run, enum job_delays how);

/** Arms the delayed action that a policy asks for, or keeps it if it is armed. `request` is borrowed. */
void job_delayed_add(struct job_run *run, const struct job_request *request,
                     const struct job_policy_result *response);
/** An event of a pod is taken up: cancel the actions whose cause it ends (7.1 Cancel). */
void job_delayed_on_event(struct job_run *run, const struct job_request *request);
/** The core has marked the pod of a slot to restart it: arm every delayed PodEvicted policy for it
 * (O-28). */
void job_delayed_on_mark(struct job_run *run, struct slot_id at);
/** An action was executed: cancel the actions of the same level, those already due included. A kill
 * of the whole job cancels all. `cause` may be NULL for such a kill. */
void job_delayed_cancel_covered(struct job_run *run, enum job_action action,
                                const struct job_request *cause);
void job_delayed_cancel_all(struct job_run *run);

/** Must an action that is due wait, because the job restarts some of its pods? */
bool job_delayed_must_wait(const struct job_run *run, const struct job_request *expired);
/** Returns whether the cause of an action that is due still holds (O-24). */
bool job_delayed_still_valid(const struct job_run *run, const struct job_request *expired);

/* job/delayed_annotations.c: armed actions in status.controlledResources */

/* An armed action as the status stores it. */
struct job_delayed_annotation {
    struct job_delayed_key key;
    enum job_event event;
    int64_t cause_ms;
};
/** Must the status store an action's deadline, because it does not follow from the pod? */
bool job_delayed_is_annotated(enum job_event event, const struct object *pod, int64_t cause_ms);
/** Brings controlledResources up to date, before the status is written. True when that changed
 * them. */
bool job_delayed_annotations_write(struct job_run *run);
/** Arms the stored actions in a new record. */
void job_delayed_annotations_load(struct job_run *run);
/** Arms one of the stored actions. Nothing happens when the job or its policies do not fit
 * (job/delayed.c). */
void job_delayed_rearm(struct job_run *run, const struct job_delayed_annotation *annotation);
