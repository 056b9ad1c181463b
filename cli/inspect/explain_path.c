/*
 * The critical path of a flow that is not over, in three lines: steps that are over, at work, and
 * to come. The steps of a path stand in the order in which they run, so each part is one stretch of
 * it.
 */
#include <string.h>

#include "base/timefmt.h"
#include "cli/inspect/explain.h"

enum { NAMED = 6 }; /* steps of each part that are named */

enum part { PART_OVER, PART_AT_WORK, PART_TO_COME, PART_N };
static const char *const titles[PART_N] = {"over", "at work", "to come"};

struct path_writer {
    const struct explain *about;
    const char *arrow;
    struct buf *out;
};

static enum part part_of(const struct flow_view_step *step)
{
    return flow_view_step_over(step)     ? PART_OVER
           : flow_view_step_active(step) ? PART_AT_WORK
                                         : PART_TO_COME;
}

/* "b 12s", "c for 3s"; the name alone when the duration is not known. */
static void write_step(const struct path_writer *w, const struct flow_view_step *step)
{
    scoped(buf) struct buf took = {0};
    char expected[TIME_TEXT_MAX];

    buf_str(w->out, step->name);
    if (part_of(step) == PART_TO_COME && step->estimated != ESTIMATE_NONE) {
        duration_human(step->estimate_ms, expected);
        buf_printf(w->out, " %s", expected);
    }
    if (part_of(step) != PART_TO_COME)
        flow_view_step_took(step, w->about->now_ms, &took);
    if (took.len)
        buf_printf(w->out, part_of(step) == PART_AT_WORK ? " for %s" : " %s", took.data);
}

/* The names of one part: of a long one the steps nearest to the present. */
static void write_names(const struct path_writer *w, enum part part, const uint32_t *path,
                        uint32_t n)
{
    uint32_t from = part == PART_OVER && n > NAMED ? n - NAMED : 0;
    uint32_t to = part == PART_OVER || n <= NAMED ? n : NAMED;

    if (part == PART_OVER && w->about->view->path_cut)
        buf_printf(w->out, "(earlier steps: --all names them)%s", w->arrow);
    else if (from)
        buf_printf(w->out, "(%u more)%s", from, w->arrow);
    for (uint32_t i = from; i < to; i++) {
        buf_str(w->out, i > from ? w->arrow : "");
        write_step(w, &w->about->view->steps[path[i]]);
    }
    if (to < n)
        buf_printf(w->out, "%s(%u more)", w->arrow, n - to);
}

/* Writes when the part began and ended; of a part that is not over, when it is expected to end. */
static void write_time(const struct path_writer *w, enum part part, const uint32_t *path,
                       uint32_t n)
{
    const struct flow_view *view = w->about->view;
    const struct flow_view_step *first = &view->steps[path[0]], *last = &view->steps[path[n - 1]];

    if (part == PART_OVER && !view->path_cut && first->created_ms && last->ended_ms) {
        buf_str(w->out, "; began ");
        explain_when(w->about, first->created_ms, w->out);
        buf_str(w->out, ", ended ");
        explain_when(w->about, last->ended_ms, w->out);
    } else if (part == PART_OVER && last->ended_ms) {
        buf_str(w->out, "; ended ");
        explain_when(w->about, last->ended_ms, w->out);
    } else if (part != PART_OVER && last->expected_end_ms > w->about->now_ms) {
        buf_str(w->out, "; expected to end ");
        explain_when(w->about, last->expected_end_ms, w->out);
    }
}

void explain_path(const struct explain *about, const char *arrow, struct buf *out)
{
    const struct flow_view *view = about->view;
    const struct path_writer w = {.about = about, .arrow = arrow, .out = out};
    uint32_t from = 0;

    if (flow_view_is_over(view) || view->path_listed < 2)
        return;
    if (view->path_cut && !flow_view_step_over(&view->steps[view->path[0]]))
        buf_printf(out, "  %-8s steps whose times the status does not tell: --all names them\n",
                   titles[PART_OVER]);
    for (enum part part = PART_OVER; part < PART_N; part++) {
        uint32_t to = from;

        while (to < view->path_listed && part_of(&view->steps[view->path[to]]) == part)
            to++;
        if (to == from)
            continue;
        buf_printf(out, "  %-8s ", titles[part]);
        write_names(&w, part, view->path + from, to - from);
        write_time(&w, part, view->path + from, to - from);
        buf_char(out, '\n');
        from = to;
    }
}
