#pragma once
/*
 * Why a job moved, in one line for people: state.message, and the events of actions (O-02). It
 * names what decided (the pod or task, the exit code, the limit) and stays true afterwards: numbers
 * in it are those that decided.
 */
#include "base/buf.h"
#include "job/run.h"

/** What led to an action: "RestartPod after PodFailed of pod x with exit code 3". */
void job_reason_of_action(const struct job_run *run, const struct job_request *request,
                          enum job_action action, struct buf *out);

/** Why a sync moves the job from counts->phase to verdict->phase. */
void job_reason_of_verdict(const struct job_model *model, const struct job_counts *counts,
                           const struct job_verdict *verdict, struct buf *out);
