/*
 * Describes a JobFlow: phase, times and counts, then a table of its steps with state, attempts,
 * times, and why each is in its state.
 *
 * Of more than FULL_STEPS steps the table shows those that are active or failed, then waiting ones.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/inspect/describe.h"
#include "cli/inspect/explain.h"

enum { FULL_STEPS = 1000, SHOWN_STEPS = 50 };

enum { STEP, STATE, ATTEMPTS, STARTED, DURATION, WHY, COLUMNS };
static const char *const titles[] = {
    [STEP] = "STEP",       [STATE] = "STATE",       [ATTEMPTS] = "ATTEMPTS",
    [STARTED] = "STARTED", [DURATION] = "DURATION", [WHY] = "WHY"};

static const char *state_of(const struct flow_view_step *step)
{
    const char *state = flow_view_step_state(step);

    return state ? state : view_state_text(VIEW_WAITING);
}

static bool has_begun(const struct flow_view_step *step)
{
    return step->state != VIEW_NONE && step->state != VIEW_WAITING && step->state != VIEW_BLOCKED;
}

/* Why the step is in its state, as `explain` tells it. The duration of steps that run or have
 * completed has a column of its own. */
static void write_why(struct explain *about, uint32_t i, struct buf *out)
{
    const struct flow_view_step *step = &about->view->steps[i];
    scoped(buf) struct buf progress = {0};

    if (step->state == VIEW_RUNNING)
        flow_view_step_progress(step, &progress);
    if (progress.len)
        buf_printf(out, "%s iterations", progress.data);
    else if (step->state != VIEW_RUNNING &&
             (step->state != VIEW_COMPLETED || doc_text(step->node, "case")))
        explain_step(about, i, out);
}

static void fill_row(const struct describer *d, struct explain *about, uint32_t i, char **row)
{
    const struct flow_view_step *step = &d->view->steps[i];
    scoped(buf) struct buf duration = {0}, why = {0};

    flow_view_step_took(step, d->now_ms, &duration);
    write_why(about, i, &why);
    row[STEP] = mem_strdup(step->name);
    row[STATE] = mem_strdup(state_of(step));
    row[ATTEMPTS] = step->attempts ? mem_printf("%d", (int)step->attempts) : mem_strdup("");
    row[STARTED] = step->created_ms ? describe_span(d, step->created_ms, 0) : mem_strdup("");
    row[DURATION] = buf_take(&duration);
    row[WHY] = buf_take(&why);
}

static bool is_noteworthy(const struct flow_view_step *step)
{
    return step->state != VIEW_COMPLETED && step->state != VIEW_SKIPPED;
}

/* Chooses the steps to show: all in the order of the spec, or `most` of them, first those that are
 * active or failed, then waiting ones. Returns how many. */
static uint32_t choose_steps(const struct flow_view *view, uint32_t most, uint32_t *out)
{
    bool all = view->n_steps <= most;
    uint32_t n = 0;

    for (uint32_t i = 0; i < view->n_steps && n < most; i++)
        if (all || (is_noteworthy(&view->steps[i]) && has_begun(&view->steps[i])))
            out[n++] = i;
    for (uint32_t i = 0; !all && i < view->n_steps && n < most; i++)
        if (!has_begun(&view->steps[i]))
            out[n++] = i;
    for (uint32_t i = 0; !all && i < view->n_steps && n < most; i++)
        if (!is_noteworthy(&view->steps[i]))
            out[n++] = i;
    return n;
}

static void describe_steps(const struct describer *d)
{
    uint32_t n_steps = d->view->n_steps;
    uint32_t most = n_steps <= FULL_STEPS ? FULL_STEPS : SHOWN_STEPS, *chosen, n;
    struct explain about = {.view = d->view, .client = d->client, .now_ms = d->now_ms};
    char **cells;

    chosen = mem_array((size_t)most, sizeof *chosen);
    n = choose_steps(d->view, most, chosen);
    cells = mem_array((size_t)n * COLUMNS + 1, sizeof *cells);
    for (uint32_t i = 0; i < n; i++)
        fill_row(d, &about, chosen[i], cells + (size_t)i * COLUMNS);
    explain_release(&about);
    describe_table("Steps", titles, COLUMNS, cells, n);
    if (n < n_steps)
        printf("  and %u more: '%s get jf %s --subresource steps' lists each\n", n_steps - n,
               cli_program, d->name);
    mem_free(cells);
    mem_free(chosen);
}

void describe_flow(const struct describer *d)
{
    const char *policy = doc_text(d->doc, "spec.jobRetainPolicy");
    scoped(buf) struct buf took = {0}, counts = {0};

    describe_line("Job Retain Policy", policy ? policy : "retain");
    describe_phase(d, "Status", doc_text(d->doc, "status.state.phase"));
    describe_line("Reason", doc_text(d->doc, "status.state.reason"));
    describe_line("Message", doc_text(d->doc, "status.state.message"));
    describe_time(d, "Started", doc_text(d->doc, "status.startTime"));
    describe_time(d, "Finished", doc_text(d->doc, "status.completionTime"));
    if (d->view)
        flow_view_took(d->view, d->now_ms, &took);
    describe_line("Duration", took.data);
    if (d->view)
        flow_view_write_counts(d->view, &counts);
    describe_line("Step Count", counts.data);
    if (d->view)
        describe_steps(d);
}
