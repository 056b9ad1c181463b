/*
 * What the status of a flow says of its steps.
 *
 * Up to a certain size every step has an entry among its nodes; beyond that only the unusual ones
 * have, and how the others ended stands in bitmaps, which count a loop's iterations behind the
 * loop.
 */
#include "api/types/jobflow.h"
#include "base/mem.h"
#include "cli/describe.h"
#include "cli/flowview_impl.h"
#include "flow/step_bits.h"
#include <string.h>

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
    const char *phase = describe_text(node, "phase");

    step->node = node;
    if (phase)
        set_phase(step, phase);
    step->reason = describe_text(node, "reason");
    step->message = describe_text(node, "message");
    step->attempt = json_integer_value(json_object_get(node, "attempt"));
    step->began_ms = describe_time_ms(newest, "startTime");
    step->ended_ms = describe_time_ms(newest, "endTime");
}

static void take_nodes(struct flowview *view, const json_t *nodes)
{
    size_t i;
    json_t *node;

    json_array_foreach(nodes, i, node)
    {
        uint32_t step = flowview_find(view, describe_text(node, "name"));

        if (step != UINT32_MAX)
            take_node(&view->steps[step], node);
    }
}

/* Of a loop; a retry may have given it more of them than its spec does. */
static uint32_t iterations_of(const struct flowview_step *step)
{
    const json_t *given = json_object_get(step->node, "iterations");

    return given ? (uint32_t)json_integer_value(given) : flowview_step_iterations(step);
}

/* How steps ended, by bitmaps of a flow's results. */
enum { RESULTS = 3 };
static const struct {
    const char *member, *phase;
} results[RESULTS] = {{"completed", "Completed"}, {"failed", "Failed"}, {"skipped", "Skipped"}};

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
        const char *bits = describe_text(stored, results[k].member);

        if (!bits)
            continue;
        step_set_init(&sets[k], step_bits_room(bits));
        if (!step_bits_read(bits, &sets[k]))
            step_set_release(&sets[k]);
    }
    take_bits(view, sets);
    for (size_t k = 0; k < RESULTS; k++)
        step_set_release(&sets[k]);
}

void flowview_load_states(struct flowview *view)
{
    const json_t *status = json_object_get(view->doc, "status");
    const char *phase = describe_text(status, "state.phase");

    if (!phase || !*phase)
        return;
    view->phase = phase;
    for (uint32_t i = 0; i < view->n_steps; i++)
        view->steps[i].phase = "Waiting";
    take_nodes(view, json_object_get(status, "nodes"));
    take_results(view, json_object_get(status, "results"));
}
