/*
 * Finds the critical path. One pass in topological order finds which target each step waited for;
 * the chain is then followed backwards from the step that ended last.
 *
 * The order in which jobs ended is that of their revisions, because times are stored in seconds.
 */
#include "flow/model/critical_path.h"

#include "api/types/text/json_text.h"
#include "base/encoding/jsonscan.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"

struct path {
    const struct flow_model *m;
    const struct path_source *source;
    int64_t *ended;   /* revision at which each step ended, [steps]; 0: not ended */
    uint32_t *before; /* for each step the target that let it start, or STEP_NONE */
    uint32_t *steps;  /* the path, last step first, [count] */
    uint32_t count;
};

static int64_t job_ended(const struct step *step)
{
    return step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase)
               ? step->revision
               : 0;
}

/* A loop ends with the last of its iterations, a switch with the target that let it start. */
static int64_t step_ended(const struct path *p, uint32_t i)
{
    const struct flow_model *m = p->m;
    int64_t ended = 0;

    if (!m->steps[i].jobless)
        return job_ended(&m->steps[i]);
    if (m->steps[i].state != STEP_STARTED)
        return 0;
    if (!flow_graph_iterations(m->graph, i))
        return p->before[i] == STEP_NONE ? 0 : p->ended[p->before[i]];
    for (uint32_t k = 1; k <= flow_graph_iterations(m->graph, i); k++)
        ended = job_ended(&m->steps[i + k]) > ended ? job_ended(&m->steps[i + k]) : ended;
    return ended;
}

/* Takes `target` as the one that let `step` start, if it fits better than the one so far. */
static void consider(struct path *p, uint32_t step, uint32_t target)
{
    uint32_t best = p->before[step];
    int64_t than = best == STEP_NONE ? 0 : p->ended[best];
    bool any = flow_model_waits_for_any(p->m, step);

    if (p->ended[target] &&
        (best == STEP_NONE || (any ? p->ended[target] < than : p->ended[target] > than)))
        p->before[step] = target;
}

static void look_back(struct path *p)
{
    const struct dag *dag = flow_graph_order(p->m->graph);
    uint32_t steps = p->m->graph->steps;
    uint32_t *order = mem_array(steps + 1, sizeof *order);

    for (uint32_t i = 0; i < steps; i++)
        p->before[i] = STEP_NONE;
    dag_sort(dag, order);
    for (uint32_t k = 0; k < steps; k++) {
        uint32_t i = order[k];

        p->ended[i] = step_ended(p, i);
        for (uint32_t at = dag->first[i]; at < dag->first[i + 1]; at++)
            consider(p, dag->next[at], i);
    }
    mem_free(order);
}

enum among { ALL_STEPS, ORDINARY_STEPS };

/* Returns the step that ended last. An iteration counts as a part of its loop. */
static uint32_t last_to_end(const struct path *p, enum among among)
{
    uint32_t last = STEP_NONE;

    for (uint32_t i = 0; i < p->m->graph->steps; i++)
        if (!p->m->steps[i].is_iteration && p->ended[i] &&
            !(among == ORDINARY_STEPS && p->m->steps[i].final) &&
            (last == STEP_NONE || p->ended[i] > p->ended[last]))
            last = i;
    return last;
}

/* A final step without targets waits for all ordinary steps. */
static void look_back_from_finals(struct path *p)
{
    uint32_t last = last_to_end(p, ORDINARY_STEPS);

    for (uint32_t i = 0; i < p->m->graph->steps; i++)
        if (p->m->steps[i].final && !p->m->steps[i].is_iteration && p->before[i] == STEP_NONE)
            p->before[i] = last;
}

struct span {
    int64_t from_ms, to_ms; /* times in whole seconds; 0: not known */
    int64_t took_ms;        /* finer than their difference */
};

/* Reads when a job ended, and how long it ran, from the text of its status. A path may have as many
 * steps as the flow, and decoded statuses would stay in memory for the rest of the turn. */
static bool read_end(const struct object *job, int64_t *out_end_ms, int64_t *out_ran_ms)
{
    const char *status = job->status ? job->status->text : NULL;
    const char *state = status ? jsonscan_member(status, "state") : NULL;

    *out_ran_ms = status ? jsonscan_duration(jsonscan_member(status, "runningDuration")) : -1;
    return state && jsonscan_time(jsonscan_member(state, "lastTransitionTime"), out_end_ms);
}

static void add_job(const struct path *p, uint32_t i, struct span *span)
{
    const struct object *job =
        job_ended(&p->m->steps[i]) ? p->source->job(p->source->ctx, i) : NULL;
    int64_t to_ms, ran_ms;

    if (!job || !read_end(job, &to_ms, &ran_ms))
        return;
    to_ms = to_ms / 1000 * 1000; /* cut to whole seconds, like the creation time */
    if (!span->from_ms || job->meta->created_at_ms < span->from_ms)
        span->from_ms = job->meta->created_at_ms;
    if (to_ms > span->to_ms)
        span->to_ms = to_ms;
    span->took_ms = ran_ms;
}

static struct span span_of(const struct path *p, uint32_t i)
{
    uint32_t iterations = flow_graph_iterations(p->m->graph, i);
    struct span span = {.took_ms = -1};

    if (!p->m->steps[i].jobless)
        add_job(p, i, &span);
    for (uint32_t k = 1; k <= iterations; k++)
        add_job(p, i + k, &span);
    if (p->m->steps[i].jobless)
        span.took_ms = iterations ? p->source->loop_took(p->source->ctx, i) : 0;
    if (span.took_ms < 0)
        span.took_ms = span.to_ms > span.from_ms ? span.to_ms - span.from_ms : 0;
    return span;
}

/* Returns how long a step counts: until the next one of the path began. */
static int64_t counted_ms(const struct span *span, const struct span *next)
{
    int64_t until_next_ms = next->from_ms - span->from_ms;
    bool overlap = span->from_ms && next->from_ms && next->from_ms < span->to_ms;

    return overlap && until_next_ms < span->took_ms ? until_next_ms : span->took_ms;
}

/* Writes the path from the first step to the last. Steps between the two ends are not named; only
 * their time counts. */
static char *write_path(const struct path *p)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);
    struct span next = p->count ? span_of(p, p->steps[p->count - 1]) : (struct span){0};
    int64_t took_ms = 0;
    char took[TIME_TEXT_MAX];

    jsonw_open(&w);
    jsonw_member_int(&w, "steps", p->count);
    jsonw_member_open_list(&w, "ends");
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t step = p->steps[p->count - 1 - k];
        const struct span span = next;

        next = k + 1 < p->count ? span_of(p, p->steps[p->count - 2 - k]) : (struct span){0};
        took_ms += counted_ms(&span, &next);
        if (k >= PATH_END_MAX && k + PATH_END_MAX < p->count)
            continue;
        jsonw_open(&w);
        jsonw_member_str(&w, "name", flow_graph_name(p->m->graph, step));
        jsonw_member_time_opt(&w, "startTime", span.from_ms);
        jsonw_member_time_opt(&w, "endTime", span.to_ms);
        jsonw_close(&w);
    }
    jsonw_close_list(&w);
    if (p->source->flow_took_ms >= 0 && took_ms > p->source->flow_took_ms)
        took_ms = p->source->flow_took_ms; /* overlaps are known to the second only */
    duration_format(took_ms * 1000000, took);
    jsonw_member_str(&w, "duration", took);
    jsonw_close(&w);
    return buf_take(&text);
}

char *critical_path_text(const struct flow_model *m, const struct path_source *source)
{
    size_t room = (size_t)m->graph->steps + 1;
    struct path p = {.m = m,
                     .source = source,
                     .ended = mem_array(room, sizeof *p.ended),
                     .before = mem_array(room, sizeof *p.before),
                     .steps = mem_array(room, sizeof *p.steps)};
    char *text;

    look_back(&p);
    look_back_from_finals(&p);
    for (uint32_t i = last_to_end(&p, ALL_STEPS); i != STEP_NONE; i = p.before[i])
        p.steps[p.count++] = i;
    text = p.count ? write_path(&p) : NULL;
    mem_free(p.ended);
    mem_free(p.before);
    mem_free(p.steps);
    return text;
}

char *critical_path_stored(const json_t *status)
{
    const json_t *stored = json_object_get(status, "criticalPath");
    scoped(buf) struct buf text = {0};

    if (!stored)
        return NULL;
    json_text(stored, &text);
    return buf_take(&text);
}
