#pragma once
/*
 * The metrics of a controller process beside those of its controllers: leadership, writes, cache and
 * the process itself. They are read when metrics are written. Ref: spec/cluster.md 9.2.
 */
#include "api/cluster_remote/cluster_remote.h"
#include "base/loop/metrics.h"

/* What the process is at this moment. */
struct process_facts {
    bool leading, conflict;
    const struct cluster *cluster; /* NULL: not connected yet */
};

struct process_metrics {
    /* The owner sets the members from here to the comment "private". */
    const char *mode, *lease;                /* the mode, and the name of the lease */
    const struct cluster_remote_kind *kinds; /* kinds that are counted in the cache */
    struct process_facts (*look)(void *ctx);
    void *ctx;
    /* private */
    struct metrics_source source;
    struct metrics *metrics;
};

void process_metrics_start(struct process_metrics *process, struct metrics *metrics);
void process_metrics_stop(struct process_metrics *process); /* a zeroed one is fine */
