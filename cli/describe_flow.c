/*
 * A flow: where it stands, and for each step its state, times and attempts, or what it waits for.
 */
#include "base/mem.h"
#include "cli/describe.h"
#include <string.h>

enum { ROWS_MAX = 1000 };

enum { STEP, STATE, ATTEMPTS, STARTED, DURATION, WAITS_FOR, COLUMNS };
static const char *const titles[] = {
    [STEP] = "STEP",       [STATE] = "STATE",       [ATTEMPTS] = "ATTEMPTS",
    [STARTED] = "STARTED", [DURATION] = "DURATION", [WAITS_FOR] = "WAITS FOR"};

/* The entries of status.nodes by name; owned. Beyond a certain size a flow's status holds the
 * unusual ones only. */
static json_t *nodes_by_name(const json_t *doc)
{
    json_t *nodes = json_object(), *node;
    size_t i;

    json_array_foreach(describe_at(doc, "status.nodes"), i, node)
    {
        const char *name = json_string_value(json_object_get(node, "name"));

        if (name)
            json_object_set(nodes, name, node);
    }
    return nodes;
}

static const char *phase_of(const json_t *nodes, const char *step)
{
    const char *phase = describe_text(json_object_get(nodes, step), "phase");

    return phase ? phase : "Waiting";
}

/* "a (Running), b (Waiting)"; owned. */
static char *waits_for(const json_t *step, const json_t *node, const json_t *nodes)
{
    const json_t *depends = json_object_get(step, "dependsOn");
    const char *strategy = describe_text(depends, "strategy");
    const char *message = describe_text(node, "message");
    scoped(buf) struct buf text = {0};
    size_t i;
    json_t *target;

    if (message)
        return mem_strdup(message);
    json_array_foreach(json_object_get(depends, "targets"), i, target)
    {
        const char *name = json_string_value(target);
        const char *phase = name ? phase_of(nodes, name) : "";

        if (name && strcmp(phase, "Completed") != 0)
            buf_printf(&text, "%s%s (%s)", text.len ? ", " : "", name, phase);
    }
    if (text.len && strategy && strcmp(strategy, "any") == 0)
        return mem_printf("any of %s", text.data);
    if (!text.len && json_object_get(depends, "probe"))
        buf_str(&text, "its probes");
    return buf_take(&text);
}

static bool has_begun(const char *phase)
{
    return strcmp(phase, "Waiting") != 0 && strcmp(phase, "Blocked") != 0;
}

static void fill_row(const struct describer *d, const json_t *step, const json_t *nodes, char **row)
{
    const char *name = describe_text(step, "name");
    const json_t *node = name ? json_object_get(nodes, name) : NULL;
    const json_t *attempts = json_object_get(node, "attempts");
    size_t n = json_array_size(attempts);
    const json_t *newest = n ? json_array_get(attempts, n - 1) : NULL;
    int64_t began_ms = describe_time_ms(newest, "startTime");
    int64_t attempt = json_integer_value(json_object_get(node, "attempt"));
    const char *phase = phase_of(nodes, name ? name : "");
    const char *reason = describe_text(node, "reason"), *message = describe_text(node, "message");

    row[STEP] = mem_strdup(name ? name : "");
    row[STATE] = mem_strdup(phase);
    row[ATTEMPTS] = attempt ? mem_printf("%lld", (long long)attempt) : mem_strdup("");
    row[STARTED] = began_ms ? describe_span(d, began_ms, 0) : mem_strdup("");
    row[DURATION] = describe_span(d, began_ms, describe_time_ms(newest, "endTime"));
    if (!has_begun(phase))
        row[WAITS_FOR] = waits_for(step, node, nodes);
    else if (reason && strcmp(phase, "Completed") != 0)
        row[WAITS_FOR] = mem_printf("%s%s%s", reason, message ? ": " : "", message ? message : "");
    else
        row[WAITS_FOR] = mem_strdup("");
}

/* Steps in spec order; of a flow too large for all, those its status shows. */
static void describe_steps(const struct describer *d)
{
    const json_t *steps = describe_at(d->doc, "spec.flows");
    scoped(json) json_t *nodes = nodes_by_name(d->doc);
    bool all = json_array_size(steps) <= ROWS_MAX;
    char **cells = mem_array((size_t)ROWS_MAX * COLUMNS, sizeof *cells);
    size_t n = 0, i;
    json_t *step;

    json_array_foreach(steps, i, step)
    {
        const char *name = describe_text(step, "name");

        if (n < ROWS_MAX && (all || (name && json_object_get(nodes, name))))
            fill_row(d, step, nodes, cells + n++ * COLUMNS);
    }
    describe_table("Steps", titles, COLUMNS, cells, n);
    if (n < json_array_size(steps))
        printf("  … and %zu more: jobflow get vcjob -n %s\n", json_array_size(steps) - n, d->ns);
    mem_free(cells);
}

static void describe_counts(const json_t *doc)
{
    static const char *const names[] = {"completed", "running",    "pending", "waiting",
                                        "failed",    "terminated", "unknown", "blocked"};
    const json_t *counts = describe_at(doc, "status.stepCounts");
    scoped(buf) struct buf text = {0};

    buf_printf(&text, "%zu", json_array_size(describe_at(doc, "spec.flows")));
    for (size_t i = 0; i < countof(names); i++) {
        json_int_t count = json_integer_value(json_object_get(counts, names[i]));

        if (count)
            buf_printf(&text, "%s%" JSON_INTEGER_FORMAT " %s", strchr(text.data, ':') ? ", " : ": ",
                       count, names[i]);
    }
    describe_line("Step Count", text.data);
}

void describe_flow(const struct describer *d)
{
    const char *policy = describe_text(d->doc, "spec.jobRetainPolicy");
    scoped_str span = describe_span(d, describe_time_ms(d->doc, "status.startTime"),
                                    describe_time_ms(d->doc, "status.completionTime"));

    describe_line("Job Retain Policy", policy ? policy : "retain");
    describe_phase(d, "Status", describe_text(d->doc, "status.state.phase"));
    describe_line("Reason", describe_text(d->doc, "status.state.reason"));
    describe_line("Message", describe_text(d->doc, "status.state.message"));
    describe_time(d, "Started", describe_text(d->doc, "status.startTime"));
    describe_time(d, "Finished", describe_text(d->doc, "status.completionTime"));
    describe_line("Duration", span);
    describe_counts(d->doc);
    describe_steps(d);
}
