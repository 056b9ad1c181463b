/*
 * One function per phase. Ref: Volcano
 * pkg/controllers/job/state/{pending,running,restarting,aborting,completing,terminating}.go.
 */
#include "job/state/verdicts.h"

#include <string.h>

#include "base/compiler.h"

static struct job_verdict keep(const struct job_counts *c)
{
    return (struct job_verdict){c->phase, NULL};
}

static struct job_verdict pending(const struct job_counts *c)
{
    if (c->min_available <= (int64_t)c->running + c->succeeded + c->failed)
        return (struct job_verdict){JOB_RUNNING, "MinAvailableReached"};
    return keep(c);
}

/* Every pod has ended: the job completed or failed. */
static struct job_verdict ended(const struct job_counts *c)
{
    if (c->min_available >= c->task_minimums && c->tasks_below_minimum > 0)
        return (struct job_verdict){JOB_FAILED, "TaskMinAvailableMissed"};
    if (c->min_success.set && c->succeeded < c->min_success.value)
        return (struct job_verdict){JOB_FAILED, "MinSuccessMissed"};
    if (c->succeeded >= job_counts_ordinary_minimum(c))
        return (struct job_verdict){JOB_COMPLETED, "PodsSucceeded"};
    return (struct job_verdict){JOB_FAILED, "MinAvailableMissed"};
}

static struct job_verdict running(const struct job_counts *c)
{
    if (job_counts_ordinary(c) == 0) /* scaled to zero stays Running */
        return keep(c);
    if (c->min_success.set && c->succeeded >= c->min_success.value)
        return (struct job_verdict){JOB_COMPLETED, "MinSuccessReached"};
    if ((int64_t)c->succeeded + c->failed == job_counts_ordinary(c))
        return c->companions.alive > 0 ? keep(c) : ended(c); /* companions are stopped first */
    if (c->pending > c->replicas - c->min_available)
        return (struct job_verdict){JOB_PENDING, "MinAvailableLost"};
    return keep(c);
}

static struct job_verdict restarting(const struct job_counts *c)
{
    if (job_counts_retries_used_up(c))
        return (struct job_verdict){JOB_FAILED, "MaxRetryReached"};
    if (c->replicas - c->terminating >= c->status_min_available)
        return (struct job_verdict){JOB_PENDING, "Restarted"};
    return keep(c);
}

/* Reasons with which a job fails. A job with companions passes the phase Terminating first, until no
 * companion runs any more. Its reason is then one of these, and tells that it becomes Failed rather
 * than Terminated. */
static const char *const failing_reasons[] = {
    "ComponentLost",          "RunLost",
    "BelowMinMember",         "KueueNeedsAllPods",
    "TaskMinAvailableMissed", "MinAvailableMissed",
    "MinSuccessMissed",       "MaxRetryReached",
};

bool job_reason_fails(const char *reason)
{
    for (size_t i = 0; i < countof(failing_reasons); i++)
        if (strcmp(reason, failing_reasons[i]) == 0)
            return true;
    return false;
}

/* Aborting, Completing, Terminating: enter the final phase once every pod has ended. */
static struct job_verdict drain(const struct job_counts *c)
{
    static const struct job_verdict ends[JOB_PHASE_N] = {
        [JOB_ABORTING] = {JOB_ABORTED, "Aborted"},
        [JOB_COMPLETING] = {JOB_COMPLETED, "Completed"},
        [JOB_TERMINATING] = {JOB_TERMINATED, "Terminated"},
    };

    if (!ends[c->phase].reason || job_counts_alive(c) > 0)
        return keep(c);
    if (c->phase == JOB_TERMINATING && c->must_fail)
        return (struct job_verdict){JOB_FAILED, "Failed"};
    return ends[c->phase];
}

struct job_verdict job_verdict_sync(const struct job_counts *c)
{
    static struct job_verdict (*const verdicts[JOB_PHASE_N])(const struct job_counts *) = {
        [JOB_NONE] = keep, /* a job without a phase becomes Pending first */
        [JOB_PENDING] = pending, [JOB_RUNNING] = running,   [JOB_RESTARTING] = restarting,
        [JOB_ABORTING] = drain,  [JOB_ABORTED] = keep,      [JOB_COMPLETING] = drain,
        [JOB_COMPLETED] = keep,  [JOB_TERMINATING] = drain, [JOB_TERMINATED] = keep,
        [JOB_FAILED] = keep,
    };

    return verdicts[c->phase](c);
}
