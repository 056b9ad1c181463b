#pragma once
/*
 * Figures of this process for /metrics: counters, gauges and histograms with labels.
 *
 * To add one: 1. a `static const struct metric_def` beside the code that counts; 2. at its start
 * `metrics_family(loop_metrics(loop), &def)`, and `metric_of` for each series it knows; 3. where it
 * happens, `metric_add` (counter), `metric_set` (gauge) or `metric_observe` (histogram).
 *
 * A *family* has a name and label names; a *series* is a family with label values. Counting in a
 * series one holds is O(1) and allocates nothing; finding one by its values is one look-up. What
 * somebody else keeps anyway is fetched when it is asked for, by a `metrics_source`.
 *
 * Families have a bounded number of series: what comes beyond is counted in one series whose values
 * are all "other", so that a million objects are no million lines.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { METRIC_LABELS_MAX = 4, METRIC_SERIES_DEFAULT = 1000 };

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric_def {
    const char *name;
    const char *help;
    enum metric_type type;
    const char *labels[METRIC_LABELS_MAX]; /* names; NULL after the last */
    const double *ends;                    /* histogram: [n_ends] upper ends, ascending */
    size_t n_ends;
    size_t max_series; /* 0 = METRIC_SERIES_DEFAULT; "other" comes on top */
};

struct metrics;
struct metric_family;
struct metric; /* one series */

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics); /* with all families and series; NULL is fine */

/** The family of `def`, which must stay; made when it is first asked for. Valid as long as
 * `metrics`. */
struct metric_family *metrics_family(struct metrics *metrics, const struct metric_def *def);
/** The series with these values, one per label name in their order (NULL without labels); made when
 * it is first asked for. Valid until it is dropped; "other" always. Never NULL. */
struct metric *metric_of(struct metric_family *family, const char *const values[]);
/** The thing that the series was about is no more. Nothing happens when there is none. */
void metric_drop(struct metric_family *family, const char *const values[]);

void metric_add(struct metric *metric, double by); /* counters only grow, gauges may shrink */
/** A gauge's value; also a counter's that is kept elsewhere. */
void metric_set(struct metric *metric, double value);
void metric_observe(struct metric *metric, double value); /* O(log buckets) */

/** Somebody whose figures are fetched: `refresh` sets them, called before each writing. */
struct metrics_source {
    void (*refresh)(struct metrics_source *source);
    struct metrics_source *next, **link; /* private */
};
void metrics_source_add(struct metrics *metrics, struct metrics_source *source); /* borrowed */
void metrics_source_remove(struct metrics_source *source); /* or never added */

/** Append everything in Prometheus' text form 0.0.4: families in the order they were made, series
 * too. */
void metrics_write(struct metrics *metrics, struct buf *out);
