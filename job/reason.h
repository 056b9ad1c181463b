#pragma once
/*
 * The reason of a decision as one line for users: state.message, and the events of actions (O-02).
 * It names the pod or task, the exit code or the limit that decided. Its numbers are those at the
 * time of the decision.
 */
#include "base/buf.h"
#include "job/run.h"

/** Appends what led to an action: "RestartPod after PodFailed of pod x with exit code 3". */
void job_reason_of_action(const struct job_run *run, const struct job_request *request,
                          enum job_action action, struct buf *out);

/** Appends why a sync moves the job from counts->phase to verdict->phase. */
void job_reason_of_verdict(const struct job_model *model, const struct job_counts *counts,
                           const struct job_verdict *verdict, struct buf *out);
