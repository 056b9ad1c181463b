#pragma once
/*
 * Metrics of the store: commits, changes, memory, revision and the number of objects by resource.
 * The values are read from the store when /metrics is requested.
 */
#include "api/store/store.h"
#include "base/loop/metrics.h"

struct store_metrics {
    struct metrics_source source;
    const struct store *store;
    struct metrics *metrics;
};

void store_metrics_start(struct store_metrics *store_metrics, struct metrics *metrics,
                         const struct store *store);
void store_metrics_stop(struct store_metrics *store_metrics);
