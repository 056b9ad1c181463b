/*
 * A job: the phases it went through, its tasks by the phases of their pods, the pods.
 */
#include "api/types/pod.h"
#include "base/mem.h"
#include "cli/describe.h"
#include <string.h>

static void describe_history(const struct describer *d)
{
    enum { PHASE, SINCE, DURATION, COLUMNS };
    static const char *const titles[] = {"PHASE", "SINCE", "DURATION"};
    const json_t *conditions = describe_at(d->doc, "status.conditions");
    size_t n = json_array_size(conditions);
    char **cells = mem_array(n * COLUMNS + 1, sizeof *cells);

    for (size_t i = 0; i < n; i++) {
        const json_t *condition = json_array_get(conditions, i),
                     *next = json_array_get(conditions, i + 1);
        const char *phase = describe_text(condition, "status");
        const char *since = describe_text(condition, "lastTransitionTime");
        char **row = cells + i * COLUMNS;

        row[PHASE] = mem_strdup(phase ? phase : "");
        row[SINCE] = mem_strdup(since ? since : "");
        row[DURATION] = next ? describe_span(d, describe_time_ms(condition, "lastTransitionTime"),
                                             describe_time_ms(next, "lastTransitionTime"))
                             : mem_strdup("");
    }
    describe_table("Phases", titles, COLUMNS, cells, n);
    mem_free(cells);
}

static void describe_tasks(const struct describer *d)
{
    static const char *const titles[] = {"TASK",    "REPLICAS",  "MIN",    "PENDING",
                                         "RUNNING", "SUCCEEDED", "FAILED", "UNKNOWN"};
    static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
    enum { FIRST_PHASE = countof(titles) - countof(phases) };
    const json_t *tasks = describe_at(d->doc, "spec.tasks");
    const json_t *counts = describe_at(d->doc, "status.taskStatusCount");
    size_t n = json_array_size(tasks);
    char **cells = mem_array(n * countof(titles) + 1, sizeof *cells);

    for (size_t i = 0; i < n; i++) {
        const json_t *task = json_array_get(tasks, i);
        const char *name = describe_text(task, "name");
        const json_t *count = name ? describe_at(json_object_get(counts, name), "phase") : NULL;
        const json_t *least = json_object_get(task, "minAvailable");
        json_int_t replicas = json_integer_value(json_object_get(task, "replicas"));
        char **row = cells + i * countof(titles);

        row[0] = mem_strdup(name ? name : "");
        row[1] = mem_printf("%" JSON_INTEGER_FORMAT, replicas);
        row[2] = mem_printf("%" JSON_INTEGER_FORMAT, least ? json_integer_value(least) : replicas);
        for (size_t j = 0; j < countof(phases); j++)
            row[FIRST_PHASE + j] = mem_printf(
                "%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(count, phases[j])));
    }
    describe_table("Tasks", titles, countof(titles), cells, n);
    mem_free(cells);
}

void describe_job(const struct describer *d)
{
    scoped_str labels = mem_printf("%s=%s", LABEL_JOB_NAME, d->name);

    describe_line("Queue", describe_text(d->doc, "spec.queue"));
    describe_line("Priority Class", describe_text(d->doc, "spec.priorityClassName"));
    describe_int("Min Available", json_integer_value(describe_at(d->doc, "spec.minAvailable")));
    describe_int("Max Retry", json_integer_value(describe_at(d->doc, "spec.maxRetry")));
    describe_int("Retries", json_integer_value(describe_at(d->doc, "status.retryCount")));
    describe_phase(d, "Status", describe_text(d->doc, "status.state.phase"));
    describe_line("Reason", describe_text(d->doc, "status.state.reason"));
    describe_line("Message", describe_text(d->doc, "status.state.message"));
    describe_history(d);
    describe_tasks(d);
    describe_pods(d, labels);
}
