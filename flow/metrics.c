/*
 * The flow controller's metrics: names, help texts, and the count of flows and steps by state,
 * which is made when /metrics is read.
 */
#include "flow/metrics.h"

#include "base/compiler.h"
#include "flow/internal.h"
#include "flow/status/status.h"

/* clang-format off */
static const double seconds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600};

static const struct metric_def
    succeeded_def = {"volcano_jobflow_succeed_phase_count", "Flows that have become Succeed.",
                     METRIC_COUNTER, .labels = {"jobflow_namespace"}},
    failed_def    = {"volcano_jobflow_failed_phase_count", "Flows that have become Failed.",
                     METRIC_COUNTER, .labels = {"jobflow_namespace"}},
    phases_def    = {"volcano_jobflow_phase", "Flows there are, by phase.", METRIC_GAUGE, .labels = {"phase"}},
    steps_def     = {"jobflow_steps", "Steps of flows that are not over, by the list of the status they are in.",
                     METRIC_GAUGE, .labels = {"list"}},
    start_def     = {"volcano_jobflow_job_start_latency_seconds",
                     "From a step's dependencies being met to its job being created.", METRIC_HISTOGRAM,
                     .ends = seconds, .n_ends = countof(seconds)},
    sync_def      = {"volcano_jobflow_sync_seconds", "Deciding what follows for one flow from all that a turn brought.",
                     METRIC_HISTOGRAM, .ends = seconds, .n_ends = countof(seconds)},
    probes_def    = {"volcano_jobflow_probe_total",
                     "Tries of probes of steps, by their kind and result; of task phases, changes of their verdict.",
                     METRIC_COUNTER, .labels = {"kind", "result"}},
    retries_def   = {"volcano_jobflow_retry_total", "Jobs made for steps whose job before had failed.", METRIC_COUNTER};
/* clang-format on */

static void refresh_probes(const struct flow_metrics *metrics)
{
    const struct probe_counts *counts = probes_counts(metrics->controller->probes);

    for (int kind = 0; kind < PROBE_KIND_N; kind++) {
        metric_set(metrics->probes[kind][false], (double)counts->failed[kind]);
        metric_set(metrics->probes[kind][true], (double)counts->passed[kind]);
    }
}

static void refresh(struct metrics_source *source)
{
    struct flow_metrics *metrics = container_of(source, struct flow_metrics, source);
    uint64_t phases[FLOW_PHASE_N] = {0}, steps[FLOW_LIST_N] = {0};

    for (const struct flow *flow = metrics->controller->by_uid; flow; flow = flow->hh.next) {
        phases[flow->state.phase]++;
        for (int list = 0; flow->opening == FLOW_OPEN && list < FLOW_LIST_N; list++)
            steps[list] += flow->model.lists[list].count;
    }
    phases[FLOW_PENDING] += phases[FLOW_NONE]; /* flows that are not synced yet */
    for (int phase = FLOW_PENDING; phase < FLOW_PHASE_N; phase++)
        metric_set(metrics->phases[phase], (double)phases[phase]);
    for (int list = 0; list < FLOW_LIST_N; list++)
        metric_set(metrics->steps[list], (double)steps[list]);
    refresh_probes(metrics);
}

void flow_metrics_init(struct flow_metrics *metrics, struct flow_controller *controller)
{
    struct metrics *registry = loop_metrics(controller->loop);
    struct metric_family *phases = metrics_family(registry, &phases_def);
    struct metric_family *steps = metrics_family(registry, &steps_def);

    metrics->controller = controller;
    metrics->succeeded = metrics_family(registry, &succeeded_def);
    metrics->failed = metrics_family(registry, &failed_def);
    for (int phase = FLOW_PENDING; phase < FLOW_PHASE_N; phase++)
        metrics->phases[phase] =
            metric_of(phases, (const char *[]){flow_phase_text((enum flow_phase)phase)});
    for (int list = 0; list < FLOW_LIST_N; list++)
        metrics->steps[list] =
            metric_of(steps, (const char *[]){flow_list_key((enum flow_list)list)});
    for (int kind = 0; kind < PROBE_KIND_N; kind++)
        for (int passed = 0; passed < 2; passed++)
            metrics->probes[kind][passed] =
                metric_of(metrics_family(registry, &probes_def),
                          (const char *[]){probe_kinds[kind].name, passed ? "passed" : "failed"});
    metrics->start = metric_of(metrics_family(registry, &start_def), NULL);
    metrics->sync = metric_of(metrics_family(registry, &sync_def), NULL);
    metrics->retries = metric_of(metrics_family(registry, &retries_def), NULL);
    metrics->source.refresh = refresh;
    metrics_source_add(registry, &metrics->source);
}

void flow_metrics_release(struct flow_metrics *metrics)
{
    metrics_source_remove(&metrics->source);
}

void flow_metrics_flow_ended(struct flow_metrics *metrics, const char *ns, enum flow_phase end)
{
    struct metric_family *family = end == FLOW_SUCCEED ? metrics->succeeded : metrics->failed;

    metric_add(metric_of(family, &ns), 1);
}

void flow_metrics_job_created(struct flow_metrics *metrics, uint32_t ticks)
{
    metric_observe(metrics->start, (double)ticks / FLOW_TICKS_PER_SECOND);
}
