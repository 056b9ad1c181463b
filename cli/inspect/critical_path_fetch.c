/*
 * Extends the path backwards, step by step. The step before a step is the target that let it begin:
 * under `all` the last target to end, under `any` the first. Times come from the jobs of the
 * targets.
 */
#include "cli/inspect/critical_path_fetch.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/client/resource.h"

/* Each request asks a running server for one job. This many cost less than reading the flow. */
enum { REQUESTS_MAX = 40 };

struct path_fetch {
    struct flow_view *view;
    struct client *client;
    uint32_t requests;
    uint32_t *steps; /* steps of the path backwards, [count] */
    uint32_t count;
};

static json_t *get_job(struct path_fetch *fetch, const char *job)
{
    scoped(buf) struct buf path = {0};

    if (fetch->requests == REQUESTS_MAX)
        return NULL;
    fetch->requests++;
    resource_write_path(&kind_job, fetch->view->ns, job, &path);
    return client_get(fetch->client, path.data, NULL);
}

/* Adds the time from a job's creation to the last change of its phase. */
static bool add_job_times(struct path_fetch *fetch, struct flow_view_step *step, const char *name)
{
    scoped(json) json_t *job = get_job(fetch, name);
    int64_t began_ms = doc_time_ms(job, "metadata.creationTimestamp");
    int64_t ended_ms = doc_time_ms(job, "status.state.lastTransitionTime");

    if (!began_ms || !ended_ms)
        return false;
    if (!step->created_ms || began_ms < step->created_ms)
        step->created_ms = began_ms;
    if (ended_ms > step->ended_ms)
        step->ended_ms = ended_ms;
    return true;
}

/* A loop has the times of its first and last iteration. */
static bool fetch_times(struct path_fetch *fetch, struct flow_view_step *step)
{
    const char *flow = fetch->view->name;
    uint32_t iterations = flow_view_step_iterations(step);
    scoped_str first = step->loops ? mem_printf("%s-%s-0", flow, step->name)
                                   : mem_printf("%s-%s", flow, step->name);
    scoped_str last =
        iterations > 1 ? mem_printf("%s-%s-%u", flow, step->name, iterations - 1) : NULL;

    if (step->ended_ms)
        return true;
    return add_job_times(fetch, step, first) && (!last || add_job_times(fetch, step, last));
}

/* Returns the target that let a step begin; UINT32_MAX when there is none, or, with `known` false,
 * when times are missing. */
static uint32_t releasing_step(struct path_fetch *fetch, uint32_t at, bool *known)
{
    const struct flow_view *view = fetch->view;
    const bool any = view->steps[at].any;
    uint32_t best = UINT32_MAX;

    for (uint32_t t = view->targets.first[at]; t < view->targets.first[at + 1]; t++) {
        uint32_t target = view->targets.next[t];
        struct flow_view_step *step = &view->steps[target];
        int64_t than = best == UINT32_MAX ? 0 : view->steps[best].ended_ms;

        if (!flow_view_step_over(step) || step->state == VIEW_SKIPPED)
            continue;
        if (!step->template || !fetch_times(fetch, step)) { /* a switch has no job */
            *known = false;
            return UINT32_MAX;
        }
        if (best == UINT32_MAX || (any ? step->ended_ms < than : step->ended_ms > than))
            best = target;
    }
    return best;
}

/* Fetches the start of a step from its job, because the status lists only some steps when very many
 * run. */
static void fetch_start(struct path_fetch *fetch, struct flow_view_step *step)
{
    scoped_str name = mem_printf("%s-%s", fetch->view->name, step->name);
    scoped(json) json_t *job = NULL;

    if (!flow_view_step_active(step) || step->created_ms || step->loops)
        return;
    job = get_job(fetch, name);
    step->created_ms = doc_time_ms(job, "metadata.creationTimestamp");
}

void critical_path_fetch(struct flow_view *view, struct client *client)
{
    struct path_fetch fetch = {.view = view, .client = client};
    bool known = true;

    if (!view->path_cut || !view->path_listed || !client || !client_is_live(client))
        return;
    fetch_start(&fetch, &view->steps[view->path[0]]);
    fetch.steps = mem_array(REQUESTS_MAX + 1, sizeof *fetch.steps);
    for (uint32_t at = releasing_step(&fetch, view->path[0], &known);
         at != UINT32_MAX && fetch.count < REQUESTS_MAX; at = releasing_step(&fetch, at, &known))
        fetch.steps[fetch.count++] = at;
    flow_view_extend_path(view, fetch.steps, fetch.count, known && fetch.count < REQUESTS_MAX);
    mem_free(fetch.steps);
}
