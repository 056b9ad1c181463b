#pragma once
/*
 * Lifecycle policies: they map an event to an action. Pure. Ref: spec/job.md 6.
 *
 * The policies of a job are compiled once per body (job/model/compiled_spec.h) into rows with a
 * mask of events, so that matching an event costs a few comparisons.
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

/** Compile one policy. As in Volcano, unknown events are left out and an unknown action is
 * SyncJob. */
struct job_policy_row job_policy_compile(const struct job_policy *policy);

/* The members of an event that matching looks at. */
struct job_policy_input {
    enum job_event event;
    bool has_action; /* `action` was requested explicitly: no policy is consulted */
    enum job_action action;
    bool other_job; /* the event belongs to an earlier job of the same name */
    int32_t version;
    int32_t exit_code; /* exit code of the pod; 0 = none */
};

/* The list that has the policy that decided. */
enum job_policy_source { POLICY_NONE, POLICY_OF_TASK, POLICY_OF_JOB };

struct job_policy_result {
    enum job_action action;
    int64_t delay_ms; /* delay of the action; 0 = now */
    enum job_policy_source source;
    size_t position;
};

/**
 * Returns the action for an event. `task` are the policies of the event's task (empty for events of
 * the job), `job` those of the job. The first row that applies wins, the task's rows first. An
 * event that no policy names gives SyncJob (JobUpdated: UpdateJob).
 */
struct job_policy_result job_policy_match(const struct job_policy_input *what,
                                          int32_t status_version, struct job_policy_rows task,
                                          struct job_policy_rows job);

/** Returns whether this row names `event`. Exit codes are not looked at. */
bool job_policy_names(const struct job_policy_row *row, enum job_event event);
