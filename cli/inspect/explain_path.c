/*
 * The critical path of a flow on its way, in three parts: its steps stand in the order in which
 * they run, so what is over comes first and what is to come last.
 */
#include <string.h>

#include "base/timefmt.h"
#include "cli/inspect/explain.h"

enum { NAMED = 6 }; /* steps of each part: those that stand next to the present */

enum part { PART_OVER, PART_AT_WORK, PART_TO_COME, PART_N };
static const char *const titles[PART_N] = {"over", "at work", "to come"};

struct story {
    const struct explain *about;
    const char *arrow;
    struct buf *out;
};

static enum part part_of(const struct flowview_step *step)
{
    return step->settled ? PART_OVER : step->running ? PART_AT_WORK : PART_TO_COME;
}

static void write_ms(struct buf *out, const char *before, int64_t ms)
{
    char text[TIME_TEXT_MAX];

    duration_human(ms, text);
    buf_printf(out, "%s%s", before, text);
}

/* "b 12s"; of one that nobody knows the duration of the name alone. */
static void write_step(const struct story *story, const struct flowview_step *step)
{
    int64_t ms = flowview_step_ms(step, story->about->now_ms);

    buf_str(story->out, step->name);
    if (part_of(step) == PART_TO_COME)
        ms = step->estimated != ESTIMATE_NONE ? step->estimate_ms : -1;
    if (ms >= 0)
        write_ms(story->out, part_of(step) == PART_AT_WORK ? " for " : " ", ms);
}

/* The last of what is over, the first of what is to come. */
static void write_names(const struct story *story, enum part part, const uint32_t *path, uint32_t n)
{
    uint32_t from = part == PART_OVER && n > NAMED ? n - NAMED : 0;
    uint32_t to = part == PART_OVER || n <= NAMED ? n : NAMED;

    if (part == PART_OVER && story->about->view->path_cut)
        buf_printf(story->out, "(earlier steps: --all names them)%s", story->arrow);
    else if (from)
        buf_printf(story->out, "(%u more)%s", from, story->arrow);
    for (uint32_t i = from; i < to; i++) {
        buf_str(story->out, i > from ? story->arrow : "");
        write_step(story, &story->about->view->steps[path[i]]);
    }
    if (to < n)
        buf_printf(story->out, "%s(%u more)", story->arrow, n - to);
}

/* When the part began, or ends: from the present on that is a guess. */
static void write_time(const struct story *story, enum part part, const uint32_t *path, uint32_t n)
{
    const struct flowview *view = story->about->view;
    const struct flowview_step *first = &view->steps[path[0]], *last = &view->steps[path[n - 1]];

    if (part == PART_OVER && !view->path_cut && first->began_ms && last->ended_ms) {
        buf_str(story->out, "; began ");
        explain_when(story->about, first->began_ms, story->out);
        buf_str(story->out, ", ended ");
        explain_when(story->about, last->ended_ms, story->out);
    } else if (part == PART_OVER && last->ended_ms) {
        buf_str(story->out, "; ended ");
        explain_when(story->about, last->ended_ms, story->out);
    } else if (part != PART_OVER && last->expected_end_ms > story->about->now_ms) {
        buf_str(story->out, "; expected to end ");
        explain_when(story->about, last->expected_end_ms, story->out);
    }
}

void explain_path(const struct explain *about, const char *arrow, struct buf *out)
{
    const struct flowview *view = about->view;
    const struct story story = {.about = about, .arrow = arrow, .out = out};
    uint32_t from = 0;

    if (flowview_is_over(view) || view->path_listed < 2)
        return;
    if (view->path_cut && !view->steps[view->path[0]].settled)
        buf_printf(out, "  %-8s steps whose times the status does not tell: --all names them\n",
                   titles[PART_OVER]);
    for (enum part part = PART_OVER; part < PART_N; part++) {
        uint32_t to = from;

        while (to < view->path_listed && part_of(&view->steps[view->path[to]]) == part)
            to++;
        if (to == from)
            continue;
        buf_printf(out, "  %-8s ", titles[part]);
        write_names(&story, part, view->path + from, to - from);
        write_time(&story, part, view->path + from, to - from);
        buf_char(out, '\n');
        from = to;
    }
}
