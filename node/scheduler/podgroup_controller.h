#pragma once
/*
 * Creates PodGroups for plain pods: pods that name this scheduler and were created without a Job.
 * Ref: spec/job.md 19.2.
 *
 * The group is named after the pod's controller, or after the pod if it has none, so pods of one
 * controller share a group. The group is garbage-collected with its owners. The controller then
 * annotates the pod with the group's name, and the scheduler takes over.
 */
#include "api/cluster.h"

#define SCHEDULER_NAME "volcano" /* schedulerName of pods that this controller handles */

struct plain_groups;

/** Starts the controller. Borrows the cluster until plain_groups_stop. */
struct plain_groups *plain_groups_start(struct cluster *cluster);
void plain_groups_stop(struct plain_groups *groups); /* NULL is ignored */

/** Returns true if the pod is plain and not annotated with a group yet. */
bool pod_wants_group(const struct object *pod);
