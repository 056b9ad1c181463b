#pragma once
/*
 * What the scheduler counts for /metrics, by queue.
 */
#include "base/metrics.h"

struct group;

struct scheduler_figures {
    struct metric_family *gangs, *wait, *evicted;
};

void scheduler_figures_init(struct scheduler_figures *figures, struct metrics *metrics);
/** The group was admitted; with all of its gang or as a single pod. */
void scheduler_figures_admitted(struct group *group);
/** One of its pods is pushed out; `reason` as the pod's event says it. */
void scheduler_figures_evicted(struct group *group, const char *reason);
