/*
 * The metrics have Volcano's names, except jobflow_job_transitions_total. Ref: Volcano
 * pkg/controllers/metrics.
 */
#include "job/metrics.h"

#include "base/compiler.h"
#include "base/mem.h"

/* 50 ms to a minute, thirty steps of equal ratio. */
/* clang-format off */
static const double creation_ms[] = {
    50, 63.8482, 81.5319, 104.113, 132.949, 169.771, 216.791, 276.835, 353.508, 451.417,
    576.443, 736.097, 939.97, 1200.31, 1532.75, 1957.27, 2499.36, 3191.59, 4075.55, 5204.33,
    6645.74, 8486.37, 10836.8, 13838.2, 17670.9, 22565.1, 28814.8, 36795.4, 46986.4, 60000,
};

static const struct metric_def
    completed_def = {"volcano_job_completed_phase_count", "Times a job has become Completed.",
                     METRIC_COUNTER, .labels = {"job_name", "queue_name"}},
    failed_def    = {"volcano_job_failed_phase_count", "Times a job has become Failed.",
                     METRIC_COUNTER, .labels = {"job_name", "queue_name"}},
    created_def   = {"volcano_controller_job_to_pod_creation_latency_milliseconds",
                     "From the creation of a job to that of each of its pods.", METRIC_HISTOGRAM,
                     .ends = creation_ms, .n_ends = countof(creation_ms)},
    phases_def    = {"jobflow_job_transitions_total", "Changes of jobs' phases, by the new one.",
                     METRIC_COUNTER, .labels = {"phase"}};
/* clang-format on */

void job_metrics_init(struct job_metrics *metrics, struct metrics *registry)
{
    struct metric_family *phases = metrics_family(registry, &phases_def);

    metrics->completed = metrics_family(registry, &completed_def);
    metrics->failed = metrics_family(registry, &failed_def);
    metrics->created = metric_of(metrics_family(registry, &created_def), NULL);
    for (int phase = JOB_PENDING; phase < JOB_PHASE_N; phase++) {
        const char *text = job_phase_text((enum job_phase)phase);

        metrics->phases[phase] = metric_of(phases, &text);
    }
}

/* The label values of a job's own series. */
struct series_name {
    char *job;
    const char *values[2];
};

static struct series_name name_of(const struct object *job)
{
    struct series_name name = {.job = mem_printf("%s/%s", object_namespace(job), object_name(job))};

    name.values[0] = name.job;
    name.values[1] = job_spec_of(job)->queue ? job_spec_of(job)->queue : "";
    return name;
}

void job_metrics_phase_changed(struct job_metrics *metrics, const struct object *job,
                               enum job_phase to)
{
    struct metric_family *family = to == JOB_COMPLETED ? metrics->completed
                                   : to == JOB_FAILED  ? metrics->failed
                                                       : NULL;

    metric_add(metrics->phases[to], 1);
    if (family) {
        struct series_name name = name_of(job);

        metric_add(metric_of(family, name.values), 1);
        mem_free(name.job);
    }
}

void job_metrics_pod_created(struct job_metrics *metrics, const struct object *job, int64_t now_ms)
{
    int64_t took_ms = now_ms - job->meta->created_at_ms;

    metric_observe(metrics->created, took_ms > 0 ? (double)took_ms : 0);
}

void job_metrics_forget(struct job_metrics *metrics, const struct object *job)
{
    struct series_name name = name_of(job);

    metric_drop(metrics->completed, name.values);
    metric_drop(metrics->failed, name.values);
    mem_free(name.job);
}
