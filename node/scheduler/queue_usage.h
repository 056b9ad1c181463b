#pragma once
/*
 * Writes the usage part of queue statuses: numbers of PodGroups by phase, and resources allocated
 * to the queue and its descendants.
 *
 * Counts are updated as groups change, in O(1) each. A status is written at most once per
 * USAGE_DELAY_MS and queue, and only if it differs.
 * Ref: spec/job.md 2.5, O-69.
 */
#include "api/cluster.h"
#include "node/scheduler/scheduler.h"

struct queue_usage;

/** Starts to write the usage of queues. Borrows both arguments until queue_usage_stop. */
struct queue_usage *queue_usage_start(struct cluster *cluster, struct scheduler *scheduler);
/** Stops writing. Call it before the scheduler is stopped. NULL is ignored. */
void queue_usage_stop(struct queue_usage *usage);
