/*
 * Writes the state of a flow and of its steps as JSON for those that show it live.
 */
#include "view/flow_line.h"

#include "api/types/text/doc.h"
#include "api/types/text/json_text.h"

static void add_int(json_t *object, const char *key, int64_t value)
{
    if (value > 0)
        json_object_set_new(object, key, json_integer(value));
}

static void add_text(json_t *object, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new(object, key, json_string(text));
}

json_t *flow_line_step(const struct flow_view_step *step)
{
    scoped(buf) struct buf progress = {0}, reason = {0};
    json_t *object = json_object();
    const json_t *jobs = json_object_get(step->node, "jobs");

    add_text(object, "name", step->name);
    add_text(object, "state", flow_view_step_state(step));
    add_int(object, "attempts", step->attempts);
    add_int(object, "restarts", step->restarts);
    add_int(object, "createdMs", step->created_ms);
    add_int(object, "startedMs", step->started_ms);
    add_int(object, "endedMs", step->ended_ms);
    if (step->ran_ms >= 0 && flow_view_step_over(step))
        json_object_set_new(object, "ranMs", json_integer(step->ran_ms));
    if (step->loops)
        flow_view_step_progress(step, &progress);
    add_text(object, "progress", progress.data);
    flow_view_step_reason(step, &reason);
    add_text(object, "reason", reason.data);
    if (json_array_size(jobs))
        add_text(object, "job", json_string_value(json_array_get(jobs, json_array_size(jobs) - 1)));
    return object;
}

static json_t *counts_json(const struct flow_view *view)
{
    json_t *counts = json_object();

    for (enum view_state state = VIEW_NONE; state < VIEW_STATE_N; state++) {
        const char *text = view_state_text(state);

        if (text)
            add_int(counts, text, view->n_in[state]);
    }
    return counts;
}

json_t *flow_line(const struct flow_view *view, const json_t *doc)
{
    json_t *flow = json_object();
    scoped(buf) struct buf remark = {0};

    add_text(flow, "phase", flow_phase_text(view->phase));
    add_text(flow, "reason", view->reason);
    add_text(flow, "message", view->message);
    flow_view_remark(view, &remark);
    add_text(flow, "remark", remark.data);
    json_object_set_new(flow, "steps", json_integer(view->n_steps));
    json_object_set_new(flow, "counts", counts_json(view));
    add_int(flow, "startedMs", view->began_ms);
    add_int(flow, "endedMs", view->ended_ms);
    if (json_is_true(doc_at(doc, "spec.suspend")))
        json_object_set_new(flow, "suspended", json_true());
    add_text(flow, "uid", doc_text(doc, "metadata.uid"));
    add_text(flow, "resourceVersion", doc_text(doc, "metadata.resourceVersion"));
    return flow;
}
