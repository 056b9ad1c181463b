/*
 * GET …/jobflows/NAME/steps: the steps of a flow one by one, in pages.
 *
 * The status of a large flow describes only some of its steps (DC-05). Here every step has an entry
 * as in status.nodes, put together from what is stored: its entry in the status, else its bit in
 * status.results, else its job. Steps are numbered as in the status, with the iterations of a loop
 * behind the loop. Iterations that do not exist yet and may never exist (until, itemsFrom) are left
 * out. A page shows the state at the time of its request.
 */
#include <string.h>

#include "api/server/rest/continue_token.h"
#include "api/server/rest/internal.h"
#include "api/server/rest/table/table.h"
#include "api/types/kinds/jobflow/admission.h"
#include "base/encoding/base64.h"
#include "base/mem.h"
#include "base/timefmt.h"

enum { PAGE_MAX = 5000, PAGE_DEFAULT = 500 };

#define ITERATION_NONE UINT32_MAX

/* One bitmap of status.results: the steps that ended in this phase. Steps in progress have no bit;
 * their phase is that of their job. */
struct results {
    const char *phase;
    struct buf bits;
};
enum { RESULTS_N = 3 };
static const char *const result_rows[RESULTS_N][2] = {
    {"completed", "Completed"}, {"failed", "Failed"}, {"skipped", "Skipped"}};

struct steps {
    const struct api_call *call;
    const struct object *flow;
    const struct jobflow_spec *spec;
    json_t *status, *nodes; /* status of the flow; entries of its nodes by name */
    struct results results[RESULTS_N];
    struct jsonw w;
    bool as_table;
    int64_t now_ms;
};

/* A position in the walk over all steps and iterations. */
struct position {
    uint32_t vertex;    /* index among all steps and iterations */
    uint32_t step;      /* index in the spec */
    uint32_t iteration; /* index in the loop; ITERATION_NONE for the step itself */
};

static void steps_init(struct steps *s, const struct api_call *call, const struct object *flow)
{
    json_t *node;
    size_t i;

    *s = (struct steps){.call = call,
                        .flow = flow,
                        .spec = jobflow_spec_of(flow),
                        .status = flow->status ? object_status_json(flow) : NULL,
                        .nodes = json_object(),
                        .as_table = call->media.form == MEDIA_TABLE,
                        .now_ms = loop_wall_ms(call->api->loop)};
    json_array_foreach(json_object_get(s->status, "nodes"), i, node)
    {
        const char *name = json_string_value(json_object_get(node, "name"));

        if (name)
            json_object_set(s->nodes, name, node);
    }
    for (size_t r = 0; r < RESULTS_N; r++) {
        const char *text = json_string_value(
            json_object_get(json_object_get(s->status, "results"), result_rows[r][0]));

        if (text)
            base64_decode(text, strlen(text), &s->results[r].bits);
        s->results[r].phase = result_rows[r][1];
    }
}

static void steps_release(struct steps *s)
{
    json_decref(s->status);
    json_decref(s->nodes);
    for (size_t r = 0; r < RESULTS_N; r++)
        buf_release(&s->results[r].bits);
}

static const char *result_of(const struct steps *s, uint32_t vertex)
{
    for (size_t r = 0; r < RESULTS_N; r++) {
        const struct buf *bits = &s->results[r].bits;

        if (vertex / 8 < bits->len && (unsigned char)bits->data[vertex / 8] >> vertex % 8 & 1)
            return s->results[r].phase;
    }
    return NULL;
}

/* The number of iterations: a retry may have added some to those of the spec. */
static uint32_t iterations_of(const struct steps *s, const struct flow_step *step)
{
    const json_t *node = step->loop ? json_object_get(s->nodes, step->name) : NULL;
    json_int_t given = json_integer_value(json_object_get(node, "iterations"));
    uint32_t own = step->loop ? flow_loop_iterations(step->loop) : 0;

    return given > own && given <= LOOP_ITERATIONS_MAX ? (uint32_t)given : own;
}

/* Moves to the next vertex; false at the end. */
static bool advance(const struct steps *s, struct position *at)
{
    const struct flow_step *step = &s->spec->steps.items[at->step];
    uint32_t next = at->iteration == ITERATION_NONE ? 0 : at->iteration + 1;

    at->vertex++;
    if (next < iterations_of(s, step)) {
        at->iteration = next;
        return true;
    }
    at->step++;
    at->iteration = ITERATION_NONE;
    return at->step < s->spec->steps.count;
}

static uint32_t count_vertices(const struct steps *s)
{
    uint32_t n = (uint32_t)s->spec->steps.count;

    for (size_t i = 0; i < s->spec->steps.count; i++)
        n += iterations_of(s, &s->spec->steps.items[i]);
    return n;
}

static bool seek(const struct steps *s, uint32_t vertex, struct position *out)
{
    *out = (struct position){.iteration = ITERATION_NONE};
    while (out->step < s->spec->steps.count) {
        uint32_t behind = iterations_of(s, &s->spec->steps.items[out->step]);

        if (vertex <= out->vertex + behind) {
            out->iteration = vertex == out->vertex ? ITERATION_NONE : vertex - out->vertex - 1;
            out->vertex = vertex;
            return true;
        }
        out->vertex += behind + 1;
        out->step++;
    }
    return false;
}

struct entry {
    const char *name, *phase, *job_name;
    const json_t *node;           /* entry of the step in the status; NULL */
    const struct object *job;     /* the job of this flow; NULL */
    unsigned attempts;            /* jobs made for it; of a loop, for all its iterations */
    int64_t started_ms, ended_ms; /* times of the newest job; of a loop, of its first and last job;
                                   * 0 = not yet */
    int64_t ran_ms; /* how long the newest job was Running, or the loop took; -1 = not known */
};

static const struct object *job_of(const struct steps *s, const char *name)
{
    const struct object *job =
        store_get(s->call->api->store, &kind_job, object_namespace(s->flow), name);
    const struct owner_ref *owner = job ? meta_controller(job->meta) : NULL;

    return owner && strcmp(owner->uid, object_uid(s->flow)) == 0 ? job : NULL;
}

/* Attempts and times from the job; those of a job that is gone, from the entry of the status. */
static void take_job(const struct steps *s, struct entry *entry)
{
    const struct job_status *status = entry->job ? job_status_of(entry->job) : NULL;

    entry->ran_ms = -1;
    entry->attempts = (unsigned)json_integer_value(json_object_get(entry->node, "attempt"));
    if (!status)
        return;
    if (!entry->attempts)
        entry->attempts = jobflow_attempt_of(entry->job);
    entry->started_ms = entry->job->meta->created_at_ms;
    if (!job_phase_finished(status->phase))
        return;
    entry->ended_ms = status->transition_ms;
    if (status->running_duration_ns >= 0)
        entry->ran_ms = status->running_duration_ns / 1000000;
}

/* A loop has no job: it begins with the first of its iterations and ends with the last. */
static void take_iterations(const struct steps *s, const struct flow_step *loop,
                            struct entry *entry)
{
    bool is_over = strcmp(entry->phase, "Completed") == 0 || strcmp(entry->phase, "Failed") == 0;
    const char *took = json_string_value(json_object_get(entry->node, "duration"));
    int64_t took_ns;

    if (is_over && took && duration_parse(took, &took_ns, NULL))
        entry->ran_ms = took_ns / 1000000;
    for (uint32_t i = 0; i < iterations_of(s, loop); i++) {
        scoped_str job = mem_printf("%s-%s-%u", object_name(s->flow), loop->name, i);
        const char *name = job + strlen(object_name(s->flow)) + 1;
        struct entry one = {.node = json_object_get(s->nodes, name), .job = job_of(s, job)};

        take_job(s, &one);
        entry->attempts += one.attempts;
        if (one.started_ms && (!entry->started_ms || one.started_ms < entry->started_ms))
            entry->started_ms = one.started_ms;
        if (is_over && one.ended_ms > entry->ended_ms)
            entry->ended_ms = one.ended_ms;
    }
}

/* Describes the step at a position; false for an iteration that may never exist. */
static bool describe_step(const struct steps *s, const struct position *at, struct buf *scratch,
                          struct entry *out)
{
    const struct flow_step *step = &s->spec->steps.items[at->step];
    size_t prefix = strlen(object_name(s->flow)) + 1;
    const char *result = result_of(s, at->vertex);

    buf_clear(scratch);
    buf_printf(scratch, "%s-%s", object_name(s->flow), step->name);
    if (at->iteration != ITERATION_NONE)
        buf_printf(scratch, "-%u", at->iteration);
    *out = (struct entry){.job_name = scratch->data, .name = scratch->data + prefix};
    out->node = json_object_get(s->nodes, out->name);
    out->job = job_of(s, out->job_name);
    take_job(s, out);
    out->phase = json_string_value(json_object_get(out->node, "phase"));
    if (!out->phase)
        out->phase = result;
    if (!out->phase && out->job)
        out->phase = job_phase_text(job_status_of(out->job)->phase);
    if (!out->phase && at->iteration != ITERATION_NONE && flow_loop_is_open(step->loop))
        return false;
    if (!out->phase || !*out->phase)
        out->phase = out->job ? job_phase_text(JOB_PENDING) : "Waiting";
    if (step->loop && at->iteration == ITERATION_NONE)
        take_iterations(s, step, out);
    return true;
}

/* Returns the phase that is shown for the step. A step that waits in a flow that is over never
 * runs. */
static const char *shown_phase(const struct steps *s, const struct entry *entry)
{
    return jobflow_step_state(entry->phase, jobflow_phase_of(s->flow));
}

/* Copies the entry of the status, but for its phase. */
static void write_members(struct jsonw *w, const json_t *node, const char *phase)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)node, key, value)
    {
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

        if (strcmp(key, "phase") == 0)
            jsonw_member_str(w, key, phase);
        else
            jsonw_member_raw(w, key, text, strlen(text));
        free(text);
    }
}

static void write_attempts(struct jsonw *w, const struct entry *entry)
{
    if (entry->attempts)
        jsonw_member_int(w, "attempt", entry->attempts);
}

static void write_derived(struct jsonw *w, const struct steps *s, const struct position *at,
                          const struct entry *entry)
{
    jsonw_member_str(w, "name", entry->name);
    jsonw_member_str(w, "phase", shown_phase(s, entry));
    if (at->iteration != ITERATION_NONE) {
        jsonw_member_str(w, "step", s->spec->steps.items[at->step].name);
        jsonw_member_int(w, "iteration", at->iteration);
    }
    if (!entry->job) {
        write_attempts(w, entry);
        return;
    }
    jsonw_member_open_list(w, "jobs");
    jsonw_str(w, entry->job_name);
    jsonw_close_list(w);
    jsonw_member_int(w, "attempt", entry->attempts);
    jsonw_member_str_opt(w, "specHash",
                         meta_annotation(entry->job->meta, ANNOTATION_FLOW_SPEC_HASH));
}

static void write_item(struct steps *s, const struct position *at, const struct entry *entry)
{
    const struct flow_step *step = &s->spec->steps.items[at->step];
    struct jsonw *w = &s->w;

    jsonw_open(w);
    if (entry->node)
        write_members(w, entry->node, shown_phase(s, entry));
    if (entry->node && !json_object_get(entry->node, "attempt"))
        write_attempts(w, entry);
    if (!entry->node)
        write_derived(w, s, at, entry);
    if (!flow_step_is_switch(step) && !flow_step_is_inline(step))
        jsonw_member_str(w, "template", flow_step_template(step));
    jsonw_member_time_opt(w, "startTime", entry->started_ms);
    jsonw_member_time_opt(w, "endTime", entry->ended_ms);
    if (entry->ran_ms >= 0)
        jsonw_member_int(w, "runMilliseconds", entry->ran_ms);
    jsonw_close(w);
}

static void write_cell_age(struct jsonw *w, int64_t at_ms, int64_t until_ms)
{
    char text[TIME_TEXT_MAX];

    if (!at_ms) {
        jsonw_str(w, "");
        return;
    }
    duration_human(until_ms - at_ms, text);
    jsonw_str(w, text);
}

/* Writes how long the newest job ran or, before it is over, how long ago it was made. */
static void write_cell_duration(struct jsonw *w, const struct steps *s, const struct entry *entry)
{
    char text[TIME_TEXT_MAX];

    if (entry->ran_ms < 0) {
        write_cell_age(w, entry->started_ms, entry->ended_ms ? entry->ended_ms : s->now_ms);
        return;
    }
    duration_precise(entry->ran_ms, text);
    jsonw_str(w, text);
}

static void write_row(struct steps *s, const struct entry *entry)
{
    const char *reason = json_string_value(json_object_get(entry->node, "reason"));
    struct jsonw *w = &s->w;

    jsonw_open(w);
    jsonw_member_open_list(w, "cells");
    jsonw_str(w, entry->name);
    jsonw_str(w, shown_phase(s, entry));
    jsonw_int(w, entry->attempts);
    write_cell_age(w, entry->started_ms, s->now_ms);
    write_cell_duration(w, s, entry);
    jsonw_str(w, entry->job ? entry->job_name : "");
    jsonw_str(w, reason ? reason : "");
    jsonw_close_list(w);
    jsonw_close(w);
}

static void write_definitions(struct jsonw *w)
{
    static const struct {
        const char *name, *type;
        int priority;
    } columns[] = {{"Name", "string", 0},    {"Status", "string", 0},   {"Attempts", "integer", 0},
                   {"Started", "string", 0}, {"Duration", "string", 0}, {"Job", "string", 1},
                   {"Reason", "string", 1}};

    jsonw_member_open_list(w, "columnDefinitions");
    for (size_t i = 0; i < countof(columns); i++) {
        jsonw_open(w);
        jsonw_member_str(w, "name", columns[i].name);
        jsonw_member_str(w, "type", columns[i].type);
        jsonw_member_str(w, "format", i ? "" : "name");
        jsonw_member_str(w, "description", "");
        jsonw_member_int(w, "priority", columns[i].priority);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

static void write_steps(struct steps *s, uint32_t from, int64_t limit, uint32_t *out_next)
{
    scoped(buf) struct buf scratch = {0};
    struct position at;
    bool more = seek(s, from, &at);

    *out_next = 0;
    for (int64_t given = 0; more; more = advance(s, &at)) {
        struct entry entry;

        if (!describe_step(s, &at, &scratch, &entry))
            continue;
        if (given++ == limit) {
            *out_next = at.vertex;
            return;
        }
        if (s->as_table)
            write_row(s, &entry);
        else
            write_item(s, &at, &entry);
    }
}

/* Comes after the items, because the continue token depends on them. */
static void write_metadata(struct steps *s, uint32_t next)
{
    scoped(buf) struct buf after = {0}, token = {0}, revision = {0};

    buf_printf(&revision, "%lld", (long long)s->flow->revision);
    jsonw_member_open(&s->w, "metadata");
    jsonw_member_str(&s->w, "resourceVersion", revision.data);
    if (next) {
        buf_printf(&after, "%s/%u", object_uid(s->flow), next);
        continue_token_write(&(struct continue_token){s->flow->revision, after.data, next}, &token);
        jsonw_member_str(&s->w, "continue", token.data);
        jsonw_member_int(&s->w, "remainingItemCount", count_vertices(s) - next);
    }
    jsonw_close(&s->w);
}

static void write_list(struct steps *s, uint32_t from, int64_t limit, struct buf *out)
{
    uint32_t next;

    s->w = jsonw_to(out);
    jsonw_open(&s->w);
    jsonw_member_str(&s->w, "kind", s->as_table ? "Table" : "JobFlowStepList");
    jsonw_member_str(&s->w, "apiVersion",
                     s->as_table ? "meta.k8s.io/v1" : kind_api_version(&kind_job_flow));
    if (s->as_table)
        write_definitions(&s->w);
    jsonw_member_open_list(&s->w, s->as_table ? "rows" : "items");
    write_steps(s, from, limit, &next);
    jsonw_close_list(&s->w);
    write_metadata(s, next);
    jsonw_close(&s->w);
    buf_char(out, '\n');
}

/* Reads the vertex at which the page starts. GONE for the token of an earlier flow of this name. */
static bool take_token(const struct api_call *call, const struct object *flow, uint32_t *out,
                       struct error *err)
{
    const char *text = request_query(&call->target, "continue");
    size_t uid_len = strlen(object_uid(flow));
    scoped(buf) struct buf scratch = {0};
    struct continue_token token;
    char *end;
    unsigned long vertex;

    *out = 0;
    if (!text || !*text)
        return true;
    if (!continue_token_read(text, &scratch, &token, err))
        return false;
    if (strncmp(token.after, object_uid(flow), uid_len) != 0 || token.after[uid_len] != '/')
        return error_set(
            err, ERR_GONE, "",
            "The continue parameter belongs to another flow of this name: list its steps "
            "from the start");
    vertex = strtoul(token.after + uid_len + 1, &end, 10);
    if (*end || vertex >= UINT32_MAX)
        return error_set(err, ERR_BAD_REQUEST, "continue", "continue key is not valid");
    *out = (uint32_t)vertex;
    return true;
}

struct api_stream *verb_steps(const struct api_call *call)
{
    struct reply reply = {.status = 200};
    struct error err = {0};
    const struct object *flow = find_object(call, &err);
    struct steps steps;
    int64_t limit;
    uint32_t from;

    if (!flow)
        return reply_error(call, &err);
    if (!request_query_int(&call->target, "limit", 0, &limit, &err) ||
        !take_token(call, flow, &from, &err))
        return reply_option_error(call, "ListOptions", &err);
    if (limit == 0)
        limit = PAGE_DEFAULT;
    steps_init(&steps, call, flow);
    write_list(&steps, from, limit < PAGE_MAX ? limit : PAGE_MAX, &reply.body);
    steps_release(&steps);
    return reply_send(call, &reply, STREAM_DURABLE);
}
