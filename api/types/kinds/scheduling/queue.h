#pragma once
/*
 * Queue (scheduling.volcano.sh/v1beta1): a share of the cluster in which pod groups wait for
 * capacity. Queues form a tree by spec.parent. Ref: spec/job.md 2.5, 15.
 */
#include "api/types/object.h"
#include "api/types/schema/schema.h"

struct queue_spec {
    int32_t weight, priority;
    struct str_map capability, deserved, guarantee;
    int8_t reclaimable; /* member reclaimable: 0, 1 or, if absent, -1 */
    const char *parent, *dequeue_strategy;
    struct {
        const char **items; /* names of clusters */
        size_t count;
    } clusters; /* member extendClusters */
};

/** Returns the decoded spec, borrowed from the object's blob. */
const struct queue_spec *queue_spec_of(const struct object *queue);
/** Returns status.state: Open, Closed, Closing or Unknown; "" without a status. Borrowed. */
const char *queue_state_of(const struct object *queue);
/** Returns status.allocated; an empty map without a status. Borrowed. */
const struct str_map *queue_allocated_of(const struct object *queue);
