#pragma once
/*
 * Says which jobs of a CronJob are active and which are history, and deletes jobs.
 */
#include "api/cluster.h"
#include "api/types/kinds/schedule/cronjob.h"
#include "schedule/owned.h"

/** Returns whether the job has not ended. An aborted job has not: it can be resumed. */
bool cron_job_active(const struct object *job);
/** Returns the first active job that is not being deleted, NULL if there is none. */
const struct object *cron_jobs_active(const struct owned_list *jobs);

/** Deletes a job in the background. A failure becomes an event about the CronJob. */
void cron_job_remove(struct cluster *cluster, const struct object *cronjob,
                     const struct object *job);
/** Deletes the ended jobs beyond the limits of the CronJob, the oldest first. Jobs that were made
 * for a time after `until_s` stay. */
void cron_jobs_prune(struct cluster *cluster, const struct object *cronjob,
                     const struct owned_list *jobs, int64_t until_s);

/** Returns the status (owned) that follows from the jobs. `last_s` is the newest time that needs
 * nothing more; 0 = none. */
struct blob *cron_jobs_status(const struct object *cronjob, const struct owned_list *jobs,
                              int64_t last_s);
