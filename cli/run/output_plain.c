/*
 * The output form `plain`: one line per transition, for logs and pipes.
 *
 *     0.412s  train-small  Running    2/2
 *
 * When nothing runs, a line says what the first step waits for. After 30 seconds without a line,
 * one names the active steps and what those wait for that have no room.
 */
#include <string.h>

#include "base/mem.h"
#include "cli/run/output.h"

enum { CHECK_MS = 1000, SILENCE_MS = 30 * 1000, NAMES_MAX = 5 };

/* Returns the seconds since the run began. */
static double elapsed(const struct output_context *context)
{
    return (double)(loop_wall_ms(context->loop) - context->began_ms) / 1000.0;
}

struct plain {
    struct output_context context;
    struct timer check;
    struct log_printer printer;
    int64_t printed_ms;
    const struct flow_view_step *reported; /* the step whose waiting was printed last */
};

static void line_start(struct plain *plain)
{
    plain->printed_ms = loop_wall_ms(plain->context.loop);
    log_print_break(&plain->printer);
    printf("%9.3fs  ", elapsed(&plain->context));
}

static void print_step_name(const struct plain *plain, const struct flow_view_step *step)
{
    scoped(buf) struct buf name = {0};

    output_step_name(&plain->context, step, &name);
    fputs(name.data, stdout);
}

/* Prints once what the first step waits for when all active steps wait. */
static void print_waiting(struct plain *plain)
{
    const struct flow_view_step *first = flow_tracker_active(plain->context.tracker);
    scoped(buf) struct buf why = {0};

    for (const struct flow_view_step *step = first; step; step = TAILQ_NEXT(step, active))
        if (step->state != VIEW_PENDING)
            return;
    if (!first || first == plain->reported)
        return;
    flow_tracker_waits_for(plain->context.tracker, first, &why);
    if (!why.len)
        return;
    plain->reported = first;
    line_start(plain);
    print_step_name(plain, first);
    printf("  %s  (%s)\n", flow_view_step_state(first), why.data);
}

/* Prints the name of a step, and behind it what it waits for or the progress of its loop. */
static void print_active_step(struct plain *plain, const struct flow_view_step *step)
{
    scoped(buf) struct buf text = {0};

    print_step_name(plain, step);
    if (step->state == VIEW_PENDING)
        flow_tracker_waits_for(plain->context.tracker, step, &text);
    if (text.len) {
        printf(" (%s)", text.data);
    } else if (step->loop) {
        flow_view_step_progress(step->loop, &text);
        printf(" (%s %s)", step->loop->name, text.data);
    }
}

/* Prints "TITLE: step, step and N more" of the active steps that wait, or of the others. Returns
 * whether there are any. */
static bool print_active_group(struct plain *plain, bool waiting, const char *title)
{
    const struct flow_view_step *step = flow_tracker_active(plain->context.tracker);
    size_t count = 0;

    for (; step; step = TAILQ_NEXT(step, active)) {
        if ((step->state == VIEW_PENDING) != waiting || count++ >= NAMES_MAX)
            continue;
        fputs(count == 1 ? title : ", ", stdout);
        print_active_step(plain, step);
    }
    if (count > NAMES_MAX)
        printf(" and %zu more", count - NAMES_MAX);
    return count > 0;
}

static void print_active(struct plain *plain)
{
    bool others;

    if (!flow_tracker_active(plain->context.tracker))
        return;
    line_start(plain);
    others = print_active_group(plain, false, "at work: ");
    print_active_group(plain, true, others ? "; waiting: " : "waiting: ");
    putchar('\n');
}

static void check(struct timer *timer)
{
    struct plain *plain = container_of(timer, struct plain, check);

    print_waiting(plain);
    if (loop_wall_ms(plain->context.loop) - plain->printed_ms >= SILENCE_MS)
        print_active(plain);
    timer_start(plain->context.loop, &plain->check, CHECK_MS);
}

static void *plain_begin(const struct output_context *context)
{
    struct plain *plain = mem_alloc(sizeof *plain);

    plain->context = *context;
    plain->check.fire = check;
    plain->printer = (struct log_printer){.out = stdout, .clock = clock_real()};
    plain->printed_ms = context->began_ms;
    if (!loop_is_virtual(context->loop)) /* a simulation never waits in real time */
        timer_start(context->loop, &plain->check, CHECK_MS);
    return plain;
}

static void plain_step(void *state, const struct flow_view_step *step, enum view_state before)
{
    struct plain *plain = state;
    scoped(buf) struct buf why = {0};

    if (step->state == before)
        return; /* a log needs the states, not every pod */
    line_start(plain);
    print_step_name(plain, step);
    printf("  %s", flow_view_step_state(step));
    if (step->pods > 1 && step->state == VIEW_RUNNING)
        printf("  %d/%d", step->pods_ready, step->pods);
    if (step->attempts > 1 && (step->loop || !flow_view_step_jobless(step)))
        printf("  attempt %d", step->attempts);
    if (step->restarts > 0)
        printf("  restart %d", step->restarts);
    flow_view_step_reason(step, &why);
    if (why.len)
        printf("  (%s)", why.data);
    putchar('\n');
    if (!flow_view_step_asks(step))
        return;
    line_start(plain);
    printf("%s waits: jobflow approve jf/%s %s%s\n", step->name, step->flow->name, step->name,
           plain->context.where);
}

static void plain_flow(void *state, const struct flow_view *flow, enum flow_phase before)
{
    struct plain *plain = state;
    scoped(buf) struct buf counts = {0}, remark = {0};

    if (flow->bare_job)
        return; /* the only step of the flow has printed the same */
    flow_view_write_counts(flow, &counts);
    flow_view_remark(flow, &remark);
    line_start(plain);
    printf("flow %s  %s", flow->name, flow_phase_text(flow->phase));
    if (flow_phase_finished(flow->phase))
        printf("  %s", counts.data);
    if (remark.len)
        printf("  (%s)", remark.data);
    putchar('\n');
}

static void plain_log(void *state, struct log_line *line, const char *text, size_t len)
{
    struct plain *plain = state;

    plain->printed_ms = loop_wall_ms(plain->context.loop);
    log_print_whole(&plain->printer, line, text, len);
}

static void plain_log_growing(void *state, struct log_line *line, const char *text, size_t len)
{
    struct plain *plain = state;

    plain->printed_ms = loop_wall_ms(plain->context.loop);
    log_print_growing(&plain->printer, line, text, len);
}

static void plain_note(void *state, const char *text)
{
    line_start(state);
    printf("%s\n", text);
}

static void plain_end(void *state)
{
    struct plain *plain = state;

    timer_stop(plain->context.loop, &plain->check);
    log_print_break(&plain->printer);
    mem_free(plain);
}

const struct output_ops output_plain = {
    .name = "plain",
    .begin = plain_begin,
    .step = plain_step,
    .flow = plain_flow,
    .log = plain_log,
    .log_growing = plain_log_growing,
    .note = plain_note,
    .end = plain_end,
    .summary = true,
};
