/*
 * One line per transition, for logs and pipes:
 *
 *     0.412s  train-small  Running    2/2
 */
#include "base/mem.h"
#include "cli/output.h"
#include <string.h>

double output_elapsed(const struct output_context *context)
{
    return (double)(loop_wall_ms(context->loop) - context->began_ms) / 1000.0;
}

enum color output_phase_color(enum job_phase phase)
{
    static const enum color colors[JOB_PHASE_N] = {
        [JOB_PENDING] = COLOR_DIM,       [JOB_RUNNING] = COLOR_BLUE,
        [JOB_RESTARTING] = COLOR_YELLOW, [JOB_ABORTING] = COLOR_YELLOW,
        [JOB_ABORTED] = COLOR_YELLOW,    [JOB_COMPLETING] = COLOR_GREEN,
        [JOB_COMPLETED] = COLOR_GREEN,   [JOB_TERMINATING] = COLOR_RED,
        [JOB_TERMINATED] = COLOR_RED,    [JOB_FAILED] = COLOR_RED,
    };

    return colors[phase];
}

struct plain {
    struct output_context context;
};

static void *plain_begin(const struct output_context *context)
{
    struct plain *plain = mem_alloc(sizeof *plain);

    plain->context = *context;
    return plain;
}

static void line_start(const struct plain *plain)
{
    printf("%9.3fs  ", output_elapsed(&plain->context));
}

/* With one flow its name would only repeat itself. */
static void print_step_name(const struct plain *plain, const struct follow_step *step)
{
    if (follow_flows(plain->context.follow)->next && !step->flow->bare_job)
        printf("%s/", step->flow->name);
    fputs(step->name, stdout);
}

static void plain_step(void *state, const struct follow_step *step, enum job_phase before)
{
    const struct plain *plain = state;

    if (step->phase == before)
        return; /* pods came and went; the phase is what a log needs */
    line_start(plain);
    print_step_name(plain, step);
    printf("  %s", follow_step_state(step));
    if (step->total > 1 && step->phase == JOB_RUNNING)
        printf("  %d/%d", step->ready, step->total);
    if (step->attempts > 1)
        printf("  attempt %d", step->attempts);
    if (step->retries > 0)
        printf("  restart %d", step->retries);
    if (step->reason && step->phase != JOB_COMPLETED && step->phase != JOB_RUNNING)
        printf("  (%s)", step->reason);
    putchar('\n');
}

static void plain_flow(void *state, const struct follow_flow *flow, enum flow_phase before)
{
    const struct plain *plain = state;

    if (flow->bare_job)
        return; /* its one step says the same */
    line_start(plain);
    printf("flow %s  %s", flow->name, flow_phase_text(flow->phase));
    if (flow_phase_finished(flow->phase))
        printf("  %zu of %zu steps completed%s", flow->n_done, flow->n_steps,
               flow->n_failed ? "," : "");
    if (flow->n_failed && flow_phase_finished(flow->phase))
        printf(" %zu failed", flow->n_failed);
    putchar('\n');
}

static void plain_log(void *state, const char *source, const char *line, size_t len)
{
    printf("[%s] %.*s\n", source, (int)len, line);
}

static void plain_note(void *state, const char *text)
{
    line_start(state);
    printf("%s\n", text);
}

static void plain_end(void *state)
{
    mem_free(state);
    fflush(stdout);
}

const struct output_ops output_plain = {
    .name = "plain",
    .begin = plain_begin,
    .step = plain_step,
    .flow = plain_flow,
    .log = plain_log,
    .note = plain_note,
    .end = plain_end,
    .summary = true,
};
