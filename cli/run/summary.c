/*
 * The table at the end of a run: every step with start, duration and attempts, steps of the
 * critical path marked; then one line that says how the flow ended, and where to see more about a
 * failure.
 *
 * Of a flow with more than FULL_TABLE_STEPS steps the table shows the critical path and the
 * failures only.
 */
#include <string.h>

#include "cli/command/command.h"
#include "cli/run/output.h"

enum { FULL_TABLE_STEPS = 60, SHORT_ROWS = 20, NAME_COLUMNS_MAX = 48, ITERATIONS_SHOWN = 20 };

struct summary {
    const struct output_context *context;
    const struct flow_view *flow;
    const char *ended; /* how the run ended; NULL: by itself */
    FILE *out;
    int columns; /* width of the column of names */
};

/* Writes when the step started, from the beginning of this run. A time that was stored has whole
 * seconds, so a step of this run may seem to have started up to a second before it. */
static void write_start(const struct summary *summary, const struct flow_view_step *step,
                        struct buf *out)
{
    int64_t after_ms = step->started_ms - summary->context->began_ms;

    if (step->resumed || (step->started_ms && after_ms <= -1000))
        buf_str(out, "earlier");
    else if (step->started_ms)
        flow_view_write_ms(after_ms > 0 ? after_ms : 0, out);
}

static void print_row(const struct summary *summary, const struct flow_view_step *step)
{
    const char *indent = step->loop ? "  " : "";
    const struct term *term = &summary->context->term;
    bool told = flow_view_step_failed(step) || (flow_view_step_jobless(step) && !step->loop);
    scoped(buf) struct buf start = {0}, duration = {0}, why = {0};

    write_start(summary, step, &start);
    if (flow_view_step_over(step))
        flow_view_step_took(step, 0, &duration);
    fprintf(summary->out, "%s %s", flow_view_step_critical(step) ? "*" : " ", indent);
    term_print_cell(summary->out, step->name, summary->columns - (int)strlen(indent));
    fprintf(summary->out, "  %s%-11s%s  %9s  %9s  %8d", term_color(term, output_state_color(step)),
            flow_view_step_state(step), term_reset(term), start.len ? start.data : "-",
            duration.len ? duration.data : "-", (int)step->attempts);
    if (step->restarts)
        fprintf(summary->out, "  %d restart%s", (int)step->restarts,
                step->restarts == 1 ? "" : "s");
    if (told)
        flow_view_step_reason(step, &why);
    if (why.len)
        fprintf(summary->out, "  %s", why.data);
    fputc('\n', summary->out);
}

/* The iterations of a loop in order; of many, those that failed. */
static void print_iterations(const struct summary *summary, const struct flow_view_step *loop)
{
    uint32_t begun = 0, shown = 0;

    for (uint32_t i = 0; i < loop->n_iterations; i++)
        begun += loop->iterations[i] != NULL;
    for (uint32_t i = 0; i < loop->n_iterations && shown < ITERATIONS_SHOWN; i++) {
        const struct flow_view_step *step = loop->iterations[i];

        if (!step || (begun > ITERATIONS_SHOWN && !flow_view_step_failed(step)))
            continue;
        print_row(summary, step);
        shown++;
    }
}

static bool is_wanted(const struct flow_view_step *step)
{
    return step->flow->n_steps <= FULL_TABLE_STEPS || flow_view_step_failed(step) ||
           flow_view_step_critical(step);
}

/* Returns the width of the longest name; the last iteration of a loop has its longest. */
static int name_columns(const struct flow_view *flow)
{
    int columns = 4;

    for (uint32_t i = 0; i < flow->n_steps; i++) {
        const struct flow_view_step *step = &flow->steps[i];
        const struct flow_view_step *last =
            step->n_iterations ? step->iterations[step->n_iterations - 1] : NULL;
        int width = last ? term_text_width(last->name) + 2 : term_text_width(step->name);

        if (is_wanted(step) && width > columns)
            columns = width;
    }
    return columns < NAME_COLUMNS_MAX ? columns : NAME_COLUMNS_MAX;
}

static void print_steps(const struct summary *summary)
{
    const struct flow_view *flow = summary->flow;
    uint32_t shown = 0, left_out = 0;

    for (uint32_t i = 0; i < flow->n_steps; i++) {
        if (!is_wanted(&flow->steps[i]))
            continue;
        if (flow->n_steps > FULL_TABLE_STEPS && shown >= SHORT_ROWS) {
            left_out++;
            continue;
        }
        print_row(summary, &flow->steps[i]);
        print_iterations(summary, &flow->steps[i]);
        shown++;
    }
    if (left_out)
        fprintf(summary->out, "  … and %u more of the critical path or failed\n", left_out);
}

static enum color verdict_color(const struct flow_view *flow)
{
    if (!flow_view_is_over(flow))
        return COLOR_YELLOW;
    return flow->phase == FLOW_SUCCEED ? COLOR_GREEN : COLOR_RED;
}

static const char *verdict_word(const struct summary *summary)
{
    const struct flow_view *flow = summary->flow;

    if (!flow_view_is_over(flow))
        return summary->ended ? summary->ended : "unfinished";
    return flow->bare_job ? flow_view_step_state(&flow->steps[0]) : flow_phase_text(flow->phase);
}

/* Writes how long a flow took; of one that an earlier run began, how long this run took, too. */
static void write_took(const struct summary *summary, struct buf *out)
{
    const struct flow_view *flow = summary->flow;
    int64_t now_ms = loop_wall_ms(summary->context->loop);
    int64_t run_ms = (flow->ended_ms ? flow->ended_ms : now_ms) - summary->context->began_ms;
    bool by_flow = flow_view_is_over(flow) && !flow->bare_job;

    if (by_flow)
        flow_view_took(flow, now_ms, out);
    if (by_flow && flow->resumed)
        buf_str(out, ", ");
    if (!by_flow || flow->resumed)
        flow_view_write_ms(run_ms, out);
    if (by_flow && flow->resumed)
        buf_str(out, " of it in this run");
}

/* Prints how the flow ended, or that it did not. */
static void print_verdict(const struct summary *summary)
{
    const struct output_context *context = summary->context;
    const struct flow_view *flow = summary->flow;
    bool is_over = flow_view_is_over(flow);
    scoped(buf) struct buf took = {0}, counts = {0}, path = {0}, remark = {0};

    write_took(summary, &took);
    flow_view_write_counts(flow, &counts);
    flow_view_remark(flow, &remark);
    fprintf(summary->out, "\n%s%s %s%s %s %s: %s%s",
            term_color(&context->term, verdict_color(flow)), flow->name, verdict_word(summary),
            term_reset(&context->term), is_over ? "in" : "after", took.data, counts.data,
            is_over || strcmp(verdict_word(summary), OUTPUT_STALLED) == 0
                ? ".\n"
                : ";\nthe same command goes on from here.\n");
    if (remark.len)
        fprintf(summary->out, "%s.\n", remark.data);
    if (flow->path_len < 2)
        return;
    flow_view_write_ms(flow->path_ms, &path);
    fprintf(summary->out, "Critical path (*): %u steps, %s of work.\n", flow->path_len, path.data);
}

static void print_flow(struct summary *summary)
{
    const struct term *term = &summary->context->term;

    summary->columns = name_columns(summary->flow);
    fprintf(summary->out, "\n  %s", term_color(term, COLOR_BOLD));
    term_print_cell(summary->out, "STEP", summary->columns);
    fprintf(summary->out, "  %-11s  %9s  %9s  %8s%s\n", "STATUS", "START", "DURATION", "ATTEMPTS",
            term_reset(term));
    print_steps(summary);
    print_verdict(summary);
}

/* Returns the first step that failed; of a loop the first iteration that did. */
static const struct flow_view_step *first_failed(const struct flow_view *flow)
{
    for (uint32_t i = 0; i < flow->n_steps; i++) {
        const struct flow_view_step *step = &flow->steps[i];

        if (!flow_view_step_failed(step))
            continue;
        for (uint32_t k = 0; k < step->n_iterations; k++)
            if (step->iterations[k] && flow_view_step_failed(step->iterations[k]))
                return step->iterations[k];
        return step;
    }
    return NULL;
}

/* Prints where to see more about the first failure. */
static void print_hints(const struct summary *summary)
{
    const struct flow_view *flow = summary->flow;
    const struct flow_view_step *failed = first_failed(flow);
    const char *where = summary->context->where;

    if (!failed || !summary->context->kept)
        return;
    fprintf(summary->out, "\nTo see more: %s describe %s/%s%s\n", cli_program,
            flow->bare_job ? "job" : "jf", flow->name, where);
    if (!failed->attempts) /* it never had a job */
        fprintf(summary->out, "             %s explain jf/%s %s%s\n", cli_program, flow->name,
                failed->name, where);
    else if (failed->loop || !flow_view_step_jobless(failed))
        fprintf(summary->out, "             %s logs job/%s%s%s%s\n", cli_program, flow->name,
                flow->bare_job ? "" : "-", flow->bare_job ? "" : failed->name, where);
}

void summary_print(const struct output_context *context, const char *ended, FILE *out)
{
    struct summary summary = {.context = context, .ended = ended, .out = out};

    for (const struct flow_view *flow = flow_tracker_flows(context->tracker); flow;
         flow = flow->next) {
        summary.flow = flow;
        print_flow(&summary);
    }
    for (const struct flow_view *flow = flow_tracker_flows(context->tracker); flow;
         flow = flow->next) {
        summary.flow = flow;
        print_hints(&summary);
    }
}
