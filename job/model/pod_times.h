#pragma once
/*
 * When things happened to a job, as the statuses of its pods tell it.
 *
 * A controller may see the end of a pod long after it: it was stopped, or another process ran the
 * job. The time of a phase that a pod caused, and how long the job ran, therefore come from the
 * pods and not from the moment at which the controller decides. Ref: spec/job.md 17.3, O-63.
 */
#include "api/types/kinds/pod/pod.h"

struct job_pod_times {
    int64_t changed_ms; /* newest change of a pod's phase that no verdict has used; 0: none */
    int64_t started_ms; /* newest start of a container */
};

/** Returns when the last container of a pod ended, in milliseconds; 0: none has. A stored time has
 * whole seconds; the end of that second is returned, because nothing that counts from the end of a
 * pod may come early. */
int64_t job_pod_ended_ms(const struct pod_status *status);

/** The phase of a pod changed, or the pod is new; NULL: it is gone. */
void job_pod_times_note(struct job_pod_times *times, const struct object *pod, int64_t now_ms);
/** Returns the time of a phase change that follows from the pods and is decided now. */
int64_t job_pod_times_of_change(const struct job_pod_times *times, int64_t now_ms);
/** Returns the time at which the job entered its phase. `entered_ms` is the stored time, which may
 * have whole seconds; a container that started in that second tells the time more exactly. */
int64_t job_pod_times_of_start(const struct job_pod_times *times, int64_t entered_ms);
