#pragma once
/*
 * The Job controller: follows jobs and their pods, decides phases, and creates and removes pods,
 * PodGroups, claims and plugin objects. Ref: spec/job.md.
 */
#include "api/cluster.h"
#include "job/model/gang.h"

struct job_controller;
struct job_options {
    const char *scheduler_name; /* scheduler of pods whose job and template name none: "volcano" */
    /* A scheduler that the cluster lacks: pods that name it get `scheduler_name`. NULL: none. */
    const char *absent_scheduler;
    int max_requeue;    /* permanent errors before TerminateJob: 15; negative = never */
    enum job_gang gang; /* what makes the pods of a job start together */
    bool whole_gang;    /* whether the PodGroup of a job with dependsOn covers all tasks from the
                       * start, as upstream does. By default it covers those started so far, so that
                       * a strict gang can start at all (O-57) */
    bool without_gc;    /* another program deletes finished jobs */
    bool gc_aborted;    /* ttlSecondsAfterFinished counts for aborted jobs too (O-62) */
    bool local_pods;    /* pods run on this machine, in its loopback network, as a known user */
    bool own_network;   /* pods on this machine have a network of their own, with interfaces */
    /* A finished pod that vanishes keeps its slot: a cluster collects finished pods. By default only
     * for jobs with the annotation volcano.sh/keep-succeeded. */
    bool keep_succeeded;
    /* Objects that jobs need get the label app.kubernetes.io/managed-by, by which another process
     * follows them. */
    bool label_objects;
};
/** Returns the kind of the objects that make gangs, which the controller follows; NULL: none. */
const struct kind *job_gang_kind(enum job_gang gang);
struct job_controller *job_controller_start(struct cluster *cluster,
                                            const struct job_options *options);
void job_controller_stop(struct job_controller *controller);
