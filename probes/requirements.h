#pragma once
/*
 * What the entries of a step's probe require of one target's job; pure.
 *
 * An entry applies to a target when the target's job has the task that the entry names; an entry
 * without a name applies to every task. Each applying entry gives one requirement per task: so many
 * of the task's pods must pass. A target passes when all its requirements are met.
 * Ref: spec/jobflow.md 6.2.
 */
#include "api/types/kinds/job/job.h"
#include "probes/kinds.h"

struct probe_requirement {
    struct probe_entry entry;
    const char *task;  /* name of the task, borrowed from the job */
    int32_t threshold; /* number of pods that must pass */
    int32_t passing;   /* number of pods that pass now */
};

struct probe_requirements {
    struct probe_requirement *items;
    size_t count, cap;
};

/** Appends the requirements of every entry that applies to the job. They borrow from both. */
void probe_requirements_of(const struct flow_probe *probe, const struct job_spec *job,
                           struct probe_requirements *out);
void probe_requirements_release(struct probe_requirements *requirements);
/** Returns true when there are requirements and all are met. */
bool probe_requirements_met(const struct probe_requirements *requirements);
/** Returns whether a completed target counts as met although a probe has not passed: each
 * requirement is met now, or was met at some time by every job that completes. */
bool probe_requirements_met_by_completion(const struct probe_requirements *requirements);

/** Returns the task that the entry at a position (counted over all kinds) names; NULL = every
 * task. */
const char *probe_entry_task(const struct flow_probe *probe, size_t position);
/** Returns whether the entry at a position (counted over all kinds) applies to the job. */
bool probe_entry_applies(const struct flow_probe *probe, size_t position,
                         const struct job_spec *job);
/** Returns whether an entry that applies to the job waits for the failure of a pod. With `job` NULL
 * the job is deleted and may have had any task. */
bool probe_wants_failure(const struct flow_probe *probe, const struct job_spec *job);
