#pragma once
/*
 * What the status of a queue says of its PodGroups: how many there are in each phase, and what they
 * take (allocated, queues below included).
 *
 * Counts are kept while groups come and go, in O(1) each, and written at most once in
 * USAGE_DELAY_MS for a queue, if they differ then. Ref: spec/job.md 2.5, O-69.
 */
#include "api/cluster.h"
#include "node/scheduler/scheduler.h"

struct queue_usage;

/** Borrows both. */
struct queue_usage *queue_usage_start(struct cluster *cluster, struct scheduler *scheduler);
/** Before the scheduler is stopped. NULL is fine. */
void queue_usage_stop(struct queue_usage *usage);
