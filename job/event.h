#pragma once
/*
 * What happened to a pod: the difference between what a slot knew and what it knows now. Pure. Ref:
 * spec/job.md 5.2, O-15…O-20.
 *
 * Events come from slot state, not from pairs of watch objects, so a pod first seen after a restart
 * of the process raises what its state means, and a repeated or missed notice changes nothing.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/pod/pod.h"

/* A pod, as far as the job core cares. */
struct pod_facts {
    int32_t restarts;  /* of all its containers */
    int32_t exit_code; /* of the container that decided; 0 = none */
    int32_t version;   /* annotation job-version */
    uint8_t phase;     /* enum pod_phase */
    bool marked;       /* carries the out-of-sync annotation */
    bool deleting;
    bool ready; /* Succeeded, or Running with every container ready */
};

/** Read a pod. False when it is no pod of a job: job-name, job-version or task annotation missing
 * or damaged. */
bool job_pod_facts(const struct object *pod, struct pod_facts *out);

/** When the event came about, from the pod's own record (O-26): the same for a process that sees it
 * happen and for the next one. 0 where the pod does not say: now. `known` is the pod before it,
 * NULL when it is new to us. */
int64_t job_event_since_ms(enum job_event event, const struct object *known,
                           const struct object *pod);

/* The task of the pod, with this change already counted. */
struct task_facts {
    int32_t replicas;
    int32_t max_retry; /* of containers; -1 = no limit */
    int64_t restarts;  /* of its pending and running pods */
    int32_t succeeded;
};

/**
 * The event of a change. `before` is NULL when the pod is new to us, `after` NULL when it is gone.
 * EVENT_NONE when nothing changed that anybody needs to look at; EVENT_OUT_OF_SYNC when only a sync
 * is due.
 */
enum job_event job_event_of(const struct pod_facts *before, const struct pod_facts *after,
                            const struct task_facts *task);
