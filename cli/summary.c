/*
 * The table at the end of a run: every step with start, duration and attempts, the critical path
 * marked.
 *
 * The critical path of a finished run is the chain that decided its length: from the step that
 * ended last, back over the dependency that let each step start. Long flows show the path and the
 * failures only.
 */
#include "base/hash.h"
#include "base/timefmt.h"
#include "cli/output.h"
#include <string.h>

enum { FULL_TABLE_STEPS = 60, SHORT_ROWS = 20, NAME_COLUMNS_MAX = 48 };

struct summary {
    const struct output_context *context;
    const struct follow_flow *flow;
    bool *critical; /* [n_steps] */
    size_t critical_len;
    int64_t critical_ms; /* time spent in steps of the path */
};

/* The dependency that let `step` start: the last to end under `all`, the first under `any`. */
static const struct follow_step *releasing_step(const struct follow_flow *flow,
                                                const struct flow_step *spec)
{
    const struct follow_step *best = NULL;
    bool any =
        spec->depends && spec->depends->strategy && strcmp(spec->depends->strategy, "any") == 0;

    for (size_t i = 0; spec->depends && i < spec->depends->targets.count; i++) {
        const struct follow_step *target = follow_find_step(flow, spec->depends->targets.items[i]);

        if (!target || !target->ended_ms)
            continue;
        if (!best || (any ? target->ended_ms < best->ended_ms : target->ended_ms > best->ended_ms))
            best = target;
    }
    return best;
}

static void mark_critical(struct summary *summary)
{
    const struct jobflow_spec *spec = jobflow_spec_of(summary->flow->object);
    const struct follow_step *step = NULL;

    for (size_t i = 0; i < summary->flow->n_steps; i++) {
        const struct follow_step *candidate = &summary->flow->steps[i];

        if (candidate->ended_ms && (!step || candidate->ended_ms > step->ended_ms))
            step = candidate;
    }
    while (step && !summary->critical[step->index]) {
        summary->critical[step->index] = true;
        summary->critical_len++;
        summary->critical_ms += step->ended_ms - step->started_ms;
        step = step->index < spec->steps.count
                   ? releasing_step(summary->flow, &spec->steps.items[step->index])
                   : NULL;
    }
}

static void seconds_text(int64_t ms, char out[TIME_TEXT_MAX])
{
    if (ms < 60 * 1000)
        snprintf(out, TIME_TEXT_MAX, "%.2fs", (double)ms / 1000.0);
    else
        duration_human(ms, out);
}

static void print_row(const struct summary *summary, const struct follow_step *step, int columns,
                      FILE *out)
{
    const struct term *term = &summary->context->term;
    char start[TIME_TEXT_MAX] = "-", duration[TIME_TEXT_MAX] = "-";

    if (step->started_ms)
        seconds_text(step->started_ms - summary->context->began_ms, start);
    if (step->ended_ms && step->started_ms)
        seconds_text(step->ended_ms - step->started_ms, duration);
    fprintf(out, "%s ", summary->critical[step->index] ? "*" : " ");
    term_print_cell(out, step->name, columns);
    fprintf(out, "  %s%-11s%s  %9s  %9s  %8d", term_color(term, output_phase_color(step->phase)),
            step->phase == JOB_NONE ? "Not run" : follow_step_state(step), term_reset(term),
            step->resumed ? "earlier" : start, duration, (int)step->attempts + (int)step->retries);
    if (step->reason && step->phase != JOB_COMPLETED && step->phase != JOB_NONE)
        fprintf(out, "  %s", step->reason);
    fputc('\n', out);
}

static bool row_wanted(const struct summary *summary, const struct follow_step *step)
{
    bool failed = job_phase_finished(step->phase) && step->phase != JOB_COMPLETED;

    return summary->flow->n_steps <= FULL_TABLE_STEPS || failed || summary->critical[step->index];
}

static void print_flow(const struct output_context *context, const struct follow_flow *flow,
                       FILE *out)
{
    struct summary summary = {context, flow, mem_array(flow->n_steps + 1, sizeof(bool)), 0, 0};
    const struct term *term = &context->term;
    char took[TIME_TEXT_MAX], path[TIME_TEXT_MAX];
    int columns = 4;
    size_t shown = 0, skipped = 0;

    if (!flow->bare_job)
        mark_critical(&summary);
    for (size_t i = 0; i < flow->n_steps; i++) {
        int width =
            row_wanted(&summary, &flow->steps[i]) ? term_text_width(flow->steps[i].name) : 0;

        if (width > columns)
            columns = width < NAME_COLUMNS_MAX ? width : NAME_COLUMNS_MAX;
    }
    fprintf(out, "\n  %s", term_color(term, COLOR_BOLD));
    term_print_cell(out, "STEP", columns);
    fprintf(out, "  %-11s  %9s  %9s  %8s%s\n", "STATUS", "START", "DURATION", "ATTEMPTS",
            term_reset(term));
    for (size_t i = 0; i < flow->n_steps; i++) {
        if (!row_wanted(&summary, &flow->steps[i]))
            continue;
        if (flow->n_steps > FULL_TABLE_STEPS && shown >= SHORT_ROWS) {
            skipped++;
            continue;
        }
        print_row(&summary, &flow->steps[i], columns, out);
        shown++;
    }
    if (skipped)
        fprintf(out, "  … and %zu more of the critical path or failed\n", skipped);
    seconds_text(
        (flow->ended_ms ? flow->ended_ms : loop_wall_ms(context->loop)) - context->began_ms, took);
    seconds_text(summary.critical_ms, path);
    fprintf(out, "\n%s%s %s%s in %s: %zu of %zu steps completed",
            term_color(term, flow->phase == FLOW_SUCCEED ? COLOR_GREEN : COLOR_RED), flow->name,
            flow->bare_job ? follow_step_state(&flow->steps[0]) : flow_phase_text(flow->phase),
            term_reset(term), took, flow->n_done, flow->n_steps);
    if (flow->n_failed)
        fprintf(out, ", %zu failed", flow->n_failed);
    if (summary.critical_len)
        fprintf(out, "; critical path (*) %zu steps, %s of work", summary.critical_len, path);
    fputs(".\n", out);
    mem_free(summary.critical);
}

void summary_print(const struct output_context *context, FILE *out)
{
    for (const struct follow_flow *flow = follow_flows(context->follow); flow; flow = flow->next)
        print_flow(context, flow, out);
}
