/*
 * Describes a JobFlow: phase, times and counts, then a table of its steps with state, attempts,
 * times, and what each waits for or why it failed.
 *
 * Of more than FULL_STEPS steps the table shows those that are active or failed, then waiting ones.
 */
#include <ctype.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/inspect/describe.h"

enum { FULL_STEPS = 1000, SHOWN_STEPS = 50, NAMES_MAX = 6 };

enum { STEP, STATE, ATTEMPTS, STARTED, DURATION, WAITS_FOR, COLUMNS };
static const char *const titles[] = {
    [STEP] = "STEP",       [STATE] = "STATE",       [ATTEMPTS] = "ATTEMPTS",
    [STARTED] = "STARTED", [DURATION] = "DURATION", [WAITS_FOR] = "WAITS FOR"};

static const char *state_of(const struct flow_view_step *step)
{
    const char *state = flow_view_step_state(step);

    return state ? state : view_state_text(VIEW_WAITING);
}

/* The states of a flow's steps in the order in which they are counted. */
static const enum view_state count_order[] = {
    VIEW_COMPLETED,  VIEW_RUNNING,  VIEW_PENDING,    VIEW_WAITING,     VIEW_FAILED,
    VIEW_TERMINATED, VIEW_UNKNOWN,  VIEW_BLOCKED,    VIEW_SKIPPED,     VIEW_RETRYING,
    VIEW_RESTARTING, VIEW_ABORTING, VIEW_COMPLETING, VIEW_TERMINATING, VIEW_ABORTED,
};

/* "a (Running), b (Waiting)"; owned. */
static char *waits_for(struct flow_view *view, uint32_t i)
{
    const struct flow_view_step *step = &view->steps[i];
    scoped(buf) struct buf text = {0};
    uint32_t open = 0;

    if (step->message)
        return mem_strdup(step->message);
    flow_view_link(view, NULL);
    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++) {
        const struct flow_view_step *target = &view->steps[view->targets.next[t]];

        if (target->state != VIEW_COMPLETED && open++ < NAMES_MAX)
            buf_printf(&text, "%s%s (%s)", text.len ? ", " : "", target->name, state_of(target));
    }
    if (open > NAMES_MAX)
        buf_printf(&text, " and %u more", open - NAMES_MAX);
    if (text.len && step->any)
        return mem_printf("any of %s", text.data);
    if (!text.len && doc_at(flow_view_step_spec(step), "dependsOn.probe"))
        buf_str(&text, "its probes");
    return buf_take(&text);
}

static bool has_begun(const struct flow_view_step *step)
{
    return step->state != VIEW_NONE && step->state != VIEW_WAITING && step->state != VIEW_BLOCKED;
}

static void fill_row(const struct describer *d, uint32_t i, char **row)
{
    const struct flow_view_step *step = &d->view->steps[i];
    scoped(buf) struct buf duration = {0}, why = {0};

    flow_view_step_took(step, d->now_ms, &duration);
    row[STEP] = mem_strdup(step->name);
    row[STATE] = mem_strdup(state_of(step));
    row[ATTEMPTS] = step->attempts ? mem_printf("%d", (int)step->attempts) : mem_strdup("");
    row[STARTED] = step->created_ms ? describe_span(d, step->created_ms, 0) : mem_strdup("");
    row[DURATION] = buf_take(&duration);
    if (has_begun(step) && step->state != VIEW_COMPLETED)
        flow_view_step_why(step, &why);
    row[WAITS_FOR] = has_begun(step) ? buf_take(&why) : waits_for(d->view, i);
}

static bool is_noteworthy(const struct flow_view_step *step)
{
    return step->state != VIEW_COMPLETED && step->state != VIEW_SKIPPED;
}

/* Chooses the steps to show: all in the order of the spec, or `most` of them, first those that are
 * active or failed, then waiting ones. Returns how many. */
static uint32_t choose_steps(const struct flow_view *view, uint32_t most, uint32_t *out)
{
    bool all = view->n_steps <= most;
    uint32_t n = 0;

    for (uint32_t i = 0; i < view->n_steps && n < most; i++)
        if (all || (is_noteworthy(&view->steps[i]) && has_begun(&view->steps[i])))
            out[n++] = i;
    for (uint32_t i = 0; !all && i < view->n_steps && n < most; i++)
        if (!has_begun(&view->steps[i]))
            out[n++] = i;
    for (uint32_t i = 0; !all && i < view->n_steps && n < most; i++)
        if (!is_noteworthy(&view->steps[i]))
            out[n++] = i;
    return n;
}

static void describe_steps(const struct describer *d)
{
    uint32_t n_steps = d->view->n_steps;
    uint32_t most = n_steps <= FULL_STEPS ? FULL_STEPS : SHOWN_STEPS, *chosen, n;
    char **cells;

    chosen = mem_array((size_t)most, sizeof *chosen);
    n = choose_steps(d->view, most, chosen);
    cells = mem_array((size_t)n * COLUMNS + 1, sizeof *cells);
    for (uint32_t i = 0; i < n; i++)
        fill_row(d, chosen[i], cells + (size_t)i * COLUMNS);
    describe_table("Steps", titles, COLUMNS, cells, n);
    if (n < n_steps)
        printf("  and %u more: '%s get jf %s --subresource steps' lists each\n", n_steps - n,
               cli_program, d->name);
    mem_free(cells);
    mem_free(chosen);
}

/* "6: 4 completed, 1 failed, 1 not run (8 with iterations)". */
static void describe_counts(const struct describer *d)
{
    const size_t with_iterations =
        (size_t)json_integer_value(doc_at(d->doc, "status.stepCounts.total"));
    scoped(buf) struct buf text = {0};
    bool first = true;

    if (!d->view)
        return;
    buf_printf(&text, "%u", d->view->n_steps);
    for (size_t i = 0; i < countof(count_order); i++) {
        enum view_state state = count_order[i];
        uint32_t count = flow_view_count_state(d->view, state);
        const char *word = jobflow_step_state(view_state_text(state), d->view->phase);

        if (count && d->view->phase != FLOW_NONE) {
            buf_printf(&text, "%s%u ", first ? ": " : ", ", count);
            buf_char(&text, (char)tolower((unsigned char)word[0]));
            buf_str(&text, word + 1);
            first = false;
        }
    }
    if (with_iterations > d->view->n_steps)
        buf_printf(&text, " (%zu with iterations)", with_iterations);
    describe_line("Step Count", text.data);
}

void describe_flow(const struct describer *d)
{
    const char *policy = doc_text(d->doc, "spec.jobRetainPolicy");
    scoped(buf) struct buf took = {0};

    describe_line("Job Retain Policy", policy ? policy : "retain");
    describe_phase(d, "Status", doc_text(d->doc, "status.state.phase"));
    describe_line("Reason", doc_text(d->doc, "status.state.reason"));
    describe_line("Message", doc_text(d->doc, "status.state.message"));
    describe_time(d, "Started", doc_text(d->doc, "status.startTime"));
    describe_time(d, "Finished", doc_text(d->doc, "status.completionTime"));
    if (d->view)
        flow_view_took(d->view, d->now_ms, &took);
    describe_line("Duration", took.data);
    describe_counts(d);
    if (d->view)
        describe_steps(d);
}
