#pragma once
/*
 * Whether the pods of a job find room on this machine at all.
 */
#include "api/types/kinds/job/job.h"
#include "node/machine/amount.h"

/** What must run at once: the gang of the job, or where its tasks wait for each other its largest
 * pod. */
struct amount fit_need(const struct job_spec *job);
/** This machine, with `max_pods` at once (0: as many as it takes). */
struct amount fit_machine(int max_pods);
/** Why the job can never run here, with figures and a way out; owned. NULL: it can. */
char *fit_problem(const struct job_spec *job, int max_pods);
/** "4 pods, 2 cpu, 512Mi" */
void fit_write(struct amount amount, struct buf *out);
