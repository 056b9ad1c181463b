#pragma once
/*
 * What the flow controller counts for /metrics. Counters and histograms are updated when something
 * happens; the number of flows and steps in each state is counted from the models when /metrics is
 * read. Ref: spec/jobflow.md 12.2.
 */
#include "base/loop/metrics.h"
#include "flow/model/flow_model.h"
#include "probes/probe.h"

struct flow_controller;

struct flow_metrics {
    struct flow_controller *controller;
    struct metrics_source source;
    struct metric_family *succeeded, *failed; /* metrics by namespace */
    struct metric *phases[FLOW_PHASE_N], *steps[FLOW_LIST_N];
    struct metric *start, *sync, *retries;
    struct metric *probes[PROBE_KIND_N][2]; /* numbers by kind of probe: attempts that failed,
                                             * attempts that passed */
};

void flow_metrics_init(struct flow_metrics *metrics, struct flow_controller *controller);
void flow_metrics_release(struct flow_metrics *metrics);

/** Counts a flow that is stored as finished. A retried flow counts each time that it finishes. */
void flow_metrics_flow_ended(struct flow_metrics *metrics, const char *ns, enum flow_phase end);
/** Counts a job that was created `ticks` (FLOW_TICKS_PER_SECOND) after its step became ready. */
void flow_metrics_job_created(struct flow_metrics *metrics, uint32_t ticks);
