#pragma once
/*
 * The next phase of a job from its numbers: pure functions of counters. Ref: spec/job.md 8.1, 8.3.
 */
#include "api/types/kinds/job/job.h"

/* Everything a decision may look at. */
struct job_counts {
    enum job_phase phase;
    int32_t pending, running, succeeded, failed, terminating, unknown;
    int64_t replicas;             /* of all tasks */
    int64_t task_minimums;        /* sum over tasks of minAvailable, or replicas where absent */
    int32_t min_available;        /* spec */
    int32_t status_min_available; /* status: as of the last admitted sync */
    struct opt_i32 min_success;
    int32_t max_retry;
    int32_t retry_count;
    int32_t resumes;            /* part of retry_count that is no failure (O-34) */
    int32_t targeted;           /* part of retry_count that single slots answer for (O-77) */
    int32_t most_slot_restarts; /* most restarts of one of them */
    int32_t
        tasks_below_minimum; /* tasks with a minimum of their own that fewer pods have reached in success */
};

struct job_verdict {
    enum job_phase phase; /* the present one: stay */
    const char *reason;   /* CamelCase; NULL when staying */
};

/** Pods that are still to end: what drain waits for, O-37 included. */
static inline int64_t job_counts_alive(const struct job_counts *c)
{
    return (int64_t)c->pending + c->running + c->terminating + c->unknown;
}
/** There may be no further restart: of the job, without the resumes, or of a slot. */
static inline bool job_counts_retries_used_up(const struct job_counts *c)
{
    int32_t failures = c->retry_count - c->resumes - c->targeted;

    return (failures > 0 ? failures : 0) >= c->max_retry ||
           (c->most_slot_restarts > 0 && c->most_slot_restarts >= c->max_retry);
}

/** The verdict that a sync in counts->phase ends with. */
struct job_verdict job_verdict_sync(const struct job_counts *counts);
