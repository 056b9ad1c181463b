#pragma once
/*
 * The Job controller: gather, decide, apply. Ref: spec/job.md.
 */
#include "api/cluster.h"

struct job_controller;
struct job_options {
    const char *scheduler_name; /* "volcano" */
    int max_requeue;            /* permanent errors before TerminateJob: 15; negative = never */
};
struct job_controller *job_controller_start(struct cluster *cluster,
                                            const struct job_options *options);
void job_controller_stop(struct job_controller *controller);
