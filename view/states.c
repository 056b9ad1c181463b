/*
 * What the status of a flow says of its steps.
 *
 * Up to a certain size every step has an entry among its nodes; beyond that only the unusual ones
 * have, and how the others ended stands in bitmaps, which count a loop's iterations behind the
 * loop.
 */
#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "flow/model/step_bitmap.h"
#include "view/internal.h"

/* A phase that is not here is one of a job that is not over. */
static const struct {
    const char *name;
    bool settled, failed;
} phases[] = {
    {"Completed", true, false}, {"Skipped", true, false},  {"Failed", true, true},
    {"Terminated", true, true}, {"Waiting", false, false}, {"Blocked", false, false},
    {"Retrying", false, false}, {"Aborted", false, false},
};

static void set_phase(struct flowview_step *step, const char *phase)
{
    size_t i = 0;

    while (i < countof(phases) && strcmp(phases[i].name, phase) != 0)
        i++;
    step->phase = phase;
    step->settled = i < countof(phases) && phases[i].settled;
    step->failed = i < countof(phases) && phases[i].failed;
    step->running = i == countof(phases);
}

static void take_node(struct flowview_step *step, const json_t *node)
{
    const json_t *attempts = json_object_get(node, "attempts");
    size_t n = json_array_size(attempts);
    const json_t *newest = n ? json_array_get(attempts, n - 1) : NULL;
    const char *phase = doc_text(node, "phase");

    step->node = node;
    if (phase)
        set_phase(step, phase);
    step->reason = doc_text(node, "reason");
    step->message = doc_text(node, "message");
    step->attempt = json_integer_value(json_object_get(node, "attempt"));
    step->began_ms = doc_time_ms(newest, "startTime");
    step->ended_ms = doc_time_ms(newest, "endTime");
}

/* A loop begins with the first of its iterations and ends with the last of them. */
static void take_span(struct flowview_step *loop, int64_t began_ms, int64_t ended_ms)
{
    if (began_ms && (!loop->began_ms || began_ms < loop->began_ms))
        loop->began_ms = began_ms;
    if (loop->settled && ended_ms > loop->ended_ms)
        loop->ended_ms = ended_ms;
}

static void take_iteration(struct flowview *view, const json_t *node)
{
    uint32_t at = flowview_find(view, doc_text(node, "step"));
    struct flowview_step own = {0};

    take_node(&own, node);
    if (at != UINT32_MAX)
        take_span(&view->steps[at], own.began_ms, own.ended_ms);
}

static void take_nodes(struct flowview *view, const json_t *nodes)
{
    size_t i;
    json_t *node;

    json_array_foreach(nodes, i, node)
    {
        uint32_t step = flowview_find(view, doc_text(node, "name"));

        if (step != UINT32_MAX)
            take_node(&view->steps[step], node);
        else
            take_iteration(view, node);
    }
}

/* Of a loop; a retry may have given it more of them than its spec does. */
static uint32_t iterations_of(const struct flowview_step *step)
{
    const json_t *given = json_object_get(step->node, "iterations");

    return given ? (uint32_t)json_integer_value(given) : flowview_step_iterations(step);
}

/* How steps ended, and where those at work are that are too many to be named: bitmaps of a flow's
 * results. */
enum { RESULTS = 6 };
static const struct {
    const char *member, *phase;
} results[RESULTS] = {{"completed", "Completed"}, {"failed", "Failed"},   {"skipped", "Skipped"},
                      {"pending", "Pending"},     {"running", "Running"}, {"unknown", "Unknown"}};

/* Bits of steps that have no node; iterations are passed over. */
static void take_bits(struct flowview *view, const struct step_set *sets)
{
    uint32_t vertex = 0;

    for (uint32_t i = 0; i < view->n_steps; i++) {
        struct flowview_step *step = &view->steps[i];

        for (size_t k = 0; k < RESULTS && !step->node; k++)
            if (vertex < sets[k].size && step_set_has(&sets[k], vertex))
                set_phase(step, results[k].phase);
        vertex += 1 + (step->loops ? iterations_of(step) : 0);
    }
}

static void take_results(struct flowview *view, const json_t *stored)
{
    struct step_set sets[RESULTS] = {0};

    for (size_t k = 0; k < RESULTS; k++) {
        const char *bits = doc_text(stored, results[k].member);

        if (!bits)
            continue;
        step_set_init(&sets[k], step_bitmap_room(bits));
        if (!step_bitmap_read(bits, &sets[k]))
            step_set_release(&sets[k]);
    }
    take_bits(view, sets);
    for (size_t k = 0; k < RESULTS; k++)
        step_set_release(&sets[k]);
}

void flowview_load_states(struct flowview *view)
{
    const json_t *status = json_object_get(view->doc, "status");
    const char *phase = doc_text(status, "state.phase");

    if (!phase || !*phase)
        return;
    view->phase = phase;
    for (uint32_t i = 0; i < view->n_steps; i++)
        view->steps[i].phase = "Waiting";
    take_nodes(view, json_object_get(status, "nodes"));
    take_results(view, json_object_get(status, "results"));
}

bool flowview_path_told(struct flowview *view)
{
    const json_t *told = doc_at(view->doc, "status.criticalPath");
    const json_t *ends = json_object_get(told, "ends");
    const char *duration = doc_text(told, "duration");
    int64_t took_ns = 0;
    size_t i;
    json_t *end;

    if (!json_array_size(ends))
        return false;
    view->path = mem_array(json_array_size(ends), sizeof *view->path);
    json_array_foreach(ends, i, end)
    {
        uint32_t at = flowview_find(view, doc_text(end, "name"));

        if (at == UINT32_MAX)
            continue; /* the spec has changed */
        view->path[view->path_listed++] = at;
        view->steps[at].path_place = view->path_listed;
    }
    view->path_len = (uint32_t)json_integer_value(json_object_get(told, "steps"));
    view->path_known = duration && duration_parse(duration, &took_ns, NULL);
    view->path_ms = took_ns / 1000000;
    return true;
}

void flowview_take_step(struct flowview *view, const json_t *item)
{
    uint32_t at = flowview_find(view, doc_text(item, "name"));
    uint32_t loop = flowview_find(view, doc_text(item, "step"));
    const int64_t began_ms = doc_time_ms(item, "startTime");
    const int64_t ended_ms = doc_time_ms(item, "endTime");

    if (at != UINT32_MAX && !view->steps[at].node) {
        view->steps[at].began_ms = began_ms;
        view->steps[at].ended_ms = ended_ms;
    } else if (at == UINT32_MAX && loop != UINT32_MAX) {
        take_span(&view->steps[loop], began_ms, ended_ms);
    }
}
