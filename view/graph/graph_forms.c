/*
 * The forms of a graph for programs (JSON) and for Graphviz, and the texts that several forms
 * share: the state of a step, and the critical path below a drawing.
 */
#include "view/graph/graph_forms.h"

#include <string.h>

#include "base/timefmt.h"

void graph_state(const struct flow_view_step *step, int64_t now_ms, struct buf *out)
{
    scoped(buf) struct buf progress = {0}, took = {0};

    if (step->state == VIEW_NONE)
        return;
    buf_str(out, flow_view_step_state(step));
    if (step->state == VIEW_RUNNING || step->state == VIEW_STOPPED)
        flow_view_step_progress(step, &progress);
    if (progress.len)
        buf_printf(out, " %s", progress.data);
    if (flow_view_step_over(step) || flow_view_step_active(step))
        flow_view_step_took(step, now_ms, &took);
    if (took.len)
        buf_printf(out, " %s", took.data);
}

/* Writes the path as "a → b → c". The middle of a long path is only counted. */
static void write_path(const struct graph_form *form, struct buf *out)
{
    const struct flow_view *view = form->view;
    const char *arrow = form->term->utf8 ? " → " : " -> ";
    enum { SHOWN = 12, ENDS = 5 };

    if (view->path_cut)
        buf_printf(out, "(steps that are over)%s", arrow);
    for (uint32_t i = 0; i < view->path_listed; i++) {
        if (view->path_len > SHOWN && i == ENDS && view->path_listed > 2 * ENDS) {
            buf_printf(out, "%s(%u more)", arrow, view->path_len - 2 * (uint32_t)ENDS);
            i = view->path_listed - ENDS;
        }
        buf_printf(out, "%s%s", i ? arrow : "", view->steps[view->path[i]].name);
    }
}

void graph_legend(const struct graph_form *form)
{
    const struct flow_view *view = form->view;
    scoped(buf) struct buf path = {0}, took = {0};

    if (view->path_listed < 2)
        return;
    write_path(form, &path);
    flow_view_write_ms(view->path_ms, &took);
    if (view->path_known)
        fprintf(form->out, "\n* critical path, %s: %s\n", took.data, path.data);
    else
        fprintf(form->out, "\n* longest way, %u steps: %s\n", view->path_len, path.data);
}

static void add_time(json_t *object, const char *key, int64_t at_ms)
{
    char text[TIME_TEXT_MAX];

    if (at_ms <= 0)
        return;
    time_format(at_ms, text);
    json_object_set_new(object, key, json_string(text));
}

static void add_text(json_t *object, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new(object, key, json_string(text));
}

/* The name of the newest job of a step, if its status lists its jobs; NULL. */
static const char *newest_job(const struct flow_view_step *step)
{
    const json_t *jobs = json_object_get(step->node, "jobs");

    return json_string_value(json_array_get(jobs, json_array_size(jobs) - 1));
}

static json_t *step_json(const struct flow_view *view, uint32_t i)
{
    static const char *const sources[] = {"", "runningEstimate", "past"};
    const struct flow_view_step *step = &view->steps[i];
    json_t *object = json_pack("{s:s, s:I}", "name", step->name, "layer", (json_int_t)step->layer);
    json_t *targets = json_array();
    int64_t ms = flow_view_step_ms(step, 0);
    scoped(buf) struct buf marks = {0};

    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++)
        json_array_append_new(targets, json_string(view->steps[view->targets.next[t]].name));
    add_text(object, "template", step->inlined ? NULL : step->template);
    json_object_set_new(object, "after", targets);
    json_object_set_new(object, "strategy", json_string(step->any ? "any" : "all"));
    flow_view_step_marks(step, &marks);
    add_text(object, "marks", marks.data);
    add_text(object, "state", flow_view_step_state(step));
    add_text(object, "reason", step->reason);
    add_text(object, "message", step->message);
    add_text(object, "job", newest_job(step));
    if (step->attempts)
        json_object_set_new(object, "attempt", json_integer(step->attempts));
    if (step->loops && view->phase != FLOW_NONE) {
        json_object_set_new(object, "iterations",
                            json_integer(flow_view_step_iterations_known(step)));
        json_object_set_new(object, "iterationsOver", json_integer(step->iterations_over));
    }
    add_time(object, "startTime", step->created_ms);
    add_time(object, "endTime", step->ended_ms);
    if (flow_view_step_over(step) && ms >= 0)
        json_object_set_new(object, "durationSeconds", json_real((double)ms / 1e3));
    if (step->estimated != ESTIMATE_NONE) {
        json_object_set_new(object, "estimateSeconds", json_real((double)step->estimate_ms / 1e3));
        add_text(object, "estimateFrom", sources[step->estimated]);
    }
    if (view->phase != FLOW_NONE && !flow_view_step_over(step)) {
        add_time(object, "expectedStart", step->expected_start_ms);
        add_time(object, "expectedEnd", step->expected_end_ms);
    }
    json_object_set_new(object, "critical", json_boolean(step->path_place > 0));
    return object;
}

json_t *graph_json(const struct flow_view *view)
{
    json_t *object =
        json_pack("{s:s, s:s, s:s}", "kind", "JobFlow", "name", view->name, "namespace", view->ns);
    json_t *steps = json_array(), *edges = json_array(), *path = json_array();
    const struct flow_view_counts counts = flow_view_count(view);
    int64_t ms = flow_view_ms(view, 0);
    bool is_over = flow_view_is_over(view);

    add_text(object, "phase", flow_phase_text(view->phase));
    for (uint32_t i = 0; i < view->n_steps; i++) {
        json_array_append_new(steps, step_json(view, i));
        for (uint32_t e = view->dag.first[i]; e < view->dag.first[i + 1]; e++)
            json_array_append_new(edges, json_pack("{s:s, s:s}", "from", view->steps[i].name, "to",
                                                   view->steps[view->dag.next[e]].name));
    }
    for (uint32_t i = 0; i < view->path_listed; i++)
        json_array_append_new(path, json_string(view->steps[view->path[i]].name));
    if (is_over && ms >= 0)
        json_object_set_new(object, "durationSeconds", json_real((double)ms / 1e3));
    if (view->phase != FLOW_NONE)
        json_object_set_new(
            object, "counts",
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "steps", (json_int_t)counts.steps,
                      "completed", (json_int_t)counts.completed, "failed",
                      (json_int_t)counts.failed, "skipped", (json_int_t)counts.skipped, "active",
                      (json_int_t)counts.active, "waiting",
                      (json_int_t)(is_over ? 0 : counts.waiting), "notRun",
                      (json_int_t)(is_over ? counts.waiting : 0)));
    json_object_set_new(object, "steps", steps);
    json_object_set_new(object, "edges", edges);
    json_object_set_new(object, "criticalPath", path);
    if (view->path_known)
        json_object_set_new(object, "criticalPathSeconds", json_real((double)view->path_ms / 1e3));
    return object;
}

static void write_quoted(const char *text, struct buf *out)
{
    buf_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_char(out, '\\');
        buf_char(out, *text);
    }
    buf_char(out, '"');
}

static const char *fill_of(const struct flow_view_step *step)
{
    if (step->state == VIEW_NONE || step->state == VIEW_WAITING)
        return "white";
    if (flow_view_step_failed(step))
        return "lightcoral";
    if (step->state == VIEW_COMPLETED)
        return "palegreen";
    return flow_view_step_active(step) ? "lightskyblue" : "lightgrey";
}

static void dot_step(const struct graph_form *form, uint32_t i)
{
    const struct flow_view_step *step = &form->view->steps[i];
    scoped(buf) struct buf name = {0}, state = {0}, marks = {0};

    write_quoted(step->name, &name);
    graph_state(step, form->now_ms, &state);
    flow_view_step_marks(step, &marks);
    name.data[--name.len] = '\0'; /* removes the closing quote, because the label continues */
    fprintf(form->out, "  s%u [label=%s%s%s%s%s\", fillcolor=%s%s];\n", i, name.data,
            state.len ? "\\n" : "", state.len ? state.data : "", marks.len ? "\\n" : "",
            marks.len ? marks.data : "", fill_of(step),
            flow_view_step_critical(step) ? ", penwidth=2" : "");
}

void graph_dot(const struct graph_form *form)
{
    const struct flow_view *view = form->view;
    scoped(buf) struct buf name = {0};

    write_quoted(view->name, &name);
    fprintf(form->out,
            "digraph %s {\n  node [shape=box, style=\"rounded,filled\", fillcolor=white];\n",
            name.data);
    for (uint32_t i = 0; i < view->n_steps; i++)
        dot_step(form, i);
    for (uint32_t i = 0; i < view->n_steps; i++)
        for (uint32_t e = view->dag.first[i]; e < view->dag.first[i + 1]; e++) {
            const struct flow_view_step *to = &view->steps[view->dag.next[e]];
            bool bold = flow_view_edge_is_critical(view, i, view->dag.next[e]);

            fprintf(form->out, "  s%u -> s%u%s%s%s;\n", i, view->dag.next[e],
                    bold || to->any ? " [style=" : "",
                    to->any ? "dashed"
                    : bold  ? "bold"
                            : "",
                    bold || to->any ? "]" : "");
        }
    fputs("}\n", form->out);
}
