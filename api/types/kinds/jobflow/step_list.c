/*
 * The entry of a step comes from its entry in the status, else from its bit in status.results, else
 * from its job. Steps are numbered as in the status, with the iterations of a loop behind the loop.
 */
#include "api/types/kinds/jobflow/step_list.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "base/encoding/base64.h"
#include "base/mem.h"
#include "base/timefmt.h"

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

struct step_list {
    struct step_list_options options;
    const struct object *flow;
    const struct jobflow_spec *spec;
    json_t *status, *nodes; /* status of the flow; entries of its nodes by name */
    json_t *told;           /* entries of status.jobStatusList by step; see read_told */
    struct results results[RESULTS_N];
    struct jsonw *w; /* where the list goes while it is written */
};

/* A position in the walk over all steps and iterations. */
struct position {
    uint32_t vertex;    /* index among all steps and iterations */
    uint32_t step;      /* index in the spec */
    uint32_t iteration; /* index in the loop; ITERATION_NONE for the step itself */
};

/* A status that Volcano's own controller has written has no nodes. What it tells of a step counts
 * when the step's job is gone. */
static void read_told(struct step_list *s)
{
    size_t prefix = strlen(object_name(s->flow)), i;
    json_t *entry;

    s->told = json_object();
    if (json_object_get(s->status, "stepCounts"))
        return;
    json_array_foreach(json_object_get(s->status, "jobStatusList"), i, entry)
    {
        const char *job = json_string_value(json_object_get(entry, "name"));

        if (job && strncmp(job, object_name(s->flow), prefix) == 0 && job[prefix] == '-')
            json_object_set(s->told, job + prefix + 1, entry);
    }
}

struct step_list *step_list_new(const struct object *flow, const struct step_list_options *options)
{
    struct step_list *s = mem_alloc(sizeof *s);
    json_t *node;
    size_t i;

    *s = (struct step_list){.options = *options,
                            .flow = flow,
                            .spec = jobflow_spec_of(flow),
                            .status = flow->status ? object_status_json(flow) : NULL,
                            .nodes = json_object()};
    json_array_foreach(json_object_get(s->status, "nodes"), i, node)
    {
        const char *name = json_string_value(json_object_get(node, "name"));

        if (name)
            json_object_set(s->nodes, name, node);
    }
    read_told(s);
    for (size_t r = 0; r < RESULTS_N; r++) {
        const char *text = json_string_value(
            json_object_get(json_object_get(s->status, "results"), result_rows[r][0]));

        if (text)
            base64_decode(text, strlen(text), &s->results[r].bits);
        s->results[r].phase = result_rows[r][1];
    }
    return s;
}

void step_list_free(struct step_list *s)
{
    if (!s)
        return;
    json_decref(s->status);
    json_decref(s->nodes);
    json_decref(s->told);
    for (size_t r = 0; r < RESULTS_N; r++)
        buf_release(&s->results[r].bits);
    mem_free(s);
}

static const char *result_of(const struct step_list *s, uint32_t vertex)
{
    for (size_t r = 0; r < RESULTS_N; r++) {
        const struct buf *bits = &s->results[r].bits;

        if (vertex / 8 < bits->len && (unsigned char)bits->data[vertex / 8] >> vertex % 8 & 1)
            return s->results[r].phase;
    }
    return NULL;
}

/* Returns the number of iterations: a retry may have added some to those of the spec. */
static uint32_t iterations_of(const struct step_list *s, const struct flow_step *step)
{
    const json_t *node = step->loop ? json_object_get(s->nodes, step->name) : NULL;
    json_int_t given = json_integer_value(json_object_get(node, "iterations"));
    uint32_t own = step->loop ? flow_loop_iterations(step->loop) : 0;

    return given > own && given <= LOOP_ITERATIONS_MAX ? (uint32_t)given : own;
}

/* Moves to the next vertex; false at the end. */
static bool advance(const struct step_list *s, struct position *at)
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

uint32_t step_list_count(const struct step_list *s)
{
    uint32_t n = (uint32_t)s->spec->steps.count;

    for (size_t i = 0; i < s->spec->steps.count; i++)
        n += iterations_of(s, &s->spec->steps.items[i]);
    return n;
}

static bool seek(const struct step_list *s, uint32_t vertex, struct position *out)
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
    const json_t *told;       /* entry of the step that Volcano's controller writes; NULL: none */
    const json_t *node;       /* entry of the step in status.nodes; NULL: none */
    const struct object *job; /* the stored job of the step; NULL: there is none */
    unsigned attempts; /* number of jobs made for the step; for a loop, those of all iterations */
    int64_t started_ms, ended_ms; /* times of the newest job; of a loop, of its first and last job;
                                   * 0 = not yet */
    int64_t ran_ms; /* how long the newest job was Running, or the loop took; -1 = not known */
};

static const struct object *job_of(const struct step_list *s, const char *name)
{
    const struct object *job = s->options.find_job(s->options.ctx, name);
    const struct owner_ref *owner = job ? meta_controller(job->meta) : NULL;

    return owner && strcmp(owner->uid, object_uid(s->flow)) == 0 ? job : NULL;
}

/* Takes attempts and times of a step from its job or, when the job is gone, from the entry in the
 * status. */
static void take_job(const struct step_list *s, struct entry *entry)
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

static int64_t time_of(const json_t *entry, const char *member)
{
    const char *text = json_string_value(json_object_get(entry, member));
    int64_t ms = 0;

    return text && time_parse(text, &ms, NULL) ? ms : 0;
}

/* Takes what Volcano's controller tells of a step whose job is gone. */
static void take_told(struct entry *entry)
{
    const char *state = json_string_value(json_object_get(entry->told, "state"));

    if (!state || !*state || entry->job || entry->phase)
        return;
    entry->phase = state;
    entry->attempts = 1;
    entry->started_ms = time_of(entry->told, "startTimestamp");
    entry->ended_ms = time_of(entry->told, "endTimestamp");
}

/* A loop has no job: it begins with the first of its iterations and ends with the last. */
static void take_iterations(const struct step_list *s, const struct flow_step *loop,
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
static bool describe_step(const struct step_list *s, const struct position *at, struct buf *scratch,
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
    out->told = json_object_get(s->told, out->name);
    out->job = job_of(s, out->job_name);
    take_job(s, out);
    out->phase = json_string_value(json_object_get(out->node, "phase"));
    if (!out->phase)
        out->phase = result;
    if (!out->phase && out->job)
        out->phase = job_phase_text(job_status_of(out->job)->phase);
    take_told(out);
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
static const char *shown_phase(const struct step_list *s, const struct entry *entry)
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

static void write_derived(struct jsonw *w, const struct step_list *s, const struct position *at,
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

static void write_item(struct step_list *s, const struct position *at, const struct entry *entry)
{
    const struct flow_step *step = &s->spec->steps.items[at->step];
    struct jsonw *w = s->w;

    jsonw_open(w);
    if (entry->node)
        write_members(w, entry->node, shown_phase(s, entry));
    if (entry->node && !json_object_get(entry->node, "attempt"))
        write_attempts(w, entry);
    if (!entry->node)
        write_derived(w, s, at, entry);
    if (flow_step_has_named_template(step))
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
static void write_cell_duration(struct jsonw *w, const struct step_list *s,
                                const struct entry *entry)
{
    char text[TIME_TEXT_MAX];

    if (entry->ran_ms < 0) {
        write_cell_age(w, entry->started_ms, entry->ended_ms ? entry->ended_ms : s->options.now_ms);
        return;
    }
    duration_precise(entry->ran_ms, text);
    jsonw_str(w, text);
}

static void write_row(struct step_list *s, const struct entry *entry)
{
    const char *reason = json_string_value(json_object_get(entry->node, "reason"));
    struct jsonw *w = s->w;

    jsonw_open(w);
    jsonw_member_open_list(w, "cells");
    jsonw_str(w, entry->name);
    jsonw_str(w, shown_phase(s, entry));
    jsonw_int(w, entry->attempts);
    write_cell_age(w, entry->started_ms, s->options.now_ms);
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

/* Writes entries from a position on. Returns the position of the next one; 0 after the last. */
static uint32_t write_entries(struct step_list *s, uint32_t from, int64_t limit)
{
    scoped(buf) struct buf scratch = {0};
    struct position at;
    bool more = seek(s, from, &at);

    for (int64_t given = 0; more; more = advance(s, &at)) {
        struct entry entry;

        if (!describe_step(s, &at, &scratch, &entry))
            continue;
        if (given++ == limit)
            return at.vertex;
        if (s->options.as_table)
            write_row(s, &entry);
        else
            write_item(s, &at, &entry);
    }
    return 0;
}

uint32_t step_list_write(struct step_list *s, uint32_t from, int64_t limit, struct jsonw *w)
{
    bool as_table = s->options.as_table;
    uint32_t next;

    s->w = w;
    jsonw_member_str(w, "kind", as_table ? "Table" : "JobFlowStepList");
    jsonw_member_str(w, "apiVersion",
                     as_table ? "meta.k8s.io/v1" : kind_api_version(&kind_job_flow));
    if (as_table)
        write_definitions(w);
    jsonw_member_open_list(w, as_table ? "rows" : "items");
    next = write_entries(s, from, limit);
    jsonw_close_list(w);
    return next;
}

/* Chapter: single states. */

uint32_t step_list_iterations(const struct step_list *s, uint32_t step)
{
    return iterations_of(s, &s->spec->steps.items[step]);
}

/* Returns since when the job is Running, or from when it was; 0: not known. */
static int64_t run_of(const struct entry *entry)
{
    const struct job_status *status = entry->job ? job_status_of(entry->job) : NULL;
    size_t n = status ? status->conditions.count : 0;

    if (entry->ended_ms)
        return entry->ran_ms >= 0 ? entry->ended_ms - entry->ran_ms : 0;
    while (n-- > 0)
        if (status->conditions.items[n].phase == JOB_RUNNING)
            return status->conditions.items[n].at_ms;
    return 0;
}

/* Takes the times of the newest attempt of a step whose job is gone. */
static void take_attempt_times(const json_t *attempt, struct step_state *out)
{
    out->made_ms = time_of(attempt, "startTime");
    out->run_ms = time_of(attempt, "runningTime");
    out->ended_ms = time_of(attempt, "endTime");
}

bool step_list_state(const struct step_list *s, uint32_t vertex, uint32_t step, uint32_t iteration,
                     struct step_state *out)
{
    const struct position at = {vertex, step, iteration};
    scoped(buf) struct buf scratch = {0};
    const json_t *attempts, *newest;
    struct entry entry;

    *out = (struct step_state){0};
    if (!describe_step(s, &at, &scratch, &entry))
        return false;
    attempts = json_object_get(entry.node, "attempts");
    newest = json_array_get(attempts, json_array_size(attempts) - 1);
    out->phase =
        json_object_get(entry.node, "cachedFrom") ? STEP_CACHED_TEXT : shown_phase(s, &entry);
    out->reason = json_string_value(json_object_get(entry.node, "reason"));
    out->message = json_string_value(json_object_get(entry.node, "message"));
    out->attempts = entry.attempts;
    out->restarts = (uint32_t)json_integer_value(json_object_get(newest, "restarts"));
    out->made_ms = entry.started_ms;
    out->ended_ms = entry.ended_ms;
    out->run_ms = run_of(&entry);
    if (!entry.job && newest)
        take_attempt_times(newest, out);
    return true;
}

/* Compares the entries of the nodes of one version with those of the other. */
static void compare_nodes(const struct step_list *from, const struct step_list *with,
                          void (*named)(void *ctx, const char *name), void *ctx)
{
    const char *name;
    json_t *node;

    json_object_foreach(from->nodes, name, node)
    {
        if (!json_equal(node, json_object_get(with->nodes, name)))
            named(ctx, name);
    }
}

static unsigned char byte_at(const struct buf *bits, size_t i)
{
    return i < bits->len ? (unsigned char)bits->data[i] : 0;
}

void step_list_compare(const struct step_list *old, const struct step_list *now,
                       void (*named)(void *ctx, const char *name),
                       void (*at)(void *ctx, uint32_t vertex), void *ctx)
{
    bool all = jobflow_phase_of(old->flow) != jobflow_phase_of(now->flow) ||
               json_object_size(old->told) || json_object_size(now->told);

    for (uint32_t i = 0, n = all ? step_list_count(now) : 0; i < n; i++)
        at(ctx, i);
    compare_nodes(old, now, named, ctx);
    compare_nodes(now, old, named, ctx);
    for (size_t r = 0; r < RESULTS_N && !all; r++) {
        const struct buf *a = &old->results[r].bits, *b = &now->results[r].bits;

        for (size_t i = 0; i < a->len || i < b->len; i++) {
            unsigned char differ = byte_at(a, i) ^ byte_at(b, i);

            for (uint32_t bit = 0; differ >> bit; bit++)
                if (differ >> bit & 1)
                    at(ctx, (uint32_t)i * 8 + bit);
        }
    }
}
