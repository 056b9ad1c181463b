#pragma once
/*
 * Events of pods: computed from the difference between the facts a slot had and those it has now.
 * Pure. Ref: spec/job.md 5.2, O-15…O-20.
 *
 * Because events come from the state of slots and not from pairs of watch objects, a pod first seen
 * after a restart of the process raises the event its state stands for, and a repeated or missed
 * watch event changes nothing.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/pod/pod.h"

/* What the job controller reads from a pod. */
struct pod_facts {
    int32_t restarts;  /* restarts of all its containers */
    int32_t exit_code; /* exit code of the first container that failed; 0 = none */
    int32_t version;   /* value of the annotation job-version */
    uint8_t phase;     /* an enum pod_phase */
    bool marked;       /* carries the out-of-sync annotation */
    bool deleting;
    bool ready; /* Succeeded, or Running with every container ready */
};

/** Reads a pod. Returns false when it is not a pod of a job: the annotation job-name, job-version
 * or task is missing or damaged. */
bool job_pod_facts(const struct object *pod, struct pod_facts *out);

/** Returns the time of an event from the pod's own status, in ms since the epoch (O-26), so that
 * the process that sees it happen and the next process agree. 0 = the pod does not say; the event
 * happens now. `known` is the previous version of the pod, or NULL. */
int64_t job_event_since_ms(enum job_event event, const struct object *known,
                           const struct object *pod);

/* The task of the pod, after the change was counted. */
struct task_facts {
    int32_t replicas;
    int32_t max_retry; /* limit of container restarts; -1 = no limit */
    int64_t restarts;  /* container restarts of its pending and running pods */
    int32_t succeeded;
};

/**
 * Returns the event of a change. `before` is NULL when the pod is new, `after` is NULL when it is
 * gone. EVENT_NONE: nothing changed that matters. EVENT_OUT_OF_SYNC: only a sync is due.
 */
enum job_event job_event_of(const struct pod_facts *before, const struct pod_facts *after,
                            const struct task_facts *task);
