/*
 * The table at the end of a run: every step with start, duration and attempts, the critical path
 * marked.
 *
 * The critical path of a finished run is the chain that decided its length: from the step that
 * ended last, back over the dependency that let each step start. Long flows show the path and the
 * failures only.
 */
#include <string.h>

#include "base/hash.h"
#include "base/timefmt.h"
#include "cli/command/command.h"
#include "cli/run/output.h"
#include "view/flow_view.h"

enum { FULL_TABLE_STEPS = 60, SHORT_ROWS = 20, NAME_COLUMNS_MAX = 48, ITERATIONS_SHOWN = 20 };

struct summary {
    const struct output_context *context;
    const struct follow_flow *flow;
    const char *ended;
    bool *critical;        /* [n_steps] */
    struct flowview *view; /* of a flow whose steps may have been skipped; NULL */
    size_t critical_len;
    int64_t critical_ms; /* time spent in steps of the path */
};

static bool lists(const struct str_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return true;
    return false;
}

static bool chooses(const struct flow_switch *choice, const char *step)
{
    for (size_t k = 0; k < choice->cases.count; k++)
        if (lists(&choice->cases.items[k].steps, step))
            return true;
    return lists(&choice->default_steps, step);
}

/* The switch that a step is one of the choices of; NULL. */
static const struct follow_step *switch_of(const struct follow_flow *flow, const char *step)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow->object);

    for (size_t i = 0; flow->n_jobless && i < spec->steps.count && i < flow->n_steps; i++)
        if (spec->steps.items[i].choice && chooses(spec->steps.items[i].choice, step))
            return &flow->steps[i];
    return NULL;
}

/* The step that ended last, of all or of those that are not final. */
static const struct follow_step *last_to_end(const struct follow_flow *flow, bool with_final)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow->object);
    const struct follow_step *last = NULL;

    for (size_t i = 0; i < flow->n_steps; i++) {
        const struct follow_step *step = &flow->steps[i];

        if (!with_final && i < spec->steps.count && spec->steps.items[i].when)
            continue;
        if (step->ended_ms && (!last || step->ended_ms > last->ended_ms))
            last = step;
    }
    return last;
}

/* What let `step` start: of its dependencies the last to end under `all`, the first under `any`;
 * of a final step the last of the others. */
static const struct follow_step *releasing_step(const struct follow_flow *flow,
                                                const struct flow_step *spec)
{
    const struct follow_step *best =
        flow_step_is_final(spec) ? last_to_end(flow, false) : switch_of(flow, spec->name);
    bool any = spec->depends && spec->depends->strategy == STRATEGY_ANY;

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
    const struct follow_step *step = last_to_end(summary->flow, true);

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
    if (ms < (int64_t)60 * 1000)
        snprintf(out, TIME_TEXT_MAX, "%.2fs", (double)ms / 1000.0);
    else
        duration_human(ms, out);
}

/* What became of a step without a job. */
static const char *state_without_job(const struct summary *summary, size_t index)
{
    const struct flowview *view = summary->view;
    const char *phase = view && index < view->n_steps ? view->steps[index].phase : NULL;

    return phase && strcmp(phase, "Skipped") == 0 ? phase : "Not run";
}

static void print_row(const struct summary *summary, const struct follow_step *step, int columns,
                      FILE *out)
{
    const char *indent = step->loop ? "  " : "";
    const struct term *term = &summary->context->term;
    char start[TIME_TEXT_MAX] = "-", duration[TIME_TEXT_MAX] = "-";

    if (step->started_ms)
        seconds_text(step->started_ms - summary->context->began_ms, start);
    if (step->ended_ms && step->started_ms)
        seconds_text(step->ended_ms - step->started_ms, duration);
    fprintf(out, "%s %s", summary->critical[step->index] && !step->loop ? "*" : " ", indent);
    term_print_cell(out, step->name, columns - (int)strlen(indent));
    fprintf(out, "  %s%-11s%s  %9s  %9s  %8d", term_color(term, output_phase_color(step->phase)),
            step->phase == JOB_NONE && !step->stopped ? state_without_job(summary, step->index)
                                                      : follow_step_state(step),
            term_reset(term), step->resumed ? "earlier" : start, duration,
            (int)step->attempts + (int)step->retries);
    if ((follow_step_failed(step) || step->jobless) && step->reason)
        fprintf(out, "  %s", step->reason);
    fputc('\n', out);
}

/* The iterations of a loop in order; of many, those that failed. */
static void print_iterations(const struct summary *summary, const struct follow_step *loop,
                             int columns, FILE *out)
{
    const struct follow_step *rows[ITERATIONS_SHOWN];
    size_t count = 0, n = 0;

    for (const struct follow_step *step = loop->iterations; step; step = step->next_iteration)
        count++;
    for (const struct follow_step *step = loop->iterations; step; step = step->next_iteration)
        if ((count <= ITERATIONS_SHOWN || follow_step_failed(step)) && n < ITERATIONS_SHOWN)
            rows[n++] = step;
    while (n > 0)
        print_row(summary, rows[--n], columns, out);
}

static bool row_wanted(const struct summary *summary, const struct follow_step *step)
{
    return summary->flow->n_steps <= FULL_TABLE_STEPS || follow_step_failed(step) ||
           summary->critical[step->index];
}

/* The last line: how the flow ended, or that it did not. */
static void print_verdict(const struct summary *summary, FILE *out)
{
    const struct output_context *context = summary->context;
    const struct follow_flow *flow = summary->flow;
    const struct term *term = &context->term;
    bool is_over = flow_phase_finished(flow->phase);
    int64_t ended_ms = flow->ended_ms ? flow->ended_ms : loop_wall_ms(context->loop);
    char took[TIME_TEXT_MAX], path[TIME_TEXT_MAX];
    enum color color = !is_over                      ? COLOR_YELLOW
                       : flow->phase == FLOW_SUCCEED ? COLOR_GREEN
                                                     : COLOR_RED;

    seconds_text(ended_ms - context->began_ms, took);
    seconds_text(summary->critical_ms, path);
    fprintf(out, "\n%s%s %s%s %s %s: %zu of %zu step%s completed", term_color(term, color),
            flow->name,
            !is_over         ? summary->ended
            : flow->bare_job ? follow_step_state(&flow->steps[0])
                             : flow_phase_text(flow->phase),
            term_reset(term), is_over ? "in" : "after", took, flow->n_done, flow->n_steps,
            flow->n_steps == 1 ? "" : "s");
    if (flow->n_failed)
        fprintf(out, ", %zu failed", flow->n_failed);
    fputs(is_over || strcmp(summary->ended, OUTPUT_STUCK) == 0
              ? ".\n"
              : ";\nthe same command goes on from here.\n",
          out);
    if (flow->reason)
        fprintf(out, "%s.\n", flow->reason);
    if (is_over && summary->critical_len > 1)
        fprintf(out, "Critical path (*): %zu steps, %s of work.\n", summary->critical_len, path);
}

static void print_flow(const struct output_context *context, const struct follow_flow *flow,
                       const char *ended, FILE *out)
{
    struct summary summary = {
        .context = context,
        .flow = flow,
        .ended = ended ? ended : "unfinished",
        .critical = mem_array(flow->n_steps + 1, sizeof(bool)),
    };
    const struct term *term = &context->term;
    json_t *doc = NULL;
    int columns = 4;
    size_t shown = 0, skipped = 0;

    if (!flow->bare_job)
        mark_critical(&summary);
    if (!flow->bare_job && flow->n_steps <= FULL_TABLE_STEPS) {
        doc = object_to_json(flow->object);
        summary.view = flowview_new(doc, NULL);
    }
    for (size_t i = 0; i < flow->n_steps; i++) {
        const struct follow_step *newest = flow->steps[i].iterations;
        int width =
            row_wanted(&summary, &flow->steps[i]) ? term_text_width(flow->steps[i].name) : 0;

        if (width && newest) /* the longest of them */
            width = term_text_width(newest->name) + 2;

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
        print_iterations(&summary, &flow->steps[i], columns, out);
        shown++;
    }
    if (skipped)
        fprintf(out, "  … and %zu more of the critical path or failed\n", skipped);
    print_verdict(&summary, out);
    flowview_free(summary.view);
    json_decref(doc);
    mem_free(summary.critical);
}

/* Where to see more about the first failure. */
static void print_hints(const struct output_context *context, const struct follow_flow *flow,
                        FILE *out)
{
    const struct follow_step *failed = NULL;
    const char *kind = flow->bare_job ? "job" : "jf";

    for (size_t i = 0; i < flow->n_steps && !failed; i++)
        if (follow_step_failed(&flow->steps[i]))
            failed = &flow->steps[i];
    for (const struct follow_step *step = failed ? failed->iterations : NULL; step;
         step = step->next_iteration)
        if (follow_step_failed(step) || failed->jobless)
            failed = step;
    if (!failed || !context->kept)
        return;
    fprintf(out, "\nTo see more: %s describe %s/%s%s\n", cli_program, kind, flow->name,
            context->where);
    if (!failed->jobless)
        fprintf(out, "             %s logs job/%s%s%s%s\n", cli_program, flow->name,
                flow->bare_job ? "" : "-", flow->bare_job ? "" : failed->name, context->where);
}

void summary_print(const struct output_context *context, const char *ended, FILE *out)
{
    for (const struct follow_flow *flow = follow_flows(context->follow); flow; flow = flow->next)
        print_flow(context, flow, ended, out);
    for (const struct follow_flow *flow = follow_flows(context->follow); flow; flow = flow->next)
        print_hints(context, flow, out);
}
