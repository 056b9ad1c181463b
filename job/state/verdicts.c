/*
 * Ref: Volcano
 * pkg/controllers/job/state/{pending,running,restarting,aborting,completing,terminating}.go.
 */
#include "job/state/verdicts.h"

struct job_verdict job_verdict_keep(const struct job_counts *c)
{
    return (struct job_verdict){c->phase, NULL};
}

struct job_verdict job_verdict_pending(const struct job_counts *c)
{
    if (c->min_available <= (int64_t)c->running + c->succeeded + c->failed)
        return (struct job_verdict){JOB_RUNNING, "MinAvailableReached"};
    return job_verdict_keep(c);
}

/* Every pod has ended: did the job succeed? */
static struct job_verdict ended(const struct job_counts *c)
{
    if (c->min_available >= c->task_minimums && c->short_tasks > 0)
        return (struct job_verdict){JOB_FAILED, "TaskMinAvailableMissed"};
    if (c->min_success.set && c->succeeded < c->min_success.value)
        return (struct job_verdict){JOB_FAILED, "MinSuccessMissed"};
    if (c->succeeded >= c->min_available)
        return (struct job_verdict){JOB_COMPLETED, "PodsSucceeded"};
    return (struct job_verdict){JOB_FAILED, "MinAvailableMissed"};
}

struct job_verdict job_verdict_running(const struct job_counts *c)
{
    if (c->replicas == 0) /* scaled to zero stays Running */
        return job_verdict_keep(c);
    if (c->min_success.set && c->succeeded >= c->min_success.value)
        return (struct job_verdict){JOB_COMPLETED, "MinSuccessReached"};
    if ((int64_t)c->succeeded + c->failed == c->replicas)
        return ended(c);
    if (c->pending > c->replicas - c->min_available)
        return (struct job_verdict){JOB_PENDING, "MinAvailableLost"};
    return job_verdict_keep(c);
}

struct job_verdict job_verdict_restarting(const struct job_counts *c)
{
    if (job_counts_spent(c))
        return (struct job_verdict){JOB_FAILED, "MaxRetryReached"};
    if (c->replicas - c->terminating >= c->status_min_available)
        return (struct job_verdict){JOB_PENDING, "Restarted"};
    return job_verdict_keep(c);
}

struct job_verdict job_verdict_drain(const struct job_counts *c)
{
    static const struct job_verdict ends[JOB_PHASE_N] = {
        [JOB_ABORTING] = {JOB_ABORTED, "Aborted"},
        [JOB_COMPLETING] = {JOB_COMPLETED, "Completed"},
        [JOB_TERMINATING] = {JOB_TERMINATED, "Terminated"},
    };

    if (!ends[c->phase].reason || job_counts_alive(c) > 0)
        return job_verdict_keep(c);
    return ends[c->phase];
}

struct job_verdict job_verdict_sync(const struct job_counts *c)
{
    static struct job_verdict (*const verdicts[JOB_PHASE_N])(const struct job_counts *) = {
        [JOB_NONE] = job_verdict_keep, /* becomes Pending first */
        [JOB_PENDING] = job_verdict_pending,
        [JOB_RUNNING] = job_verdict_running,
        [JOB_RESTARTING] = job_verdict_restarting,
        [JOB_ABORTING] = job_verdict_drain,
        [JOB_ABORTED] = job_verdict_keep,
        [JOB_COMPLETING] = job_verdict_drain,
        [JOB_COMPLETED] = job_verdict_keep,
        [JOB_TERMINATING] = job_verdict_drain,
        [JOB_TERMINATED] = job_verdict_keep,
        [JOB_FAILED] = job_verdict_keep,
    };

    return verdicts[c->phase](c);
}
