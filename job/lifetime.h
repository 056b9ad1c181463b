#pragma once
/*
 * The lifetime of a job: a clock that starts when the job runs for the first time, goes on over
 * restarts of job and process, and ends the job. Ref: armada-submit.md B.5.
 */
#include <stdbool.h>

struct job_run;
struct object;
struct timer;

/** Call when a job enters Running. The first time, the present time is noted in the job's state: its
 * lifetime counts from there. */
void job_lifetime_begin(struct job_run *run);
/** Starts, moves or stops the timer that ends the job. Call when the annotation, the noted time or the
 * phase may have changed. */
void job_lifetime_arm(struct job_run *run);
/** Returns whether this version of the job asks for another lifetime than the known one. */
bool job_lifetime_differs(const struct job_run *run, const struct object *job);
/** Ends the job, because its lifetime is over. The function of its timer. */
void job_lifetime_over(struct timer *timer);
