#pragma once
/*
 * The Job controller: follows jobs and their pods, decides phases, and creates and removes pods,
 * PodGroups, claims and plugin objects. Ref: spec/job.md.
 */
#include "api/cluster.h"

struct job_controller;
struct job_options {
    const char *scheduler_name; /* schedulerName of the pods: "volcano" */
    int max_requeue;            /* permanent errors before TerminateJob: 15; negative = never */
    bool whole_gang;  /* whether the PodGroup of a job with dependsOn covers all tasks from the
                       * start, as upstream does. By default it covers those started so far, so that
                       * a strict gang can start at all (O-57) */
    bool gc_aborted;  /* ttlSecondsAfterFinished counts for aborted jobs too (O-62) */
    bool local_pods;  /* pods run on this machine, in its loopback network, as a known user */
    bool own_network; /* pods on this machine have a network of their own, with interfaces */
};
struct job_controller *job_controller_start(struct cluster *cluster,
                                            const struct job_options *options);
void job_controller_stop(struct job_controller *controller);
