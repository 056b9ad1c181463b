#pragma once
/*
 * The scheduler: admits PodGroups, binds their pods and writes the groups' phases.
 *
 * Scheduling has two stages. *Admission* (Pending → Inqueue) reserves the resources of the gang in
 * its queue and on the nodes, all or none; controllers create pods only for admitted groups.
 * *Binding* assigns pods to nodes: the minimum of a gang together, further pods one by one.
 *
 * Queues are served by priority, then share. Groups of a queue are ordered by priority class; gangs
 * precede extra members of other groups; then by age. While the first group does not fit, later
 * groups that do pass it. After a limited time room is reserved for it, so no group starves
 * (reserve.c). A group that can never fit leaves its queue and its status gives the reason. A group
 * may evict preemptable pods: of lower priority in its own queue, or of queues that use more than
 * they deserve (evict.c).
 *
 * A bounded number of single pods may be bound while the node has as many pods as it may have,
 * within the CPU and memory there is. They wait in the kubelet's start queue with their start intent
 * on disk, so the end of a pod lets the next one start without a commit in between (DC-18).
 * Ref: spec/job.md 15.4, 15.5, O-57, O-60.
 */
#include "api/cluster.h"
#include "node/scheduler/node_set.h"

struct scheduler;

struct scheduler_options {
    const struct scheduler_node *nodes; /* the nodes, [n_nodes], 1 … SCHEDULER_NODES_MAX */
    size_t n_nodes;
    struct resource_names extras;
};

/** Starts scheduling. Borrows the cluster and the nodes of `options` until scheduler_stop. */
struct scheduler *scheduler_start(struct cluster *cluster, const struct scheduler_options *options);
void scheduler_stop(struct scheduler *scheduler); /* NULL is ignored */

/** Returns what groups of the queue and its descendants are charged, reservations included. */
struct amount scheduler_queue_used(struct scheduler *scheduler, const char *queue);

/** Returns the named (extended) resources of the scheduler's nodes. Borrowed. */
const struct resource_names *scheduler_resources(const struct scheduler *scheduler);

/** Returns how many pods of a node may be bound, if `max_pods` may run. */
static inline int64_t scheduler_ahead(int64_t max_pods)
{
    return 2 * max_pods + 8;
}
