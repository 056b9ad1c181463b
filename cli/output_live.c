/*
 * The live view of a terminal: the steps at work, a bar for each flow, drawn over itself ten times
 * a second at most.
 *
 *   ⠹ train-large     Running   12.4s  3/4 pods
 *   ⠹ serve           Running    8.1s  probing
 *   ml-pipeline  [##########......]  14/20 steps, 2 running   00:21
 *
 * Finished steps and log lines scroll away above it. Never more lines than the terminal has; what
 * does not fit is counted.
 */
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/output.h"
#include <string.h>

enum { FRAME_MS = 100, NAME_MAX_COLUMNS = 36, STATE_COLUMNS = 11, BAR_COLUMNS = 30 };

struct live {
    struct output_context context;
    struct timer frame;
    int drawn; /* lines of the view now on the screen */
    unsigned beat;
};

static const char *const spinner[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};

static void erase(struct live *live)
{
    if (live->drawn > 0)
        printf("\033[%dA\033[J", live->drawn);
    live->drawn = 0;
}

static int name_columns(const struct live *live)
{
    int widest = 8;

    for (const struct follow_step *step = follow_running(live->context.follow); step;
         step = step->next_running) {
        int width = term_text_width(step->name);

        if (width > widest)
            widest = width;
    }
    return widest < NAME_MAX_COLUMNS ? widest : NAME_MAX_COLUMNS;
}

static void draw_step(const struct live *live, const struct follow_step *step, int columns)
{
    const struct term *term = &live->context.term;
    int64_t since = step->started_ms ? step->started_ms : step->created_ms;
    char elapsed[TIME_TEXT_MAX];

    snprintf(elapsed, sizeof elapsed, "%.1fs",
             (double)(loop_wall_ms(live->context.loop) - since) / 1000.0);
    printf("%s%s%s ", term_color(term, COLOR_CYAN), spinner[live->beat % countof(spinner)],
           term_reset(term));
    term_print_cell(stdout, step->name, columns);
    printf("  %s%-*s%s %8s", term_color(term, output_phase_color(step->phase)), STATE_COLUMNS,
           follow_step_state(step), term_reset(term), elapsed);
    if (step->total > 1)
        printf("  %d/%d pods", step->ready, step->total);
    if (step->retries)
        printf("  restart %d", step->retries);
    if (step->reason && step->phase != JOB_RUNNING) {
        int room = term->columns - columns - STATE_COLUMNS - 32;

        fputs("  ", stdout);
        if (room > 8)
            term_print_cell(stdout, step->reason, room);
    }
    fputs("\033[K\n", stdout);
}

static void draw_flow(const struct live *live, const struct follow_flow *flow)
{
    const struct term *term = &live->context.term;
    size_t over = flow->n_done + flow->n_failed;
    int filled = flow->n_steps ? (int)(over * BAR_COLUMNS / flow->n_steps) : BAR_COLUMNS;
    char elapsed[TIME_TEXT_MAX];

    duration_human(loop_wall_ms(live->context.loop) - live->context.began_ms, elapsed);
    printf("%s%s%s  [%s", term_color(term, COLOR_BOLD), flow->name, term_reset(term),
           term_color(term, flow->n_failed ? COLOR_RED : COLOR_GREEN));
    for (int i = 0; i < BAR_COLUMNS; i++)
        fputs(i < filled ? "━" : " ", stdout);
    printf("%s]  %zu/%zu steps", term_reset(term), over, flow->n_steps);
    if (flow->n_failed)
        printf(", %s%zu failed%s", term_color(term, COLOR_RED), flow->n_failed, term_reset(term));
    printf("  %s\033[K\n", elapsed);
}

static void draw(struct live *live)
{
    int room, columns = name_columns(live);
    size_t hidden = 0;

    term_look(&live->context.term, stdout);
    room = live->context.term.rows - 2;
    erase(live);
    for (const struct follow_flow *flow = follow_flows(live->context.follow); flow;
         flow = flow->next)
        room -= !flow->bare_job;
    for (const struct follow_step *step = follow_running(live->context.follow); step;
         step = step->next_running) {
        if (room <= 1) {
            hidden++;
            continue;
        }
        draw_step(live, step, columns);
        live->drawn++;
        room--;
    }
    if (hidden) {
        printf("  … and %zu more at work\033[K\n", hidden);
        live->drawn++;
    }
    for (const struct follow_flow *flow = follow_flows(live->context.follow); flow;
         flow = flow->next)
        if (!flow->bare_job && live->drawn < live->context.term.rows - 1) {
            draw_flow(live, flow);
            live->drawn++;
        }
    fputs("\033[?7h", stdout);
    fflush(stdout);
}

static void frame(struct timer *timer)
{
    struct live *live = container_of(timer, struct live, frame);

    live->beat++;
    draw(live);
    timer_start(live->context.loop, &live->frame, FRAME_MS);
}

static void *live_begin(const struct output_context *context)
{
    struct live *live = mem_alloc(sizeof *live);

    live->context = *context;
    live->frame.fire = frame;
    fputs("\033[?25l", stdout); /* no cursor while we draw */
    timer_start(context->loop, &live->frame, 0);
    return live;
}

static void live_step(void *state, const struct follow_step *step, enum job_phase before)
{
    struct live *live = state;
    const struct term *term = &live->context.term;

    if (!follow_step_over(step) || step->phase == before)
        return;
    erase(live);
    printf("%s%s%s ", term_color(term, output_phase_color(step->phase)),
           step->phase == JOB_COMPLETED ? "✓" : "✗", term_reset(term));
    if (follow_flows(live->context.follow)->next && !step->flow->bare_job)
        printf("%s/", step->flow->name);
    printf("%s  %.1fs", step->name, (double)(step->ended_ms - step->started_ms) / 1000.0);
    if (step->phase != JOB_COMPLETED)
        printf("  %s%s%s%s%s", follow_step_state(step), step->reason ? " (" : "",
               step->reason ? step->reason : "", step->reason ? ")" : "", "");
    putchar('\n');
}

static void live_flow(void *state, const struct follow_flow *flow, enum flow_phase before)
{
    /* The bar says it. */
}

static void live_log(void *state, const char *source, const char *line, size_t len)
{
    struct live *live = state;

    erase(live);
    printf("%s[%s]%s %.*s\n", term_color(&live->context.term, COLOR_DIM), source,
           term_reset(&live->context.term), (int)len, line);
}

static void live_note(void *state, const char *text)
{
    erase(state);
    printf("%s\n", text);
}

static void live_end(void *state)
{
    struct live *live = state;

    timer_stop(live->context.loop, &live->frame);
    erase(live);
    fputs("\033[?25h", stdout);
    fflush(stdout);
    mem_free(live);
}

const struct output_ops output_live = {
    .name = "live",
    .begin = live_begin,
    .step = live_step,
    .flow = live_flow,
    .log = live_log,
    .note = live_note,
    .end = live_end,
    .summary = true,
};
