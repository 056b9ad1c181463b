#pragma once
/*
 * What the store keeps count of, for /metrics: fetched when somebody asks.
 */
#include "api/store/store.h"
#include "base/metrics.h"

struct figures {
    struct metrics_source source;
    const struct store *store;
    struct metrics *metrics;
};

void figures_start(struct figures *figures, struct metrics *metrics, const struct store *store);
void figures_stop(struct figures *figures);
