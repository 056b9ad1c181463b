#pragma once
/*
 * Metrics of the job controller: changes of phase, counted once they are stored (O-76), and the
 * time from the creation of a job to that of its pods. Ref: spec/job.md 21.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/object.h"
#include "base/loop/metrics.h"

struct job_metrics {
    struct metric_family *completed, *failed; /* a series per job, dropped with the job */
    struct metric *created;
    struct metric *phases[JOB_PHASE_N];
};

void job_metrics_init(struct job_metrics *metrics, struct metrics *registry);
/** The job's new phase is stored. */
void job_metrics_phase_changed(struct job_metrics *metrics, const struct object *job,
                               enum job_phase to);
void job_metrics_pod_created(struct job_metrics *metrics, const struct object *job, int64_t now_ms);
/** Drops the series of a deleted job. */
void job_metrics_forget(struct job_metrics *metrics, const struct object *job);
