#include "tests/unit.h"

#include <stdio.h>

#include "base/loop/metrics.h"

static const double ends[] = {1, 5, 10};
static const struct metric_def requests = {"requests_total", "Requests.", METRIC_COUNTER};
static const struct metric_def pods = {"pods", "Pods.", METRIC_GAUGE, .labels = {"queue", "phase"},
                                       .max_series = 3};
static const struct metric_def took = {"took_seconds",      "How long.",  METRIC_HISTOGRAM,
                                       .labels = {"queue"}, .ends = ends, .n_ends = countof(ends)};

static void written(const char *what, struct metrics *metrics, const char *expected)
{
    scoped(buf) struct buf text = {0};

    metrics_write(metrics, &text);
    check_str(what, text.data ? text.data : "", expected);
}

static void families_are_written_in_the_order_they_came(void **state)
{
    struct metrics *metrics = metrics_new();
    struct metric_family *family = metrics_family(metrics, &pods);
    struct metric *first = metric_of(metrics_family(metrics, &requests), NULL);

    written("before anything", metrics,
            "# HELP pods Pods.\n# TYPE pods gauge\n"
            "# HELP requests_total Requests.\n# TYPE requests_total counter\nrequests_total 0\n");
    metric_add(first, 1);
    metric_add(first, 2.5);
    metric_set(metric_of(family, (const char *const[]){"b", "x"}), 7);
    metric_add(metric_of(family, (const char *const[]){"a", "x"}), -2);
    metric_add(metric_of(family, (const char *const[]){"b", "x"}), 1);
    written("counted", metrics,
            "# HELP pods Pods.\n# TYPE pods gauge\n"
            "pods{queue=\"b\",phase=\"x\"} 8\npods{queue=\"a\",phase=\"x\"} -2\n"
            "# HELP requests_total Requests.\n# TYPE requests_total counter\n"
            "requests_total 3.5\n");
    metrics_free(metrics);
}

static void a_family_is_made_once(void **state)
{
    struct metrics *metrics = metrics_new();

    assert_ptr_equal(metrics_family(metrics, &pods), metrics_family(metrics, &pods));
    assert_ptr_equal(metric_of(metrics_family(metrics, &requests), NULL),
                     metric_of(metrics_family(metrics, &requests), NULL));
    metrics_free(metrics);
}

static void a_histogram_adds_up_its_buckets(void **state)
{
    static const double values[] = {0.5, 1, 1.5, 10, 10.5, 100};
    struct metrics *metrics = metrics_new();
    struct metric *metric =
        metric_of(metrics_family(metrics, &took), (const char *const[]){"default"});

    for (size_t i = 0; i < countof(values); i++)
        metric_observe(metric, values[i]);
    written("histogram", metrics,
            "# HELP took_seconds How long.\n# TYPE took_seconds histogram\n"
            "took_seconds_bucket{queue=\"default\",le=\"1\"} 2\n"
            "took_seconds_bucket{queue=\"default\",le=\"5\"} 3\n"
            "took_seconds_bucket{queue=\"default\",le=\"10\"} 4\n"
            "took_seconds_bucket{queue=\"default\",le=\"+Inf\"} 6\n"
            "took_seconds_sum{queue=\"default\"} 123.5\n"
            "took_seconds_count{queue=\"default\"} 6\n");
    metrics_free(metrics);
}

static void values_are_escaped_and_never_mixed_up(void **state)
{
    struct metrics *metrics = metrics_new();
    struct metric_family *family = metrics_family(metrics, &pods);

    metric_set(metric_of(family, (const char *const[]){"a\"b\\c\nd", ""}), 1);
    metric_set(metric_of(family, (const char *const[]){"", "a\"b\\c\nd"}), 2);
    written("escaped", metrics,
            "# HELP pods Pods.\n# TYPE pods gauge\n"
            "pods{queue=\"a\\\"b\\\\c\\nd\",phase=\"\"} 1\n"
            "pods{queue=\"\",phase=\"a\\\"b\\\\c\\nd\"} 2\n");
    metrics_free(metrics);
}

static void what_is_beyond_the_bound_is_counted_as_other(void **state)
{
    struct metrics *metrics = metrics_new();
    struct metric_family *family = metrics_family(metrics, &pods);
    char name[16];

    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "q%d", i);
        metric_add(metric_of(family, (const char *const[]){name, "x"}), 1);
    }
    /* Q9 is counted in the series for all other values. */
    metric_drop(family, (const char *const[]){"q9", "x"});
    metric_drop(family, (const char *const[]){"q1", "x"});
    metric_drop(family, (const char *const[]){"q1", "x"});
    metric_add(metric_of(family, (const char *const[]){"new", "x"}), 1);
    metric_add(metric_of(family, (const char *const[]){"more", "x"}), 1);
    written("bounded", metrics,
            "# HELP pods Pods.\n# TYPE pods gauge\n"
            "pods{queue=\"q0\",phase=\"x\"} 1\npods{queue=\"q2\",phase=\"x\"} 1\n"
            "pods{queue=\"other\",phase=\"other\"} 8\npods{queue=\"new\",phase=\"x\"} 1\n");
    metrics_free(metrics);
}

struct kept_elsewhere {
    struct metrics_source source;
    struct metrics *metrics;
    int value;
};

static void fetch(struct metrics_source *source)
{
    struct kept_elsewhere *kept = container_of(source, struct kept_elsewhere, source);

    metric_set(metric_of(metrics_family(kept->metrics, &requests), NULL), kept->value);
}

static void what_is_kept_elsewhere_is_fetched(void **state)
{
    struct metrics *metrics = metrics_new();
    struct kept_elsewhere one = {{fetch}, metrics, 1}, two = {{fetch}, metrics, 2};

    metrics_source_add(metrics, &one.source);
    written("fetched", metrics,
            "# HELP requests_total Requests.\n# TYPE requests_total counter\nrequests_total 1\n");
    metrics_source_add(metrics, &two.source);
    metrics_source_remove(&one.source);
    metrics_source_remove(&one.source);
    written("from the other", metrics,
            "# HELP requests_total Requests.\n# TYPE requests_total counter\nrequests_total 2\n");
    metrics_source_remove(&two.source);
    written("from no source", metrics,
            "# HELP requests_total Requests.\n# TYPE requests_total counter\nrequests_total 2\n");
    metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_written_in_the_order_they_came),
        cmocka_unit_test(a_family_is_made_once),
        cmocka_unit_test(a_histogram_adds_up_its_buckets),
        cmocka_unit_test(values_are_escaped_and_never_mixed_up),
        cmocka_unit_test(what_is_beyond_the_bound_is_counted_as_other),
        cmocka_unit_test(what_is_kept_elsewhere_is_fetched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
