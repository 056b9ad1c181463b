/*
 * Durations, expected times and the critical path.
 *
 * One pass in topological order gives each step its earliest end: a step that is over ended when it
 * did; one at work ends when its estimate says, but not in the past; one that waits begins with the
 * last of its targets (under `any` the first), a final step with the last of all others. Walking
 * back from the last end along the target that let each step begin gives the path.
 *
 * Stored times are whole seconds, too coarse to tell which of two targets ended last. So of a flow
 * that is over the path is read from its status (flow/model/critical_path), where the engine, which
 * saw the order, has written it.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "view/flow_view.h"

enum { UNKNOWN_MS = 1000 }; /* the duration that a step of unknown duration counts for */

static bool duration_ms(const json_t *value, int64_t *out)
{
    int64_t ns;

    if (!json_is_string(value) || !duration_parse(json_string_value(value), &ns, NULL) || ns < 0)
        return false;
    *out = ns / 1000000;
    return true;
}

/* Returns how many jobs of a loop run one after the other; 1 for a step without a loop. */
static int64_t rounds(const struct flow_view_step *step)
{
    const json_t *loop = step->loops ? json_object_get(flow_view_step_spec(step), "for") : NULL;
    int64_t at_once = json_integer_value(json_object_get(loop, "parallelism"));
    int64_t jobs = at_once > 0 ? flow_view_step_iterations(step) : 0;

    return jobs ? (jobs - 1) / at_once + 1 : 1;
}

/* The expected duration of jobs of one template. */
struct guess {
    UT_hash_handle hh;
    int64_t said_ms;       /* runningEstimate of the template; -1: none */
    int64_t sum_ms, count; /* sum and number of the durations of past jobs */
    char template[];
};

struct guesses {
    struct guess *by_template;
    struct guess *newest; /* the template of the last step, which the next often has too */
    const json_t *templates;
};

static struct guess *guess_of(struct guesses *guesses, const char *template)
{
    size_t len = strlen(template);
    struct guess *guess = guesses->newest;

    if (guess && strcmp(guess->template, template) == 0)
        return guess;
    HASH_FIND(hh, guesses->by_template, template, len, guess);
    if (!guess) {
        const json_t *known = json_object_get(guesses->templates, template);

        guess = mem_alloc(sizeof *guess + len + 1);
        memcpy(guess->template, template, len + 1);
        if (!duration_ms(doc_at(known, "spec.runningEstimate"), &guess->said_ms))
            guess->said_ms = -1;
        HASH_ADD_KEYPTR(hh, guesses->by_template, guess->template, len, guess);
    }
    guesses->newest = guess;
    return guess;
}

static void guesses_free(struct guesses *guesses)
{
    struct guess *guess, *next;

    HASH_ITER(hh, guesses->by_template, guess, next)
    {
        HASH_DEL(guesses->by_template, guess);
        mem_free(guess);
    }
}

static void add_sample(struct guesses *guesses, const char *template, int64_t ms)
{
    struct guess *guess = guess_of(guesses, template);

    guess->sum_ms += ms;
    guess->count++;
}

static void add_past(struct guesses *guesses, const json_t *past)
{
    const char *template;
    json_t *samples, *sample;
    size_t k;

    json_object_foreach((json_t *)(size_t)past, template, samples)
    {
        json_array_foreach(samples, k, sample)
            add_sample(guesses, template, json_integer_value(sample));
    }
}

static void add_attempts(struct guesses *guesses, const struct flow_view_step *step)
{
    size_t i;
    json_t *attempt;

    json_array_foreach(json_object_get(step->node, "attempts"), i, attempt)
    {
        const char *phase = doc_text(attempt, "phase");
        int64_t from = doc_time_ms(attempt, "startTime");
        int64_t to = doc_time_ms(attempt, "endTime");

        if (phase && strcmp(phase, "Completed") == 0 && from && to >= from)
            add_sample(guesses, step->template, to - from);
    }
}

static bool own_estimate(const struct flow_view_step *step, int64_t *out_ms)
{
    const json_t *patch =
        step->estimate ? json_object_get(flow_view_step_spec(step), "patch") : NULL;

    return duration_ms(doc_at(patch, "spec.runningEstimate"), out_ms) ||
           duration_ms(doc_at(patch, "jobSpec.runningEstimate"), out_ms);
}

static void estimate_step(struct guesses *guesses, struct flow_view_step *step)
{
    const struct guess *guess = guess_of(guesses, step->template);
    int64_t ms = guess->said_ms;

    if (own_estimate(step, &ms) || ms >= 0) {
        step->estimated = (uint8_t)ESTIMATE_SPEC;
    } else if (guess->count) {
        ms = guess->sum_ms / guess->count;
        step->estimated = (uint8_t)ESTIMATE_PAST;
    } else {
        return;
    }
    step->estimate_ms = ms * rounds(step);
}

void flow_view_estimate(struct flow_view *view, const json_t *templates, const json_t *past)
{
    struct guesses guesses = {.templates = templates};

    add_past(&guesses, past);
    for (uint32_t i = 0; i < view->n_steps; i++)
        if (view->steps[i].template && view->steps[i].node)
            add_attempts(&guesses, &view->steps[i]);
    for (uint32_t i = 0; i < view->n_steps; i++)
        if (view->steps[i].template)
            estimate_step(&guesses, &view->steps[i]);
    guesses_free(&guesses);
}

struct reach {
    int64_t start_ms, end_ms;
    uint32_t from; /* the step after which it can begin; UINT32_MAX: none */
    bool known;    /* whether both times follow from known durations */
};

struct expecting {
    struct flow_view *view;
    struct reach *reach; /* what is known of each step, [n_steps] */
    uint32_t last;       /* the step that ends last of all that are not final; UINT32_MAX: none */
    int64_t now_ms;
};

/* Returns the step after which another can begin. Under `all` this is the target that ends last,
 * under `any` the one that ends first, and for a final step the last of all steps that are not
 * final. */
static uint32_t releasing(const struct expecting *e, uint32_t step)
{
    const struct dag *targets = &e->view->targets;
    bool any = e->view->steps[step].any;
    uint32_t best = UINT32_MAX;

    for (uint32_t t = targets->first[step]; t < targets->first[step + 1]; t++) {
        uint32_t at = targets->next[t];
        int64_t end = e->reach[at].end_ms;

        if (best == UINT32_MAX || (any ? end < e->reach[best].end_ms : end > e->reach[best].end_ms))
            best = at;
    }
    return best == UINT32_MAX && e->view->steps[step].final ? e->last : best;
}

static void reach_step(const struct expecting *e, uint32_t i)
{
    const struct flow_view_step *step = &e->view->steps[i];
    struct reach *r = &e->reach[i];
    bool has_estimate = step->estimated != ESTIMATE_NONE || !step->template;
    int64_t estimate = step->estimated != ESTIMATE_NONE ? step->estimate_ms
                       : step->template                 ? UNKNOWN_MS
                                                        : 0;

    r->from = releasing(e, i);
    r->known = r->from == UINT32_MAX || e->reach[r->from].known;
    r->start_ms = r->from == UINT32_MAX ? e->now_ms : e->reach[r->from].end_ms;
    if (flow_view_step_over(step)) {
        r->known = true;
        if (step->created_ms)
            r->start_ms = step->created_ms;
        r->end_ms = step->ended_ms ? step->ended_ms : r->start_ms;
        return;
    }
    if (flow_view_step_active(step) && step->created_ms) {
        r->known = true;
        r->start_ms = step->created_ms;
    } else if (r->start_ms < e->now_ms) {
        r->start_ms = e->now_ms;
    }
    r->known &= has_estimate;
    r->end_ms = r->start_ms + estimate;
    if (r->end_ms < e->now_ms)
        r->end_ms = e->now_ms;
}

/* Returns whether the step may be the last one on the critical path. In a flow that is over, a step
 * that never ran cannot be. */
static bool may_be_last(const struct flow_view *view, const struct flow_view_step *step)
{
    return step->ended_ms || !flow_view_is_over(view);
}

/* Final steps are handled after all others, because they can begin only when the last of those has
 * ended. */
static void reach_all(struct expecting *e)
{
    const struct flow_view *view = e->view;
    uint32_t last;

    e->last = last = UINT32_MAX;
    for (int final = 0; final < 2; final++) {
        for (uint32_t k = 0; k < view->n_steps; k++) {
            uint32_t i = view->order[k];

            if (view->steps[i].final != (final == 1))
                continue;
            reach_step(e, i);
            if (may_be_last(view, &view->steps[i]) &&
                (last == UINT32_MAX || e->reach[i].end_ms >= e->reach[last].end_ms))
                last = i;
        }
        if (final == 0)
            e->last = last;
    }
    e->last = last;
}

/* Returns whether a step of a large flow is over but the status does not say when it ended. */
static bool has_no_times(const struct flow_view_step *step)
{
    return flow_view_step_over(step) && !step->node && !step->ended_ms &&
           step->state != VIEW_SKIPPED;
}

/* Returns how long a finished step took; 0 when that is not known. */
static int64_t took_ms(const struct flow_view_step *step)
{
    int64_t ms = flow_view_step_ms(step, 0);

    return ms > 0 ? ms : 0;
}

static void reverse(uint32_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t swapped = items[i];

        items[i] = items[count - 1 - i];
        items[count - 1 - i] = swapped;
    }
}

/* Returns how long a step counts that takes `ms`: if the next one of the path begins before its
 * end, because of a probe, until then. */
static int64_t counted_ms(const struct reach *step, int64_t ms, int64_t next_ms)
{
    int64_t until_next_ms = next_ms > step->start_ms ? next_ms - step->start_ms : 0;

    return next_ms < step->end_ms && until_next_ms < ms ? until_next_ms : ms;
}

/* Finds the path backwards from the step that ends last. e->last is the last of all steps. */
static void find_path(struct expecting *e)
{
    struct flow_view *view = e->view;
    uint32_t count = 0;
    int64_t next_ms = INT64_MAX; /* time at which the step behind it begins */

    view->path = mem_array((size_t)view->n_steps + 1, sizeof *view->path);
    view->path_known = true;
    for (uint32_t i = e->last; i != UINT32_MAX; i = e->reach[i].from) {
        struct flow_view_step *step = &view->steps[i];
        const struct reach *r = &e->reach[i];
        bool over = flow_view_step_over(step);

        view->path_cut = has_no_times(step);
        if (view->path_cut)
            break;
        view->path[count++] = i;
        view->path_ms += counted_ms(r, over ? took_ms(step) : r->end_ms - r->start_ms, next_ms);
        next_ms = r->start_ms;
        view->path_known &= over || step->estimated != ESTIMATE_NONE || !step->template;
    }
    reverse(view->path, count);
    for (uint32_t i = 0; i < count; i++)
        view->steps[view->path[i]].path_place = i + 1;
    view->path_len = view->path_listed = count;
}

bool flow_view_take_path(struct flow_view *view)
{
    const json_t *told = json_object_get(view->status, "criticalPath");
    const json_t *ends = json_object_get(told, "ends");
    int64_t ms = doc_duration_ms(told, "duration");
    size_t i;
    json_t *end;

    if (view->path)
        return true;
    if (!flow_view_is_over(view) || !json_array_size(ends))
        return false;
    view->path = mem_array(json_array_size(ends), sizeof *view->path);
    json_array_foreach(ends, i, end)
    {
        uint32_t at = flow_view_find(view, doc_text(end, "name"));

        if (at == UINT32_MAX)
            continue; /* the path names a step that the spec no longer has */
        view->path[view->path_listed++] = at;
        view->steps[at].path_place = view->path_listed;
    }
    view->path_len = (uint32_t)json_integer_value(json_object_get(told, "steps"));
    view->path_known = ms >= 0;
    view->path_ms = ms >= 0 ? ms : 0;
    return true;
}

void flow_view_extend_path(struct flow_view *view, const uint32_t *steps, uint32_t count,
                           bool whole)
{
    uint32_t *path = mem_array((size_t)view->path_listed + count + 1, sizeof *path);

    for (uint32_t i = 0; i < count; i++) {
        path[count - 1 - i] = steps[i];
        view->path_ms += took_ms(&view->steps[steps[i]]);
    }
    memcpy(path + count, view->path, view->path_listed * sizeof *path);
    mem_free(view->path);
    view->path = path;
    view->path_listed += count;
    view->path_len += count;
    view->path_cut = !whole;
    for (uint32_t i = 0; i < view->path_listed; i++)
        view->steps[path[i]].path_place = i + 1;
}

bool flow_view_edge_is_critical(const struct flow_view *view, uint32_t from, uint32_t to)
{
    uint32_t place = view->steps[from].path_place;

    return place && view->steps[to].path_place == place + 1;
}

bool flow_view_step_critical(const struct flow_view_step *step)
{
    return step->path_place && step->flow->path_len > 1;
}

void flow_view_expect(struct flow_view *view, int64_t now_ms)
{
    bool over = flow_view_is_over(view);
    struct expecting e = {.view = view,
                          .reach = mem_array_wide((size_t)view->n_steps + 1, sizeof *e.reach),
                          .now_ms = now_ms};

    reach_all(&e);
    for (uint32_t i = 0; i < view->n_steps; i++) {
        struct flow_view_step *step = &view->steps[i];
        bool never = over && !flow_view_step_over(step) && !flow_view_step_active(step);
        uint32_t from = e.reach[i].from;
        bool start_known = step->created_ms || from == UINT32_MAX || e.reach[from].known;

        step->expected_start_ms = start_known && !never ? e.reach[i].start_ms : -1;
        step->expected_end_ms = e.reach[i].known && !never ? e.reach[i].end_ms : -1;
    }
    if (!flow_view_take_path(view))
        find_path(&e);
    mem_free(e.reach);
}
