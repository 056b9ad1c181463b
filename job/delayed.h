#pragma once
/*
 * Delayed actions: policies with a timeout. Ref: spec/job.md 7, O-22…O-28.
 *
 * An entry is identified by what caused it (slot, or the job as a whole) and by the policy that
 * asks; registering it again for the same pod keeps the deadline, for another pod moves it. The
 * timer only posts a request to the job's mailbox; whether the cause still holds is decided when it
 * is taken up.
 *
 * Deadlines survive a restart of the process to the millisecond (O-26). That of a pod that is
 * pending since it was made follows from the pod; the others are noted in
 * status.controlledResources with the turn that arms them (job/delayed_annotations.c).
 */
#include "api/types/object.h"
#include "base/hash.h"
#include "base/loop.h"
#include "job/model.h"
#include "job/policy.h"

struct job_run;
struct job_request;

struct job_delayed_key {
    uint32_t task; /* UINT32_MAX: an event of the job as a whole */
    int32_t index;
    uint32_t source; /* enum job_policy_source */
    uint32_t position;
};

struct job_delayed {
    struct job_delayed_key key;
    struct timer timer;
    struct job_run *run;
    enum job_event event;
    enum job_action action;
    int32_t version, partition;
    int64_t cause_ms;
    bool noted;         /* its deadline follows from no pod */
    struct object *pod; /* the causing pod (or the one lost), or NULL */
    UT_hash_handle hh;
};

/** Arm (or keep) the delayed action a policy asks for. `request` is borrowed. */
void job_delayed_add(struct job_run *run, const struct job_request *request,
                     const struct job_policy_result *response);

/* What was armed, as it is noted. */
struct job_delayed_annotation {
    struct job_delayed_key key;
    enum job_event event;
    int64_t cause_ms;
};
/** Arm what an earlier process had armed. Nothing when the job or its policies do not fit. */
void job_delayed_rearm(struct job_run *run, const struct job_delayed_annotation *note);
/** An event of a pod is taken up: cancel what it makes void (7.1 Cancel). */
void job_delayed_on_event(struct job_run *run, const struct job_request *request);
/** An action was executed: cancel entries of the same level, those already due included; a kill of
 * the whole job cancels all. */
void job_delayed_cancel_covered(struct job_run *run, enum job_action action,
                                const struct job_request *cause);
void job_delayed_cancel_all(struct job_run *run);

/** The job is restarting some of its pods: what is due meanwhile is looked at afterwards. */
bool job_delayed_must_wait(const struct job_run *run, const struct job_request *expired);
/** Does the cause of an expired action still hold (O-24)? */
bool job_delayed_still_valid(const struct job_run *run, const struct job_request *expired);

/* ---- job/delayed_annotations.c ---- */
/** Is the deadline of such an action to be noted, for it does not follow from the pod? */
bool job_delayed_is_annotated(enum job_event event, const struct object *pod, int64_t cause_ms);
/** Bring controlledResources up to date, before the status is written. True when that changed them.
 */
bool job_delayed_annotations_write(struct job_run *run);
/** A new record: arm what is noted. */
void job_delayed_annotations_load(struct job_run *run);

/* ---- job/delayed.c ---- */
/** Arm every delayed PodEvicted policy for a slot whose pod the core itself has marked, to take it
 * away in a targeted kill (O-28). */
void job_delayed_on_mark(struct job_run *run, struct slot_id at);
