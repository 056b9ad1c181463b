#pragma once
/*
 * The scheduler's metrics, labelled by queue.
 */
#include "base/loop/metrics.h"

struct group;

struct scheduler_metrics {
    struct metric_family *gangs, *wait, *evicted;
};

/** Registers the metric families in `metrics`. */
void scheduler_metrics_init(struct scheduler_metrics *own, struct metrics *metrics);
/** Counts an admission of the group and observes how long it waited. */
void scheduler_metrics_admitted(struct group *group);
/** Counts an eviction of one of the group's pods; `reason` is that of the pod's event. */
void scheduler_metrics_evicted(struct group *group, const char *reason);
