#pragma once
/*
 * Verdicts: the next phase of a job as a pure function of its counters. Ref: spec/job.md 8.1, 8.3.
 */
#include "api/types/kinds/job/job.h"

/* The tasks that are kept alive: they run as long as the job and do not count for its end. */
struct job_companion_counts {
    int64_t replicas, minimum; /* sums over these tasks; part of the sums over all tasks */
    int64_t alive;             /* their pods that have not ended; part of job_counts_alive */
};

/* The counters and limits that a verdict depends on. */
struct job_counts {
    enum job_phase phase;
    int32_t pending, running, terminating, unknown;
    int32_t succeeded, failed;    /* without companions */
    int64_t replicas;             /* number of replicas of all tasks */
    int64_t task_minimums;        /* sum over tasks of minAvailable, or replicas where absent */
    int32_t min_available;        /* minAvailable of the spec */
    int32_t status_min_available; /* status: as of the last admitted sync */
    struct opt_i32 min_success;
    int32_t max_retry;
    int32_t retry_count;
    int32_t resumes;  /* part of retry_count: not failures (O-34) */
    int32_t targeted; /* part of retry_count: charged to the budget of single slots (O-77) */
    int32_t most_slot_restarts;  /* the highest number of targeted restarts of one slot */
    int32_t tasks_below_minimum; /* tasks with fewer succeeded pods than their own minimum */
    struct job_companion_counts companions;
    bool must_fail; /* Terminating ends as Failed: the reason is one of job_reason_fails */
};

struct job_verdict {
    enum job_phase phase; /* the next phase; the current one: no change */
    const char *reason;   /* CamelCase; NULL = no change */
};

/** Pods that have not ended. An ending phase waits until there are none (O-37). */
static inline int64_t job_counts_alive(const struct job_counts *c)
{
    return (int64_t)c->pending + c->running + c->terminating + c->unknown;
}
static inline int64_t job_counts_companions_alive(const struct job_counts *c)
{
    return c->companions.alive;
}
/** Returns the number of replicas of the tasks that decide when the job has ended. */
static inline int64_t job_counts_ordinary(const struct job_counts *c)
{
    return c->replicas - c->companions.replicas;
}
/** Returns how many of those must succeed: minAvailable without its share of companions, but at
 * least 1 where minAvailable is. */
static inline int64_t job_counts_ordinary_minimum(const struct job_counts *c)
{
    int64_t least = c->companions.replicas > 0 && c->min_available > 0 ? 1 : c->min_available;
    int64_t minimum = c->min_available - c->companions.minimum;

    return c->companions.replicas > 0 && minimum > least ? minimum : least;
}
/** Returns whether the retries of the job (resumes do not count) or of a slot are used up. */
static inline bool job_counts_retries_used_up(const struct job_counts *c)
{
    int32_t failures = c->retry_count - c->resumes - c->targeted;

    return (failures > 0 ? failures : 0) >= c->max_retry ||
           (c->most_slot_restarts > 0 && c->most_slot_restarts >= c->max_retry);
}

/** Returns whether a job that ends for this reason fails, although its pods are terminated first. */
bool job_reason_fails(const char *reason);

/** Returns the verdict at the end of a sync in counts->phase. */
struct job_verdict job_verdict_sync(const struct job_counts *counts);
