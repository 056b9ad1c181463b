/*
 * A flow: where it stands, and for each step its state, times and attempts, or what it waits for.
 *
 * Of very many steps those are told of that have not come to their end, or to a bad one.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/inspect/describe.h"

enum { FULL_STEPS = 1000, SHOWN_STEPS = 50, NAMES_MAX = 6 };

enum { STEP, STATE, ATTEMPTS, STARTED, DURATION, WAITS_FOR, COLUMNS };
static const char *const titles[] = {
    [STEP] = "STEP",       [STATE] = "STATE",       [ATTEMPTS] = "ATTEMPTS",
    [STARTED] = "STARTED", [DURATION] = "DURATION", [WAITS_FOR] = "WAITS FOR"};

static const char *phase_of(const struct flowview_step *step)
{
    return step->phase ? step->phase : "Waiting";
}

/* "a (Running), b (Waiting)"; owned. */
static char *waits_for(struct flowview *view, uint32_t i)
{
    const struct flowview_step *step = &view->steps[i];
    scoped(buf) struct buf text = {0};
    uint32_t open = 0;

    if (step->message)
        return mem_strdup(step->message);
    flowview_link(view, NULL);
    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++) {
        const struct flowview_step *target = &view->steps[view->targets.next[t]];

        if (strcmp(phase_of(target), "Completed") != 0 && open++ < NAMES_MAX)
            buf_printf(&text, "%s%s (%s)", text.len ? ", " : "", target->name, phase_of(target));
    }
    if (open > NAMES_MAX)
        buf_printf(&text, " and %u more", open - NAMES_MAX);
    if (text.len && step->any)
        return mem_printf("any of %s", text.data);
    if (!text.len && doc_at(flowview_step_spec(step), "dependsOn.probe"))
        buf_str(&text, "its probes");
    return buf_take(&text);
}

static bool has_begun(const char *phase)
{
    return strcmp(phase, "Waiting") != 0 && strcmp(phase, "Blocked") != 0;
}

static void fill_row(const struct describer *d, uint32_t i, char **row)
{
    const struct flowview_step *step = &d->view->steps[i];
    const char *phase = phase_of(step);

    row[STEP] = mem_strdup(step->name);
    row[STATE] = mem_strdup(phase);
    row[ATTEMPTS] = step->attempt ? mem_printf("%lld", (long long)step->attempt) : mem_strdup("");
    row[STARTED] = step->began_ms ? describe_span(d, step->began_ms, 0) : mem_strdup("");
    row[DURATION] = describe_span(d, step->began_ms, step->ended_ms);
    if (!has_begun(phase))
        row[WAITS_FOR] = waits_for(d->view, i);
    else if (step->reason && strcmp(phase, "Completed") != 0)
        row[WAITS_FOR] = mem_printf("%s%s%s", step->reason, step->message ? ": " : "",
                                    step->message ? step->message : "");
    else
        row[WAITS_FOR] = mem_strdup("");
}

static bool is_telling(const struct flowview_step *step)
{
    return strcmp(phase_of(step), "Completed") != 0 && strcmp(phase_of(step), "Skipped") != 0;
}

/* Steps in spec order: all, or in `most` rows first those that are under way or failed, then those
 * that wait. Returns how many rows. */
static uint32_t choose_steps(const struct flowview *view, uint32_t most, uint32_t *out)
{
    bool all = view->n_steps <= most;
    uint32_t n = 0;

    for (uint32_t i = 0; i < view->n_steps && n < most; i++)
        if (all || (is_telling(&view->steps[i]) && has_begun(phase_of(&view->steps[i]))))
            out[n++] = i;
    for (uint32_t i = 0; !all && i < view->n_steps && n < most; i++)
        if (!has_begun(phase_of(&view->steps[i])))
            out[n++] = i;
    for (uint32_t i = 0; !all && i < view->n_steps && n < most; i++)
        if (!is_telling(&view->steps[i]))
            out[n++] = i;
    return n;
}

static void describe_steps(const struct describer *d)
{
    uint32_t n_steps = d->view->n_steps;
    uint32_t most = n_steps <= FULL_STEPS ? FULL_STEPS : SHOWN_STEPS, *chosen, n;
    char **cells;

    chosen = mem_array((size_t)most, sizeof *chosen);
    n = choose_steps(d->view, most, chosen);
    cells = mem_array((size_t)n * COLUMNS + 1, sizeof *cells);
    for (uint32_t i = 0; i < n; i++)
        fill_row(d, chosen[i], cells + (size_t)i * COLUMNS);
    describe_table("Steps", titles, COLUMNS, cells, n);
    if (n < n_steps)
        printf("  and %u more: '%s get jf %s --subresource steps' lists each\n", n_steps - n,
               cli_program, d->name);
    mem_free(cells);
    mem_free(chosen);
}

/* A loop counts as its iterations. */
static void describe_counts(const struct describer *d)
{
    static const char *const names[] = {"completed",  "running", "pending", "waiting", "failed",
                                        "terminated", "unknown", "blocked", "skipped"};
    const json_t *counts = doc_at(d->doc, "status.stepCounts");
    const size_t steps = d->view ? d->view->n_steps : json_array_size(doc_at(d->doc, "spec.flows"));
    const size_t counted = (size_t)json_integer_value(json_object_get(counts, "total"));
    scoped(buf) struct buf text = {0};

    buf_printf(&text, "%zu", steps);
    if (counted && counted != steps)
        buf_printf(&text, " (%zu with iterations)", counted);
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
    const char *policy = doc_text(d->doc, "spec.jobRetainPolicy");
    scoped_str span = describe_span(d, doc_time_ms(d->doc, "status.startTime"),
                                    doc_time_ms(d->doc, "status.completionTime"));

    describe_line("Job Retain Policy", policy ? policy : "retain");
    describe_phase(d, "Status", doc_text(d->doc, "status.state.phase"));
    describe_line("Reason", doc_text(d->doc, "status.state.reason"));
    describe_line("Message", doc_text(d->doc, "status.state.message"));
    describe_time(d, "Started", doc_text(d->doc, "status.startTime"));
    describe_time(d, "Finished", doc_text(d->doc, "status.completionTime"));
    describe_line("Duration", span);
    describe_counts(d);
    if (d->view)
        describe_steps(d);
}
