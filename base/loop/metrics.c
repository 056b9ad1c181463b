/*
 * A list has the families, because there are few. Each family has a hash table of its series by
 * their values, and a list of them in the order in which they were created. The text of a series'
 * labels is computed once.
 */
#include "base/loop/metrics.h"

#include <assert.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/collections/table.h"
#include "base/mem.h"

struct metric {
    struct metric_family *family;
    TAILQ_ENTRY(metric) all; /* series of the family */
    uint64_t hash;
    double value;      /* value; of a histogram the sum of what was observed */
    uint64_t *buckets; /* histogram: the counts of the buckets, [n_ends + 1], each for itself */
    char *labels;      /* `a="x",b="y"`, escaped; "" without labels */
    char values[];     /* NUL-terminated, one after the other */
};

struct metric_family {
    const struct metric_def *def;
    STAILQ_ENTRY(metric_family) all;
    struct table by_values;
    TAILQ_HEAD(, metric) series;
    struct metric *other; /* series for values beyond the bound; in the list, not in the table */
    size_t n_labels;
};

struct metrics {
    STAILQ_HEAD(, metric_family) families;
    LIST_HEAD(, metrics_source) sources;
};

struct metrics *metrics_new(void)
{
    struct metrics *metrics = mem_alloc(sizeof *metrics);

    STAILQ_INIT(&metrics->families);
    return metrics;
}

static void series_free(struct metric *metric)
{
    mem_free(metric->buckets);
    mem_free(metric->labels);
    mem_free(metric);
}

void metrics_free(struct metrics *metrics)
{
    struct metric_family *family;
    struct metric *metric;

    if (!metrics)
        return;
    while ((family = STAILQ_FIRST(&metrics->families))) {
        STAILQ_REMOVE_HEAD(&metrics->families, all);
        while ((metric = TAILQ_FIRST(&family->series))) {
            TAILQ_REMOVE(&family->series, metric, all);
            series_free(metric);
        }
        table_release(&family->by_values);
        mem_free(family);
    }
    mem_free(metrics);
}

struct metric_family *metrics_family(struct metrics *metrics, const struct metric_def *def)
{
    struct metric_family *family;

    STAILQ_FOREACH(family, &metrics->families, all)
    {
        if (family->def == def)
            return family;
        assert(strcmp(family->def->name, def->name) != 0);
    }
    family = mem_alloc(sizeof *family);
    family->def = def;
    TAILQ_INIT(&family->series);
    while (family->n_labels < METRIC_LABELS_MAX && def->labels[family->n_labels])
        family->n_labels++;
    STAILQ_INSERT_TAIL(&metrics->families, family, all);
    return family;
}

struct series_key {
    const char *const *values;
    size_t n;
};

static bool same_values(const void *item, const void *key)
{
    const struct series_key *wanted = key;
    const char *value = ((const struct metric *)item)->values;

    for (size_t i = 0; i < wanted->n; i++) {
        if (strcmp(value, wanted->values[i]) != 0)
            return false;
        value += strlen(value) + 1;
    }
    return true;
}

static uint64_t hash_of(const struct series_key *key)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < key->n; i++)
        hash = hash * 0x9E3779B97F4A7C15u + hash_bytes(key->values[i], strlen(key->values[i]));
    return hash;
}

static void add_escaped(struct buf *out, const char *value)
{
    for (; *value; value++) {
        if (*value == '\n') {
            buf_str(out, "\\n");
            continue;
        }
        if (*value == '\\' || *value == '"')
            buf_char(out, '\\');
        buf_char(out, *value);
    }
}

static struct metric *series_new(struct metric_family *family, const struct series_key *key)
{
    const struct metric_def *def = family->def;
    struct buf labels = {0};
    struct metric *metric;
    size_t size = 0;
    char *place;

    for (size_t i = 0; i < key->n; i++) {
        size += strlen(key->values[i]) + 1;
        buf_printf(&labels, "%s%s=\"", i ? "," : "", def->labels[i]);
        add_escaped(&labels, key->values[i]);
        buf_char(&labels, '"');
    }
    metric = mem_alloc(sizeof *metric + size);
    metric->family = family;
    metric->labels = buf_take(&labels);
    if (def->type == METRIC_HISTOGRAM)
        metric->buckets = mem_array(def->n_ends + 1, sizeof *metric->buckets);
    place = metric->values;
    for (size_t i = 0; i < key->n; i++)
        place = stpcpy(place, key->values[i]) + 1;
    TAILQ_INSERT_TAIL(&family->series, metric, all);
    return metric;
}

static struct metric *other_of(struct metric_family *family)
{
    const char *values[METRIC_LABELS_MAX] = {"other", "other", "other", "other"};

    if (!family->other)
        family->other = series_new(family, &(struct series_key){values, family->n_labels});
    return family->other;
}

struct metric *metric_of(struct metric_family *family, const char *const values[])
{
    const struct series_key key = {values, family->n_labels};
    size_t max = family->def->max_series ? family->def->max_series : METRIC_SERIES_DEFAULT;
    uint64_t hash = hash_of(&key);
    struct metric *metric = table_find(&family->by_values, hash, same_values, &key);

    if (metric)
        return metric;
    if (family->by_values.count >= max)
        return other_of(family);
    metric = series_new(family, &key);
    metric->hash = hash;
    table_add(&family->by_values, hash, metric);
    return metric;
}

void metric_drop(struct metric_family *family, const char *const values[])
{
    const struct series_key key = {values, family->n_labels};
    struct metric *metric = table_find(&family->by_values, hash_of(&key), same_values, &key);

    if (!metric)
        return;
    table_remove(&family->by_values, metric->hash, metric);
    TAILQ_REMOVE(&family->series, metric, all);
    series_free(metric);
}

void metric_add(struct metric *metric, double by)
{
    assert(by >= 0 || metric->family->def->type == METRIC_GAUGE);
    metric->value += by;
}

void metric_set(struct metric *metric, double value)
{
    metric->value = value;
}

void metric_observe(struct metric *metric, double value)
{
    const struct metric_def *def = metric->family->def;
    size_t low = 0, high = def->n_ends; /* the first end that is not below the value */

    assert(def->type == METRIC_HISTOGRAM);
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (def->ends[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    metric->buckets[low]++;
    metric->value += value;
}

void metrics_source_add(struct metrics *metrics, struct metrics_source *source)
{
    LIST_INSERT_HEAD(&metrics->sources, source, all);
}

void metrics_source_remove(struct metrics_source *source)
{
    if (source->all.le_prev)
        LIST_REMOVE(source, all);
    source->all.le_prev = NULL;
}

static void write_line(struct buf *out, const struct metric *metric, const char *suffix,
                       double value)
{
    const char *labels = metric->labels;

    buf_printf(out, "%s%s%s%s%s %.15g\n", metric->family->def->name, suffix, *labels ? "{" : "",
               labels, *labels ? "}" : "", value);
}

static void write_histogram(struct buf *out, const struct metric *metric)
{
    const struct metric_def *def = metric->family->def;
    const char *comma = *metric->labels ? "," : "";
    uint64_t sum = 0;

    for (size_t i = 0; i < def->n_ends; i++) {
        sum += metric->buckets[i];
        buf_printf(out, "%s_bucket{%s%sle=\"%.6g\"} %llu\n", def->name, metric->labels, comma,
                   def->ends[i], (unsigned long long)sum);
    }
    sum += metric->buckets[def->n_ends];
    buf_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", def->name, metric->labels, comma,
               (unsigned long long)sum);
    write_line(out, metric, "_sum", metric->value);
    write_line(out, metric, "_count", (double)sum);
}

void metrics_write(struct metrics *metrics, struct buf *out)
{
    static const char *const types[] = {
        [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"};
    struct metrics_source *source;
    const struct metric_family *family;
    const struct metric *metric;

    LIST_FOREACH(source, &metrics->sources, all)
    {
        source->refresh(source);
    }
    STAILQ_FOREACH(family, &metrics->families, all)
    {
        const struct metric_def *def = family->def;

        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", def->name, def->help, def->name,
                   types[def->type]);
        TAILQ_FOREACH(metric, &family->series, all)
        {
            if (def->type == METRIC_HISTOGRAM)
                write_histogram(out, metric);
            else
                write_line(out, metric, "", metric->value);
        }
    }
}
