/*
 * The list of output forms, what they have in common, and the form `quiet`, which prints nothing but
 * logs that were asked for.
 */
#include "cli/run/output.h"

#include <string.h>

#include "base/mem.h"

static void *quiet_begin(const struct output_context *context)
{
    struct log_printer *printer = mem_alloc(sizeof *printer);

    *printer = (struct log_printer){.out = stdout, .clock = clock_real()};
    return printer;
}

static void quiet_step(void *state, const struct flow_view_step *step, enum view_state before)
{
}

static void quiet_flow(void *state, const struct flow_view *flow, enum flow_phase before)
{
}

/* Prints nothing: logs come only with --logs. */
static void quiet_log(void *state, struct log_line *line, const char *text, size_t len)
{
    log_print_whole(state, line, text, len);
}

static void quiet_log_growing(void *state, struct log_line *line, const char *text, size_t len)
{
    log_print_growing(state, line, text, len);
}

static void quiet_note(void *state, const char *text)
{
}

static void quiet_end(void *state)
{
    log_print_break(state);
    mem_free(state);
}

const struct output_ops output_quiet = {
    .name = "quiet",
    .begin = quiet_begin,
    .step = quiet_step,
    .flow = quiet_flow,
    .log = quiet_log,
    .log_growing = quiet_log_growing,
    .note = quiet_note,
    .end = quiet_end,
};

const struct output_ops *output_by_name(const char *name, const struct term *term)
{
    static const struct output_ops *const all[] = {&output_live, &output_plain, &output_json,
                                                   &output_quiet};

    for (size_t i = 0; i < countof(all); i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return term->is_tty ? &output_live : &output_plain;
}

enum color output_state_color(const struct flow_view_step *step)
{
    if (step->state == VIEW_COMPLETED || step->state == VIEW_COMPLETING)
        return COLOR_GREEN;
    if (flow_view_step_failed(step) || step->state == VIEW_TERMINATING)
        return COLOR_RED;
    if (step->state == VIEW_RUNNING)
        return COLOR_BLUE;
    if (step->state == VIEW_PENDING)
        return COLOR_DIM;
    return step->state == VIEW_WAITING ? COLOR_NONE : COLOR_YELLOW;
}

void output_step_name(const struct output_context *context, const struct flow_view_step *step,
                      struct buf *out)
{
    if (flow_tracker_flows(context->tracker)->next && !step->flow->bare_job)
        buf_printf(out, "%s/", step->flow->name);
    buf_str(out, step->name);
}
