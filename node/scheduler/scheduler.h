#pragma once
/*
 * The scheduler: admits PodGroups, binds their pods, tells the groups' phases.
 *
 * Two gates, in this order. *Admission* (Pending → Inqueue) reserves what the gang's first stage
 * needs in its queue and on the node, whole or not at all; only then do controllers make the pods.
 * *Binding* gives the pods their node: a gang's minimum at once or not at all, further pods one by
 * one.
 *
 * Queues are served by priority and share; the groups of a queue by priority class, gangs before
 * what goes beyond them, then by age. A first group that does not fit is passed for a while, then
 * room is kept for it, so nobody waits for ever (pass.c). What could never fit is set
 * aside and says so. A group may push out others' pods that allow it: those of lower priority in
 * its queue, or those of queues that use more than they deserve (evict.c).
 *
 * Single pods may be bound ahead of free room, a bounded number of them: they wait in the kubelet's
 * start queue with their start intent on disk, so that a free slot never waits for a commit
 * (DC-18). Ref: spec/job.md 15.4, O-57, O-60.
 */
#include "api/cluster.h"
#include "node/scheduler/node_set.h"

struct scheduler;

struct scheduler_options {
    const struct place_options *places; /* [n_places], 1 … PLACES_MAX: the nodes */
    size_t n_places;
    struct resource_names extras;
};

struct scheduler *scheduler_start(struct cluster *cluster, const struct scheduler_options *options);
void scheduler_stop(struct scheduler *scheduler); /* NULL is fine */

/** What the groups of a queue and of those below it are charged with, reservations included. */
struct amount scheduler_queue_used(struct scheduler *scheduler, const char *queue);

/** How many pod groups it keeps in mind; one that is gone is not among them. */

/** The named resources of its nodes. Borrowed. */
const struct resource_names *scheduler_resources(const struct scheduler *scheduler);

/** How many pods may be bound in advance of free room. */
static inline int64_t scheduler_ahead(int64_t max_pods)
{
    return 2 * max_pods + 8;
}
