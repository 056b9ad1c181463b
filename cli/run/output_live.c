/*
 * The output form `live` for terminals: the active steps and a bar for each flow, redrawn in place
 * at most ten times a second.
 *
 *   [f-fetch-main-0] 61% of 230 MB
 *   ⠹ train-large     Running   12.4s  3/4 pods
 *   ⠹ serve           Running    8.1s  restart 1
 *   ml-pipeline  [━━━━━━━━━━      ]  14/20 steps, search 226/500  21s
 *
 * Finished steps and log lines are collected and printed above the view with the next frame; the
 * view begins with the log lines that still grow. A frame is never higher or wider than the
 * terminal; steps that do not fit are counted. The cursor is never hidden, so a killed run leaves a
 * usable terminal.
 *
 * Frames are erased line by line. Some terminals take the erasure of everything from the top left
 * corner on for a cleared screen and keep what it showed among the lines that have scrolled off.
 */
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/run/output.h"

enum {
    FRAME_MS = 100,
    NAME_COLUMNS_MIN = 8,
    NAME_COLUMNS_MAX = 36,
    STATE_COLUMNS = 11,
    BAR_COLUMNS_MAX = 30,
    WAIT_SHOWN_MS = 1000,         /* a shorter wait needs no explanation */
    SCROLL_BYTES_MAX = 256 << 10, /* collected lines beyond this are printed at once */
};

/* A log line that has not ended. */
struct growing {
    const struct log_line *line;
    struct buf text; /* the part of the line that a reader sees */
    struct growing *next;
};

struct live {
    struct output_context context;
    struct growing *growing; /* lines that grow, in the order in which they began */
    struct timer frame;
    int64_t drawn_ns; /* real time: a simulation has a clock of its own */
    int drawn;        /* lines of the view now on the screen */
    unsigned beat;
    struct buf scroll, text;
};

/* A line of the view, at most as wide as the terminal. */
struct row {
    const struct term *term;
    struct buf *out;
    int room;
};

static void row_text(struct row *row, enum color color, const char *text)
{
    int width = term_text_width(text);
    int shown = width < row->room ? width : row->room;

    if (shown <= 0)
        return;
    buf_str(row->out, term_color(row->term, color));
    term_write_cell(row->term, text, shown, row->out);
    if (color != COLOR_NONE)
        buf_str(row->out, term_reset(row->term));
    row->room -= shown;
}

static void row_printf(struct row *row, enum color color, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void row_printf(struct row *row, enum color color, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    row_text(row, color, text);
}

static struct row row_begin(struct live *live)
{
    /* The last column stays free: writing there makes some terminals wrap. */
    return (struct row){&live->context.term, &live->text, live->context.term.columns - 1};
}

static void row_end(struct live *live)
{
    buf_str(&live->text, "\033[K\n");
    live->drawn++;
}

static const char *spinner(const struct live *live)
{
    static const char *const dots[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    static const char *const plain[] = {"|", "/", "-", "\\"};

    return live->context.term.utf8 ? dots[live->beat % countof(dots)]
                                   : plain[live->beat % countof(plain)];
}

static void draw_step(struct live *live, const struct flow_view_step *step, int columns)
{
    int64_t now = loop_wall_ms(live->context.loop);
    struct row row = row_begin(live);
    scoped(buf) struct buf name = {0}, why = {0};

    output_step_name(&live->context, step, &name);
    row_text(&row, COLOR_CYAN, spinner(live));
    row_text(&row, COLOR_NONE, " ");
    if (columns > row.room)
        columns = row.room;
    term_write_cell(row.term, name.data, columns, row.out);
    row.room -= columns;
    row_printf(&row, output_state_color(step), "  %-*s", STATE_COLUMNS, flow_view_step_state(step));
    row_printf(&row, COLOR_NONE, " %7.1fs", (double)flow_view_step_ms(step, now) / 1000.0);
    if (step->pods > 1)
        row_printf(&row, COLOR_NONE, "  %d/%d pods", step->pods_ready, step->pods);
    if (step->restarts)
        row_printf(&row, COLOR_NONE, "  restart %d", step->restarts);
    if (step->state != VIEW_RUNNING && now - step->created_ms >= WAIT_SHOWN_MS)
        flow_tracker_waits_for(live->context.tracker, step, &why);
    if (why.len) {
        row_text(&row, COLOR_NONE, "  ");
        row_text(&row, COLOR_DIM, why.data);
    }
    row_end(live);
}

/* Lines a flow takes: its bar, and the remark about it. */
static int rows_of(const struct flow_view *flow)
{
    scoped(buf) struct buf remark = {0};

    if (flow->bare_job)
        return 0;
    flow_view_remark(flow, &remark);
    return remark.len ? 2 : 1;
}

static const struct flow_view_step *next_loop(const struct flow_view *flow, uint32_t *at)
{
    while (flow->has_jobless && *at < flow->n_steps) {
        const struct flow_view_step *step = &flow->steps[(*at)++];

        if (step->loops && step->state == VIEW_RUNNING)
            return step;
    }
    return NULL;
}

/* Returns how much of the running loops is done, in steps: half of a loop is half a step. */
static double loops_done(const struct flow_view *flow)
{
    double done = 0;
    uint32_t at = 0;

    for (const struct flow_view_step *loop; (loop = next_loop(flow, &at));) {
        uint32_t all = flow_view_step_iterations_known(loop);

        done += all ? (double)loop->iterations_over / all : 0;
    }
    return done;
}

/* Draws how far the running loops have come: ", search 226/500". */
static void draw_loops(const struct flow_view *flow, struct row *row)
{
    enum { SHOWN = 2 };
    uint32_t at = 0, count = 0;

    for (const struct flow_view_step *loop; (loop = next_loop(flow, &at));) {
        scoped(buf) struct buf progress = {0};

        flow_view_step_progress(loop, &progress);
        if (count++ < SHOWN)
            row_printf(row, COLOR_NONE, ", %s %s", loop->name, progress.data);
    }
    if (count > SHOWN)
        row_printf(row, COLOR_NONE, ", %u more loops", count - SHOWN);
}

static void draw_flow(struct live *live, const struct flow_view *flow)
{
    const struct flow_view_counts counts = flow_view_count(flow);
    uint32_t over = counts.completed + counts.failed + counts.skipped;
    struct row row = row_begin(live);
    int bar = row.room - 50, filled;
    scoped(buf) struct buf done = {0}, remark = {0};
    char elapsed[TIME_TEXT_MAX];

    bar = bar > BAR_COLUMNS_MAX ? BAR_COLUMNS_MAX : bar;
    filled = flow->n_steps && bar > 0
                 ? (int)((over + loops_done(flow)) * bar / flow->n_steps + 0.001)
                 : 0;
    duration_human(loop_wall_ms(live->context.loop) - live->context.began_ms, elapsed);
    row_text(&row, COLOR_BOLD, flow->name);
    if (bar > 0)
        row_text(&row, COLOR_NONE, "  [");
    for (int i = 0; i < filled; i++)
        buf_str(&done, live->context.term.utf8 ? "━" : "#");
    if (done.len)
        row_text(&row, counts.failed ? COLOR_RED : COLOR_GREEN, done.data);
    row_printf(&row, COLOR_NONE, "%*s", bar > filled ? bar - filled : 0, "");
    row_printf(&row, COLOR_NONE, "%s  %u/%u steps", bar > 0 ? "]" : "", over, flow->n_steps);
    if (counts.failed)
        row_printf(&row, COLOR_RED, ", %u failed", counts.failed);
    draw_loops(flow, &row);
    row_printf(&row, COLOR_NONE, "  %s", elapsed);
    row_end(live);
    flow_view_remark(flow, &remark);
    if (!remark.len)
        return;
    row = row_begin(live);
    row_text(&row, COLOR_YELLOW, remark.data);
    row_end(live);
}

static bool is_waiting(const struct flow_view_step *step)
{
    return step->state == VIEW_PENDING;
}

static const struct flow_view_step *next_of(const struct flow_view_step *step, bool waiting)
{
    while (step && is_waiting(step) != waiting)
        step = TAILQ_NEXT(step, active);
    return step;
}

/* Running steps first, then waiting ones, each in the order in which they began. */
static void draw_steps(struct live *live, int room)
{
    size_t n = flow_tracker_active_count(live->context.tracker), shown = 0,
           limit = room > 0 ? (size_t)room : 0;
    const struct flow_view_step *first = flow_tracker_active(live->context.tracker);
    int columns = NAME_COLUMNS_MIN;

    if (n > limit)
        limit = limit > 1 ? limit - 1 : 0; /* one line counts the rest */
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0;

        shown = 0;
        for (int waiting = 0; waiting < 2; waiting++)
            for (const struct flow_view_step *step = next_of(first, waiting); step && count < limit;
                 step = next_of(TAILQ_NEXT(step, active), waiting), count++) {
                int width = term_text_width(step->name);

                if (pass)
                    draw_step(live, step, columns);
                else if (width > columns)
                    columns = width < NAME_COLUMNS_MAX ? width : NAME_COLUMNS_MAX;
                shown++;
            }
    }
    if (n > shown && room > 0) {
        struct row row = row_begin(live);

        row_printf(&row, COLOR_DIM, "  and %zu more at work or waiting for a place", n - shown);
        row_end(live);
    }
}

static void erase(struct live *live)
{
    if (live->drawn == 0)
        return;
    buf_printf(&live->text, "\033[%dA\r", live->drawn);
    for (int i = 0; i < live->drawn; i++)
        buf_str(&live->text, "\033[K\n");
    buf_printf(&live->text, "\033[%dA", live->drawn);
    live->drawn = 0;
}

/* The newest lines that grow, at most `room`. Returns how many were drawn. */
static int draw_growing(struct live *live, int room)
{
    int count = 0, before = live->drawn;

    for (const struct growing *one = live->growing; one; one = one->next)
        count++;
    for (const struct growing *one = live->growing; one; one = one->next) {
        struct row row = row_begin(live);

        if (count-- > room)
            continue;
        row_printf(&row, COLOR_DIM, "[%s]", one->line->label);
        row_text(&row, COLOR_NONE, " ");
        row_text(&row, COLOR_NONE, one->text.data ? one->text.data : "");
        row_end(live);
    }
    return live->drawn - before;
}

static void put_out(struct live *live)
{
    fwrite(live->text.data, 1, live->text.len, stdout);
    fflush(stdout);
    buf_clear(&live->text);
}

static void draw(struct live *live)
{
    const struct flow_view *flows = flow_tracker_flows(live->context.tracker);
    int rows, bars = 0;

    term_look(&live->context.term, stdout);
    rows = live->context.term.rows - 1; /* the cursor takes one line */
    for (const struct flow_view *flow = flows; flow; flow = flow->next)
        bars += rows_of(flow);
    if (bars > rows / 2)
        bars = rows / 2;
    live->beat++;
    live->drawn_ns = clock_mono_ns(clock_real());
    erase(live);
    buf_add(&live->text, live->scroll.data, live->scroll.len);
    buf_clear(&live->scroll);
    rows -= draw_growing(live, (rows - bars) / 2);
    draw_steps(live, rows - bars);
    for (const struct flow_view *flow = flows; flow && bars > 0; flow = flow->next)
        if (rows_of(flow) > 0 && rows_of(flow) <= bars) {
            draw_flow(live, flow);
            bars -= rows_of(flow);
        }
    put_out(live);
}

static void frame(struct timer *timer)
{
    struct live *live = container_of(timer, struct live, frame);

    draw(live);
    timer_start(live->context.loop, &live->frame, FRAME_MS);
}

/* A timer would make the virtual clock of a simulation advance, so its frames are drawn with
 * events, if the last frame is old enough in real time. */
static void maybe_draw(struct live *live)
{
    int64_t since_ns = clock_mono_ns(clock_real()) - live->drawn_ns;

    if (live->scroll.len >= SCROLL_BYTES_MAX ||
        (loop_is_virtual(live->context.loop) && since_ns >= (int64_t)FRAME_MS * 1000000))
        draw(live);
}

static void *live_begin(const struct output_context *context)
{
    struct live *live = mem_alloc(sizeof *live);

    live->context = *context;
    live->frame.fire = frame;
    if (!loop_is_virtual(context->loop))
        timer_start(context->loop, &live->frame, FRAME_MS);
    return live;
}

static void write_took(const struct flow_view_step *step, struct buf *out)
{
    scoped(buf) struct buf took = {0};

    flow_view_step_took(step, 0, &took);
    if (took.len)
        buf_printf(out, "  %s", took.data);
}

static void live_step(void *state, const struct flow_view_step *step, enum view_state before)
{
    struct live *live = state;
    const struct term *term = &live->context.term;
    const char *mark = step->state == VIEW_COMPLETED ? term->utf8 ? "✓" : "ok"
                       : term->utf8                  ? "✗"
                                                     : "!!";
    scoped(buf) struct buf why = {0};
    bool is_over = flow_view_step_over(step) || step->state == VIEW_STOPPED;

    if (is_over && step->state != before) {
        buf_printf(&live->scroll, "%s%s%s ", term_color(term, output_state_color(step)), mark,
                   term_reset(term));
        output_step_name(&live->context, step, &live->scroll);
        if (step->state == VIEW_STOPPED)
            buf_str(&live->scroll, "  Stopped");
        else
            write_took(step, &live->scroll);
        if (flow_view_step_failed(step)) {
            flow_view_step_reason(step, &why);
            buf_printf(&live->scroll, why.len ? "  %s (%s)" : "  %s", flow_view_step_state(step),
                       why.data);
        }
        buf_char(&live->scroll, '\n');
    }
    maybe_draw(live);
}

static void live_flow(void *state, const struct flow_view *flow, enum flow_phase before)
{
    maybe_draw(state); /* the bar of the flow changes */
}

static struct growing **place_of(struct live *live, const struct log_line *line)
{
    struct growing **at = &live->growing;

    while (*at && (*at)->line != line)
        at = &(*at)->next;
    return at;
}

static void live_log(void *state, struct log_line *line, const char *text, size_t len)
{
    struct live *live = state;
    struct growing **at = place_of(live, line), *grown = *at;

    if (grown) {
        *at = grown->next;
        buf_release(&grown->text);
        mem_free(grown);
    }
    buf_printf(&live->scroll, "%s[%s]%s ", term_color(&live->context.term, COLOR_DIM), line->label,
               term_reset(&live->context.term));
    term_write_line(text, len, &live->scroll);
    buf_char(&live->scroll, '\n');
    maybe_draw(live);
}

/* Remembers the present text of a log line that has no end yet, such as a progress bar. The next
 * frame of the live display shows it. */
static void live_log_growing(void *state, struct log_line *line, const char *text, size_t len)
{
    struct live *live = state;
    struct growing **at = place_of(live, line);

    if (!*at) {
        *at = mem_alloc(sizeof **at);
        (*at)->line = line;
    }
    buf_clear(&(*at)->text);
    term_write_plain(text, len, &(*at)->text);
}

static void live_note(void *state, const char *text)
{
    struct live *live = state;

    buf_printf(&live->scroll, "%s\n", text);
    draw(live);
}

static void live_end(void *state)
{
    struct live *live = state;

    timer_stop(live->context.loop, &live->frame);
    erase(live);
    buf_add(&live->text, live->scroll.data, live->scroll.len);
    put_out(live);
    for (struct growing *one = live->growing, *next; one; one = next) {
        next = one->next;
        buf_release(&one->text);
        mem_free(one);
    }
    buf_release(&live->scroll);
    buf_release(&live->text);
    mem_free(live);
}

const struct output_ops output_live = {
    .name = "live",
    .begin = live_begin,
    .step = live_step,
    .flow = live_flow,
    .log = live_log,
    .log_growing = live_log_growing,
    .note = live_note,
    .end = live_end,
    .summary = true,
};
