#pragma once
/*
 * The metrics of this process, served at /metrics: counters, gauges and histograms with labels.
 *
 * To add one: (1) write a `static const struct metric_def` beside the code that counts; (2) at its
 * start call `metrics_family(loop_metrics(loop), &def)`, and `metric_of` for each series that is
 * known; (3) where the event happens, call `metric_add` (counter), `metric_set` (gauge) or
 * `metric_observe` (histogram).
 *
 * A *family* has a name and label names. A *series* is a family with label values. Counting in a
 * series is O(1) and allocates nothing; finding a series by its values is one look-up. Values that
 * other code keeps anyway are read when metrics are written, by a `metrics_source`.
 *
 * A family has a bounded number of series. Values beyond the bound are counted in one series whose
 * labels are all "other", so that a million objects do not make a million lines.
 */
#include <stddef.h>
#include <sys/queue.h>

#include "base/buf.h"

enum { METRIC_LABELS_MAX = 4, METRIC_SERIES_DEFAULT = 1000 };

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric_def {
    const char *name;
    const char *help;
    enum metric_type type;
    const char *labels[METRIC_LABELS_MAX]; /* names; NULL after the last */
    const double *ends; /* histogram: upper bounds of the buckets, [n_ends], ascending */
    size_t n_ends;
    size_t max_series; /* largest number of series without the series "other"; 0 means
                        * METRIC_SERIES_DEFAULT */
};

struct metrics;
struct metric_family;
struct metric; /* one series of a family */

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics); /* frees all families and series too; NULL is fine */

/** Returns the family of `def`, created at the first call. `def` must stay valid. The family is
 * valid as long as `metrics`. */
struct metric_family *metrics_family(struct metrics *metrics, const struct metric_def *def);
/** Returns the series with these label values, in the order of the label names; NULL without
 * labels. The first call creates it. It is valid until it is dropped; "other" is never dropped.
 * Never NULL. */
struct metric *metric_of(struct metric_family *family, const char *const values[]);
/** Removes a series whose object no longer exists. No-op if there is none. */
void metric_drop(struct metric_family *family, const char *const values[]);

void metric_add(struct metric *metric, double by); /* counters only grow, gauges may shrink */
/** Sets a gauge, or a counter whose value is kept elsewhere. */
void metric_set(struct metric *metric, double value);
void metric_observe(struct metric *metric, double value); /* takes O(log buckets) */

/** Code that keeps values itself. `refresh` sets its series and is called before each writing. */
struct metrics_source {
    void (*refresh)(struct metrics_source *source);
    LIST_ENTRY(metrics_source) all; /* private to this module */
};
/** Adds a source of metrics, borrowed until it is removed. */
void metrics_source_add(struct metrics *metrics, struct metrics_source *source);
/* Removes a source; allowed also for a source that was never added. */
void metrics_source_remove(struct metrics_source *source);

/** Appends everything in Prometheus' text format 0.0.4, in the order in which families and series
 * were created. */
void metrics_write(struct metrics *metrics, struct buf *out);
