#pragma once
/*
 * Makes jobs of CronJobs by hand, as Commands with the action FireJob ask for.
 */
#include "api/cluster.h"

struct manual_jobs;
struct manual_jobs *manual_jobs_start(struct cluster *cluster);
/** Stops reacting at once. Its memory is freed when the last write in flight has been answered. */
void manual_jobs_stop(struct manual_jobs *manual); /* NULL is ignored */
