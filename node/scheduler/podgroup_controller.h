#pragma once
/*
 * PodGroups for plain pods: those that ask for our scheduler and belong to no group, because
 * somebody made them without a Job. Ref: spec/job.md 19.2.
 *
 * The group is named after the pod's controller, else after the pod, so that all pods of one
 * controller share one; it goes with its owners. Then the pod is annotated with its name, and the
 * scheduler takes it from there.
 */
#include "api/cluster.h"

#define SCHEDULER_NAME "volcano" /* schedulerName of pods that are ours to group */

struct plain_groups;

struct plain_groups *plain_groups_start(struct cluster *cluster);
void plain_groups_stop(struct plain_groups *groups); /* NULL is fine */

/** Whether the pod is one of these, and its group is still to be made. */
bool pod_wants_group(const struct object *pod);
