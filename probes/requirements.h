#pragma once
/*
 * What the entries of a step's probe ask of one target's job; pure.
 *
 * An entry applies to a target when the target's job has the task it names; without a name it
 * applies to every task. Each applying entry gives one *need* per task: so many of the task's pods
 * must pass. All needs of a target must be met. Ref: spec/jobflow.md 6.2.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"

/* In the order of the entries: all of httpGetList, then tcpSocketList, then taskStatusList. */
enum probe_kind { PROBE_HTTP, PROBE_TCP, PROBE_TASK_STATUS, PROBE_KIND_N };

struct probe_requirement {
    enum probe_kind kind;
    uint32_t entry;                /* index within the list of its kind */
    const char *task;              /* borrowed from the job */
    int32_t threshold;             /* pods that must pass */
    int32_t passing;               /* pods that do */
    const struct probe_http *http; /* the entry, one of the three; borrowed from the flow */
    const struct probe_tcp *tcp;
    const struct probe_task_status *status;
};

struct probe_requirements {
    struct probe_requirement *items;
    size_t count, cap;
};

size_t probe_entry_count(const struct flow_probe *probe);
/** The task an entry names, counted over all lists; NULL = every task. */
const char *probe_entry_task(const struct flow_probe *probe, size_t entry);
/** Whether an entry, counted over all lists, applies to the job. */
bool probe_entry_applies(const struct flow_probe *probe, size_t entry, const struct job_spec *job);

/** Append the needs of every entry that applies to the job. Both are borrowed by the needs. */
void probe_requirements_of(const struct flow_probe *probe, const struct job_spec *job,
                           struct probe_requirements *out);
void probe_requirements_release(struct probe_requirements *requirements);
bool probe_requirements_met(const struct probe_requirements *requirements);

/** Whether a target that has completed counts as met although a probe has not passed: every need
 * would have held on the way. */
bool probe_requirements_met_by_completion(const struct probe_requirements *requirements);
/** Whether an entry that applies to the job waits for the failure of a task; `job` NULL = it is
 * gone and may have had any task. */
bool probe_wants_failure(const struct flow_probe *probe, const struct job_spec *job);

/** Whether a pod in `phase` counts for a taskStatus entry: reached or passed. */
bool probe_phase_reached(const char *wanted, enum pod_phase phase);
