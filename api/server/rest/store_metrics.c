/*
 * One row per metric of the store; the number of objects has one metric for each resource.
 */
#include "api/server/rest/store_metrics.h"

#include <stdio.h>

enum { RESOURCE_MAX = 128 };

static double commits(const struct store *store, const struct store_stats *stats)
{
    return (double)stats->commits;
}

static double changes(const struct store *store, const struct store_stats *stats)
{
    return (double)stats->changes;
}

static double rows_written(const struct store *store, const struct store_stats *stats)
{
    return (double)stats->rows_written;
}

static double memory(const struct store *store, const struct store_stats *stats)
{
    return (double)(stats->body_bytes + stats->meta_bytes + stats->status_bytes);
}

static double revision(const struct store *store, const struct store_stats *stats)
{
    return (double)store_durable_revision(store);
}

static double unreadable(const struct store *store, const struct store_stats *stats)
{
    return (double)stats->unreadable;
}

/* clang-format off */
static const struct {
    struct metric_def def;
    double (*value)(const struct store *store, const struct store_stats *stats);
} rows[] = {
    {{"jobflow_store_commits_total",      "Transactions committed.",         METRIC_COUNTER}, commits},
    {{"jobflow_store_changes_total",      "Changes of objects accepted.",    METRIC_COUNTER}, changes},
    {{"jobflow_store_rows_written_total", "Rows written to the database.",   METRIC_COUNTER}, rows_written},
    {{"jobflow_store_memory_bytes",       "Memory that objects take.",       METRIC_GAUGE},   memory},
    {{"jobflow_store_unreadable_objects", "Stored objects that could not be read at the start.", METRIC_GAUGE}, unreadable},
    {{"jobflow_store_revision",           "Newest durable resourceVersion.", METRIC_GAUGE},   revision},
};
/* clang-format on */

static const struct metric_def objects = {"jobflow_objects", "Objects stored, by resource.",
                                          METRIC_GAUGE, .labels = {"resource"}};

static void refresh(struct metrics_source *source)
{
    struct store_metrics *store_metrics = container_of(source, struct store_metrics, source);
    struct metric_family *family;
    struct store_stats stats;

    store_stats(store_metrics->store, &stats);
    for (size_t i = 0; i < countof(rows); i++)
        metric_set(metric_of(metrics_family(store_metrics->metrics, &rows[i].def), NULL),
                   rows[i].value(store_metrics->store, &stats));
    family = metrics_family(store_metrics->metrics, &objects);
    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);
        char resource[RESOURCE_MAX];

        snprintf(resource, sizeof resource, "%s%s%s", kind->plural, *kind->group ? "." : "",
                 kind->group);
        metric_set(metric_of(family, (const char *const[]){resource}),
                   (double)store_count(store_metrics->store, kind, NULL));
    }
}

void store_metrics_start(struct store_metrics *store_metrics, struct metrics *metrics,
                         const struct store *store)
{
    *store_metrics =
        (struct store_metrics){.source = {refresh}, .store = store, .metrics = metrics};
    metrics_source_add(metrics, &store_metrics->source);
}

void store_metrics_stop(struct store_metrics *store_metrics)
{
    metrics_source_remove(&store_metrics->source);
}
