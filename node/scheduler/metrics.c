/*
 * Metrics by queue: waiting time of groups, admitted gangs, evicted pods.
 */
#include "node/scheduler/internal.h"

/* clang-format off */
static const double wait_s[] = {0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400};

static const struct metric_def
    gangs_def   = {"jobflow_scheduler_gangs_admitted_total", "PodGroups of several pods admitted.",
                   METRIC_COUNTER, .labels = {"queue"}},
    wait_def    = {"jobflow_scheduler_queue_wait_seconds",
                   "From the creation of a PodGroup to its admission.", METRIC_HISTOGRAM,
                   .labels = {"queue"}, .ends = wait_s, .n_ends = countof(wait_s)},
    evicted_def = {"jobflow_scheduler_evictions_total",
                   "Pods evicted, by queue and reason: Preempted or Reclaimed.", METRIC_COUNTER,
                   .labels = {"queue", "reason"}};
/* clang-format on */

void scheduler_metrics_init(struct scheduler_metrics *own, struct metrics *metrics)
{
    own->gangs = metrics_family(metrics, &gangs_def);
    own->wait = metrics_family(metrics, &wait_def);
    own->evicted = metrics_family(metrics, &evicted_def);
}

void scheduler_metrics_admitted(struct group *group)
{
    struct scheduler *s = group->scheduler;
    const char *const queue[] = {group->queue->name};
    int64_t waited_ms = loop_wall_ms(s->cluster->loop) - group->created_ms;

    metric_observe(metric_of(s->metrics.wait, queue), waited_ms > 0 ? (double)waited_ms / 1000 : 0);
    if (group->min_member > 1)
        metric_add(metric_of(s->metrics.gangs, queue), 1);
}

void scheduler_metrics_evicted(struct group *group, const char *reason)
{
    metric_add(metric_of(group->scheduler->metrics.evicted,
                         (const char *const[]){group->queue->name, reason}),
               1);
}
