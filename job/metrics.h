#pragma once
/*
 * What the job core counts for /metrics: changes of phase once they are stored (O-76), and how long
 * pods took to be created. Ref: spec/job.md 21.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/object.h"
#include "base/metrics.h"

struct job_figures {
    struct metric_family *completed, *failed; /* a series per job, gone with it */
    struct metric *created;
    struct metric *phases[JOB_PHASE_N];
};

void job_figures_init(struct job_figures *figures, struct metrics *metrics);
/** The job's new phase is stored. */
void job_figures_moved(struct job_figures *figures, const struct object *job, enum job_phase to);
void job_figures_pod_created(struct job_figures *figures, const struct object *job, int64_t now_ms);
/** The job is no more. */
void job_figures_forget(struct job_figures *figures, const struct object *job);
