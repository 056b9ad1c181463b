#pragma once
/*
 * The scheduler of one node: admits PodGroups, binds their pods, tells the groups' phases.
 *
 * Two gates, in this order. *Admission* (Pending → Inqueue) reserves what the gang's first stage
 * needs in its queue and on the node, whole or not at all; only then do controllers make the pods.
 * *Binding* gives the pods their node: a gang's minimum at once or not at all, further pods one by
 * one. Queues are served by priority and share, groups of a queue by priority class and age; the
 * first that does not fit keeps the others waiting, so nobody is passed over for ever (a gang too
 * large for the node is set aside and says so).
 *
 * Single pods may be bound ahead of free room, a bounded number of them: they wait in the kubelet's
 * start queue with their start intent on disk, so that a free slot never waits for a commit
 * (DC-18). Ref: spec/job.md 15.4, O-57, O-60.
 */
#include "api/cluster.h"
#include "node/amount.h"

struct scheduler;

struct scheduler_options {
    const char *node_name;   /* borrowed for the scheduler's life */
    struct amount capacity;  /* allocatable; pods = how many run at once */
    const struct kv *labels; /* [n_labels] of the node, for nodeSelector; borrowed likewise */
    size_t n_labels;
};

struct scheduler *scheduler_start(struct cluster *cluster, const struct scheduler_options *options);
void scheduler_stop(struct scheduler *scheduler); /* NULL is fine */

/** How many pods may be bound in advance of free room. */
static inline int64_t scheduler_ahead(int64_t max_pods)
{
    return 2 * max_pods + 8;
}
