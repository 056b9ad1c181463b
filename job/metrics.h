#pragma once
/*
 * What the job core counts for /metrics: changes of phase once they are stored (O-76), and how long
 * pods took to be created. Ref: spec/job.md 21.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/object.h"
#include "base/metrics.h"

struct job_metrics {
    struct metric_family *completed, *failed; /* a series per job, gone with it */
    struct metric *created;
    struct metric *phases[JOB_PHASE_N];
};

void job_metrics_init(struct job_metrics *metrics, struct metrics *registry);
/** The job's new phase is stored. */
void job_metrics_phase_changed(struct job_metrics *metrics, const struct object *job,
                               enum job_phase to);
void job_metrics_pod_created(struct job_metrics *metrics, const struct object *job, int64_t now_ms);
/** The job is no more. */
void job_metrics_forget(struct job_metrics *metrics, const struct object *job);
