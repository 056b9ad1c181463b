/*
 * What the status of a flow says of the flow and of its steps.
 *
 * Up to a certain size every step has an entry among its nodes. In the status of a larger flow only
 * the unusual steps have one; how the others ended, and where those are that are at work, stands in
 * bitmaps with a bit for each step, a loop's iterations behind the loop (DC-05).
 */
#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "flow/graph/step_bitmap.h"
#include "view/internal.h"

/* Reads the attempts and the times of the newest one, which are stored in whole seconds. */
static void take_attempts(struct flow_view_step *step, const json_t *node)
{
    const json_t *attempts = json_object_get(node, "attempts");
    size_t n = json_array_size(attempts);
    const json_t *newest = n ? json_array_get(attempts, n - 1) : NULL;

    step->attempts = (int32_t)json_integer_value(json_object_get(node, "attempt"));
    step->restarts = (int32_t)json_integer_value(json_object_get(newest, "restarts"));
    step->created_ms = doc_time_ms(newest, "startTime");
    step->ended_ms = doc_time_ms(newest, "endTime");
}

/* Takes the reason of a step from its entry in the status; `node` NULL = it has none. */
static void take_reason(struct flow_view_step *step, const json_t *node)
{
    step->reason = doc_text(node, "reason");
    step->message = doc_text(node, "message");
}

static void take_node(struct flow_view_step *step, const json_t *node)
{
    const char *phase = doc_text(node, "phase");

    step->node = node;
    if (phase)
        flow_view_set_state(step, view_state_parse(phase));
    take_reason(step, node);
    take_attempts(step, node);
    step->ran_ms = doc_duration_ms(node, "duration");
}

/* Adds an iteration to its loop. A loop begins with its first iteration, ends with its last, and
 * has the attempts of all. */
static void take_iteration(struct flow_view_step *loop, const struct flow_view_step *iteration)
{
    int64_t began_ms = iteration->created_ms;

    if (began_ms && (!loop->created_ms || began_ms < loop->created_ms))
        loop->created_ms = began_ms;
    if (flow_view_step_over(loop) && iteration->ended_ms > loop->ended_ms)
        loop->ended_ms = iteration->ended_ms;
    loop->attempts += iteration->attempts;
}

/* Counts an iteration by its state, or takes it back. */
static void count_iteration(struct flow_view_step *loop, enum view_state state, uint32_t by)
{
    const struct flow_view_step iteration = {.state = (uint8_t)state};

    if (flow_view_step_over(&iteration) && state != VIEW_SKIPPED)
        loop->iterations_over += by;
    if (flow_view_step_active(&iteration))
        loop->iterations_active += by;
}

/* Reads the entries of status.nodes. The entries of iterations follow the entry of their loop. */
static void take_nodes(struct flow_view *view, const json_t *nodes)
{
    size_t i;
    json_t *node;

    json_array_foreach(nodes, i, node)
    {
        uint32_t step = flow_view_find(view, doc_text(node, "name"));
        uint32_t loop = flow_view_find(view, doc_text(node, "step"));
        struct flow_view_step iteration = {0};

        if (step != UINT32_MAX) {
            take_node(&view->steps[step], node);
        } else if (loop != UINT32_MAX) {
            const char *phase = doc_text(node, "phase");

            take_attempts(&iteration, node);
            take_iteration(&view->steps[loop], &iteration);
            count_iteration(&view->steps[loop], phase ? view_state_parse(phase) : VIEW_WAITING, 1);
            view->steps[loop].iterations_listed++;
        }
    }
}

/* Returns the step of a job, or NULL. The name of the job is the flow's name, a dash and the step's
 * name. */
static struct flow_view_step *step_of_job(const struct flow_view *view, const char *job)
{
    size_t prefix = strlen(view->name);
    uint32_t at = UINT32_MAX;

    if (job && strncmp(job, view->name, prefix) == 0 && job[prefix] == '-')
        at = flow_view_find(view, job + prefix + 1);
    return at == UINT32_MAX ? NULL : &view->steps[at];
}

/* Reads from status.conditions how long the newest job of each step was Running, in
 * milliseconds. */
static void take_run_times(struct flow_view *view, const json_t *conditions)
{
    const char *job;
    json_t *condition;

    json_object_foreach((json_t *)(size_t)conditions, job, condition)
    {
        struct flow_view_step *step = step_of_job(view, job);
        int64_t ran_ms = doc_duration_ms(condition, "runningDuration");

        if (step && ran_ms >= 0)
            step->ran_ms = ran_ms;
    }
}

/* Reads from status.jobStatusList since when the newest job of each step is Running. */
static void take_run_starts(struct flow_view *view, const json_t *jobs)
{
    size_t i, k;
    json_t *job, *span;

    json_array_foreach(jobs, i, job)
    {
        struct flow_view_step *step = step_of_job(view, doc_text(job, "name"));

        json_array_foreach(step ? json_object_get(job, "runningHistories") : NULL, k, span)
        {
            const char *state = doc_text(span, "state");

            if (state && strcmp(state, "Running") == 0 && !doc_text(span, "endTimestamp"))
                step->started_ms = doc_time_ms(span, "startTimestamp");
        }
    }
}

/* Reads the list of jobs of a status that Volcano's own controller has written. It has neither nodes
 * nor bitmaps. */
static void take_upstream_jobs(struct flow_view *view, const json_t *jobs)
{
    size_t i;
    json_t *job;

    json_array_foreach(jobs, i, job)
    {
        struct flow_view_step *step = step_of_job(view, doc_text(job, "name"));
        const char *state = doc_text(job, "state");

        if (!step || !state || !*state)
            continue;
        flow_view_set_state(step, view_state_parse(state));
        step->attempts = 1;
        step->restarts = (int32_t)json_integer_value(json_object_get(job, "restartCount"));
        step->created_ms = doc_time_ms(job, "startTimestamp");
        step->ended_ms = doc_time_ms(job, "endTimestamp");
    }
}

/* Sets of steps in status.results. A skipped step has no job. */
static const struct {
    const char *member;
    enum view_state state;
} results[] = {
    {"completed", VIEW_COMPLETED}, {"failed", VIEW_FAILED},   {"skipped", VIEW_SKIPPED},
    {"pending", VIEW_PENDING},     {"running", VIEW_RUNNING}, {"unknown", VIEW_UNKNOWN},
};
enum { RESULTS = countof(results) };

/* Returns the state of a vertex by its bits; VIEW_NONE: none is set. */
static enum view_state state_by_bits(const struct step_set *sets, uint32_t vertex)
{
    for (size_t k = 0; k < RESULTS; k++)
        if (vertex < sets[k].size && step_set_has(&sets[k], vertex))
            return results[k].state;
    return VIEW_NONE;
}

/* Returns how many iterations a loop has. A retry may have added some to those of the spec. */
static uint32_t iterations_of(const struct flow_view_step *step)
{
    const json_t *given = json_object_get(step->node, "iterations");

    return given ? (uint32_t)json_integer_value(given) : flow_view_step_iterations(step);
}

static bool bits_tell_of_job(const struct step_set *sets, uint32_t vertex)
{
    enum view_state state = state_by_bits(sets, vertex);

    return state != VIEW_NONE && state != VIEW_SKIPPED;
}

/* Reads the bits of steps and iterations that have no entry. `vertices` [n_steps] gets the position
 * of each step's bit. A job that only has a bit is a first attempt. */
static void take_bits(struct flow_view *view, const struct step_set *sets, uint32_t *vertices)
{
    uint32_t vertex = 0;

    for (uint32_t i = 0; i < view->n_steps; i++) {
        struct flow_view_step *step = &view->steps[i];
        enum view_state state = step->node ? VIEW_NONE : state_by_bits(sets, vertex);

        vertices[i] = vertex++;
        if (state != VIEW_NONE)
            flow_view_set_state(step, state);
        if (state != VIEW_NONE && state != VIEW_SKIPPED && !flow_view_step_jobless(step))
            step->attempts = 1;
        for (uint32_t left = step->loops ? iterations_of(step) : 0; left > 0; left--, vertex++) {
            step->attempts += bits_tell_of_job(sets, vertex);
            count_iteration(step, state_by_bits(sets, vertex), 1);
        }
    }
}

/* Subtracts the iterations that have an entry from the attempts of their loop, because the entry
 * has counted them. */
static void uncount_named(struct flow_view *view, const struct step_set *sets,
                          const uint32_t *vertices)
{
    size_t i;
    json_t *node;

    json_array_foreach(json_object_get(view->status, "nodes"), i, node)
    {
        uint32_t loop = flow_view_find(view, doc_text(node, "step"));
        uint32_t number = (uint32_t)json_integer_value(json_object_get(node, "iteration"));
        uint32_t vertex = loop == UINT32_MAX ? UINT32_MAX : vertices[loop] + 1 + number;

        if (loop == UINT32_MAX || !bits_tell_of_job(sets, vertex))
            continue;
        view->steps[loop].attempts--;
        count_iteration(&view->steps[loop], state_by_bits(sets, vertex), UINT32_MAX);
    }
}

static void read_sets(const json_t *stored, struct step_set sets[RESULTS])
{
    for (size_t k = 0; k < RESULTS; k++) {
        const char *bits = doc_text(stored, results[k].member);

        sets[k] = (struct step_set){0};
        if (!bits)
            continue;
        step_set_init(&sets[k], step_bitmap_room(bits));
        if (!step_bitmap_read(bits, &sets[k]))
            step_set_release(&sets[k]);
    }
}

static void release_sets(struct step_set sets[RESULTS])
{
    for (size_t k = 0; k < RESULTS; k++)
        step_set_release(&sets[k]);
}

static void take_results(struct flow_view *view, const json_t *stored)
{
    uint32_t *vertices = mem_array((size_t)view->n_steps + 1, sizeof *vertices);
    struct step_set sets[RESULTS];

    read_sets(stored, sets);
    take_bits(view, sets, vertices);
    uncount_named(view, sets, vertices);
    for (uint32_t i = 0; i < view->n_steps; i++)
        view->steps[i].iterations_listed = 0; /* only unusual iterations have an entry */
    release_sets(sets);
    mem_free(vertices);
}

static void forget(struct flow_view_step *step)
{
    flow_view_set_state(step, VIEW_WAITING);
    step->node = NULL;
    step->reason = step->message = NULL;
    step->attempts = step->restarts = 0;
    step->created_ms = step->started_ms = step->ended_ms = 0;
    step->ran_ms = -1;
    step->iterations_over = step->iterations_active = step->iterations_listed = 0;
}

/* A loop that was at work when its flow ended, and has no job any more, does not go on. */
static void stop_loops(struct flow_view *view)
{
    for (uint32_t i = 0; i < view->n_steps && flow_view_is_over(view); i++) {
        struct flow_view_step *step = &view->steps[i];

        if (step->loops && step->state == VIEW_RUNNING && !step->iterations_active)
            flow_view_set_state(step, VIEW_STOPPED);
    }
}

void flow_view_take_status(struct flow_view *view, json_t *status)
{
    const char *phase = doc_text(status, "state.phase");
    const json_t *results_stored = json_object_get(status, "results");

    if (!phase || !flow_phase_parse(phase, &view->phase) || view->phase == FLOW_NONE)
        return;
    json_decref(view->status);
    view->status = json_incref(status);
    view->reason = doc_text(status, "state.reason");
    view->message = doc_text(status, "state.message");
    view->began_ms = doc_time_ms(status, "startTime");
    view->ended_ms = doc_time_ms(status, "completionTime");
    view->took_ms = doc_duration_ms(status, "duration"); /* the times are up to a second off */
    for (uint32_t i = 0; i < view->n_steps; i++)
        forget(&view->steps[i]);
    take_nodes(view, json_object_get(status, "nodes"));
    if (!json_object_get(status, "nodes") && !results_stored)
        take_upstream_jobs(view, json_object_get(status, "jobStatusList"));
    take_run_times(view, json_object_get(status, "conditions"));
    take_run_starts(view, json_object_get(status, "jobStatusList"));
    if (results_stored)
        take_results(view, results_stored);
    stop_loops(view);
}

/* Reads the bits of steps that the tracker still has as waiting. */
static void complete_by_bits(struct flow_view *view, const json_t *stored)
{
    struct step_set sets[RESULTS];
    uint32_t vertex = 0;

    read_sets(stored, sets);
    for (uint32_t i = 0; i < view->n_steps; i++) {
        struct flow_view_step *step = &view->steps[i];
        enum view_state state = state_by_bits(sets, vertex);

        if (step->state == VIEW_WAITING && !step->node && state != VIEW_NONE)
            flow_view_set_state(step, state);
        vertex += 1 + (step->loops ? iterations_of(step) : 0);
    }
    release_sets(sets);
}

/* Takes over what the status tells of a step that the tracker has seen. How long a loop took is
 * taken from there, too: the tracker cannot tell it of one that began before it did. */
static void complete_step(struct flow_view_step *step, const json_t *node)
{
    step->node = node;
    if (step->reason || step->message)
        take_reason(step, node); /* it was taken from the status before this one */
    if (step->state == VIEW_WAITING) {
        take_node(step, node);
    } else if (step->loops && flow_view_step_over(step)) {
        step->ran_ms = doc_duration_ms(node, "duration");
        if (step->ran_ms < 0)
            step->created_ms = step->ended_ms = 0;
    }
}

/* Without a duration the times of a loop are those of its iterations in the status. */
static void complete_loop(struct flow_view_step *loop, const json_t *node)
{
    struct flow_view_step iteration = {0};

    if (!flow_view_step_over(loop) || loop->ran_ms >= 0)
        return;
    take_attempts(&iteration, node);
    iteration.attempts = 0; /* the tracker has counted them */
    take_iteration(loop, &iteration);
}

void flow_view_complete(struct flow_view *view, json_t *status)
{
    const json_t *stored = json_object_get(status, "results");
    json_t *before = view->status, *node;
    size_t i;

    for (uint32_t k = 0; k < view->n_steps; k++)
        view->steps[k].node = NULL;
    view->status = json_incref(status);
    view->took_ms = doc_duration_ms(status, "duration"); /* the times are up to a second off */
    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        uint32_t at = flow_view_find(view, doc_text(node, "name"));
        uint32_t loop = flow_view_find(view, doc_text(node, "step"));

        if (at != UINT32_MAX)
            complete_step(&view->steps[at], node);
        else if (loop != UINT32_MAX)
            complete_loop(&view->steps[loop], node);
    }
    if (stored)
        complete_by_bits(view, stored);
    for (uint32_t k = 0; k < view->n_steps; k++)
        if (!view->steps[k].node)
            take_reason(&view->steps[k], NULL);
    json_decref(before);
    stop_loops(view);
}

void flow_view_take_step(struct flow_view *view, const json_t *item)
{
    uint32_t at = flow_view_find(view, doc_text(item, "name"));
    uint32_t loop = flow_view_find(view, doc_text(item, "step"));
    struct flow_view_step told = {
        .attempts = (int32_t)json_integer_value(json_object_get(item, "attempt")),
        .created_ms = doc_time_ms(item, "startTime"),
        .ended_ms = doc_time_ms(item, "endTime"),
    };
    struct flow_view_step *step = at == UINT32_MAX ? NULL : &view->steps[at];
    const json_t *ran = json_object_get(item, "runMilliseconds");

    if (step && !step->node) {
        step->created_ms = told.created_ms;
        step->ended_ms = told.ended_ms;
        if (ran)
            step->ran_ms = json_integer_value(ran);
    } else if (!step && loop != UINT32_MAX) {
        told.attempts = 0; /* the status has counted them already */
        take_iteration(&view->steps[loop], &told);
    }
}
