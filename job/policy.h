#pragma once
/*
 * Lifecycle policies: from an event to an action. Pure. Ref: spec/job.md 6.
 *
 * A job's policies are compiled once per body (job/compiled_spec.h) into rows with an event mask,
 * so that matching an event costs a few comparisons.
 */
#include "api/types/kinds/job/job.h"

struct job_policy_row {
    uint32_t events; /* bit EVENT_x; 0 for an exit-code policy */
    struct opt_i32 exit_code;
    enum job_action action;
    bool has_timeout;
    int64_t timeout_ms;
};

struct job_policy_rows {
    const struct job_policy_row *items;
    size_t count;
};

/** Compile one policy. Unknown events are left out, an unknown action acts as SyncJob (upstream's
 * reading). */
struct job_policy_row job_policy_compile(const struct job_policy *policy);

/* What happened, as far as matching cares. */
struct job_policy_input {
    enum job_event event;
    bool has_action; /* `action` was asked for explicitly: no policy is consulted */
    enum job_action action;
    bool other_job; /* the event belongs to an earlier job of the same name */
    int32_t version;
    int32_t exit_code; /* 0 = none */
};

/* Which policy decided: its place in the task's list, or in the job's list. */
enum job_policy_source { POLICY_NONE, POLICY_OF_TASK, POLICY_OF_JOB };

struct job_policy_result {
    enum job_action action;
    int64_t delay_ms; /* 0 = now */
    enum job_policy_source source;
    size_t position;
};

/**
 * The action for an occurrence. `task` are the policies of the task the event names (empty for job
 * level events), `job` those of the job. First rule that applies wins; an event no policy names
 * gives SyncJob (JobUpdated: UpdateJob).
 */
struct job_policy_result job_policy_match(const struct job_policy_input *what,
                                          int32_t status_version, struct job_policy_rows task,
                                          struct job_policy_rows job);

/** Does this row react to `event` (exit codes aside)? */
bool job_policy_names(const struct job_policy_row *row, enum job_event event);
