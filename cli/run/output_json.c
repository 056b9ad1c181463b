/*
 * The output form `json`: one JSON object per line and transition, for programs. Members are only
 * ever added.
 *
 *   {"time":"2026-01-02T03:04:05Z","type":"step","flow":"f","namespace":"default","step":"a","phase":"Running",…}
 */
#include "base/encoding/jsonw.h"
#include "base/mem.h"
#include "cli/run/output.h"

struct json_output {
    struct output_context context;
    struct buf line;
};

static void *json_begin(const struct output_context *context)
{
    struct json_output *json = mem_alloc(sizeof *json);

    json->context = *context;
    return json;
}

static struct jsonw line_open(struct json_output *json, const char *type)
{
    struct jsonw w;

    buf_clear(&json->line);
    w = jsonw_to(&json->line);
    jsonw_open(&w);
    jsonw_member_time(&w, "time", loop_wall_ms(json->context.loop));
    jsonw_member_str(&w, "type", type);
    return w;
}

static void line_close(struct json_output *json, struct jsonw *w)
{
    jsonw_close(w);
    buf_char(&json->line, '\n');
    fwrite(json->line.data, 1, json->line.len, stdout);
}

static void json_step(void *state, const struct flow_view_step *step, enum view_state before)
{
    struct json_output *json = state;
    struct jsonw w = line_open(json, "step");
    scoped(buf) struct buf why = {0};

    jsonw_member_str(&w, "flow", step->flow->name);
    jsonw_member_str(&w, "namespace", step->flow->ns);
    jsonw_member_str(&w, "step", step->name);
    if (step->loop)
        jsonw_member_str(&w, "loop", step->loop->name);
    jsonw_member_str(&w, "phase", flow_view_step_state(step));
    jsonw_member_int(&w, "ready", step->pods_ready);
    jsonw_member_int(&w, "total", step->pods);
    jsonw_member_int(&w, "attempt", step->attempts);
    jsonw_member_int(&w, "retries", step->restarts);
    if (step->loops) {
        jsonw_member_int(&w, "iterations", flow_view_step_iterations_known(step));
        jsonw_member_int(&w, "iterationsOver", step->iterations_over);
    }
    flow_view_step_reason(step, &why);
    jsonw_member_str_opt(&w, "reason", why.data);
    if (flow_view_step_over(step))
        jsonw_member_int(&w, "durationMilliseconds", flow_view_step_ms(step, 0));
    line_close(json, &w);
}

static void json_flow(void *state, const struct flow_view *flow, enum flow_phase before)
{
    struct json_output *json = state;
    const struct flow_view_counts counts = flow_view_count(flow);
    struct jsonw w = line_open(json, "flow");
    scoped(buf) struct buf remark = {0};

    jsonw_member_str(&w, "flow", flow->name);
    jsonw_member_str(&w, "namespace", flow->ns);
    jsonw_member_str(&w, "phase", flow_phase_text(flow->phase));
    jsonw_member_int(&w, "steps", counts.steps);
    jsonw_member_int(&w, "completed", counts.completed);
    jsonw_member_int(&w, "failed", counts.failed);
    flow_view_remark(flow, &remark);
    jsonw_member_str_opt(&w, "reason", remark.data);
    if (flow_phase_finished(flow->phase))
        jsonw_member_int(&w, "durationMilliseconds", flow_view_ms(flow, flow->ended_ms));
    line_close(json, &w);
}

static void json_log(void *state, struct log_line *line, const char *text, size_t len)
{
    struct json_output *json = state;
    struct jsonw w = line_open(json, "log");

    jsonw_member_str(&w, "pod", line->label);
    jsonw_key(&w, "line");
    jsonw_strn(&w, text, len);
    line_close(json, &w);
}

static void json_note(void *state, const char *text)
{
    struct json_output *json = state;
    struct jsonw w = line_open(json, "note");

    jsonw_member_str(&w, "message", text);
    line_close(json, &w);
}

static void json_end(void *state)
{
    struct json_output *json = state;

    buf_release(&json->line);
    mem_free(json);
}

const struct output_ops output_json = {
    .name = "json",
    .begin = json_begin,
    .step = json_step,
    .flow = json_flow,
    .log = json_log,
    .note = json_note,
    .end = json_end,
};
