#pragma once
/*
 * Checks whether the pods of a job can ever fit on this machine.
 */
#include "api/types/kinds/job/job.h"
#include "node/machine/amount.h"

/** Returns the resources that must be free at once: those of the job's gang, or, when its tasks
 * wait for each other, those of its largest pod. */
struct amount fit_need(const struct job_spec *job);
/** Returns the resources of this machine, with at most `max_pods` pods at once (0: no limit). */
struct amount fit_machine(int max_pods);
/** Returns why the job can never run here, with figures and a remedy; owned. NULL when it can run.
 */
char *fit_problem(const struct job_spec *job, int max_pods);
/** Appends an amount as text: "4 pods, 2 cpu, 512Mi". */
void fit_write(struct amount amount, struct buf *out);
