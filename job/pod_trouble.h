#pragma once
/*
 * Pods that do not start: no node takes them, or their node cannot make a container. The job that
 * waits for them says so. Ref: spec/cluster.md 3.5.
 */
#include "base/buf.h"
#include "job/model/model.h"

struct job_run;

/** Returns the reason of the job's state for a pod that does not start, and appends what is wrong with
 * it; NULL for any other pod. */
const char *job_pod_trouble(const struct object *pod, struct buf *out);

/** Notes a pod that does not start. */
void job_trouble_note(struct job_run *run, struct slot_id at, const struct object *pod);
/** Shows in the state of a pending job why a pod does not start. False when none is known that does
 * not. A new text is shown once in ten seconds. */
bool job_trouble_show(struct job_run *run);
/** Stops the timer of the next text. */
void job_trouble_stop(struct job_run *run);
