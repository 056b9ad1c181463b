/*
 * One JSON object per line and transition, for programs. Members are only ever added.
 *
 *   {"time":"2026-01-02T03:04:05Z","type":"step","flow":"f","namespace":"default","step":"a","phase":"Running",…}
 */
#include "base/jsonw.h"
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

static void json_step(void *state, const struct follow_step *step, enum job_phase before)
{
    struct json_output *json = state;
    struct jsonw w = line_open(json, "step");

    jsonw_member_str(&w, "flow", step->flow->name);
    jsonw_member_str(&w, "namespace", step->flow->namespace_);
    jsonw_member_str(&w, "step", step->name);
    if (step->loop)
        jsonw_member_str(&w, "loop", step->loop->name);
    jsonw_member_str(&w, "phase", follow_step_state(step));
    jsonw_member_int(&w, "ready", step->ready);
    jsonw_member_int(&w, "total", step->total);
    jsonw_member_int(&w, "attempt", step->attempts);
    jsonw_member_int(&w, "retries", step->retries);
    jsonw_member_str_opt(&w, "reason", step->reason);
    if (follow_step_over(step))
        jsonw_member_int(&w, "durationMilliseconds", step->ended_ms - step->started_ms);
    line_close(json, &w);
}

static void json_flow(void *state, const struct follow_flow *flow, enum flow_phase before)
{
    struct json_output *json = state;
    struct jsonw w = line_open(json, "flow");

    jsonw_member_str(&w, "flow", flow->name);
    jsonw_member_str(&w, "namespace", flow->namespace_);
    jsonw_member_str(&w, "phase", flow_phase_text(flow->phase));
    jsonw_member_int(&w, "steps", (int64_t)flow->n_steps);
    jsonw_member_int(&w, "completed", (int64_t)flow->n_done);
    jsonw_member_int(&w, "failed", (int64_t)flow->n_failed);
    jsonw_member_str_opt(&w, "reason", flow->reason);
    if (flow_phase_finished(flow->phase))
        jsonw_member_int(&w, "durationMilliseconds", flow->ended_ms - json->context.began_ms);
    line_close(json, &w);
}

static void json_log(void *state, const char *source, const char *line, size_t len)
{
    struct json_output *json = state;
    struct jsonw w = line_open(json, "log");

    jsonw_member_str(&w, "pod", source);
    jsonw_key(&w, "line");
    jsonw_strn(&w, line, len);
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
