#pragma once
/*
 * What the flow controller counts for /metrics. Counters and histograms are kept as things happen;
 * how many flows and steps are in which state is asked of the records when somebody wants to know.
 * Ref: spec/jobflow.md 12.2.
 */
#include "base/metrics.h"
#include "flow/model/flow_model.h"
#include "probes/probe.h"

struct flow_controller;

struct flow_metrics {
    struct flow_controller *controller;
    struct metrics_source source;
    struct metric_family *succeeded, *failed; /* by namespace */
    struct metric *phases[FLOW_PHASE_N], *steps[FLOW_LIST_N];
    struct metric *start, *sync, *retries;
    struct metric *probes[PROBE_KIND_N][2]; /* by kind; failed, passed */
};

void flow_metrics_init(struct flow_metrics *figures, struct flow_controller *controller);
void flow_metrics_release(struct flow_metrics *figures);

/** A flow of that namespace is stored as finished; one that is retried counts each time. */
void flow_metrics_flow_ended(struct flow_metrics *figures, const char *namespace_,
                             enum flow_phase end);
/** A job was created `ticks` (record.h) after its step's dependencies were met. */
void flow_metrics_job_created(struct flow_metrics *figures, uint32_t ticks);
