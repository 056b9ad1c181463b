#pragma once
/*
 * Pods that are preempted, and pods of jobs that run at most once that are lost: both may end the
 * job. Ref: armada-submit.md B.5.
 */
#include "job/model/model.h"

struct job_run;

/** A pod of the job has changed from `before` (NULL: none was known) to `pod` (NULL: it is gone). */
void job_pod_loss(struct job_run *run, struct slot_id at, const struct object *before,
                  const struct object *pod);
/** Returns the name of a task that can no longer reach its minAvailable. NULL when there is none, or
 * when the job does not have the annotation below-minimum. O(tasks) with it, O(1) without. */
const char *job_task_below_minimum(const struct job_run *run);
