#pragma once
/*
 * How long a job, its tasks and its objects live: the annotations below SUBMIT_PREFIX. Ref:
 * armada-submit.md B.5.
 *
 * Most are annotations of a Job. Flows, kubectl and `jobflow submit` use the same ones. A
 * *companion* is a task that keep-alive names: its pods run as long as the job, start before those
 * of all other tasks, and do not count for the job's end.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/lives_with.h"

#define ANNOTATION_KEEP_ALIVE   SUBMIT_PREFIX "keep-alive"
#define ANNOTATION_LIFETIME     SUBMIT_PREFIX "lifetime"
#define ANNOTATION_AT_MOST_ONCE SUBMIT_PREFIX "at-most-once"
#define ANNOTATION_ON_PREEMPT   SUBMIT_PREFIX "on-preempt"
#define ANNOTATION_PRIORITY     SUBMIT_PREFIX "priority"
#define ANNOTATION_BELOW_MIN    SUBMIT_PREFIX "below-minimum"
#define ANNOTATION_EVICTED      SUBMIT_PREFIX "evicted" /* of a pod: the scheduler's reason */

/* What the annotations of a job say. A zeroed struct is a job without them. */
struct job_lifecycle {
    int64_t lifetime_s;       /* seconds from the first Running to TerminateJob; 0 = no limit */
    bool has_companions;      /* keep-alive names at least one task of the job */
    bool at_most_once;        /* no pod is created a second time */
    bool fails_on_preempt;    /* a preempted job ends instead of waiting for its turn */
    bool fails_below_minimum; /* a task that can no longer reach its minAvailable ends the job */
};

/** Reads the annotations of a job. Values that admission refuses count as absent. */
struct job_lifecycle job_lifecycle_of(const struct meta *meta, const struct job_spec *spec);
/** Returns whether keep-alive names the task. */
bool job_is_companion(const struct meta *meta, const char *task);
/** Returns the number that orders jobs of a queue, smaller first; 0 when absent or damaged. `meta`
 * is that of a Job or of its PodGroup. */
uint32_t job_queue_priority(const struct meta *meta);

/** Returns whether the pods of a job with this metadata (also that of its PodGroup) tell why they
 * are evicted, by ANNOTATION_EVICTED. */
bool job_asks_for_eviction_reason(const struct meta *meta);

/** Adds a finding for each annotation whose value has no meaning for the job. `old` is the job
 * before an update, or NULL. */
void job_lifecycle_check(const struct meta *meta, const struct job_spec *spec,
                         const struct object *old, struct error_list *errors);
