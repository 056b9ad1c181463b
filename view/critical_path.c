/*
 * Durations, expected times and the critical path.
 *
 * One pass in topological order gives each step its earliest end: what has ended ended when it did,
 * what runs ends when its estimate says but not in the past, what waits begins with the last of its
 * targets (under `any` the first). Walking back from the last end along the target each step waited
 * for gives the path.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "view/flow_view.h"

enum { UNKNOWN_MS = 1000 }; /* what a step of unknown duration counts */

static bool duration_ms(const json_t *value, int64_t *out)
{
    int64_t ns;

    if (!json_is_string(value) || !duration_parse(json_string_value(value), &ns, NULL) || ns < 0)
        return false;
    *out = ns / 1000000;
    return true;
}

/* How often the job of a step runs one after the other. */
static int64_t rounds(const struct flowview_step *step)
{
    const json_t *loop = step->loops ? json_object_get(flowview_step_spec(step), "for") : NULL;
    int64_t at_once = json_integer_value(json_object_get(loop, "parallelism"));
    int64_t jobs = at_once > 0 ? flowview_step_iterations(step) : 0;

    return jobs ? (jobs - 1) / at_once + 1 : 1;
}

/* ---- estimates ---- */

/* What jobs of one template take: as it says, or as they did. */
struct guess {
    UT_hash_handle hh;
    int64_t said_ms; /* -1: it does not */
    int64_t sum_ms, count;
    char template_[];
};

struct guesses {
    struct guess *by_template;
    struct guess *newest; /* steps of one template often stand together */
    const json_t *templates;
};

static struct guess *guess_of(struct guesses *guesses, const char *template_)
{
    size_t len = strlen(template_);
    struct guess *guess = guesses->newest;

    if (guess && strcmp(guess->template_, template_) == 0)
        return guess;
    HASH_FIND(hh, guesses->by_template, template_, len, guess);
    if (!guess) {
        const json_t *known = json_object_get(guesses->templates, template_);

        guess = mem_alloc(sizeof *guess + len + 1);
        memcpy(guess->template_, template_, len + 1);
        if (!duration_ms(doc_at(known, "spec.runningEstimate"), &guess->said_ms))
            guess->said_ms = -1;
        HASH_ADD_KEYPTR(hh, guesses->by_template, guess->template_, len, guess);
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

static void add_sample(struct guesses *guesses, const char *template_, int64_t ms)
{
    struct guess *guess = guess_of(guesses, template_);

    guess->sum_ms += ms;
    guess->count++;
}

static void add_past(struct guesses *guesses, const json_t *past)
{
    const char *template_;
    json_t *samples, *sample;
    size_t k;

    json_object_foreach((json_t *)(size_t)past, template_, samples)
    {
        json_array_foreach(samples, k, sample)
            add_sample(guesses, template_, json_integer_value(sample));
    }
}

static void add_attempts(struct guesses *guesses, const struct flowview_step *step)
{
    size_t i;
    json_t *attempt;

    json_array_foreach(json_object_get(step->node, "attempts"), i, attempt)
    {
        const char *phase = doc_text(attempt, "phase");
        int64_t from = doc_time_ms(attempt, "startTime");
        int64_t to = doc_time_ms(attempt, "endTime");

        if (phase && strcmp(phase, "Completed") == 0 && from && to >= from)
            add_sample(guesses, step->template_, to - from);
    }
}

static bool own_estimate(const struct flowview_step *step, int64_t *out_ms)
{
    const json_t *patch =
        step->estimate ? json_object_get(flowview_step_spec(step), "patch") : NULL;

    return duration_ms(doc_at(patch, "spec.runningEstimate"), out_ms) ||
           duration_ms(doc_at(patch, "jobSpec.runningEstimate"), out_ms);
}

static void estimate_step(struct guesses *guesses, struct flowview_step *step)
{
    const struct guess *guess = guess_of(guesses, step->template_);
    int64_t ms = guess->said_ms;

    if (own_estimate(step, &ms) || ms >= 0) {
        step->estimated = ESTIMATE_SPEC;
    } else if (guess->count) {
        ms = guess->sum_ms / guess->count;
        step->estimated = ESTIMATE_PAST;
    } else {
        return;
    }
    step->estimate_ms = ms * rounds(step);
}

void flowview_estimate(struct flowview *view, const json_t *templates, const json_t *past)
{
    struct guesses guesses = {.templates = templates};

    add_past(&guesses, past);
    for (uint32_t i = 0; i < view->n_steps; i++)
        if (view->steps[i].template_ && view->steps[i].node)
            add_attempts(&guesses, &view->steps[i]);
    for (uint32_t i = 0; i < view->n_steps; i++)
        if (view->steps[i].template_)
            estimate_step(&guesses, &view->steps[i]);
    guesses_free(&guesses);
}

/* ---- expected times ---- */

struct reach {
    int64_t start_ms, end_ms;
    uint32_t from; /* the target it waits for longest; UINT32_MAX */
    bool known;
};

struct expecting {
    struct flowview *view;
    struct reach *reach; /* [n_steps] */
    int64_t now_ms;
};

/* The target that lets a step begin: the last under `all`, the first under `any`. */
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
    return best;
}

static void reach_step(const struct expecting *e, uint32_t i)
{
    const struct flowview_step *step = &e->view->steps[i];
    struct reach *r = &e->reach[i];
    bool has_estimate = step->estimated != ESTIMATE_NONE || !step->template_;
    int64_t estimate = step->estimated != ESTIMATE_NONE ? step->estimate_ms
                       : step->template_                ? UNKNOWN_MS
                                                        : 0;

    r->from = releasing(e, i);
    r->known = r->from == UINT32_MAX || e->reach[r->from].known;
    r->start_ms = r->from == UINT32_MAX ? e->now_ms : e->reach[r->from].end_ms;
    if (step->settled) { /* whatever came before is past */
        r->known = true;
        if (step->began_ms)
            r->start_ms = step->began_ms;
        r->end_ms = step->ended_ms ? step->ended_ms : r->start_ms;
        return;
    }
    if (step->running && step->began_ms) {
        r->known = true;
        r->start_ms = step->began_ms;
    } else if (r->start_ms < e->now_ms) {
        r->start_ms = e->now_ms;
    }
    r->known &= has_estimate;
    r->end_ms = r->start_ms + estimate;
    if (r->end_ms < e->now_ms)
        r->end_ms = e->now_ms;
}

/* The step that ends last; of a flow that is over only what has ended counts. */
static uint32_t last_to_end(const struct expecting *e)
{
    const struct flowview *view = e->view;
    bool over = flowview_is_over(view);
    uint32_t last = UINT32_MAX;

    for (uint32_t k = 0; k < view->n_steps; k++) {
        uint32_t i = view->order[k];

        if (over && !view->steps[i].ended_ms)
            continue;
        if (last == UINT32_MAX || e->reach[i].end_ms >= e->reach[last].end_ms)
            last = i;
    }
    return last;
}

/* One of a large flow that has ended, but when is not known. */
static bool tells_no_time(const struct flowview_step *step)
{
    return step->settled && !step->node && !step->ended_ms && strcmp(step->phase, "Skipped") != 0;
}

static void mark_path(struct expecting *e)
{
    struct flowview *view = e->view;
    uint32_t count = 0;

    view->path = mem_array((size_t)view->n_steps + 1, sizeof *view->path);
    view->path_known = true;
    for (uint32_t i = last_to_end(e); i != UINT32_MAX; i = e->reach[i].from) {
        struct flowview_step *step = &view->steps[i];

        view->path_cut = tells_no_time(step);
        if (view->path_cut)
            break;
        view->path[count++] = i;
        view->path_ms += e->reach[i].end_ms - e->reach[i].start_ms;
        view->path_known &= step->settled || step->estimated != ESTIMATE_NONE || !step->template_;
    }
    for (uint32_t i = 0; i < count / 2; i++) { /* found backwards */
        uint32_t swapped = view->path[i];

        view->path[i] = view->path[count - 1 - i];
        view->path[count - 1 - i] = swapped;
    }
    for (uint32_t i = 0; i < count; i++)
        view->steps[view->path[i]].path_place = i + 1;
    view->path_len = view->path_listed = count;
}

void flowview_path_before(struct flowview *view, const uint32_t *steps, uint32_t count, bool whole)
{
    uint32_t *path = mem_array((size_t)view->path_listed + count + 1, sizeof *path);

    for (uint32_t i = 0; i < count; i++) {
        const struct flowview_step *step = &view->steps[steps[i]];

        path[count - 1 - i] = steps[i];
        view->path_ms += step->ended_ms - step->began_ms;
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

bool flowview_path_goes(const struct flowview *view, uint32_t from, uint32_t to)
{
    uint32_t place = view->steps[from].path_place;

    return place && view->steps[to].path_place == place + 1;
}

void flowview_expect(struct flowview *view, int64_t now_ms)
{
    bool over = flowview_is_over(view);
    struct expecting e = {.view = view,
                          .reach = mem_array_wide((size_t)view->n_steps + 1, sizeof *e.reach),
                          .now_ms = now_ms};

    for (uint32_t k = 0; k < view->n_steps; k++)
        reach_step(&e, view->order[k]);
    for (uint32_t i = 0; i < view->n_steps; i++) {
        struct flowview_step *step = &view->steps[i];
        bool never = over && !step->settled && !step->running;
        uint32_t from = e.reach[i].from;
        bool start_known = step->began_ms || from == UINT32_MAX || e.reach[from].known;

        step->expected_start_ms = start_known && !never ? e.reach[i].start_ms : -1;
        step->expected_end_ms = e.reach[i].known && !never ? e.reach[i].end_ms : -1;
    }
    mark_path(&e);
    mem_free(e.reach);
}
